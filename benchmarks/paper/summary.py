"""Records to figures: mean and deviation over seeds, beside the number that the paper prints."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.life.paper import paper_figure
from benchmarks.paper.experiments import METRICS, PAPER_MODELS, REGRESSION
from benchmarks.paper.records import FIT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.paper.experiments import Data
    from benchmarks.paper.records import Record

#: Table, data, model.
Place = tuple[str, str, str]
#: Fits that did not fail, by place and seed.
Runs = dict[Place, dict[int, "Record"]]


@dataclass(frozen=True)
class Figure:
    """Mean and standard deviation (ddof = 1; NaN of a single one) over `n` seeds."""

    mean: float
    sd: float
    n: int


@dataclass(frozen=True)
class Summary:
    """One cell of a table: what the fits of one model on one data set came to.

    Attributes
    ----------
    n, n_failed : seeds with figures, seeds without
    error : RMSE or log-loss
    second : R² or AUC
    seconds : wall time of the fit
    cpu : seconds of computing of the fit, which other work on the machine does not lengthen
    null : error of the model without predictors; NaN in records that are older than it
    neurons : median, NaN of a model that has none
    """

    n: int
    n_failed: int
    error: Figure
    second: Figure
    seconds: Figure
    cpu: Figure
    null: Figure
    neurons: float


@dataclass(frozen=True)
class Metric:
    """A row of a table.

    Attributes
    ----------
    field : name in records and in `Summary`
    name : in the paper's file
    label : in our tables
    larger : whether more is better
    """

    field: str
    name: str
    label: str
    larger: bool = False

    def loss(self, ours: float, theirs: float) -> float:
        """By how much the first is worse than the second."""
        return theirs - ours if self.larger else ours - theirs


@dataclass(frozen=True)
class Printed:
    """A number of the paper: as it stands there, and its parts (NaN where it has none)."""

    text: str = "-"
    mean: float = np.nan
    sd: float = np.nan

    @property
    def unit(self) -> float:
        """The deviation; one that is printed as 0 is half of the last digit at most."""
        if self.sd == 0:
            decimals = self.text.rstrip(")").rpartition(".")[2]
            return 0.5 * 10.0 ** -len(decimals)
        return self.sd


_LABELS = {"R2": "R²", "logloss": "log-loss"}
_SECONDS = Metric("seconds", "T", "T (s)")


def metrics_of(data: Data) -> tuple[Metric, ...]:
    """Rows of a data set: the paper gives seconds in regression only."""
    error, second = METRICS[data.task]
    both = (
        Metric("error", error, _LABELS.get(error, error)),
        Metric("second", second, _LABELS.get(second, second), larger=True),
    )
    return (*both, _SECONDS) if data.task == REGRESSION else both


def printed(table: str, data: Data, metric: Metric, model: str) -> Printed:
    """What the paper prints in a cell; a dash for what it has not."""
    if not data.in_paper:
        return Printed()
    text = paper_figure(table, data.title, metric.name, PAPER_MODELS.get(model, model))
    if text == "-":
        return Printed()
    mean, _, sd = text.partition(" ")
    return Printed(text, float(mean), float(sd.strip("()")) if sd else np.nan)


def runs_of(records: Iterable[Record]) -> Runs:
    """Fits that did not fail."""
    runs: Runs = defaultdict(dict)
    for one in records:
        if one["kind"] == FIT and "failed" not in one:
            runs[one["table"], one["data"], one["model"]][one["seed"]] = one
    return dict(runs)


def values(runs: Runs, place: Place, field: str) -> dict[int, float]:
    """A figure of each seed, in the order of the seeds."""
    fits = runs.get(place, {})
    return {seed: fits[seed][field] for seed in sorted(fits)}


def summarise(records: Iterable[Record]) -> dict[Place, Summary]:
    """Figures of all cells of which something was run."""
    records = list(records)
    runs = runs_of(records)
    failed: dict[Place, set[Any]] = defaultdict(set)
    for one in records:
        if one["kind"] == FIT and "failed" in one:
            failed[one["table"], one["data"], one["model"]].add(one["seed"])
    return {
        place: summary_of(
            runs.get(place, {}).values(), len(failed[place] - set(runs.get(place, {})))
        )
        for place in {**runs, **failed}
    }


def figure(numbers: Iterable[float]) -> Figure:
    """Mean and deviation."""
    array = np.array(list(numbers), dtype=float)
    mean = float(array.mean()) if len(array) else np.nan
    return Figure(mean, float(array.std(ddof=1)) if len(array) > 1 else np.nan, len(array))


def summary_of(fits: Iterable[Record], n_failed: int = 0) -> Summary:
    """Figures of some fits of a cell."""
    ones = list(fits)
    neurons = [one["neurons"] for one in ones if one.get("neurons") is not None]
    figures = (
        figure(one.get(field, np.nan) for one in ones)
        for field in ("error", "second", "seconds", "cpu", "null")
    )
    width = float(np.median(neurons)) if neurons else np.nan
    return Summary(len(ones), n_failed, *figures, width)


def number(value: float) -> str:
    """Four digits that count from 1 on, three below, and at most five behind the point."""
    if np.isnan(value):
        return "-"
    size = np.floor(np.log10(abs(value))) if value else 0.0
    return f"{value:.{int(np.clip((3 if size >= 0 else 2) - size, 0, 5))}f}"


def seconds_text(value: float) -> str:
    """Three digits, and at most two behind the point."""
    if np.isnan(value):
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"
