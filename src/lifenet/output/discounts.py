"""Penalty discounts of base learners' neurons relative to leaf neurons, and their choice."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.kernels.lstsq import solve_positive
from lifenet.kernels.unimodal import find_valley
from lifenet.neurons.features import Activations, GivenColumns
from lifenet.output.moments import gather_moments
from lifenet.output.newton import spreads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.data.rows import Block
    from lifenet.neurons.features import Features
    from lifenet.neurons.layer import Layer
    from lifenet.output.moments import Moments

__all__ = ["choose_scale", "discounted_scales", "lay_out"]

# Penalties tried, in units of the mean variance of the scaled features.
_PENALTIES = np.geomspace(1e-5, 10.0, 13)
# A neuron that is hardly ever active counts as if it had this share of the typical deviation.
_LEAST_SPREAD = 0.2


def lay_out(layer: Layer, fold: Fold) -> tuple[Layer, Fold]:
    """The layer and the fold with activations as columns, where memory allows: many passes follow.

    Otherwise the neurons are held sparsely where most of their weights are zero.
    """
    features = layer.features
    if isinstance(features, Activations):
        features = features.compact()
    n_rows = fold.fit.rows.n_rows
    if not fold.refits and fold.validation is not None:
        n_rows += fold.validation.rows.n_rows
    if 8 * n_rows * (features.n_features + 1) > budgets.HELD_LAYER:
        return replace(layer, features=features), fold
    train = _laid_out(fold.train, features)
    held = Fold(
        train,
        None if fold.validation is None else _laid_out(fold.validation, features),
        _laid_out(fold.fit, features) if fold.refits else train,
    )
    return replace(layer, features=GivenColumns(features.n_features)), held


def _laid_out(problem: Problem, features: Features) -> Problem:
    """The same rows with the features as their columns."""

    def columns(block: Block) -> Floats:
        return np.vstack([features.of(block), np.ones(len(block.target))])

    rows = problem.rows
    return Problem(HeldRows(rows.collect(columns), rows.target, rows.weight), problem.loss)


def discounted_scales(layer: Layer, train: Problem, discounts: Sequence[float]) -> list[Floats]:
    """What a penalty measures coefficients in, for each discount.

    Leaf neurons have a scale of one; other neurons have their standard deviation over the typical
    one of leaf neurons, divided by the discount. All have one where there is one kind only.
    """
    leaf = layer.leaf_mask
    if leaf.all() or not leaf.any():
        return [np.ones(layer.n_features)]
    deviations = spreads(train, layer.features)
    typical = _root_mean_square(deviations[leaf]) or 1.0
    others = deviations[~leaf]
    floor = _LEAST_SPREAD * _root_mean_square(others)
    scale = np.maximum(others, floor) / typical
    scale = np.where(scale > 0, scale, 1.0)
    found: list[Floats] = []
    for discount in discounts:
        found.append(np.ones(layer.n_features))
        found[-1][~leaf] = scale / discount
    return found


def choose_scale(
    train: Problem, validation: Problem, features: Features, scales: Sequence[Floats]
) -> tuple[int, Floats]:
    """The scale under which the best ridge fit has the least squared error on the validation rows.

    Both sets of rows are passed once: fits and errors follow from their moments. Classes are
    fitted as indicators. The search for the penalty of each scale starts at that of the one before.

    Parameters
    ----------
    scales : each (n_features,), what a penalty measures coefficients in

    Returns
    -------
    index : of the scale among those given
    coefficients : (n_features + 1, n_outputs), of its best fit, the intercepts last
    """
    ones = np.ones(features.n_features)
    fitted = gather_moments(train, features, ones)
    measured = gather_moments(validation, features, ones)
    found: list[tuple[float, int, Floats]] = []
    index = len(_PENALTIES) // 2
    for number, scale in enumerate(scales):
        path = _Path(fitted, measured, scale)
        index = find_valley(path.error, len(_PENALTIES), index)
        found.append((path.error(index), number, path.fits[index]))
    _, number, fit = min(found, key=lambda one: one[:2])
    return number, fit


class _Path:
    """Ridge fits of scaled features under each penalty, made when asked for."""

    def __init__(self, fitted: Moments, measured: Moments, scale: Floats) -> None:
        covariance, cross, _ = fitted.centred()
        self.covariance = covariance / np.outer(scale, scale)
        self.cross = cross / scale[:, None]
        self.unit = float(np.trace(self.covariance)) / len(scale) or 1.0
        self.fitted, self.measured, self.scale = fitted, measured, scale
        self.fits: dict[int, Floats] = {}

    def error(self, index: int) -> float:
        """Of the fit under one of the penalties, on the validation rows."""
        if index not in self.fits:
            penalty = self.unit * float(_PENALTIES[index])
            inside = solve_positive(self.covariance, self.cross, penalty)
            self.fits[index] = self.fitted.with_intercept(inside / self.scale[:, None])
        return squared_error(self.measured, self.fits[index])


def squared_error(measured: Moments, fit: Floats) -> float:
    """Mean squared error of a fit (n_features + 1, n_outputs), summed over the responses."""
    signs = np.vstack([fit, -np.eye(fit.shape[1])])
    products = np.einsum("ik,ij,jk->", signs, measured.products, signs, optimize=True)
    return float(products) / measured.total


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0
