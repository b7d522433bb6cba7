"""Effects of pairs of features: second-order accumulated local effects."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.ndimage import distance_transform_edt

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._sample import Sample, sums_by
from lifenet.explain.effects import features_named, grid_of, level_effects
from lifenet.explain.levels import Levels, levels_of
from lifenet.tables import MISSING, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["PairEffect", "pair_effect", "shares_at"]


@shown
@dataclass(frozen=True, eq=False)
class PairEffect:
    """What two features do together, beyond what each does alone, in units of the score.

    Attributes
    ----------
    features : the two names
    values : their grids, (g,) and (h,); of a category 0, 1, ...; of a column with gaps the last is
        NaN, for missing values
    effect : ndarray of shape (g, h), zero on the average along either
    mass : ndarray of shape (g - 1, h - 1), share of the rows in each cell; cells without rows have
        the effect of the nearest cell with some
    share : ndarray of shape (g, h), share of the rows nearest to each pair of values
    strength : root mean square of the effect over the rows
    spread : standard deviation of the score over the rows
    labels : for each feature the names of its levels, or None
    kinds : for each feature what its values are, as `Curve` has it
    """

    features: tuple[str, str]
    values: tuple[Floats, Floats]
    effect: Floats
    mass: Floats
    share: Floats
    strength: float
    spread: float
    labels: tuple[tuple[str, ...] | None, tuple[str, ...] | None]
    kinds: tuple[str, str] = ("number", "number")

    @property
    def observed(self) -> PairEffect:
        """The part where both have a value."""
        g, h = (len(one) - int(np.isnan(one[-1])) for one in self.values)
        return replace(
            self,
            values=(self.values[0][:g], self.values[1][:h]),
            effect=self.effect[:g, :h],
            mass=self.mass[: g - 1, : h - 1],
            share=self.share[:g, :h],
        )

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
    for a category, a row counts for both intervals that end at its value. Rows whose value is
    missing lie in none, and for contrasts they have the median of training.
    """

    columns: tuple[int, ...]
    patterns: Floats  # (g, len(columns)): what to put into the columns at each grid point
    values: Floats
    labels: tuple[str, ...] | None
    place: Floats  # (n_samples,): where each row lies, in the units of the values
    intervals: tuple[Integers, ...]  # (n_samples,) each, -1 for none
    kind: str = "number"
    gone: Bools | None = None  # (n_samples,): which rows have no value; None without gaps
    neutral: float = 0.0

    @property
    def has_gap(self) -> bool:
        return self.gone is not None

    @property
    def n_intervals(self) -> int:
        return len(self.values) - 1

    @property
    def own(self) -> Floats:
        """What the columns hold in each row, with the median where a value is missing."""
        if self.labels is not None:
            return self.patterns[self.place.astype(np.intp)]
        return np.column_stack([self.place, *([np.zeros(len(self.place))] * self.has_gap)])

    @property
    def missing(self) -> Floats:
        """What the columns hold where a value is missing."""
        return np.array([self.neutral, 1.0])

    @property
    def result_values(self) -> Floats:
        return np.append(self.values, np.nan) if self.has_gap else self.values

    @property
    def ends(self) -> Floats:
        """The values, the last one infinite for missing ones."""
        return np.append(self.values, np.inf) if self.has_gap else self.values

    @property
    def place_or_inf(self) -> Floats:
        """Where each row lies, infinite where its value is missing."""
        return self.place if self.gone is None else np.where(self.gone, np.inf, self.place)

    def hats(self, places: Floats) -> tuple[Integers, Floats]:
        """The grid point below some places, and the share of the way to the next."""
        below = np.clip(np.searchsorted(self.values, places, "right") - 1, 0, self.n_intervals - 1)
        gap = self.values[below + 1] - self.values[below]
        return below, np.clip((places - self.values[below]) / gap, 0.0, 1.0)

    def at_rows(self, table: Floats) -> Floats:
        """A table over the grid, (g, ...), at the rows; its last entry where values are missing."""
        found = self.at_places(table, self.place)
        if self.gone is not None:
            found[self.gone] = table[-1]
        return found

    def at_places(self, table: Floats, places: Floats) -> Floats:
        """The same at places on the grid."""
        below, share = self.hats(places)
        share = share.reshape(-1, *[1] * (table.ndim - 1))
        return np.asarray((1 - share) * table[below] + share * table[below + 1])


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
    and made free of what either feature does alone. An additive network has none. A missing value
    is set beside the grid by the mixed differences between it and the rows' own values, or the
    median of training where a row has none.

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
    effect, mass = _accumulated(sample, first, second)
    effect = _centre(effect, mass, first, second)
    weights = second.at_rows(np.eye(effect.shape[1]))
    at_rows = (first.at_rows(effect) * weights).sum(axis=1)
    names = (sample.features[chosen[0]], sample.features[chosen[1]])
    return PairEffect(
        features=names,
        values=(first.result_values, second.result_values),
        effect=effect,
        mass=mass / mass.sum(),
        share=shares_at(
            (first.ends, second.ends), (first.place_or_inf, second.place_or_inf), sample.weight
        ),
        strength=float(np.sqrt(sample.mean(np.square(at_rows)))),
        spread=float(sample.deviation(sample.score)),
        labels=(first.labels, second.labels),
        kinds=(first.kind, second.kind),
    )


