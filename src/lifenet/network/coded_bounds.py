"""Where the equation of a row of a coded network changes as one raw column alone moves.

The column is followed from the row's value downwards and upwards. On its way a neuron may switch,
and a knot may be passed, at which codes change their slopes. Neither always changes the equation:
neurons can cancel each other, and the codes that bend at a knot may have no effect there. A bound
is the first position beyond which the slopes differ from those at the row by more than rounding.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.relu import ReluNetwork

__all__ = ["ColumnBound", "column_bounds"]

#: Slopes that differ by less than this share of the terms that they sum up are equal; positions
#: that differ by less than this share of a bin are one. Chosen by hand, far above rounding.
_SAME = 1e-9
_KNOT = -1


@dataclass(frozen=True, eq=False)
class ColumnBound:
    """A value of one column, the others held, at which the equation of a row changes.

    Attributes
    ----------
    column : index of the column that moves
    upper : whether it moves up to the bound; else it moves down
    value : its value at the bound
    slopes : ndarray of shape (n_features,), of the equation just beyond
    neurons : indices of the neurons that switch at the bound
    knot : whether a knot of the column lies there, at which the slope in the column changes
    """

    column: int
    upper: bool
    value: float
    slopes: Floats
    neurons: tuple[int, ...]
    knot: bool


@dataclass(frozen=True, eq=False)
class _Column:
    """One row as a function of one column: the neurons that read the column, and its codes.

    Attributes
    ----------
    x : value of the row in the column
    codes : (k,), the row's codes of the column
    knots, levels, rates : (r,), (r, k) and (r + 1, k); codes at the knots and their slopes in bins
    start : the bin whose slopes the row has
    heights : (m,), of the neurons that read the column, at the row
    weights, beta, linear : (m, k), (m,) and (k,), on the codes of the column, for one output
    """

    x: float
    codes: Floats
    knots: Floats
    levels: Floats
    rates: Floats
    start: int
    heights: Floats
    weights: Floats
    beta: Floats
    linear: Floats

    def events(self, way: int) -> Iterator[tuple[float, int]]:
        """What happens as the column moves, the nearest first: positions with neuron or knot."""
        at, heights, current = self.x, self.heights, self.start
        while True:
            knot = current if way > 0 else current - 1
            if not 0 <= knot < len(self.knots):
                break
            edge = float(self.knots[knot])
            # From the row on, not from zero: a neuron that the move leaves alone keeps its height.
            ends = self.heights + self.weights @ (self.levels[knot] - self.codes)
            crossing = np.flatnonzero((heights > 0) != (ends > 0))
            share = heights[crossing] / (heights[crossing] - ends[crossing])
            yield from _in_order(at + share * (edge - at), crossing, way)
            yield edge, _KNOT
            at, heights, current = edge, ends, current + way
        if not len(self.knots):  # the code is the value itself
            rate = way * self.weights[:, 0]
            crossing = np.flatnonzero(np.where(heights > 0, rate < 0, rate > 0))
            with np.errstate(over="ignore"):
                steps = np.abs(heights[crossing]) / np.abs(rate[crossing])
            near = np.isfinite(steps)
            yield from _in_order(at + way * steps[near], crossing[near], way)

    def tolerance(self, position: float) -> float:
        """How far apart positions beside this one count as one."""
        gaps = np.diff(self.knots)
        return _SAME * float(gaps.min() if len(gaps) else abs(position - self.x))

    def bend(self, bin_index: int) -> Floats:
        """Slopes of the codes in a bin less those at the row, (k,); rounding is zero."""
        there, here = self.rates[bin_index], self.rates[self.start]
        bend = there - here
        bend[np.abs(bend) <= _SAME * (np.abs(there) + np.abs(here))] = 0
        return np.asarray(bend)

    def knot_change(self, active: Bools, bin_index: int) -> float:
        """Change of the slope in the column from its codes' slopes in another bin."""
        bend, beta = self.bend(bin_index), self.beta[active]
        change = float((self.linear + beta @ self.weights[active]) @ bend)
        size = (np.abs(self.linear) + np.abs(beta) @ np.abs(self.weights[active])) @ np.abs(bend)
        return change if abs(change) > _SAME * size else 0.0


