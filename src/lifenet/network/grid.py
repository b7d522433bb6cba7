"""Where rows are between the knots of their columns: one number and one position a cell.

Whatever is linear between neighbouring knots of a column is given by its values at the knots, the
points of the grid. Its value at a row is then the mean of two of them::

    (1 - share) table[point] + share table[point + 1]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers

__all__ = ["Cells", "Grid"]

# Cells up to which all columns are located in one comparison with all knots.
_FEW_CELLS = 1 << 15


@dataclass(frozen=True, eq=False)
class Cells:
    """Where rows are on a grid.

    Attributes
    ----------
    point : (n, p), number of the point below among all points of the grid
    share : (n, p), how far on the way to the next point, 0 to 1; of a column without knots its
        value, whose points stand for 0 and 1
    inside : (n, p), whether the value lies between the outer knots, where codes have slopes
    """

    point: Integers
    share: Floats
    inside: Bools

    def __len__(self) -> int:
        return len(self.point)

    def __getitem__(self, rows: slice | Integers) -> Cells:
        return Cells(self.point[rows], self.share[rows], self.inside[rows])

    def coordinate(self) -> Floats:
        """Number of the point below plus the share, (n, p): a single number a cell."""
        return np.asarray(self.point + self.share)

    def products(self, columns: Integers, shift: Integers, tables: Floats) -> Floats:
        """Values of tables, summed over some columns, (n, width).

        Parameters
        ----------
        columns : (c,) numbers of columns
        shift : (c,) number of each column's first point on the grid less its row in `tables`
        tables : (n_points_of_these_columns, width)
        """
        n, c = len(self), len(columns)
        index = np.empty((n, c, 2), dtype=np.int32)
        index[:, :, 0] = self.point[:, columns]
        index[:, :, 0] -= shift.astype(np.int32)
        np.add(index[:, :, 0], 1, out=index[:, :, 1])
        data = np.empty((n, c, 2), dtype=tables.dtype)
        data[:, :, 1] = self.share[:, columns]
        np.subtract(1.0, data[:, :, 1], out=data[:, :, 0])
        ends = np.arange(0, 2 * c * n + 1, 2 * c, dtype=np.int32)
        hats = sparse.csr_array((data.ravel(), index.ravel(), ends), shape=(n, len(tables)))
        return np.asarray(hats @ tables)


@dataclass(frozen=True, eq=False)
class Grid:
    """The knots of all columns, one after the other.

    A column without knots has two points, 0 and 1, between which and beyond which it goes on; a
    single knot counts twice.

    Attributes
    ----------
    knots : for each column, (r_j,)
    first : (p + 1,), number of each column's first point, and of all points
    gap : (n_points,), distance to the next point of the column; one for its last
    """

    knots: tuple[Floats, ...]
    first: Integers
    gap: Floats
    _padded: Floats

    @classmethod
    def of(cls, knots: Sequence[Floats]) -> Grid:
        """The grid of the knots of columns."""
        widths = np.array([max(2, len(one)) for one in knots])
        first = np.concatenate([[0], np.cumsum(widths)])
        gap = np.ones(int(first[-1]))
        padded = np.full((len(knots), int(widths.max(initial=2))), np.inf)
        for column, places in enumerate(knots):
            if len(places) > 1:
                gap[first[column] : first[column] + len(places) - 1] = np.diff(places)
            padded[column, : len(places)] = places
        return cls(tuple(knots), first, gap, padded)

    @property
    def n_points(self) -> int:
        """Number of points."""
        return int(self.first[-1])

    def points_of(self, column: int) -> slice:
        """The points of a column among all."""
        return slice(int(self.first[column]), int(self.first[column + 1]))

    def locate(self, rows: Floats) -> Cells:
        """Where checked rows (n, p) are."""
        if rows.size * self._padded.shape[1] <= _FEW_CELLS:
            return self._locate_few(rows)
        point = np.empty(rows.shape, dtype=np.int32)
        share = np.empty(rows.shape)
        inside = np.empty(rows.shape, dtype=np.bool_)
        for column in range(len(self.knots)):
            at = self.locate_column(column, rows[:, column])
            point[:, column], share[:, column] = at.point[:, 0], at.share[:, 0]
            inside[:, column] = at.inside[:, 0]
        return Cells(point, share, inside)

    def locate_column(self, column: int, x: Floats) -> Cells:
        """Where values of one column are, as cells of a single column."""
        knots, first = self.knots[column], int(self.first[column])
        if len(knots) < 2:
            bare = not len(knots)
            point = np.full(len(x), first, dtype=np.int32)
            share = x.astype(np.float64) if bare else np.zeros(len(x))
            return Cells(point[:, None], share[:, None], np.full((len(x), 1), bare))
        below = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, len(knots) - 2)
        share = np.clip((x - knots[below]) / self.gap[first + below], 0.0, 1.0)
        inside = (x >= knots[0]) & (x <= knots[-1])
        point = (first + below).astype(np.int32)
        return Cells(point[:, None], share[:, None], inside[:, None])

    def _locate_few(self, rows: Floats) -> Cells:
        """The same for few rows: one comparison of all cells with all knots of their column."""
        padded, last = self._padded, np.diff(self.first) - 1
        upto = (padded[None] <= rows[:, :, None]).sum(axis=2)
        count = self._counts
        below = np.clip(upto - 1, 0, last - 1)
        point = self.first[:-1] + below
        columns = np.arange(rows.shape[1])
        share = np.clip((rows - padded[columns, below]) / self.gap[point], 0.0, 1.0)
        inside = (upto > 0) & (rows <= padded[columns, np.maximum(count - 1, 0)])
        bare = count == 0
        if bare.any():
            share, inside = np.where(bare, rows, share), inside | bare
        single = count == 1
        if single.any():
            share, inside = np.where(single, 0.0, share), inside & ~single
        return Cells(point.astype(np.int32), share, inside)

    @property
    def _counts(self) -> Integers:
        return np.asarray(np.isfinite(self._padded).sum(axis=1))
