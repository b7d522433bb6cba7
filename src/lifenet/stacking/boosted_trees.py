"""Whole boosted trees beside the network, with a weight that the validation rows choose."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.run import Purpose
from lifenet.network import ReluNetwork
from lifenet.neurons.leaves import sample_of, tree_network
from lifenet.neurons.trees import Sample, TreeSettings, grow_trees
from lifenet.stacking.base import FoldFit, Stacked, mean_fold_loss, variance_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._clock import Deadline
    from lifenet._typing import Floats
    from lifenet.data.columns import CodedColumns
    from lifenet.data.inputs import Inputs
    from lifenet.data.run import Run
    from lifenet.losses import Loss
    from lifenet.neurons.trees import Trees

__all__ = ["BoostedTrees"]

# Loss of boosted trees falls with about this power of the rows that they have seen.
_BY_ROWS = 0.2
# Share of a network's loss that the mean of several may save: the quadratic that says how much
# is too much where scores of classes are far apart.
_MOST_SPREAD = 0.9
# Leaves in all that any number of rows allows for.
_LEAVES = 20_000
# Numbers of rounds and weights of the trees that are compared.
_N_ROUNDS, _N_WEIGHTS = 10, 20
# What each of several values to choose from may be.
_ALLOWED = {
    "max_leaf_nodes": (Interval(Integral, 2, None, closed="left"), "integers of 2 at least"),
    "min_samples_leaf": (Interval(Integral, 1, None, closed="left"), "integers of 1 at least"),
    "learning_rate": (Interval(Real, 0, None, closed="neither"), "numbers above 0"),
}


@dataclass(frozen=True)
class _Choice:
    """Trees of some settings and rounds, their weight, and the loss of the validation rows."""

    settings: TreeSettings | None
    n_rounds: int
    weight: float
    loss: float


@dataclass(repr=False)
class BoostedTrees(Settings):
    """A companion: boosted trees, whose leaves are neurons that are never moved.

    Size of the trees, learning rate, rounds and weight are those with the least loss on the
    validation rows. The trees are then grown on all rows.

    Parameters
    ----------
    max_leaf_nodes : sequence of int, default=(8, 24, 64, 160)
        Most leaves of a tree, to choose from.
    min_samples_leaf : sequence of int, default=(20, 5)
        Fewest rows of a leaf, to choose from; the first for trees of any size.
    n_trees : int, default=300
        Most trees.
    max_leaves : int or "auto", default="auto"
        Most leaves in all: large trees are fewer. "auto" takes as many as rows, 20,000 at least.
    learning_rate : sequence of float, default=(0.07, 0.15)
        To choose from; the first for trees of any size.
    max_features : float, default=0.5
        Share of the columns that a split chooses from.
    n_validation : int, default=6_000
        Validation rows that are enough to choose by.
    min_gain : float, default=0.005
        Share of the loss that trees must save, or they have no weight.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_leaf_nodes": ["array-like"],
        "min_samples_leaf": ["array-like"],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "max_leaves": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": ["array-like"],
        "max_features": [Interval(Real, 0, 1, closed="right")],
        "n_validation": [Interval(Integral, 1, None, closed="left")],
        "min_gain": [Interval(Real, 0, 1, closed="left")],
    }

    max_leaf_nodes: Sequence[int] = (8, 24, 64, 160)
    min_samples_leaf: Sequence[int] = (20, 5)
    n_trees: int = 300
    max_leaves: int | str = "auto"
    learning_rate: Sequence[float] = (0.07, 0.15)
    max_features: float = 0.5
    n_validation: int = 6_000
    min_gain: float = 0.005

    #: Leaves of the trees are ramps of the codes.
    needs_ramps: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        for name, (allowed, wanted) in _ALLOWED.items():
            given: Sequence[object] = getattr(self, name)
            wrong = [one for one in given if not allowed.is_satisfied_by(one)]
            if wrong or not len(given):
                found = repr(wrong[0]) + " is among them" if wrong else "there are none"
                raise ValueError(f"{name} must be {wanted}; {found}.")

    def add(
        self, network: ReluNetwork, fits: Sequence[FoldFit], data: Inputs, run: Run
    ) -> tuple[ReluNetwork, tuple[FoldFit, ...], Stacked | None]:
        """The mean of the folds' networks with trees of all rows."""
        measured = [one for one in fits if one.fold.validation is not None]
        if not measured:
            return network, tuple(fits), None
        assert data.columns is not None
        rows, loss = sample_of(data.problem, data.columns), data.problem.loss
        search = _Search.of(self, measured, rows, data, run)
        best, without = search.best(), search.without
        chosen = (
            {} if best.settings is None else {**best.settings._asdict(), "n_rounds": best.n_rounds}
        )
        stacked = Stacked("boosted trees", best.weight, best.loss, without, chosen)
        if best.settings is None:
            return network, tuple(fits), stacked
        n_trees = best.n_rounds * loss.n_outputs
        trees = grow_trees(rows, loss, best.settings, n_trees, search.seed)
        whole = tree_network(*trees.leaves(), trees.intercept(), data.columns)
        weights = (1 - best.weight, best.weight)
        return ReluNetwork.concatenate([network, whole], weights), tuple(fits), stacked

    def sizes(self, n_rows: int) -> list[TreeSettings]:
        """Trees of all sizes, rising; no two are the same."""
        rows, rate = int(self.min_samples_leaf[0]), float(self.learning_rate[0])
        most = max(2, n_rows // rows)
        sizes = sorted({min(int(n), most) for n in self.max_leaf_nodes})
        return [TreeSettings(leaves, rows, rate, self.max_features) for leaves in sizes]

    def rounds(self, max_leaf_nodes: int, n_rows: int, loss: Loss) -> list[int]:
        """Numbers of rounds that are compared, of trees of a size."""
        most = max(_LEAVES, n_rows) if isinstance(self.max_leaves, str) else self.max_leaves
        n_trees = min(self.n_trees, most // max_leaf_nodes)
        most = max(1, n_trees // loss.n_outputs)
        return sorted({-(-most * part // _N_ROUNDS) for part in range(1, _N_ROUNDS + 1)})


@dataclass(frozen=True, eq=False)
class _Search:
    """Trees and their weight that have the least loss on the validation rows.

    Attributes
    ----------
    fits : folds whose validation rows choose
    samples : training and validation rows of each, as trees see them
    n_rows : rows that the trees will be grown on
    spread : how much lower the loss of the networks' mean is than theirs; with a weight of w for
        the trees, (1 - w)² of it is left
    without : loss without trees
    """

    companion: BoostedTrees
    fits: Sequence[FoldFit]
    samples: Sequence[tuple[Sample, Sample]]
    n_rows: int
    loss: Loss
    spread: float
    without: float
    seed: np.random.SeedSequence
    n_jobs: int | None
    deadline: Deadline

    @classmethod
    def of(
        cls,
        companion: BoostedTrees,
        fits: Sequence[FoldFit],
        rows: Sample,
        data: Inputs,
        run: Run,
    ) -> _Search:
        columns, loss = data.columns, data.problem.loss
        assert columns is not None
        chosen: list[FoldFit] = []
        for one in fits:
            if sum(len(known.score) for known in chosen) < companion.n_validation:
                chosen.append(one)
        # Validation rows measure single networks, whose mean is better by what they differ in.
        spread = (1 - 1 / len(fits)) * variance_loss(fits)
        single = mean_fold_loss([one.fold for one in chosen], [one.score for one in chosen])
        samples = [_samples(one, columns) for one in chosen]
        # Trees of all rows will be better than those of the training rows, too; only what the
        # mean gains beyond that counts.
        seen = float(np.mean([train.weight.sum() for train, _ in samples]) / rows.weight.sum())
        spread = max(0.0, spread - (1.0 - seen**_BY_ROWS) * single)
        spread = min(spread, _MOST_SPREAD * single)
        seed = np.random.SeedSequence(run.seed, spawn_key=(0, int(Purpose.COMPANION)))
        n_rows, without = len(rows.target), single - spread
        return cls(
            *(companion, chosen, samples, n_rows, loss, spread, without, seed),
            *(run.n_jobs, run.deadline),
        )

    def best(self) -> _Choice:
        """The best of all sizes, then of the other settings of that size."""
        companion = self.companion
        none = _Choice(None, 0, 0.0, self.without)
        best, n_rows = none, min(len(train.target) for train, _ in self.samples)
        for settings in companion.sizes(n_rows):
            best = min(best, self._try(settings), key=_loss)
        others: list[dict[str, Any]] = [
            *({"min_samples_leaf": int(rows)} for rows in companion.min_samples_leaf[1:]),
            *({"learning_rate": float(rate)} for rate in companion.learning_rate[1:]),
        ]
        for other in others:
            if best.settings is not None:
                best = min(best, self._try(best.settings._replace(**other)), key=_loss)
        return best if best.loss < self.without * (1.0 - companion.min_gain) else none

    def _try(self, settings: TreeSettings) -> _Choice:
        """The best number of rounds and weight of trees of some settings."""
        best = _Choice(settings, 0, 0.0, np.inf)
        if self.deadline.passed:
            return best
        rounds = self.companion.rounds(settings.max_leaf_nodes, self.n_rows, self.loss)
        found = joblib.Parallel(n_jobs=self.n_jobs)(
            joblib.delayed(_scores)(*sample, self.loss, settings, rounds, self.seed)
            for sample in self.samples
        )
        folds = [one.fold for one in self.fits]
        for index, n_rounds in enumerate(rounds):
            for weight in np.arange(1, _N_WEIGHTS + 1) / _N_WEIGHTS:
                mixed = [
                    (1.0 - weight) * one.score + weight * scores[index]
                    for one, scores in zip(self.fits, found, strict=True)
                ]
                loss = mean_fold_loss(folds, mixed) - (1.0 - weight) ** 2 * self.spread
                if loss < best.loss:
                    best = _Choice(settings, n_rounds, float(weight), float(loss))
        return best


def _samples(one: FoldFit, columns: CodedColumns) -> tuple[Sample, Sample]:
    assert one.fold.validation is not None
    return sample_of(one.fold.train, columns), sample_of(one.fold.validation, columns)


def _scores(
    train: Sample,
    validation: Sample,
    loss: Loss,
    settings: TreeSettings,
    rounds: list[int],
    seed: np.random.SeedSequence,
) -> list[Floats]:
    """What trees of the training rows say of the others; what a worker does."""
    trees: Trees = grow_trees(train, loss, settings, rounds[-1] * loss.n_outputs, seed)
    return trees.scores(validation.values, rounds)


def _loss(choice: _Choice) -> float:
    return choice.loss
