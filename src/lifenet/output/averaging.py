"""Plain averaging of the members' own scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from lifenet._settings import Settings

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.folds import Fold
    from lifenet.neurons.layer import Layer

__all__ = ["Averaging", "weigh_members"]


@dataclass(repr=False)
class Averaging(Settings):
    """The mean of the members' own scores, class by class: no joint output layer."""

    weighs_members: ClassVar[bool] = True

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients, (n_features + 1, n_outputs)."""
        n_outputs = fold.fit.loss.n_outputs
        counts = np.bincount(layer.output, minlength=n_outputs)
        weight = 1.0 / counts[layer.output]
        return weigh_members(layer, weight, np.zeros_like(weight), n_outputs)


def weigh_members(layer: Layer, weight: Floats, shift: Floats, n_outputs: int) -> Floats:
    """Coefficients of ``sum_k weight_k score_k + shift_k`` in each output.

    Parameters
    ----------
    weight, shift : (n_members,)
    """
    coefficients = np.zeros((layer.n_features + 1, n_outputs))
    output = layer.output[layer.member]
    coefficients[np.arange(layer.n_features), output] = weight[layer.member] * layer.beta
    np.add.at(coefficients[-1], layer.output, weight * layer.intercept + shift)
    return coefficients
