"""Which features a ridge read-out should favour, and by how much, as rows apart judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.lstsq import solve_positive
from lifenet.readouts.moments import gather_moments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.readouts.design import HeldOut
    from lifenet.readouts.moments import Moments
    from lifenet.solvers.features import Features

__all__ = ["choose_scale"]

# Penalties tried, in units of the mean variance of the scaled features.
_PENALTIES = np.geomspace(1e-5, 10.0, 13)


def choose_scale(
    held_out: HeldOut, features: Features, scales: Sequence[Floats]
) -> tuple[int, Floats]:
    """The scale under which the best ridge fit has the least squared error on rows apart.

    Both sets of rows are passed once: fits and errors follow from their moments. Classes are
    fitted as indicators.

    Parameters
    ----------
    scales : each (n_features,), what a penalty measures coefficients in

    Returns
    -------
    place : of the scale among those given
    coefficients : (n_features + 1, n_outputs), of its best fit, the intercepts last
    """
    ones = np.ones(features.n_features)
    learn = gather_moments(held_out.learn, features, ones)
    judge = gather_moments(held_out.judge, features, ones)
    fits = [(place, fit) for place, scale in enumerate(scales) for fit in _path(learn, scale)]
    errors = [squared_error(judge, fit) for _, fit in fits]
    return fits[int(np.argmin(errors))]


def _path(learn: Moments, scale: Floats) -> list[Floats]:
    """Ridge fits of falling smoothness."""
    covariance, cross, _ = learn.centred()
    covariance, cross = covariance / np.outer(scale, scale), cross / scale[:, None]
    unit = float(np.trace(covariance)) / len(scale) or 1.0
    return [
        learn.with_intercept(solve_positive(covariance, cross, unit * one) / scale[:, None])
        for one in _PENALTIES
    ]


def squared_error(judge: Moments, fit: Floats) -> float:
    """Mean squared error of a fit (n_features + 1, n_outputs), summed over the responses."""
    signs = np.vstack([fit, -np.eye(fit.shape[1])])
    return float(np.einsum("ik,ij,jk->", signs, judge.products, signs, optimize=True)) / judge.total
