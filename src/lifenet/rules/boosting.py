"""Boosted trees that enter a network as they are, with a share that rows apart choose."""

from __future__ import annotations

import time
from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import joblib
import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.rules.trees import grow_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.losses import Loss
    from lifenet.rules.trees import Boosted

__all__ = ["Apart", "Boosting", "Mixture", "Sample"]

# Loss of boosted trees falls with about this power of the rows that they have seen.
_BY_ROWS = 0.2
# Share of a network's loss that the mean of several may take off: the quadratic that says how much
# is too much where scores of classes are far apart.
_MOST_SPREAD = 0.9
# Leaves in all that any number of rows allows for.
_RULES = 20_000
# Numbers of rounds and shares of the trees that are compared.
_N_ROUNDS, _N_SHARES = 10, 20
# What each of several values to choose from may be.
_ALLOWED = {
    "n_leaves": (Interval(Integral, 2, None, closed="left"), "integers of 2 at least"),
    "min_leaf": (Interval(Integral, 1, None, closed="left"), "integers of 1 at least"),
    "learning_rate": (Interval(Real, 0, None, closed="neither"), "numbers above 0"),
}


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows as trees see them.

    Attributes
    ----------
    values : (n_rows, n_columns)
    target, weight : (n_rows,)
    """

    values: Floats
    target: Floats
    weight: Floats


@dataclass(frozen=True, eq=False)
class Apart:
    """Rows to learn from, rows that judge, and what a network that has not seen them says of these.

    Attributes
    ----------
    score : (n_judging, n_outputs)
    """

    learn: Sample
    judge: Sample
    score: Floats


class _Kind(NamedTuple):
    """Settings of boosted trees that are chosen between."""

    n_leaves: int
    min_leaf: int
    learning_rate: float


@dataclass(frozen=True)
class Mixture:
    """Trees that were chosen, and their share; the rest is the network's. All zeros are no trees.

    Attributes
    ----------
    n_leaves, min_leaf, learning_rate, n_rounds : of the trees
    share : from 0, no trees at all, to 1
    loss : mean loss of the rows apart
    alone : the same without trees
    """

    n_leaves: int
    min_leaf: int
    learning_rate: float
    n_rounds: int
    share: float
    loss: float
    alone: float

    @property
    def kind(self) -> _Kind:
        """Of the trees."""
        return _Kind(self.n_leaves, self.min_leaf, self.learning_rate)


@dataclass(repr=False)
class Boosting(Settings):
    """Boosted trees that are mixed with a network, as neurons that begin and stay as their leaves.

    Size of the trees, learning rate, rounds and share are what does best on rows apart.

    Parameters
    ----------
    n_leaves : sequence of int, default=(8, 24, 64, 160)
        Most leaves of a tree, to choose from.
    min_leaf : sequence of int, default=(20, 5)
        Fewest rows of a leaf, to choose from; the first for trees of any size.
    n_trees : int, default=300
        Most trees.
    max_rules : int or "auto", default="auto"
        Most leaves in all: large trees are fewer. "auto" takes as many as rows, 20,000 at least.
    learning_rate : sequence of float, default=(0.07, 0.15)
        To choose from; the first for trees of any size.
    columns : float, default=0.5
        Share of the columns that a split chooses from.
    n_judging : int, default=6_000
        Rows apart that are enough to choose by.
    min_gain : float, default=0.005
        Share of the loss that trees must take off, or there are none.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_leaves": ["array-like"],
        "min_leaf": ["array-like"],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "max_rules": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": ["array-like"],
        "columns": [Interval(Real, 0, 1, closed="right")],
        "n_judging": [Interval(Integral, 1, None, closed="left")],
        "min_gain": [Interval(Real, 0, 1, closed="left")],
    }

    n_leaves: Sequence[int] = (8, 24, 64, 160)
    min_leaf: Sequence[int] = (20, 5)
    n_trees: int = 300
    max_rules: int | str = "auto"
    learning_rate: Sequence[float] = (0.07, 0.15)
    columns: float = 0.5
    n_judging: int = 6_000
    min_gain: float = 0.005

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        for name, (allowed, wanted) in _ALLOWED.items():
            given: Sequence[object] = getattr(self, name)
            wrong = [one for one in given if not allowed.is_satisfied_by(one)]
            if wrong or not len(given):
                found = repr(wrong[0]) + " is among them" if wrong else "there are none"
                raise ValueError(f"{name} must be {wanted}; {found}.")

    def choose(
        self,
        apart: Sequence[Apart],
        rows: Sample,
        loss: Loss,
        spread: float,
        seed: np.random.SeedSequence,
        n_jobs: int | None = None,
        deadline: float | None = None,
    ) -> Mixture:
        """Trees and their share that do best on rows apart.

        Parameters
        ----------
        rows : those that the trees will be grown on
        spread : how much better than the networks of `apart` the one is that will be mixed, their
            mean; a share of s for the trees leaves (1 - s)² of it. Trees of all rows will be better
            than those of `apart` too, and only what it is more than that counts.
        deadline : on the monotonic clock; nothing is begun after it
        """
        single = _mean_loss(apart, [one.score for one in apart], loss)
        seen = float(np.mean([one.learn.weight.sum() for one in apart]) / rows.weight.sum())
        spread = min(max(0.0, spread - (1.0 - seen**_BY_ROWS) * single), _MOST_SPREAD * single)
        alone = single - spread
        parallel = joblib.Parallel(n_jobs=n_jobs)

        def mixed(kind: _Kind) -> Mixture:
            if deadline is not None and time.monotonic() >= deadline:
                return none
            rounds = self._rounds(kind.n_leaves, len(rows.target), loss)
            return self._mixed(apart, loss, spread, kind, rounds, alone, parallel, seed)

        none = Mixture(0, 0, 0.0, 0, 0.0, alone, alone)
        best, n_rows = none, min(len(one.learn.target) for one in apart)
        for kind in self._sizes(n_rows):
            best = min(best, mixed(kind), key=_loss)
        if best.share > 0:
            for min_leaf in self.min_leaf[1:]:
                best = min(best, mixed(best.kind._replace(min_leaf=int(min_leaf))), key=_loss)
            for rate in self.learning_rate[1:]:
                best = min(best, mixed(best.kind._replace(learning_rate=float(rate))), key=_loss)
        return best if self._worthwhile(best) else none

    def _worthwhile(self, mixture: Mixture) -> bool:
        return mixture.loss < mixture.alone * (1.0 - self.min_gain)

    def _sizes(self, n_rows: int) -> list[_Kind]:
        """Trees of all sizes, rising; no two are the same."""
        rows, rate = int(self.min_leaf[0]), float(self.learning_rate[0])
        most = max(2, n_rows // rows)
        sizes = sorted({min(int(n), most) for n in self.n_leaves})
        return [_Kind(leaves, rows, rate) for leaves in sizes]

    def _mixed(
        self,
        apart: Sequence[Apart],
        loss: Loss,
        spread: float,
        kind: _Kind,
        rounds: list[int],
        alone: float,
        parallel: Any,
        seed: np.random.SeedSequence,
    ) -> Mixture:
        """The best of some numbers of rounds and shares, of trees of one kind."""
        found = parallel(
            joblib.delayed(_scores)(self, one, loss, kind, rounds, seed) for one in apart
        )
        best = Mixture(*kind, 0, 0.0, np.inf, alone)
        for place, n_rounds in enumerate(rounds):
            for share in np.arange(1, _N_SHARES + 1) / _N_SHARES:
                mixed = [
                    (1.0 - share) * one.score + share * scores[place]
                    for one, scores in zip(apart, found, strict=True)
                ]
                value = _mean_loss(apart, mixed, loss) - (1.0 - share) ** 2 * spread
                if value < best.loss:
                    best = Mixture(*kind, n_rounds, float(share), float(value), alone)
        return best

    def grow(
        self, rows: Sample, loss: Loss, chosen: Mixture, seed: np.random.SeedSequence
    ) -> Boosted:
        """The trees that were chosen, on other rows."""
        return self._grow(rows, loss, chosen.kind, chosen.n_rounds, seed)

    def _grow(
        self,
        rows: Sample,
        loss: Loss,
        kind: _Kind,
        n_rounds: int,
        seed: np.random.SeedSequence,
    ) -> Boosted:
        return grow_trees(
            rows.values,
            rows.target,
            rows.weight,
            loss,
            n_trees=n_rounds * loss.n_outputs,
            n_leaves=kind.n_leaves,
            min_leaf=kind.min_leaf,
            learning_rate=kind.learning_rate,
            columns=self.columns,
            seed=int(seed.generate_state(1)[0] % 2**31),
        )

    def _rounds(self, n_leaves: int, n_rows: int, loss: Loss) -> list[int]:
        """Numbers of rounds that are compared, of trees of a size."""
        most = max(_RULES, n_rows) if isinstance(self.max_rules, str) else self.max_rules
        n_trees = min(self.n_trees, most // n_leaves)
        most = max(1, n_trees // loss.n_outputs)
        return sorted({-(-most * part // _N_ROUNDS) for part in range(1, _N_ROUNDS + 1)})


def _scores(
    settings: Boosting,
    apart: Apart,
    loss: Loss,
    kind: _Kind,
    rounds: list[int],
    seed: np.random.SeedSequence,
) -> list[Floats]:
    """What trees of the rows to learn from say of the others; what a worker does."""
    trees = settings._grow(apart.learn, loss, kind, rounds[-1], seed)
    return trees.scores(apart.judge.values, rounds)


def _mean_loss(apart: Sequence[Apart], scores: Sequence[Floats], loss: Loss) -> float:
    total = weight = 0.0
    for one, score in zip(apart, scores, strict=True):
        shaped = score[:, 0] if score.shape[1] == 1 else score
        total += float(one.judge.weight @ loss.value(one.judge.target, shaped))
        weight += float(one.judge.weight.sum())
    return total / weight


def _loss(mixture: Mixture) -> float:
    return mixture.loss
