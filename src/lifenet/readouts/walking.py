"""Down the slope of an error that costs much to know."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["walk_down"]


def walk_down(error: Callable[[int], float], n_places: int, start: int) -> int:
    """The place, of 0 to n_places - 1, where a walk in steps of two and a last one of one ends.

    Where the error has one valley, it is the least of all.

    Parameters
    ----------
    error : asked once for each place that is passed
    """
    known: dict[int, float] = {}

    def at(place: int) -> float:
        if not 0 <= place < n_places:
            return np.inf
        if place not in known:
            known[place] = error(place)
        return known[place]

    best, stride = start, 2 if at(start + 2) < at(start) else -2
    while at(best + stride) < at(best):
        best += stride
    return min((best, best - 1, best + 1), key=at)
