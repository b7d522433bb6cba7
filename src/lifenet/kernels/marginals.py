"""Exact means of hinges over a sample, at many positions at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["hinge_means"]


def hinge_means(
    offsets: Floats, slope: float, positions: Floats, weight: Floats | None = None
) -> Floats:
    """Average ``max(0, offsets_i + slope t)`` over the sample `i`, for each position `t`.

    With ``a_(1) >= ... >= a_(n)`` the offsets in descending order and ``r(t)`` the number of
    them above ``-slope t``, the mean is::

        ( sum_{i <= r(t)} v_(i) a_(i)  +  slope t sum_{i <= r(t)} v_(i) )  /  sum_i v_i

    with weights `v`. One sort and one running sum serve all g positions: the time is
    O((n + g) log n), the memory O(n + g). The offsets are centred before they are summed, so
    the result is accurate to the rounding of their spread, not of their size. Sums are in
    float64 whatever is given.

    Parameters
    ----------
    offsets : ndarray of shape (n,), n >= 1
    slope : float
        Of either sign, or zero.
    positions : ndarray of shape (g,)
        In any order.
    weight : ndarray of shape (n,), optional
        Not negative, with a positive sum.

    Returns
    -------
    ndarray of float64, shape (g,)
    """
    values = np.asarray(offsets, dtype=np.float64)
    shifts = slope * np.asarray(positions, dtype=np.float64)
    center = values.mean()
    ascending, mass = _sort_with_mass(values - center, weight)
    above = len(values) - np.searchsorted(ascending, -(shifts + center), side="right")
    descending = ascending[::-1]
    if mass is None:
        counted = above.astype(np.float64)
        summed = _running_sum(descending)[above]
        return np.asarray((summed + (shifts + center) * counted) / len(values))
    running_mass = _running_sum(mass[::-1])
    summed = _running_sum(descending * mass[::-1])[above]
    return np.asarray((summed + (shifts + center) * running_mass[above]) / running_mass[-1])


def _sort_with_mass(values: Floats, weight: Floats | None) -> tuple[Floats, Floats | None]:
    """Sort `values` upwards, and their weights with them; alone, they sort much faster."""
    if weight is None:
        return np.sort(values), None
    order = np.argsort(values)
    return values[order], np.asarray(weight, dtype=np.float64)[order]


def _running_sum(terms: Floats) -> Floats:
    """Sums of the first 0, 1, ..., n of the n terms."""
    sums = np.zeros(len(terms) + 1)
    np.cumsum(terms, out=sums[1:])
    return sums
