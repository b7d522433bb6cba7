"""What all solvers share: the outcome, and the one loop.

A solver is a frozen bag of settings with three methods: `begin` makes a state, `step` makes the
next one, `verdict` says whether to stop and why. The loop, the starts and the deadline are here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from lifenet._clock import NEVER, Deadline, now
from lifenet._extras import require
from lifenet._shown import shown
from lifenet.data.problem import Problem

if TYPE_CHECKING:
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.network import ReluNetwork

__all__ = [
    "Iteration",
    "Monitor",
    "Outcome",
    "Solver",
    "State",
    "Status",
    "Task",
    "Trainer",
    "solve",
    "solve_each",
    "start_seeds",
]


class Status(Enum):
    """Why a solver stopped, each with its sentence: the cause, and the remedy where one is due."""

    CONVERGED = "The objective no longer falls by more than the tolerance."
    EXACT = "The network reproduces the targets to rounding."
    STALLED = "No step, however short, lowers the objective: a local minimum to rounding."
    MAX_ITER = "The iterations ran out before the objective settled; raise max_iter to go on."
    TIME_LIMIT = "The time limit was reached; this is the best network so far."
    VALIDATED = "Validation rows gained nothing more; this is the network that is best on them."
    COMPLETED = "All epochs of the schedule were run."
    NOTHING_TO_LEARN = "The target does not vary on these rows, so no network was trained."
    NOT_STARTED = "The time limit was reached before this network's turn; it was left out."
    DIVERGED = (
        "A step left the finite numbers; this is the best network before it. "
        "Use the damped algorithm, or fewer neurons."
    )

    def __str__(self) -> str:
        return self.value


@dataclass(frozen=True)
class Iteration:
    """One row of a solver's history.

    Attributes
    ----------
    iteration : 0 is the start
    seconds : since this start was begun
    objective : weighted mean loss plus penalty
    loss : weighted mean loss
    damping : Levenberg-Marquardt damping of the step taken (0 for an undamped algorithm)
    gain : fall of the objective over the fall that the linearised model promised
    rejected : steps tried and thrown away on the way
    ridge : penalty that the objective had; 0 for a solver without one
    """

    iteration: int
    seconds: float
    objective: float
    loss: float
    damping: float
    gain: float
    rejected: int
    ridge: float = 0.0


class State(Protocol):
    """What the loop reads of a solver's state."""

    @property
    def objective(self) -> float:
        """Weighted mean loss plus penalty."""

    @property
    def loss(self) -> float:
        """Weighted mean loss."""

    @property
    def damping(self) -> float:
        """Damping of the step that led here."""

    @property
    def gain(self) -> float:
        """Actual over promised fall of the objective in the step that led here."""

    @property
    def rejected(self) -> int:
        """Steps thrown away before the one that led here."""

    @property
    def ridge(self) -> float:
        """Penalty of the objective."""

    def network(self) -> ReluNetwork:
        """The network that the state stands for."""

    def improves_on(self, other: Any) -> bool:
        """Whether to keep it rather than an earlier state of the same start."""


S = TypeVar("S", bound=State)
Monitor = Callable[[int, Iteration], None]


class Solver(Protocol[S]):
    """Settings with three methods; `solve` drives them."""

    @property
    def max_iter(self) -> int:
        """Most iterations of one start."""

    def begin(self, problem: Problem, generator: np.random.Generator) -> S:
        """Make the state of one start."""

    def step(self, problem: Problem, state: S) -> S:
        """One iteration."""

    def verdict(self, state: S) -> Status | None:
        """Why to stop at this state, or None to go on."""


