"""What LIFE is to reach among its peers: figures over sets, each with its limit.

A figure is over the sets whose cells are all run, and says of how many; without any it is NaN.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.life.claims import BLOW_UPS, BLOWN_UP, largest_over_median
from benchmarks.paper.analysis import cell_bars, geometric, protocol_bars
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.protocol import PEERS
from benchmarks.paper.summary import printed, values
from benchmarks.peers.analysis import Column, Results, metric_of, not_run
from benchmarks.peers.experiments import (
    BY_AUC,
    DATA,
    DEFAULT,
    HALVES,
    NAMED,
    SPLITS,
    TABLES,
    TUNED,
)
from benchmarks.peers.models import BEST, LIFE, OURS, SMALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.bars import Bars
    from benchmarks.paper.experiments import Data
    from benchmarks.paper.records import Record

#: Column of the paper that LIFE's errors are held against.
PAPERS = "LIFE(LLA)"
_LIFE, _SMALL, _BEST = Column(DEFAULT, LIFE), Column(DEFAULT, SMALL), Column(TUNED, BEST)
_MEANS = tuple(name for name in DATA if name not in BY_AUC)
_ALL = tuple(DATA)
_OF_PAPER = tuple(one.name for one in DATA.values() if one.task == REGRESSION and one.in_paper)


@dataclass(frozen=True)
class Figure:
    """A number, and the sets it is over."""

    value: float
    n_sets: int


@dataclass(frozen=True)
class Goal:
    """A figure and its limit.

    Attributes
    ----------
    what : its name
    compute : (results, sets) -> figure, over those of the sets that were run
    sets : names of the sets that the limit is for
    limit : what the figure must not exceed, or must reach
    floor : whether it must reach it
    form : of the number
    """

    what: str
    compute: Callable[[Results, Iterable[Data]], Figure]
    sets: tuple[str, ...]
    limit: float
    floor: bool = False
    form: str = ".3f"

    def over(self, results: Results, names: Iterable[str]) -> Figure:
        """The figure over those of the goal's sets that are among the names."""
        wanted = set(names)
        return self.compute(results, [DATA[name] for name in self.sets if name in wanted])

    def met(self, value: float) -> bool:
        """Whether a value is within the limit; NaN is not."""
        return value >= self.limit if self.floor else value <= self.limit

    def add_to(self, bars: Bars, results: Results) -> None:
        """Its bar, and where it is over several sets, what it is on each half."""
        figure = self.over(results, self.sets)
        add = bars.at_least if self.floor else bars.at_most
        if len(self.sets) == 1:
            add(self.what, figure.value, self.limit, self.form)
            return
        over = f"{figure.n_sets} of {len(self.sets)} sets"
        add(f"{self.what}, {over}", figure.value, self.limit, self.form)
        halves = ((half, self.over(results, names)) for half, names in HALVES.items())
        parts = [f"{half} {_text(one, self.form)}" for half, one in halves]
        bars.note(f"halves, {self.what}: {'; '.join(parts)}")


def _text(figure: Figure, form: str) -> str:
    return f"{format(figure.value, form)} ({figure.n_sets} sets)"


def _known(numbers: Iterable[float]) -> list[float]:
    return [one for one in numbers if not np.isnan(one)]


def _mean_ratio(ours: Column, theirs: Column, results: Results, sets: Iterable[Data]) -> Figure:
    known = _known(results.ratio(ours, theirs, data) for data in sets)
    return Figure(geometric(known), len(known))


def _largest_ratio(ours: Column, theirs: Column, results: Results, sets: Iterable[Data]) -> Figure:
    known = _known(results.ratio(ours, theirs, data) for data in sets)
    return Figure(max(known, default=np.nan), len(known))


def _mean_time_ratio(
    ours: Column, theirs: Column, results: Results, sets: Iterable[Data]
) -> Figure:
    known = _known(results.time_ratio(ours, theirs, data) for data in sets)
    return Figure(geometric(known), len(known))


def _wins(results: Results, sets: Iterable[Data]) -> Figure:
    contests = results.contests(_BEST, sets)
    return _count(one.won for one in contests)


def _against_best_peer(results: Results, sets: Iterable[Data]) -> Figure:
    contests = results.contests(_BEST, sets)
    return Figure(geometric(one.ratio for one in contests), len(contests))


def against_any_peer(results: Results, sets: Iterable[Data]) -> Figure:
    """As `_against_best_peer`, but peers with default settings count as well.

    A tuning is on one split, and what it finds may be worse than what it began with.
    """
    theirs = [
        Column(name, model)
        for name in (TUNED, DEFAULT)
        for model in TABLES[name].models
        if model not in OURS
    ]
    largest = [np.max([results.ratio(_BEST, column, data) for column in theirs]) for data in sets]
    known = _known(largest)
    return Figure(geometric(known), len(known))


