"""Curves through many responses at once: penalised cubic splines, or means of levels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.linalg import eigh

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["MOST_LEVELS", "LevelBasis", "Smooth", "SplineBasis", "choose_basis", "smooth"]

#: A column of at most this many values has a mean for each; with more, a spline.
MOST_LEVELS = 12
#: Knots closer than this part of the column's range count as one.
_CLOSEST = 1e-7
#: Penalties tried, and how far they reach beyond the eigenvalues of the problem.
_N_PENALTIES, _REACH = 80, 1e4
#: Most degrees of freedom beyond a line, as a share of the rows beyond two: with fewer rows than
#: that left over, cross-validation cannot tell a curve from the noise.
_MOST_FREEDOM = 0.6
_CUBIC = 3


@dataclass(frozen=True, eq=False)
class SplineBasis:
    """Cubic B-splines on knots: d functions that add up to one.

    Attributes
    ----------
    knots : ndarray of shape (k,), ascending, from the smallest to the largest value; d = k + 2
    """

    knots: Floats

    @cached_property
    def _padded(self) -> Floats:
        """The knots on [0, 1], those at the ends four times."""
        scaled = self._scale(self.knots)
        return np.concatenate([np.zeros(_CUBIC), scaled, np.ones(_CUBIC)])

    def _scale(self, x: Floats) -> Floats:
        low, high = self.knots[0], self.knots[-1]
        return np.asarray((np.asarray(x, dtype=np.float64) - low) / (high - low))

    def design(self, x: Floats) -> Any:
        """Value of each function at each place between the outer knots, sparse (n, d)."""
        inside = np.clip(self._scale(x), 0.0, 1.0)
        return BSpline.design_matrix(inside, self._padded, _CUBIC)

    @cached_property
    def penalty(self) -> Floats:
        """Integrals of products of second derivatives, (d, d), over [0, 1].

        Second derivatives are linear between knots, so two Gauss points in each gap are exact.
        """
        edges = self._padded[_CUBIC:-_CUBIC]
        gaps, middles = np.diff(edges), (edges[1:] + edges[:-1]) / 2
        reach = gaps / np.sqrt(12.0)
        indices = np.concatenate([middles - reach, middles + reach])
        identity = np.eye(len(self._padded) - _CUBIC - 1)
        bends = BSpline(self._padded, identity, _CUBIC).derivative(2)(indices)
        return np.asarray((bends * np.tile(gaps / 2, 2)[:, None]).T @ bends)

    def evaluate(self, x: Floats, coefficients: Floats) -> Floats:
        """Sums of the functions at any place, (n, q); straight lines beyond the outer knots."""
        index = self._scale(x)
        inside = np.clip(index, 0.0, 1.0)
        curve = BSpline(self._padded, coefficients, _CUBIC)
        beyond = (index - inside)[:, None]
        return np.asarray(curve(inside) + beyond * curve.derivative()(inside))


@dataclass(frozen=True, eq=False)
class LevelBasis:
    """Indicators of the distinct values of a column.

    Attributes
    ----------
    values : ndarray of shape (d,), ascending
    """

    values: Floats

    def _nearest(self, x: Floats) -> Any:
        """Position of the nearest of the values; of the lower one in the middle of two."""
        middles = (self.values[1:] + self.values[:-1]) / 2
        return np.searchsorted(middles, x)

    def design(self, x: Floats) -> Any:
        """One in the column of each row's value, sparse (n, d)."""
        n, d = len(x), len(self.values)
        return sparse.csr_array((np.ones(n), self._nearest(x), np.arange(n + 1)), shape=(n, d))

    def evaluate(self, x: Floats, coefficients: Floats) -> Floats:
        """The mean of the value nearest to each place, (n, q)."""
        return np.asarray(coefficients[self._nearest(x)])


@dataclass(frozen=True, eq=False)
class Smooth:
    """Curves of q responses over one column.

    Attributes
    ----------
    basis : the functions that the curves are sums of
    gram : ndarray of shape (d, d), weighted mean over the rows of products of the functions
    center : ndarray of shape (q,), weighted mean of each response, and of its curve
    coefficients : ndarray of shape (d, q), of the curves less their means
    edf : ndarray of shape (q,), effective degrees of freedom; 2 for a line
    """

    basis: SplineBasis | LevelBasis
    gram: Floats
    center: Floats
    coefficients: Floats
    edf: Floats

    def __call__(self, x: Floats) -> Floats:
        """The curves at any place, (n, q)."""
        return self.basis.evaluate(x, self.coefficients + self.center)

    @property
    def covariance(self) -> Floats:
        """Weighted covariance of the curves over the rows that they were fitted on, (q, q)."""
        return np.asarray(self.coefficients.T @ self.gram @ self.coefficients)

    @property
    def deviation(self) -> Floats:
        """Weighted standard deviation of each curve over those rows, (q,)."""
        squares = np.einsum("iq,ij,jq->q", self.coefficients, self.gram, self.coefficients)
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


