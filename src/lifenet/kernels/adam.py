"""The step of Adam (Kingma and Ba, 2015), in place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["adam_step"]

# The paper's defaults: how slowly the means of gradients and of their squares are forgotten.
_MOMENTUM, _SQUARES, _EPSILON = 0.9, 0.999, 1e-8


def adam_step(
    parameters: Floats, gradient: Floats, first: Floats, second: Floats, number: int, rate: float
) -> None:
    """Move the parameters and both moments by one step; the gradient is used up as scratch space.

    Parameters
    ----------
    first, second : means of the gradients and of their squares, zero before the first step
    number : of the step, from 1
    rate : learning rate of the step
    """
    first *= _MOMENTUM
    first += (1.0 - _MOMENTUM) * gradient
    np.square(gradient, out=gradient)
    second *= _SQUARES
    gradient *= 1.0 - _SQUARES
    second += gradient
    np.sqrt(second, out=gradient)
    unbiased = math.sqrt(1.0 - _SQUARES**number)
    gradient += _EPSILON * unbiased
    np.divide(first, gradient, out=gradient)
    gradient *= rate * unbiased / (1.0 - _MOMENTUM**number)
    parameters -= gradient
