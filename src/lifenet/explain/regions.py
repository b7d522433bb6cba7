"""The linear regions that data lie in, and the exact equation of each (Algorithm 2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._glm import target_of
from lifenet.explain._sample import Sample, check_weight, sums_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.explain._glm import Target
    from lifenet.losses import Loss
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = [
    "Regions",
    "counted_weight",
    "evenly_spaced",
    "group_rows",
    "local_regions",
]

#: Equations are scored on all rows up to this many, and on fewer where there are very many of them.
_SCORED_ROWS, _FEWEST_SCORED, _SCORED_CELLS = 20_000, 1_000, 200_000_000


@shown
@dataclass(frozen=True, eq=False)
class Regions:
    """Activation regions with at least `min_rows` rows, the largest first, and their equations.

    In region `t` the score is ``intercept_t + sum_j coefficients_tj x_j``, exactly.

    Attributes
    ----------
    schema : FeatureSchema
        Names and groups of the columns.
    min_rows : float
        The threshold tau.
    region : ndarray of shape (n_samples,)
        Place of each row's region in the arrays below; -1 for rows of smaller regions and of
        weight zero.
    count : ndarray of shape (n_regions,)
        Rows in each region, or the sum of their weights where weights were given.
    share : ndarray of shape (n_regions,)
        The same as a share of all rows.
    coefficients : ndarray of shape (n_regions, n_columns)
    intercept : ndarray of shape (n_regions,)
    response_mean : ndarray of shape (n_regions,)
        Mean of the response in each region, or of the score where no response was given.
    local_score, global_score : ndarray of shape (n_regions,)
        How well each region's equation predicts the response in its own rows, and in all rows:
        `measure` of it, smaller is better. Without a response they compare with the network's
        score, so that the local one is zero to rounding.
    n_scored : int
        Rows, evenly spaced, that `global_score` was computed on.
    measure : str
        "RMSE", or "log-loss" for classes.
    target : str
        What the equations are compared with: "response" or "score".
    spread : ndarray of shape (n_columns,)
        Standard deviation of each column over all rows.
    n_total : int
        Number of regions that hold any row, small ones included.
    """

    schema: FeatureSchema
    min_rows: float
    region: Integers
    count: Floats
    share: Floats
    coefficients: Floats
    intercept: Floats
    response_mean: Floats
    local_score: Floats
    global_score: Floats
    n_scored: int
    measure: str
    target: str
    spread: Floats
    n_total: int

    @property
    def n_regions(self) -> int:
        """Number of regions with at least `min_rows` rows."""
        return len(self.count)

    @property
    def coverage(self) -> float:
        """Share of the rows that lie in these regions.

        Below a half, the regions are too small to be read one by one: see `merge_regions`.
        """
        return float(self.share.sum())

    @property
    def standardized(self) -> Floats:
        """Coefficients times the standard deviation of their column, (n_regions, n_columns).

        They say by how much the score changes over one standard deviation, so that columns can be
        compared (section 4.2).
        """
        return np.asarray(self.coefficients * self.spread)

    def to_frame(self) -> pd.DataFrame:
        """The region table, one row a region.

        Columns: count, share, response_mean, local_score, global_score, intercept, and
        "coefficient of" each column.
        """
        pandas: Any = require("pandas", extra="data", purpose="The table of regions")
        columns = {
            "count": self.count,
            "share": self.share,
            "response_mean": self.response_mean,
            "local_score": self.local_score,
            "global_score": self.global_score,
            "intercept": self.intercept,
        }
        for place, name in enumerate(self.schema.names):
            columns[f"coefficient of {name}"] = self.coefficients[:, place]
        frame: pd.DataFrame = pandas.DataFrame(columns)
        return frame.rename_axis("region")


def local_regions(
    network: PiecewiseLinear,
    X: Any,
    y: npt.ArrayLike | None = None,
    *,
    min_rows: float = 3,
    loss: Loss | None = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> Regions:
    """Activation regions of the data with their exact linear equations (Algorithm 2).

    Rows with the same set of active neurons share a region, and with it one equation: slopes
    ``linear + sum over active k of weights_k beta_k`` and the constant that belongs to them.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    y : array-like of shape (n_samples,) or None, default=None
        Response: numbers, 0 and 1 for two classes, 0, 1, ... for several. With it the equations
        are scored; without it they are compared with the network's score.
    min_rows : float, default=3
        The threshold tau: regions with fewer rows are counted, but not listed.
    loss : Loss or None, default=None
        How the equations are scored. None takes `Logistic` where y holds both 0 and 1 and nothing
        else, `Multinomial` where the network has several scores and y their numbers, and
        `SquaredError` for the rest.
    schema : FeatureSchema, names of the columns, or None, default=None
    sample_weight : array-like of shape (n_samples,) or None, default=None
        A row of weight 2 counts as two rows, for `min_rows` too.
    output : int or None, default=None
        Which score; None where there is only one.

    Returns
    -------
    Regions
    """
    if not min_rows > 0:
        raise ValueError(f"min_rows must be above 0; it is {min_rows}.")
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    target = target_of(sample, len(X), y, loss)
    first, inverse = group_rows(sample)
    count = sums_by(inverse, counted_weight(sample, len(X), sample_weight))
    order = np.argsort(-count, kind="stable")
    kept = order[count[order] >= min_rows * (1 - 1e-12)]
    place = np.full(len(first), -1)
    place[kept] = np.arange(len(kept))
    region = np.full(len(X), -1)
    region[sample.rows] = place[inverse]
    share = sums_by(inverse, sample.weight)
    slopes, constants = (
        np.asarray(part, dtype=np.float64)
        for part in sample.network.equation(sample.X[first[kept]])
    )
    own = target.losses(
        target.values, sample.network.score(sample.X)[:, target.columns(sample.output)]
    )
    scored = _scored_rows(len(sample.X), len(kept))
    return Regions(
        schema=sample.schema,
        min_rows=min_rows,
        region=region,
        count=count[kept],
        share=share[kept],
        coefficients=slopes[:, :, sample.output],
        intercept=constants[:, sample.output],
        response_mean=region_means(inverse, sample.weight, target.values)[kept],
        local_score=target.summary(region_means(inverse, sample.weight, own)[kept]),
        global_score=_global_scores(sample, target, slopes, constants, scored),
        n_scored=len(scored),
        measure=target.measure,
        target="response" if target.given else "score",
        spread=sample.spread,
        n_total=len(first),
    )


def group_rows(sample: Sample) -> tuple[Integers, Integers]:
    """The distinct regions that rows lie in, in the order in which they first come.

    That order, unlike that of the keys, does not depend on how neurons are arranged.

    Returns
    -------
    first (n_regions,), a row of each region; inverse (n_samples,), the region of each row
    """
    keys = sample.network.region_keys(sample.X)
    _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    return first[order], place[inverse]


def evenly_spaced(n_rows: int, most: int) -> Integers:
    """Places of at most so many rows, from the first to the last."""
    if n_rows <= most:
        return np.arange(n_rows)
    return np.unique(np.linspace(0, n_rows - 1, most).astype(np.intp))


def counted_weight(sample: Sample, n_given: int, sample_weight: npt.ArrayLike | None) -> Floats:
    """How many rows each row that counts stands for: its weight as given, (n_samples,)."""
    return check_weight(sample_weight, n_given)[sample.rows]


def region_means(region: Integers, weight: Floats, values: Floats) -> Floats:
    """Weighted mean of the values in each region."""
    return np.asarray(sums_by(region, weight * values) / sums_by(region, weight))


def _scored_rows(n_rows: int, n_regions: int) -> Integers:
    """Rows for the global scores, so few that the work does not grow with rows times regions."""
    affordable = max(_FEWEST_SCORED, _SCORED_CELLS // max(1, n_regions))
    return evenly_spaced(n_rows, min(_SCORED_ROWS, affordable))


def _global_scores(
    sample: Sample, target: Target, slopes: Floats, constants: Floats, rows: Integers
) -> Floats:
    """Score of each region's equation over some rows wherever they lie, (n_regions,)."""
    X, values, weight = sample.X[rows], target.values[rows], sample.weight[rows]
    weight = weight / weight.sum()
    columns = target.columns(sample.output)
    scores = np.empty(len(slopes))
    for place, (slope, constant) in enumerate(
        zip(slopes[:, :, columns], constants[:, columns], strict=True)
    ):
        scores[place] = weight @ target.losses(values, X @ slope + constant)
    return target.summary(scores)
