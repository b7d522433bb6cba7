"""Whole boosted trees beside the network, with a weight that the validation rows choose."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import joblib
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._clock import now
from lifenet._settings import Settings
from lifenet.data.run import Purpose
from lifenet.neurons.leaves import sample_of, tree_network
from lifenet.neurons.trees import Sample, TreeSettings, grow_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.data.columns import CodedColumns
    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Groups
    from lifenet.data.run import Run
    from lifenet.losses import Loss
    from lifenet.network import ReluNetwork
    from lifenet.neurons.trees import Trees
    from lifenet.stacking.base import Choice, Contest

__all__ = ["BoostedTrees"]

# Leaves in all that any number of rows allows for.
_LEAVES = 20_000
# Numbers of rounds that are compared.
_N_ROUNDS = 10
# Rounds that show, under a time limit, how long a round takes.
_PILOT_ROUNDS = 5
# What each of several values to choose from may be.
_ALLOWED = {
    "max_leaf_nodes": (Interval(Integral, 2, None, closed="left"), "integers of 2 at least"),
    "min_samples_leaf": (Interval(Integral, 1, None, closed="left"), "integers of 1 at least"),
    "learning_rate": (Interval(Real, 0, None, closed="neither"), "numbers above 0"),
}


class _Trees(NamedTuple):
    """Trees to choose from: their settings and their number of rounds."""

    settings: TreeSettings
    n_rounds: int


@dataclass(repr=False)
class BoostedTrees(Settings):
    """A companion: boosted trees, whose leaves are neurons that are never moved.

    Size of the trees, learning rate, rounds and weight are those with the least loss on the
    validation rows. The trees are then grown on all rows.

    Parameters
    ----------
    max_leaf_nodes : sequence of int, default=(8, 24, 64, 160)
        Most leaves of a tree, to choose from, as far as larger trees do better.
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
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_leaf_nodes": ["array-like"],
        "min_samples_leaf": ["array-like"],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "max_leaves": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": ["array-like"],
        "max_features": [Interval(Real, 0, 1, closed="right")],
    }

    max_leaf_nodes: Sequence[int] = (8, 24, 64, 160)
    min_samples_leaf: Sequence[int] = (20, 5)
    n_trees: int = 300
    max_leaves: int | str = "auto"
    learning_rate: Sequence[float] = (0.07, 0.15)
    max_features: float = 0.5

    name: ClassVar[str] = "boosted trees"
    #: Leaf neurons are ramps of the codes.
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

    def choose(self, contest: Contest, data: Inputs, run: Run) -> Choice | None:
        """The best of all sizes, then of the other settings of that size."""
        assert data.columns is not None
        search = _Search(
            self,
            contest,
            [_samples(fold, data.columns) for fold in contest.folds],
            data.problem.rows.n_rows,
            data.problem.loss,
            _seed(run),
            run,
            None if data.interactions is None else data.interactions.numbers,
        )
        return search.best()

    def fit(self, settings: _Trees, data: Inputs, run: Run) -> ReluNetwork:
        """The trees of all rows: a neuron for each leaf."""
        columns, loss = data.columns, data.problem.loss
        assert columns is not None
        rows, n_trees = sample_of(data.problem, columns), settings.n_rounds * loss.n_outputs
        trees = grow_trees(rows, loss, settings.settings, n_trees, _seed(run))
        return tree_network(*trees.leaves(), trees.intercept(), columns)

    def describe(self, settings: _Trees) -> dict[str, Any]:
        """Settings of the trees, by scikit-learn's names, and the number of rounds."""
        return {**settings.settings._asdict(), "n_rounds": settings.n_rounds}

    def sizes(self, n_rows: int, groups: Groups | None = None) -> list[TreeSettings]:
        """Trees of all sizes, rising; no two are the same.

        Parameters
        ----------
        groups : columns that a leaf may be bounded in together; None for all
        """
        rows, rate = int(self.min_samples_leaf[0]), float(self.learning_rate[0])
        most = max(2, n_rows // rows)
        sizes = sorted({min(int(n), most) for n in self.max_leaf_nodes})
        return [TreeSettings(leaves, rows, rate, self.max_features, groups) for leaves in sizes]

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
    samples : training and validation rows of each fold, as trees see them
    n_rows : rows that the trees will be grown on
    groups : columns that a leaf may be bounded in together; None for all
    reserved : seconds for growing the trees that were tried on all rows, where time is limited
    """

    companion: BoostedTrees
    contest: Contest
    samples: Sequence[tuple[Sample, Sample]]
    n_rows: int
    loss: Loss
    seed: np.random.SeedSequence
    run: Run
    groups: Groups | None = None
    reserved: list[float] = field(default_factory=list)

    def best(self) -> Choice | None:
        companion = self.companion
        n_train = min(len(train.target) for train, _ in self.samples)
        best: Choice | None = None
        for settings in companion.sizes(n_train, self.groups):
            found = self._try(settings)
            worse = best is not None and found is not None and found.loss > best.loss
            best = _better(best, found)
            # Larger trees take longer, and would be worse still.
            if worse or found is None:
                break
        others: list[dict[str, Any]] = [
            *({"min_samples_leaf": int(rows)} for rows in companion.min_samples_leaf[1:]),
            *({"learning_rate": float(rate)} for rate in companion.learning_rate[1:]),
        ]
        for other in others:
            # Trees that do not help are not worth a closer look.
            if best is not None and best.loss < self.contest.without:
                best = _better(best, self._try(best.settings.settings._replace(**other)))
        return best

    def _try(self, settings: TreeSettings) -> Choice | None:
        """The best number of rounds and weight of trees of some settings."""
        rounds = self.companion.rounds(settings.max_leaf_nodes, self.n_rows, self.loss)
        rounds = self._in_time(settings, rounds)
        if not rounds:
            return None
        found = joblib.Parallel(n_jobs=self.run.n_jobs)(
            joblib.delayed(_scores)(*sample, self.loss, settings, rounds, self.seed)
            for sample in self.samples
        )
        best: Choice | None = None
        for index, n_rounds in enumerate(rounds):
            scores = [one[index] for one in found]
            best = _better(best, self.contest.weigh(_Trees(settings, n_rounds), scores))
        return best

    def _in_time(self, settings: TreeSettings, rounds: list[int]) -> list[int]:
        """Those numbers of rounds that the time allows for; all without a limit.

        A few rounds of one fold show what a round takes. Trees that are chosen are grown once more,
        on all rows: seconds for that are set aside.
        """
        deadline = self.run.deadline
        if not deadline.limited:
            return rounds
        if deadline.passed:
            return []
        few, begun = min(_PILOT_ROUNDS, rounds[-1]), now()
        _scores(*self.samples[0], self.loss, settings, [few], self.seed)
        seconds = (now() - begun) / few
        turns = -(-len(self.samples) // joblib.effective_n_jobs(self.run.n_jobs))
        again = self.n_rows / len(self.samples[0][0].target)
        left = deadline.left - max(self.reserved, default=0.0)
        found = [one for one in rounds if one * seconds * (turns + again) <= left]
        if found:
            self.reserved.append(found[-1] * seconds * again)
        return found


def _better(best: Choice | None, other: Choice | None) -> Choice | None:
    if best is None or other is None:
        return best or other
    return other if other.loss < best.loss else best


def _seed(run: Run) -> np.random.SeedSequence:
    return np.random.SeedSequence(run.seed, spawn_key=(0, int(Purpose.COMPANION)))


def _samples(fold: Fold, columns: CodedColumns) -> tuple[Sample, Sample]:
    assert fold.validation is not None
    return sample_of(fold.train, columns), sample_of(fold.validation, columns)


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
