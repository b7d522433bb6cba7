"""A quadratic's minimum over the simplex, by an active set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.lstsq import solve_positive

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats

__all__ = ["minimise_on_simplex"]

# Slopes that differ by less than this share of the terms they are summed from do not differ.
_ROUNDING = 1e-14


def minimise_on_simplex(matrix: Floats, linear: Floats, start: Floats) -> Floats:
    """The z >= 0 with sum one that minimises ``z' matrix z / 2 + linear' z``.

    Coordinates enter the support one at a time, where the slope is least, and leave it where the
    minimum over the support would make them negative. The value falls with every change of the
    support, so no support comes twice and the end is exact: zeros are zeros.

    Parameters
    ----------
    matrix : (m, m), symmetric and positive definite
    linear : (m,)
    start : (m,), on the simplex

    Returns
    -------
    (m,) ndarray
    """
    point = start.copy()
    support = point > 0
    entered = -1
    for _ in range(20 * len(start) + 20):
        wanted = _minimise_on_support(matrix, linear, support)
        if (wanted[support] > 0).all():
            point = wanted
            entered = _steepest(matrix, linear, point, support)
            if entered < 0:
                break
            support[entered] = True
            continue
        falling = np.flatnonzero(support & (wanted <= 0))
        reach = point[falling] / (point[falling] - wanted[falling])
        reach[point[falling] == 0] = 0.0
        point = point + reach.min() * (wanted - point)
        leaving = falling[reach == reach.min()]
        point[leaving] = 0.0
        support[leaving] = False
        if reach.min() == 0 and leaving.tolist() == [entered]:
            break  # it came in by rounding alone
    point = np.maximum(point, 0.0)
    return np.asarray(point / point.sum())


def _minimise_on_support(matrix: Floats, linear: Floats, support: Bools) -> Floats:
    """The minimum with sum one among points that are zero off the support, signs left free."""
    places = np.flatnonzero(support)
    right = np.column_stack([-linear[places], np.ones(len(places))])
    free, ones = solve_positive(matrix[np.ix_(places, places)], right).T
    found = np.zeros(len(linear))
    found[places] = free + (1.0 - free.sum()) / ones.sum() * ones
    return found


def _steepest(matrix: Floats, linear: Floats, point: Floats, support: Bools) -> int:
    """The coordinate off the support through which the value falls most steeply, or -1."""
    slope = matrix @ point + linear
    noise = _ROUNDING * float((np.abs(matrix) @ point + np.abs(linear)).max())
    slope = np.where(support, np.inf, slope - point @ slope)
    best = int(np.argmin(slope))
    return best if slope[best] < -noise else -1
