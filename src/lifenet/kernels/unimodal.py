"""The minimum of a sequence with one valley, with few evaluations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["coarse_valley", "find_valley", "least_neighbour"]


def find_valley(error: Callable[[int], float], n_indices: int, start: int) -> int:
    """The index, of 0 to n_indices - 1, where a descent in steps of two and a last one of one ends.

    Where the error has one valley, it is the least of all.

    Parameters
    ----------
    error : asked once for each index on the way
    """
    known: dict[int, float] = {}

    def once(index: int) -> float:
        if index not in known:
            known[index] = error(index)
        return known[index]

    return least_neighbour(once, n_indices, coarse_valley(once, n_indices, start))


def coarse_valley(error: Callable[[int], float], n_indices: int, start: int) -> int:
    """The index where a descent in steps of two ends; next to the least where there is one valley.

    Parameters
    ----------
    error : asked several times for the same index
    """
    at = _within(error, n_indices)
    best, stride = start, 2 if at(start + 2) < at(start) else -2
    while at(best + stride) < at(best):
        best += stride
    return best


def least_neighbour(error: Callable[[int], float], n_indices: int, index: int) -> int:
    """The least of an index and its two neighbours."""
    return min((index, index - 1, index + 1), key=_within(error, n_indices))


def _within(error: Callable[[int], float], n_indices: int) -> Callable[[int], float]:
    return lambda index: error(index) if 0 <= index < n_indices else np.inf
