"""Effects of single features: accumulated local effects without bins, and partial dependence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._bands import beside_of
from lifenet.explain._level_changes import missing_change
from lifenet.explain._sample import Sample, sums_by
from lifenet.explain.levels import levels_of
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.network import CodedNetwork
from lifenet.tables import value_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.explain.levels import Levels
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["Curve", "Effects", "accumulated_effects", "partial_dependence"]

_BLOCK_ROWS = 65_536


@shown
@dataclass(frozen=True, eq=False)
class Curve:
    """The effect of one feature, in units of the score.

    Attributes
    ----------
    feature : its name
    values : ndarray of shape (g,), ascending, in the units of the column; of a category 0, 1, ...
        Of a date, days since 1970. Of a column with gaps the last is NaN, for missing values.
    effect : ndarray of shape (g,), zero on the average over the rows
    level : what to add to the effect: of accumulated effects the mean score; of a partial
        dependence, what makes it the mean of the score over the rows at each value
    mass : ndarray of shape (g,), share of the rows at each value, or nearest to it
    labels : names of the values of a category, else None
    low, high : ndarrays of shape (g,), ends of the band about the effect; None without a band
    kind : what the values are: "number", "boolean", "date", "duration", "month", "weekday", "hour"
        or "category"
    """

    feature: str
    values: Floats
    effect: Floats
    level: float
    mass: Floats
    labels: tuple[str, ...] | None = None
    low: Floats | None = None
    high: Floats | None = None
    kind: str = "number"

    @property
    def has_missing(self) -> bool:
        """Whether the last entries are those of missing values."""
        return bool(np.isnan(self.values[-1]))

    @property
    def missing(self) -> float | None:
        """The effect of a missing value; None where training had none, and of a category."""
        return float(self.effect[-1]) if self.has_missing else None

    @property
    def observed(self) -> Curve:
        """The curve where there is a value."""
        return self.part(slice(0, len(self.values) - 1)) if self.has_missing else self

    @property
    def extent(self) -> tuple[float, float]:
        """The lowest and the highest value of effect and band."""
        ends = [one for one in (self.effect, self.low, self.high) if one is not None]
        return min(float(one.min()) for one in ends), max(float(one.max()) for one in ends)

    @property
    def strength(self) -> float:
        """Standard deviation of the effect over the rows."""
        mean = self.mass @ self.effect
        return float(np.sqrt(self.mass @ np.square(self.effect - mean)))

    def at(self, values: npt.ArrayLike) -> Floats:
        """The effect at other values: linear between its own, flat outside; NaN is missing."""
        wanted, known = np.asarray(values, dtype=np.float64), self.observed
        found = np.interp(wanted, known.values, known.effect)
        return np.where(np.isnan(wanted), np.nan if self.missing is None else self.missing, found)

    def part(self, kept: slice | Integers) -> Curve:
        """The curve at some of its values."""
        low, high = (None if one is None else one[kept] for one in (self.low, self.high))
        values, effect, mass = self.values[kept], self.effect[kept], self.mass[kept]
        return replace(self, values=values, effect=effect, mass=mass, low=low, high=high)

    def text(self, value: float) -> str:
        """A value as people read it: a date as a date."""
        plain = self.kind == "number" and not np.isnan(value)
        return f"{value:g}" if plain else value_text(value, self.kind)

    def columns(self) -> dict[str, Any]:
        """What a table of it has: value, label, effect, low, high, mass."""
        missing = np.full(len(self.values), np.nan)
        return {
            "value": self.values,
            "label": self.labels or [self.text(value) for value in self.values],
            "effect": self.effect,
            "low": missing if self.low is None else self.low,
            "high": missing if self.high is None else self.high,
            "mass": self.mass,
        }


@shown
@dataclass(frozen=True, eq=False)
class Effects:
    """The effect of each of several features.

    Attributes
    ----------
    kind : what sort of effect: "accumulated", "partial" or "integrated"
    curves : one a feature, in the order of the columns
    spread : standard deviation of the score over the rows
    band : what the bands reach over, such as "4 folds" or "3 refits"; empty without any
    """

    kind: str
    curves: tuple[Curve, ...]
    spread: float
    band: str = ""

    def __getitem__(self, feature: str) -> Curve:
        for curve in self.curves:
            if curve.feature == feature:
                return curve
        have = ", ".join(curve.feature for curve in self.curves)
        raise KeyError(f"There is no effect of {feature!r}; there are those of {have}.")

    def ranked(self) -> tuple[Curve, ...]:
        """The curves, the strongest first."""
        return tuple(sorted(self.curves, key=lambda curve: -curve.strength))

    def to_frame(self) -> pd.DataFrame:
        """One row a feature and value: feature, value, label, effect, low, high, mass, total.

        `low` and `high` are the ends of the band, missing without one. `total` is the effect with
        its level: of a partial dependence, the mean score there.
        """
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        frames = [
            pandas.DataFrame(
                {
                    "feature": curve.feature,
                    **curve.columns(),
                    "total": curve.effect + curve.level,
                }
            )
            for curve in self.curves
        ]
        frame: pd.DataFrame = pandas.concat(frames, ignore_index=True)
        return frame


def accumulated_effects(
    network: PiecewiseLinear,
    X: Any,
    *,
    features: Iterable[str] | None = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    refits: Iterable[Any] | None = None,
) -> Effects:
    """First-order accumulated local effects (ALE), exact and without bins.

    With ``z_1 < ... < z_g`` the distinct values of column `j` in the rows, the effect rises from
    ``z_l`` to ``z_{l+1}`` by the weighted mean, over the rows at either of the two, of::

        f(x with z_{l+1} in column j) - f(x with z_l in column j)

    These are added up, and a constant makes the weighted mean over the rows zero. Nothing is
    smoothed and no grid is chosen; each row is moved only to its column's neighbouring values, so
    hardly any impossible row is scored. All columns take one pass over the rows.

    Of a category (several columns in one group) each pair of levels that occur gives the mean of
    f(level b) - f(level a) over the rows at either; the effects are those that agree best with all
    pairs, in least squares weighted by the rows behind each. No order of the levels matters, and
    two levels have the effect that a binary column has.

    Of a column with gaps the curve is that of the rows that have a value. A missing value has the
    weighted mean over all rows of::

        f(x without the value) - f(x with it) + the effect of that value

    with the row's own value, or where it has none the median in training.

    The band reaches, at each value, from the lowest to the highest effect of the networks of the
    folds, whose mean the network of a cross-fitted model is. Each was fitted to most of the rows
    of the others, so a band says how much single networks differ. It is no confidence interval.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    features : names of features, or None for all
    schema : FeatureSchema, names of the columns, or None
    sample_weight : array-like of shape (n_samples,) or None
    output : int or None
        Which score; None where there is only one.
    refits : list of fitted models or networks, or None
        Fits of the same columns, with other seeds or to other draws of the rows: the band then
        reaches over the model and these, and each takes as long as the model. None takes the
        networks of the model's folds, where it has any, in about the time that the model alone
        takes; an empty list gives no band.

    Returns
    -------
    Effects

    References
    ----------
    Apley and Zhu, "Visualizing the effects of predictor variables in black box supervised learning
    models", JRSS B 82(4), 2020.
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    wanted = features_named(sample, features)
    beside = beside_of(network, X, sample, refits, schema, sample_weight)
    curves = beside.curves(lambda one: accumulated_curves(one, wanted))
    return Effects("accumulated", curves, float(sample.deviation(sample.score)), beside.words)


