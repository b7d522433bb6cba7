"""The features' own distributions, and rows drawn from their product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain.levels import levels_of
from lifenet.network import CodedNetwork
from lifenet.schema import ColumnValues

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.explain._sample import Sample

__all__ = ["Axis", "Margin", "draw_product", "margins_of"]

#: Columns of no more values are asked at these alone: nobody knows what lies between.
_FEW = 40
#: Else values at even distances on the grid of a curve, beside the column's own; and how many
#: quantiles, and values at even distances, on that of a surface. Chosen by hand.
_EVEN_ON_CURVE, _QUANTILES, _EVEN = 100, 24, 16


@dataclass(frozen=True, eq=False)
class Axis:
    """Values of a feature on which a function is tabulated; it is linear between them.

    Attributes
    ----------
    places : (g,), ascending: values of the column, or 0, 1, ... for the levels of a category
    points : (g, number of columns), what the columns hold there
    labels : names of the levels, or None
    """

    places: Floats
    points: Floats
    labels: tuple[str, ...] | None

    def locate(self, places: Floats) -> tuple[Integers, Floats]:
        """The value below each place, and the share of the way to the next one; flat outside."""
        below = np.searchsorted(self.places, places, side="right") - 1
        below = np.clip(below, 0, max(len(self.places) - 2, 0))
        if len(self.places) == 1:
            return below, np.zeros(len(places))
        gap = self.places[below + 1] - self.places[below]
        return below, np.clip((places - self.places[below]) / gap, 0.0, 1.0)

    def hats(self, places: Floats) -> Floats:
        """Weights of the values at some places, (n, g): rows sum to one."""
        below, share = self.locate(places)
        weights = np.zeros((len(places), len(self.places)))
        rows = np.arange(len(places))
        weights[rows, below] = 1 - share
        weights[rows, np.minimum(below + 1, len(self.places) - 1)] += share
        return weights


@dataclass(frozen=True, eq=False)
class Margin:
    """A feature's own distribution.

    Attributes
    ----------
    columns : of the feature
    places : (m,), ascending: values of the column, or 0, 1, ... for the levels of a category
    points : (m, number of columns), what the columns hold there
    mass : (m,), with sum 1
    labels : names of the levels, or None
    """

    columns: tuple[int, ...]
    places: Floats
    points: Floats
    mass: Floats
    labels: tuple[str, ...] | None

    @classmethod
    def of(cls, sample: Sample, feature: int) -> Margin:
        """Read from rows: levels, or values of a column, of which some hundred stand for more."""
        columns = sample.groups[feature]
        if len(columns) > 1:
            levels = levels_of(sample, feature)
            places = np.arange(len(levels.patterns), dtype=np.float64)
            mass = levels.share / levels.share.sum()
            return cls(columns, places, levels.patterns, mass, levels.labels)
        known = ColumnValues.of(sample.X[:, columns[0]], sample.weight)
        mass = known.counts / known.counts.sum()
        return cls(columns, known.values, known.values[:, None], mass, None)

    def mean(self, values: Floats) -> float:
        """Mean of values at the points."""
        return float(self.mass @ values)

    def place(self, rows: Floats) -> Floats:
        """Where rows are, (n,); NaN for patterns that are none of the levels."""
        if self.labels is None:
            return rows[:, self.columns[0]]
        own, found = rows[:, list(self.columns)], np.full(len(rows), np.nan)
        for level, pattern in enumerate(self.points):
            found[(own == pattern).all(axis=1)] = level
        return found

    def curve_axis(self, sample: Sample) -> Axis:
        """A dense grid: the points, values at even distances, and knots between them."""
        if self.labels is not None or len(self.places) <= _FEW:
            return Axis(self.places, self.points, self.labels)
        low, high = self.places[0], self.places[-1]
        parts = [self.places, np.linspace(low, high, _EVEN_ON_CURVE)]
        if isinstance(sample.network, CodedNetwork):
            knots = sample.network.coding.kinks(self.columns[0])
            parts.append(knots[(knots > low) & (knots < high)])
        places = np.unique(np.concatenate(parts))
        return Axis(places, places[:, None], None)

    def surface_axis(self) -> Axis:
        """A grid of few of the points: quantiles, and some at even distances."""
        if self.labels is not None or len(self.places) <= _FEW:
            return Axis(self.places, self.points, self.labels)
        reached = np.cumsum(self.mass)
        quantiles = np.searchsorted(reached, np.linspace(0, 1, _QUANTILES) * reached[-1])
        even = np.searchsorted(self.places, np.linspace(self.places[0], self.places[-1], _EVEN))
        chosen = np.unique(np.concatenate([[0], quantiles, even, [len(reached) - 1]]))
        places = self.places[np.minimum(chosen, len(reached) - 1)]
        places = np.unique(places)
        return Axis(places, places[:, None], None)


def margins_of(sample: Sample) -> tuple[Margin, ...]:
    """The distribution of each feature."""
    return tuple(Margin.of(sample, feature) for feature in range(len(sample.features)))


def draw_product(margins: Sequence[Margin], n_draws: int, generator: np.random.Generator) -> Floats:
    """Rows of independent features, (n_draws, n_columns).

    A Latin hypercube: of each feature, one draw from each of `n_draws` equal parts of its
    distribution, in random order.
    """
    columns = 1 + max(column for margin in margins for column in margin.columns)
    rows = np.zeros((n_draws, columns))
    for margin in margins:
        levels = (generator.permutation(n_draws) + generator.random(n_draws)) / n_draws
        reached = np.cumsum(margin.mass)
        point = np.searchsorted(reached, levels * reached[-1], side="right")
        point = np.minimum(point, len(reached) - 1)
        rows[:, list(margin.columns)] = margin.points[point]
    return rows
