"""Few regions, bounded by conditions on columns, in each of which a score is nearly linear.

A tree whose leaves have linear equations is grown by best-first search: the split that lowers the
squared error of the leaves' equations most comes next. This is model-based partitioning (Zeileis,
Hothorn and Hornik, "Model-based recursive partitioning", 2008) of a model's own score, as Hu, Chen,
Nair and Sudjianto do ("Surrogate locally-interpretable models with supervised machine learning
algorithms", 2020).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.quantiles import weighted_quantiles

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers

__all__ = ["Box", "grow_partitions", "shortest_between"]

#: Rows that splits are sought on; the equations are fitted to all.
_ROWS = 5_000
#: Thresholds tried for a column, at even shares of the rows of a leaf.
#: The best is then refined by so many more next to it.
_THRESHOLDS, _REFINED = 12, 60
#: Ridge on columns of unit spread: they may depend on each other.
_RIDGE = 1e-9
_MOST_DIGITS = 17


@dataclass(frozen=True)
class Box:
    """A region: for each column that has a condition, the values above `low` and up to `high`.

    Attributes
    ----------
    sides : (column, low, high), ascending by column; infinite where there is no bound
    """

    sides: tuple[tuple[int, float, float], ...] = ()

    def holds(self, X: Floats) -> Bools:
        """Which rows lie in it, (n,)."""
        inside = np.ones(len(X), dtype=bool)
        for column, low, high in self.sides:
            inside &= (X[:, column] > low) & (X[:, column] <= high)
        return inside

    def cut(self, column: int, threshold: float) -> tuple[Box, Box]:
        """The parts up to a threshold and above it."""
        known = {at: (low, high) for at, low, high in self.sides}
        low, high = known.get(column, (-np.inf, np.inf))
        parts = []
        for side in ((low, min(high, threshold)), (max(low, threshold), high)):
            sides = known | {column: side}
            parts.append(Box(tuple((at, *ends) for at, ends in sorted(sides.items()))))
        return parts[0], parts[1]


@dataclass(frozen=True, eq=False)
class _Leaf:
    """A region with its rows, the error of its equation, and its best split."""

    box: Box
    rows: Integers
    gain: float
    column: int
    threshold: float


def grow_partitions(
    X: Floats, score: Floats, weight: Floats, most: int, least_weight: float
) -> list[tuple[Box, ...]]:
    """Partitions into 1, 2, ... regions, each a refinement of the one before.

    Parameters
    ----------
    X : (n, p)
    score : (n,), what is to be nearly linear in each region
    weight : (n,)
    most : regions
    least_weight : that each region has at least
    """
    table = _Table.of(X, score, weight)
    leaves = [_leaf(table, Box(), np.arange(len(X)), least_weight)]
    partitions: list[tuple[Box, ...]] = [(leaves[0].box,)]
    while len(leaves) < most:
        best = max(range(len(leaves)), key=lambda at: leaves[at].gain)
        leaf = leaves[best]
        if not leaf.gain > 0:
            break
        below = table.X[leaf.rows, leaf.column] <= leaf.threshold
        boxes = leaf.box.cut(leaf.column, leaf.threshold)
        leaves[best : best + 1] = [
            _leaf(table, box, leaf.rows[side], least_weight)
            for box, side in zip(boxes, (below, ~below), strict=True)
        ]
        partitions.append(tuple(one.box for one in leaves))
    return partitions


@dataclass(frozen=True, eq=False)
class _Table:
    """Rows, and their products: a design of standardised columns, one and the score."""

    X: Floats
    weight: Floats
    design: Floats

    @classmethod
    def of(cls, X: Floats, score: Floats, weight: Floats) -> _Table:
        share = weight / weight.sum()
        middle, level = share @ X, share @ score
        spread = np.sqrt(share @ np.square(X - middle))
        spread = np.where(spread > 1e-12 * np.abs(X).max(axis=0), spread, np.inf)
        parts = [(X - middle) / spread, np.ones(len(X)), score - level]
        return cls(X, weight, np.column_stack(parts))

    def moments(self, rows: Integers) -> Floats:
        """Products of the design, (p + 2, p + 2)."""
        design = self.design[rows]
        return np.asarray((design * self.weight[rows, None]).T @ design)


def _leaf(table: _Table, box: Box, rows: Integers, least: float) -> _Leaf:
    """A region and the split that lowers its error most."""
    # Splits are sought on some of the rows, drawn anew for each region.
    some = rows
    if len(rows) > _ROWS:
        some = np.sort(np.random.default_rng(0).permutation(rows)[:_ROWS])
    whole = table.moments(some)
    error, ours = float(_errors(whole[None])[0]), _Leaf(box, rows, 0.0, -1, np.nan)
    # Gains that are rounding of the error would split a linear score.
    floor = 1e-9 * max(float(whole[-1, -1]), np.finfo(np.float64).tiny)
    found = []
    for column in range(table.X.shape[1]):
        distinct = np.unique(table.X[some, column])
        places = _even_places(table.X[some, column], table.weight[some], distinct)
        split = _best_split(table, rows, some, column, distinct, places, least)
        if split is not None:
            found.append((split[0], column, split[1], distinct))
    if not found:
        return ours
    _, column, place, distinct = min(found, key=lambda one: one[:2])
    # Between the neighbours of the best place that was tried, all places are tried.
    if len(distinct) > _THRESHOLDS:
        apart = -(-len(distinct) // _THRESHOLDS)
        near = np.arange(max(0, place - apart), min(len(distinct) - 1, place + apart + 1))
        near = near[np.unique(np.linspace(0, len(near) - 1, _REFINED).astype(np.intp))]
        places = np.union1d(near, [place])
        split = _best_split(table, rows, some, column, distinct, places, least)
        assert split is not None
        found.append((split[0], column, split[1], distinct))
    best, column, place, distinct = min(found, key=lambda one: one[:2])
    gain = error - best
    if not gain > floor:
        return ours
    # A gain of some of the rows stands for all.
    scale = float(table.weight[rows].sum() / table.weight[some].sum())
    threshold = shortest_between(float(distinct[place]), float(distinct[place + 1]))
    return _Leaf(box, rows, gain * scale, column, threshold)


def _best_split(
    table: _Table,
    rows: Integers,
    some: Integers,
    column: int,
    distinct: Floats,
    place: Integers,
    least: float,
) -> tuple[float, int] | None:
    """Least error of two equations over some places to split at, and its place.

    None where no place leaves enough rows on either side.
    """
    if not len(place):
        return None
    edges = (distinct[place] + distinct[place + 1]) / 2
    mass = np.bincount(
        np.searchsorted(edges, table.X[rows, column], side="left"),
        table.weight[rows],
        len(edges) + 1,
    )
    below = np.cumsum(mass)[:-1]
    allowed = np.minimum(below, mass.sum() - below) >= least * (1 - 1e-9)
    if not allowed.any():
        return None
    part = np.searchsorted(edges, table.X[some, column], side="left")
    moments = np.array([table.moments(some[part == number]) for number in range(len(edges) + 1)])
    # Summed from either end: a difference would lose digits to an outlier on one side.
    left, right = np.cumsum(moments, axis=0)[:-1], np.cumsum(moments[::-1], axis=0)[::-1][1:]
    errors = _errors(left[allowed]) + _errors(right[allowed])
    best = int(np.argmin(errors))
    return float(errors[best]), int(place[allowed][best])


def _even_places(values: Floats, weight: Floats, distinct: Floats) -> Integers:
    """Places between neighbouring values, at even shares of the rows; all where they are few."""
    if len(distinct) <= _THRESHOLDS:
        return np.arange(len(distinct) - 1)
    levels = np.arange(1, _THRESHOLDS + 1) / (_THRESHOLDS + 1)
    place = np.unique(np.searchsorted(distinct, weighted_quantiles(values, weight, levels)))
    return place[place < len(distinct) - 1]


def _errors(moments: Floats) -> Floats:
    """Squared error of the best linear equation for each of some tables of products, (k,)."""
    mass = np.maximum(moments[:, -2, -2], np.finfo(np.float64).tiny)
    sums = np.delete(moments[:, -2], -2, axis=1)
    kept = np.delete(np.delete(moments, -2, axis=1), -2, axis=2)
    centred = kept - sums[:, :, None] * sums[:, None, :] / mass[:, None, None]
    gram, cross = centred[:, :-1, :-1], centred[:, :-1, -1]
    # Each column in units of its own spread in the region; one without any has no slope.
    spread = np.sqrt(np.maximum(np.einsum("kpp->kp", gram), 0.0))
    raw = np.sqrt(np.einsum("kpp->kp", kept[:, :-1, :-1]))
    varies = spread > 1e-7 * raw
    unit = np.divide(1.0, spread, out=np.zeros_like(spread), where=varies)
    gram = gram * unit[:, :, None] * unit[:, None, :]
    inner = np.arange(gram.shape[1])
    gram[:, inner, inner] = 1.0 + _RIDGE
    cross = cross * unit
    slopes = np.linalg.solve(gram, cross[:, :, None])[:, :, 0]
    return np.asarray(np.maximum(centred[:, -1, -1] - np.einsum("kp,kp->k", slopes, cross), 0.0))


def shortest_between(low: float, high: float) -> float:
    """The number with the fewest digits from `low` to below `high`.

    The middle where no decimal number lies between.
    """
    if not np.isfinite(high - low) or high <= low:
        return low
    step = 10.0 ** np.ceil(np.log10(high - low))
    for _ in range(_MOST_DIGITS):
        found = float(np.floor(high / step) * step)
        found = found - step if found >= high else found
        found = float(f"{found:.12g}")
        if low <= found < high:
            return found
        step /= 10.0
    middle = low + (high - low) / 2
    return middle if middle < high else low
