"""How far each column alone may go before a neuron switches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["steps_to_switch"]


def steps_to_switch(heights: Floats, rates: Floats) -> Floats:
    """The longest steps down and up of each column at which no neuron has switched.

    Parameters
    ----------
    heights : (n_neurons,), of a row
    rates : (n_neurons, n_columns), change of a height as a column goes up by one

    Returns
    -------
    (n_columns, 2), not positive and not negative; infinite where no neuron bends that way
    """
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        step = np.abs(heights)[:, None] / np.abs(rates)
    # Which way the column must go to switch the neuron: 0 where it has no say.
    way = np.sign(rates) * np.where(heights > 0, -1.0, 1.0)[:, None]
    limits = [
        np.where(way == side, step, np.inf).min(axis=0, initial=np.inf) * side
        for side in (-1.0, 1.0)
    ]
    return np.stack(limits, axis=1)
