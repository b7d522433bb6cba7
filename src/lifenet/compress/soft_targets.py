"""Soft targets of knowledge distillation, and rows with swapped columns to fit them on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from lifenet.data import budgets
from lifenet.data.coded_rows import CodedRows
from lifenet.data.evaluation import scores_of
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.losses import Multinomial

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.rows import Rows
    from lifenet.network import ReluNetwork

__all__ = ["hold", "soft_targets", "swap_columns"]

# Of rows with swapped columns: the share of their columns that is the second row's, how many there
# are at least, and how much they all count beside the rows themselves.
_SWAPPED, _FEWEST_SWAPPED, _SWAPPED_WEIGHT = 0.2, 4_000, 0.5


def soft_targets(problem: Problem, teacher: ReluNetwork, share: float | Floats) -> Problem:
    """The problem with a network's expectations in place of targets.

    ``share * E[y | teacher] + (1 - share) * y``; of several classes, probabilities of each class.

    Parameters
    ----------
    teacher : reads the problem's rows
    share : between 0 and 1, one for all rows or one a row, (n_rows,)
    """
    rows, loss = problem.rows, problem.loss
    expected = loss.mean(scores_of(problem, teacher))
    if loss.n_outputs == 1:
        mixed = share * expected[:, 0] + (1.0 - share) * rows.target
        return Problem(rows.with_target(mixed), loss)
    expected *= np.reshape(share, (-1, 1))
    expected[np.arange(len(expected)), rows.target.astype(np.intp)] += 1.0 - np.asarray(share)
    numbers = np.arange(len(expected), dtype=np.float64)
    return Problem(rows.with_target(numbers), _Shares(loss.n_outputs, expected))


@dataclass(frozen=True)
class _Shares(Multinomial):
    """Cross-entropy of several classes of which rows have shares; a row's target is its number.

    Attributes
    ----------
    shares : (n_rows, n_outputs), each row sums to one
    """

    shares: Floats

    def _of(self, target: Floats) -> Floats:
        return np.asarray(self.shares[target.astype(np.intp)])

    def value(self, target: Floats, score: Floats) -> Floats:
        """``-sum_c q_c log p_c``."""
        return np.asarray(-np.sum(self._of(target) * special.log_softmax(score, axis=-1), axis=-1))

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``p_c - q_c``."""
        return np.asarray(special.softmax(score, axis=-1) - self._of(target))

    def responses(self, target: Floats) -> Floats:
        """The shares."""
        return self._of(target)

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Centred log shares of the classes."""
        log_share = np.log(np.maximum(weight @ self._of(target) / weight.sum(), 1e-12))
        return np.asarray(log_share - log_share.mean())


def swap_columns(rows: Rows, groups: Sequence[Integers], times: float) -> Rows:
    """The rows, and others that have each group of inputs from one of two of them.

    The target of these is none: they are for soft targets.
    """
    size = max(round(times * rows.n_rows), _FEWEST_SWAPPED)
    generator = np.random.default_rng(0)
    odds = rows.weight / rows.total_weight
    one, other = generator.choice(rows.n_rows, (2, size), p=odds)
    swapped = generator.random((len(groups), size)) < _SWAPPED
    target = np.append(rows.target, np.zeros(size))
    weight = np.append(rows.weight, np.full(size, _SWAPPED_WEIGHT * rows.total_weight / size))
    if isinstance(rows, CodedRows):  # a group is all codes of a column
        values = rows.values
        crossed = values[one]
        for column, index in enumerate(swapped):
            crossed[index, column] = values[other[index], column]
        both = np.vstack([values, crossed])
        return replace(rows, X=both, target=target, weight=weight, index=None)
    inputs = rows.collect(lambda block: block.inputs.copy())
    mixed = inputs[:, one]
    for group, index in zip(groups, swapped, strict=True):
        mixed[np.ix_(group, index)] = inputs[np.ix_(group, other[index])]
    return HeldRows(np.hstack([inputs, mixed]), target, weight)


def hold(rows: Rows) -> Rows:
    """Rows laid out once for many passes: those of large tables in single precision."""
    cells = rows.n_rows * (rows.n_features + 1)
    if (
        isinstance(rows, CodedRows)
        or not budgets.HELD_DOUBLE < 8 * cells <= 2 * budgets.HELD_SINGLE
    ):
        return rows.held()
    inputs = rows.collect(lambda block: block.inputs.astype(np.float32))
    return HeldRows(inputs, rows.target, rows.weight)
