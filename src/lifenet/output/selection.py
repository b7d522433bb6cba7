"""Base learner selection, the paper's Algorithm 3: drop members whose errors others also make."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval

from lifenet._settings import Settings
from lifenet.kernels.redundancy import keep_least_redundant
from lifenet.output.ridge import RidgeOutput

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.neurons.layer import Layer
    from lifenet.output.base import Output

__all__ = ["BaseLearnerSelection"]

_BLOCK_ROWS = 4096


@dataclass(repr=False)
class BaseLearnerSelection(Settings):
    """Keep the members whose errors are least explained by those of the others, then combine them.

    A member's residuals on all rows are regressed on those of all other members; the one with the
    highest R² is removed, and so on with those left, until the wanted share remains. (Removing all
    at once by one ranking, as one may read the paper, would drop both of two near-duplicates.) With
    more than two classes the members of each class are selected among themselves.

    Parameters
    ----------
    keep : float, default=0.5
        Share of the members to keep: the paper's tau or theta.
    then : output layer, default=RidgeOutput()
        How the neurons of the members kept are combined.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "keep": [Interval(Real, 0, 1, closed="right")],
        "then": [HasMethods(["fit", "check"])],
    }

    weighs_members: ClassVar[bool] = True

    keep: float = 0.5
    then: Output = field(default_factory=RidgeOutput)

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        self.then.check()

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients, (n_features + 1, n_outputs); zero for the neurons of dropped members."""
        kept = self.select(fold.fit, layer)
        index = layer.features_of(kept)
        chosen = self.then.fit(layer.select(kept), fold, generator)
        coefficients = np.zeros((layer.n_features + 1, chosen.shape[1]))
        coefficients[index] = chosen[:-1]
        coefficients[-1] = chosen[-1]
        return coefficients

    def select(self, problem: Problem, layer: Layer) -> Integers:
        """Numbers of the members kept, rising."""
        covariance = residual_covariance(problem, layer)
        kept = []
        for output in np.unique(layer.output):
            members = np.flatnonzero(layer.output == output)
            n_kept = max(1, round(self.keep * len(members)))
            kept.append(members[keep_least_redundant(covariance[np.ix_(members, members)], n_kept)])
        return np.sort(np.concatenate(kept))


def residual_covariance(problem: Problem, layer: Layer) -> Floats:
    """Weighted covariance of the members' residuals ``y - mean(score)``, (n_members, n_members)."""

    def sums(block: Block) -> tuple[Floats, Floats]:
        residuals = member_residuals(problem, layer, block)
        return residuals @ block.weight, (residuals * block.weight) @ residuals.T

    first, second = problem.rows.sum(sums, _BLOCK_ROWS)
    mean = first / problem.rows.total_weight
    return np.asarray(second / problem.rows.total_weight - np.outer(mean, mean))


def member_residuals(problem: Problem, layer: Layer, block: Block) -> Floats:
    """Target minus prediction of every member on a block, (n_members, n_rows)."""
    loss = problem.loss
    scores, responses = layer.member_scores(block), loss.responses(block.target)
    residuals = np.empty(scores.shape)
    for output in np.unique(layer.output):
        of, one = layer.output == output, loss.against_rest(int(output))
        residuals[of] = responses[:, output] - one.mean(scores[of][..., None])[..., 0]
    return residuals
