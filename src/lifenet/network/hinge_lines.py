"""Mean outputs of neurons as a column alone varies: broken lines, exact everywhere.

With ``h_k(t)`` what the value `t` of the column gives to neuron `k`, and ``c_kb`` what else it
reads, with probability ``m_b``, the line is::

    t -> sum_k beta_k sum_b m_b max(0, h_k(t) + c_kb)

It bends where a height ``h_k(t) + c_kb`` is zero, and at the knots of ``h_k``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.broken_lines import BrokenLine

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.network.feature_neurons import FeatureNeurons

__all__ = ["anchor_of", "hinge_line", "linear_line"]


def anchor_of(neurons: FeatureNeurons, column: int, values: Floats) -> float:
    """Where lines over a column begin: its first knot, or the middle of its values."""
    knots = neurons.coded.coding.knots[column]
    return float(knots[0]) if len(knots) else float(np.median(values))


def linear_line(neurons: FeatureNeurons, column: int, anchor: float) -> BrokenLine:
    """The linear part of a column as a line."""
    coded = neurons.coded
    knots = coded.coding.knots[column]
    rates = coded.linear_rates(column)[:, neurons.output]
    points = coded.coding.grid.points_of(column)
    value = float(coded.linear_at_points[points, neurons.output][0])
    if not len(knots):
        value += float(rates[0]) * anchor
    return BrokenLine(knots, np.diff(rates), float(rates[0]), float(rates[-1]), anchor, value)


def hinge_line(
    neurons: FeatureNeurons,
    column: int,
    which: Integers,
    offsets: Floats,
    mass: Floats,
    anchor: float,
) -> BrokenLine:
    """The line of some neurons that vary with a column.

    Parameters
    ----------
    which : (a,) indices of neurons
    offsets : (a, m) what else each reads
    mass : (m,) probabilities
    """
    beta = neurons.beta[which]
    knots = neurons.coded.coding.knots[column]
    readers, at_points = neurons.table(column)
    found = np.searchsorted(readers, which)
    rates = neurons.rates(column)[:, found]
    if not len(knots):
        return _bare(rates[0], offsets, mass, beta, anchor)
    heights = at_points[:, found]
    value = float(beta @ (np.maximum(heights[0][:, None] + offsets, 0) @ mass))
    places: list[Floats] = [np.zeros(0)]
    jumps: list[Floats] = [np.zeros(0)]
    for number, coefficient in enumerate(beta.tolist()):
        bends = _bends(knots, heights[:, number], rates[:, number], offsets[number], mass)
        places.append(bends[0])
        jumps.append(coefficient * bends[1])
    return BrokenLine(np.concatenate(places), np.concatenate(jumps), 0.0, 0.0, anchor, value)


def _bare(slopes: Floats, offsets: Floats, mass: Floats, beta: Floats, anchor: float) -> BrokenLine:
    """Of neurons that read the value of the column itself."""
    with np.errstate(over="ignore"):
        places = -offsets / slopes[:, None]
    jumps = np.outer(beta * np.abs(slopes), mass)
    rise = beta * slopes * mass.sum()
    value = beta @ (np.maximum(slopes[:, None] * anchor + offsets, 0) @ mass)
    left, right = float(rise[slopes < 0].sum()), float(rise[slopes > 0].sum())
    return BrokenLine(places.ravel(), jumps.ravel(), left, right, anchor, float(value))


def _bends(
    knots: Floats, heights: Floats, rates: Floats, offsets: Floats, mass: Floats
) -> tuple[Floats, Floats]:
    """Places and jumps of one neuron: at the knots, and where heights change sign between.

    Both go by the signs at the knots, so that no rounding opens a gap between them.
    """
    # Only knots beside a slope matter.
    beside = np.flatnonzero(rates[:-1] != rates[1:])
    active = np.zeros((len(knots), len(mass)), dtype=np.bool_)
    moving = np.flatnonzero(rates[1:-1])
    needed = np.union1d(beside, np.concatenate([moving, moving + 1]))
    at = heights[needed, None] + offsets
    active[needed] = at > 0
    place_of = np.searchsorted(needed, np.arange(len(knots) + 1))
    bin_, point = np.nonzero(active[moving] != active[moving + 1])
    low = at[place_of[moving[bin_]], point]
    high = at[place_of[moving[bin_] + 1], point]
    first = moving[bin_]
    crossed = knots[first] + low / (low - high) * (knots[first + 1] - knots[first])
    at_knots = (rates[beside + 1] - rates[beside]) * (active[beside] @ mass)
    inside = np.abs(rates[first + 1]) * mass[point]
    return np.concatenate([knots[beside], crossed]), np.concatenate([at_knots, inside])
