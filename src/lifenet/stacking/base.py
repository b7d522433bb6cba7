"""What a recipe asks of a companion of the network, and the out-of-fold losses that weigh it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Protocol

import numpy as np

from lifenet.data.evaluation import scores_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.finetune.base import FineTuned
    from lifenet.network import ReluNetwork
    from lifenet.neurons.hierarchy import Stage

__all__ = ["Companion", "FoldFit", "Stacked", "averaging_gain", "mean_fold_loss", "variance_loss"]


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The network of a fold, what it says of the validation rows, and how it came about.

    Attributes
    ----------
    score : (n_validation, n_outputs); no rows where there are none
    stages : the levels of the fold's hierarchy of base learners
    n_leaves : leaf neurons in its layer
    tuned : how fine-tuning went; None without any
    seconds : that the fold took
    """

    fold: Fold
    network: ReluNetwork
    score: Floats
    stages: tuple[Stage, ...] = ()
    n_leaves: int = 0
    tuned: FineTuned | None = None
    seconds: float = 0.0

    @classmethod
    def of(cls, fold: Fold, network: ReluNetwork, **known: object) -> FoldFit:
        """A network, evaluated on the validation rows."""
        validation = fold.validation
        empty = np.zeros((0, network.n_outputs))
        score = empty if validation is None else scores_of(validation, network)
        return cls(fold, network, score, **known)  # type: ignore[arg-type]

    def mixed(self, other: ReluNetwork, score: Floats, weight: float) -> FoldFit:
        """The network and another one, which has this score, with a weight for the other."""
        networks = type(self.network).concatenate([self.network, other], (1.0 - weight, weight))
        return replace(self, network=networks, score=(1.0 - weight) * self.score + weight * score)


@dataclass(frozen=True)
class Stacked:
    """A companion that was weighed beside the network.

    Attributes
    ----------
    companion : its class, in words
    weight : from 0, where it is not in the network, to 1
    loss : mean loss of the validation rows with it
    loss_without : the same without it
    settings : of the companion that were chosen on the validation rows
    behind : whether its neurons stand behind those of the mean of the folds, not among them
    """

    companion: str
    weight: float
    loss: float
    loss_without: float
    settings: dict[str, float]
    behind: bool = True

    @property
    def gain(self) -> float:
        """Loss that it saves; zero where it has no weight."""
        return max(self.loss_without - self.loss, 0.0) if self.weight > 0 else 0.0


class Companion(Protocol):
    """Settings of a model that is stacked with the network. A new companion is one such class."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def add(
        self, network: ReluNetwork, fits: Sequence[FoldFit], data: Inputs, run: Run
    ) -> tuple[ReluNetwork, tuple[FoldFit, ...], Stacked | None]:
        """The network with this companion, in a weight that the validation rows choose."""


def mean_fold_loss(folds: Sequence[Fold], scores: Sequence[Floats]) -> float:
    """Mean loss of the validation rows of folds, where they have these scores."""
    total = weight = 0.0
    for fold, score in zip(folds, scores, strict=True):
        if fold.validation is None:
            continue
        rows, loss = fold.validation.rows, fold.validation.loss
        total += float(rows.weight @ loss.value(rows.target, score))
        weight += rows.total_weight
    return total / weight


def variance_loss(fits: Sequence[FoldFit]) -> float:
    """Estimate of the part of the expected loss that is due to the variance of one network.

    Half the curvature times the variance between two networks, on rows that neither has seen;
    zero where there are no such rows.
    """
    found = []
    for one, other in combinations(fits, 2):
        fold = one.fold
        if fold.validation is None or fold.index is None or other.fold.index is None:
            continue
        _, here, there = np.intersect1d(fold.index, other.fold.index, return_indices=True)
        first, second = one.score[here], other.score[there]
        middle = (first + second) / 2
        target = fold.validation.rows.target[here]
        curvature = fold.validation.loss.curvature(target, middle)
        found.append((curvature * np.square(first - second) / 4).sum(axis=1))
    values = np.concatenate([np.zeros(0), *found])
    return float(values.mean()) if len(values) else 0.0


def averaging_gain(problem: Problem, networks: Sequence[ReluNetwork]) -> Floats:
    """How much lower the loss of the mean of networks is than theirs, row by row, (n_rows,).

    Half the curvature times the variance between them. On rows that most of them were trained on
    it is rather too little.
    """
    scores = np.stack([scores_of(problem, one) for one in networks])
    middle = scores.mean(axis=0)
    curvature = problem.loss.curvature(problem.rows.target, middle)
    return np.asarray((0.5 * curvature * scores.var(axis=0)).sum(axis=1))
