"""Members to one network: flatten their neurons into one layer and fit its read-out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.network import ReluNetwork
from lifenet.solvers.readout import fit_readout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet.solvers.base import Problem

__all__ = ["pool_neurons"]


def pool_neurons(problem: Problem, members: Sequence[ReluNetwork], ridge: float) -> ReluNetwork:
    """One layer of all members' neurons under a new read-out, fitted to the problem's loss."""
    n_neurons = sum(member.n_neurons for member in members)
    n_outputs = problem.loss.n_outputs
    layer = ReluNetwork(
        weights=np.vstack([member.weights for member in members]),
        bias=np.concatenate([member.bias for member in members]),
        beta=np.zeros((n_neurons, n_outputs)),
        intercept=np.zeros(n_outputs),
    )
    with one_blas_thread():
        return fit_readout(problem, layer, ridge)
