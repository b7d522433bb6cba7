"""Steps 1 and 2 of the paper: subsets from a hierarchy of networks, a narrow network on each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.problem import Problem
from lifenet.data.run import Purpose, Run
from lifenet.neurons.layer import Layer
from lifenet.neurons.members import Trained, train_members
from lifenet.neurons.sampling import Bootstrap, NeuronProjection, RandomProjection, coverage_of
from lifenet.neurons.source import Grown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Integers
    from lifenet.data.columns import CodedColumns
    from lifenet.data.folds import Fold
    from lifenet.data.interactions import Interactions
    from lifenet.network import ReluNetwork
    from lifenet.neurons.sampling import Sampler
    from lifenet.neurons.subset import Split, Subset
    from lifenet.solvers.base import Trainer

__all__ = ["Given", "Hierarchy", "Stage", "sample_subsets", "successful", "train_stage"]

SAMPLERS = {"neurons": NeuronProjection, "random": RandomProjection, "bootstrap": Bootstrap}
SOLVERS = ("adam", "lla")
# Share of the time after which sampling ends; the rest is for the base learners.
_SAMPLED_BY = 0.5
# Index among the seeds, beside those of the networks (which begin with their level, from 1).
_SEED_SUBSETS = 1_000_000
# Index among those, beside the levels, of which columns base learners read together.
_LEVEL_OF_DRAWS = 1_000_000
_POSITIVE = Interval(Integral, 1, None, closed="left")


@dataclass(frozen=True)
class Stage:
    """One level as it was trained, in the units of the rows.

    Attributes
    ----------
    n_neurons : width of its networks
    trained : one entry for each subset and class
    splits : the fate of each neuron of those networks that were trained; empty in the last
    coverage : share of the rows' weight in at least one of its subsets
    """

    n_neurons: int
    trained: tuple[Trained, ...]
    splits: tuple[Split, ...]
    coverage: float


@dataclass(repr=False)
class Hierarchy(Settings):
    """A source of neurons: the base learners of LIFE, steps 1 and 2 of the paper.

    On codes of kind "full" the base learners see the codes that bend little: values and normal
    scores.

    Parameters
    ----------
    sampler : {"neurons", "random", "bootstrap"} or sampler, default="neurons"
        Step 1: `NeuronProjection`, `RandomProjection` or `Bootstrap`.
    solver : {"lla", "adam"} or solver, default="lla"
        Step 2: `LLA` or `Adam`; its `n_neurons` is K_J, the neurons of each base learner.
    n_neurons : int, sequence of int or "auto", default="auto"
        K_J where the solver is given by name. Of several, the narrowest with which a single
        network is as good on the validation rows as with any, within one standard error (the
        first without such rows). "auto" takes 10, or chooses from 10, 20 and 40 where the loss
        is separable: base learners that are too narrow to tell classes apart do not make up for
        it together.
    max_iter : int, default=20
        Most iterations of base learners whose solver is "lla": their output layer is fitted anew.
    n_networks : int or None, default=None
        Most base learners of a fold, which several classes share; fewer where inputs are many or
        rows few; for the sampler "neurons", in place of its `max_networks`. None leaves their
        number to the sampler.
    max_rows : int, "auto" or None, default=None
        Most rows that they see; "auto" takes 2,000, or a quarter of them up to 20,000,
        fewer where inputs are many; None takes all.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sampler": [StrOptions(set(SAMPLERS)), HasMethods(["widths", "begin", "split", "check"])],
        "solver": [StrOptions(set(SOLVERS)), HasMethods(["train", "check"])],
        "n_neurons": [_POSITIVE, StrOptions({"auto"}), tuple, list],
        "max_iter": [_POSITIVE],
        "n_networks": [Interval(Integral, 0, None, closed="left"), None],
        "max_rows": [_POSITIVE, StrOptions({"auto"}), None],
    }

    sampler: Any = "neurons"
    solver: Any = "lla"
    n_neurons: int | Sequence[int] | str = "auto"
    max_iter: int = 20
    n_networks: int | None = None
    max_rows: int | str | None = None

    needs_ramps: ClassVar[bool] = False
    makes_members: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse settings out of their range, those of the parts too."""
        super().check()
        bounded = self.sampler == "neurons" or isinstance(self.sampler, NeuronProjection)
        if self.n_networks is not None and not bounded:
            raise ValueError(
                f"n_networks={self.n_networks} bounds the networks of the sampler 'neurons'; "
                f"{self.sampler!r} says itself how many there are. Leave one of the two out."
            )
        for part in (self.sampler, self.solver):
            if not isinstance(part, str):
                part.check()

    def grow(self, fold: Fold, run: Run) -> Grown:
        """Neurons of base learners that are trained on the training rows."""
        n_inputs, columns = fold.train.rows.n_features, fold.columns
        inputs = None if columns is None else columns.smooth
        if self.n_networks == 0:
            return Grown(Layer.of_members([], n_inputs, None))
        generator = np.random.default_rng(run.child_seed(fold, Purpose.HIERARCHY))
        problem = self._training(fold.train, columns, generator)
        # A single fold of all rows has the seed of the run itself.
        seed = int(generator.integers(2**31)) if fold.key else run.seed
        run = replace(run, seed=seed)
        stages = self._train(problem, run, fold.interactions, inputs)
        members = [(one.network, one.output) for one in successful(stages[-1].trained)]
        kept = fold.interactions is not None
        layer = Layer.of_members(members, n_inputs, inputs, keep_zeros=kept)
        return Grown(layer, tuple(stages), inputs)

    def _training(
        self, train: Problem, columns: CodedColumns | None, generator: np.random.Generator
    ) -> Problem:
        """The rows and inputs that the base learners see."""
        rows = train.rows if columns is None else train.rows.with_columns(columns.smooth)
        if self.max_rows is not None and rows.n_rows > int(self.max_rows):
            chosen = generator.choice(rows.n_rows, int(self.max_rows), replace=False)
            rows = rows.take(np.sort(chosen))
        return train if rows is train.rows else Problem(rows, train.loss)

    def _train(
        self,
        problem: Problem,
        run: Run,
        interactions: Interactions | None,
        inputs: Integers | None,
    ) -> list[Stage]:
        """All levels, first to last; neurons of the last one only are in the network."""
        assert not isinstance(self.sampler, str)
        assert not isinstance(self.solver, str)
        subsets, stages = sample_subsets(problem, self.sampler, self.solver, run)
        reads = None
        if interactions is not None:
            generator = np.random.default_rng(_subset_seed(run.seed, _LEVEL_OF_DRAWS))
            reads = interactions.draw(len(subsets), generator, inputs)
        last = train_stage(problem, subsets, self.solver, len(stages) + 1, run, reads)
        return [*stages, last]


@dataclass(repr=False)
class Given(Settings):
    """A source of neurons that are given: base learners of an earlier fit.

    Parameters
    ----------
    members : sequence of (ReluNetwork, int)
        In the units of the rows; each with the output that its score is of.
    """

    members: Sequence[tuple[ReluNetwork, int]] = ()

    needs_ramps: ClassVar[bool] = False
    makes_members: ClassVar[bool] = True

    def grow(self, fold: Fold, run: Run) -> Grown:
        """Their neurons."""
        kept = fold.interactions is not None
        n_inputs = fold.train.rows.n_features
        layer = Layer.of_members(self.members, n_inputs, None, keep_zeros=kept)
        if fold.interactions is not None and not fold.interactions.allow(layer.neurons.weights):
            raise ValueError(
                "warm_start=True keeps the base learners of the fit before, and some of them read "
                "columns together that interaction_cst keeps apart; use warm_start=False."
            )
        return Grown(layer)


def sample_subsets(
    problem: Problem, sampler: Sampler, solver: Trainer, run: Run
) -> tuple[Sequence[Subset], list[Stage]]:
    """Step 1, level by level: from the neurons of one level's networks to the next's subsets.

    Where no neuron of a level makes a subset of the right size, or time is short, the subsets of
    that level serve for the base learners.
    """
    rows, by = problem.rows, run.deadline.at(_SAMPLED_BY)
    subsets: Sequence[Subset] = sampler.begin(rows, _subset_seed(run.seed, 0))
    stages: list[Stage] = []
    for level, width in enumerate(sampler.widths(rows.total_weight, rows.n_features), 1):
        narrow = clone(solver).set_params(n_neurons=width)
        stage = train_stage(problem, subsets, narrow, level, run.until(by))
        networks = successful(stage.trained)
        division = sampler.split(
            rows,
            [one.network for one in networks],
            [one.subset for one in networks],
            _subset_seed(run.seed, level),
        )
        stages.append(replace(stage, splits=division.splits))
        if not division.subsets or by.passed:
            break
        subsets = division.subsets
    return subsets, stages


def train_stage(
    problem: Problem,
    subsets: Sequence[Subset],
    solver: Trainer,
    level: int,
    run: Run,
    reads: Sequence[Integers] | None = None,
) -> Stage:
    """Step 2: a network on every subset, until the deadline; `reads` as in `train_members`."""
    trained = train_members(problem, subsets, solver, level=level, run=run, reads=reads)
    return Stage(solver.n_neurons, tuple(trained), (), coverage_of(problem.rows, subsets))


def successful(trained: Sequence[Trained]) -> tuple[Trained, ...]:
    """Those of which there is a network."""
    return tuple(one for one in trained if one.outcome is not None)


def _subset_seed(seed: int, level: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(_SEED_SUBSETS, level))