def shares_at(
    grids: tuple[Floats, Floats], places: tuple[Floats, Floats], weight: Floats
) -> Floats:
    """Share of the rows nearest to each pair of values, (g, h); infinite ones are missing."""
    shape = (len(grids[0]), len(grids[1]))
    nearest = [
        np.where(np.isinf(place), len(grid) - 1, np.searchsorted((grid[1:] + grid[:-1]) / 2, place))
        for grid, place in zip(grids, places, strict=True)
    ]
    found = sums_by(
        np.ravel_multi_index((nearest[0], nearest[1]), shape), weight, shape[0] * shape[1]
    )
    return np.asarray(found / weight.sum()).reshape(shape)


def _axis(sample: Sample, feature: int, grid: int) -> _Axis:
    name, one = sample.features[feature], sample.kinds[feature]
    if sample.column_of(feature) is None:
        return _level_axis(sample, levels_of(sample, feature), name)
    known, (first, *_) = sample.where_observed(feature), sample.groups[feature]
    column, values = sample.X[:, first], grid_of(known, first, grid)
    seen = sample.observed(feature)
    if len(values) < 2:
        if seen is None or seen.all() or not seen.any():
            raise ValueError(f"Feature {name!r} has only one value in X.")
        return _level_axis(sample, _with_or_without(sample, feature), name)
    place = np.minimum(np.searchsorted(values, column), len(values) - 1)
    on_grid = np.array_equal(
        values[place] if seen is None else values[place][seen],
        column if seen is None else column[seen],
    )
    intervals = _either_side(place, len(values)) if on_grid else (np.maximum(place - 1, 0),)
    if seen is None:
        return _Axis(one.columns, values[:, None], values, None, column, intervals, one.kind)
    patterns = np.column_stack([values, np.zeros(len(values))])
    intervals = tuple(np.where(seen, inside, -1) for inside in intervals)
    return _Axis(
        one.columns, patterns, values, None, column, intervals, one.kind, ~seen, one.neutral
    )


def _with_or_without(sample: Sample, feature: int) -> Levels:
    """A number that has one value, or none, as two levels."""
    one, known = sample.kinds[feature], sample.where_observed(feature)
    assert one.missing is not None
    value, gone = float(known.X[0, one.columns[0]]), sample.X[:, one.missing] != 0
    share = np.array([1 - sample.weight[gone].sum(), sample.weight[gone].sum()])
    patterns = np.array([[value, 0.0], [one.neutral, 1.0]])
    labels = (value_text(value, one.kind), MISSING)
    return Levels(one.columns, patterns, labels, gone.astype(np.intp), share)


def _level_axis(sample: Sample, levels: Levels, name: str) -> _Axis:
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
        kind="category",
    )


def _either_side(place: Integers, n_values: int) -> tuple[Integers, ...]:
    """The intervals that end and that begin at each row's value; -1 where there is none."""
    return place - 1, np.where(place < n_values - 1, place, -1)


def _accumulated(sample: Sample, first: _Axis, second: _Axis) -> tuple[Floats, Floats]:
    """Mixed differences added up along both features, and the weight of the rows in each cell."""
    total, inside = _cells(sample, first, second)
    effect: Floats = np.zeros((len(first.result_values), len(second.result_values)))
    g, h = len(first.values), len(second.values)
    steps = _filled(total, inside)
    effect[1:g, 1:h] = steps.cumsum(axis=0).cumsum(axis=1)
    mass = np.zeros((len(effect) - 1, effect.shape[1] - 1))
    mass[: g - 1, : h - 1] = inside
    if first.has_gap:
        effect[g, 1:h], mass[g - 1, : h - 1] = _beside(sample, first, second, effect[:g, :h])
    if second.has_gap:
        effect[1:g, h], mass[: g - 1, h - 1] = _beside(sample, second, first, effect[:g, :h].T)
    if first.gone is not None and second.gone is not None:
        effect[g, h] = _corner(sample, first, second, effect)
        mass[-1, -1] = sample.weight[first.gone & second.gone].sum() * len(second.intervals)
        mass[-1, -1] *= len(first.intervals)
    return effect, mass


