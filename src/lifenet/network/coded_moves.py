"""What the score does as a raw column moves.

As a column moves, what it gives to neuron `k` changes by ``c_k``, and the neuron goes from the
height ``z_k`` to ``z_k + c_k``. Its output then rises by::

    relu(z + c) - relu(z) = max(c + min(z, 0), -max(z, 0))

which loses no digits where `c` is small.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.row_blocks import row_blocks

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.network.coded import CodedNetwork

__all__ = ["hinge_rises", "move_coded", "split_heights"]


def split_heights(heights: Floats) -> tuple[Floats, Floats]:
    """``min(z, 0)`` and ``-max(z, 0)`` of heights `z`: what `hinge_rises` needs of them."""
    cut = np.maximum(heights, 0)
    return np.minimum(heights, 0), np.negative(cut, out=cut)


def hinge_rises(change: Floats, below: Floats, cut: Floats) -> Floats:
    """Rise of the hinges as their heights change; overwrites `change`."""
    change += below
    return np.maximum(change, cut, out=change)


def move_coded(coded: CodedNetwork, rows: Floats, targets: Floats) -> Floats:
    """Change of the score as each raw column alone goes to other values.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    targets : ndarray of shape (s, n, p)

    Returns
    -------
    ndarray of shape (s, n, p, n_outputs)
    """
    moved = np.zeros((*targets.shape, coded.n_outputs))
    grid, beta = coded.coding.grid, coded.network.beta
    for block in row_blocks(len(rows), 2 * coded.n_neurons, moved.dtype):
        below, cut = split_heights(coded.tables.all_heights(grid.locate(rows[block])))
        for column in range(rows.shape[1]):
            readers = coded.tables.column_tables[column].neurons
            at, least = below[:, readers], cut[:, readers]
            start = coded.column_value(column, rows[block, column])
            for move, table in zip(moved, targets, strict=True):
                if np.array_equal(table[block, column], rows[block, column]):
                    continue
                end = coded.column_value(column, table[block, column])
                rises = hinge_rises(end.heights - start.heights, at, least)
                move[block, column] = rises @ beta[readers] + (end.linear - start.linear)
    return moved
