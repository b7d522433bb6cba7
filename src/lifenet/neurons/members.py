"""Step 2: train base learners, one or many, each on its own rows.

Every network's seed follows from its position in the hierarchy, and a sum's order never depends on
the number of workers: serially, with threads or with processes, the same seed gives the same
networks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import joblib
import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.data.problem import Problem
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Outcome, Status, Task, Trainer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet._clock import Deadline
    from lifenet._typing import Integers
    from lifenet.data.run import Run
    from lifenet.neurons.subset import Subset

__all__ = ["Position", "Trained", "train_members"]


@dataclass(frozen=True)
class Position:
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

    position: Position
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
        return self.position.output or 0


def train_members(
    problem: Problem,
    subsets: Sequence[Subset],
    solver: Trainer,
    *,
    level: int,
    run: Run,
    reads: Sequence[Integers] | None = None,
) -> list[Trained]:
    """Train a network on every subset, and for every class where there are more than two.

    Networks whose turn comes after the deadline are left out, but the first.

    Parameters
    ----------
    reads : for each subset, the inputs that its network reads; weights of others are zero. None
        for all
    """
    alike = _alike(len(subsets), reads)
    groups = list(_groups(problem, alike, level, solver.together))
    n_networks = sum(len(group) for group in groups)
    # One call needs no workers.
    parallel = joblib.Parallel(n_jobs=run.n_jobs if len(groups) > 1 else 1, return_as="generator")
    done: list[Trained] = []
    run.report(f"level {level}", 0, n_networks)
    for trained in parallel(
        joblib.delayed(_train_group)(
            problem,
            solver,
            group,
            [subsets[position.subset] for position in group],
            None if reads is None else reads[group[0].subset],
            run.seed,
            run.deadline,
        )
        for group in groups
    ):
        done += trained
        run.report(f"level {level}", len(done), n_networks)
    return sorted(done, key=lambda one: (one.position.subset, one.position.output or 0))


def _groups(
    problem: Problem, alike: Sequence[Sequence[int]], level: int, together: int
) -> Iterator[list[Position]]:
    """Networks that are trained in one call: some subsets, one class.

    Parameters
    ----------
    alike : numbers of the subsets whose networks read the same inputs
    """
    n_outputs = problem.loss.n_outputs
    for output in range(n_outputs) if n_outputs > 1 else (None,):
        for numbers in alike:
            for start in range(0, len(numbers), together):
                some = numbers[start : start + together]
                yield [Position(level, number, output) for number in some]


def _alike(n_subsets: int, reads: Sequence[Integers] | None) -> list[Sequence[int]]:
    """Numbers of the subsets whose networks read the same inputs, in their order."""
    if reads is None:
        return [range(n_subsets)]
    found: dict[tuple[int, ...], list[int]] = {}
    for number, inputs in enumerate(reads):
        found.setdefault(tuple(inputs.tolist()), []).append(number)
    return list(found.values())


def _train_group(
    problem: Problem,
    solver: Trainer,
    positions: Sequence[Position],
    subsets: Sequence[Subset],
    inputs: Integers | None,
    seed: int,
    deadline: Deadline,
) -> list[Trained]:
    """What a worker does."""
    output = positions[0].output
    if output is not None:
        problem = problem.against_rest(output)
    fates: list[Status | Task] = [
        _task(problem, subset, position, seed, deadline)
        for position, subset in zip(positions, subsets, strict=True)
    ]
    tasks = [fate for fate in fates if isinstance(fate, Task)]
    with one_blas_thread():
        outcomes = iter(_outcomes(problem, solver, tasks, inputs, deadline) if tasks else ())
    return [
        Trained(position, subset, None, fate)
        if isinstance(fate, Status)
        else Trained(position, subset, outcome := next(outcomes), outcome.status)
        for position, subset, fate in zip(positions, subsets, fates, strict=True)
    ]


def _outcomes(
    problem: Problem,
    solver: Trainer,
    tasks: Sequence[Task],
    inputs: Integers | None,
    deadline: Deadline,
) -> Sequence[Outcome]:
    """Networks that read some of the inputs, or all of them."""
    if inputs is None:
        return solver.train(problem, tasks, deadline)
    some = Problem(problem.rows.with_columns(inputs), problem.loss)
    n_inputs = problem.rows.n_features
    return [
        replace(one, network=_on_all(one.network, inputs, n_inputs))
        for one in solver.train(some, tasks, deadline)
    ]


def _on_all(network: ReluNetwork, inputs: Integers, n_inputs: int) -> ReluNetwork:
    """A network of some inputs as one of all of them."""
    weights = np.zeros((network.n_neurons, n_inputs))
    weights[:, inputs] = network.dense().weights
    return ReluNetwork(weights, network.bias, network.beta, network.intercept)


def _task(
    problem: Problem, subset: Subset, position: Position, seed: int, deadline: Deadline
) -> Task | Status:
    """What is to be trained, or why nothing is. The first network of a level is never left out."""
    if position.subset > 0 and deadline.passed:
        return Status.NOT_STARTED
    chosen, counts = subset.select(problem.rows)
    target = problem.rows.target[chosen]
    if len(target) < 2 or target.min() == target.max():
        return Status.NOTHING_TO_LEARN
    return Task(chosen, counts, position.seed(seed))
