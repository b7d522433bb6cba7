"""The linear pieces of a ReLU network: slopes and constants as sums over the active neurons.

With ``active_k(x)`` 1 where ``weights_k' x + bias_k > 0`` and 0 elsewhere::

    slopes(x) = linear + sum_k active_k(x) weights_k beta_k'
    constant(x) = intercept + sum_k active_k(x) bias_k beta_k

so that ``slopes(x)' x + constant(x)`` is the score. The activations cost one product of matrices,
as the score does, and both sums together cost another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.network.relu import ReluNetwork

__all__ = ["mix_equations", "mix_slopes", "neuron_equations", "neuron_slopes"]


def neuron_slopes(network: ReluNetwork, dtype: np.dtype[np.floating]) -> Floats:
    """What each active neuron adds to the slopes, (n_neurons, n_features * n_outputs)."""
    weights = network.weights.astype(dtype, copy=False)
    slopes = weights[:, :, None] * network.beta[:, None, :]
    return slopes.reshape(network.n_neurons, network.n_features * network.n_outputs)


def neuron_equations(network: ReluNetwork, dtype: np.dtype[np.floating]) -> Floats:
    """What each active neuron adds to the slopes and, in the last columns, to the constant.

    Returns
    -------
    ndarray of shape (n_neurons, (n_features + 1) * n_outputs)
    """
    constants = network.bias.astype(dtype)[:, None] * network.beta
    return np.hstack([neuron_slopes(network, dtype), constants])


def mix_slopes(network: ReluNetwork, share: Floats, slopes: Floats) -> Floats:
    """Slopes where neuron `k` counts by ``share_ik``, (n, n_features, n_outputs).

    Parameters
    ----------
    share : ndarray of shape (n, n_neurons)
        1 for active neurons and 0 for the others gives the slopes of the linear pieces.
    slopes : ndarray, made by `neuron_slopes`
    """
    mixed = (share @ slopes).reshape(len(share), network.n_features, network.n_outputs)
    mixed += network.linear
    return np.asarray(mixed)


def mix_equations(network: ReluNetwork, share: Floats, terms: Floats) -> tuple[Floats, Floats]:
    """Slopes (n, n_features, n_outputs) and constants (n, n_outputs) of the linear pieces.

    Parameters
    ----------
    share : ndarray of shape (n, n_neurons), 1 for active neurons and 0 for the others
    terms : ndarray, made by `neuron_equations`
    """
    mixed = share @ terms
    slopes = mixed[:, : -network.n_outputs]
    slopes = slopes.reshape(len(share), network.n_features, network.n_outputs)
    slopes += network.linear
    constant = mixed[:, -network.n_outputs :]
    constant += network.intercept
    return slopes, constant
