"""Linear solves that never return garbage."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

from lifenet.kernels.cholesky import factor_in_place, solve_factored

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats

__all__ = [
    "conjugate_gradients",
    "inverse_of",
    "solve_minimum_norm",
    "solve_positive",
    "solve_ridge",
    "triangle",
]

# Directions whose eigenvalue, after scaling to a unit diagonal, is below this share of the largest
# cannot be told from rounding in a Gram matrix accumulated in float64.
_NULL_EIGENVALUE = 1e-13
# A pivot of Cholesky's factor gathers the rounding of all before it: below this, after scaling, it
# may be nothing else.
_NULL_PIVOT = 1e-11
# The same for singular values of a design. LAPACK's own cut, one rounding, lets exact null
# directions pass for real ones now and then.
_NULL_SINGULAR = 1e-13
# The same as the pivot's for a factor in single precision, how far its solution is refined, and in
# how many steps at most.
_NULL_PIVOT_SINGLE, _REFINED, _REFINEMENTS = 1e-5, 1e-8, 8


def solve_positive(
    matrix: Floats, right: Floats, diagonal: Floats | float = 0.0, *, minimum_norm: bool = True
) -> Floats:
    """Solve ``(matrix + diag(diagonal)) x = right`` for a positive semidefinite matrix.

    The system is scaled to a unit diagonal and factored by Cholesky. Where that fails, meets a
    pivot that is only rounding, or leaves a residual that no sound factor would leave, the
    minimum-norm solution of the scaled system over its numerically non-zero eigenvectors is
    returned instead. Zero rows get zero.

    Eigenvectors take a hundred times as long as a factor. Where any direction in which the
    quadratic falls will do, `minimum_norm=False` lifts what is rounding above it instead.

    Parameters
    ----------
    matrix : (m, m), symmetric; only read
    right : (m,) or (m, k)
    diagonal : (m,) or scalar, non-negative

    Raises
    ------
    numpy.linalg.LinAlgError
        Where the matrix or the right side is not finite.
    """
    system = np.array(matrix, dtype=np.float64)
    system.flat[:: len(system) + 1] += diagonal
    if not (np.isfinite(system).all() and np.isfinite(right).all()):
        raise np.linalg.LinAlgError("the linear system holds values that are not finite")
    scale = _unit_diagonal(system)
    system *= scale
    system *= scale[:, None]
    scaled_right = (right.T * scale).T
    solution = _cholesky_solve(system, scaled_right)
    if solution is None and not minimum_norm:
        return inverse_of(matrix, diagonal)(right)
    if solution is None:
        solution = _eigen_solve(system, scaled_right)
    return np.asarray((solution.T * scale).T)


def solve_ridge(matrix: Floats, right: Floats, diagonal: Floats) -> Floats:
    """Solve ``(matrix + diag(diagonal)) x = right`` in half the time of `solve_positive`.

    The factor is in single precision, and the solution is refined with residuals in double
    precision until they are 1e-8 of the right side, where the system allows for it. Where it does
    not, the system is solved by `solve_positive`.

    Parameters
    ----------
    matrix : (m, m), symmetric and positive semidefinite; only read
    right : (m, k)
    diagonal : (m,), positive
    """
    total = matrix.diagonal() + diagonal
    if not (np.isfinite(total).all() and (total > 0).all()):
        return solve_positive(matrix, right, diagonal)
    scale = 1.0 / np.sqrt(total)
    system = (matrix * scale * scale[:, None]).astype(np.float32, order="C")
    system.flat[:: len(system) + 1] = 1.0
    if not factor_in_place(system) or np.square(system.diagonal()).min() <= _NULL_PIVOT_SINGLE:
        return solve_positive(matrix, right, diagonal)

    def precondition(residual: Floats) -> Floats:
        scaled = (residual * scale[:, None]).astype(np.float32)
        return np.asarray(solve_factored(system, scaled) * scale[:, None])

    solution, size = precondition(right), float(np.linalg.norm(right * scale[:, None]))
    for _ in range(_REFINEMENTS):
        residual = right - (matrix @ solution + diagonal[:, None] * solution)
        if np.linalg.norm(residual * scale[:, None]) <= _REFINED * size:
            return solution
        solution += precondition(residual)
    return solve_positive(matrix, right, diagonal)


def inverse_of(matrix: Floats, diagonal: Floats | float = 0.0) -> Callable[[Floats], Floats]:
    """The inverse of ``matrix + diag(diagonal)`` for conjugate gradients, as a function.

    Positive definite whatever the matrix: what of the system, scaled to a unit diagonal, is only
    rounding is lifted above it.
    """
    system = np.array(matrix, dtype=np.float64)
    system.flat[:: len(system) + 1] += diagonal
    scale = _unit_diagonal(system)
    scale[scale == 0.0] = 1.0
    system *= scale
    system *= scale[:, None]
    system.flat[:: len(system) + 1] += _NULL_PIVOT * len(system)
    if not factor_in_place(system):
        return lambda right: right * np.square(scale)

    def solve(right: Floats) -> Floats:
        return np.asarray(solve_factored(system, right * scale) * scale)

    return solve


def _unit_diagonal(system: Floats) -> Floats:
    """Factors that bring the diagonal to one; zero for a row whose diagonal is not positive."""
    diagonal = system.diagonal()
    scale = np.zeros(len(system))
    positive = diagonal > np.finfo(np.float64).tiny
    scale[positive] = 1.0 / np.sqrt(diagonal[positive])
    return scale


def _cholesky_solve(system: Floats, right: Floats) -> Floats | None:
    factor = np.array(system)
    # A pivot that is only rounding passes for positive half of the time.
    if not factor_in_place(factor) or np.square(factor.diagonal()).min() <= _NULL_PIVOT:
        return None
    solution = solve_factored(factor, right)
    residual = np.linalg.norm(system @ solution - right)
    scale = np.linalg.norm(solution) + np.linalg.norm(right)
    # Cholesky is backward stable: a larger residual means that it broke down on the way.
    return solution if residual <= 1e-8 * scale else None


def _eigen_solve(system: Floats, right: Floats) -> Floats:
    values, vectors = linalg.eigh(system, check_finite=False)
    kept = values > _NULL_EIGENVALUE * len(values) * max(values[-1], 0.0)
    projected = vectors[:, kept].T @ right
    return np.asarray(vectors[:, kept] @ (projected.T / values[kept]).T)


def triangle(rows: Floats) -> Floats:
    """R factor of a block of rows ``[design, response]``: at most as many rows as columns.

    Factors of two blocks, stacked and factored again, give that of both (tall-skinny QR), so least
    squares over all rows needs memory for one block, and loses no accuracy to a Gram matrix.
    """
    factor = linalg.qr(rows, mode="r", check_finite=False)[0]
    return np.asarray(factor[: rows.shape[1]])


def solve_minimum_norm(factor: Floats) -> Floats:
    """Minimum-norm least squares from the R factor of ``[design, response]``."""
    solution = linalg.lstsq(factor[:, :-1], factor[:, -1], cond=_NULL_SINGULAR, check_finite=False)
    return np.asarray(solution[0])


def conjugate_gradients(
    product: Callable[[Floats], Floats],
    right: Floats,
    precondition: Callable[[Floats], Floats],
    *,
    tolerance: float,
    max_iter: int,
) -> tuple[Floats, int]:
    """Solve ``A x = right`` for a positive definite ``A`` known by its products, from zero.

    Stops when the preconditioned residual has fallen to `tolerance` times its start, or after
    `max_iter` products. Every iterate lowers the quadratic ``x'Ax/2 - x'right``, so an early stop
    still gives a descent direction.

    Parameters
    ----------
    product : maps (m,) to (m,)
    precondition : maps (m,) to (m,), an approximate inverse of A, positive definite

    Returns
    -------
    The solution (m,) and the number of products taken.
    """
    solution = np.zeros_like(right)
    residual = right.copy()
    conditioned = precondition(residual)
    direction = conditioned.copy()
    energy = float(residual @ conditioned)
    target = tolerance**2 * energy
    for iteration in range(max_iter):
        if energy <= target:
            return solution, iteration
        image = product(direction)
        curvature = float(direction @ image)
        if curvature <= 0.0:  # rounding: what is left lies in the null space
            return solution, iteration
        length = energy / curvature
        solution += length * direction
        residual -= length * image
        conditioned = precondition(residual)
        energy, previous = float(residual @ conditioned), energy
        direction *= energy / previous
        direction += conditioned
    return solution, max_iter
