"""The ridge penalty that the rows themselves ask for.

The penalty ``ridge / 2 * |theta|²`` on a mean loss over n rows is a normal prior of variance
``s² / (n ridge)`` on the unknowns, with s² the variance of the noise (one for a likelihood without
scale, as that of classes). The evidence is the probability of the targets with the unknowns
integrated out. Where it is largest,

    ridge = gamma s² / (n |theta|²),    gamma = tr G (G + ridge)^-1,

with G the Gauss-Newton curvature and gamma the number of unknowns that the rows determine (MacKay,
"Bayesian interpolation", 1992; Foresee and Hagan, "Gauss-Newton approximation to Bayesian
learning", 1997). The right side is evaluated at the ridge of the last step, which is a fixed-point
iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import lapack

from lifenet.kernels.cholesky import factor_in_place

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["effective_unknowns", "next_ridge"]

# A step changes the ridge by this factor at most, and never leads below the last.
_LARGEST_CHANGE, _LEAST_RIDGE = 10.0, 1e-10


def next_ridge(
    ridge: float, gamma: float, squared_norm: float, variance: float, n_rows: float
) -> float:
    """One step of the fixed-point iteration.

    Parameters
    ----------
    gamma : unknowns that the rows determine at this ridge
    squared_norm : of the penalised unknowns
    variance : of the noise
    """
    asked = gamma * variance / (n_rows * max(squared_norm, np.finfo(np.float64).tiny))
    low, high = ridge / _LARGEST_CHANGE, ridge * _LARGEST_CHANGE
    return float(max(np.clip(asked, low, high), _LEAST_RIDGE))


def effective_unknowns(gram: Floats, ridge: float) -> float:
    """``tr G (G + ridge)^-1``, the number of unknowns that a penalised fit determines."""
    system = np.array(gram, dtype=np.float64)
    # What is rounding in the matrix must not count as determined.
    lifted = ridge + 1e-14 * float(np.trace(system))
    system.flat[:: len(system) + 1] += lifted
    if not factor_in_place(system):
        values = np.clip(np.linalg.eigvalsh(gram), 0.0, None)
        return float((values / (values + lifted)).sum())
    # With L L' the system, the trace of its inverse is the sum of squares of the inverse of L.
    inverse, _ = lapack.dtrtri(system.T, lower=0)
    squares = np.square(np.triu(inverse)).sum()
    return float(len(system) - lifted * squares)
