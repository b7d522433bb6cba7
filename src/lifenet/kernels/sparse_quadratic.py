"""Quadratics with an elastic net penalty, ``l1 |b|_1 + l2 / 2 |b|²``.

Sweeps of coordinate descent, quick to find which coefficients are zero, alternate with Newton steps
on the others, exact however correlated they are. On hinges of the same inputs, which are,
coordinate descent alone slows down as the penalty falls (measured in
benchmarks/results/life-engines.csv).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = [
    "HALVINGS",
    "SUFFICIENT_FALL",
    "common_shift",
    "minimise",
    "minimise_with_free",
    "penalty_value",
    "violations",
]

#: Of a search along a step: the share of the promised fall that is enough, and how often the step
#: is halved before it is given up.
SUFFICIENT_FALL, HALVINGS = 1e-4, 20

_SWEEPS = 5
_MAX_ALTERNATIONS = 200
_NEWTON_IN_A_ROW = 5
# Added to the diagonal, as a share of it: features that depend on others do not stop the factor.
_JITTER = 1e-10
# Eigenvalues of the free part below this share of the largest are those of null directions.
_NULL_EIGENVALUE = 1e-10


def minimise(
    hessian: Floats, gradient: Floats, start: Floats, l1: float, l2: float, tolerance: float
) -> tuple[Floats, Floats]:
    """Minimise a quadratic plus ``l1 |b|_1 + l2 / 2 |b|²``.

    Parameters
    ----------
    hessian : (m, m), positive semidefinite
    gradient : (m,), of the quadratic at `start`
    start : (m,)
    tolerance : violation of the optimality conditions to stop at, as a share of l1

    Returns
    -------
    The minimiser, (m,), and the quadratic's gradient there, (m,).
    """
    b = start
    for _ in range(_MAX_ALTERNATIONS):
        b, gradient = _settle(hessian, gradient, b, l1, l2)
        violation = violations(b, gradient, l1, l2)
        if violation.max() <= tolerance * l1:
            break
        indices = np.flatnonzero((b != 0.0) | (violation > 0.0))
        swept = _sweep(hessian[np.ix_(indices, indices)], gradient[indices], b[indices], l1, l2)
        change = swept - b[indices]
        if not change.any():  # to rounding, no coordinate can do better
            break
        b = b.copy()
        b[indices] = swept
        gradient = gradient + hessian[:, indices] @ change
    return b, gradient


def violations(b: Floats, gradient: Floats, l1: float, l2: float) -> Floats:
    """How far each coefficient is from optimal: the least element of the subdifferential.

    Parameters
    ----------
    b, gradient : coefficients and the smooth part's gradient there, of one shape, also the result's
    """
    slope = gradient + l2 * b
    return np.where(b != 0.0, np.abs(slope + l1 * np.sign(b)), np.maximum(np.abs(slope) - l1, 0.0))


def _settle(
    hessian: Floats, gradient: Floats, b: Floats, l1: float, l2: float
) -> tuple[Floats, Floats]:
    """Newton steps on the non-zero coefficients, as long as they make some of them zero."""
    for _ in range(_NEWTON_IN_A_ROW):
        indices = np.flatnonzero(b)
        if len(indices) == 0:
            break
        old = b[indices]
        new = _newton_in_orthant(hessian[np.ix_(indices, indices)], gradient[indices], old, l1, l2)
        gradient = gradient + hessian[:, indices] @ (new - old)
        b = b.copy()
        b[indices] = new
        if np.all(new != 0.0):
            break
    return b, gradient


def _newton_in_orthant(
    hessian: Floats, gradient: Floats, b: Floats, l1: float, l2: float
) -> Floats:
    """One Newton step without a change of sign: coefficients that would change it become zero."""
    sign = np.sign(b)
    slope = gradient + l2 * b + l1 * sign
    hessian.flat[:: len(b) + 1] += l2
    direction = _direction(hessian, slope)
    if direction is None:
        return b
    for halving in range(HALVINGS):
        new = b + 0.5**halving * direction
        new[new * sign < 0.0] = 0.0
        change = new - b
        promised = float(slope @ change)
        if promised + 0.5 * float(change @ (hessian @ change)) <= SUFFICIENT_FALL * promised:
            return new
    return b


def _direction(hessian: Floats, slope: Floats) -> Floats | None:
    """Newton's direction, or None where the factor fails."""
    damped = hessian.copy()
    damped.flat[:: len(slope) + 1] *= 1.0 + _JITTER
    try:
        factor = linalg.cho_factor(damped, lower=True, overwrite_a=True, check_finite=False)
    except np.linalg.LinAlgError:
        return None  # the sweeps alone go on
    direction = -linalg.cho_solve(factor, slope, check_finite=False)
    return direction if np.isfinite(direction).all() else None


