"""Plain averaging of the members' own scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet._settings import Settings

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.readouts.design import Design, HeldOut
    from lifenet.solvers.base import Problem

__all__ = ["Averaging", "weigh_members"]


@dataclass(repr=False)
class Averaging(Settings):
    """The mean of the members' own scores, class by class: an ensemble without a joint read-out."""

    def fit(
        self,
        problem: Problem,
        design: Design,
        held_out: HeldOut | None,
        generator: np.random.Generator,
    ) -> Floats:
        """Coefficients, (n_features + 1, n_outputs)."""
        counts = np.bincount(design.output, minlength=problem.loss.n_outputs)
        weight = 1.0 / counts[design.output]
        return weigh_members(design, weight, np.zeros_like(weight), problem.loss.n_outputs)


def weigh_members(design: Design, weight: Floats, shift: Floats, n_outputs: int) -> Floats:
    """Coefficients of ``sum_k weight_k score_k + shift_k`` in each output.

    Parameters
    ----------
    weight, shift : (n_members,)
    """
    coefficients = np.zeros((design.n_features + 1, n_outputs))
    output = design.output[design.member]
    coefficients[np.arange(design.n_features), output] = weight[design.member] * design.beta
    np.add.at(coefficients[-1], design.output, weight * design.intercept + shift)
    return coefficients
