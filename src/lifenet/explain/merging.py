"""Few linear equations in place of many: regions bounded by conditions on columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._conditions import conditions_of
from lifenet.explain._glm import (
    Equation,
    Target,
    fit_equation,
    target_of,
    wald_p_values,
    wald_quantile,
    wald_ratio,
)
from lifenet.explain._partition import Box, grow_partitions
from lifenet.explain._sample import Sample, sums_by, table_of
from lifenet.explain._subject import Subject, subject_with
from lifenet.explain.regions import counted_weight, region_means

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.losses import Loss
    from lifenet.schema import FeatureSchema

__all__ = ["MergedRegions", "merge_regions"]

#: Rows that a region has at least for each coefficient of its equation, and as a share of all.
_ROWS_A_COEFFICIENT, _LEAST_SHARE = 10, 0.02


@shown
@dataclass(frozen=True, eq=False)
class MergedRegions:
    """Merged regions, the largest first, and the linear equation fitted in each.

    Standard errors, statistics and p values are those of Wald, conditional on the regions: they
    take the regions as known, though the network and the tree that made them come from data.
    So they are too small rather than too large, most so on the rows that the network was trained
    on. Without a response they only measure how far the score is from linear in each region.

    Attributes
    ----------
    schema : FeatureSchema
        Names and groups of the columns.
    boxes : of each region, the conditions on columns that bound it; see `describe`
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
        The same of the equations given here: lower where they are fitted to the response, and low
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
    min_rows : float
        Rows that each region has at least.
    subject : Subject
        What was read: a model's pipeline prepares new rows.
    """

    schema: FeatureSchema
    boxes: tuple[Box, ...]
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
    min_rows: float
    subject: Subject

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
        """Merged region of new rows, (n,): the one whose conditions hold."""
        return self._assign(table_of(self.subject.prepared(X), self.schema))

    def score(self, X: Any) -> Floats:
        """Score of new rows by the equations of their merged regions, (n,)."""
        table = table_of(self.subject.prepared(X), self.schema)
        region = self._assign(table)
        return np.asarray(
            np.einsum("ij,ij->i", table, self.coefficients[region]) + self.intercept[region]
        )

    def _assign(self, table: Floats) -> Integers:
        return _regions_of(self.boxes, table)

    def describe(self, region: int) -> str:
        """Where a region lies, such as ``PAY_0 <= 1 and LIMIT_BAL > 140000``."""
        return " and ".join(self.conditions(region)) or "all rows"

    def conditions(self, region: int, names: Sequence[str] | None = None) -> tuple[str, ...]:
        """The conditions that bound a region, each as text; none for all rows.

        `names` may stand in place of those of the schema. A row without a value lies where the
        median does; where that is not in all of a column's values, it is said.
        """
        if not -self.n_regions <= region < self.n_regions:
            raise IndexError(f"There are {self.n_regions} regions; there is no {region}.")
        return conditions_of(self.boxes[region], self.schema, names or self.schema.names)

    def to_frame(self) -> pd.DataFrame:
        """The equations, one row for each region and term, the intercept first.

        Columns: region, where (its conditions), count, share, response_mean, term, coefficient,
        standard_error, statistic (t, or z under a logistic loss), p_value, lower, upper (ends of
        the 95 % interval).
        """
        pandas: Any = require("pandas", extra="data", purpose="The table of merged regions")
        coefficient = np.column_stack([self.intercept, self.coefficients])
        error = np.column_stack([self.intercept_error, self.errors])
        statistic = wald_ratio(coefficient, error)
        reach = wald_quantile(0.975, self.freedom[:, None]) * error
        terms = ("(intercept)", *self.schema.names)
        columns = {
            "region": np.repeat(np.arange(self.n_regions), len(terms)),
            "where": np.repeat([self.describe(one) for one in range(self.n_regions)], len(terms)),
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
    network: Any,
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    n_regions: int | str = "auto",
    fidelity: float = 0.95,
    max_regions: int = 12,
    min_rows: float | str = "auto",
    fit_to: str = "score",
    loss: Loss | None = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> MergedRegions:
    """Cut the table into few regions by conditions on columns, with one equation in each.

    With many neurons nearly every row has an activation region of its own, and the equations are
    too many to be read. Here a tree cuts the rows in two, again and again, where that lowers the
    squared error of one linear equation a region to the network's score the most; an equation is
    then fitted to the rows of each region. This takes the place of the merging and flattening of
    section 4.2, whose clusters of equations have no conditions. What it costs is said by `fidelity`
    and, with a response, by the losses of the network and of the equations, all on the rows given.
    The network's score alone decides which regions there are.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    y : array-like of shape (n_samples,) or None, default=None
        Response: numbers, or labels of two classes. With it, losses are told.
    n_regions : int or "auto", default="auto"
        "auto" takes the fewest that reach `fidelity`, or `max_regions`. There are fewer where the
        score is linear, or rows are few.
    fidelity : float, default=0.95
        R² for the network's score that "auto" asks for; at most 1.
    max_regions : int, default=12
        Most regions that "auto" tries.
    min_rows : float or "auto", default="auto"
        Fewest rows of a region; "auto" takes ten for each coefficient of an equation, and two in a
        hundred of all.
    fit_to : {"score", "response"}, default="score"
        What the equations are fitted to. Those fitted to the response have Wald errors that speak
        of the data; they have no penalty, and no longer say what the network does
        (`refit_fidelity`).
    loss : Loss or None, default=None
        Of one score. None takes `Logistic` for two classes, else `SquaredError`.
    schema : FeatureSchema, names of the columns, or None, default=None
    sample_weight : array-like of shape (n_samples,) or None, default=None
        A row of weight 2 counts as two rows, in the standard errors too.
    output : int or None, default=None
        Which score; None where there is only one.

    Returns
    -------
    MergedRegions
    """
    most = _check_numbers(n_regions, max_regions)
    if not fidelity <= 1:
        raise ValueError(f"fidelity is an R², at most 1; it is {fidelity}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    target = target_of(sample, len(X), y, loss)
    subject = subject_with(network, schema)
    _check_target(target, fit_to)
    weight = counted_weight(sample, len(X), sample_weight)
    least = _least_rows(min_rows, weight, sample.X.shape[1])
    own = target if not target.given else target_of(sample, len(X), None)
    partitions = grow_partitions(sample.X, own.values, weight, most, least)
    wanted = partitions[-1:] if n_regions != "auto" else partitions
    fits = _fit_each(sample, own, weight, wanted, fidelity)
    best = fits[-1] if n_regions != "auto" else max(fits, key=lambda fit: fit.fidelity)
    refit = best if fit_to == "score" else _fit(sample, target, weight, best.boxes, own.values)
    region = np.full(len(X), -1)
    region[sample.rows] = best.region
    return MergedRegions(
        schema=sample.schema,
        boxes=best.boxes,
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
        target=fit_to,
        subject=subject,
        spread=sample.spread,
        min_rows=least,
    )


@dataclass(frozen=True, eq=False)
class _Fit:
    """A partition, the heaviest region first, its equations, and how well they do."""

    boxes: tuple[Box, ...]
    region: Integers
    equations: tuple[Equation, ...]
    score: Floats
    fidelity: float


def _fit_each(
    sample: Sample, own: Target, weight: Floats, partitions: list[tuple[Box, ...]], asked: float
) -> list[_Fit]:
    """Equations fitted to the score for each partition, until one is close enough."""
    fits: list[_Fit] = []
    for boxes in partitions:
        mass = sums_by(_regions_of(boxes, sample.X), weight, len(boxes))
        ordered = tuple(boxes[at] for at in np.argsort(-mass, kind="stable"))
        fits.append(_fit(sample, own, weight, ordered, own.values))
        if fits[-1].fidelity >= asked:
            break
    return fits


def _fit(
    sample: Sample, target: Target, weight: Floats, boxes: tuple[Box, ...], truth: Floats
) -> _Fit:
    """Fit an equation to the target in each region; `truth` is the network's score."""
    region = _regions_of(boxes, sample.X)
    score, equations = np.empty(len(region)), []
    for number in range(len(boxes)):
        rows = np.flatnonzero(region == number)
        table = sample.X[rows]
        equation = fit_equation(table, target.values[rows], weight[rows], target.loss)
        score[rows] = equation.coefficients[0] + table @ equation.coefficients[1:]
        equations.append(equation)
    return _Fit(boxes, region, tuple(equations), score, _r_squared(sample, truth, score))


