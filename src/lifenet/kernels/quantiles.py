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
    position = np.searchsorted(cumulated, levels * cumulated[-1], side="left")
    return np.asarray(values[order][np.minimum(position, len(values) - 1)])


def _quantiles(values: Floats, levels: Floats) -> Floats:
    """Equal weights: selection instead of a sort."""
    position = np.clip(np.ceil(levels * len(values)).astype(np.intp) - 1, 0, len(values) - 1)
    return np.asarray(np.partition(values, np.unique(position))[position])
