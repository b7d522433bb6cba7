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

__all__ = ["Fold", "disagreement", "mix_with_trees", "sample_of"]


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


def mix_with_trees(
    network: ReluNetwork,
    done: Sequence[tuple[Fold, ReluNetwork]],
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
    done : folds, and the network of each
    problem : standardised codes of all rows, which the trees are grown on
    """
    judged = [(fold, fold.judge, one) for fold, one in done if fold.judge is not None]
    if not judged:
        return network, None
    scores = [_scored(judge, one) for _, judge, one in judged]
    apart: list[Apart] = []
    for (fold, judge, _), score in zip(judged, scores, strict=True):
        if sum(len(one.score) for one in apart) < boosting.n_judging:
            apart.append(Apart(sample_of(fold.learn, columns), sample_of(judge, columns), score))
    # Rows apart judge single networks, whose mean is better by what they differ in.
    folds = [fold for fold, _, _ in judged]
    spread = (1 - 1 / len(judged)) * disagreement(folds, scores)
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


def sample_of(problem: Problem, columns: CodedColumns) -> Sample:
    """Rows as trees see them: by the codes that rise with the columns."""
    rows = problem.rows
    values = rows.collect(lambda block: block.inputs[columns.value].copy()).T
    return Sample(values, rows.target, rows.weight)


def _scored(problem: Problem, network: ReluNetwork) -> Floats:
    """What a network says of rows, (n_rows, n_outputs)."""
    return problem.rows.collect(lambda block: network.score(block.inputs[:-1].T).T).T
