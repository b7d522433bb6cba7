"""A linear model beside the network, for tables where a linear function is nearly all there is."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from lifenet._settings import Settings
from lifenet.data.evaluation import scores_of
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.network import ReluNetwork
from lifenet.neurons.features import GivenColumns
from lifenet.neurons.layer import Layer
from lifenet.output.ridge import RidgeOutput
from lifenet.stacking.base import FoldFit, Stacked, mean_fold_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.inputs import Inputs
    from lifenet.data.run import Run

__all__ = ["LinearModel", "linear_network"]

# Weights of the linear model that are compared.
_N_WEIGHTS = 20


@dataclass(repr=False)
class LinearModel(Settings):
    """A companion: ridge or logistic regression on the values of the columns.

    Many neurons can only come close to a linear function, and few rows keep them from doing so.

    Parameters
    ----------
    min_gain : float, default=0.02
        Share of the loss of the validation rows that it must save, of all folds together and in
        more than half of them each; with less it has no weight. A few rows that one network is
        far off on are no reason to make all linear.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_gain": [Interval(Real, 0, 1, closed="left")],
    }

    min_gain: float = 0.02

    def add(
        self, network: ReluNetwork, fits: Sequence[FoldFit], data: Inputs, run: Run
    ) -> tuple[ReluNetwork, tuple[FoldFit, ...], Stacked | None]:
        """The network with a linear model; each fold's network has one of the same rows."""
        if any(one.fold.validation is None for one in fits):
            return network, tuple(fits), None
        values = _values(data)
        lines = [linear_network(one.fold.train, values) for one in fits]
        scores = [
            scores_of(one.fold.validation, line)
            for one, line in zip(fits, lines, strict=True)
            if one.fold.validation is not None
        ]
        found = self._choose(fits, scores)
        if found.weight == 0:
            return network, tuple(fits), found
        mixed = tuple(
            one.mixed(line, score, found.weight)
            for one, line, score in zip(fits, lines, scores, strict=True)
        )
        weights = np.full(len(mixed), 1 / len(mixed))
        return ReluNetwork.concatenate([one.network for one in mixed], weights), mixed, found

    def _choose(self, fits: Sequence[FoldFit], scores: Sequence[Floats]) -> Stacked:
        """The weight with the least loss on the validation rows, or none."""
        folds = [one.fold for one in fits]
        pairs = [(one.score, score) for one, score in zip(fits, scores, strict=True)]
        weights = np.arange(_N_WEIGHTS + 1) / _N_WEIGHTS
        losses = [
            mean_fold_loss(folds, [_mixed(*pair, float(weight)) for pair in pairs])
            for weight in weights
        ]
        best = int(np.argmin(losses))
        weight, enough = float(weights[best]), 1.0 - self.min_gain
        gaining = [
            mean_fold_loss([fold], [_mixed(*pair, weight)])
            <= enough * mean_fold_loss([fold], [pair[0]])
            for fold, pair in zip(folds, pairs, strict=True)
        ]
        if losses[best] > enough * losses[0] or 2 * sum(gaining) <= len(pairs):
            weight, best = 0.0, 0
        return Stacked("linear model", weight, losses[best], losses[0], {}, behind=False)


def linear_network(problem: Problem, values: Integers) -> ReluNetwork:
    """Ridge or logistic regression on some of the inputs: a neuron for each output.

    A neuron is active on all rows, and beyond them by their range again: codes do not go beyond the
    rows, columns without codes may.
    """
    rows = problem.rows.with_columns(values)
    n = len(values)
    layer = Layer.of(GivenColumns(n), np.ones(n))
    if problem.loss.separable:
        # As if one row more said that nothing matters: classes that can be told apart ask for less.
        settings = RidgeOutput(penalty=1.0 / rows.total_weight)
    else:
        # The columns were there before the rows: a degree of freedom counts as one.
        settings = RidgeOutput(inflation=1.0)
    fold = Fold.whole(Problem(rows, problem.loss))
    found = settings.fit(layer, fold, np.random.default_rng(0))
    slopes, constant = found[:-1].T, found[-1]
    inside = rows.collect(lambda block: block.inputs[:-1].copy())
    low, high = inside.min(axis=1), inside.max(axis=1)
    ends = np.minimum(slopes * low, slopes * high).sum(axis=1)
    bias = np.abs(slopes) @ (high - low) - ends
    weights = np.zeros((len(slopes), problem.rows.n_features))
    weights[:, values] = slopes
    return ReluNetwork(weights, bias, np.eye(len(slopes)), constant - bias)


def _values(data: Inputs) -> Integers:
    """The inputs that rise with the columns."""
    return np.arange(data.rows.n_features) if data.columns is None else data.columns.value


def _mixed(network: Floats, line: Floats, weight: float) -> Floats:
    return (1.0 - weight) * network + weight * line
