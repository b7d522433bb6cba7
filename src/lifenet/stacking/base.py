"""Stacking: companions of the network, each with a weight that is chosen out of fold.

Wolpert ("Stacked generalization", 1992) and Breiman ("Stacked regressions", 1996) weigh models by
their losses on rows that they were not fitted to. Here those are the validation rows of the folds.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from lifenet._shown import shown
from lifenet.data.evaluation import scores_of, scores_on, some_rows, standard_error
from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.finetune.base import FineTuned
    from lifenet.neurons.hierarchy import Stage

__all__ = [
    "Choice",
    "Companion",
    "Contest",
    "Ensemble",
    "FoldFit",
    "Stacked",
    "add_with_weight",
    "averaging_gain",
    "share_rows",
    "variance_loss",
]

# Weights of a companion that are compared.
_WEIGHTS = np.arange(1, 21) / 20
# Validation rows, and folds, that are enough to choose by. Chosen by hand.
_ENOUGH_ROWS, _MOST_FOLDS = 6_000, 4
# Standard errors by which a companion must lower the loss of the validation rows.
_STANDARD_ERRORS = 1.0
# Models of all rows are better than those of the training rows: their loss falls with about this
# power of the rows. Only what the mean of the folds' networks gains beyond that counts.
_BY_ROWS = 0.2
# Share of a network's loss that the mean of several may save: the quadratic that says how much
# is too much where scores of classes are far apart.
_MOST_SPREAD = 0.9


@dataclass(frozen=True, eq=False)
class FoldFit:
    """The network of a fold, what it says of the validation rows, and how it came about.

    Attributes
    ----------
    score : (n_validation, n_outputs); no rows where there are none
    shared : scores of the rows that the networks of all folds are compared on, those of a fold each
    stages : the levels of the fold's hierarchy of base learners
    inputs : indices of the inputs that these read; None for all
    n_leaves : leaf neurons in its layer
    tuned : how fine-tuning went; None without any
    seconds : that the fold took
    steady_seconds : of them, those that no deadline can end: trees and output layer
    """

    fold: Fold
    network: ReluNetwork
    score: Floats
    shared: tuple[Floats, ...] = ()
    stages: tuple[Stage, ...] = ()
    inputs: Integers | None = None
    n_leaves: int = 0
    tuned: FineTuned | None = None
    seconds: float = 0.0
    steady_seconds: float = 0.0

    @classmethod
    def of(cls, fold: Fold, network: ReluNetwork, **known: Any) -> FoldFit:
        """A network, evaluated on the validation rows and on those that are shared."""
        if fold.validation is None:
            return cls(fold, network, np.zeros((0, network.n_outputs)), **known)
        score, *shared = scores_on([fold.validation, *fold.shared], network)
        return cls(fold, network, score, tuple(shared), **known)


@shown
@dataclass(frozen=True)
class Stacked:
    """A companion that was weighed beside the network.

    Attributes
    ----------
    companion : its class, in words
    weight : from 0, where it is not in the network, to 1
    loss : mean loss of the validation rows with it, in the weight that suits them best, less what
        averaging over folds saves
    loss_without : the same without it
    standard_error : of the difference
    settings : of the companion that were chosen on the validation rows
    """

    companion: str
    weight: float
    loss: float
    loss_without: float
    standard_error: float
    settings: dict[str, Any] = field(default_factory=dict)

    @property
    def gain(self) -> float:
        """Loss that it saves; zero where it has no weight."""
        return max(self.loss_without - self.loss, 0.0) if self.weight > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The mean of the folds' networks, and the companions that were added to it.

    Attributes
    ----------
    network : of all of them
    fits : of the folds
    scores : of the validation rows of each fold, with the companions so far
    share : weight of the mean of the folds' networks
    stacked : companions that were weighed
    """

    network: ReluNetwork
    fits: tuple[FoldFit, ...]
    scores: tuple[Floats, ...]
    share: float = 1.0
    stacked: tuple[Stacked, ...] = ()

    @classmethod
    def of(cls, network: ReluNetwork, fits: Sequence[FoldFit]) -> Ensemble:
        """The mean alone."""
        return cls(network, tuple(fits), tuple(one.score for one in fits))


@dataclass(frozen=True, eq=False)
class Choice:
    """A companion with the weight that does best, and the loss of the validation rows then."""

    settings: Any
    scores: tuple[Floats, ...]
    weight: float
    loss: float


