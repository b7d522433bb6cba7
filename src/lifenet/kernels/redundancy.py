"""Which of several variables the others already tell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["keep_least_redundant"]

# Added to the correlation matrix, so that exact duplicates have an R² just below one.
_JITTER = 1e-10
# Variables whose 1 / (1 - R²) differ by less than this share are alike: rounding must not choose.
_ALIKE = 1e-4
# A downdated inverse gathers rounding; it is formed anew after this many removals.
_REFRESH = 50


def keep_least_redundant(covariance: Floats, n_kept: int) -> Integers:
    """Remove the variable with the highest R² on all others, again and again, until few are left.

    R²_j = 1 - 1 / (S_jj P_jj) for the covariance S of those left and its inverse P. After a removal
    P is downdated, ``P - p_j p_j' / P_jj``, not formed anew: all removals together cost as much as
    a few inversions. Of variables that are alike, the later goes first.

    Parameters
    ----------
    covariance : (n, n)
    n_kept : how many to keep

    Returns
    -------
    (n_kept,), their numbers, rising
    """
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    correlation = covariance * scale * scale[:, None]
    correlation.flat[:: len(correlation) + 1] = 1.0
    left = np.arange(len(correlation))
    inverse = _inverse(correlation)
    for removal in range(len(correlation) - n_kept):
        told = np.diag(inverse)
        worst = int(np.flatnonzero(told >= (1.0 - _ALIKE) * told.max())[-1])
        left = np.delete(left, worst)
        if removal % _REFRESH == _REFRESH - 1:
            inverse = _inverse(correlation[np.ix_(left, left)])
        else:
            inverse = _without(inverse, worst)
    return left


def _inverse(correlation: Floats) -> Floats:
    return np.asarray(linalg.inv(correlation + _JITTER * np.eye(len(correlation))))


def _without(inverse: Floats, index: int) -> Floats:
    """The inverse of a matrix that has lost a row and column, from the inverse of the whole."""
    downdated = inverse - np.outer(inverse[:, index], inverse[index]) / inverse[index, index]
    return np.delete(np.delete(downdated, index, axis=0), index, axis=1)
