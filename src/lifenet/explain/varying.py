"""The network as a model of varying coefficients: section 4.3 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import block_diag

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._coefficients import read_coefficients
from lifenet.explain._sample import Sample
from lifenet.explain._smooths import two_stages
from lifenet.explain._windows import DEFAULT_REACH, check_reach
from lifenet.kernels.smoothing import LevelBasis

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.explain._coefficients import Coefficients
    from lifenet.kernels.smoothing import Smooth
    from lifenet.schema import FeatureSchema
    from lifenet.tables import Feature

__all__ = ["Axis", "VaryingCoefficients", "varying_coefficients"]

#: A main effect counts from this part of the score's standard deviation on, ...
_LEAST_STRENGTH = 0.05
#: ... and a linear one where the mean slope is also this many standard errors from zero.
_LEAST_T = 3.0
_GRID_SIZE = 101


@dataclass(frozen=True, eq=False)
class Axis:
    """A feature as coefficients are smoothed over it.

    Attributes
    ----------
    name : of the feature
    labels : names of the levels of a category, whose places are 0, 1, ...; none for a number
    grid : ndarray of shape (g,), places at which the curves are given, ascending
    by_level : whether the curves are means at each place of the grid, not splines
    kind : what its values are, as `Curve` has it
    """

    name: str
    labels: tuple[str, ...]
    grid: Floats
    by_level: bool
    kind: str = "number"


@shown
@dataclass(frozen=True, eq=False)
class VaryingCoefficients:
    """Coefficients that vary from row to row, and their curves over each feature.

    A number has one coefficient, its slope ``alpha_m(x_i)`` over the reach, in the rows that have a
    value. Where the column has at most 12 values, that is the exact change of the score from the
    next value below to the next one above, divided by their distance: between such values a network
    may bend at will, so its slope at one of them says little. A category has one coefficient for
    each level but the most frequent: the exact contrast
    ``f(level, rest of row i) - f(most frequent level, rest of row i)``.

    All strengths are in units of the score. With ``V`` the variance of the feature's column (the
    covariance of the indicators of its levels) the strength of a coefficient's curve ``g`` is the
    root of the sum of ``V * Cov(g)``: for one column ``sd(g(x)) sd(x_m)``; for a category it does
    not depend on which level the contrasts are taken to.

    Attributes
    ----------
    axes : the p features
    names : of the q coefficients
    owner : ndarray of shape (q,), the feature of each coefficient
    level : ndarray of shape (q,), the level that a contrast is of; -1 for a slope
    score_deviation : standard deviation of the score
    mean : ndarray of shape (q,), mean of each coefficient
    t : ndarray of shape (p,), mean slope divided by its standard error; NaN for a category
    linear : ndarray of shape (p,), strength of the mean coefficient
    nonlinear : ndarray of shape (p,), strength of g_main; zero for a category and
        for two values
    strength : ndarray of shape (p, p), of ``g_k^m`` in row m and column k; the diagonal is zero
    curves : p arrays of shape (g_k, q): over feature k, g_main of its own coefficients and
        ``g_k^m`` of all others
    edf : ndarray of shape (p, q), degrees of freedom of each curve; 2 for a line
    places : ndarray of shape (n_points, p), some rows, evenly spaced
    alpha, residual : ndarrays of shape (n_points, q), the coefficients of these rows, and what
        g_main leaves of them; NaN, as in `places`, where a value is missing
    reach : share of each column's span that slopes are taken over
    """

    axes: tuple[Axis, ...]
    names: tuple[str, ...]
    owner: Integers
    level: Integers
    score_deviation: float
    mean: Floats
    t: Floats
    linear: Floats
    nonlinear: Floats
    strength: Floats
    curves: tuple[Floats, ...]
    edf: Floats
    places: Floats
    alpha: Floats
    residual: Floats
    reach: float

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(axis.name for axis in self.axes)

    @property
    def verdict(self) -> tuple[str, ...]:
        """What the main effect of each feature is.

        "linear" where its linear strength is at least 5 % of the score's standard deviation and
        the mean slope three standard errors from zero; "nonlinear" where that strength is at
        least 5 %; "linear and nonlinear"; "by level" for a category; or "none".
        """
        least = _LEAST_STRENGTH * self.score_deviation
        many = np.array([bool(axis.labels) for axis in self.axes])
        with np.errstate(invalid="ignore"):
            straight = (self.linear >= least) & (self.linear > 0) & (np.abs(self.t) >= _LEAST_T)
        bent = (self.nonlinear >= least) & (self.nonlinear > 0)
        stepped = many & (self.linear >= least) & (self.linear > 0)
        return tuple(
            _words(*found) for found in zip(straight & ~many, bent & ~many, stepped, strict=True)
        )

    def to_frame(self) -> pd.DataFrame:
        """Main effects, one row a feature.

        Columns: feature, mean_slope and t (NaN for a category), linear, nonlinear, both also
        relative to the score's standard deviation, verdict, and the feature over which its
        coefficient varies most, with the strength.
        """
        pandas = require("pandas", extra="data", purpose="A data frame")
        plain = np.array([not axis.labels for axis in self.axes])
        slope = np.full(len(self.axes), np.nan)
        slope[plain] = self.mean[np.isin(self.owner, np.flatnonzero(plain))]
        best = self.strength.max(axis=1)
        partner = np.where(best > 0, self.strength.argmax(axis=1), -1)
        unit = self.score_deviation or np.nan
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "feature": self.features,
                "mean_slope": slope,
                "t": self.t,
                "linear": self.linear,
                "nonlinear": self.nonlinear,
                "relative_linear": self.linear / unit,
                "relative_nonlinear": self.nonlinear / unit,
                "verdict": self.verdict,
                "varies_most_with": [self.features[k] if k >= 0 else "" for k in partner],
                "interaction": best,
            }
        )
        return frame

    def curves_to_frame(self) -> pd.DataFrame:
        """All curves, one row a place.

        Columns: coefficient, over (the feature), place, curve. Where a coefficient is its
        feature's own, the curve is g_main, else ``g_k^m``.
        """
        pandas = require("pandas", extra="data", purpose="A data frame")
        parts = [
            {"coefficient": name, "over": axis.name, "place": axis.grid, "curve": curve[:, place]}
            for axis, curve in zip(self.axes, self.curves, strict=True)
            for place, name in enumerate(self.names)
        ]
        frame: pd.DataFrame = pandas.concat(map(pandas.DataFrame, parts), ignore_index=True)
        return frame


def varying_coefficients(
    network: Any,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    max_points: int = 2000,
    reach: float = DEFAULT_REACH,
) -> VaryingCoefficients:
    """Main effects and interactions from the coefficients of all rows, in two stages.

    1. ``g_main(x_m)``: each coefficient smoothed over its own feature.
    2. ``g_k^m(x_k)``: what g_main leaves of it, smoothed over each other feature.

    A curve is a cubic spline with penalty by generalised cross-validation; the means of the levels
    where the feature is a category or has at most 12 values. The cost is O(rows x features^2).

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    schema, sample_weight, output : names, weights of rows, which score; see `Sample.of`
    max_points : int, default=2000
        Most rows whose coefficients are kept for a scatter plot; the curves are of all rows.
    reach : float, default=0.05
        Share of each column's span over which slopes are taken, as `explain_row` does; 0 takes
        those of the rows themselves.

    Returns
    -------
    VaryingCoefficients
    """
    if isinstance(max_points, bool) or not isinstance(max_points, (int, np.integer)):
        raise TypeError(f"max_points must be a whole number; it is {max_points!r}.")
    if max_points < 0:
        raise ValueError(f"max_points must not be negative; it is {max_points}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    return _read(sample, max_points, check_reach(reach))


def _words(straight: bool, bent: bool, stepped: bool) -> str:
    if stepped:
        return "by level"
    if straight:
        return "linear and nonlinear" if bent else "linear"
    return "nonlinear" if bent else "none"


def _read(sample: Sample, max_points: int, reach: float) -> VaryingCoefficients:
    features = read_coefficients(sample, reach)
    owner = np.repeat(np.arange(len(features)), [len(one.names) for one in features])
    alpha = np.concatenate([one.alpha for one in features], axis=1)
    spread = block_diag(*(one.spread for one in features))
    stages = two_stages(features, alpha, owner, sample.weight * sample.total)
    seen = np.stack([features[one].seen for one in owner], axis=1)
    mean, error = _mean_and_error(sample, alpha, seen)
    shown = np.linspace(0, len(alpha) - 1, min(max_points, len(alpha))).astype(np.intp)
    axes = tuple(map(_axis, sample.features, sample.kinds, features, stages.main))
    everything = np.ones(len(owner), dtype=np.bool_)
    return VaryingCoefficients(
        axes=axes,
        names=tuple(name for one in features for name in one.names),
        owner=owner,
        level=np.array([level for one in features for level in one.levels], dtype=np.intp),
        score_deviation=float(sample.deviation(sample.score)),
        mean=mean,
        t=_t_values(mean, error, owner, features),
        linear=_strengths(np.outer(mean, mean), spread, owner, everything, len(axes)),
        nonlinear=np.array(list(map(_nonlinear, features, stages.main))),
        strength=np.stack(
            [
                _strengths(other.covariance, spread, owner, owner != number, len(axes))
                for number, other in enumerate(stages.other)
            ],
            axis=1,
        ),
        curves=tuple(
            _side_by_side(owner == number, main(axis.grid), other(axis.grid))
            for number, (axis, main, other) in enumerate(
                zip(axes, stages.main, stages.other, strict=True)
            )
        ),
        edf=np.concatenate(
            [
                _side_by_side(owner == number, main.edf[None], other.edf[None])
                for number, (main, other) in enumerate(zip(stages.main, stages.other, strict=True))
            ]
        ),
        places=np.stack([_or_nan(one.places, one.seen)[shown] for one in features], axis=1),
        alpha=_or_nan(alpha, seen)[shown],
        residual=_or_nan(stages.residual, seen)[shown],
        reach=reach,
    )


def _mean_and_error(sample: Sample, alpha: Floats, seen: Bools) -> tuple[Floats, Floats]:
    """Mean of each coefficient over the rows that have it, and its standard error, (q,) each."""
    weight = sample.weight[:, None] * seen
    share = weight.sum(axis=0)
    weight = weight / np.where(share > 0, share, 1.0)
    mean = (weight * alpha).sum(axis=0)
    variance = (weight * np.square(alpha - mean)).sum(axis=0)
    return mean, np.sqrt(variance / (sample.total * np.where(share > 0, share, 1.0)))


def _or_nan(values: Floats, seen: Bools) -> Floats:
    return np.where(seen, values, np.nan)


def _axis(name: str, kind: Feature, one: Coefficients, main: Smooth) -> Axis:
    if isinstance(main.basis, LevelBasis):
        return Axis(name, one.labels, main.basis.values, True, kind.kind)
    places = one.places[one.seen] if one.seen.any() else one.places
    grid = np.linspace(places.min(), places.max(), _GRID_SIZE)
    return Axis(name, one.labels, grid, False, kind.kind)


def _side_by_side(mine: Bools, own: Floats, others: Floats) -> Floats:
    """Columns of two tables in the order of the coefficients."""
    both = np.empty((len(own), len(mine)))
    both[:, mine], both[:, ~mine] = own, others
    return both


def _strengths(
    covariance: Floats, spread: Floats, owner: Integers, kept: Bools, n_features: int
) -> Floats:
    """Root of the sum of ``V * Cov(g)`` over the coefficients of each feature, (p,).

    Parameters
    ----------
    covariance : of the curves of those coefficients that are kept
    """
    parts = (spread[np.ix_(kept, kept)] * covariance).sum(axis=1)
    squares = np.bincount(owner[kept], parts, minlength=n_features)
    return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def _nonlinear(one: Coefficients, main: Smooth) -> float:
    """Strength of g_main."""
    return float(main.deviation[0] * np.sqrt(one.spread[0, 0])) if one.bends else 0.0


def _t_values(mean: Floats, error: Floats, owner: Integers, features: list[Coefficients]) -> Floats:
    """Mean slopes in standard errors, (p,); infinite where the slope is the same everywhere."""
    t = np.full(len(features), np.nan)
    for middle, width, number in zip(mean.tolist(), error.tolist(), owner, strict=True):
        if features[number].labels:
            continue
        same = width <= 1e-12 * abs(middle)
        t[number] = np.sign(middle) * np.inf if same and middle else middle / (width or 1.0)
    return t
