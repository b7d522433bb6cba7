"""The way between standardised columns and target and the user's units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.weights import multiply_columns
from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Integers
    from lifenet.data.rows import Scaling

__all__ = ["Units"]


@dataclass(frozen=True)
class Units:
    """The way from standardised columns and target to the user's units, and back."""

    scaling: Scaling
    center: float = 0.0
    spread: float = 1.0

    def of_inputs(self, inputs: Integers) -> Units:
        """The same units, of some of the columns."""
        return replace(self, scaling=self.scaling.take(inputs))

    def unscale(self, network: ReluNetwork, *, trained: bool = True) -> ReluNetwork:
        """A network of standardised columns and target, in the user's units.

        A column that was constant in training was no part of it: its weights, which no step has
        moved, become zero, so that another value in it changes no prediction. Neurons that were
        not trained on these rows keep them.
        """
        idle = self.scaling.constant & trained
        kept = ReluNetwork(
            weights=multiply_columns(network.weights, np.where(idle, 0.0, 1.0)),
            bias=network.bias,
            beta=network.beta,
            intercept=network.intercept,
            linear=np.where(idle[:, None], 0.0, network.linear),
        )
        return kept.fold_scaling(self.scaling.center, self.scaling.scale, self.center, self.spread)

    def rescale(self, network: ReluNetwork) -> ReluNetwork:
        """A network of the user's units, on standardised columns and target."""
        scale = self.scaling.scale
        return network.fold_scaling(
            -self.scaling.center / scale, 1.0 / scale, -self.center / self.spread, 1 / self.spread
        )