class Companion(Protocol):
    """Settings of a model that is stacked with the network. A new companion is one such class."""

    name: str

    def check(self) -> None:
        """Refuse settings out of their range."""

    def choose(self, contest: Contest, data: Inputs, run: Run) -> Choice | None:
        """The settings whose out-of-fold scores, which `contest.weigh` measures, do best."""

    def fit(self, settings: Any, data: Inputs, run: Run) -> ReluNetwork:
        """The companion with these settings, fitted to all rows."""

    def describe(self, settings: Any) -> dict[str, Any]:
        """The settings that were chosen, by name."""


@dataclass(frozen=True, eq=False)
class Contest:
    """Validation rows on which companions are weighed.

    Attributes
    ----------
    folds : with enough validation rows to choose by
    scores : of these rows, without the companion
    spread : how much lower the loss of the networks' mean is than theirs, beyond what a companion
        gains from more rows; with a weight of w for the companion, (1 - w)² of it is left
    without : loss without the companion
    """

    folds: tuple[Fold, ...]
    scores: tuple[Floats, ...]
    spread: float
    without: float

    @classmethod
    def of(cls, ensemble: Ensemble, data: Inputs) -> Contest:
        """The first folds, as many as have enough validation rows together."""
        folds = _first_folds([one.fold for one in ensemble.fits])
        scores = ensemble.scores[: len(folds)]
        single = _mean(folds, _losses(folds, scores))
        # Validation rows measure single networks, whose mean is better by what they differ in.
        spread = _spread(ensemble.fits)
        seen = np.mean([one.train.rows.total_weight for one in folds])
        fewer = 1.0 - float(seen / data.problem.rows.total_weight) ** _BY_ROWS
        spread = ensemble.share**2 * max(0.0, spread - fewer * single)
        spread = min(spread, _MOST_SPREAD * single)
        return cls(tuple(folds), scores, spread, single - spread)

    def weigh(self, settings: Any, scores: Sequence[Floats]) -> Choice:
        """The weight of a companion with these out-of-fold scores that does best."""
        losses = [self._loss(scores, float(weight)) for weight in _WEIGHTS]
        best = int(np.argmin(losses))
        return Choice(settings, tuple(scores), float(_WEIGHTS[best]), losses[best])

    def _loss(self, scores: Sequence[Floats], weight: float) -> float:
        mixed = mix(self.scores, scores, weight)
        mean = _mean(self.folds, _losses(self.folds, mixed))
        return mean - (1.0 - weight) ** 2 * self.spread

    def standard_error(self, choice: Choice) -> float:
        """Of the difference between the losses with and without a companion."""
        mixed = mix(self.scores, choice.scores, choice.weight)
        pairs = zip(_losses(self.folds, self.scores), _losses(self.folds, mixed), strict=True)
        difference = np.concatenate([before - after for before, after in pairs])
        weight = np.concatenate([_weight(fold) for fold in self.folds])
        return standard_error(difference, weight)


def add_with_weight(ensemble: Ensemble, companion: Companion, data: Inputs, run: Run) -> Ensemble:
    """The ensemble with a companion, in the weight with the least loss on the validation rows.

    It stays out where it lowers that loss by less than one standard error, so that neither chance
    nor a few rows that one network is far off on decide. Without validation rows it stays out, too.
    """
    if any(one.fold.validation is None for one in ensemble.fits):
        return ensemble
    contest = Contest.of(ensemble, data)
    choice = companion.choose(contest, data, run)
    if choice is None:
        return ensemble
    error = contest.standard_error(choice)
    accepted = contest.without - choice.loss > _STANDARD_ERRORS * error
    weight = choice.weight if accepted else 0.0
    known = Stacked(
        *(companion.name, weight, choice.loss, contest.without, error),
        companion.describe(choice.settings),
    )
    if not accepted:
        return replace(ensemble, stacked=(*ensemble.stacked, known))
    beside = companion.fit(choice.settings, data, run)
    n = len(contest.folds)
    return Ensemble(
        ReluNetwork.concatenate([ensemble.network, beside], (1.0 - weight, weight)),
        ensemble.fits,
        (*mix(contest.scores, choice.scores, weight), *ensemble.scores[n:]),
        ensemble.share * (1.0 - weight),
        (*ensemble.stacked, known),
    )


