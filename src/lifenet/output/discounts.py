"""Penalty discounts of base learners' neurons relative to leaf neurons, and their choice."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.data.evaluation import some_rows
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.kernels.lstsq import solve_ridge
from lifenet.kernels.unimodal import coarse_valley, least_neighbour
from lifenet.neurons.features import Activations, GivenColumns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats
    from lifenet.data.rows import Block
    from lifenet.neurons.features import Features
    from lifenet.neurons.layer import Layer
    from lifenet.output.moments import Moments

__all__ = ["choose_scale", "discounted_scales", "lay_out", "mean_loss_of"]

# Penalties tried, in units of the mean variance of the scaled features.
_PENALTIES = np.geomspace(1e-5, 10.0, 13)
# A neuron that is hardly ever active counts as if it had this share of the typical deviation.
_LEAST_SPREAD = 0.2


# Rows of a Gram matrix: as many as its products of two numbers may be, but so many a neuron at
# least; and validation rows that are enough to choose a penalty by. Chosen by hand.
_BLOCK_ROWS = 1024
_GRAM_PRODUCTS, _ROWS_A_FEATURE, _VALIDATION_ROWS = 10**12, 20, 8_000


def lay_out(layer: Layer, fold: Fold) -> tuple[Layer, Fold]:
    """The layer and the fold with activations as columns: many passes follow.

    They are held in single precision: coefficients are known to far fewer digits. Where rows are
    more than the Gram matrix of so many neurons can have in time, or than can be held for a loss
    that passes them again and again, rows at even distances stand for all.
    """
    features, m = layer.features, layer.n_features + 1
    if isinstance(features, GivenColumns):
        return layer, fold
    if isinstance(features, Activations):
        features = features.single()
    most = max(_ROWS_A_FEATURE * m, int(_GRAM_PRODUCTS / m**2))
    held = budgets.HELD_LAYER // (4 * m)
    most = most if fold.fit.loss.quadratic else min(most, max(held, _ROWS_A_FEATURE * m))
    train = some_rows(fold.train, most)
    fit = train if not fold.refits else some_rows(fold.fit, most)
    validation = None if fold.validation is None else some_rows(fold.validation, _VALIDATION_ROWS)
    if fit.rows.n_rows + (0 if validation is None else validation.rows.n_rows) > held:
        layer = replace(layer, features=features)
        return layer, replace(fold, train=train, validation=validation, fit=fit)
    laid_out = _laid_out(train, features)
    columns = Fold(
        laid_out,
        None if validation is None else _laid_out(validation, features),
        _laid_out(fit, features) if fold.refits else laid_out,
    )
    return replace(layer, features=GivenColumns(features.n_features)), columns


def _laid_out(problem: Problem, features: Features) -> Problem:
    """The same rows with the features as their columns."""
    rows, m = problem.rows, features.n_features
    columns = np.empty((m + 1, rows.n_rows), dtype=np.float32)
    columns[-1] = 1.0
    done = 0

    def fill(block: Block) -> Floats:
        nonlocal done
        n = len(block.target)
        columns[:m, done : done + n] = features.of(block)
        done += n
        return np.zeros((0, n))

    rows.collect(fill)
    return Problem(HeldRows(columns, rows.target, rows.weight), problem.loss)


def discounted_scales(leaf: Bools, fitted: Moments, discounts: Sequence[float]) -> list[Floats]:
    """What a penalty measures coefficients in, for each discount.

    Leaf neurons have a scale of one; other neurons have their standard deviation over the typical
    one of leaf neurons, divided by the discount. All have one where there is one kind only.

    Parameters
    ----------
    leaf : (n_features,), which features are leaf neurons
    fitted : moments of the features on the training rows
    """
    if leaf.all() or not leaf.any():
        return [np.ones(len(leaf))]
    deviations = fitted.deviations()
    typical = _root_mean_square(deviations[leaf]) or 1.0
    others = deviations[~leaf]
    floor = _LEAST_SPREAD * _root_mean_square(others)
    scale = np.maximum(others, floor) / typical
    scale = np.where(scale > 0, scale, 1.0)
    found: list[Floats] = []
    for discount in discounts:
        found.append(np.ones(len(leaf)))
        found[-1][~leaf] = scale / discount
    return found


def choose_scale(
    fitted: Moments, validation: Problem, features: Features, scales: Sequence[Floats]
) -> tuple[int, Floats, float]:
    """The scale under which the best ridge fit has the least squared error on the validation rows.

    Fits follow from the moments of the training rows. Classes are fitted as indicators. Scales are
    tried in their order from the second on, up or down as long as the error falls; each begins its
    search for a penalty at the best one of the scale before. Scales are compared by every other
    penalty; the neighbours of the best are asked for the best scale alone.

    Parameters
    ----------
    scales : each (n_features,), what a penalty measures coefficients in

    Returns
    -------
    index : of the scale among those given
    coefficients : (n_features + 1, n_outputs), of its best fit, the intercepts last
    penalty : of that fit
    """
    paths = [_Path(fitted, validation, features, scale) for scale in scales]
    best: dict[int, int] = {}

    def error(number: int, start: int) -> float:
        best[number] = coarse_valley(paths[number].error, len(_PENALTIES), start)
        return paths[number].error(best[number])

    number = min(1, len(paths) - 1)
    least = error(number, len(_PENALTIES) // 2)
    for stride in (1, -1):
        other = number + stride
        while 0 <= other < len(paths) and other not in best:
            found = error(other, best[number])
            if found >= least:
                break
            number, least, other = other, found, other + stride
    path = paths[number]
    index = least_neighbour(path.error, len(_PENALTIES), best[number])
    return number, path.fits[index], path.penalty(index)


@dataclass
class _Path:
    """Ridge fits of scaled features under each penalty, made when asked for."""

    fitted: Moments
    validation: Problem
    features: Features
    scale: Floats
    fits: dict[int, Floats] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)

    def penalty(self, index: int) -> float:
        """One of the penalties, of coefficients times their scale."""
        variances = self.fitted.centred[0].diagonal() / np.square(self.scale)
        return (float(variances.mean()) or 1.0) * float(_PENALTIES[index])

    def error(self, index: int) -> float:
        """Of the fit under one of the penalties, on the validation rows."""
        if index not in self.errors:
            covariance, cross, _ = self.fitted.centred
            # In the features' own units the penalty of a coefficient is its scale squared.
            diagonal = self.penalty(index) * np.square(self.scale)
            inside = solve_ridge(covariance, cross, diagonal)
            self.fits[index] = self.fitted.with_intercept(inside)
            self.errors[index] = squared_error(self.validation, self.features, self.fits[index])
        return self.errors[index]


def squared_error(problem: Problem, features: Features, fit: Floats) -> float:
    """Mean squared error of a fit (n_features + 1, n_outputs), summed over the responses."""
    loss = problem.loss

    def sums(block: Block) -> tuple[float]:
        columns = features.of(block)
        score = columns.T @ fit[:-1].astype(columns.dtype) + fit[-1]
        errors = np.square(loss.responses(block.target) - score)
        return (float(block.weight @ errors.sum(axis=1)),)

    (total,) = problem.rows.sum(sums, budgets.FORWARD_BLOCK // (features.n_features + 1) + 1)
    return total / problem.rows.total_weight


def mean_loss_of(problem: Problem, features: Features, fit: Floats) -> float:
    """Mean loss of a fit (n_features + 1, n_outputs)."""

    def sums(block: Block) -> tuple[float]:
        columns = features.of(block)
        score = columns.T @ fit[:-1].astype(columns.dtype, copy=False) + fit[-1]
        return (float(block.weight @ problem.loss.value(block.target, score)),)

    return problem.rows.sum(sums, _BLOCK_ROWS)[0] / problem.rows.total_weight


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0
