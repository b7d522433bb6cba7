"""Rows moved along one column, and how far a function on them is from straight lines.

A row `x`, a column `j` and two training values of it within reach of ``x_j``, at the distances s
and t, make three points of the line through `x` along `j`. Of a function f that changes by d_s and
d_t on the way to them,

    r = (t d_s - s d_t) / sqrt(s² + t²)

is zero where f is straight between the three, and otherwise what the least-squares line through
f(x) leaves of the two changes. It is linear in f: with fixed hidden neurons, its mean square is a
quadratic in the output weights.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data.coded_rows import CodedRows
from lifenet.data.rows import ArrayRows, HeldRows
from lifenet.schema import ColumnValues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.data.rows import Rows

__all__ = ["Moves", "Smoothing"]

# Rows whose values are those that columns are moved to, and where moves begin. Chosen by hand.
_MOST_ROWS = 50_000
# Candidates drawn for each move, tries to find two other values in a window, and the share of pairs
# that are such below which a window counts as if it had none.
_CANDIDATES, _TRIES, _LEAST_ODDS = 4, 30, 1e-3


@dataclass(frozen=True, eq=False)
class Moves:
    """Rows, each twice with one of its columns moved to another training value near by.

    Attributes
    ----------
    rows : 3 n of them: n rows unchanged, the same with one move, the same with the other
    stencil : (3, n), what the values of a function at the three count in `r`
    weight : (n,), so that a weighted sum of squares is the mean over rows of the sum over columns:
        how often two values that are drawn from a window differ from the row's own and each other
    """

    rows: Rows
    stencil: Floats
    weight: Floats

    @classmethod
    def draw(
        cls, rows: Rows, n_moves: int, reach: float, generator: np.random.Generator
    ) -> Moves | None:
        """Moves of random rows along random columns; None where no column has values to move to.

        Parameters
        ----------
        reach : share of a column's span (the distance of its 5 % and its 95 % quantile)
        """
        if rows.n_rows > _MOST_ROWS:
            rows = rows.take(np.linspace(0, rows.n_rows - 1, _MOST_ROWS).astype(np.intp))
        values = _values(rows)
        known = [ColumnValues.of(column, rows.weight) for column in values.T]
        movable = np.array([j for j, one in enumerate(known) if one.span > 0], dtype=np.intp)
        if not len(movable):
            return None
        size = _CANDIDATES * n_moves
        chosen = generator.choice(len(values), size, p=rows.weight / rows.total_weight)
        column = movable[generator.integers(len(movable), size=size)]
        start = values[chosen, column]
        ends, odds = np.empty((2, size)), np.empty(size)
        for j in movable.tolist():
            some = np.flatnonzero(column == j)
            ends[:, some], odds[some] = _ends(known[j], start[some], reach, generator)
        kept = np.flatnonzero(odds > 0)[:n_moves]
        if not len(kept):
            return None
        # Where most windows have no two other values, few candidates are kept of many.
        asked = size if len(kept) < n_moves else int(kept[-1]) + 1
        weight = odds[kept] * (len(movable) / asked)
        return cls._of(rows, values[chosen[kept]], column[kept], ends[:, kept], weight)

    @classmethod
    def _of(
        cls, rows: Rows, start: Floats, column: Integers, ends: Floats, weight: Floats
    ) -> Moves:
        """Of values to start from (n, n_columns), with one column moved to two ends (2, n)."""
        n, at = len(start), np.arange(len(start))
        one, other = ends - start[at, column]
        moved = np.concatenate([start, start, start])
        moved[n + at, column], moved[2 * n + at, column] = ends
        stencil = np.stack([one - other, other, -one]) / np.hypot(one, other)
        return cls(_with_values(rows, moved), stencil, weight)

    def __len__(self) -> int:
        return len(self.weight)

    def blocks(self, size: int) -> Iterator[Moves]:
        """All moves, some at a time, with the weights that they have."""
        n = len(self)
        for begin in range(0, n, size):
            index = np.arange(begin, min(begin + size, n))
            rows = self.rows.take(np.concatenate([index, n + index, 2 * n + index]))
            yield Moves(rows, self.stencil[:, index], self.weight[index])

    def bends(self, values: Floats) -> Floats:
        """`r` of functions (..., 3 n) whose values at the rows are given, (..., n)."""
        n = len(self)
        stencil = self.stencil.astype(values.dtype, copy=False)
        total: Floats = values[..., :n] * stencil[0]
        total += values[..., n : 2 * n] * stencil[1]
        total += values[..., 2 * n :] * stencil[2]
        return total

    def changes(self, values: Floats) -> Floats:
        """Mean square of the two changes of functions (..., 3 n), (..., n)."""
        n = len(self)
        one = values[..., n : 2 * n] - values[..., :n]
        other = values[..., 2 * n :] - values[..., :n]
        return np.asarray((np.square(one) + np.square(other)) / 2)


@dataclass(frozen=True, eq=False)
class Smoothing:
    """A penalty on how far a function is from straight lines.

    Attributes
    ----------
    moves : along which the function is asked
    factor : what half the mean square of the bends is multiplied with, beside the mean loss
    price : what straight lines may cost, as a share of the loss
    """

    moves: Moves
    factor: float
    price: float


def _ends(
    known: ColumnValues, start: Floats, reach: float, generator: np.random.Generator
) -> tuple[Floats, Floats]:
    """Two other values of a column within reach of each start, drawn as often as rows have them.

    Returns
    -------
    ends : (2, n)
    odds : (n,), how often two values drawn from the window are such; zero where they were not found
    """
    low, high = known.windows(start, reach)
    own = np.searchsorted(known.values, start)
    own = np.minimum(own, len(known.values) - 1)
    counts = known.counts
    upto, squares = (np.append(0.0, np.cumsum(one)) for one in (counts, np.square(counts)))
    total = upto[high] - upto[low]
    is_own = (known.values[own] == start) & (own >= low) & (own < high)
    others = total - np.where(is_own, counts[own], 0.0)
    repeated = squares[high] - squares[low] - np.where(is_own, np.square(counts[own]), 0.0)
    odds = np.divide(np.square(others) - repeated, np.square(total), where=total > 0, out=0 * total)
    odds[odds < _LEAST_ODDS] = 0.0
    ends, wanted = np.stack([start, start]), np.flatnonzero(odds > 0)
    for _ in range(_TRIES):
        drawn = generator.random((2, len(wanted))) * total[wanted] + upto[low[wanted]]
        index = np.searchsorted(upto, drawn, side="right") - 1
        index = np.clip(index, low[wanted], high[wanted] - 1)
        ends[:, wanted] = known.values[index]
        one, other = ends[:, wanted]
        wanted = wanted[(one == other) | (one == start[wanted]) | (other == start[wanted])]
    odds[wanted] = 0.0
    return ends, odds


def _values(rows: Rows) -> Floats:
    """The columns that moves are made in: the user's, where rows have them, (n_rows, n_columns)."""
    if isinstance(rows, CodedRows):
        return rows.values
    if isinstance(rows, ArrayRows):
        return np.asarray(rows.X if rows.index is None else rows.X[rows.index], dtype=np.float64)
    return rows.collect(lambda block: block.inputs[:-1].copy()).T


def _with_values(rows: Rows, values: Floats) -> Rows:
    """Rows of other values in these columns, without targets, of weight one."""
    target, weight = np.zeros(len(values)), np.ones(len(values))
    if isinstance(rows, CodedRows | ArrayRows):
        return replace(rows, X=values, target=target, weight=weight, index=None)
    inputs = np.vstack([values.T, np.ones(len(values))])
    return HeldRows(inputs, target, weight)