def _as_good_as_paper(results: Results, sets: Iterable[Data]) -> Figure:
    means = (
        (results.whole(_BEST, data), printed("real_reg", data, metric_of(data), PAPERS).mean)
        for data in sets
    )
    return _count(
        one.error.mean <= paper for one, paper in means if one is not None and not np.isnan(paper)
    )


def _most_neurons(results: Results, sets: Iterable[Data]) -> Figure:
    widths = [
        list(values(results.runs, _place(_SMALL, data), "neurons").values())
        for data in sets
        if results.whole(_SMALL, data) is not None
    ]
    # A fit that is no network has None, which makes the figure NaN.
    largest = [float(np.max(np.array(some, dtype=float))) for some in widths]
    return Figure(float(np.max(largest)) if largest else np.nan, len(largest))


def _worst_split(results: Results, sets: Iterable[Data]) -> Figure:
    column = Column(SPLITS, LIFE)
    errors = [
        list(values(results.runs, _place(column, data), "error").values())
        for data in sets
        if results.whole(column, data) is not None
    ]
    return Figure(max(map(largest_over_median, errors), default=np.nan), len(errors))


def _place(column: Column, data: Data) -> tuple[str, str, str]:
    return (column.table, data.name, column.model)


def _count(held: Iterable[bool]) -> Figure:
    known = list(held)
    return Figure(float(sum(known)) if known else np.nan, len(known))


def _best() -> list[Goal]:
    rival = Column(TUNED, "XGBoost")
    against = "geometric mean of its error over the best tuned peer's"
    return [
        Goal(f"{BEST}: sets with the lowest error of all", _wins, NAMED, 9, True, ".0f"),
        Goal(f"{BEST}, named sets: {against}", _against_best_peer, NAMED, 1.0),
        Goal(f"{BEST}, all sets: {against}", _against_best_peer, _MEANS, 1.0),
        *(
            Goal(
                f"{BEST}: error over tuned XGBoost's, {name}",
                partial(_mean_ratio, _BEST, rival),
                (name,),
                1.0,
            )
            for name in ("bike_sharing", "california_housing", "casp", "magic")
        ),
        Goal(
            f"{BEST}: RMSE at or below the paper's mean of {PAPERS}",
            _as_good_as_paper,
            _OF_PAPER,
            6,
            True,
            ".0f",
        ),
    ]


def _default() -> list[Goal]:
    mean = f"{LIFE}, defaults: geometric mean of its"
    return [
        *(
            Goal(
                f"{mean} error over {peer}'s",
                partial(_mean_ratio, _LIFE, Column(DEFAULT, peer)),
                _MEANS,
                1.0,
            )
            for peer in ("XGBoost", "LightGBM", "EBM")
        ),
        *(
            Goal(
                f"{mean} seconds over {peer}'s",
                partial(_mean_time_ratio, _LIFE, Column(DEFAULT, peer)),
                _ALL,
                limit,
            )
            for peer, limit in (("EBM", 1 / 3), ("CatBoost", 10.0))
        ),
        *(
            Goal(
                f"{LIFE}, defaults: largest ratio of its error to {peer}'s",
                partial(_largest_ratio, _LIFE, Column(DEFAULT, peer)),
                _ALL,
                1.02,
            )
            for peer in ("linear", "MLP")
        ),
        *(
            Goal(
                f"{LIFE}, defaults: largest over median test error, "
                f"{TABLES[SPLITS].n_seeds} splits of {name}",
                _worst_split,
                (name,),
                BLOWN_UP,
            )
            for name in BLOW_UPS
        ),
    ]


def _small() -> list[Goal]:
    return [
        Goal(f"{SMALL}: most neurons", _most_neurons, _ALL, 64, form=".0f"),
        Goal(
            f"{SMALL}: geometric mean of its error over {BEST}'s",
            partial(_mean_ratio, _SMALL, _BEST),
            _MEANS,
            1.05,
        ),
    ]


#: Everything that is to be reached.
GOALS: tuple[Goal, ...] = (*_best(), *_default(), *_small())


def add_bars(bars: Bars, records: Iterable[Record]) -> None:
    """Bars of what was run and how, and of all goals."""
    records = list(records)
    results = Results.of(records)
    cell_bars(bars, results.summaries, TABLES)
    for line in not_run(results):
        bars.note(f"not run: {line}")
    protocol_bars(bars, records, TABLES, PEERS)
    bars.note(f"means of ratios leave out {', '.join(BY_AUC)}, which is judged by AUC")
    for goal in GOALS:
        goal.add_to(bars, results)
    for what, names in (("named sets", NAMED), ("all sets", _MEANS)):
        figure = against_any_peer(results, [DATA[name] for name in names])
        over = "its error over the best peer's, tuned or with default settings"
        bars.note(f"{BEST}, {what}: geometric mean of {over}: {_text(figure, '.3f')}")