def accumulated_curves(sample: Sample, features: Sequence[int]) -> list[Curve]:
    """Accumulated effects of features by number."""
    level = float(sample.mean(sample.score))
    single = [feature for feature in features if sample.column_of(feature) is not None]
    found = dict(zip(single, _accumulate(sample, single, level), strict=True))
    for feature in features:
        if feature not in found:
            found[feature] = _contrast(sample, feature, level)
    return [found[feature] for feature in features]


def features_named(sample: Sample, features: Iterable[str] | None) -> list[int]:
    """Numbers of the features named, or of all."""
    if features is None:
        return list(range(len(sample.features)))
    if isinstance(features, str):
        features = [features]
    wanted = list(features)
    for name in wanted:
        if name not in sample.features:
            raise ValueError(
                f"There is no feature {name!r}; there are {', '.join(sample.features)}."
            )
    return [sample.features.index(name) for name in wanted]


def _accumulate(sample: Sample, features: list[int], level: float) -> Iterator[Curve]:
    """Curves of numbers."""
    columns = [sample.groups[feature][0] for feature in features]
    grids = [_grid_of_rows(sample, feature) for feature in features]
    weights = [_weight_observed(sample, feature) for feature in features]
    rise = [np.zeros(len(values)) for values, _ in grids]  # the last entry stays zero
    for start in range(0, len(sample.X) if columns else 0, _BLOCK_ROWS):
        block = slice(start, start + _BLOCK_ROWS)
        rows = sample.X[block]
        targets = np.stack([rows, rows])
        for column, (values, place) in zip(columns, grids, strict=True):
            targets[0, :, column] = values[np.minimum(place[block] + 1, len(values) - 1)]
            targets[1, :, column] = values[np.maximum(place[block] - 1, 0)]
        moved = sample.network.moves(rows, targets)[..., sample.output]
        for total, column, weight, (values, place) in zip(
            rise, columns, weights, grids, strict=True
        ):
            up, down = (weight[block] * moved[way, :, column] for way in (0, 1))
            total += sums_by(place[block], up, len(values))
            total[:-1] -= sums_by(place[block], down, len(values))[1:]
    for feature, total, weight, (values, place) in zip(features, rise, weights, grids, strict=True):
        mass = sums_by(place, weight, len(values))
        effect = np.concatenate([[0.0], np.cumsum(total[:-1] / (mass[:-1] + mass[1:]))])
        yield curve_of_rows(sample, feature, values, effect, mass, level)


