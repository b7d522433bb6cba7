"""A linear model beside the network, for tables where a linear function is nearly all there is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lifenet._settings import Settings
from lifenet.data.evaluation import scores_of
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.network import ReluNetwork
from lifenet.neurons.features import GivenColumns
from lifenet.neurons.layer import Layer
from lifenet.output.ridge import RidgeOutput

if TYPE_CHECKING:
    from lifenet._typing import Integers
    from lifenet.data.inputs import Inputs
    from lifenet.data.run import Run
    from lifenet.stacking.base import Choice, Contest

__all__ = ["LinearModel", "linear_network"]


@dataclass(repr=False)
class LinearModel(Settings):
    """A companion: ridge or logistic regression on the values of the columns.

    Many neurons can only come close to a linear function, and few rows keep them from doing so.
    """

    name: ClassVar[str] = "linear model"
    needs_ramps: ClassVar[bool] = False

    def choose(self, contest: Contest, data: Inputs, run: Run) -> Choice | None:
        """The only one there is."""
        values = _values(data)
        scores = [
            scores_of(fold.validation, linear_network(fold.train, values))
            for fold in contest.folds
            if fold.validation is not None
        ]
        return contest.weigh(None, scores)

    def fit(self, settings: None, data: Inputs, run: Run) -> ReluNetwork:
        """The linear model of all rows: a network without neurons."""
        return linear_network(data.problem, _values(data))

    def describe(self, settings: None) -> dict[str, Any]:
        """Nothing is chosen but the weight."""
        return {}


def linear_network(problem: Problem, values: Integers) -> ReluNetwork:
    """Ridge or logistic regression on some of the inputs, as the linear part of a network."""
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
    n_inputs, n_outputs = problem.rows.n_features, problem.loss.n_outputs
    linear = np.zeros((n_inputs, n_outputs))
    linear[values] = found[:-1]
    none = np.zeros((0, n_inputs))
    return ReluNetwork(none, np.zeros(0), np.zeros((0, n_outputs)), found[-1], linear)


def _values(data: Inputs) -> Integers:
    """The inputs that rise with the columns."""
    return np.arange(data.rows.n_features) if data.columns is None else data.columns.value
