"""Which of several variables a linear fit can do without."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers

__all__ = ["eliminate_backward"]

# Removals that are kept apart from the inverse until one product brings them in: a product of
# matrices takes a fraction of the time of as many updates of rank one.
_TOGETHER = 64
# Variables whose losses differ by less than this share are alike: rounding must not choose.
_ALIKE = 1e-6


def eliminate_backward(
    covariance: Floats, cross: Floats, n_kept: int, penalty: float
) -> tuple[Integers, Floats]:
    """Remove the variable that the fit misses least, again and again, the others refitted.

    In units of each variable's deviation, with P the inverse of (correlation + penalty I) of those
    left and ``c = P cross`` their ridge coefficients, the penalised squared error rises by exactly
    ``sum_o c_jo² / P_jj`` where variable j goes and all others are fitted anew. Of two that say
    nearly the same, one goes at hardly any loss and the other takes over its coefficient. Of
    variables that are alike, the later goes first.

    Parameters
    ----------
    covariance : (n, n)
    cross : (n, n_outputs), covariances with what is fitted
    n_kept : how many to keep
    penalty : positive, on coefficients of variables of deviation one

    Returns
    -------
    (n_kept,), the numbers of those kept, rising, and their coefficients (n_kept, n_outputs)
    """
    spread = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    ridge = covariance * scale * scale[:, None]
    ridge.flat[:: len(ridge) + 1] += penalty
    inverse: Floats = np.asarray(linalg.inv(ridge))
    coefficients: Floats = inverse @ (cross * scale[:, None])
    left = np.arange(len(ridge))
    while len(left) > n_kept:
        n_gone = min(_TOGETHER, len(left) - n_kept)
        kept, inverse = _remove(inverse, coefficients, n_gone, 1.0 / (1.0 + penalty))
        left, coefficients = left[kept], coefficients[kept]
    return left, coefficients * scale[left, None]


def _remove(
    inverse: Floats, coefficients: Floats, n_gone: int, least: float
) -> tuple[Bools, Floats]:
    """Remove some variables one by one: who is left, and their inverse.

    The coefficients are changed in place. The inverse without j is ``P - p_j p_j' / P_jj``; only
    its diagonal and the columns asked for are formed on the way. No diagonal of an inverse is below
    that of the matrix inverted, `least`; with more variables than rows, rounding may say so.
    """
    kept = np.ones(len(inverse), dtype=bool)
    removed = np.zeros((n_gone, len(inverse)))
    diagonal = np.diag(inverse).copy()
    for number in range(n_gone):
        sizes = np.where(kept, np.square(coefficients).sum(axis=1), np.inf)
        loss = sizes / np.maximum(diagonal, least)
        index = int(np.flatnonzero(loss <= (1.0 + _ALIKE) * loss.min())[-1])
        column = inverse[index] - removed[:number, index] @ removed[:number]
        column[index] = max(column[index], least)
        column /= np.sqrt(column[index])
        coefficients -= np.outer(column, coefficients[index] / column[index])
        diagonal -= np.square(column)
        diagonal[~kept], diagonal[index], kept[index] = 1.0, 1.0, False
        removed[number] = column
    removed = removed[:, kept]
    return kept, inverse[np.ix_(kept, kept)] - removed.T @ removed
