"""Weighted quantiles for which integer weights are repeated rows, exactly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["weighted_quantiles"]


def weighted_quantiles(values: Floats, weight: Floats | None, levels: Floats) -> Floats:
    """Inverted-CDF quantiles: the smallest value whose share of weight reaches the level.

    Values of weight zero do not count.

    Parameters
    ----------
    values : (n,)
    weight : (n,) non-negative, with a positive sum; None for equal weights
    levels : (k,) in [0, 1]

    Returns
    -------
    (k,), each one of the values
    """
    levels = np.asarray(levels, dtype=np.float64)
    if weight is None or weight.min() == weight.max():
        return _quantiles(values, levels)
    counted = weight > 0
    values, weight = values[counted], weight[counted]
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weight[order])
    # A level that falls on a step of the CDF counts as reached, also where rounding of fractional
    # weights puts it a little above.
    wanted = levels * cumulated[-1] * (1.0 - 1e-12)
    position = np.searchsorted(cumulated, wanted, side="left")
    return np.asarray(values[order][np.minimum(position, len(values) - 1)])


def _quantiles(values: Floats, levels: Floats) -> Floats:
    """Equal weights: selection instead of a sort."""
    reached = np.ceil(levels * len(values) * (1.0 - 1e-12)).astype(np.intp)
    position = np.clip(reached - 1, 0, len(values) - 1)
    return np.asarray(np.partition(values, np.unique(position))[position])
