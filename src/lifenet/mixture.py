"""Networks of folds and boosted trees of all rows, in shares that the folds choose."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from lifenet.network import ReluNetwork
from lifenet.rules.boosting import Apart, Sample
from lifenet.rules.neurons import rule_network

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.rules.boosting import Boosting, Mixture
    from lifenet.rules.columns import CodedColumns
    from lifenet.solvers.base import Problem

__all__ = [
    "Fold",
    "FoldNetwork",
    "disagreement",
    "mean_fold_loss",
    "mix_with_trees",
    "sample_of",
    "saved_by_averaging",
    "scores_of",
]


@dataclass(frozen=True)
class Fold:
    """Rows to learn from and rows apart, which may be none.

    Attributes
    ----------
    places : numbers of the rows apart among all rows
    """

    learn: Problem
    judge: Problem | None
    places: Integers | None = None


@dataclass(frozen=True, eq=False)
class FoldNetwork:
    """The network of a fold, and what it says of the rows apart.

    Attributes
    ----------
    score : (n_judging, n_outputs); no rows where none are apart
    """

    fold: Fold
    network: ReluNetwork
    score: Floats

    @classmethod
    def of(cls, fold: Fold, network: ReluNetwork) -> FoldNetwork:
        """A network, asked about the rows apart."""
        empty = np.zeros((0, network.n_outputs))
        return cls(fold, network, empty if fold.judge is None else scores_of(fold.judge, network))


def scores_of(problem: Problem, network: ReluNetwork) -> Floats:
    """What a network says of rows, (n_rows, n_outputs)."""
    return problem.rows.collect(lambda block: network.score(block.inputs[:-1].T).T).T


def mix_with_trees(
    network: ReluNetwork,
    done: Sequence[FoldNetwork],
    problem: Problem,
    columns: CodedColumns,
    boosting: Boosting,
    seed: np.random.SeedSequence,
    n_jobs: int | None = None,
    deadline: float | None = None,
) -> tuple[ReluNetwork, Mixture | None]:
    """A network mixed with boosted trees, and what was chosen; None without rows apart.

    Parameters
    ----------
    network : the mean of the folds' networks
    done : the networks of the folds
    problem : standardised codes of all rows, which the trees are grown on
    """
    judged = [(one, one.fold.judge) for one in done if one.fold.judge is not None]
    if not judged:
        return network, None
    apart: list[Apart] = []
    for one, judge in judged:
        if sum(len(known.score) for known in apart) < boosting.n_judging:
            learn = sample_of(one.fold.learn, columns)
            apart.append(Apart(learn, sample_of(judge, columns), one.score))
    # Rows apart judge single networks, whose mean is better by what they differ in.
    differ = disagreement([one.fold for one, _ in judged], [one.score for one, _ in judged])
    spread = (1 - 1 / len(judged)) * differ
    rows = sample_of(problem, columns)
    chosen = boosting.choose(apart, rows, problem.loss, spread, seed, n_jobs, deadline)
    if chosen.share == 0:
        return network, chosen
    trees = boosting.grow(rows, problem.loss, chosen, seed)
    whole = rule_network(*trees.boxes(), trees.intercept(), columns)
    shares = (1 - chosen.share, chosen.share)
    return ReluNetwork.concatenate([network, whole], shares), chosen


def disagreement(folds: Sequence[Fold], scores: Sequence[Floats]) -> float:
    """How much of its loss a network has from its own accidents.

    Half the curvature times the variance of two networks, on rows that neither has seen; zero where
    there are no such rows.

    Parameters
    ----------
    scores : what the network of each fold says of its rows apart, (n_judging, n_outputs)
    """
    found = []
    for (one, score), (other, another) in combinations(zip(folds, scores, strict=True), 2):
        if one.judge is None or one.places is None or other.places is None:
            continue
        _, here, there = np.intersect1d(one.places, other.places, return_indices=True)
        first, second = score[here], another[there]
        middle = (first + second) / 2
        shaped = middle[:, 0] if middle.shape[1] == 1 else middle
        bent = one.judge.loss.curvature(one.judge.rows.target[here], shaped).reshape(middle.shape)
        found.append((bent * np.square(first - second) / 4).sum(axis=1))
    values = np.concatenate([np.zeros(0), *found])
    return float(values.mean()) if len(values) else 0.0


def saved_by_averaging(problem: Problem, networks: Sequence[ReluNetwork]) -> Floats:
    """How much lower the loss of the mean of networks is than theirs, row by row, (n_rows,).

    Half the curvature times the variance between them. On rows that most of them have learnt from
    it is rather too little.
    """
    scores = np.stack([scores_of(problem, one) for one in networks])
    middle = scores.mean(axis=0)
    shaped = middle[:, 0] if middle.shape[1] == 1 else middle
    bent = problem.loss.curvature(problem.rows.target, shaped).reshape(middle.shape)
    return np.asarray((0.5 * bent * scores.var(axis=0)).sum(axis=1))


def sample_of(problem: Problem, columns: CodedColumns) -> Sample:
    """Rows as trees see them: by the codes that rise with the columns."""
    rows = problem.rows
    values = rows.collect(lambda block: block.inputs[columns.value].copy()).T
    return Sample(values, rows.target, rows.weight)


def mean_fold_loss(folds: Sequence[Fold], scores: Sequence[Floats]) -> float:
    """Mean loss of the rows apart, where they have these scores."""
    total = weight = 0.0
    for fold, score in zip(folds, scores, strict=True):
        if fold.judge is None:
            continue
        rows = fold.judge.rows
        shaped = score[:, 0] if score.shape[1] == 1 else score
        total += float(rows.weight @ fold.judge.loss.value(rows.target, shaped))
        weight += rows.total_weight
    return total / weight
