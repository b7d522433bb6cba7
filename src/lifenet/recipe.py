"""Whole training runs, each on one screen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.base import clone

from lifenet._threads import one_blas_thread
from lifenet.aggregate import combine, polish_network, pool_neurons
from lifenet.members import Trained, train_members
from lifenet.sampling import coverage_of
from lifenet.solvers.base import Task
from lifenet.solvers.polish import Wide, mean_loss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet.network import ReluNetwork
    from lifenet.readouts.design import HeldOut, Readout
    from lifenet.record import Split, Subset
    from lifenet.sampling import Sampler
    from lifenet.solvers.base import Iteration, Outcome, Problem, Trainer
    from lifenet.solvers.polish import Polish, Polished

__all__ = [
    "Alone",
    "Life",
    "NetworkMonitor",
    "Progress",
    "Run",
    "Stage",
    "choose_width",
    "sample_subsets",
    "successful",
    "train_alone",
    "train_life",
    "train_stage",
]

#: Called with a network's number, its start's number and the newest row of its history.
NetworkMonitor: TypeAlias = "Callable[[int, int, Iteration], None]"

#: Called with the level (from 1; 0 is the read-out), networks done, and networks in all.
Progress: TypeAlias = Callable[[int, int, int], None]

# Shares of a time limit after which sampling and training end; the rest is the read-out's.
_SAMPLED_BY, _TRAINED_BY = 0.4, 0.8
# Penalty of the read-out of several classes, where a single network of each is tried.
_POOLED_RIDGE = 1e-6
# Places among the seeds, beside those of the networks (which begin with their level, from 1).
_SEED_SUBSETS, _SEED_READOUT = 1_000_000, 2_000_000


@dataclass(frozen=True)
class Run:
    """How a training run is carried out: what does not change its result, and the seed.

    Attributes
    ----------
    seed : everything random follows from it
    n_jobs : workers, as joblib counts them
    time_limit : seconds that it may take, or None
    progress : called as networks are done
    """

    seed: int
    n_jobs: int | None = None
    time_limit: float | None = None
    progress: Progress | None = None


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


@dataclass(frozen=True)
class Life:
    """A network trained by LIFE, and all that led to it, in the units of the rows."""

    network: ReluNetwork
    stages: tuple[Stage, ...]
    polished: Polished | None = None

    @property
    def members(self) -> tuple[Trained, ...]:
        """The networks of the last level that were trained."""
        return successful(self.stages[-1].trained)


def train_life(
    problem: Problem,
    sampler: Sampler,
    solver: Trainer,
    readout: Readout,
    run: Run,
    held_out: HeldOut | None = None,
    before: Sequence[tuple[ReluNetwork, int]] = (),
    polish: Polish | None = None,
) -> Life:
    """Algorithm 1 of the paper: sample, train, combine; then polish where asked.

    Parameters
    ----------
    problem : all rows, standardised
    held_out : rows apart, that no network is trained on
    before : members from an earlier run, and their outputs, to be combined with the new ones
    polish : joint refinement of all neurons and the read-out, which the paper does not have
    """
    begun = time.monotonic()
    learn = problem if held_out is None else held_out.learn

    # Step 1: define subsets by the neurons of a hierarchy of networks.
    subsets, stages = sample_subsets(learn, sampler, solver, run, begun)

    # Step 2: train a narrow network on each subset.
    stages.append(train_stage(learn, subsets, solver, len(stages) + 1, run, begun))

    # Step 3: flatten their neurons into one layer and fit its read-out on all rows.
    if run.progress is not None:
        run.progress(0, 0, 1)
    new = [(member.network, member.output) for member in successful(stages[-1].trained)]
    members, seed = [*before, *new], np.random.SeedSequence(run.seed, spawn_key=(_SEED_READOUT,))
    network = combine(problem, members, readout, held_out, seed)
    polished = None
    if polish is not None and held_out is not None:
        start = combine(held_out.learn, members, readout, held_out, seed)
        deadline = _deadline(run, begun, 1.0)
        network, polished = polish_network(problem, network, start, held_out, polish, deadline)
    if run.progress is not None:
        run.progress(0, 1, 1)
    return Life(network, tuple(stages), polished)


def sample_subsets(
    problem: Problem, sampler: Sampler, solver: Trainer, run: Run, begun: float
) -> tuple[Sequence[Subset], list[Stage]]:
    """Step 1, level by level: from the neurons of one level's networks to the next's subsets.

    Where no neuron of a level makes a subset of the right size, or time is short, the subsets of
    that level serve for the members.
    """
    rows = problem.rows
    subsets: Sequence[Subset] = sampler.begin(rows, _subset_seed(run.seed, 0))
    stages: list[Stage] = []
    for level, width in enumerate(sampler.widths(rows.total_weight, rows.n_features), 1):
        narrow = clone(solver).set_params(n_neurons=width)
        stage = train_stage(problem, subsets, narrow, level, run, begun, _SAMPLED_BY)
        networks = successful(stage.trained)
        division = sampler.split(
            rows,
            [one.network for one in networks],
            [one.subset for one in networks],
            _subset_seed(run.seed, level),
        )
        stages.append(replace(stage, splits=division.splits))
        if not division.subsets or _is_late(run, begun, _SAMPLED_BY):
            break
        subsets = division.subsets
    return subsets, stages


def train_stage(
    problem: Problem,
    subsets: Sequence[Subset],
    solver: Trainer,
    level: int,
    run: Run,
    begun: float,
    by: float = _TRAINED_BY,
) -> Stage:
    """A network on every subset, until that share of the time is over."""
    progress = None if run.progress is None else partial(run.progress, level)
    trained = train_members(
        problem,
        subsets,
        solver,
        level=level,
        seed=run.seed,
        n_jobs=run.n_jobs,
        deadline=_deadline(run, begun, by),
        progress=progress,
    )
    return Stage(solver.n_neurons, tuple(trained), (), coverage_of(problem.rows, subsets))


def successful(trained: Sequence[Trained]) -> tuple[Trained, ...]:
    """Those of which there is a network."""
    return tuple(one for one in trained if one.outcome is not None)


def _deadline(run: Run, begun: float, share: float) -> float | None:
    return None if run.time_limit is None else begun + share * run.time_limit


def _is_late(run: Run, begun: float, share: float) -> bool:
    deadline = _deadline(run, begun, share)
    return deadline is not None and time.monotonic() >= deadline


def _subset_seed(seed: int, level: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(_SEED_SUBSETS, level))


def choose_width(held_out: HeldOut, solver: Trainer, widths: Sequence[int], run: Run) -> int:
    """The width at which a single network does best on rows that it has not seen.

    Members of it can tell by themselves what there is to tell; wider ones would learn more by
    heart. When the time is over, the best of those tried.
    """
    begun, losses = time.monotonic(), []
    for width in widths:
        alone = clone(solver).set_params(n_neurons=width)
        network = train_alone(held_out.learn, alone, run, _POOLED_RIDGE).network
        losses.append(mean_loss(held_out.judge, Wide.of(network)))
        if _is_late(run, begun, 1.0):
            break
    return widths[int(np.argmin(losses))]


@dataclass(frozen=True)
class Alone:
    """A network trained by one solver, in the units of the rows, and how its parts came about."""

    network: ReluNetwork
    outcomes: tuple[Outcome, ...]


def train_alone(
    problem: Problem, solver: Trainer, run: Run, ridge: float, monitor: NetworkMonitor | None = None
) -> Alone:
    """One network by one solver, without an ensemble: the paper's single-solver columns.

    A loss with several outputs has no single read-out coefficient per neuron, so each class is
    fitted against the rest, and the neurons of all classes are pooled under one new read-out.
    """
    if problem.loss.n_outputs == 1:
        outcome = _train_one(problem, solver, run, 0, run.time_limit, monitor)
        return Alone(outcome.network, (outcome,))
    codes = range(problem.loss.n_outputs)
    limit = None if run.time_limit is None else run.time_limit / len(codes)
    outcomes = tuple(
        _train_one(problem.against_rest(code), solver, run, code, limit, monitor) for code in codes
    )
    network = pool_neurons(problem, [outcome.network for outcome in outcomes], ridge)
    return Alone(network, outcomes)


def _train_one(
    problem: Problem,
    solver: Trainer,
    run: Run,
    code: int,
    time_limit: float | None,
    monitor: NetworkMonitor | None,
) -> Outcome:
    seed = np.random.SeedSequence(run.seed, spawn_key=(code,))
    task = Task(np.arange(problem.rows.n_rows), None, seed)
    deadline = None if time_limit is None else time.monotonic() + time_limit
    watch = None if monitor is None else partial(monitor, code)
    with one_blas_thread():
        return solver.train(problem, [task], deadline, watch)[0]
