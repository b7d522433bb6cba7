"""The integral of the gradient along straight segments of raw rows, by raw column.

Between the knots that it crosses, a segment of raw rows is a straight segment of codes too, over
which the network of codes gives its exact integral by code. A column's part is the sum over its
codes and over the pieces of the way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.row_blocks import row_blocks

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.relu import ReluNetwork

__all__ = ["integrate_coded"]


def integrate_coded(
    coding: ColumnCoding, network: ReluNetwork, start: Floats, end: Floats
) -> Floats:
    """Change of the score along segments from `start` to `end` (n, p), by column.

    Returns
    -------
    ndarray of shape (n, p, n_outputs)
    """
    parts = np.zeros((*start.shape, network.n_outputs))
    n_knots = sum(len(knots) for knots in coding.knots)
    for block in row_blocks(len(start), n_knots, parts.dtype):
        row, begin, finish = _cut(coding, start[block], end[block])
        width = max(network.n_neurons, coding.n_codes * network.n_outputs)
        for chunk in row_blocks(len(row), width, parts.dtype):
            at = row[chunk] + block.start
            ends = (
                coding._encode(_between(start[at], end[at], share[chunk, None]))
                for share in (begin, finish)
            )
            pieces = coding._by_column(network.segment(*ends))
            firsts = np.flatnonzero(np.diff(at, prepend=-1))
            parts[at[firsts]] += np.add.reduceat(pieces, firsts, axis=0)
    return parts


def _cut(coding: ColumnCoding, start: Floats, end: Floats) -> tuple[Integers, Floats, Floats]:
    """Pieces of the segments between knots: row, and shares of the way at which each goes.

    Rows ascend, pieces follow each other, and each row has at least one.
    """
    shares = np.column_stack(
        [np.zeros(len(start)), *_crossings(coding, start, end), np.ones(len(start))]
    )
    shares.sort(axis=1)
    row, place = np.nonzero(np.diff(shares, axis=1) > 0)
    return row, shares[row, place], shares[row, place + 1]


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
