"""Which features a ridge read-out should favour, and by how much, as rows apart judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.lstsq import solve_positive
from lifenet.readouts.moments import gather_moments
from lifenet.readouts.walking import walk_down

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
    fitted as indicators. Penalties are walked along, each scale from where the last one ended.

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
    found: list[tuple[float, int, Floats]] = []
    place = len(_PENALTIES) // 2
    for number, scale in enumerate(scales):
        path = _Path(learn, judge, scale)
        place = walk_down(path.error, len(_PENALTIES), place)
        found.append((path.error(place), number, path.fits[place]))
    _, number, fit = min(found, key=lambda one: one[:2])
    return number, fit


class _Path:
    """Ridge fits of scaled features under each penalty, made when asked for."""

    def __init__(self, learn: Moments, judge: Moments, scale: Floats) -> None:
        covariance, cross, _ = learn.centred()
        self.covariance = covariance / np.outer(scale, scale)
        self.cross = cross / scale[:, None]
        self.unit = float(np.trace(self.covariance)) / len(scale) or 1.0
        self.learn, self.judge, self.scale = learn, judge, scale
        self.fits: dict[int, Floats] = {}

    def error(self, place: int) -> float:
        """Of the fit under one of the penalties, on the rows apart."""
        if place not in self.fits:
            penalty = self.unit * float(_PENALTIES[place])
            inside = solve_positive(self.covariance, self.cross, penalty)
            self.fits[place] = self.learn.with_intercept(inside / self.scale[:, None])
        return squared_error(self.judge, self.fits[place])


def squared_error(judge: Moments, fit: Floats) -> float:
    """Mean squared error of a fit (n_features + 1, n_outputs), summed over the responses."""
    signs = np.vstack([fit, -np.eye(fit.shape[1])])
    return float(np.einsum("ik,ij,jk->", signs, judge.products, signs, optimize=True)) / judge.total
