"""The integral of the gradient of a ReLU network along straight segments, by column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.equations import mix_slopes, neuron_slopes

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.network.relu import ReluNetwork

__all__ = ["active_share", "integrate_segments"]


def integrate_segments(network: ReluNetwork, start: Floats, end: Floats) -> Floats:
    """Change of the score along segments from `start` to `end`, by column.

    A neuron counts by the fraction of the segment on which it is active.

    Parameters
    ----------
    start, end : ndarrays of shape (n, n_features) or (1, n_features), of one dtype

    Returns
    -------
    ndarray of shape (n, n_features, n_outputs)
    """
    change = np.subtract(end, start)
    parts = np.empty((*change.shape, network.n_outputs), dtype=change.dtype)
    slopes = neuron_slopes(network, change.dtype)
    width = max(network.n_neurons, network.n_features * network.n_outputs)
    for block in row_blocks(len(change), width, change.dtype):
        share = active_share(
            network._preactivations(start if len(start) == 1 else start[block]),
            network._preactivations(end if len(end) == 1 else end[block]),
        )
        parts[block] = change[block, :, None] * mix_slopes(network, share, slopes)
    return parts


def active_share(start: Floats, end: Floats) -> Floats:
    """Fraction of the way from `start` to `end` that lies above zero, elementwise.

    With `u` the height of the higher end above zero and `d` the depth of the lower one below
    it, both cut at zero, this is ``u / (u + d)``: no digits cancel, whichever ends are positive.
    """
    above: Floats = np.maximum(np.maximum(start, end), 0)
    length = above - np.minimum(np.minimum(start, end), 0)
    # Where both ends are at zero the neuron is inactive all the way: 0 / tiny is 0.
    np.maximum(length, np.finfo(length.dtype).tiny, out=length)
    above /= length
    return above
