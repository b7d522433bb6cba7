"""Scores and losses of a network on the rows of a problem."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.data.coded_rows import CodedRows
from lifenet.data.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.network import ReluNetwork

__all__ = [
    "mean_loss",
    "row_losses",
    "scores_of",
    "scores_on",
    "some_rows",
    "standard_error",
]


def scores_of(problem: Problem, network: ReluNetwork) -> Floats:
    """Scores of all rows, (n_rows, n_outputs)."""
    return scores_on([problem], network)[0]


def scores_on(problems: Sequence[Problem], network: ReluNetwork) -> list[Floats]:
    """Scores of the rows of several problems with the same inputs: tables are made once."""
    rows = [one.rows for one in problems]
    coded = [one for one in rows if isinstance(one, CodedRows)]
    if coded:
        of_columns = coded[0].of_columns(network)
        return [of_columns.score(one.values) for one in coded]
    return [one.collect(lambda block: network.score(block.inputs[:-1].T).T).T for one in rows]


def row_losses(problem: Problem, network: ReluNetwork) -> Floats:
    """Loss of each row, (n_rows,)."""
    return problem.loss.value(problem.rows.target, scores_of(problem, network))


def mean_loss(problem: Problem, network: ReluNetwork) -> float:
    """Weighted mean loss of all rows."""
    rows = problem.rows
    return float(rows.weight @ row_losses(problem, network)) / rows.total_weight


def some_rows(problem: Problem, most: int) -> Problem:
    """The problem on rows at even distances, where it has more than `most`."""
    n_rows = problem.rows.n_rows
    if n_rows <= most:
        return problem
    index = np.linspace(0, n_rows - 1, most).astype(np.intp)
    return Problem(problem.rows.take(index), problem.loss)


def standard_error(values: Floats, weight: Floats) -> float:
    """Standard error of the weighted mean of values, whose weights count rows."""
    total = float(weight.sum())
    centred = values - weight @ values / total
    return float(np.sqrt(weight @ np.square(centred))) / total