def choose_basis(
    x: Floats, *, max_knots: int = 24, max_levels: int = MOST_LEVELS, categorical: bool = False
) -> SplineBasis | LevelBasis:
    """Indicators where the column is a category or has few values, else splines.

    The inner knots are evenly spaced among the distinct values, so they depend on neither the
    order nor the weight of the rows, and leave out the outer two at each end: with that the
    functions are linearly independent on the values (the condition "not a knot").

    Parameters
    ----------
    x : ndarray of shape (n,)
    max_knots : most inner knots
    max_levels : most distinct values for which each gets a mean of its own
    categorical : whether it is a category, whatever the number of its values
    """
    values = np.unique(np.asarray(x, dtype=np.float64))
    if categorical or len(values) <= max(max_levels, 4):
        return LevelBasis(values)
    n_inner = min(max_knots, len(values) - 4)
    index = np.linspace(1, len(values) - 2, n_inner + 2)[1:-1]
    inner = values[np.unique(np.rint(index).astype(np.intp))]
    return SplineBasis(_apart(np.concatenate([values[:1], inner, values[-1:]])))


def _apart(knots: Floats) -> Floats:
    """Ascending knots without those that nearly touch the one before; the last one stays."""
    least = _CLOSEST * (knots[-1] - knots[0])
    kept = [knots[0]]
    for knot in knots[1:-1]:
        if knot - kept[-1] > least and knots[-1] - knot > least:
            kept.append(knot)
    return np.array([*kept, knots[-1]])


def smooth(
    x: Floats,
    responses: Floats,
    weight: Floats | None = None,
    *,
    max_knots: int = 24,
    max_levels: int = MOST_LEVELS,
    categorical: bool = False,
) -> Smooth:
    """Fit a curve over `x` to each response.

    With N the sum of the weights and B the basis, the curve minimises::

        (1/N) sum_i w_i (y_i - B_i'c)^2 + penalty * integral of the squared second derivative

    with the penalty for which generalised cross-validation ``RSS / (1 - edf/N)^2`` is least,
    each response its own. Integer weights equal repeated rows. Few values, or a category, have
    their means instead. All responses share one basis and one eigendecomposition: the cost is
    O(n) for each.

    Parameters
    ----------
    x : ndarray of shape (n,)
    responses : ndarray of shape (n, q)
    weight : ndarray of shape (n,), positive, as counts of rows; None for ones
    max_knots, max_levels, categorical : see `choose_basis`
    """
    counts = np.ones(len(x)) if weight is None else np.asarray(weight, dtype=np.float64)
    total = float(counts.sum())
    share = (counts / total)[:, None]
    basis = choose_basis(x, max_knots=max_knots, max_levels=max_levels, categorical=categorical)
    design = basis.design(x)
    center = share[:, 0] @ responses
    rest = responses - center
    weighted = rest * share
    gram = (design.T @ design.multiply(share)).toarray()
    moments = np.asarray(design.T @ weighted)
    if isinstance(basis, LevelBasis):
        means = moments / np.diag(gram)[:, None]
        return Smooth(basis, gram, center, means, np.full(len(center), 1.0 * len(gram)))
    squares = np.einsum("iq,iq->q", rest, weighted)
    return Smooth(basis, gram, center, *_penalised(gram, basis.penalty, moments, squares, total))


def _penalised(
    gram: Floats, penalty: Floats, moments: Floats, squares: Floats, total: float
) -> tuple[Floats, Floats]:
    """Coefficients (d, q) and degrees of freedom (q,) at the penalty of least GCV."""
    basis, size, cost = _diagonalise(gram, penalty)
    turned = basis.T @ moments
    lambdas = _grid(size, cost)
    damped = size + lambdas[:, None] * cost  # (g, d)
    edf = (size / damped).sum(axis=1)
    # RSS = y'Wy - 2 c'z + c'Gc, with c = z / damped and G diagonal; (g, q)
    loss = squares - (2 / damped - size / damped**2) @ turned**2
    loss = np.maximum(loss, np.finfo(np.float64).eps * squares)
    score = loss / np.square(1 - np.minimum(edf / total, 0.99))[:, None]
    allowed = edf <= 2 + np.maximum(_MOST_FREEDOM * (total - 2), 0.1)
    best = np.where(allowed[:, None], score, np.inf).argmin(axis=0)
    return np.asarray(basis @ (turned / damped[best].T)), edf[best]


def _diagonalise(gram: Floats, penalty: Floats) -> tuple[Floats, Floats, Floats]:
    """A basis (d, d) in which both matrices are diagonal, and their diagonals (d,).

    The eigenvectors of the Gram matrix relative to the sum of both, which is definite also where
    the Gram matrix is nearly singular. Lines, the last two, cost nothing.
    """
    scale = np.trace(gram) / np.trace(penalty)
    values, vectors = eigh(gram, gram + scale * penalty)
    size = np.clip(values, 1e-15, 1.0)
    cost = np.maximum(1.0 - size, 1e-15)
    size[-2:], cost[-2:] = 1.0, 0.0
    return vectors, size, cost


def _grid(size: Floats, cost: Floats) -> Floats:
    """Penalties from one that leaves every direction free to one that leaves only lines."""
    ratio = size[:-2] / cost[:-2]
    return np.geomspace(ratio.min() / _REACH, ratio.max() * _REACH, _N_PENALTIES)
