"""Clusters of local equations: the space they lie in, centres in it, and an equation for each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from sklearn.cluster import KMeans

from lifenet._threads import one_openmp_thread
from lifenet.explain._glm import fit_equation
from lifenet.explain._sample import sums_by
from lifenet.explain.regions import equations_of, evenly_spaced, group_rows

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.explain._glm import Equation, Target
    from lifenet.explain._sample import Sample

__all__ = ["Centers", "Fit", "LocalEquations", "by_size", "fit_clusters"]

#: Equations that centres are sought among; the others only join the nearest.
_CLUSTERED = 20_000
#: Equations closer than this share of their spread are one.
_ROUNDING = 1e-6
_STARTS = 4


@dataclass(frozen=True, eq=False)
class Centers:
    """Places of merged regions in the space of local equations.

    An equation ``c + sum_j a_j x_j`` has as coordinates its slopes per standard deviation,
    ``a_j spread_j``, and its value at the middle of the data, ``c + sum_j a_j middle_j``. The
    squared distance of two equations is then the mean squared difference of what they predict, were
    the columns uncorrelated.

    Attributes
    ----------
    middle, spread : ndarray of shape (n_columns,)
    points : ndarray of shape (n_regions, n_columns + 1)
    """

    middle: Floats
    spread: Floats
    points: Floats

    def coordinates(self, slopes: Floats, constants: Floats) -> Floats:
        """Equations as points, (n, n_columns + 1)."""
        return np.column_stack([slopes * self.spread, constants + slopes @ self.middle])

    def nearest(self, points: Floats) -> Integers:
        """Number of the centre nearest to each point, (n,)."""
        # The squared length of the point itself is the same for all centres. Taken from their
        # middle, large levels that all share do not swallow the differences.
        middle = self.points.mean(axis=0)
        centers = self.points - middle
        gap = np.sum(np.square(centers), axis=1) - 2.0 * (points - middle) @ centers.T
        return np.asarray(gap.argmin(axis=1))


@dataclass(frozen=True, eq=False)
class LocalEquations:
    """The equations of all activation regions as points, and the distinct ones among them.

    Attributes
    ----------
    space : Centers without any centre
    points : (n_total, n_columns + 1), one a region
    inverse : (n_samples,), the region of each row
    distinct, mass : (n_distinct, n_columns + 1) and (n_distinct,), points and their weight
    """

    space: Centers
    points: Floats
    inverse: Integers
    distinct: Floats
    mass: Floats

    @classmethod
    def of(cls, sample: Sample) -> LocalEquations:
        first, inverse = group_rows(sample)
        n_coordinates = sample.X.shape[1] + 1
        space = Centers(sample.center, sample.spread, np.empty((0, n_coordinates)))
        equations = equations_of(sample.network, sample.X[first], sample.output)
        points = space.coordinates(*equations)
        some = evenly_spaced(len(points), _CLUSTERED)
        mass = sums_by(inverse, sample.weight)
        return cls(space, points, inverse, *_distinct(points[some], mass[some]))

    @property
    def n_distinct(self) -> int:
        return len(self.distinct)

    def cluster(self, n_regions: int, random_state: int) -> Centers:
        """Centres of so many clusters of equations."""
        means = KMeans(n_regions, n_init=_STARTS, random_state=random_state)
        # On so few points more threads lose time to each other, and sums depend on their number.
        with one_openmp_thread():
            means.fit(self.distinct, sample_weight=self.mass)
        return replace(self.space, points=means.cluster_centers_)


def _distinct(points: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Points without repetition up to rounding, in an order of their own, and their weights."""
    middle = mass @ points / mass.sum()
    unit = _ROUNDING * np.abs(points - middle).max()
    if unit <= np.finfo(np.float64).eps * np.abs(points).max():
        return points[:1], np.array([mass.sum()])
    steps, inverse = np.unique(np.round((points - middle) / unit), axis=0, return_inverse=True)
    return middle + unit * steps, sums_by(inverse.ravel(), mass)


def by_size(centers: Centers, region: Integers, weight: Floats) -> tuple[Centers, Integers]:
    """Centres that have rows, the heaviest first, and the regions under their new numbers."""
    mass = sums_by(region, weight, len(centers.points))
    order = np.argsort(-mass, kind="stable")[: np.count_nonzero(mass)]
    number = np.zeros(len(mass), dtype=np.intp)
    number[order] = np.arange(len(order))
    return replace(centers, points=centers.points[order]), number[region]


@dataclass(frozen=True, eq=False)
class Fit:
    """One number of merged regions: where they are, their equations, and how well they do."""

    centers: Centers
    region: Integers
    equations: tuple[Equation, ...]
    score: Floats
    fidelity: float


def fit_clusters(
    sample: Sample,
    target: Target,
    weight: Floats,
    centers: Centers,
    region: Integers,
    truth: Floats,
) -> Fit:
    """Fit an equation to the target in each merged region; `truth` is the network's score."""
    score, equations = np.empty(len(region)), []
    for number in range(len(centers.points)):
        rows = np.flatnonzero(region == number)
        table = sample.X[rows]
        equation = fit_equation(table, target.values[rows], weight[rows], target.loss)
        score[rows] = equation.coefficients[0] + table @ equation.coefficients[1:]
        equations.append(equation)
    return Fit(centers, region, tuple(equations), score, _r_squared(sample, truth, score))


def _r_squared(sample: Sample, truth: Floats, score: Floats) -> float:
    """Share of the variance of the truth that a score explains; of a constant one, all or none."""
    missed = float(sample.mean(np.square(score - truth)))
    total = float(sample.deviation(truth)) ** 2
    rounding = float(1e-24 * np.square(truth).max())
    if total <= rounding:
        return 1.0 if missed <= rounding else 0.0
    return 1.0 - missed / total
