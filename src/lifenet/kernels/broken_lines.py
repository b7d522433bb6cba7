"""Continuous, piecewise linear functions of one number, given by where their slope changes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats

__all__ = ["BrokenLine"]

#: Bends further out than any number of a table are put here, so that nothing overflows.
_FARTHEST = 1e140


class _Pieces(NamedTuple):
    """The linear pieces, one more than bends: before, between and beyond them."""

    places: Floats  # (r,), ascending
    slopes: Floats  # (r + 1,)
    values: Floats  # (r,), at the places
    middle: int  # index of the anchor among the places


@dataclass(frozen=True, eq=False)
class BrokenLine:
    """A continuous, piecewise linear function of one number.

    Functions with one anchor are added by putting their bends together. Values are summed up from
    the anchor outwards, so that bends far away cost no digits near it.

    Attributes
    ----------
    places : (r,), where the slope changes, in any order
    jumps : (r,), by how much it does
    left, right : slopes before the first and beyond the last bend
    anchor, value : a place, and the value there
    """

    places: Floats
    jumps: Floats
    left: float
    right: float
    anchor: float
    value: float

    @classmethod
    def total(cls, lines: Sequence[BrokenLine], anchor: float) -> BrokenLine:
        """The sum of lines with the same anchor; zero where there are none."""
        if any(line.anchor != anchor for line in lines):
            raise ValueError("lines that are added must have the same anchor")
        return cls(
            np.concatenate([np.zeros(0), *(line.places for line in lines)]),
            np.concatenate([np.zeros(0), *(line.jumps for line in lines)]),
            float(sum(line.left for line in lines)),
            float(sum(line.right for line in lines)),
            anchor,
            float(sum(line.value for line in lines)),
        )

    def at(self, x: Floats) -> Floats:
        """Values at some numbers, (n,)."""
        places, slopes, values, middle = self._pieces
        piece = np.searchsorted(places, x, side="right")
        # From the end of the piece that is nearer to the anchor.
        end = np.where(piece <= middle, piece, piece - 1)
        return np.asarray(values[end] + slopes[piece] * (x - places[end]))

    @cached_property
    def _pieces(self) -> _Pieces:
        within = np.clip(self.places, -_FARTHEST, _FARTHEST)
        order = np.argsort(within, kind="stable")
        before = int(np.searchsorted(within[order], self.anchor))
        places = np.insert(within[order], before, self.anchor)
        jumps = np.insert(self.jumps[order], before, 0.0)
        slopes = self.left + np.concatenate([[0.0], np.cumsum(jumps)])
        slopes[-1] = self.right  # known exactly
        rises = slopes[1:-1] * np.diff(places)
        values = np.full(len(places), self.value)
        values[before + 1 :] += np.cumsum(rises[before:])
        values[:before] -= np.cumsum(rises[:before][::-1])[::-1]
        return _Pieces(places, slopes, values, before)