def _grid_of_rows(sample: Sample, feature: int) -> tuple[Floats, Integers]:
    """Distinct values of the rows that have one, and which of them each row has."""
    column = sample.X[:, sample.groups[feature][0]]
    seen = sample.observed(feature)
    if seen is None:
        values, place = np.unique(column, return_inverse=True)
        return values, place.ravel()
    values = np.unique(column[seen]) if seen.any() else np.array([sample.kinds[feature].neutral])
    return values, np.minimum(np.searchsorted(values, column), len(values) - 1)


def _weight_observed(sample: Sample, feature: int) -> Floats:
    """Weights of the rows; zero where the value is missing."""
    seen = sample.observed(feature)
    return sample.weight if seen is None else np.where(seen, sample.weight, 0.0)


def curve_of_rows(
    sample: Sample, feature: int, values: Floats, effect: Floats, mass: Floats, level: float
) -> Curve:
    """An effect on the values that rows have, with that of a missing one, and mean zero."""
    if sample.observed(feature) is not None:
        change, compared = missing_change(sample, sample.kinds[feature])
        missing = float(sample.mean(change + np.interp(compared, values, effect)))
        values, effect = np.append(values, np.nan), np.append(effect, missing)
        mass = np.append(mass, 1.0 - mass.sum())
    effect = effect - mass @ effect
    name, kind = sample.features[feature], sample.kinds[feature].kind
    return Curve(name, values, effect, level, mass, kind=kind)


def _contrast(sample: Sample, feature: int, level: float) -> Curve:
    """The curve of a category."""
    levels = levels_of(sample, feature)
    return _level_curve(sample, feature, levels, level_effects(sample, levels), level)


def level_effects(sample: Sample, levels: Levels) -> Floats:
    """The effects of levels that agree best with all pairs of them, (n_levels,)."""
    n_levels, own = len(levels.patterns), sample.score
    # gain[a, b]: sum over the rows at level a of weight (f(level b) - f(level a)).
    gain = np.zeros((n_levels, n_levels))
    for level, score in enumerate(_scores_at(sample, levels)):
        weighted = sample.weight * (score - own)
        gain[:, level] = sums_by(levels.of_row, weighted, n_levels)
    mass = levels.share[:, None] + levels.share[None, :]
    np.fill_diagonal(mass, 0.0)
    rise = gain - gain.T  # mass[a, b] times the mean of f(b) - f(a) over the rows at either
    laplacian = np.diag(mass.sum(axis=0)) - mass
    effect = np.linalg.lstsq(laplacian, rise.sum(axis=0), rcond=None)[0]
    return np.asarray(effect - levels.share @ effect)


def _scores_at(sample: Sample, levels: Levels) -> Iterator[Floats]:
    """Scores of the rows with all of them put at each level in turn, (n_samples,)."""
    for level in range(len(levels.patterns)):
        yield np.asarray(sample.network.score(levels.put(sample.X, level))[:, sample.output])


def _level_curve(
    sample: Sample, feature: int, levels: Levels, effect: Floats, level: float
) -> Curve:
    places = np.arange(len(effect), dtype=np.float64)
    name, share = sample.features[feature], levels.share
    return Curve(name, places, effect, level, share, levels.labels, kind="category")