def _sweep(hessian: Floats, gradient: Floats, b: Floats, l1: float, l2: float) -> Floats:
    """Some sweeps of coordinate descent."""
    gradient, values = gradient.copy(), b.tolist()
    curvature = np.diag(hessian).tolist()
    for _ in range(_SWEEPS):
        for j, old in enumerate(values):
            if curvature[j] <= 0.0:
                continue
            pull = curvature[j] * old - float(gradient[j])
            size = max(abs(pull) - l1, 0.0) / (curvature[j] + l2)
            new = size if pull > 0.0 else -size
            if new != old:
                gradient += (new - old) * hessian[j]
                values[j] = new
    return np.array(values)


def minimise_with_free(
    system: tuple[Floats, Floats, Floats],
    gradients: tuple[Floats, Floats],
    start: Floats,
    penalties: tuple[float, float],
    tolerance: float,
) -> tuple[Floats, Floats]:
    """Minimise a quadratic some of whose unknowns, the intercepts, bear no penalty.

    Parameters
    ----------
    system : the quadratic's second derivatives: of the penalised unknowns (m, m), between them and
        the free ones (m, c), and of the free ones (c, c)
    gradients : (m,) and (c,), at `start`
    start : (m,), of the penalised unknowns
    penalties : l1 and l2
    tolerance : violation of the optimality conditions to stop at, as a share of l1

    Returns
    -------
    The steps to the minimiser of the penalised unknowns, (m,), and of the free ones, (c,).
    """
    hessian, cross, own = system
    gradient, free_gradient = gradients
    # All intercepts may move alike without effect: hence the pseudo-inverse.
    inverse = np.linalg.pinv(own, rcond=_NULL_EIGENVALUE, hermitian=True)
    reduced = gradient - cross @ (inverse @ free_gradient)
    end, _ = minimise(hessian - cross @ inverse @ cross.T, reduced, start, *penalties, tolerance)
    change = end - start
    return change, -inverse @ (free_gradient + cross.T @ change)


def penalty_value(coefficients: Floats, l1: float, l2: float) -> float:
    """The penalty of some coefficients, of any shape."""
    return float(l1 * np.abs(coefficients).sum() + 0.5 * l2 * np.square(coefficients).sum())


def common_shift(coefficients: Floats, l1: float, l2: float) -> Floats:
    """What to subtract from all classes' coefficients of a feature for the least penalty, (k,).

    The softmax loss does not change where all classes' coefficients move alike, but steps of one
    class at a time would take for ever to find out.

    Parameters
    ----------
    coefficients : (k, n_classes)

    Notes
    -----
    ``sum_c l1 |b_c - t| + l2 / 2 (b_c - t)²`` is least at the median of the b_c and of
    ``mean(b) + l1 / l2 (1 - 2 i / C)``, i = 0 ... C; without l2, anywhere between the two middle
    b_c, and zero, where it lies there, keeps zeros.
    """
    n_classes = coefficients.shape[1]
    if l2 == 0.0:
        ordered = np.sort(coefficients, axis=1)
        return np.asarray(
            np.clip(0.0, ordered[:, (n_classes - 1) // 2], ordered[:, n_classes // 2])
        )
    pulls = l1 / l2 * (1.0 - 2.0 * np.arange(n_classes + 1) / n_classes)
    means = coefficients.mean(axis=1, keepdims=True)
    return np.asarray(np.median(np.hstack([coefficients, means + pulls]), axis=1))
