"""What the score does as a raw column moves: all of its codes move together.

As the codes of a column change by `d`, neuron `k` goes from the height ``z_k`` to ``z_k + w_k' d``.
Its output then rises by::

    relu(z + c) - relu(z) = max(c + min(z, 0), -max(z, 0)),     c = w_k' d

which loses no digits where `c` is small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.row_blocks import row_blocks

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.relu import ReluNetwork

__all__ = ["hinge_rises", "move_coded", "split_heights"]


def split_heights(heights: Floats) -> tuple[Floats, Floats]:
    """``min(z, 0)`` and ``-max(z, 0)`` of heights `z`: what `hinge_rises` needs of them."""
    cut = np.maximum(heights, 0)
    return np.minimum(heights, 0), np.negative(cut, out=cut)


def hinge_rises(change: Floats, below: Floats, cut: Floats) -> Floats:
    """Rise of the hinges as their heights change; overwrites `change`."""
    change += below
    return np.maximum(change, cut, out=change)


def move_coded(coding: ColumnCoding, network: ReluNetwork, rows: Floats, targets: Floats) -> Floats:
    """Change of the score as each raw column alone goes to other values.

    Columns of one code move as the network's own columns do; those of several codes are worked
    through one by one.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    targets : ndarray of shape (s, n, p)

    Returns
    -------
    ndarray of shape (s, n, p, n_outputs)
    """
    moved = np.zeros((*targets.shape, network.n_outputs))
    single = np.bincount(coding.column_of_code) == 1
    if single.any():
        _move_single(coding, network, moved, rows, targets, single)
    if not single.all():
        _move_together(coding, network, moved, rows, targets, np.flatnonzero(~single).tolist())
    return moved


def _move_single(
    coding: ColumnCoding,
    network: ReluNetwork,
    moved: Floats,
    rows: Floats,
    targets: Floats,
    single: Bools,
) -> None:
    """Fill in the changes of the score for columns of one code; the other codes stay."""
    still = ~single[coding.column_of_code]
    own = coding._first_code[:-1][single]
    width = len(targets) * coding.n_codes * network.n_outputs
    for block in row_blocks(len(rows), width, moved.dtype):
        codes = coding._encode(rows[block])
        ends = np.empty((len(targets), *codes.shape))
        for end, table in zip(ends, targets, strict=True):
            end[...] = np.where(still, codes, coding._encode(table[block]))
        moved[:, block, single] = network.moves(codes, ends)[:, :, own]


def _move_together(
    coding: ColumnCoding,
    network: ReluNetwork,
    moved: Floats,
    rows: Floats,
    targets: Floats,
    columns: list[int],
) -> None:
    """Fill in the changes of the score for columns of several codes."""
    for block in row_blocks(len(rows), max(network.n_neurons, coding.n_codes), moved.dtype):
        codes = coding._encode(rows[block])
        below, cut = split_heights(network.preactivations(codes))
        for column in columns:
            own = coding.codes_of(column)
            asks = np.flatnonzero(network.weights[:, own].any(axis=1))
            weights, linear = network.weights[asks][:, own], network.linear[own]
            beta, at, least = network.beta[asks], below[:, asks], cut[:, asks]
            change = np.empty_like(at)
            for move, table in zip(moved, targets, strict=True):
                step = coding._encode_column(column, table[block, column]) - codes[:, own]
                # In place: fresh arrays of this size cost more than the arithmetic.
                np.matmul(step, weights.T, out=change)
                rises = hinge_rises(change, at, least)
                move[block, column] = rises @ beta + step @ linear