@shown
@dataclass(frozen=True)
class Outcome:
    """A trained network and how it came about.

    Attributes
    ----------
    network : in the units of the problem's rows
    objective, loss : of that network
    status : why its solver stopped
    history : one row an iteration, of the start that won
    restart : which start won, from 0
    objectives : what each start ended with
    """

    network: ReluNetwork
    objective: float
    loss: float
    status: Status
    history: tuple[Iteration, ...]
    restart: int = 0
    objectives: tuple[float, ...] = ()

    def __getstate__(self) -> dict[str, Any]:
        # By its name: skops has no way to rebuild members of an enumeration.
        return {**vars(self), "status": self.status.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({**state, "status": Status[state["status"]]})

    @property
    def n_iterations(self) -> int:
        """Iterations of the start that won."""
        return self.history[-1].iteration

    @property
    def seconds(self) -> float:
        """Seconds that the winning start took."""
        return self.history[-1].seconds

    def to_frame(self) -> pd.DataFrame:
        """The history as a table, one row an iteration."""
        pandas = require("pandas", extra="data", purpose="A table of the history")
        frame: pd.DataFrame = pandas.DataFrame([asdict(row) for row in self.history])
        return frame


@dataclass(frozen=True)
class Task:
    """One network to be trained by itself: which rows it sees, and its seed.

    Attributes
    ----------
    index : (n,), numbers of the rows
    counts : (n,), how often each counts, or None for once
    seed : of its starts
    """

    index: Integers
    counts: Floats | None
    seed: np.random.SeedSequence


class Trainer(Protocol):
    """A solver as the ensemble sees it: settings that train several networks."""

    n_neurons: int

    @property
    def together(self) -> int:
        """Networks that it trains in one call, however many workers there are."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def train(
        self,
        problem: Problem,
        tasks: Sequence[Task],
        deadline: Deadline = NEVER,
        monitor: Monitor | None = None,
    ) -> tuple[Outcome, ...]:
        """Train a network for each task, until the deadline.

        The problem has one output; the tasks' rows are numbered as in the problem. The monitor is
        called with the start's number and its newest history row.
        """


def solve_each(
    solver: Solver[Any],
    problem: Problem,
    tasks: Sequence[Task],
    n_init: int,
    deadline: Deadline = NEVER,
    monitor: Monitor | None = None,
) -> tuple[Outcome, ...]:
    """Train the tasks one after the other, each from `n_init` starts."""
    return tuple(
        solve(
            solver,
            Problem(problem.rows.take(task.index, task.counts).held(), problem.loss),
            start_seeds(task.seed, n_init),
            deadline=deadline,
            monitor=monitor,
        )
        for task in tasks
    )


def start_seeds(seed: np.random.SeedSequence, n_init: int) -> list[np.random.SeedSequence]:
    """Seeds of the starts of one network, always the same for the same seed."""
    return [
        np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, start))
        for start in range(n_init)
    ]


def solve(
    solver: Solver[Any],
    problem: Problem,
    seeds: Sequence[np.random.SeedSequence],
    *,
    deadline: Deadline = NEVER,
    monitor: Monitor | None = None,
) -> Outcome:
    """Run a solver from each seed and keep the network with the lowest objective.

    Parameters
    ----------
    seeds : one for each start
    deadline : of all starts together; the best so far is returned
    monitor : called with the start's number and its newest history row
    """
    outcomes: list[Outcome] = []
    for start, seed in enumerate(seeds):
        generator = np.random.default_rng(seed)
        outcomes.append(_run(solver, problem, generator, deadline, start, monitor))
        if outcomes[-1].status in (Status.EXACT, Status.TIME_LIMIT):
            break
    objectives = tuple(outcome.objective for outcome in outcomes)
    winner = int(np.argmin(objectives))
    return replace(outcomes[winner], restart=winner, objectives=objectives)


def _run(
    solver: Solver[S],
    problem: Problem,
    generator: np.random.Generator,
    deadline: Deadline,
    start: int,
    monitor: Monitor | None,
) -> Outcome:
    """One start: iterate until the solver's verdict, the iterations' or the clock's end."""
    begun = now()
    history: list[Iteration] = []

    def note(state: S) -> None:
        seconds = now() - begun
        history.append(_row(len(history), seconds, state))
        if monitor is not None:
            monitor(start, history[-1])

    state = best = solver.begin(problem, generator)
    note(state)
    status = solver.verdict(state)
    while status is None:
        if deadline.passed:
            status = Status.TIME_LIMIT
        elif len(history) > solver.max_iter:
            status = Status.MAX_ITER
        else:
            state = solver.step(problem, state)
            note(state)
            status = solver.verdict(state)
            if state.improves_on(best):
                best = state
    return Outcome(best.network(), best.objective, best.loss, status, tuple(history))


def _row(iteration: int, seconds: float, state: State) -> Iteration:
    return Iteration(
        iteration,
        seconds,
        state.objective,
        state.loss,
        state.damping,
        state.gain,
        state.rejected,
        state.ridge,
    )