def _regions_of(boxes: Sequence[Box], table: Floats) -> Integers:
    """Number of the region of each row, (n,)."""
    region = np.zeros(len(table), dtype=np.intp)
    for number, box in enumerate(boxes):
        region[box.holds(table)] = number
    return region


def _r_squared(sample: Sample, truth: Floats, score: Floats) -> float:
    """Share of the variance of the truth that a score explains; of a constant one, all or none."""
    missed = float(sample.mean(np.square(score - truth)))
    total = float(sample.deviation(truth)) ** 2
    rounding = float(1e-24 * np.square(truth).max())
    if total <= rounding:
        return 1.0 if missed <= rounding else 0.0
    return 1.0 - missed / total


def _check_numbers(n_regions: int | str, max_regions: int) -> int:
    """Most regions that are looked for."""
    auto = isinstance(n_regions, str) and n_regions == "auto"
    if not auto and (isinstance(n_regions, bool) or not isinstance(n_regions, (int, np.integer))):
        raise ValueError(f'n_regions must be "auto" or a whole number; it is {n_regions!r}.')
    for name, value in (("max_regions", max_regions), ("n_regions", 1 if auto else int(n_regions))):
        if value < 1:
            raise ValueError(f"{name} must be at least 1; it is {value}.")
    return int(max_regions) if auto else int(n_regions)


def _least_rows(min_rows: float | str, weight: Floats, n_columns: int) -> float:
    if isinstance(min_rows, str):
        if min_rows != "auto":
            raise ValueError(f'min_rows must be "auto" or a number; it is {min_rows!r}.')
        return max(float(_ROWS_A_COEFFICIENT * (n_columns + 1)), _LEAST_SHARE * float(weight.sum()))
    if not min_rows > 0:
        raise ValueError(f"min_rows must be above 0; it is {min_rows}.")
    return float(min_rows)


def _check_target(target: Target, fit_to: str) -> None:
    if fit_to not in ("score", "response"):
        raise ValueError(f'fit_to must be "score" or "response"; it is {fit_to!r}.')
    if fit_to == "response" and not target.given:
        raise ValueError('fit_to="response" needs the response: pass y.')
    if fit_to == "response" and target.loss.n_outputs != 1:
        raise ValueError(
            "Equations of one class among several have no loss of their own on y: leave "
            'fit_to="score".'
        )


def _loss(sample: Sample, target: Target, score: Floats) -> float:
    """Mean loss of a score on the response; NaN without one, and of one score among several."""
    if not target.given or target.loss.n_outputs != 1:
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
