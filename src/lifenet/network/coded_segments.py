"""The integral of the gradient along straight segments of raw rows, by raw column.

Between the knots that it crosses, a segment changes the height of every neuron linearly. A neuron
counts by the fraction of such a piece on which it is active, and a column's part is the sum over
the pieces of the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.segments import active_share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.network.coded import CodedNetwork
    from lifenet.network.coding import ColumnCoding

__all__ = ["integrate_coded"]


def integrate_coded(coded: CodedNetwork, start: Floats, end: Floats) -> Floats:
    """Change of the score along segments from `start` to `end` (n, p), by column.

    Returns
    -------
    ndarray of shape (n, p, n_outputs)
    """
    parts = coded.linear_values(end) - coded.linear_values(start)
    n_cuts = 2 + sum(len(knots) for knots in coded.coding.knots)
    for block in row_blocks(len(start), n_cuts * coded.tables.width, parts.dtype):
        parts[block] += _integrate(coded, start[block], end[block])
    return parts


class _Pieces(NamedTuple):
    """Pieces of segments between the knots that they cross.

    Attributes
    ----------
    row : (n_pieces,), ascending; each row has at least one
    share : (n_pieces,), of the whole way
    first : (n_pieces,), the cut at which each begins; the next one is where it ends
    cuts : (n_cuts, p), rows at the cuts, one more than pieces in every row
    middle : (n_pieces, p), rows in the middle of the pieces, inside their bins
    """

    row: Integers
    share: Floats
    first: Integers
    cuts: Floats
    middle: Floats


def _integrate(coded: CodedNetwork, start: Floats, end: Floats) -> Floats:
    """Parts of the neurons, (n, p, n_outputs)."""
    tables, grid = coded.tables, coded.coding.grid
    pieces = _cut(coded.coding, start, end)
    cuts = grid.locate(pieces.cuts)

    def shares() -> Iterator[tuple[Integers, Floats]]:
        for neurons, heights in tables.heights(cuts):
            active = active_share(heights[pieces.first], heights[pieces.first + 1])
            active *= pieces.share[:, None]
            yield neurons, active

    slopes = np.zeros((len(pieces.row), start.shape[1], coded.n_outputs))
    beta = coded.network.beta.astype(np.float64)
    tables.pull(grid.locate(pieces.middle), shares(), beta, slopes)
    firsts = np.flatnonzero(np.diff(pieces.row, prepend=-1))
    return np.add.reduceat(slopes, firsts, axis=0) * (end - start)[:, :, None]


def _cut(coding: ColumnCoding, start: Floats, end: Floats) -> _Pieces:
    """Cut segments at the knots."""
    n = len(start)
    shares = np.column_stack([np.zeros(n), *_crossings(coding, start, end), np.ones(n)])
    shares.sort(axis=1)
    row, place = np.nonzero(np.diff(shares, axis=1) > 0)
    begin, finish = shares[row, place], shares[row, place + 1]
    first = np.arange(len(row)) + row
    at, row_of_cut = np.empty(len(row) + n), np.empty(len(row) + n, dtype=np.intp)
    at[first], at[first + 1] = begin, finish
    row_of_cut[first], row_of_cut[first + 1] = row, row
    cuts = _between(start[row_of_cut], end[row_of_cut], at[:, None])
    half = ((begin + finish) / 2)[:, None]
    return _Pieces(row, finish - begin, first, cuts, _between(start[row], end[row], half))


def _crossings(coding: ColumnCoding, start: Floats, end: Floats) -> list[Floats]:
    """For each column, the shares of the way at which its knots are crossed, 1 where not."""
    found = []
    for column, knots in enumerate(coding.knots):
        if not len(knots):
            continue
        length = (end[:, column] - start[:, column])[:, None]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = (knots - start[:, column, None]) / length
        found.append(np.where((shares > 0) & (shares < 1), shares, 1.0))
    return found


def _between(start: Floats, end: Floats, share: Floats) -> Floats:
    """The rows at shares of the way; exactly the ends at 0 and 1."""
    return start * (1 - share) + end * share
