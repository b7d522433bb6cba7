"""Few linear equations in place of many: regions merged by their equations, and refitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet.explain._clusters import Centers, Fit, LocalEquations, by_size, fit_clusters
from lifenet.explain._glm import (
    Equation,
    Target,
    target_of,
    wald_p_values,
    wald_quantile,
    wald_ratio,
)
from lifenet.explain._sample import Sample, sums_by, table_of
from lifenet.explain.regions import counted_weight, equations_of, region_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.losses import Loss
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["MergedRegions", "merge_regions"]

#: Numbers of merged regions that "auto" tries, in this order.
_CHOICES = (1, 2, 3, 4, 6, 8, 12, 16, 20)


@dataclass(frozen=True, eq=False)
class MergedRegions:
    """Merged regions, the largest first, and the linear equation refitted in each.

    Standard errors, statistics and p values are those of Wald, conditional on the regions: they
    take the regions as known, though the network and the clustering that made them come from data.
    So they are too small rather than too large, most so on the rows that the network was trained
    on. Without a response they only measure how far the score is from linear in each region.

    Attributes
    ----------
    schema : FeatureSchema
        Names and groups of the columns.
    network, output : what was merged
    centers : Centers
    region : ndarray of shape (n_samples,)
        Merged region of each row; -1 for rows of weight zero.
    count, share : ndarray of shape (n_regions,)
        Rows in each region, or the sum of their weights, and the same as a share of all.
    response_mean : ndarray of shape (n_regions,)
        Mean of the response in each region, or of the score where no response was given.
    column_means : ndarray of shape (n_regions, n_columns)
        Mean of each column in each region: where it lies.
    coefficients : ndarray of shape (n_regions, n_columns)
        Zero for a column that is constant in the region. Where classes are separated by it without
        error, the coefficient has no best value: it is kept finite by a ridge of one.
    intercept : ndarray of shape (n_regions,)
    errors : ndarray of shape (n_regions, n_columns)
        Standard errors; NaN where the region's rows do not determine the coefficient: a constant
        column, columns that depend on each other, too few rows, a column or combination of
        columns that separates classes without error. Other coefficients keep their errors.
    intercept_error : ndarray of shape (n_regions,)
    freedom : ndarray of shape (n_regions,)
        Degrees of freedom of the t distribution; infinite for the normal one (logistic loss).
    fidelity : float
        How well one equation a region can stand for the network: R² for its score, one minus the
        mean squared difference over the variance of the score, of equations fitted to the score.
    refit_fidelity : float
        The same of the equations given here: lower where they are fitted to a response, and low
        where the network was shrunk and they, without a penalty, are not.
    asked_fidelity : float
        The fidelity that "auto" was to reach; NaN where the number of regions was given.
    tried, tried_fidelity : ndarray of shape (n_tried,)
        Numbers of regions that were tried, and the fidelity of each.
    network_loss, merged_loss : float
        `measure` of the network and of the merged equations on the response; NaN without one.
    measure : str
        "RMSE", or "log-loss" for classes.
    target : str
        What the equations are fitted to: "response" or "score".
    spread : ndarray of shape (n_columns,)
        Standard deviation of each column over all rows.
    n_total : int
        Number of activation regions before merging.
    coverage : float
        Share of the rows in activation regions of at least `min_rows` rows. Merging is meant for
        networks where this is below a half.
    """

    schema: FeatureSchema
    network: PiecewiseLinear
    output: int
    centers: Centers
    region: Integers
    count: Floats
    share: Floats
    response_mean: Floats
    column_means: Floats
    coefficients: Floats
    intercept: Floats
    errors: Floats
    intercept_error: Floats
    freedom: Floats
    fidelity: float
    refit_fidelity: float
    asked_fidelity: float
    tried: Integers
    tried_fidelity: Floats
    network_loss: float
    merged_loss: float
    measure: str
    target: str
    spread: Floats
    n_total: int
    coverage: float

    @property
    def n_regions(self) -> int:
        """Number of merged regions."""
        return len(self.count)

    @property
    def fidelity_loss(self) -> float:
        """Share of the score's variance that the merged equations miss."""
        return 1.0 - self.fidelity

    @property
    def statistics(self) -> Floats:
        """Coefficients over their errors: t, or z under a logistic loss; (n_regions, n_columns)."""
        return wald_ratio(self.coefficients, self.errors)

    @property
    def p_values(self) -> Floats:
        """Two-sided p values of the hypothesis that a coefficient is zero."""
        return wald_p_values(self.statistics, self.freedom[:, None])

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """Ends of the coefficients' Wald intervals, each (n_regions, n_columns)."""
        if not 0 < level < 1:
            raise ValueError(f"level must be between 0 and 1; it is {level}.")
        reach = wald_quantile(0.5 + 0.5 * level, self.freedom[:, None]) * self.errors
        return self.coefficients - reach, self.coefficients + reach

    def assign(self, X: Any) -> Integers:
        """Merged region of new rows, (n,): the centre nearest to the equation of the row."""
        return self._assign(table_of(X, self.schema))

    def score(self, X: Any) -> Floats:
        """Score of new rows by the equations of their merged regions, (n,)."""
        table = table_of(X, self.schema)
        region = self._assign(table)
        return np.asarray(
            np.einsum("ij,ij->i", table, self.coefficients[region]) + self.intercept[region]
        )

    def _assign(self, table: Floats) -> Integers:
        equations = equations_of(self.network, table, self.output)
        return self.centers.nearest(self.centers.coordinates(*equations))

    def to_frame(self) -> pd.DataFrame:
        """The equations, one row for each region and term, the intercept first.

        Columns: region, count, share, response_mean, term, coefficient, standard_error, statistic
        (t, or z under a logistic loss), p_value, lower, upper (ends of the 95 % interval).
        """
        pandas: Any = require("pandas", extra="data", purpose="The table of merged regions")
        coefficient = np.column_stack([self.intercept, self.coefficients])
        error = np.column_stack([self.intercept_error, self.errors])
        statistic = wald_ratio(coefficient, error)
        reach = wald_quantile(0.975, self.freedom[:, None]) * error
        terms = ("(intercept)", *self.schema.names)
        columns = {
            "region": np.repeat(np.arange(self.n_regions), len(terms)),
            "count": np.repeat(self.count, len(terms)),
            "share": np.repeat(self.share, len(terms)),
            "response_mean": np.repeat(self.response_mean, len(terms)),
            "term": list(terms) * self.n_regions,
            "coefficient": coefficient.ravel(),
            "standard_error": error.ravel(),
            "statistic": statistic.ravel(),
            "p_value": wald_p_values(statistic, self.freedom[:, None]).ravel(),
            "lower": (coefficient - reach).ravel(),
            "upper": (coefficient + reach).ravel(),
        }
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame


