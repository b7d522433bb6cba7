"""Which neurons a network can do without: backward elimination on a quadratic of the loss."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.finetune.lbfgs import working_type
from lifenet.kernels.elimination import eliminate_backward
from lifenet.neurons.features import Activations
from lifenet.output.moments import Moments
from lifenet.output.newton import spreads

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.network import ReluNetwork

__all__ = ["select_neurons"]

# Neurons among which those missed least are looked for; of more, the largest take part.
_MOST_NEURONS = 2_000
# Penalty of the fit that says which neuron is missed least, in units of their deviations.
_PENALTY = 1e-3
_LEAST_CURVATURE = 1e-6


def select_neurons(
    problem: Problem, network: ReluNetwork, n_neurons: int, most: int = _MOST_NEURONS
) -> ReluNetwork:
    """Those neurons that the fit misses most, under a new output layer.

    Of more than `most` neurons, and twice as many as wanted, the largest take part.

    By the quadratic that the loss looks like at the network's scores f: with curvature h (the mean
    of the outputs') and gradient g, ``sum_i h_i (f_i - g_i / h_i - score_i)²``.
    """
    network = _largest(problem, network, max(most, 2 * n_neurons))
    moments = _quadratic(problem, network)
    covariance, cross, _ = moments.centred
    kept, beta = eliminate_backward(covariance, cross, n_neurons, _PENALTY)
    means = moments.means
    intercept = means[moments.n_features :] - means[kept] @ beta
    return network.select(kept).with_readout(beta, intercept)


def _largest(problem: Problem, network: ReluNetwork, most: int) -> ReluNetwork:
    """The neurons whose part of the score varies most, where there are more than `most`."""
    if network.n_neurons <= most:
        return network
    neurons = Activations(network.weights, network.bias)
    size = spreads(problem, neurons) * np.linalg.norm(network.beta, axis=1)
    return network.select(np.sort(np.argsort(-size, kind="stable")[:most]))


def _quadratic(problem: Problem, network: ReluNetwork) -> Moments:
    """Moments of the neurons and of the responses that a step of Newton's method aims at."""
    loss, rows, m, k = problem.loss, problem.rows, network.n_neurons, network.n_outputs
    kind = working_type(rows)
    neurons = Activations(network.weights, network.bias)

    def sums(block: Block) -> tuple[Floats]:
        columns = np.ones((m + 1 + k, len(block.target)), dtype=kind)
        columns[:m] = neurons.of(block)
        score = columns[:m].T @ network.beta + network.intercept
        curvature = loss.curvature(block.target, score).mean(axis=1)
        curvature = np.maximum(curvature, _LEAST_CURVATURE)
        slopes = loss.gradient(block.target, score)
        columns[m + 1 :] = (score - slopes / curvature[:, None]).T
        columns *= np.sqrt(block.weight * curvature)
        return ((columns @ columns.T).astype(np.float64, copy=False),)

    (products,) = rows.sum(sums, max(256, budgets.GRAM_BLOCK // (m + 1 + k)))
    return Moments(products, m, rows.total_weight)
