"""The output layer of fixed features, by Newton's method.

    minimise  mean loss + ridge / 2 * sum_jc (scale_j beta_jc)²        (intercepts free)

The scale says what one penalty measures all coefficients in: the spread of a neuron's activations,
or the length of its weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.kernels.lstsq import conjugate_gradients, inverse_of, solve_positive
from lifenet.neurons.features import GivenColumns, span_of_rows

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats
    from lifenet.data.rows import Block
    from lifenet.neurons.features import Features

__all__ = ["Curvature", "fit_coefficients", "hold_features", "spreads"]

# Unknowns, and outputs, up to which a step is solved by a Hessian.
_DIRECT_LIMIT, _DIRECT_OUTPUTS = 4000, 12
_CG_TIGHTEST, _CG_LOOSEST, _CG_MAX_ITER = 1e-6, 0.1, 500
# Unknowns from which a Hessian near by is worth keeping, and products that cost as much as one.
_WORTH_KEEPING, _AS_COSTLY = 300, 10
_BLOCK_ROWS = 1024
_MAX_ITER = 100
# Once a step promises less than this share of the objective, falls drown in rounding, and Newton's
# convergence is quadratic: one last full step ends at the optimum. (Where a loss gives a majoriser
# for its curvature, convergence is linear and ends within about this share of the optimum.)
_LAST_STEP = 1e-10
_SUFFICIENT_FALL = 1e-4
_HALVINGS = 30


@dataclass
class Curvature:
    """A Hessian of the loss, kept for steps that are near where it was taken.

    Solved by conjugate gradients on products with the Hessian in place, such a step takes a few
    passes over the rows. Where it took many, the next one takes a Hessian of its own.
    """

    matrix: Floats | None = None


@dataclass(frozen=True)
class _Scaled:
    """Features over their scale, a constant one last."""

    features: Features
    scale: Floats

    def of(self, block: Block) -> Floats:
        """(n_features + 1, n_rows), only to read."""
        columns = np.ones((len(self.scale) + 1, len(block.target)))
        np.divide(self.features.of(block), self.scale[:, None], out=columns[:-1])
        return columns


@dataclass(frozen=True)
class _Held(_Scaled):
    """The same where the rows' inputs are these columns."""

    def of(self, block: Block) -> Floats:
        """(n_features + 1, n_rows), only to read."""
        return block.inputs


def _laid_out(problem: Problem, features: Features, scale: Floats) -> tuple[Problem, _Scaled]:
    """Rows and their features over a scale, computed once where they may be held.

    Features that are held already are taken unchanged, and the scale is one.
    """
    scaled, rows = _Scaled(features, scale), problem.rows
    if isinstance(features, GivenColumns) and isinstance(rows, HeldRows):
        return problem, _Held(features, np.ones(len(scale)))
    if 8 * rows.n_rows * (len(scale) + 1) > budgets.HELD_ACTIVATIONS:
        return problem, scaled
    held = HeldRows(rows.collect(scaled.of), rows.target, rows.weight)
    return Problem(held, problem.loss), _Held(features, scale)


def hold_features(problem: Problem, features: Features) -> tuple[Problem, Features]:
    """The problem with features as its columns, where they may be held: many fits follow."""
    rows = problem.rows
    if isinstance(features, GivenColumns) or (
        8 * rows.n_rows * (features.n_features + 1) > budgets.HELD_ACTIVATIONS
    ):
        return problem, features
    columns = rows.collect(
        lambda block: np.vstack([features.of(block), np.ones(len(block.target))])
    )
    held = HeldRows(columns, rows.target, rows.weight)
    return Problem(held, problem.loss), GivenColumns(features.n_features)


def fit_coefficients(
    problem: Problem,
    features: Features,
    scale: Floats,
    ridge: float,
    start: Floats | None = None,
    tolerance: float = _LAST_STEP,
    near: Curvature | None = None,
    max_iter: int = _MAX_ITER,
) -> Floats:
    """Coefficients of any features, the intercepts last: (n_features + 1, n_outputs).

    Parameters
    ----------
    scale : (n_features,), positive; the penalty falls on ``scale * coefficient``
    ridge : penalty; positive makes the coefficients unique
    start : coefficients to begin from, where the rows are more than the features
    tolerance : share of the objective that a last step may promise
    near : kept from one fit of a path to the next, where the rows are more than the features
    max_iter : most steps
    """
    spanned = span_of_rows(features, scale, problem.rows)
    if spanned is not None:
        ones = np.ones(spanned.n_features)
        inside = fit_coefficients(problem, spanned, ones, ridge, None, tolerance, max_iter=max_iter)
        return np.vstack([spanned.basis @ inside[:-1], inside[-1:]])
    held, columns = _laid_out(problem, features, scale)
    scaling = np.append(columns.scale, 1.0)[:, None]
    penalty = np.append(ridge * np.square(scale / columns.scale), 0.0)
    begin = None if start is None else start * scaling
    coefficients = _newton(held, columns, penalty, begin, tolerance, near, max_iter)
    if problem.loss.relative:
        # Only differences between classes say something; the penalty is least around zero.
        coefficients -= coefficients.mean(axis=1, keepdims=True)
    return np.asarray(coefficients / scaling)


