"""Scores and losses of a network on the rows of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.network import ReluNetwork

__all__ = ["mean_loss", "row_losses", "scores_of", "standard_error"]


def scores_of(problem: Problem, network: ReluNetwork) -> Floats:
    """Scores of all rows, (n_rows, n_outputs)."""
    return problem.rows.collect(lambda block: network.score(block.inputs[:-1].T).T).T


def row_losses(problem: Problem, network: ReluNetwork) -> Floats:
    """Loss of each row, (n_rows,)."""

    def losses(block: Block) -> Floats:
        score = network.score(block.inputs[:-1].T)
        return problem.loss.value(block.target, score)

    return problem.rows.collect(losses)


def mean_loss(problem: Problem, network: ReluNetwork) -> float:
    """Weighted mean loss of all rows."""
    rows = problem.rows
    return float(rows.weight @ row_losses(problem, network)) / rows.total_weight


def standard_error(values: Floats, weight: Floats) -> float:
    """Standard error of the weighted mean of values, whose weights count rows."""
    total = float(weight.sum())
    centred = values - weight @ values / total
    return float(np.sqrt(weight @ np.square(centred))) / total
