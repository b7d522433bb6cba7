"""The minimum of a sequence with one valley, with few evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["find_valley"]


def find_valley(error: Callable[[int], float], n_indices: int, start: int) -> int:
    """The index, of 0 to n_indices - 1, where a descent in steps of two and a last one of one ends.

    Where the error has one valley, it is the least of all.

    Parameters
    ----------
    error : asked once for each index on the way
    """
    known: dict[int, float] = {}

    def at(index: int) -> float:
        if not 0 <= index < n_indices:
            return np.inf
        if index not in known:
            known[index] = error(index)
        return known[index]

    best, stride = start, 2 if at(start + 2) < at(start) else -2
    while at(best + stride) < at(best):
        best += stride
    return min((best, best - 1, best + 1), key=at)