def _filled(total: Floats, mass: Floats) -> Floats:
    """Means of cells; those without rows have that of the nearest one with some."""
    steps = np.divide(total, mass, out=np.zeros_like(total), where=mass > 0)
    if (mass == 0).any() and (mass > 0).any():
        nearest = distance_transform_edt(mass == 0, return_distances=False, return_indices=True)
        steps = steps[tuple(nearest)]
    return np.asarray(steps)


def _beside(sample: Sample, one: _Axis, other: _Axis, effect: Floats) -> tuple[Floats, Floats]:
    """The effect of a missing value of one feature along the other, and the weight of its rows.

    In each interval of the other feature the effect rises by the weighted mean over its rows of the
    mixed difference between missing and the row's value, and of the rise at that value.
    """
    assert one.gone is not None
    total, mass, gone = (np.zeros(other.n_intervals) for _ in range(3))
    own, at_own = one.own, one.at_places(effect, one.place)
    for inside in other.intervals:
        rows = np.flatnonzero(inside >= 0)
        cell, table, rise = inside[rows], sample.X[rows], np.zeros(len(rows))
        for up, sign in ((1, 1.0), (0, -1.0)):
            table[:, list(other.columns)] = other.patterns[cell + up]
            for what, side in ((one.missing, 1.0), (own[rows], -1.0)):
                table[:, list(one.columns)] = what
                rise += sign * side * sample.network.score(table)[:, sample.output]
            rise += sign * at_own[rows, cell + up]
        weight = sample.weight[rows]
        total += sums_by(cell, weight * rise, len(total))
        mass += sums_by(cell, weight, len(total))
        gone += sums_by(cell, weight * one.gone[rows], len(total))
    return np.cumsum(_filled(total, mass)), gone * len(one.intervals)


def _corner(sample: Sample, first: _Axis, second: _Axis, effect: Floats) -> float:
    """The effect where both values are missing: the mean over all rows, as for one of them."""
    g, h = len(first.values), len(second.values)
    table, mixed = sample.X.copy(), np.zeros(len(sample.X))
    for one, side in ((first.missing, 1.0), (first.own, -1.0)):
        for two, sign in ((second.missing, 1.0), (second.own, -1.0)):
            table[:, list(first.columns)], table[:, list(second.columns)] = one, two
            mixed += side * sign * sample.network.score(table)[:, sample.output]
    along = first.at_places(effect[:g, h], first.place)
    across = second.at_places(effect[g, :h], second.place)
    inner = first.at_places(effect[:g, :h], first.place)
    below, share = second.hats(second.place)
    rows = np.arange(len(inner))
    both = (1 - share) * inner[rows, below] + share * inner[rows, below + 1]
    return float(sample.mean(mixed + along + across - both))


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


def _centre(effect: Floats, mass: Floats, first: _Axis, second: _Axis) -> Floats:
    """Take from an accumulated effect what it holds of either feature alone, and its mean.

    The mean rise over each interval of a feature becomes zero; so does the mean contrast between a
    missing value and the row's, or the median where it has none.
    """
    alone = _alone(effect, mass, first, second)
    effect = effect - alone[:, None]
    effect = effect - _alone(effect.T, mass.T, second, first)[None, :]
    corners = _middles(_middles(effect, first).T, second).T
    return np.asarray(effect - (mass * corners).sum() / mass.sum())


def _middles(table: Floats, axis: _Axis) -> Floats:
    """Means of the ends of each interval, (g - 1, ...), and what there is at missing values."""
    known = table[: len(axis.values)]
    middles = (known[1:] + known[:-1]) / 2
    return np.vstack([middles, table[-1:]]) if axis.has_gap else middles


def _alone(effect: Floats, mass: Floats, one: _Axis, other: _Axis) -> Floats:
    """What an effect holds of one feature alone, at each of its places."""
    g, tiny = len(one.values), np.finfo(float).tiny
    across = _middles(effect.T, other).T
    inside, rise = mass[: g - 1], np.diff(across[:g], axis=0)
    own = (inside * rise).sum(axis=1) / np.maximum(inside.sum(axis=1), tiny)
    alone = np.concatenate([[0.0], np.cumsum(own)])
    if not one.has_gap:
        return alone
    neutral = np.array([one.neutral])
    places = np.vstack([(across[1:g] + across[: g - 1]) / 2, one.at_places(across[:g], neutral)])
    at = np.append((alone[1:] + alone[:-1]) / 2, one.at_places(alone, neutral))
    contrast = across[g] - places + at[:, None]
    return np.append(alone, (mass * contrast).sum() / mass.sum())
