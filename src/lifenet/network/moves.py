"""What the score does as each column alone moves: all columns of all rows in one pass.

As column `j` of row `i` goes by a step `h`, neuron `k` goes from the height ``z_ik`` to
``z_ik + w_kj h``. Beyond the linear change ``h`` times the slope, its output changes by
``|z_ik + w_kj h|`` if that height has another sign, and by nothing if not: a hinge is convex and
bends once. So where steps are short, few neurons matter, and one comparison finds them for all
columns together: ``|z_ik| < |w_kj| |h_ij|`` for some `j` implies, whatever the lengths ``c_j``,

    |z_ik| < omega_k reach_i,     omega_k = max_j |w_kj| c_j,     reach_i = max_j |h_ij| / c_j

Rows divided by their reach and neurons by their omega keep their signs, and the comparison is
with one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.equations import mix_slopes, neuron_slopes

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network.relu import ReluNetwork

__all__ = ["move_columns"]

#: Above this share of neurons crossed, a column is worked through neuron by neuron.
_SPARSE_SHARE = 0.02
#: Rows from which that share is judged.
_PROBE_ROWS = 64
#: Crossings are worked through this many at a time, so that memory stays bounded.
_CHUNK = 50_000


def move_columns(network: ReluNetwork, rows: Floats, steps: Floats) -> Floats:
    """Change of the score as each column alone goes by its step.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    steps : ndarray of shape (s, n, p), in the dtype of the rows

    Returns
    -------
    ndarray of shape (s, n, p, n_outputs)
    """
    moved = np.empty((*steps.shape, network.n_outputs), dtype=rows.dtype)
    longest = np.abs(steps).max(axis=0, initial=0)
    moving = longest.any(axis=0)  # columns that stand still cross nothing
    far = moving & ~_short_columns(network, rows, longest, moving)
    short = moving & ~far
    reach, omega = _reach(network, longest, short)
    weights: Floats = np.column_stack([network.weights, network.bias]) / omega[:, None]
    weights = weights.astype(rows.dtype).T
    slopes = neuron_slopes(network, rows.dtype)
    crossings: list[tuple[Integers, Integers, Floats]] = []
    width = max(network.n_neurons, network.n_features * network.n_outputs)
    for block in row_blocks(len(rows), width, rows.dtype):
        scale = reach[block, None]
        heights = np.hstack([rows[block], np.ones_like(scale)]) / scale @ weights
        gradient = mix_slopes(network, (heights > 0).astype(rows.dtype), slopes)
        np.multiply(steps[:, block, :, None], gradient, out=moved[:, block])
        if short.any():
            row, neuron, height = _near(heights)
            height *= reach[block][row] * omega[neuron]
            crossings.append((row + block.start, neuron, height))
        if far.any():
            heights *= scale
            heights *= omega
            _move_far(network, moved[:, block], heights, steps[:, block], far)
        if sum(len(one[0]) for one in crossings) > _CHUNK:
            _add_crossings(network, moved, steps, crossings, short)
            crossings = []
    _add_crossings(network, moved, steps, crossings, short)
    return moved


def _short_columns(network: ReluNetwork, rows: Floats, longest: Floats, moving: Bools) -> Bools:
    """Which of the moving columns' steps cross few neurons, judged from some of the rows."""
    short = np.ones(network.n_features, dtype=bool)
    if not len(rows) or not network.n_neurons:
        return short
    probe = np.unique(np.linspace(0, len(rows) - 1, _PROBE_ROWS).astype(int))
    heights = np.abs(network._preactivations(rows[probe]))
    for column in np.flatnonzero(moving).tolist():
        change = np.abs(np.outer(longest[probe, column], network.weights[:, column]))
        short[column] = np.mean(heights < change) <= _SPARSE_SHARE
    return short


def _reach(network: ReluNetwork, longest: Floats, short: Bools) -> tuple[Floats, Floats]:
    """`reach` of the rows, (n,), and `omega` of the neurons, in the dtype of the steps; positive.

    The lengths c_j are the columns' mean steps, so that each column counts alike.
    """
    lengths = longest[:, short].mean(axis=0) if len(longest) else np.ones(int(short.sum()))
    lengths[lengths == 0] = 1.0
    reach = (longest[:, short] / lengths).max(axis=1, initial=0)
    omega = (np.abs(network.weights[:, short]) * lengths).max(axis=1, initial=0)
    # Rows that do not move and neurons that nothing moves are not scaled.
    reach, omega = np.where(reach > 0, reach, 1), np.where(omega > 0, omega, 1)
    return reach.astype(longest.dtype), omega.astype(longest.dtype)


def _near(heights: Floats) -> tuple[Integers, Integers, Floats]:
    """Rows, neurons and heights within one of zero, in the order of the rows."""
    near = heights < 1
    near &= heights > -1
    place = np.flatnonzero(near)
    row, neuron = np.divmod(place, heights.shape[1])
    return row, neuron, heights.ravel()[place]


def _add_crossings(
    network: ReluNetwork,
    moved: Floats,
    steps: Floats,
    crossings: list[tuple[Integers, Integers, Floats]],
    short: Bools,
) -> None:
    """Add the kinks of the columns with short steps; the rows of the crossings ascend."""
    if not sum(len(row) for row, _, _ in crossings):
        return
    rows, neurons, heights = (np.concatenate(parts) for parts in zip(*crossings, strict=True))
    columns = np.flatnonzero(short)
    for start in range(0, len(rows), _CHUNK):
        part = slice(start, start + _CHUNK)
        row, neuron = rows[part], neurons[part]
        firsts = np.flatnonzero(np.diff(row, prepend=-1))
        into = np.ix_(row[firsts], columns)
        weights = network.weights[np.ix_(neuron, columns)]
        for move, step in zip(moved, steps, strict=True):
            kinks = _kinks(heights[part, None], weights * step[np.ix_(row, columns)])
            for output in range(network.n_outputs):
                gain = kinks * network.beta[neuron, output, None]
                move[..., output][into] += np.add.reduceat(gain, firsts, axis=0)


def _move_far(
    network: ReluNetwork, moved: Floats, heights: Floats, steps: Floats, far: Bools
) -> None:
    """Change of the score for columns with long steps: all neurons of all rows, before and after.

    Unlike for short steps, no digits are lost in the difference.
    """
    before = np.maximum(heights, 0) @ network.beta
    ends = np.empty_like(heights)
    for column in np.flatnonzero(far).tolist():
        weights = network.weights[:, column].astype(heights.dtype, copy=False)
        for move, step in zip(moved, steps, strict=True):
            if not step[:, column].any():
                move[:, column] = 0.0
                continue
            np.multiply.outer(step[:, column], weights, out=ends)
            ends += heights
            np.maximum(ends, 0, out=ends)
            linear = step[:, column, None] * network.linear[column]
            move[:, column] = ends @ network.beta - before + linear


def _kinks(heights: Floats, change: Floats) -> Floats:
    """What a hinge gains over its linear change as its height changes: ``|z + c|`` past zero."""
    ends = heights + change
    return np.where((ends > 0) != (heights > 0), np.abs(ends), 0)