def mix(scores: Sequence[Floats], others: Sequence[Floats], weight: float) -> tuple[Floats, ...]:
    """Scores of two models, with a weight for the second."""
    pairs = zip(scores, others, strict=True)
    return tuple((1.0 - weight) * one + weight * other for one, other in pairs)


def share_rows(folds: Sequence[Fold]) -> list[Fold]:
    """The folds with some validation rows of the first ones, which all networks are compared on.

    None are needed where validation rows overlap: there are rows that two networks have not seen.
    """
    known = [one.index for one in folds if one.index is not None]
    overlap = bool(known) and len(np.unique(np.concatenate(known))) < sum(map(len, known))
    if overlap or any(one.validation is None for one in folds):
        return list(folds)
    first = _first_folds(folds)
    most = _ENOUGH_ROWS // (2 * len(first))
    shared = tuple(some_rows(one.validation, most) for one in first if one.validation is not None)
    return [replace(one, shared=shared) for one in folds]


def _first_folds(folds: Sequence[Fold]) -> list[Fold]:
    """The first folds, as many as have enough validation rows together."""
    found: list[Fold] = []
    n_rows = 0
    for fold in folds[:_MOST_FOLDS]:
        if n_rows < _ENOUGH_ROWS and fold.validation is not None:
            found.append(fold)
            n_rows += fold.validation.rows.n_rows
    return found


def _spread(fits: Sequence[FoldFit]) -> float:
    """How much lower the loss of the mean of the folds' networks is than that of one of them.

    Measured on rows that two networks have not seen, where there are such rows; otherwise by how
    much the networks differ on the rows that they share, which all but one of them were trained on.
    """
    unseen = variance_loss(fits)
    if unseen > 0:
        return (1 - 1 / len(fits)) * unseen
    shared = fits[0].fold.shared
    if not shared:
        return 0.0
    scores = zip(*(one.shared for one in fits), strict=True)
    gains = [
        _averaging_gain(problem, np.stack(found))
        for problem, found in zip(shared, scores, strict=True)
    ]
    weight = np.concatenate([one.rows.weight for one in shared])
    return float(np.average(np.concatenate(gains), weights=weight))


def variance_loss(fits: Sequence[FoldFit]) -> float:
    """Estimate of the part of the expected loss that is due to the variance of one network.

    Half the curvature times the variance between two networks, on rows that neither has seen;
    zero where there are no such rows.
    """
    found, weights = [], []
    for one, other in combinations(fits, 2):
        fold = one.fold
        if fold.validation is None or fold.index is None or other.fold.index is None:
            continue
        _, here, there = np.intersect1d(fold.index, other.fold.index, return_indices=True)
        first, second = one.score[here], other.score[there]
        target = fold.validation.rows.target[here]
        curvature = fold.validation.loss.curvature(target, (first + second) / 2)
        found.append((curvature * np.square(first - second) / 4).sum(axis=1))
        weights.append(_weight(fold)[here])
    values, weight = (np.concatenate([np.zeros(0), *parts]) for parts in (found, weights))
    return float(weight @ values / weight.sum()) if len(values) else 0.0


def averaging_gain(problem: Problem, networks: Sequence[ReluNetwork]) -> Floats:
    """How much lower the loss of the mean of networks is than theirs, row by row, (n_rows,).

    Half the curvature times the variance between them. On rows that most of them were trained on
    it is an underestimate.
    """
    return _averaging_gain(problem, np.stack([scores_of(problem, one) for one in networks]))


def _averaging_gain(problem: Problem, scores: Floats) -> Floats:
    """The same, for scores (n_networks, n_rows, n_outputs)."""
    curvature = problem.loss.curvature(problem.rows.target, scores.mean(axis=0))
    return np.asarray((0.5 * curvature * scores.var(axis=0)).sum(axis=1))


def _losses(folds: Sequence[Fold], scores: Sequence[Floats]) -> list[Floats]:
    """Loss of every validation row, fold by fold."""
    found = []
    for fold, score in zip(folds, scores, strict=True):
        assert fold.validation is not None
        found.append(fold.validation.loss.value(fold.validation.rows.target, score))
    return found


def _mean(folds: Sequence[Fold], losses: Sequence[Floats]) -> float:
    total = sum(float(_weight(fold) @ one) for fold, one in zip(folds, losses, strict=True))
    return total / sum(float(_weight(fold).sum()) for fold in folds)


def _weight(fold: Fold) -> Floats:
    assert fold.validation is not None
    return fold.validation.rows.weight
