"""Effects of pairs of features: second-order accumulated local effects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.interpolate import interpn
from scipy.ndimage import distance_transform_edt

from lifenet._extras import require
from lifenet.explain._sample import Sample, sums_by
from lifenet.explain.effects import features_named, grid_of, level_effects
from lifenet.explain.levels import levels_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["PairEffect", "pair_effect", "shares_at"]


@dataclass(frozen=True, eq=False)
class PairEffect:
    """What two features do together, beyond what each does alone, in units of the score.

    Attributes
    ----------
    features : the two names
    values : their grids, (g,) and (h,); of a category 0, 1, ...
    effect : ndarray of shape (g, h), zero on the average along either
    mass : ndarray of shape (g - 1, h - 1), share of the rows in each cell; cells without rows have
        the effect of the nearest cell with some
    share : ndarray of shape (g, h), share of the rows nearest to each pair of values
    strength : root mean square of the effect over the rows
    spread : standard deviation of the score over the rows
    labels : for each feature the names of its levels, or None
    """

    features: tuple[str, str]
    values: tuple[Floats, Floats]
    effect: Floats
    mass: Floats
    share: Floats
    strength: float
    spread: float
    labels: tuple[tuple[str, ...] | None, tuple[str, ...] | None]

    def to_frame(self) -> pd.DataFrame:
        """One row a pair of values: the two features' values or levels, and the effect."""
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        ends = [
            np.asarray(values if labels is None else labels)
            for values, labels in zip(self.values, self.labels, strict=True)
        ]
        first, second = np.meshgrid(*ends, indexing="ij")
        frame: pd.DataFrame = pandas.DataFrame(
            {
                self.features[0]: first.ravel(),
                self.features[1]: second.ravel(),
                "effect": self.effect.ravel(),
            }
        )
        return frame


@dataclass(frozen=True, eq=False)
class _Axis:
    """One of the two features: its grid, and in which intervals of it each row lies.

    Rows of a column with many values lie in one interval; where all values are on the grid, and
    for a category, a row counts for both intervals that end at its value.
    """

    columns: tuple[int, ...]
    patterns: Floats  # (g, len(columns)): what to put into the columns at each grid point
    values: Floats
    labels: tuple[str, ...] | None
    place: Floats  # (n_samples,): where each row lies, in the units of the values
    intervals: tuple[Integers, ...]  # (n_samples,) each, -1 for none


