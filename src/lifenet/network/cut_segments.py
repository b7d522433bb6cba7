"""The integral of the gradient along segments for neurons that bend at many knots.

Between the knots that it crosses, a segment changes the height of every neuron linearly. A neuron
counts by the fraction of such a piece on which it is active, and a column's part is the sum over
the pieces of the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.segments import active_share

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.tables import ColumnTables

__all__ = ["PlainLayer", "integrate_plain", "integrate_tables"]


class PlainLayer(NamedTuple):
    """Neurons that read no ramps.

    Attributes
    ----------
    weights : (m, n_plain), on the plain codes
    bias : (m,)
    """

    weights: Floats
    bias: Floats


class _Cuts(NamedTuple):
    """Where segments begin, cross knots and end.

    Attributes
    ----------
    row : (n_cuts,), ascending; each row has at least two
    share : (n_cuts,), of the way, ascending in every row from 0 to 1
    """

    row: Integers
    share: Floats


# ---------------------------------------------------------------------- neurons without ramps


def integrate_plain(
    coding: ColumnCoding, layer: PlainLayer, beta: Floats, start: Floats, end: Floats
) -> Floats:
    """Parts of neurons without ramps along segments from `start` to `end` (n, p), by column.

    Parameters
    ----------
    beta : (m, n_outputs)

    Returns
    -------
    ndarray of shape (n, p, n_outputs)
    """
    parts = np.zeros((*start.shape, beta.shape[1]))
    column = coding.column_of_code[coding.plain_codes]
    used = np.unique(column[layer.weights.any(axis=0)])
    if not len(used):
        return parts
    firsts = np.flatnonzero(np.diff(column, prepend=-1))
    # Not all knots are crossed, and the products take blocks of their own: few rows would be slow.
    width = len(column) * (2 + sum(len(coding.knots[j]) for j in used.tolist())) // 4
    # Products are small: more threads would wait for each other.
    with one_blas_thread():
        for block in row_blocks(len(start), width, parts.dtype):
            ends = start[block], end[block]
            cuts = _cut(coding.knots, used.tolist(), *ends)
            codes = coding.plain_values(coding.grid.locate(_rows_at(cuts, *ends)))
            by_code = _change_by_code(layer, beta, codes, cuts.row)
            parts[block, column[firsts]] = np.add.reduceat(by_code, firsts, axis=1)
    return parts


def _change_by_code(layer: PlainLayer, beta: Floats, codes: Floats, row: Integers) -> Floats:
    """Change of the scores along ways given by codes at cuts, (n, n_plain, n_outputs)."""
    n_pieces, n_outputs = len(codes) - 1, beta.shape[1]
    change = np.diff(codes, axis=0)
    # From the end of a row to the start of the next one is no way.
    change[np.diff(row) != 0] = 0.0
    pulled = np.empty((n_pieces, codes.shape[1], n_outputs))
    for some in row_blocks(n_pieces, 8 * len(layer.bias), codes.dtype):
        heights = codes[some.start : some.stop + 1] @ layer.weights.T
        heights += layer.bias
        active = _active_pieces(heights)
        for output in range(n_outputs):
            slopes = active @ (layer.weights * beta[:, output, None])
            np.multiply(slopes, change[some], out=pulled[some, :, output])
    return np.asarray(np.add.reduceat(pulled, _firsts(row), axis=0))


def _active_pieces(heights: Floats) -> Floats:
    """`active_share` between neighbouring rows of heights (k + 1, m), (k, m).

    On most pieces it is zero or one.
    """
    above = heights > 0
    active = above[1:].astype(np.float64)
    switches = np.flatnonzero(above[1:] != above[:-1])
    before, after = np.take(heights, switches), np.take(heights, switches + heights.shape[1])
    active.reshape(-1)[switches] = active_share(before, after)
    return active


# ---------------------------------------------------------------------- neurons with ramps


def integrate_tables(tables: ColumnTables, beta: Floats, start: Floats, end: Floats) -> Floats:
    """Parts of neurons given by tables along segments from `start` to `end` (n, p), by column.

    Parameters
    ----------
    beta : (n_neurons, n_outputs)

    Returns
    -------
    ndarray of shape (n, p, n_outputs)
    """
    parts = np.empty((*start.shape, beta.shape[1]))
    n_cuts = 2 + sum(len(knots) for knots in tables.coding.knots)
    width = max(min(tables.width, tables.n_neurons), start.shape[1])
    for block in row_blocks(len(start), n_cuts * width, parts.dtype):
        parts[block] = _integrate_tables(tables, beta, start[block], end[block])
    return parts


def _integrate_tables(tables: ColumnTables, beta: Floats, start: Floats, end: Floats) -> Floats:
    """The same of a block."""
    cuts = _cut(tables.coding.knots, range(start.shape[1]), start, end)
    first = np.flatnonzero(np.diff(cuts.row) == 0)
    cells = tables.grid.locate(_rows_at(cuts, start, end))
    row, length = cuts.row[first], cuts.share[first + 1] - cuts.share[first]
    middle = _Cuts(row, (cuts.share[first] + cuts.share[first + 1]) / 2)

    def shares() -> Iterator[tuple[Integers, Floats]]:
        for neurons, heights in tables.heights(cells):
            active = active_share(heights[first], heights[first + 1])
            active *= length[:, None]
            yield neurons, active

    slopes = np.zeros((len(row), start.shape[1], beta.shape[1]))
    tables.pull(tables.grid.locate(_rows_at(middle, start, end)), shares(), beta, slopes)
    return np.asarray(np.add.reduceat(slopes, _firsts(row), axis=0) * (end - start)[:, :, None])


# ---------------------------------------------------------------------- cutting


def _cut(knots: tuple[Floats, ...], columns: Iterable[int], start: Floats, end: Floats) -> _Cuts:
    """Cut segments at the knots of some columns."""
    n = len(start)
    crossed = [_crossings(knots[j], start[:, j, None], end[:, j, None]) for j in columns]
    shares = np.column_stack([np.zeros(n), *crossed, np.ones(n)])
    shares.sort(axis=1)
    kept = np.ones(shares.shape, dtype=np.bool_)
    np.greater(shares[:, 1:], shares[:, :-1], out=kept[:, 1:])
    return _Cuts(np.repeat(np.arange(n), kept.sum(axis=1)), shares[kept])


def _crossings(knots: Floats, start: Floats, end: Floats) -> Floats:
    """The shares of the way at which knots of a column are crossed, 1 where not, (n, r)."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        shares = (knots - start) / (end - start)
    shares[~((shares > 0) & (shares < 1))] = 1.0
    return np.asarray(shares)


def _rows_at(cuts: _Cuts, start: Floats, end: Floats) -> Floats:
    """The rows at shares of the way; exactly the ends at 0 and 1, and where both are equal."""
    share, first = cuts.share[:, None], start[cuts.row]
    rows = first * (1 - share)
    rows += end[cuts.row] * share
    stays = start == end
    if stays.any():
        np.copyto(rows, first, where=stays[cuts.row])
    return np.asarray(rows)


def _firsts(row: Integers) -> Integers:
    """Where each row begins."""
    return np.flatnonzero(np.diff(row, prepend=-1))
