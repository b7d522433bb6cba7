"""Where the networks of folds are in the network that is their mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.units import Units
    from lifenet.recipe.recipe import Fitted

__all__ = ["FoldSlices"]


@dataclass(frozen=True, eq=False)
class FoldSlices:
    """Where the folds' networks are among the neurons of their mean, and how folds were drawn.

    Attributes
    ----------
    drawn : whether a hash drew the folds; else a splitter did
    seed, n_folds : of folds that were drawn
    ends : after which neuron each fold's network ends
    factor : of the coefficients in the mean to those in a fold's network
    intercepts : (n_folds, n_outputs), in the user's units
    """

    drawn: bool
    seed: int
    n_folds: int
    ends: tuple[int, ...]
    factor: float
    intercepts: Floats

    @classmethod
    def of(
        cls, fitted: Fitted, units: Units, *, drawn: bool, seed: int, n_folds: int
    ) -> FoldSlices | None:
        """Of networks in standardised units, whose mean has a share of the whole network."""
        fits, share = fitted.fits, fitted.share
        if share == 0:  # companions have all the weight: the mean has no part in the network
            return None
        raw = np.stack([one.network.intercept for one in fits])
        centred = raw - raw.mean(axis=1, keepdims=True) if raw.shape[1] > 1 else raw
        # Scores of the folds' networks in the user's units, where all activations are zero.
        intercepts = units.center + units.spread * centred
        ends = tuple(np.cumsum([one.network.n_neurons for one in fits]).tolist())
        return cls(drawn, seed, n_folds, ends, len(fits) / share, intercepts)

    def networks(self, mean: ReluNetwork) -> list[ReluNetwork]:
        """The folds' networks, in the units of their mean."""
        starts = (0, *self.ends[:-1])
        return [
            ReluNetwork(
                mean.weights[start:end],
                mean.bias[start:end],
                self.factor * mean.beta[start:end],
                intercept,
            )
            for start, end, intercept in zip(starts, self.ends, self.intercepts, strict=True)
        ]

    def apart(self, whole: ReluNetwork) -> tuple[list[ReluNetwork], ReluNetwork | None]:
        """The folds' networks times the weight of their mean, and the companions, if any.

        The neurons of companions come last, and the linear part is theirs.
        """
        n_fits, companions = len(self.ends), np.arange(self.ends[-1], whole.n_neurons)
        share = n_fits / self.factor
        own = [
            one.with_readout(share * one.beta, share * one.intercept)
            for one in self.networks(whole)
        ]
        if share == 1.0:
            return own, None
        rest = whole.select(companions)
        height = whole.intercept - np.mean([one.intercept for one in own], axis=0)
        return own, rest.with_readout(rest.beta, height)
