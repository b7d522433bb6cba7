"""A sparse output layer: few of many features, by an elastic net whose penalty the data choose.

    minimise  1/N sum_i w_i loss_i + penalty * (l1_ratio |b|_1 + (1 - l1_ratio) / 2 |b|²)

over b = scale * coefficient, intercepts free, N the sum of the weights. Squared error is fitted
from moments alone (`sparse_moments`), other losses by passes over the rows (`sparse_rows`). Both
rest on one engine for penalised quadratics (`kernels.sparse_quadratic`); here the penalty is
chosen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.folds import Fold
from lifenet.output.sparse_moments import moment_paths
from lifenet.output.sparse_path import AT_THE_END, ON_THE_WAY, Units
from lifenet.output.sparse_rows import row_paths

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.neurons.layer import Layer
    from lifenet.output.sparse_path import Path, Paths

__all__ = ["ElasticNetOutput", "make_paths"]

# The least penalty tried, as a share of the one that empties the model: with more rows than
# features, and with fewer, where small penalties only lead to interpolation.
_LEAST_SHARE, _LEAST_SHARE_WIDE = 1e-4, 1e-2
# This many penalties in a row without a better figure end the search.
_PATIENCE = 10
# From one penalty to the next on the way to a given one.
_STRIDE = 0.6

Criterion = Callable[[float], tuple[float, float]]


@dataclass(repr=False)
class ElasticNetOutput(Settings):
    """Elastic net on the features; coefficients that are not chosen are exactly zero.

    Without validation rows, memory for squared error is 3 n_folds + 5 matrices of n_features
    squared; other losses need a matrix over the working set for each output.

    Parameters
    ----------
    l1_ratio : share of the penalty that falls on absolute values; 1 is the lasso
    penalty : a number; or how to choose it: "folds" (random folds over the rows, or the validation
        rows where there are some), "bic" or "aic"
    rule : "best", the penalty of the least mean loss, or "one-se", the largest whose mean loss is
        within one standard error of that; for folds and validation rows
    n_folds : number of random folds
    n_penalties : length of the grid, logarithmic from the least penalty that empties the model.
        The search ends early where ten penalties in a row have brought nothing better.

    Notes
    -----
    Weights count rows: a row of weight 2 is two rows, also in the standard error over validation
    rows and in the N of the information criteria,

        classes   2 N (mean loss) + c df,      other losses   N log(2 (mean loss)) + c df,

    where df is the number of non-zero coefficients and c is log N (bic) or 2 (aic). The second is
    for losses whose dispersion is not known; for squared error it is N log(RSS / N) + c df.
    """

    weighs_members: ClassVar[bool] = False

    l1_ratio: float = 0.5
    penalty: float | str = "folds"
    rule: str = "one-se"
    n_folds: int = 5
    n_penalties: int = 50

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "l1_ratio": [Interval(Real, 0, 1, closed="right")],
        "penalty": [
            Interval(Real, 0, None, closed="neither"),
            StrOptions({"folds", "bic", "aic"}),
        ],
        "rule": [StrOptions({"best", "one-se"})],
        "n_folds": [Interval(Integral, 2, None, closed="left")],
        "n_penalties": [Interval(Integral, 1, None, closed="left")],
    }

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients of the features, the intercepts last: (n_features + 1, n_outputs).

        A penalty that is neither a number nor from an information criterion is chosen on the
        validation rows where there are some, else by random folds of all rows.
        """
        problem = fold.fit
        if self.penalty == "folds" and fold.validation is not None:
            penalty = self._validated(fold.train, fold.validation, layer)
            given = ElasticNetOutput(self.l1_ratio, penalty)
            return given.fit(layer, Fold.whole(problem), generator)
        units = Units.measure(problem, layer)
        if units.n_features == 0:
            return units.raw(_null_model(problem))
        n_folds = min(self.n_folds, problem.rows.n_rows) if self.penalty == "folds" else 1
        part = generator.permutation(problem.rows.n_rows) % n_folds
        paths = make_paths(problem, units, float(self.l1_ratio), part, n_folds)
        return units.raw(_centred(problem, self._follow(paths, problem, units)))

    def _follow(self, paths: Paths, problem: Problem, units: Units) -> Floats:
        """The model of the chosen penalty."""
        whole = paths.whole
        if whole.largest <= 0.0:  # nothing to explain
            return whole.advance(1.0, AT_THE_END)
        if not isinstance(self.penalty, str):
            return _walk(whole, _stairs(whole.largest, float(self.penalty)))
        grid = self._grid(whole, problem, units)
        if self.penalty == "folds":
            chosen = _search(grid, _across(paths.folds), self.rule)
            return _walk(whole, grid[: chosen + 1])
        cost = np.log(problem.rows.total_weight) if self.penalty == "bic" else 2.0
        chosen = _search(grid, _information(whole, problem, cost), "best")
        return whole.advance(float(grid[chosen]), AT_THE_END)

    def _validated(self, train: Problem, validation: Problem, layer: Layer) -> float:
        """The penalty of a path of fits to the training rows that suits the validation rows."""
        units = Units.measure(train, layer)
        if units.n_features == 0:
            return 1.0
        everyone = np.zeros(train.rows.n_rows, dtype=np.intp)
        path = make_paths(train, units, float(self.l1_ratio), everyone, 1).whole
        if path.largest <= 0.0:
            return 1.0
        grid = self._grid(path, train, units)
        return float(grid[_search(grid, _on_rows(path, validation, units), self.rule)])

    def _grid(self, path: Path, problem: Problem, units: Units) -> Floats:
        """Penalties to be tried, falling."""
        wide = problem.rows.total_weight <= units.n_features
        share = _LEAST_SHARE_WIDE if wide else _LEAST_SHARE
        return np.geomspace(path.largest, path.largest * share, self.n_penalties)


