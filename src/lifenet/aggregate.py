"""Step 3: flatten the members' neurons into one layer and fit its read-out."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.network import ReluNetwork
from lifenet.readouts.design import Design
from lifenet.solvers.base import Status
from lifenet.solvers.features import Activations
from lifenet.solvers.readout import fit_readout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.readouts.design import HeldOut, Readout
    from lifenet.solvers.base import Problem
    from lifenet.solvers.polish import Polish, Polished

__all__ = ["combine", "flatten", "polish_network", "pool_neurons"]

# A neuron whose slope is below this share of the largest is not used: its coefficient is rounding.
_UNUSED = 1e-12


def combine(
    problem: Problem,
    members: Sequence[tuple[ReluNetwork, int]],
    readout: Readout,
    held_out: HeldOut | None,
    seed: np.random.SeedSequence,
) -> ReluNetwork:
    """One network of all members' neurons, read out on all rows; unused neurons are left out.

    Parameters
    ----------
    members : networks of one score, in the units of the problem's rows, and the output (the class)
        that it speaks of
    """
    networks = [network for network, _ in members]
    layer = flatten(networks, problem)
    if layer.n_neurons == 0:
        rows = problem.rows
        return layer.with_readout(layer.beta, problem.loss.null_score(rows.target, rows.weight))
    with one_blas_thread():
        coefficients = readout.fit(
            problem,
            _design(networks, [output for _, output in members]),
            held_out,
            np.random.default_rng(seed),
        )
    network = layer.with_readout(coefficients[:-1], coefficients[-1])
    size = np.abs(network.beta).max(axis=1) * _lengths(network.weights)
    return network.select(np.flatnonzero(size > _UNUSED * size.max()))


def polish_network(
    problem: Problem,
    network: ReluNetwork,
    start: ReluNetwork,
    held_out: HeldOut,
    polish: Polish,
    deadline: float | None = None,
) -> tuple[ReluNetwork, Polished]:
    """Move all neurons and coefficients together, as far as rows that none has seen approve of.

    The number of iterations is the one that does best on the rows held out, polishing on the
    others; then all rows are polished for as many. Where that is none, the network stays as it is.

    Parameters
    ----------
    network : read out on all rows
    start : the same neurons, read out on the rows to learn from only
    deadline : on the monotonic clock
    """
    with one_blas_thread():
        rehearsed = polish.refine(held_out.learn, start, held_out.judge, deadline)
        if rehearsed.n_iterations == 0:
            return network, rehearsed
        again = replace(polish, max_iter=rehearsed.n_iterations)
        polished = again.refine(problem, network, deadline=deadline)
    seconds = rehearsed.seconds + polished.seconds
    # Why it is as long as it is was decided on the rows held out.
    status = rehearsed.status if polished.status is Status.MAX_ITER else polished.status
    return polished.network, replace(
        polished, status=status, judged=rehearsed.judged, seconds=seconds
    )


def flatten(members: Sequence[ReluNetwork], problem: Problem) -> ReluNetwork:
    """One layer of all members' neurons, in their order, without a read-out."""
    n_outputs, n_features = problem.loss.n_outputs, problem.rows.n_features
    weights = np.vstack([np.zeros((0, n_features)), *(member.weights for member in members)])
    return ReluNetwork(
        weights=weights,
        bias=np.concatenate([np.zeros(0), *(member.bias for member in members)]),
        beta=np.zeros((len(weights), n_outputs)),
        intercept=np.zeros(n_outputs),
    )


def _design(members: Sequence[ReluNetwork], outputs: Sequence[int]) -> Design:
    """The members' neurons as features, measured by the length of their weights."""
    weights = np.vstack([member.weights for member in members])
    theta = np.column_stack([weights, np.concatenate([member.bias for member in members])])
    sizes = [member.n_neurons for member in members]
    return Design(
        features=Activations(theta),
        scale=_lengths(weights),
        member=np.repeat(np.arange(len(members)), sizes),
        beta=np.concatenate([member.beta[:, 0] for member in members]),
        intercept=np.array([member.intercept[0] for member in members]),
        output=np.asarray(outputs, dtype=np.intp),
    )


def _lengths(weights: Floats) -> Floats:
    lengths = np.linalg.norm(weights, axis=1)
    return np.where(lengths > 0, lengths, 1.0)


def pool_neurons(problem: Problem, members: Sequence[ReluNetwork], ridge: float) -> ReluNetwork:
    """One layer of all members' neurons under a new read-out, fitted to the problem's loss."""
    with one_blas_thread():
        return fit_readout(problem, flatten(members, problem), ridge)
