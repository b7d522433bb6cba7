"""Where LLA begins: hinges that lie inside the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.kernels.lstsq import solve_positive
from lifenet.kernels.quantiles import weighted_quantiles

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block, Rows

__all__ = ["STARTS", "least_squares_hinges", "random_hinges"]

# Hinges outside the middle 90 % of a projection see too few rows on one side to be fitted.
_LEVELS = (0.05, 0.95)
# A hinge through a row would be active on it or not by rounding; it goes just beside, by this share
# of the projection's spread, so that repeated rows and weights give the same pattern.
_BESIDE = 1e-7
_BLOCK_ROWS = 1024


def random_hinges(problem: Problem, n_neurons: int, generator: np.random.Generator) -> Floats:
    """Random directions, each with its offset at a random weighted quantile of the projections.

    Returns
    -------
    (n_neurons, n_features + 1), unit directions
    """
    directions = generator.standard_normal((n_neurons, problem.rows.n_features))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    levels = generator.uniform(*_LEVELS, (n_neurons, 1))
    return np.column_stack([directions, _offsets(problem, directions, levels)])


def least_squares_hinges(
    problem: Problem, n_neurons: int, generator: np.random.Generator
) -> Floats:
    """The direction of ordinary least squares for every neuron, offsets at equal quantiles.

    This is the start of Zeng and others (2022). For a loss other than squared error the direction
    is that of one Fisher scoring step from the constant model. A target without any linear trend
    has no such direction: then a random one is drawn.
    """
    direction = _linear_trend(problem)
    size = np.linalg.norm(direction)
    if size < 1e-10:
        direction = generator.standard_normal(len(direction))
        size = np.linalg.norm(direction)
    direction = direction / size
    levels = np.arange(1, n_neurons + 1) / (n_neurons + 1)
    offsets = _offsets(problem, direction[None], levels[None])[0]
    return np.column_stack([np.tile(direction, (n_neurons, 1)), offsets])


def _offsets(problem: Problem, directions: Floats, levels: Floats) -> Floats:
    """Biases that put hinges just beside quantiles of the rows' projections.

    Parameters
    ----------
    directions : (k, n_features)
    levels : (k, l), the quantiles of each projection

    Returns
    -------
    (k, l)
    """
    rows = problem.rows
    at_once = max(1, budgets.PROJECTIONS // rows.n_rows)
    offsets = np.empty(levels.shape)
    for start in range(0, len(directions), at_once):
        projections = _projections(rows, directions[start : start + at_once])
        for index, values in enumerate(projections, start):
            offsets[index] = _beside_quantiles(values, rows.weight, levels[index])
    return offsets


def _projections(rows: Rows, directions: Floats) -> Floats:
    """Every row on every direction: (k, n_rows)."""
    return rows.collect(lambda block: directions @ block.inputs[:-1])


def _beside_quantiles(values: Floats, weight: Floats, levels: Floats) -> Floats:
    quantiles = weighted_quantiles(values, weight, levels)
    mean = weight @ values / weight.sum()
    spread = np.sqrt(weight @ np.square(values - mean) / weight.sum())
    return np.asarray(_BESIDE * spread - quantiles)


def _linear_trend(problem: Problem) -> Floats:
    """Slopes of one Fisher scoring step of a linear model from the constant one."""
    rows, loss = problem.rows, problem.loss
    null = loss.null_score(rows.target, rows.weight)[0]

    def normal_equations(block: Block) -> tuple[Floats, Floats]:
        score = np.full((len(block.target), 1), null)
        curvature = block.weight * loss.curvature(block.target, score)[:, 0]
        gradient = block.weight * loss.gradient(block.target, score)[:, 0]
        return (block.inputs * curvature) @ block.inputs.T, block.inputs @ gradient

    gram, gradient = rows.sum(normal_equations, _BLOCK_ROWS)
    return -solve_positive(gram, gradient)[:-1]


Start = Callable[["Problem", int, np.random.Generator], "Floats"]

#: The starts by the names under which users ask for them.
STARTS: dict[str, Start] = {"random": random_hinges, "least-squares": least_squares_hinges}