def spreads(problem: Problem, features: Features) -> Floats:
    """Weighted deviation of each feature; one where it is constant on the rows."""

    def moments(block: Block) -> tuple[Floats, Floats]:
        columns = features.of(block)
        return columns @ block.weight, np.square(columns) @ block.weight

    first, second = problem.rows.sum(moments, _BLOCK_ROWS)
    n = problem.rows.total_weight
    variance = second / n - np.square(first / n)
    varies = variance > 1e-12 * (second / n)
    return np.where(varies, np.sqrt(np.where(varies, variance, 1.0)), 1.0)


def _newton(
    problem: Problem,
    features: _Scaled,
    ridge: Floats,
    start: Floats | None,
    tolerance: float,
    near: Curvature | None,
    max_iter: int,
) -> Floats:
    """Coefficients (n_features + 1, n_outputs) that minimise the penalised loss."""
    rows, n_outputs = problem.rows, problem.loss.n_outputs
    coefficients: Floats
    if start is None:
        coefficients = np.zeros((len(features.scale) + 1, n_outputs))
        coefficients[-1] = problem.loss.null_score(rows.target, rows.weight)
    else:
        coefficients = start.copy()
    # Where only differences of scores matter, shifting all intercepts alike changes nothing: a very
    # small penalty keeps the Hessian from being singular.
    penalty = np.repeat(ridge[:, None], n_outputs, axis=1)
    penalty[-1] = 1e-10 if problem.loss.relative else 0.0
    objective, gradient = _value_and_gradient(problem, features, coefficients, penalty)
    for _ in range(max_iter):
        step = _newton_step(problem, features, coefficients, gradient, penalty, near)
        slope = float(np.sum(gradient * step))
        if -slope <= tolerance * objective:
            if near is not None and tolerance <= _LAST_STEP:  # exact, wherever the way came from
                step = _newton_step(problem, features, coefficients, gradient, penalty)
            return coefficients + step
        for halving in range(_HALVINGS):
            trial = coefficients + 0.5**halving * step
            value, slopes = _value_and_gradient(problem, features, trial, penalty)
            if value <= objective + _SUFFICIENT_FALL * 0.5**halving * slope:
                break
        else:  # no step helps: the optimum, to rounding
            break
        coefficients, objective, gradient = trial, value, slopes
    return coefficients


def _value_and_gradient(
    problem: Problem, features: _Scaled, coefficients: Floats, penalty: Floats
) -> tuple[float, Floats]:
    loss = problem.loss

    def sums(block: Block) -> tuple[float, Floats]:
        activations = features.of(block)
        score = _scores(activations, coefficients)
        rows = loss.gradient(block.target, score)
        value = float(block.weight @ loss.value(block.target, score))
        return value, _sums(activations, rows * block.weight[:, None])

    value, gradient = problem.rows.sum(sums, _BLOCK_ROWS)
    n = problem.rows.total_weight
    penalised = value / n + 0.5 * float(np.sum(penalty * np.square(coefficients)))
    return penalised, gradient / n + penalty * coefficients


def _newton_step(
    problem: Problem,
    features: _Scaled,
    coefficients: Floats,
    gradient: Floats,
    penalty: Floats,
    near: Curvature | None = None,
) -> Floats:
    size = coefficients.size
    if size > _DIRECT_LIMIT or coefficients.shape[1] > _DIRECT_OUTPUTS:
        inverse = _preconditioner(problem, features, coefficients, penalty)
        step, _ = _step_by_products(
            problem, features, coefficients, gradient, penalty, inverse, _CG_MAX_ITER
        )
    elif near is not None and near.matrix is not None and size >= _WORTH_KEEPING:
        inverse = inverse_of(near.matrix, penalty.ravel())
        step, n_products = _step_by_products(
            problem, features, coefficients, gradient, penalty, inverse, 2 * _AS_COSTLY
        )
        if n_products >= _AS_COSTLY:
            near.matrix = None
    else:
        hessian = _hessian(problem, features, coefficients)
        if near is not None:
            near.matrix = hessian
        step = _solve(hessian, -gradient.ravel(), penalty.ravel(), problem.loss.relative)
    return step.reshape(coefficients.shape)


def _solve(hessian: Floats, right: Floats, penalty: Floats, relative: bool) -> Floats:
    """A Newton step.

    Where only differences of scores matter, shifting the coefficients of all classes alike changes
    the penalty alone, and a small one drowns in rounding. These directions are lifted above it.
    """
    if relative:
        return inverse_of(hessian, penalty)(right)
    return solve_positive(hessian, right, penalty, minimum_norm=False)


