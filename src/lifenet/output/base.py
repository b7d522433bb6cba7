"""What a recipe asks of an output layer, and how a hidden layer is put under one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from lifenet.neurons.layer import lengths

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.network import ReluNetwork
    from lifenet.neurons.layer import Layer

__all__ = ["Output", "fit_output", "neurons_used"]

# A neuron whose slope is below this share of the largest is not used: its coefficient is rounding.
_UNUSED = 1e-12


class Output(Protocol):
    """Settings of step 3: how the features of a layer are combined into scores.

    A new output layer is one class with these members.
    """

    @property
    def weighs_members(self) -> bool:
        """Whether it weighs base learners, so that every neuron must belong to one."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients of the features, the intercepts last: (n_features + 1, n_outputs).

        Parameters
        ----------
        layer : the features, to be evaluated on blocks of the rows
        fold : coefficients are fitted to `fold.fit`; penalties are chosen on `fold.validation`,
            where there is one, by fits to `fold.train`
        generator : for random splits
        """


def fit_output(
    output: Output, layer: Layer, fold: Fold, seed: np.random.SeedSequence
) -> tuple[ReluNetwork, Layer]:
    """The layer under its output layer; neurons that this does not use are left out of both."""
    problem = fold.fit
    if layer.n_features == 0:
        null = problem.loss.null_score(problem.rows.target, problem.rows.weight)
        return layer.network(np.reshape(null, (1, -1))), layer
    coefficients = output.fit(layer, fold, np.random.default_rng(seed))
    network = layer.network(coefficients)
    used = neurons_used(network)
    return network.select(used), layer.pick(used)


def neurons_used(network: ReluNetwork) -> Integers:
    """The neurons whose coefficients are more than rounding."""
    size = np.abs(network.beta).max(axis=1) * lengths(network.weights)
    return np.flatnonzero(size > _UNUSED * size.max())
