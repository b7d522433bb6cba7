"""What the models of the tables have to reach: the printed figures, and themselves untuned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.experiments import TABLES, UNTUNED, untuned
from benchmarks.paper.summary import metrics_of, printed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.bars import Bars
    from benchmarks.paper.experiments import Data, Table
    from benchmarks.paper.summary import Place, Summary

#: Models of the paper: by how many printed deviations they may be above the printed mean, and on
#: how many of the sets that have both they have to keep to it.
OURS = {"LIFE(LLA)": (1.0, 18), "LIFE(Adam)": (1.0, 18), "LLA": (2.0, 20), "Adam": (2.0, 20)}
PEERS = ("XGBoost", "RandomForest", "FFNN")
#: Error of a tuned model over its own untuned: tuning that makes it worse is none.
MOST_TUNED = 1.01


def add_bars(bars: Bars, summaries: Mapping[Place, Summary], reason_of: Callable[..., str]) -> None:
    """Bars of the printed figures, of tuning, and of the model as given beside XGBoost's.

    Parameters
    ----------
    reason_of : table, data, model, metric -> why a figure is worse than the printed one, or ""
    """
    for model, (deviations, least) in OURS.items():
        gaps = dict(_gaps(summaries, model))
        n_kept = sum(gap <= deviations for gap in gaps.values())
        what = f"{model}: sets of {len(gaps)} within {deviations:g} sd of the printed error"
        bars.at_least(what, n_kept, least, "d")
        missed = [f"{name} {gap:+.1f}" for name, gap in gaps.items() if not gap <= deviations]
        if missed:
            bars.note(f"{model}, deviations above the printed error: {', '.join(missed)}")
    for model in PEERS:
        _peer_bar(bars, summaries, model, reason_of)
    _tuning_bars(bars, summaries)
    _untuned_note(bars, summaries)


def _rows() -> Iterator[tuple[Table, Data]]:
    """Every set of the tables whose models are tuned."""
    for table in TABLES.values():
        if table.tuned:
            yield from ((table, data) for data in table.present)


def _name(table: Table, data: Data) -> str:
    return f"{data.title} of {table.name}" if data.simulated else data.title


def _gaps(summaries: Mapping[Place, Summary], model: str) -> Iterator[tuple[str, float]]:
    """By how many of the paper's deviations our mean error is above the printed one."""
    for table, data in _rows():
        error = metrics_of(data)[0]
        paper = printed(table.name, data, error, model)
        if np.isnan(paper.mean):
            continue
        mean = _error(summaries, table, data, model)
        yield _name(table, data), (mean - paper.mean) / paper.unit


def _peer_bar(
    bars: Bars, summaries: Mapping[Place, Summary], model: str, reason_of: Callable[..., str]
) -> None:
    above, silent, n_sets = [], 0, 0
    for table, data in _rows():
        error = metrics_of(data)[0]
        paper = printed(table.name, data, error, model)
        if np.isnan(paper.mean):
            continue
        n_sets += 1
        mean = _error(summaries, table, data, model)
        # What is printed is rounded: half of its last digit is no difference.
        half = 0.5 * 10.0 ** -len(paper.text.partition(" ")[0].partition(".")[2])
        if not mean <= paper.mean + half:
            above.append(f"{_name(table, data)} {mean / paper.mean:.3f}")
            silent += not reason_of(table.name, data.name, model, error.name)
    what = f"{model}: sets of {n_sets} above the printed error without a reason"
    bars.at_most(what, silent, 0, "d")
    if above:
        bars.note(f"{model}, error over the printed one: {', '.join(above)}")


def _tuning_bars(bars: Bars, summaries: Mapping[Place, Summary]) -> None:
    """The largest error of a tuned model over its own untuned."""
    for model in OURS:
        ratios = {
            _name(table, data): _error(summaries, table, data, model)
            / _error(summaries, table, data, untuned(model))
            for table, data in _rows()
        }
        worst = max(ratios, key=lambda name: np.nan_to_num(ratios[name], nan=np.inf))
        what = f"{model}: largest error tuned over untuned, {len(ratios)} sets ({worst})"
        bars.at_most(what, ratios[worst], MOST_TUNED, ".3f")


def _untuned_note(bars: Bars, summaries: Mapping[Place, Summary]) -> None:
    """LIFE as given over XGBoost as given, on the real sets."""
    for model in (one for one in UNTUNED if one.startswith("LIFE")):
        ratios = [
            _error(summaries, table, data, model)
            / _error(summaries, table, data, untuned("XGBoost"))
            for table, data in _rows()
            if not data.simulated
        ]
        known = [one for one in ratios if not np.isnan(one)]
        if known:
            mean = float(np.exp(np.mean(np.log(known))))
            bars.note(
                f"{model} over XGBoost untuned, geometric mean of {len(known)} of {len(ratios)} "
                f"real sets: {mean:.3f}"
            )


def _error(summaries: Mapping[Place, Summary], table: Table, data: Data, model: str) -> float:
    """Mean error of a cell, NaN where it was not run."""
    one = summaries.get((table.name, data.name, model))
    return np.nan if one is None or not one.n else one.error.mean
