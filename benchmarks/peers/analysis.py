"""Records to comparisons: ratios of errors and of seconds, set by set, and who is best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.summary import metrics_of, runs_of, summarise, summary_of
from benchmarks.peers.experiments import BY_AUC, TABLES
from benchmarks.peers.models import OURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.paper.experiments import Data
    from benchmarks.paper.records import Record
    from benchmarks.paper.summary import Metric, Place, Runs, Summary

#: In ratios, a log-loss counts as this share of the null model's at least.
FLOOR = 0.01
#: Models that take minutes a fit: compared on the seeds that were run, were they but one.
SLOW = ("EBM",)


class Column(NamedTuple):
    """A model of a table."""

    table: str
    model: str


@dataclass(frozen=True)
class Contest:
    """A set of which all models of a table were run.

    Attributes
    ----------
    data : the set
    best : peer with the lowest mean error, or the largest AUC, beside ours on the same seeds
    ratio : our error over its
    won : whether no peer has a lower mean error than we have
    """

    data: Data
    best: str
    ratio: float
    won: bool


@dataclass(frozen=True)
class Results:
    """All that was measured.

    Attributes
    ----------
    runs : fits that did not fail, by place and seed
    summaries : mean and deviation over seeds, by place
    """

    runs: Runs
    summaries: Mapping[Place, Summary]

    @classmethod
    def of(cls, records: Iterable[Record]) -> Results:
        """Of the records of `benchmarks.paper.records`."""
        records = list(records)
        return cls(runs_of(records), summarise(records))

    def whole(self, column: Column, data: Data) -> Summary | None:
        """A cell, if all of its seeds were run."""
        one = self.summaries.get((column.table, data.name, column.model))
        planned = len(TABLES[column.table].seeds_of(data))
        return one if one is not None and one.n >= planned else None

    def pair(self, ours: Column, theirs: Column, data: Data) -> tuple[Summary, Summary] | None:
        """Two cells on the seeds that both have; None where seeds are missing."""
        one, other = (self._enough(column, data) for column in (ours, theirs))
        seeds = one.keys() & other.keys()
        if not seeds:
            return None
        cells = ([fits[seed] for seed in sorted(seeds)] for fits in (one, other))
        mine, yours = (summary_of(some) for some in cells)
        return mine, yours

    def _enough(self, column: Column, data: Data) -> Mapping[int, Record]:
        """Fits of a cell by seed; none where seeds are missing, but for slow models."""
        fits = self.runs.get((column.table, data.name, column.model), {})
        planned = TABLES[column.table].seeds_of(data)
        return fits if column.model in SLOW or len(fits) >= len(planned) else {}

    def ratio(self, ours: Column, theirs: Column, data: Data) -> float:
        """Of mean errors, as `error_ratio`; NaN where seeds are missing."""
        pair = self.pair(ours, theirs, data)
        return np.nan if pair is None else error_ratio(data, *pair)

    def time_ratio(self, ours: Column, theirs: Column, data: Data) -> float:
        """Of mean seconds of computing of a fit; NaN where seeds are missing."""
        pair = self.pair(ours, theirs, data)
        return np.nan if pair is None else pair[0].cpu.mean / pair[1].cpu.mean

    def contest(self, ours: Column, data: Data) -> Contest | None:
        """A model of ours against all peers of its table; None where seeds are missing."""
        table = TABLES[ours.table]
        peers = [model for model in table.models if model not in OURS]
        some = {model: self.pair(ours, Column(table.name, model), data) for model in peers}
        known = {model: pair for model, pair in some.items() if pair is not None}
        if len(known) < len(some):
            return None

        def behind(model: str) -> float:
            """By how much we are worse."""
            mine, theirs = known[model]
            return badness(data, mine) - badness(data, theirs)

        best = max(known, key=behind)
        return Contest(data, best, error_ratio(data, *known[best]), behind(best) <= 0)

    def contests(self, ours: Column, sets: Iterable[Data]) -> list[Contest]:
        """Those of the sets that can be judged."""
        found = (self.contest(ours, data) for data in sets)
        return [one for one in found if one is not None]


def metric_of(data: Data) -> Metric:
    """What a set is judged by: RMSE, log-loss or AUC."""
    error, second, *_ = metrics_of(data)
    return second if data.name in BY_AUC else error


def badness(data: Data, one: Summary) -> float:
    """The mean error; of sets judged by AUC, what is missing of 1."""
    return 1 - one.second.mean if data.name in BY_AUC else one.error.mean


def error_ratio(data: Data, ours: Summary, theirs: Summary) -> float:
    """Our mean error over theirs, log-losses floored; of sets judged by AUC, their AUC over ours.

    Both see the same test parts, and so the same null model.
    """
    if data.name in BY_AUC:
        return theirs.second.mean / ours.second.mean
    floor = 0.0 if data.task == REGRESSION else FLOOR * ours.null.mean
    return max(ours.error.mean, floor) / max(theirs.error.mean, floor)


def not_run(results: Results) -> list[str]:
    """Cells of which seeds are missing, a line for each model of a table."""
    columns = [Column(table.name, model) for table in TABLES.values() for model in table.models]
    found = {column: _missing(results, column) for column in columns}
    return [f"{table}, {model}: {what}" for (table, model), what in found.items() if what]


def _missing(results: Results, column: Column) -> str:
    sets = TABLES[column.table].present
    places = {data: results.summaries.get((column.table, data.name, column.model)) for data in sets}
    if not any(places.values()):
        return f"all {len(sets)} sets"
    parts = []
    for data, one in places.items():
        n_run, n_failed = (0, 0) if one is None else (one.n, one.n_failed)
        planned = len(TABLES[column.table].seeds_of(data))
        if n_run < planned:
            failed = f", {n_failed} failed" if n_failed else ""
            parts.append(f"{data.name} ({planned - n_run} of {planned} seeds{failed})")
    return ", ".join(parts)
