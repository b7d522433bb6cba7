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
    from lifenet.network.coded import CodedNetwork

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
    """One row as a function of one column, and the neurons that read it.

    Attributes
    ----------
    x : value of the row in the column
    here : (m,), what the column gives to the neurons at the row
    knots, levels, rates : (r,), (r, m) and (r + 1, m); what it gives at the knots, slopes in bins
    start : the bin whose slopes the row has
    heights : (m,), of the neurons at the row
    beta : (m,), for one output
    linear : (r + 1,), slopes of the linear part in bins
    """

    x: float
    here: Floats
    knots: Floats
    levels: Floats
    rates: Floats
    start: int
    heights: Floats
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
            ends = self.heights + (self.levels[knot] - self.here)
            crossing = np.flatnonzero((heights > 0) != (ends > 0))
            share = heights[crossing] / (heights[crossing] - ends[crossing])
            yield from _in_order(at + share * (edge - at), crossing, way)
            yield edge, _KNOT
            at, heights, current = edge, ends, current + way
        if not len(self.knots):  # the code is the value itself
            rate = way * self.rates[0]
            crossing = np.flatnonzero(np.where(heights > 0, rate < 0, rate > 0))
            with np.errstate(over="ignore"):
                steps = np.abs(heights[crossing]) / np.abs(rate[crossing])
            near = np.isfinite(steps)
            yield from _in_order(at + way * steps[near], crossing[near], way)

    def tolerance(self, position: float) -> float:
        """How far apart positions beside this one count as one."""
        gaps = np.diff(self.knots)
        return _SAME * float(gaps.min() if len(gaps) else abs(position - self.x))

    def knot_change(self, active: Bools, bin_index: int) -> float:
        """Change of the slope in the column from the slopes in another bin."""
        there, here = self.rates[bin_index, active], self.rates[self.start, active]
        terms = np.append(
            self.beta[active] * _without_rounding(there, here),
            _without_rounding(self.linear[[bin_index]], self.linear[[self.start]]),
        )
        change, size = float(terms.sum()), float(np.abs(terms).sum())
        return change if abs(change) > _SAME * size else 0.0


def _without_rounding(there: Floats, here: Floats) -> Floats:
    """Differences; those that are only rounding are zero."""
    change = there - here
    change[np.abs(change) <= _SAME * (np.abs(there) + np.abs(here))] = 0
    return np.asarray(change)


def _in_order(positions: Floats, neurons: Integers, way: int) -> Iterator[tuple[float, int]]:
    order = np.argsort(way * positions, kind="stable")
    yield from zip(positions[order].tolist(), neurons[order].tolist(), strict=True)


def column_bounds(coded: CodedNetwork, x: Floats, output: int) -> tuple[ColumnBound, ...]:
    """The nearest bounds below and above the row's value in each column, where there are any.

    Parameters
    ----------
    x : ndarray of shape (n_features,), a checked row
    output : index of the score
    """
    coding, tables = coded.coding, coded.tables
    cells = coding.grid.locate(x[None])
    beta = coded.network.beta[:, output].astype(np.float64)
    heights = tables.all_heights(cells)[0]
    here = coded.equation(x[None])[0][0, :, output]
    bins = coding.segments(x[None])[0]
    # What each neuron adds to the slope in each column while it is active.
    terms = np.zeros((coded.n_neurons, coding.n_features))
    for number, (readers, _) in enumerate(tables.column_tables):
        terms[readers, number] = tables.column_rates[number][bins[number]] * beta[readers]
    found = []
    for number, (readers, at_knots) in enumerate(tables.column_tables):
        counted = beta[readers] != 0
        column = _Column(
            x=float(x[number]),
            here=coded.column_value(number, x[[number]]).heights[0, counted],
            knots=coding.knots[number],
            levels=at_knots[:, counted],
            rates=tables.column_rates[number][:, counted],
            start=int(bins[number]),
            heights=heights[readers[counted]],
            beta=beta[readers[counted]],
            linear=coded.linear_rates(number)[:, output],
        )
        for way in (-1, 1):
            change = _first_change(column, terms[readers[counted]], number, way)
            if change is not None:
                neurons = tuple(readers[counted][change.switched].tolist())
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
