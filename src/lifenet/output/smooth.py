"""The output layer with a penalty on how far the function is from straight lines.

With fixed hidden weights the mean square R of the bends along moves is a quadratic in the output
weights, so that

    mean loss + penalty of the output layer + factor / 2 * R

is minimised as the output layer itself is. A function whose changes over the moves have the mean
square D explains about 1 - R / D of them by straight lines. With a price of a, and a loss of L, all
of it is worth a L: the factor is 2 a L / D, which has no units.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.data.evaluation import some_rows
from lifenet.data.moves import Smoothing
from lifenet.kernels.lstsq import inverse_of
from lifenet.output.base import neurons_used
from lifenet.output.discounts import lay_out, mean_loss_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats
    from lifenet.data.folds import Fold
    from lifenet.data.moves import Moves
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.network import ReluNetwork
    from lifenet.neurons.features import Activations, Features
    from lifenet.neurons.layer import Layer
    from lifenet.output.ridge import RidgeOutput

__all__ = ["fit_smooth"]

# Prices that "auto" tries, from the least on. For squared error fine-tuning gains more from bends
# than the output layer shows: docs/ablations.md.
_PRICES_SEPARABLE, _PRICES = (0.1, 0.3, 1.0, 3.0, 10.0), (0.1, 0.18, 0.3, 0.55)
# What "auto" may cost: this share of the validation loss, in the units that it is reported in.
_COST = 0.0125
# Rows that are enough for curvatures, so many a neuron.
_ROWS_A_NEURON = 5
# Moves, and rows, whose hidden layer is held at a time.
_BLOCK_MOVES, _BLOCK_ROWS = 1024, 1024
# Steps with one Hessian, halvings of each, and the fall of the objective that ends them, as a share
# of the loss: fine-tuning follows.
_STEPS, _HALVINGS, _CLOSE = 12, 6, 1e-4


def fit_smooth(
    output: RidgeOutput,
    layer: Layer,
    fold: Fold,
    seed: np.random.SeedSequence,
    moves: Moves,
    smoothness: float | str,
) -> tuple[ReluNetwork, Layer, Smoothing | None]:
    """The layer under its output layer, smooth; neurons that are not used are left out.

    Parameters
    ----------
    smoothness : the price of straight lines as a share of the loss, or "auto": as much as costs
        about a hundredth of the validation loss
    """
    if isinstance(smoothness, str) and fold.refits:
        # Rows that coefficients are fitted to cannot say what smoothness costs.
        chosen = fit_smooth(output, layer, fold.training_only(), seed, moves, smoothness)[2]
        smoothness = 0.0 if chosen is None else chosen.price
    held, columns = lay_out(layer, fold)
    given = (held, columns) if len(output.discounts) else (layer, fold)
    found = output.solve(*given, np.random.default_rng(seed))
    used = neurons_used(layer.network(found.coefficients))
    layer, held = layer.pick(used), held.pick(used)
    start = found.coefficients[np.append(used, -1)]
    if found.moments is None or not columns.fit.loss.quadratic:
        few = some_rows(columns.fit, _ROWS_A_NEURON * len(start))
        hessian = _hessian(held.features, start, few)
    else:  # is the same for all coefficients
        second = found.moments.second(used)
        hessian = np.broadcast_to(second, (start.shape[1], *second.shape))
    bends, changes = _products_of_bends(layer.neurons.single(), start, moves)
    objective = _Objective(columns.fit, held.features, found.penalty[used], bends, changes, hessian)
    validation = columns.fit if columns.validation is None else columns.validation
    loss = mean_loss_of(validation, held.features, start)
    if isinstance(smoothness, str):
        coefficients, price = _choose(objective, validation, start, loss)
    else:
        price, coefficients = float(smoothness), start
        if price > 0:
            coefficients = objective.minimise(objective.factor(price, loss), start)
    smoothing = Smoothing(moves, objective.factor(price, loss), price) if price > 0 else None
    return layer.network(coefficients), layer, smoothing


def _choose(
    objective: _Objective, validation: Problem, start: Floats, loss: float
) -> tuple[Floats, float]:
    """Coefficients of the smoothest function that costs no more than it may, and its price."""
    summary = validation.loss.summary
    least, chosen, coefficients = float(summary(loss)), (start, 0.0), start
    for price in _PRICES_SEPARABLE if validation.loss.separable else _PRICES:
        coefficients = objective.minimise(objective.factor(price, loss), coefficients)
        found = float(summary(mean_loss_of(validation, objective.features, coefficients)))
        least = min(least, found)
        if found <= (1 + _COST) * least:
            chosen = coefficients, price
        elif found > (1 + 2 * _COST) * least:
            break
    return chosen


@dataclass(frozen=True)
class _Objective:
    """Loss, penalty and bends of a layer as a function of its output weights.

    Attributes
    ----------
    problem : rows of the loss
    features : of these rows
    penalty : (m,), half of which falls on each output weight squared
    bends : (m, m), mean products of the neurons' bends
    changes : mean square of the changes of the first function over the moves, summed over outputs
    hessian : (n_outputs, m + 1, m + 1), of the loss at the first function, the intercept last
    """

    problem: Problem
    features: Features
    penalty: Floats
    bends: Floats
    changes: float
    hessian: Floats

    def factor(self, price: float, loss: float) -> float:
        """What half the mean square of the bends is multiplied with."""
        return 2.0 * price * loss / self.changes if self.changes > 0 else 0.0

    def minimise(self, factor: float, start: Floats) -> Floats:
        """The coefficients with the least objective, by steps with the Hessians at hand."""
        steps = [self._inverse(one, factor) for one in self.hessian]
        at = _Point.of(self, factor, start)
        for _ in range(_STEPS):
            downhill = [step(slope) for step, slope in zip(steps, at.gradient.T, strict=True)]
            change = -np.column_stack(downhill)
            trial = _Point.of(self, factor, at.coefficients + change)
            for _ in range(_HALVINGS):
                if trial.value < at.value:
                    break
                change /= 2
                trial = _Point.of(self, factor, at.coefficients + change)
            fall = at.value - trial.value
            if fall > 0:
                at = trial
            if fall <= _CLOSE * abs(at.loss):
                break
        return at.coefficients

    def _inverse(self, hessian: Floats, factor: float) -> Callable[[Floats], Floats]:
        """Solves the system of a Newton step."""
        system = hessian.copy()
        system[:-1, :-1] += factor * self.bends
        return inverse_of(system, np.append(self.penalty, 0.0))


@dataclass(frozen=True)
class _Point:
    """Coefficients (m + 1, n_outputs), the objective, and its gradient there."""

    coefficients: Floats
    loss: float
    value: float
    gradient: Floats

    @classmethod
    def of(cls, objective: _Objective, factor: float, coefficients: Floats) -> _Point:
        problem, features = objective.problem, objective.features
        beta, loss = coefficients[:-1], problem.loss

        def sums(block: Block) -> tuple[Floats, Floats]:
            columns = features.of(block)
            score = columns.T @ beta.astype(columns.dtype, copy=False) + coefficients[-1]
            slope = loss.gradient(block.target, score) * block.weight[:, None]
            inside = columns @ slope.astype(columns.dtype, copy=False)
            value = block.weight @ loss.value(block.target, score)
            return np.vstack([inside, slope.sum(axis=0)]).astype(np.float64), np.atleast_1d(value)

        gradient, values = problem.rows.sum(sums, _BLOCK_ROWS)
        total = problem.rows.total_weight
        mean = float(values[0]) / total
        gradient = gradient / total
        pulled = objective.penalty[:, None] * beta + factor * (objective.bends @ beta)
        gradient[:-1] += pulled
        return cls(coefficients, mean, mean + 0.5 * float(np.sum(beta * pulled)), gradient)


def _products_of_bends(features: Activations, start: Floats, moves: Moves) -> tuple[Floats, float]:
    """Mean products of the neurons' bends, (m, m), and the function's mean squared change."""
    m = features.n_features
    products, changes = np.zeros((m, m), dtype=np.float32), 0.0
    beta = start[:-1].T.astype(np.float32)
    for block in moves.blocks(_BLOCK_MOVES):
        values = block.rows.collect(features.of)
        changes += float((block.changes(beta @ values) @ block.weight).sum())
        bends = block.bends(values)
        bends *= np.sqrt(block.weight).astype(bends.dtype)
        products += bends @ bends.T
    return products.astype(np.float64), changes


def _hessian(features: Features, start: Floats, problem: Problem) -> Floats:
    """Mean second derivatives of the loss in the coefficients of each output alone."""
    loss = problem.loss

    def sums(block: Block) -> tuple[Floats]:
        columns = features.of(block)
        score = columns.T @ start[:-1].astype(columns.dtype, copy=False) + start[-1]
        curvature = loss.curvature(block.target, score) * block.weight[:, None]
        rows = np.vstack([columns, np.ones((1, columns.shape[1]), dtype=columns.dtype)])
        found = []
        for one in np.sqrt(curvature).T:
            scaled = rows * one.astype(rows.dtype)
            found.append((scaled @ scaled.T).astype(np.float64))
        return (np.stack(found),)

    (products,) = problem.rows.sum(sums, max(256, budgets.GRAM_BLOCK // len(start)))
    return np.asarray(products / problem.rows.total_weight)
