"""Effects and pairs of any network by partial dependence over rows of independent features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.explain._margins import Axis, Margin
    from lifenet.explain._sample import Sample
    from lifenet.network import FeatureNeurons

__all__ = ["DependenceParts"]


@dataclass(frozen=True, eq=False)
class DependenceParts:
    """Curves and surfaces on grids: linear between their points, flat beyond them.

    Attributes
    ----------
    margins : of the features
    axes, curves : grid of each feature, and the effect on it
    pairs : of features, ascending
    planes, surfaces : grids of each pair, and the effect on them
    """

    margins: tuple[Margin, ...]
    axes: tuple[Axis, ...]
    curves: tuple[Floats, ...]
    pairs: tuple[tuple[int, int], ...]
    planes: tuple[tuple[Axis, Axis], ...]
    surfaces: tuple[Floats, ...]

    @classmethod
    def of(
        cls,
        sample: Sample,
        neurons: FeatureNeurons | None,
        margins: Sequence[Margin],
        background: Floats,
        pairs: Sequence[tuple[int, int]],
    ) -> DependenceParts:
        """Means over background rows, which are draws of independent features."""
        axes = tuple(margin.curve_axis(sample) for margin in margins)
        curves = []
        for margin, axis in zip(margins, axes, strict=True):
            effect = _means(sample, background, margin.columns, axis)
            curves.append(effect - margin.mean(np.interp(margin.places, axis.places, effect)))
        grids = [margin.surface_axis() for margin in margins]
        planes = tuple((grids[first], grids[second]) for first, second in pairs)
        weights = [
            margin.mass @ grid.hats(margin.places)
            for margin, grid in zip(margins, grids, strict=True)
        ]
        surfaces = []
        for pair, plane in zip(pairs, planes, strict=True):
            table = _joint_means(sample, neurons, background, pair, plane)
            surfaces.append(_pure(table, *(weights[feature] for feature in pair)))
        return cls(tuple(margins), axes, tuple(curves), tuple(pairs), planes, tuple(surfaces))

    def main(self, rows: Floats) -> Floats:
        """Effects of features at rows, (n, n_features); zero for levels that were never seen."""
        found = np.empty((len(rows), len(self.margins)))
        for feature, margin in enumerate(self.margins):
            found[:, feature] = self._along(feature, margin.place(rows))
        return found

    def joint(self, rows: Floats) -> Floats:
        """Effects of pairs at rows, (n, n_pairs)."""
        found = np.empty((len(rows), len(self.pairs)))
        for pair, (first, second) in enumerate(self.pairs):
            places = (self.margins[first].place(rows), self.margins[second].place(rows))
            found[:, pair] = self._across(pair, *places)
        return found

    def curve(self, feature: int, at: Axis | Margin) -> Floats:
        """The effect of a feature at values of it, (g,)."""
        return self._along(feature, at.places)

    def surface(self, pair: int, first: Axis | Margin, second: Axis | Margin) -> Floats:
        """The effect of a pair at all pairs of values, (g, h)."""
        one, other = self.planes[pair]
        weights = one.hats(first.places), other.hats(second.places)
        return np.asarray(weights[0] @ self.surfaces[pair] @ weights[1].T)

    def _along(self, feature: int, places: Floats) -> Floats:
        effect = np.interp(places, self.axes[feature].places, self.curves[feature])
        return np.where(np.isnan(places), 0.0, effect)

    def _across(self, pair: int, first: Floats, second: Floats) -> Floats:
        known = ~(np.isnan(first) | np.isnan(second))
        one, other = self.planes[pair]
        (row, down), (column, right) = one.locate(first[known]), other.locate(second[known])
        table = np.pad(self.surfaces[pair], ((0, 1), (0, 1)), mode="edge")
        upper = (1 - right) * table[row, column] + right * table[row, column + 1]
        lower = (1 - right) * table[row + 1, column] + right * table[row + 1, column + 1]
        found = np.zeros(len(first))
        found[known] = (1 - down) * upper + down * lower
        return found


def _means(sample: Sample, rows: Floats, columns: tuple[int, ...], axis: Axis) -> Floats:
    """Mean score of rows with a feature at each value of its grid, (g,)."""
    if axis.labels is None and not axis.has_missing:
        along = sample.network.along(rows, columns[0])
        return np.asarray(along.mean(axis.places)[:, sample.output], dtype=np.float64)
    if axis.labels is None:
        known, without = rows.copy(), _put(rows, columns, axis.points[-1])
        known[:, columns[1]] = 0.0
        curve = sample.network.along(known, columns[0]).mean(axis.places[:-1])[:, sample.output]
        return np.append(curve, _score(sample, without).mean())
    means = [_score(sample, _put(rows, columns, point)).mean() for point in axis.points]
    return np.array(means)


def _joint_means(
    sample: Sample,
    neurons: FeatureNeurons | None,
    rows: Floats,
    pair: tuple[int, int],
    grids: tuple[Axis, Axis],
) -> Floats:
    """Mean score with both features at each pair of values, (g, h), but for functions of one."""
    first, second = grids
    if neurons is not None:
        return neurons.joint_means(rows, pair, first.points, second.points)
    columns, others = (sample.groups[feature] for feature in pair)
    means = [_means(sample, _put(rows, columns, point), others, second) for point in first.points]
    return np.array(means)


def _pure(table: Floats, first: Floats, second: Floats) -> Floats:
    """A table without the functions of one feature, the features having these weights."""
    table = table - (table @ second)[:, None]
    return np.asarray(table - first @ table)


def _put(rows: Floats, columns: tuple[int, ...], point: Floats) -> Floats:
    """Rows with some columns at the same values."""
    table = rows.copy()
    table[:, list(columns)] = point
    return table


def _score(sample: Sample, rows: Floats) -> Floats:
    return np.asarray(sample.network.score(rows)[:, sample.output], dtype=np.float64)
