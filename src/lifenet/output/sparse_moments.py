"""The sparse output layer of squared error: moments say all, and rows are passed over once."""

from __future__ import annotations

from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data.problem import Problem
from lifenet.kernels.sparse_quadratic import minimise
from lifenet.output.moments import gather_moments
from lifenet.output.sparse_path import AT_THE_END, CONSTANT, ROUNDING, Paths

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.output.moments import Moments
    from lifenet.output.sparse_path import Units

__all__ = ["MomentPath", "moment_paths"]


def moment_paths(
    problem: Problem, units: Units, l1_ratio: float, fold: Integers, n_folds: int
) -> Paths:
    """The path of all rows and those without a fold each; one fold means that none is left out.

    Parameters
    ----------
    problem : of squared error
    fold : (n_rows,), the fold of each row
    """
    # Features and target about their means: raw products of large offsets would cancel.
    rows, ones = problem.rows, np.ones(units.n_features)
    shift = float(problem.loss.null_score(rows.target, rows.weight)[0])
    rows = rows.with_target(rows.target - shift)
    if n_folds == 1:
        whole = gather_moments(Problem(rows, problem.loss), units, ones)
        return Paths(MomentPath(whole, shift, l1_ratio), [])
    parts = [
        gather_moments(Problem(rows.take(np.flatnonzero(fold == k)), problem.loss), units, ones)
        for k in range(n_folds)
    ]
    whole = reduce(add, parts)
    return Paths(
        MomentPath(whole, shift, l1_ratio),
        [MomentPath(whole - part, shift, l1_ratio, part) for part in parts],
    )


class MomentPath:
    """Squared error, from moments.

    Parameters
    ----------
    moments : of the rows fitted, the target less `shift`
    shift : what was subtracted from the target
    left_out : of other rows, the target less `shift`
    """

    def __init__(
        self, moments: Moments, shift: float, l1_ratio: float, left_out: Moments | None = None
    ):
        self._moments, self._shift = moments, shift
        self._left_out, self._l1_ratio = left_out, l1_ratio
        covariance, with_target, variance = moments.centred
        # Less a fold, a feature may no longer vary; the covariance then holds only rounding.
        square = np.diag(moments.products)[: moments.n_features] / moments.total
        constant = ~(np.diag(covariance) > CONSTANT * square)
        self._hessian = np.ascontiguousarray(covariance)
        self._hessian[constant] = 0.0
        self._gradient: Floats = np.where(constant, 0.0, -with_target[:, 0])
        self._coefficients: Floats = np.zeros(len(self._gradient))
        deviation = float(np.sqrt(max(np.diag(self._hessian).max(), 0.0)))
        target = np.sqrt(variance) + abs(shift)
        largest = float(np.abs(self._gradient).max())
        self.largest = largest / l1_ratio if largest > ROUNDING * deviation * target else 0.0

    def advance(self, penalty: float, tolerance: float) -> Floats:
        """The engine solves to the tightest tolerance at no great cost: there is no other."""
        l1, l2 = penalty * self._l1_ratio, penalty * (1.0 - self._l1_ratio)
        self._coefficients, self._gradient = minimise(
            self._hessian, self._gradient, self._coefficients, l1, l2, min(tolerance, AT_THE_END)
        )
        model = self._model()
        model[-1] += self._shift
        return model

    def _model(self) -> Floats:
        """Coefficients and intercept of the shifted target, (n_features + 1, 1)."""
        return self._moments.with_intercept(self._coefficients[:, None])

    def loss(self) -> float:
        """Mean loss of the rows fitted."""
        return _loss(self._moments, self._model())

    def left_out_loss(self) -> float:
        """Mean loss of the rows left out."""
        assert self._left_out is not None
        return _loss(self._left_out, self._model())

    @property
    def left_out_weight(self) -> float:
        """Weight of the rows left out."""
        assert self._left_out is not None
        return self._left_out.total


def _loss(moments: Moments, model: Floats) -> float:
    """Mean of half the squared error of a model (n_features + 1, 1)."""
    error = np.append(model[:, 0], -1.0)
    return max(float(error @ (moments.products @ error)), 0.0) / (2.0 * moments.total)