def pair_effect(
    network: PiecewiseLinear,
    X: Any,
    features: tuple[str, str],
    *,
    grid: int = 40,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> PairEffect:
    """Second-order accumulated local effect (ALE) of two features.

    On each cell of a grid, the weighted mean over its rows of the mixed difference of the score
    between the cell's four corners, the other columns as they are; added up along both features,
    and made free of what either feature does alone. An additive network has none.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    features : names of two features
    grid : int, default=40
        Quantiles of a column that bound the cells; where a column has no more distinct values,
        these are the grid. The levels of a category stand in the order of their own effect.
    schema, sample_weight, output : as in `accumulated_effects`

    Returns
    -------
    PairEffect

    References
    ----------
    Apley and Zhu, JRSS B 82(4), 2020, section 3.2 and the centring of their appendix.
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    chosen = features_named(sample, features)
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise ValueError(f"features must be two different names; they are {tuple(features)!r}.")
    first, second = (_axis(sample, feature, grid) for feature in chosen)
    total, mass = _cells(sample, first, second)
    steps = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    if (mass == 0).any():
        nearest = distance_transform_edt(mass == 0, return_distances=False, return_indices=True)
        steps = steps[tuple(nearest)]
    effect: Floats = np.zeros((len(first.values), len(second.values)))
    effect[1:, 1:] = steps.cumsum(axis=0).cumsum(axis=1)
    effect = _centre(effect, mass)
    grids = (first.values, second.values)
    at_rows = interpn(grids, effect, np.column_stack([first.place, second.place]))
    names = (sample.features[chosen[0]], sample.features[chosen[1]])
    return PairEffect(
        features=names,
        values=grids,
        effect=effect,
        mass=mass / mass.sum(),
        share=shares_at(grids, (first.place, second.place), sample.weight),
        strength=float(np.sqrt(sample.mean(np.square(at_rows)))),
        spread=float(sample.deviation(sample.score)),
        labels=(first.labels, second.labels),
    )


def shares_at(
    grids: tuple[Floats, Floats], places: tuple[Floats, Floats], weight: Floats
) -> Floats:
    """Share of the rows nearest to each pair of values, (g, h)."""
    shape = (len(grids[0]), len(grids[1]))
    nearest = [
        np.searchsorted((grid[1:] + grid[:-1]) / 2, place)
        for grid, place in zip(grids, places, strict=True)
    ]
    found = sums_by(
        np.ravel_multi_index((nearest[0], nearest[1]), shape), weight, shape[0] * shape[1]
    )
    return np.asarray(found / weight.sum()).reshape(shape)


def _axis(sample: Sample, feature: int, grid: int) -> _Axis:
    columns = sample.groups[feature]
    if len(columns) > 1:
        return _category_axis(sample, feature)
    column, values = sample.X[:, columns[0]], grid_of(sample, columns[0], grid)
    if len(values) < 2:
        raise ValueError(f"Feature {sample.features[feature]!r} has only one value in X.")
    place = np.searchsorted(values, column)
    on_grid = np.array_equal(values[place], column)
    intervals = _either_side(place, len(values)) if on_grid else (np.maximum(place - 1, 0),)
    return _Axis(columns, values[:, None], values, None, column, intervals)


def _category_axis(sample: Sample, feature: int) -> _Axis:
    levels, name = levels_of(sample, feature), sample.features[feature]
    if len(levels.patterns) < 2:
        raise ValueError(f"Feature {name!r} has only one level in X.")
    order = np.argsort(level_effects(sample, levels), kind="stable")
    place = np.argsort(order)[levels.of_row]
    return _Axis(
        columns=levels.columns,
        patterns=levels.patterns[order],
        values=np.arange(len(order), dtype=np.float64),
        labels=tuple(levels.labels[level] for level in order),
        place=place.astype(np.float64),
        intervals=_either_side(place, len(order)),
    )


def _either_side(place: Integers, n_values: int) -> tuple[Integers, ...]:
    """The intervals that end and that begin at each row's value; -1 where there is none."""
    return place - 1, np.where(place < n_values - 1, place, -1)


def _cells(sample: Sample, first: _Axis, second: _Axis) -> tuple[Floats, Floats]:
    """Sums over the rows in each cell of weighted mixed differences, and of weights."""
    rows, of_first, of_second = _both(first, second)
    shape = (len(first.values) - 1, len(second.values) - 1)
    cell = np.ravel_multi_index((of_first, of_second), shape)
    mixed = np.zeros(len(rows))
    for start in range(0, len(rows), 65_536):
        part = slice(start, start + 65_536)
        table = sample.X[rows[part]]
        for up, sign in ((1, 1.0), (0, -1.0)):
            for right, other in ((1, 1.0), (0, -1.0)):
                table[:, list(first.columns)] = first.patterns[of_first[part] + up]
                table[:, list(second.columns)] = second.patterns[of_second[part] + right]
                score = sample.network.score(table)[:, sample.output]
                mixed[part] += sign * other * score
    weight = sample.weight[rows]
    n_cells = shape[0] * shape[1]
    total = sums_by(cell, weight * mixed, n_cells)
    mass = sums_by(cell, weight, n_cells)
    return total.reshape(shape), mass.reshape(shape)


def _both(first: _Axis, second: _Axis) -> tuple[Integers, Integers, Integers]:
    """Every row with each pair of intervals that it lies in."""
    found = []
    for one in first.intervals:
        for two in second.intervals:
            rows = np.flatnonzero((one >= 0) & (two >= 0))
            found.append((rows, one[rows], two[rows]))
    rows, of_first, of_second = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return rows, of_first, of_second


def _centre(effect: Floats, mass: Floats) -> Floats:
    """Take from an accumulated effect what it holds of either feature alone, and its mean."""
    for axis in (0, 1):
        turned, weight = (effect, mass) if axis == 0 else (effect.T, mass.T)
        rise = np.diff(turned, axis=0)
        ahead = (rise[:, 1:] + rise[:, :-1]) / 2
        own = (weight * ahead).sum(axis=1) / np.maximum(weight.sum(axis=1), np.finfo(float).tiny)
        alone = np.concatenate([[0.0], np.cumsum(own)])
        effect = effect - (alone[:, None] if axis == 0 else alone[None, :])
    corners = (effect[1:, 1:] + effect[1:, :-1] + effect[:-1, 1:] + effect[:-1, :-1]) / 4
    return np.asarray(effect - (mass * corners).sum() / mass.sum())
