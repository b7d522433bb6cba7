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
    places : (g,), ascending: values of the column, or 0, 1, ... for the levels of a category; of a
        column with gaps the last is infinite, and stands for a missing value
    points : (g, number of columns), what the columns hold there
    labels : names of the levels, or None
    """

    places: Floats
    points: Floats
    labels: tuple[str, ...] | None

    @property
    def has_missing(self) -> bool:
        """Whether the last place is that of missing values."""
        return bool(np.isinf(self.places[-1]))

    @property
    def values(self) -> Floats:
        """The places with NaN for missing values, as results have them."""
        return np.where(np.isinf(self.places), np.nan, self.places)

    def cell(self, places: Floats) -> Integers:
        """The interval between neighbouring places; that before the last is of missing values."""
        below, _ = self.locate(places)
        if not self.has_missing or len(self.places) < 3:
            return below
        return np.where(np.isinf(places), below, np.minimum(below, len(self.places) - 3))

    def locate(self, places: Floats) -> tuple[Integers, Floats]:
        """The value below each place, and the share of the way to the next one; flat outside."""
        below = np.searchsorted(self.places, places, side="right") - 1
        below = np.clip(below, 0, max(len(self.places) - 2, 0))
        if len(self.places) == 1:
            return below, np.zeros(len(places))
        gap = self.places[below + 1] - self.places[below]
        with np.errstate(invalid="ignore"):
            share = np.clip((places - self.places[below]) / gap, 0.0, 1.0)
        # No value, however large, is part of the way to a missing one.
        return below, np.where(np.isinf(gap), np.isinf(places), share)

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
    places : (m,), as those of an `Axis`
    points : (m, number of columns), what the columns hold there
    mass : (m,), with sum 1
    labels : names of the levels, or None
    kind : what the values are, as `Curve` has it
    rest : the level that patterns belong to which are none of the points; None for none
    """

    columns: tuple[int, ...]
    places: Floats
    points: Floats
    mass: Floats
    labels: tuple[str, ...] | None
    kind: str = "number"
    rest: int | None = None

    @classmethod
    def of(cls, sample: Sample, feature: int) -> Margin:
        """Read from rows: levels, or values of a column, of which some hundred stand for more."""
        one, columns = sample.kinds[feature], sample.groups[feature]
        column = sample.column_of(feature)
        if column is None:
            levels = levels_of(sample, feature)
            places = np.arange(len(levels.patterns), dtype=np.float64)
            mass = levels.share / levels.share.sum()
            found = (levels.patterns, mass, levels.labels, one.kind, levels.rest)
            return cls(columns, places, *found)
        if one.missing is None:
            known = ColumnValues.of(sample.X[:, column], sample.weight)
            mass = known.counts / known.counts.sum()
            return cls(columns, known.values, known.values[:, None], mass, None, one.kind)
        return cls._with_gap(sample, feature)

    @classmethod
    def _with_gap(cls, sample: Sample, feature: int) -> Margin:
        """Of a number that is missing in some rows."""
        one, seen = sample.kinds[feature], sample.observed(feature)
        assert seen is not None
        values: Floats = np.array([one.neutral])
        counts: Floats = np.zeros(1)
        if seen.any():
            known = ColumnValues.of(sample.X[seen, one.columns[0]], sample.weight[seen])
            values, counts = known.values, known.counts
        mass = np.append(counts, sample.weight[~seen].sum())
        points = _with_missing(values, one.neutral)
        places = np.append(values, np.inf)
        return cls(one.columns, places, points, mass / mass.sum(), None, one.kind)

    def mean(self, values: Floats) -> float:
        """Mean of values at the points."""
        return float(self.mass @ values)

    def place(self, rows: Floats) -> Floats:
        """Where rows are, (n,); NaN for patterns that are none of the levels."""
        if self.labels is None:
            value, *gone = (rows[:, column] for column in self.columns)
            return np.where(gone[0] != 0, np.inf, value) if gone else value
        own = rows[:, list(self.columns)]
        found = np.full(len(rows), np.nan if self.rest is None else self.rest)
        for level, pattern in enumerate(self.points):
            found[(own == pattern).all(axis=1)] = level
        return found

    def curve_axis(self, sample: Sample) -> Axis:
        """A dense grid: the points, values at even distances, and knots between them."""
        known = self._known
        if self.labels is not None or len(known) <= _FEW:
            return Axis(self.places, self.points, self.labels)
        low, high = known[0], known[-1]
        parts = [known, np.linspace(low, high, _EVEN_ON_CURVE)]
        if isinstance(sample.network, CodedNetwork):
            knots = sample.network.coding.kinks(self.columns[0])
            parts.append(knots[(knots > low) & (knots < high)])
        return self._axis(np.unique(np.concatenate(parts)))

    def surface_axis(self) -> Axis:
        """A grid of few of the points: quantiles, and some at even distances."""
        known = self._known
        if self.labels is not None or len(known) <= _FEW:
            return Axis(self.places, self.points, self.labels)
        reached = np.cumsum(self.mass[: len(known)])
        quantiles = np.searchsorted(reached, np.linspace(0, 1, _QUANTILES) * reached[-1])
        even = np.searchsorted(known, np.linspace(known[0], known[-1], _EVEN))
        chosen = np.unique(np.concatenate([[0], quantiles, even, [len(reached) - 1]]))
        return self._axis(np.unique(known[np.minimum(chosen, len(reached) - 1)]))

    @property
    def _known(self) -> Floats:
        """The places without that of missing values."""
        return self.places[np.isfinite(self.places)]

    def _axis(self, values: Floats) -> Axis:
        """Of values of a column, and the missing one where there is any."""
        if len(self.columns) == 1:
            return Axis(values, values[:, None], None)
        neutral = float(self.points[-1, 0])
        return Axis(np.append(values, np.inf), _with_missing(values, neutral), None)


def _with_missing(values: Floats, neutral: float) -> Floats:
    """What the two columns of a number with gaps hold at its values, and where it is missing."""
    points = np.column_stack([values, np.zeros(len(values))])
    return np.vstack([points, [neutral, 1.0]])


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