def _scores(activations: Floats, coefficients: Floats) -> Floats:
    """Scores of a block, in the precision of its activations, as float64."""
    scores = activations.T @ coefficients.astype(activations.dtype, copy=False)
    return np.asarray(scores, dtype=np.float64)


def _sums(activations: Floats, rows: Floats) -> Floats:
    """Sums of activations times rows, in the precision of the activations, as float64."""
    sums = activations @ rows.astype(activations.dtype, copy=False)
    return np.asarray(sums, dtype=np.float64)


def _curve(
    problem: Problem, block: Block, activations: Floats, coefficients: Floats, change: Floats
) -> Floats:
    """Weighted curvature of each row times a change of its scores, (n_rows, n_outputs)."""
    score = _scores(activations, coefficients)
    product = problem.loss.curvature_product(block.target, score, change)
    return product * block.weight[:, None]


def _hessian(problem: Problem, features: _Scaled, coefficients: Floats) -> Floats:
    """Mean curvature of the loss in the coefficients, feature by feature, outputs inside."""
    n_features, n_outputs = coefficients.shape

    def sums(block: Block) -> tuple[Floats]:
        activations = features.of(block)
        if n_outputs == 1:
            rows = _curve(
                problem, block, activations, coefficients, np.ones((len(block.target), 1))
            )
            activations = activations * np.sqrt(rows[:, 0]).astype(activations.dtype)
            gram = activations @ activations.T  # numpy sees the symmetry
            return (np.asarray(gram, dtype=np.float64)[:, None, :, None],)
        hessian = np.empty((n_features, n_outputs, n_features, n_outputs))
        for d in range(n_outputs):
            unit = np.zeros((len(block.target), n_outputs))
            unit[:, d] = 1.0
            rows = _curve(problem, block, activations, coefficients, unit)
            for c in range(d + 1):
                curved = activations * rows[:, c].astype(activations.dtype)
                hessian[:, c, :, d] = curved @ activations.T
                hessian[:, d, :, c] = hessian[:, c, :, d]
        return (hessian,)

    (total,) = problem.rows.sum(sums, _BLOCK_ROWS)
    return total.reshape(coefficients.size, coefficients.size) / problem.rows.total_weight


def _step_by_products(
    problem: Problem,
    features: _Scaled,
    coefficients: Floats,
    gradient: Floats,
    penalty: Floats,
    inverse: Callable[[Floats], Floats],
    max_iter: int,
) -> tuple[Floats, int]:
    """The step by conjugate gradients on products with the Hessian, and how many it took.

    `inverse` is an approximate inverse of the penalised Hessian.
    """
    shape, n = coefficients.shape, problem.rows.total_weight

    def product(direction: Floats) -> Floats:
        def sums(block: Block) -> tuple[Floats]:
            activations = features.of(block)
            change = _scores(activations, direction.reshape(shape))
            curved = _curve(problem, block, activations, coefficients, change)
            return (_sums(activations, curved),)

        (image,) = problem.rows.sum(sums, _BLOCK_ROWS)
        return image.ravel() / n + penalty.ravel() * direction

    return conjugate_gradients(
        product, -gradient.ravel(), inverse, tolerance=_forcing(gradient), max_iter=max_iter
    )


def _preconditioner(
    problem: Problem, features: _Scaled, coefficients: Floats, penalty: Floats
) -> Callable[[Floats], Floats]:
    """The inverse Hessian as if every row had its class's mean curvature and classes were apart.

    Then one eigendecomposition of the features' Gram matrix serves all classes.
    """
    loss, n = problem.loss, problem.rows.total_weight

    def sums(block: Block) -> tuple[Floats, Floats]:
        activations = features.of(block)
        curvature = loss.curvature(block.target, _scores(activations, coefficients))
        heavy = activations * block.weight.astype(activations.dtype)
        gram = np.asarray(heavy @ activations.T, dtype=np.float64)
        return gram, block.weight @ curvature

    gram, curvature = problem.rows.sum(sums, _BLOCK_ROWS)
    values, vectors = np.linalg.eigh(gram / n)
    scale = np.maximum(values, 0.0)[:, None] * (curvature / n) + max(penalty.max(), 1e-10)

    def precondition(residual: Floats) -> Floats:
        inside = vectors.T @ residual.reshape(coefficients.shape)
        return np.asarray(vectors @ (inside / scale)).ravel()

    return precondition


def _forcing(gradient: Floats) -> float:
    """How exactly to solve for a step: loosely while far away, tightly near the optimum."""
    return float(np.clip(np.sqrt(np.linalg.norm(gradient)), _CG_TIGHTEST, _CG_LOOSEST))