def merge_regions(
    network: PiecewiseLinear,
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    n_regions: int | str = "auto",
    fidelity: float = 0.95,
    max_regions: int = 20,
    min_rows: float = 3,
    loss: Loss | None = None,
    random_state: int = 0,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> MergedRegions:
    """Merge activation regions with similar equations and refit one equation in each.

    With many neurons nearly every row has a region of its own, and the equations are too many to
    be read. Here they are clustered (k-means on standardised slopes and the value at the middle of
    the data, each region counting by its rows) and a linear equation is fitted to the rows of each
    cluster: the merging and flattening of Sudjianto et al. (2020) that section 4.2 refers to. What
    that costs is said by `fidelity` and the losses of the result, all on the rows given. How many
    regions there are is decided by the network's score alone; the response then fits the equations.

    Parameters
    ----------
    network : PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    y : array-like of shape (n_samples,) or None, default=None
        Response that the equations are fitted to: numbers, or 0 and 1 for two classes. None fits
        the network's score, which is also the way for one class of several.
    n_regions : int or "auto", default="auto"
        "auto" takes the fewest of 1, 2, 3, 4, 6, 8, 12, 16, 20 that reach `fidelity`, or the best
        of them. There are fewer where the network has fewer equations.
    fidelity : float, default=0.95
        R² for the network's score that "auto" asks for; at most 1.
    max_regions : int, default=20
        Most regions that "auto" tries.
    min_rows : float, default=3
        The threshold tau of `local_regions`, for the `coverage` that is reported.
    loss : Loss or None, default=None
        Of one score. None takes `Logistic` where y holds both 0 and 1 and nothing else, else
        `SquaredError`.
    random_state : int, default=0
        Seed of the clustering.
    schema : FeatureSchema, names of the columns, or None, default=None
    sample_weight : array-like of shape (n_samples,) or None, default=None
        A row of weight 2 counts as two rows, in the standard errors too.
    output : int or None, default=None
        Which score; None where there is only one.

    Returns
    -------
    MergedRegions
    """
    choices = _check_choices(n_regions, max_regions)
    if not fidelity <= 1:
        raise ValueError(f"fidelity is an R², at most 1; it is {fidelity}.")
    if not min_rows > 0:
        raise ValueError(f"min_rows must be above 0; it is {min_rows}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    target = target_of(sample, len(X), y, loss)
    _check_target(target)
    weight = counted_weight(sample, len(X), sample_weight)
    own = target if not target.given else target_of(sample, len(X), None)
    local = LocalEquations.of(sample)
    fits = _search(sample, own, weight, local, choices, fidelity, random_state)
    best = max(fits, key=lambda fit: fit.fidelity)
    refit = best
    if target.given:
        refit = fit_clusters(sample, target, weight, best.centers, best.region, own.values)
    small = sums_by(local.inverse, weight) < min_rows * (1 - 1e-12)
    region = np.full(len(X), -1)
    region[sample.rows] = best.region
    return MergedRegions(
        schema=sample.schema,
        network=network,
        output=sample.output,
        centers=best.centers,
        region=region,
        count=sums_by(best.region, weight),
        share=sums_by(best.region, sample.weight),
        response_mean=region_means(best.region, weight, target.values),
        column_means=np.column_stack(
            [region_means(best.region, weight, column) for column in sample.X.T]
        ),
        **_parts(refit.equations),
        fidelity=best.fidelity,
        refit_fidelity=refit.fidelity,
        asked_fidelity=fidelity if n_regions == "auto" else float("nan"),
        tried=np.array([len(fit.equations) for fit in fits]),
        tried_fidelity=np.array([fit.fidelity for fit in fits]),
        network_loss=_loss(sample, target, own.values),
        merged_loss=_loss(sample, target, refit.score),
        measure=target.measure,
        target="response" if target.given else "score",
        spread=sample.spread,
        n_total=len(local.points),
        coverage=float(sample.weight[~small[local.inverse]].sum()),
    )


def _search(
    sample: Sample,
    own: Target,
    weight: Floats,
    local: LocalEquations,
    choices: Sequence[int],
    fidelity: float,
    random_state: int,
) -> list[Fit]:
    """Equations fitted to the score for each number of regions, until one is close enough."""
    fits: list[Fit] = []
    for wanted in sorted({min(choice, local.n_distinct) for choice in choices}):
        centers = local.cluster(wanted, random_state)
        centers, region = by_size(centers, centers.nearest(local.points)[local.inverse], weight)
        fits.append(fit_clusters(sample, own, weight, centers, region, own.values))
        if fits[-1].fidelity >= fidelity:
            break
    return fits


def _check_choices(n_regions: int | str, max_regions: int) -> tuple[int, ...]:
    auto = isinstance(n_regions, str) and n_regions == "auto"
    if not auto and (isinstance(n_regions, bool) or not isinstance(n_regions, (int, np.integer))):
        raise ValueError(f'n_regions must be "auto" or a whole number; it is {n_regions!r}.')
    for name, value in (("max_regions", max_regions), ("n_regions", 1 if auto else int(n_regions))):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; it is {value}.")
    if not auto:
        return (int(n_regions),)
    return tuple(choice for choice in _CHOICES if choice <= max_regions)


def _check_target(target: Target) -> None:
    if target.loss.n_outputs != 1:
        raise ValueError(
            "Equations of one class among several have no loss of their own on y. Leave y out, so "
            "that they are fitted to the class's score."
        )


def _loss(sample: Sample, target: Target, score: Floats) -> float:
    """Mean loss of a score on the response; NaN without one."""
    if not target.given:
        return float("nan")
    return float(target.summary(sample.mean(target.losses(target.values, score[:, None]))))


def _parts(equations: Sequence[Equation]) -> dict[str, Floats]:
    """The equations as arrays, under the names that `MergedRegions` has for them."""
    coefficients = np.array([equation.coefficients for equation in equations])
    errors = np.array([equation.errors for equation in equations])
    return {
        "coefficients": coefficients[:, 1:],
        "intercept": coefficients[:, 0],
        "errors": errors[:, 1:],
        "intercept_error": errors[:, 0],
        "freedom": np.array([equation.freedom for equation in equations]),
    }
