"""First and second moments of features and a response: all that a quadratic loss needs of the rows.

They are sums over rows, so those of two sets of rows add up to those of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats, Integers
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.neurons.features import Features

__all__ = ["Moments", "gather_moments", "quadratic_model"]

_SMALLEST_CURVATURE = 1e-10
# Rows above which products of features held in single precision are summed in it: no repetition is
# checked to rounding there.
_SINGLE_ROWS = 20_000
# Share of a feature's second moment below which its variance is rounding of single precision.
_CONSTANT = 1e-12


@dataclass(frozen=True)
class Moments:
    """Weighted sums of products of (features, 1, responses).

    Attributes
    ----------
    products : (m + 1 + k, m + 1 + k), for m features and k responses
    n_features : m
    total : the rows' weights, the N of averages; not the sum of curvature-weighted weights
    """

    products: Floats
    n_features: int
    total: float

    def __add__(self, other: Moments) -> Moments:
        return replace(
            self, products=self.products + other.products, total=self.total + other.total
        )

    def __sub__(self, other: Moments) -> Moments:
        return replace(
            self, products=self.products - other.products, total=self.total - other.total
        )

    def of(self, index: Integers) -> Moments:
        """Those of some of the features."""
        kept = np.append(index, np.arange(self.n_features, len(self.products)))
        return Moments(self.products[np.ix_(kept, kept)], len(index), self.total)

    def second(self, index: Integers) -> Floats:
        """Mean products of some of the features and one, (m + 1, m + 1)."""
        kept = np.append(index, self.n_features)
        return np.asarray(self.products[np.ix_(kept, kept)] / self.total)

    @property
    def means(self) -> Floats:
        """Means of the features and then of the responses, (m + k,)."""
        sums = self.products[self.n_features]
        return np.asarray(np.delete(sums, self.n_features) / sums[self.n_features])

    @cached_property
    def centred(self) -> tuple[Floats, Floats, float]:
        """Covariances of the features (m, m) and with the responses (m, k), and their variance."""
        m, means = self.n_features, self.means
        mass = self.products[m, m]
        kept = np.delete(np.delete(self.products, m, axis=0), m, axis=1)
        covariance = (kept - mass * np.outer(means, means)) / self.total
        return covariance[:m, :m], covariance[:m, m:], max(float(np.trace(covariance[m:, m:])), 0.0)

    def deviations(self) -> Floats:
        """Standard deviation of each feature; one where it is constant on the rows, (m,)."""
        m = self.n_features
        second = self.products.diagonal()[:m] / self.total
        variance = second - np.square(self.means[:m])
        varies = variance > _CONSTANT * second
        return np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), 1.0)

    def with_intercept(self, coefficients: Floats) -> Floats:
        """Coefficients (m, k) of the features with the intercepts that go with them, last."""
        means = self.means
        intercept = means[self.n_features :] - means[: self.n_features] @ coefficients
        return np.vstack([coefficients, intercept])


def gather_moments(problem: Problem, features: Features, scale: Floats) -> Moments:
    """Moments of scaled features and the target: one response, or one for each class."""
    loss = problem.loss

    def plain(block: Block, columns: Floats) -> tuple[Floats, Floats]:
        return block.weight, loss.responses(block.target).T

    return _gather(problem, features, scale, loss.n_outputs, plain)


def quadratic_model(
    problem: Problem, features: Features, scale: Floats, coefficients: Floats
) -> Moments:
    """Moments of the weighted least-squares problem that a loss looks like near a fit.

    Parameters
    ----------
    coefficients : (m + 1, 1), of the scaled features, the intercept last
    """
    loss = problem.loss

    def working(block: Block, columns: Floats) -> tuple[Floats, Floats]:
        score = coefficients[:-1, 0] @ columns + coefficients[-1, 0]
        scores = score[:, None]
        curvature = np.maximum(loss.curvature(block.target, scores)[:, 0], _SMALLEST_CURVATURE)
        response = score - loss.gradient(block.target, scores)[:, 0] / curvature
        return block.weight * curvature, response[None]

    return _gather(problem, features, scale, 1, working)


def _gather(
    problem: Problem,
    features: Features,
    scale: Floats,
    n_responses: int,
    working: Callable[[Block, Floats], tuple[Floats, Floats]],
) -> Moments:
    m = features.n_features
    single = problem.rows.n_rows > _SINGLE_ROWS

    def sums(block: Block) -> tuple[Floats]:
        columns = features.of(block)
        kind = columns.dtype if single else np.float64
        rows = np.ones((m + 1 + n_responses, len(block.target)), dtype=kind)
        np.divide(columns, scale[:, None], out=rows[:m], casting="same_kind")
        weight, rows[m + 1 :] = working(block, rows[:m])
        rows *= np.sqrt(weight)
        # numpy sees the symmetry and does half the work
        return ((rows @ rows.T).astype(np.float64, copy=False),)

    (products,) = problem.rows.sum(sums, max(256, budgets.GRAM_BLOCK // (m + 1 + n_responses)))
    return Moments(products, m, problem.rows.total_weight)