def partial_dependence(
    network: PiecewiseLinear,
    X: Any,
    *,
    features: Iterable[str] | None = None,
    grid: npt.ArrayLike | int = 100,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    refits: Iterable[Any] | None = None,
) -> Effects:
    """Partial dependence, exact over all rows.

    The mean of the score over the rows with the feature set to each value. One sort of the rows a
    neuron serves the whole grid, so the time does not grow with rows times grid. Where features
    depend on each other it scores rows that cannot occur: see `accumulated_effects`. Missing is
    one more value that all rows are set to.

    Parameters
    ----------
    network, X, features, schema, sample_weight, output, refits : as in `accumulated_effects`
    grid : int or array-like of shape (g,), default=100
        Values to take. A number takes that many quantiles of the column (or all of its distinct
        values where there are no more), as many values at even distances, and those at which
        codes of the column bend: between neighbours the curve is then nearly straight.

    Returns
    -------
    Effects
        ``curve.effect + curve.level`` is the partial dependence itself.
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    wanted = features_named(sample, features)
    # All networks take the values of the one that is explained.
    grids = {feature: _values_of(sample, feature, grid) for feature in wanted}
    beside = beside_of(network, X, sample, refits, schema, sample_weight)
    curves = beside.curves(
        lambda one: [_depend(one, feature, values) for feature, values in grids.items()]
    )
    return Effects("partial", curves, float(sample.deviation(sample.score)), beside.words)


def _values_of(sample: Sample, feature: int, grid: npt.ArrayLike | int) -> Floats | None:
    """Values that a feature is set to; None for the levels of a category."""
    column = sample.column_of(feature)
    if column is None:
        return None
    if not isinstance(grid, int):
        return check_grid(grid)
    return _dense_grid(sample.where_observed(feature), column, grid)


def _depend(sample: Sample, feature: int, values: Floats | None) -> Curve:
    if values is None:
        levels = levels_of(sample, feature)
        means = np.array([sample.mean(score) for score in _scores_at(sample, levels)])
        level = float(levels.share @ means)
        return _level_curve(sample, feature, levels, means - level, level)
    one, column, rows = sample.kinds[feature], sample.groups[feature][0], sample.X
    weight = _weight_observed(sample, feature)
    nearest = np.searchsorted((values[1:] + values[:-1]) / 2, rows[:, column])
    mass = sums_by(nearest, weight, len(values))
    if one.missing is not None:
        rows = rows.copy()
        rows[:, one.missing] = 0.0
    along = sample.network.along(rows, column)
    means = np.asarray(along.mean(values, sample.weight)[:, sample.output], dtype=np.float64)
    if one.missing is not None:
        rows[:, [column, one.missing]] = one.neutral, 1.0
        without = sample.mean(sample.network.score(rows)[:, sample.output])
        values, means = np.append(values, np.nan), np.append(means, without)
        mass = np.append(mass, 1.0 - mass.sum())
    level = float(mass @ means)
    return Curve(sample.features[feature], values, means - level, level, mass, kind=one.kind)


def grid_of(sample: Sample, column: int, size: int) -> Floats:
    """Quantiles of a column, or all of its values where these are no more: ascending, distinct."""
    if size < 2:
        raise ValueError(f"grid must be at least 2; it is {size}.")
    values = np.unique(sample.X[:, column])
    if len(values) <= size:
        return values
    levels = np.linspace(0, 1, size)
    return np.unique(weighted_quantiles(sample.X[:, column], sample.weight, levels))


def _dense_grid(sample: Sample, column: int, size: int) -> Floats:
    """Quantiles, values at even distances, and the knots of the column's codes between them."""
    values = grid_of(sample, column, size)
    low, high = values[0], values[-1]
    if len(values) < size or low == high:
        return values
    parts = [values, np.linspace(low, high, size)]
    if isinstance(sample.network, CodedNetwork):
        knots = sample.network.coding.kinks(column)
        parts.append(knots[(knots > low) & (knots < high)])
    return np.unique(np.concatenate(parts))


def check_grid(grid: npt.ArrayLike) -> Floats:
    """Values given by the user: finite, sorted, each once."""
    values = np.unique(np.asarray(grid, dtype=np.float64))
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("grid must be a number, or a list of finite values of the column.")
    return values
