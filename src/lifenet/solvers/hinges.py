"""The parameters that LLA moves: signed hinges in homogeneous coordinates.

With ``theta_j = |beta_j| (w_j, b_j)`` and ``s_j = sign(beta_j)`` a single-output network is

    f(x) = intercept + sum_j s_j relu(theta_j' (x, 1)),

which has no scale left to drift and nothing to divide by. On frozen activation patterns f is linear
in the *signed* hinges ``v_j = s_j theta_j``, with the Jacobian ``1{j active} (x, 1)``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats

__all__ = ["Hinges"]

# An output layer that would switch a neuron off leaves it this share of its size, so that its
# activation pattern survives and the next steps can revive it.
_SMALLEST_FACTOR = 1e-6


@dataclass(frozen=True)
class Hinges:
    """Hinges of a single-output network.

    Attributes
    ----------
    theta : (n_neurons, n_features + 1); its sign pattern on a row says which neurons are active
    sign : (n_neurons,), +1 or -1
    intercept : the score where no neuron is active
    """

    theta: Floats
    sign: Floats
    intercept: float

    @property
    def signed(self) -> Floats:
        """``v_j = s_j theta_j``, (n_neurons, n_features + 1): what a step adds to."""
        return self.sign[:, None] * self.theta

    @property
    def squared_norms(self) -> Floats:
        """``|theta_j|²``, (n_neurons,)."""
        return np.asarray(np.square(self.theta).sum(axis=1))

    def preactivations(self, inputs: Floats) -> Floats:
        """``theta_j' (x, 1)`` of a feature-major block: (n_neurons, n_rows)."""
        return self.theta @ inputs

    def score(self, preactivations: Floats, active: Bools) -> Floats:
        """The score of a block, (n_rows,), given its preactivations and their signs."""
        return self.intercept + self.sign @ (preactivations * active)

    def moved(self, step: Floats, intercept_step: float) -> Hinges:
        """Add a step to the signed hinges, each hyperplane keeping the side that it had.

        Where the new theta_j points against the old one, both theta_j and s_j change sign: the
        neuron stays active on the rows on which its new slope was fitted.
        """
        theta = self.theta + self.sign[:, None] * step
        turned = np.where(np.sum(theta * self.theta, axis=1) < 0, -1.0, 1.0)
        return Hinges(
            theta * turned[:, None], self.sign * turned, self.intercept + float(intercept_step)
        )

    def rescaled(self, factors: Floats, intercept: float) -> Hinges:
        """Multiply each neuron's output layer by a factor of either sign; patterns stay."""
        size = np.maximum(np.abs(factors), _SMALLEST_FACTOR)
        turned = np.where(factors < 0, -1.0, 1.0)
        return Hinges(self.theta * size[:, None], self.sign * turned, float(intercept))

    def network(self) -> ReluNetwork:
        """The same function with unit directions: cut-offs then measure distance."""
        norms = np.linalg.norm(self.theta[:, :-1], axis=1)
        norms = np.where(norms > 0, norms, 1.0)
        unit = self.theta / norms[:, None]
        return ReluNetwork(
            weights=unit[:, :-1], bias=unit[:, -1], beta=self.sign * norms, intercept=self.intercept
        )
