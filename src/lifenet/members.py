"""Step 2: train members, one or many, each on its own rows.

Every network's seed follows from its place in the hierarchy, and a sum's order never depends on the
number of workers: serially, with threads or with processes, the same seed gives the same networks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.solvers.base import Outcome, Problem, Solver, Status, Task, Trainer, solve, start_seeds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lifenet.network import ReluNetwork
    from lifenet.record import Subset
    from lifenet.solvers.base import Monitor

__all__ = ["Place", "Trained", "seeds_of", "train_member", "train_members"]


@dataclass(frozen=True)
class Place:
    """Where a network stands: level and subset, and the class that it tells from the rest.

    `output` is None where there is nothing to tell apart: a loss with one score.
    """

    level: int
    subset: int
    output: int | None

    def seed(self, entropy: int) -> np.random.SeedSequence:
        """Its own seed."""
        return np.random.SeedSequence(
            entropy, spawn_key=(self.level, self.subset, self.output or 0)
        )


@dataclass(frozen=True)
class Trained:
    """A network that was trained, or why there is none."""

    place: Place
    subset: Subset
    outcome: Outcome | None
    status: Status

    @property
    def network(self) -> ReluNetwork:
        """The network; only where there is one."""
        assert self.outcome is not None
        return self.outcome.network

    @property
    def output(self) -> int:
        """The class that the network tells from the rest; 0 where there is nothing to tell."""
        return self.place.output or 0


def train_members(
    problem: Problem,
    subsets: Sequence[Subset],
    solver: Trainer,
    *,
    level: int,
    seed: int,
    n_jobs: int | None = None,
    deadline: float | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Trained]:
    """Train a network on every subset, and for every class where there are more than two.

    Parameters
    ----------
    seed : of the whole fit
    n_jobs : workers, as joblib counts them; which kind is joblib's to choose
    deadline : on the monotonic clock; networks whose turn comes later are left out, but one
    progress : called with the number of networks done and of all
    """
    groups = list(_groups(problem, len(subsets), level, solver.together))
    n_networks = sum(len(group) for group in groups)
    # One call needs no workers.
    parallel = joblib.Parallel(n_jobs=n_jobs if len(groups) > 1 else 1, return_as="generator")
    done: list[Trained] = []
    if progress is not None:
        progress(0, n_networks)
    for trained in parallel(
        joblib.delayed(_train_group)(
            problem, solver, group, [subsets[place.subset] for place in group], seed, deadline
        )
        for group in groups
    ):
        done += trained
        if progress is not None:
            progress(len(done), n_networks)
    return sorted(done, key=lambda one: (one.place.subset, one.place.output or 0))


def _groups(problem: Problem, n_subsets: int, level: int, together: int) -> Iterator[list[Place]]:
    """Networks that are trained in one call: some subsets, one class."""
    n_outputs = problem.loss.n_outputs
    for output in range(n_outputs) if n_outputs > 1 else (None,):
        for start in range(0, n_subsets, together):
            stop = min(start + together, n_subsets)
            yield [Place(level, number, output) for number in range(start, stop)]


def _train_group(
    problem: Problem,
    solver: Trainer,
    places: Sequence[Place],
    subsets: Sequence[Subset],
    seed: int,
    deadline: float | None,
) -> list[Trained]:
    """What a worker does."""
    output = places[0].output
    if output is not None:
        problem = problem.against_rest(output)
    fates: list[Status | Task] = [
        _task(problem, subset, place, seed, deadline)
        for place, subset in zip(places, subsets, strict=True)
    ]
    tasks = [fate for fate in fates if isinstance(fate, Task)]
    with one_blas_thread():
        outcomes = iter(solver.train(problem, tasks, deadline) if tasks else ())
    return [
        Trained(place, subset, None, fate)
        if isinstance(fate, Status)
        else Trained(place, subset, outcome := next(outcomes), outcome.status)
        for place, subset, fate in zip(places, subsets, fates, strict=True)
    ]


def _task(
    problem: Problem, subset: Subset, place: Place, seed: int, deadline: float | None
) -> Task | Status:
    """What is to be trained, or why nothing is. The first network of a level is never left out."""
    if deadline is not None and place.subset > 0 and time.monotonic() >= deadline:
        return Status.NOT_STARTED
    chosen, counts = subset.select(problem.rows)
    target = problem.rows.target[chosen]
    if len(target) < 2 or target.min() == target.max():
        return Status.NOTHING_TO_LEARN
    return Task(chosen, counts, place.seed(seed))


def seeds_of(seed: int, member: int, n_restarts: int) -> list[np.random.SeedSequence]:
    """Seeds of a network's starts, keyed by its place: any order of training gives the same."""
    return start_seeds(np.random.SeedSequence(seed, spawn_key=(member,)), n_restarts)


def train_member(
    solver: Solver[Any],
    problem: Problem,
    seeds: Sequence[np.random.SeedSequence],
    *,
    time_limit: float | None = None,
    monitor: Monitor | None = None,
) -> Outcome:
    """Train one network with one BLAS thread: the same seed gives the same network anywhere."""
    with one_blas_thread():
        return solve(solver, problem, seeds, time_limit=time_limit, monitor=monitor)