def _null_model(problem: Problem) -> Floats:
    return problem.loss.null_score(problem.rows.target, problem.rows.weight)[None, :]


def _centred(problem: Problem, model: Floats) -> Floats:
    """The intercepts about their mean, where only their differences are determined."""
    if problem.loss.relative:
        model[-1] -= model[-1].mean()
    return model


# Choosing the penalty


def _stairs(largest: float, penalty: float) -> Floats:
    """Penalties on the way down to a given one."""
    if penalty >= largest:
        return np.array([penalty])
    n_steps = int(np.ceil(np.log(penalty / largest) / np.log(_STRIDE)))
    return np.geomspace(largest, penalty, n_steps + 1)


def _walk(path: Path, penalties: Floats) -> Floats:
    """Down to the last penalty, roughly on the way and exactly at the end."""
    for penalty in penalties[:-1]:
        path.advance(float(penalty), ON_THE_WAY)
    return path.advance(float(penalties[-1]), AT_THE_END)


def _search(grid: Floats, criterion: Criterion, rule: str) -> int:
    """Place of the chosen penalty in a falling grid."""
    figures: list[tuple[float, float]] = []
    best = 0
    for index, penalty in enumerate(grid):
        figures.append(criterion(float(penalty)))
        if figures[index][0] < figures[best][0]:
            best = index
        if index - best >= _PATIENCE:
            break
    if rule == "best":
        return best
    bound = sum(figures[best])
    return next(index for index, figure in enumerate(figures) if figure[0] <= bound)


def _information(path: Path, problem: Problem, cost: float) -> Criterion:
    """An information criterion that charges `cost` for each non-zero coefficient."""
    n = problem.rows.total_weight

    def criterion(penalty: float) -> tuple[float, float]:
        model = path.advance(penalty, ON_THE_WAY)
        loss = path.loss()
        if not problem.loss.dispersion_known:
            # Moments do not know errors below rounding, nor does the logarithm like zero.
            least = np.finfo(np.float64).eps * problem.null_loss()
            deviance = n * float(np.log(2.0 * max(loss, least)))
        else:
            deviance = 2.0 * n * loss
        return deviance + cost * np.count_nonzero(model[:-1]), 0.0

    return criterion


def _on_rows(path: Path, validation: Problem, units: Units) -> Criterion:
    """Mean loss on validation rows, and its standard error over them."""
    weight, n = validation.rows.weight, validation.rows.total_weight

    def criterion(penalty: float) -> tuple[float, float]:
        model = path.advance(penalty, ON_THE_WAY)
        losses = _losses(validation, units, model)
        mean = float(weight @ losses) / n
        return mean, float(np.sqrt(weight @ np.square(losses - mean))) / n

    return criterion


def _losses(problem: Problem, units: Units, model: Floats) -> Floats:
    """Loss of each row under a model in the penalty's units, (n_rows,)."""
    used = np.flatnonzero(model[:-1].any(axis=1))
    chosen, coefficients = units.select(used), model[used]

    def losses(block: Block) -> Floats:
        score = chosen.of(block).T @ coefficients + model[-1]
        return problem.loss.value(block.target, score)

    return problem.rows.collect(losses)


def _across(paths: Sequence[Path]) -> Criterion:
    """Mean loss on the rows that each path leaves out, and its standard error over the folds."""
    weight = np.array([path.left_out_weight for path in paths])
    weight /= weight.sum()

    def criterion(penalty: float) -> tuple[float, float]:
        for path in paths:
            path.advance(penalty, ON_THE_WAY)
        losses = np.array([path.left_out_loss() for path in paths])
        mean = float(weight @ losses)
        spread = float(weight @ np.square(losses - mean))
        return mean, float(np.sqrt(spread / max(len(paths) - 1, 1)))

    return criterion


def make_paths(
    problem: Problem, units: Units, l1_ratio: float, fold: Integers, n_folds: int
) -> Paths:
    """Paths for a loss; one fold means that none is left out.

    Parameters
    ----------
    fold : (n_rows,), the fold of each row
    """
    from_moments = problem.loss.quadratic and problem.loss.n_outputs == 1
    make = moment_paths if from_moments else row_paths
    return make(problem, units, l1_ratio, fold, n_folds)
