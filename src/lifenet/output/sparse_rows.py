"""The sparse output layer of any smooth loss: proximal Newton steps on a working set of features.

What is kept of the rows is one score for each row and output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.sparse_quadratic import (
    HALVINGS,
    SUFFICIENT_FALL,
    common_shift,
    minimise_with_free,
    penalty_value,
    violations,
)
from lifenet.output.sparse_path import AT_THE_END, PASS_ROWS, ROUNDING, Paths

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.output.sparse_path import Units

__all__ = ["RowPath", "row_paths"]

# A block's sums are as large as the Gram matrix itself: longer blocks, fewer additions.
_GRAM_ROWS = 4096
_MAX_ROUNDS = 50
_MAX_STEPS = 50
# A working set takes in at least this many features at once.
_LEAST_ROOM = 50
# The working set's violation is brought below this share of what is asked for.
_INNER_SHARE = 0.3
# Curvature is computed anew once a step with an old one leaves more than this of the violation:
# where outputs step together, and where each steps apart and convergence is slower anyhow.
_POOR_STEP, _POOR_STEP_APART = 0.2, 0.7
# Outputs step together up to this many unknowns, beyond which their joint curvature is too large.
_MOST_TOGETHER = 1500
# Rows that are all but certain get this share of the largest curvature, or steps would explode.
_LEAST_CURVATURE = 1e-5


def row_paths(
    problem: Problem, units: Units, l1_ratio: float, fold: Integers, n_folds: int
) -> Paths:
    """The path of all rows and those without a fold each; one fold means that none is left out.

    Parameters
    ----------
    fold : (n_rows,), the fold of each row
    """
    nobody = np.zeros(len(fold), dtype=bool)
    numbers = range(n_folds) if n_folds > 1 else range(0)
    return Paths(
        RowPath(problem, units, l1_ratio, nobody),
        [RowPath(problem, units, l1_ratio, fold == k) for k in numbers],
    )


@dataclass(frozen=True)
class _Curvature:
    """Second derivatives of the mean loss, of all outputs together or of each apart.

    Attributes
    ----------
    n_joint : number of outputs that step together: all of them, or one
    rows : (n_rows, n_pairs), weighted curvature of each row, as it was when computed; the pairs are
        those of the outputs that step together
    indices : (k,), features covered
    hessian : (n_pairs, k, k), products of the features
    with_intercept : (n_pairs, k), products of the features and the intercept
    """

    n_joint: int
    rows: Floats
    indices: Integers
    hessian: Floats
    with_intercept: Floats

    def covers(self, indices: Integers) -> bool:
        """Whether it knows all of some features."""
        return bool(np.isin(indices, self.indices).all())

    def system(self, indices: Integers, group: int) -> tuple[Floats, Floats, Floats]:
        """Of a group of outputs: over some features, with the intercepts, and theirs alone.

        Shapes are (c k, c k), (c k, c) and (c, c) for c joint outputs, one output after the other.
        """
        c, k = self.n_joint, len(indices)
        pairs = slice(group, group + c * c)
        order = np.argsort(self.indices)
        inside = order[np.searchsorted(self.indices, indices, sorter=order)]
        hessian = self.hessian[pairs][:, inside[:, None], inside].reshape(c, c, k, k)
        cross = self.with_intercept[pairs][:, inside].reshape(c, c, k)
        return (
            hessian.transpose(0, 2, 1, 3).reshape(c * k, c * k),
            cross.transpose(0, 2, 1).reshape(c * k, c),
            self.rows[:, pairs].sum(axis=0).reshape(c, c),
        )


class RowPath:
    """Any smooth convex loss, from passes over the rows.

    The scores of all rows are kept, of those left out as well, whose weight is zero here.
    """

    def __init__(self, problem: Problem, units: Units, l1_ratio: float, left_out: Bools):
        rows = problem.rows
        self._loss, self._units, self._l1_ratio = problem.loss, units, l1_ratio
        self._rows = rows.with_target(np.arange(rows.n_rows, dtype=np.float64))
        self._target, self._all_weight, self._left_out = rows.target, rows.weight, left_out
        total = rows.weight[~left_out].sum()
        self._share = np.where(left_out, 0.0, rows.weight) / total
        null = problem.loss.null_score(rows.target[~left_out], rows.weight[~left_out])
        self._intercept = np.array(null, dtype=np.float64)
        self._coefficients = np.zeros((units.n_features, len(null)))
        self._score = np.tile(self._intercept, (rows.n_rows, 1))
        self._curvature: _Curvature | None = None
        self._gradient = self._products(units, self._slopes())
        slope = float(np.abs(self._gradient).max())
        self.largest = slope / l1_ratio if slope > ROUNDING * self._deviation() else 0.0

    def _deviation(self) -> float:
        """A measure of the features' size: the largest mean absolute value."""

        def sums(block: Block) -> tuple[Floats]:
            return (np.abs(self._units.of(block)) @ block.weight,)

        return float(self._rows.sum(sums, PASS_ROWS)[0].max()) / self._rows.total_weight

    def advance(self, penalty: float, tolerance: float) -> Floats:
        """Go to a penalty, over rounds of checking all features and fitting a working set."""
        l1, l2 = penalty * self._l1_ratio, penalty * (1.0 - self._l1_ratio)
        for _ in range(_MAX_ROUNDS):
            violation = violations(self._coefficients, self._gradient, l1, l2)
            if max(violation.max(), self._intercept_slope()) <= tolerance * l1:
                break
            moved = self._fit_set(self._working_set(violation), l1, l2, tolerance)
            self._gradient = self._products(self._units, self._slopes())
            if not moved:
                break
        return np.vstack([self._coefficients, self._intercept])

    def _working_set(self, violation: Floats) -> Integers:
        """The features in the model and those most in violation, as many again.

        Correlated features violate in crowds, of which few are needed.
        """
        used = self._coefficients.any(axis=1)
        worst = np.where(used, 0.0, violation.max(axis=1))
        room = max(int(used.sum()), _LEAST_ROOM)
        added = np.argsort(-worst)[:room]
        return np.union1d(np.flatnonzero(used), added[worst[added] > 0.0])

    def loss(self) -> float:
        """Mean loss of the rows fitted."""
        return float(self._share @ self._row_losses(self._score))

    def left_out_loss(self) -> float:
        """Mean loss of the rows left out."""
        losses = self._row_losses(self._score)[self._left_out]
        return float(self._all_weight[self._left_out] @ losses) / self.left_out_weight

    @property
    def left_out_weight(self) -> float:
        """Weight of the rows left out."""
        return float(self._all_weight[self._left_out].sum())

    def _row_losses(self, score: Floats) -> Floats:
        return self._loss.value(self._target, score)

    def _slopes(self) -> Floats:
        """Derivative of the mean loss in each score, (n_rows, n_outputs)."""
        slopes = self._loss.gradient(self._target, self._score)
        return np.asarray(slopes * self._share[:, None])

    def _intercept_slope(self) -> float:
        return float(np.abs(self._slopes().sum(axis=0)).max())

    def _row_curvature(self, n_joint: int) -> Floats:
        """Weighted curvature of each row, (n_rows, n_pairs).

        Where outputs step apart but at once, twice the diagonal bounds the softmax Hessian
        ``diag(p) - p p'`` from above, so that their steps together do not overshoot. For other
        losses the search along a step shortens one that does.
        """
        n_outputs = self._score.shape[1]
        diagonal = self._loss.curvature(self._target, self._score)
        least = _LEAST_CURVATURE * float(diagonal.max()) + np.finfo(np.float64).tiny
        if n_joint < n_outputs:
            curvature = 2.0 * (diagonal + least)
        else:
            curvature = self._joint_row_curvature() + least * np.eye(n_outputs).ravel()
        return np.asarray(curvature * self._share[:, None])

    def _joint_row_curvature(self) -> Floats:
        """Curvature of each row between all pairs of outputs, (n_rows, n_outputs²)."""
        columns = []
        for d in range(self._score.shape[1]):
            unit = np.zeros_like(self._score)
            unit[:, d] = 1.0
            columns.append(self._loss.curvature_product(self._target, self._score, unit))
        return np.concatenate(columns, axis=1)

    def _fit_set(self, indices: Integers, l1: float, l2: float, tolerance: float) -> bool:
        """Newton steps on some features, the others fixed. Says whether any step was taken."""
        units, last, moved = self._units.select(indices), np.inf, False
        fresh = False
        poor = _POOR_STEP if self._n_joint(indices) == len(self._intercept) else _POOR_STEP_APART
        for _ in range(_MAX_STEPS):
            slopes = self._slopes()
            gradient = self._products(units, slopes)
            violation = violations(self._coefficients[indices], gradient, l1, l2).max(initial=0.0)
            violation = max(float(violation), float(np.abs(slopes.sum(axis=0)).max()))
            if violation <= _INNER_SHARE * tolerance * l1:
                break
            fresh = self._renew_curvature(indices, poor=violation > poor * last and not fresh)
            if not self._step(units, indices, gradient, slopes.sum(axis=0), l1, l2):
                if fresh:
                    break  # the optimum, to rounding
                violation = 0.0  # whatever the next one, it asks for a new curvature
            else:
                moved = True
            last = violation
        return moved

    def _n_joint(self, indices: Integers) -> int:
        """How many outputs step together."""
        n_outputs = len(self._intercept)
        return n_outputs if n_outputs * len(indices) <= _MOST_TOGETHER else 1

    def _renew_curvature(self, indices: Integers, *, poor: bool) -> bool:
        """See that the curvature covers the features and is good; says whether it is brand new."""
        known, n_joint = self._curvature, self._n_joint(indices)
        if known is None or poor or known.n_joint != n_joint:
            rows = self._row_curvature(n_joint)
            hessian, with_intercept = self._pairs(indices, indices, rows)
            self._curvature = _Curvature(n_joint, rows, indices, hessian, with_intercept)
            return True
        if not known.covers(indices):
            self._curvature = self._extended(known, np.setdiff1d(indices, known.indices))
        return False

    def _extended(self, known: _Curvature, added: Integers) -> _Curvature:
        """The same rows' curvature over more features: only the new pairs are computed."""
        indices = np.concatenate([known.indices, added])
        n_known, n = len(known.indices), len(indices)
        pairs, with_intercept = self._pairs(added, indices, known.rows)
        hessian = np.empty((len(pairs), n, n))
        hessian[:, :n_known, :n_known] = known.hessian
        hessian[:, n_known:] = pairs
        hessian[:, :n_known, n_known:] = pairs[:, :, :n_known].transpose(0, 2, 1)
        intercept = np.concatenate([known.with_intercept, with_intercept], axis=1)
        return _Curvature(known.n_joint, known.rows, indices, hessian, intercept)

    def _step(
        self,
        units: Units,
        indices: Integers,
        gradient: Floats,
        intercept_gradient: Floats,
        l1: float,
        l2: float,
    ) -> bool:
        """One proximal Newton step with a search along it; False where no length helps."""
        old = self._coefficients[indices]
        change, shift = self._change(indices, gradient, intercept_gradient, l1, l2)
        slope = float(np.sum(gradient * change) + intercept_gradient @ shift)
        promised = slope + penalty_value(old + change, l1, l2) - penalty_value(old, l1, l2)
        score_change = self._score_change(units, change) + shift
        before = self.loss() + penalty_value(old, l1, l2)
        for halving in range(HALVINGS):
            length = 0.5**halving
            new = old + length * change if halving else old + change
            score = self._score + length * score_change
            after = float(self._share @ self._row_losses(score)) + penalty_value(new, l1, l2)
            rounding = 4 * np.finfo(np.float64).eps * abs(before)
            if after <= before + SUFFICIENT_FALL * length * promised + rounding:
                if self._loss.relative:
                    new = new - common_shift(new, l1, l2)[:, None]
                self._coefficients[indices] = new
                self._intercept = self._intercept + length * shift
                self._score = score
                return True
        return False

    def _change(
        self,
        indices: Integers,
        gradient: Floats,
        intercept_gradient: Floats,
        l1: float,
        l2: float,
    ) -> tuple[Floats, Floats]:
        """Step of the coefficients, (k, n_outputs), and of the intercepts, (n_outputs,)."""
        assert self._curvature is not None
        n_joint, old = self._curvature.n_joint, self._coefficients[indices]
        change, shift = np.empty_like(old), np.empty_like(self._intercept)
        for group in range(len(shift) // n_joint):
            outputs = slice(group, group + n_joint)
            step, shift[outputs] = minimise_with_free(
                self._curvature.system(indices, group),
                (gradient[:, outputs].T.ravel(), intercept_gradient[outputs]),
                old[:, outputs].T.ravel(),
                (l1, l2),
                AT_THE_END,
            )
            change[:, outputs] = step.reshape(n_joint, len(indices)).T
        return change, shift

    def _products(self, units: Units, values: Floats) -> Floats:
        """Sums over the rows of feature times value: (n_features, n_outputs)."""

        def sums(block: Block) -> tuple[Floats]:
            return (units.features.of(block) @ values[_numbers(block)],)

        # Centring the sums instead of the features saves two thirds of the time.
        (total,) = self._rows.sum(sums, PASS_ROWS)
        total -= units.center[:, None] * values.sum(axis=0)
        return np.asarray(total / units.scale[:, None])

    def _score_change(self, units: Units, change: Floats) -> Floats:
        """Change of the scores, (n_rows, n_outputs)."""
        used = np.flatnonzero(change.any(axis=1))
        chosen = units.select(used)
        raw = change[used] / chosen.scale[:, None]
        scores = self._rows.collect(lambda block: raw.T @ chosen.features.of(block))
        return np.asarray(scores.T - chosen.center @ raw)

    def _pairs(self, some: Integers, all_: Integers, rows: Floats) -> tuple[Floats, Floats]:
        """Curvature between some features and all: (n_outputs, n_some, n_all), (n_outputs, n_some).

        The second is the curvature between those features and the intercept.
        """
        units, n_outputs = self._units.select(all_), rows.shape[1]
        new = slice(len(all_) - len(some), None)

        def sums(block: Block) -> tuple[Floats, Floats]:
            features, weight = units.of(block), rows[_numbers(block)].T
            pairs = np.empty((n_outputs, len(some), len(all_)))
            for c in range(n_outputs):
                np.matmul(features[new] * weight[c], features.T, out=pairs[c])
            return pairs, weight @ features[new].T

        return self._rows.sum(sums, _GRAM_ROWS)


def _numbers(block: Block) -> Integers:
    """The rows' own numbers, where they were put in place of the targets."""
    return block.target.astype(np.intp)