def _in_order(positions: Floats, neurons: Integers, way: int) -> Iterator[tuple[float, int]]:
    order = np.argsort(way * positions, kind="stable")
    yield from zip(positions[order].tolist(), neurons[order].tolist(), strict=True)


def column_bounds(
    coding: ColumnCoding, network: ReluNetwork, x: Floats, output: int
) -> tuple[ColumnBound, ...]:
    """The nearest bounds below and above the row's value in each column, where there are any.

    Parameters
    ----------
    x : ndarray of shape (n_features,), a checked row
    output : index of the score
    """
    counted = np.flatnonzero(network.beta[:, output])
    part = network.select(counted).astype(np.float64)
    codes, code_slopes, _ = (table[0] for table in coding._linear(x[None]))
    heights = part.preactivations(codes[None])[0]
    active = (heights > 0) * part.beta[:, output]
    inner = part.linear[:, output] + active @ part.weights
    here = coding._by_column((inner * code_slopes)[None])[0]
    # What each neuron adds to the slope in each column while it is active.
    terms = coding._by_column(part.weights * code_slopes) * part.beta[:, [output]]
    found = []
    for number, own, pieces in coding._columns():
        readers = np.flatnonzero(part.weights[:, own].any(axis=1))
        column = _Column(
            x=float(x[number]),
            codes=codes[own],
            knots=pieces.knots,
            levels=coding.values[number],
            rates=pieces.slope,
            start=int(pieces.sides(x[[number]])[0]),
            heights=heights[readers],
            weights=part.weights[readers, own],
            beta=part.beta[readers, output],
            linear=part.linear[own, output],
        )
        for way in (-1, 1):
            change = _first_change(column, terms[readers], number, way)
            if change is not None:
                neurons = tuple(counted[readers[change.switched]].tolist())
                slopes = here + change.slopes
                found.append(
                    ColumnBound(number, way > 0, change.value, slopes, neurons, change.knot)
                )
    return tuple(found)


class _Change(NamedTuple):
    """A change of the equation: position, change of the slopes, and what causes it."""

    value: float
    slopes: Floats
    switched: Bools  # of the neurons that read the column
    knot: bool


def _first_change(column: _Column, terms: Floats, number: int, way: int) -> _Change | None:
    """The first change of the equation on the way, if there is one."""
    start = column.heights > 0
    active, bin_index, group = start.copy(), column.start, list[tuple[float, int]]()
    for position, neuron in itertools.chain(column.events(way), [(way * np.inf, _KNOT)]):
        if group and abs(position - group[0][0]) > column.tolerance(group[0][0]):
            before = active.copy()
            for _, event in group:
                if event == _KNOT:
                    bin_index += way
                else:
                    active[event] ^= True
            slopes, knot = _change_of_slopes(column, terms, number, active, bin_index)
            if slopes.any():
                value = next((at for at, event in group if event == _KNOT), group[0][0])
                return _Change(value, slopes, active != before, knot)
            group = []
        group.append((position, neuron))
    return None


def _change_of_slopes(
    column: _Column, terms: Floats, number: int, active: Bools, bin_index: int
) -> tuple[Floats, bool]:
    """Slopes less those at the row, (n_features,), and whether a knot has a part in it."""
    start = column.heights > 0
    switched = active != start
    signed = np.where(active, 1.0, -1.0)[switched, None] * terms[switched]
    change, size = signed.sum(axis=0), np.abs(signed).sum(axis=0)
    at_knot = column.knot_change(active, bin_index)
    change[number] += at_knot
    size[number] += abs(at_knot)
    change[np.abs(change) <= _SAME * size] = 0
    return change, at_knot != 0
