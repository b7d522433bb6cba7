"""A random-looking number for each row that depends on nothing but the row's values."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["hash_rows"]

# The increment and multipliers of splitmix64 (Steele, Lea and Flood 2014).
_STEP = np.uint64(0x9E3779B97F4A7C15)
_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)


def hash_rows(X: Floats, seed: int) -> Floats:
    """Numbers in [0, 1), (n_samples,): equal rows get equal numbers, wherever they stand.

    Rows set apart by such a number stay apart when rows are repeated, reordered or left out.
    """
    state: Integers = np.full(len(X), np.uint64(seed % 2**63))
    for column in X.T:
        # Zero has two signs; adding zero leaves only one.
        bits = (column.astype(np.float64) + 0.0).view(np.uint64)
        state = _mix(state ^ bits)
    return np.asarray((state >> np.uint64(11)) * 2.0**-53)


def _mix(state: Integers) -> Integers:
    with np.errstate(over="ignore"):
        state = state + _STEP
        state = (state ^ (state >> np.uint64(30))) * _FIRST
        state = (state ^ (state >> np.uint64(27))) * _SECOND
    return state ^ (state >> np.uint64(31))
