"""Adam for many narrow networks at once, as one batched computation (`stack`).

All members see the same mini-batch of rows: the product of the batch with the stacked weights of
all members is one matrix product, and a row counts for a member with that member's weight of it,
zero where the row is not in the member's subset.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._clock import NEVER, Deadline, now
from lifenet._settings import Settings
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.kernels.adam import adam_step
from lifenet.kernels.lstsq import solve_positive
from lifenet.solvers.base import Iteration, Outcome, Status
from lifenet.solvers.stack import Data, Dropout, Stack, mean_losses, stack_gradient
from lifenet.solvers.starts import random_hinges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.losses import Loss
    from lifenet.solvers.base import Monitor, Task

__all__ = ["Adam", "EpochMonitor"]

#: Called once an epoch with a history row whose loss is the mean over the members in training.
EpochMonitor = Callable[[Iteration], None]

# Below this many rows: float64, full batches and no validation rows, so that integer weights are
# repeated rows.
_SMALL = 1000
# Rows of a mini-batch: this many times the square root of all, so that steps and their precision
# both grow with the rows.
_BATCH_FACTOR, _MOST_BATCH_ROWS = 2.0, 1024
# Epochs are as many as make this many steps, within these limits: few rows, seen more often, are
# overfitted. Full batches are so few rows that this many steps are enough.
_STEPS, _EPOCHS, _FULL_BATCH_EPOCHS = 3000, (10, 50), 100
# The values of the losses are read in about this many batches of an epoch; gradients in all.
_READINGS = 8
# A start looks at this many of the member's rows at most: quantiles need no more.
_START_ROWS = 1000
_START_RIDGE = 1e-2
# A member with fewer validation rows than this is not stopped early: its validation loss is noise.
_LEAST_HELD_OUT = 20
# Members that have stopped are carried along until this share of the members in work has.
_STOPPED_SHARE = 0.2
# Seeds are drawn from for the order of the rows, and for the neurons left out.
_ORDER, _DROPOUT = 0, 1


@dataclass
class _State:
    """Adam's state: parameters, their moments and the number of steps taken."""

    stack: Stack
    first: Stack
    second: Stack
    steps: int = 0

    @classmethod
    def of(cls, stack: Stack) -> _State:
        return cls(stack, stack.zeros(), stack.zeros())

    def step(self, gradient: Stack, rate: float, decay: float) -> None:
        """One step, in index: weights and betas decay, biases and intercepts do not."""
        self.steps += 1
        if decay:
            self.stack.theta[..., :-1] *= 1.0 - rate * decay
            self.stack.beta[...] *= 1.0 - rate * decay
        first, second = self.first.vector, self.second.vector
        adam_step(self.stack.vector, gradient.vector, first, second, self.steps, rate)

    def take(self, members: Integers) -> _State:
        first, second = self.first.take(members), self.second.take(members)
        return _State(self.stack.take(members), first, second, self.steps)


@dataclass
class _Watch:
    """The best epoch of each member, and who has stopped and why.

    Attributes
    ----------
    best : parameters of each member's best epoch
    least : validation loss of that epoch, infinite before the first
    mark : validation loss that an epoch must undercut by the tolerance to count as progress
    waited : epochs since the last progress
    status : None while a member is in training
    """

    best: Stack
    least: Floats
    mark: Floats
    waited: Integers
    status: list[Status | None]
    history: list[list[Iteration]]

    @classmethod
    def of(cls, start: Stack) -> _Watch:
        n = start.n_members
        infinite = np.full(n, np.inf)
        none: list[Status | None] = [None] * n
        histories: list[list[Iteration]] = [[] for _ in range(n)]
        return cls(start.copy(), infinite, infinite.copy(), np.zeros(n, int), none, histories)

    def note(self, members: Integers, stack: Stack, watched: Floats | None, tol: float) -> None:
        """Keep what is best after an epoch; without validation rows that is the latest."""
        sound = stack.sound()
        losses = np.full(len(members), np.nan) if watched is None else watched
        for index, member in enumerate(members):
            if self.status[member] is not None:
                continue
            if not sound[index]:
                self.status[member] = Status.DIVERGED
            elif self._improves(member, losses[index], tol):
                self.best.put(member, stack, index)

    def _improves(self, member: int, loss: float, tol: float) -> bool:
        if np.isnan(loss):
            return True
        progress = loss < self.mark[member] * (1.0 - tol)
        self.waited[member] = 0 if progress else self.waited[member] + 1
        self.mark[member] = loss if progress else self.mark[member]
        better = bool(loss < self.least[member])
        self.least[member] = min(loss, self.least[member])
        return better

    def record(self, members: Integers, epoch: int, seconds: float, losses: Floats) -> Iteration:
        """Add a history row to each member in training; the row of their mean comes back."""
        running = [index for index, member in enumerate(members) if self.status[member] is None]
        for index in running:
            self.history[members[index]].append(_row(epoch, seconds, losses[index]))
        mean = losses[running].mean() if running else np.nan
        return _row(epoch, seconds, mean)

    def stop(self, status: Status) -> None:
        """Give the members still in training this status."""
        self.status = [status if known is None else known for known in self.status]

    def stop_idle(self, patience: int) -> None:
        """End the members whose validation loss has made no progress for too long."""
        for member in np.flatnonzero(self.waited >= patience):
            if self.status[member] is None:
                self.status[member] = Status.CONVERGED

    def running(self, members: Integers) -> Integers:
        """Places of the members that are still in training."""
        return np.array([i for i, member in enumerate(members) if self.status[member] is None], int)


def _row(epoch: int, seconds: float, loss: float) -> Iteration:
    return Iteration(epoch, seconds, float(loss), float(loss), 0.0, np.nan, 0)


@dataclass(frozen=True)
class _Plan:
    """Which rows train, which validate, in which batches, for how long."""

    training: Integers
    held_out: Integers
    n_batches: int
    n_epochs: int
    generator: np.random.Generator = field(repr=False)

    def batches(self) -> list[Integers]:
        """The training rows of one epoch, in a new order unless they are one batch."""
        if self.n_batches == 1:
            return [self.training]
        return np.array_split(self.generator.permutation(self.training), self.n_batches)


@dataclass(repr=False)
class Adam(Settings):
    """Adam with decoupled weight decay, for many networks together.

    Parameters
    ----------
    n_neurons : width of each network
    learning_rate : of the first step
    batch_size : rows of a mini-batch; None takes all rows below 1,000 of them, else twice the
        square root of their number, at most 1,024
    max_epochs : passes over the rows; None takes as many as make 3,000 steps, from 10 to 50, or
        100 where all rows are one batch
    schedule : "cosine" lowers the learning rate to zero over all epochs; "constant" keeps it
    weight_decay : share of weights and betas, times the learning rate, that a step takes away
    dropout : share of the neurons left out at each row of a batch, at random
    early_stopping : hold out rows, keep each member's best epoch on them, and end a member that
        makes no progress; below 1,000 rows nothing is held out and all epochs are run. Off by
        default: with the few epochs of the cosine schedule the rows are worth more in training
    patience : epochs without progress that end a member
    validation_fraction : share of the validation rows
    tol : relative fall of the validation loss that counts as progress
    """

    n_neurons: int = 10
    learning_rate: float = 0.02
    batch_size: int | None = None
    max_epochs: int | None = None
    schedule: str = "cosine"
    weight_decay: float = 0.01
    dropout: float = 0.0
    early_stopping: bool = False
    patience: int = 15
    validation_fraction: float = 0.1
    tol: float = 1e-4

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neurons": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [None, Interval(Integral, 1, None, closed="left")],
        "max_epochs": [None, Interval(Integral, 1, None, closed="left")],
        "schedule": [StrOptions({"constant", "cosine"})],
        "weight_decay": [Interval(Real, 0, None, closed="left")],
        "dropout": [Interval(Real, 0, 1, closed="left")],
        "early_stopping": ["boolean"],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "tol": [Interval(Real, 0, 1, closed="left")],
    }

    @property
    def together(self) -> int:
        """Networks that share their batches; their weights of all rows are held at once."""
        return 32

    def train(
        self,
        problem: Problem,
        tasks: Sequence[Task],
        deadline: Deadline = NEVER,
        monitor: Monitor | None = None,
    ) -> tuple[Outcome, ...]:
        """Train a network for each task, all together."""
        rows = problem.rows
        X = rows.collect(lambda block: block.inputs[:-1].copy()).T
        weight = np.zeros((rows.n_rows, len(tasks)))
        for member, task in enumerate(tasks):
            counts = 1.0 if task.counts is None else task.counts
            weight[task.index, member] = rows.weight[task.index] * counts
        return self.train_together(
            X,
            rows.target,
            weight,
            problem.loss,
            [task.seed for task in tasks],
            deadline=deadline,
            monitor=None if monitor is None else partial(monitor, 0),
        )

    def train_together(
        self,
        X: Floats,
        target: Floats,
        weight: Floats,
        loss: Loss,
        seeds: Sequence[np.random.SeedSequence],
        *,
        deadline: Deadline = NEVER,
        monitor: EpochMonitor | None = None,
    ) -> tuple[Outcome, ...]:
        """Train one network for each column of `weight`.

        A member's start comes from its own seed; the validation rows and the order of the batches
        come from the first seed. With the same first seed a member is the same, to rounding,
        whichever others are trained with it.

        Parameters
        ----------
        X : (n_samples, n_features), standardised
        target : (n_samples,) for all members, or (n_samples, n_members)
        weight : (n_samples, n_members), not negative; zero where a row is not in a subset
        loss : with one output
        seeds : one for each member
        deadline : when the best so far is returned
        monitor : called once an epoch
        """
        begun = now()
        rows = np.flatnonzero(weight.any(axis=1))
        small = len(rows) < _SMALL
        if not small:
            # Rows of no member take part in the order, or it would depend on who the members are.
            rows = np.arange(len(X))
        data = Data.of(X, target, weight, np.float64 if small else np.float32)
        plan = self._plan(rows, small, seeds[0])
        start = _start_stack(self.n_neurons, data, loss, seeds)
        run = _Run(self, data, loss, plan, deadline, begun, monitor, self._dropout(seeds))
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            watch = run.train(start)
            losses = mean_losses(watch.best, data, rows, loss)
        return tuple(_outcome(watch, member, losses[member]) for member in range(len(seeds)))

    def _dropout(self, seeds: Sequence[np.random.SeedSequence]) -> Dropout | None:
        if not self.dropout:
            return None
        generators = tuple(np.random.default_rng(_seed_of(seed, _DROPOUT)) for seed in seeds)
        return Dropout(self.dropout, generators)

    def _plan(self, rows: Integers, small: bool, seed: np.random.SeedSequence) -> _Plan:
        generator = np.random.default_rng(_seed_of(seed, _ORDER))
        training, held_out = rows, rows[:0]
        if self.early_stopping and not small:
            taken = np.zeros(len(rows), bool)
            n_taken = max(1, round(self.validation_fraction * len(rows)))
            taken[generator.permutation(len(rows))[:n_taken]] = True
            training, held_out = rows[~taken], rows[taken]
        n_batches = max(1, round(len(training) / self._batch_rows(len(training), small)))
        n_epochs = self.max_epochs or _epochs(n_batches)
        return _Plan(training, held_out, n_batches, n_epochs, generator)

    def _batch_rows(self, n_rows: int, small: bool) -> int:
        if self.batch_size is not None:
            return self.batch_size
        if small:
            return n_rows
        return min(_MOST_BATCH_ROWS, int(_BATCH_FACTOR * np.sqrt(n_rows)))

    def rate(self, progress: float) -> float:
        """Learning rate after this share of all steps."""
        if self.schedule == "constant":
            return self.learning_rate
        return self.learning_rate * 0.5 * (1.0 + math.cos(math.pi * progress))


def _epochs(n_batches: int) -> int:
    if n_batches == 1:
        return _FULL_BATCH_EPOCHS
    return int(np.clip(_STEPS // n_batches, *_EPOCHS))


def _seed_of(seed: np.random.SeedSequence, purpose: int) -> np.random.SeedSequence:
    """A seed of its own for a purpose, made without changing the one given."""
    return np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, purpose))


@dataclass(frozen=True)
class _Run:
    """One call of `Adam.train_together`, after its arguments were made ready."""

    settings: Adam
    data: Data
    loss: Loss
    plan: _Plan
    deadline: Deadline
    begun: float
    monitor: EpochMonitor | None
    dropout: Dropout | None = None

    def train(self, start: Stack) -> _Watch:
        """All epochs, until the last member has stopped or the time is over."""
        watch, state = _Watch.of(start), _State.of(start)
        data, members, stoppable = self.data, np.arange(start.n_members), self._stoppable()
        dropout = self.dropout
        # A member all of whose rows are held out has no gradient: it stays at its start.
        total = np.maximum(data.total_weight(self.plan.training), np.finfo(np.float32).tiny)
        self._record(watch, members, 0, mean_losses(start, data, self.plan.training, self.loss))
        for epoch in range(1, self.plan.n_epochs + 1):
            losses = self._epoch(data, state, total[members], dropout)
            self._record(watch, members, epoch, losses)
            watched = self._watched(data, state.stack, stoppable[members])
            watch.note(members, state.stack, watched, self.settings.tol)
            watch.stop_idle(self.settings.patience)
            running = watch.running(members)
            if self.deadline.passed or not len(running):
                break
            if len(running) <= (1.0 - _STOPPED_SHARE) * len(members):
                data, state, members = data.take(running), state.take(running), members[running]
                dropout = None if dropout is None else dropout.take(running)
        watch.stop(Status.TIME_LIMIT if self.deadline.passed else self._ended())
        return watch

    def _epoch(self, data: Data, state: _State, total: Floats, dropout: Dropout | None) -> Floats:
        """Step through all batches; the members' mean losses as they were met on the way.

        Parameters
        ----------
        total : (n_members,), weight of the training rows
        """
        plan, settings = self.plan, self.settings
        n_steps = plan.n_batches * plan.n_epochs
        every = -(-plan.n_batches // _READINGS)
        sums, n_read = np.zeros(len(total)), 0
        for number, index in enumerate(plan.batches()):
            batch = data.batch(index)
            read = number % every == 0
            scale = (len(plan.training) / (len(index) * total)).astype(batch.inputs.dtype)
            gradient, losses = stack_gradient(
                state.stack, batch, scale, self.loss, read_loss=read, dropout=dropout
            )
            state.step(gradient, settings.rate(state.steps / n_steps), settings.weight_decay)
            sums += losses
            n_read += read
            if self.deadline.passed:
                break
        return sums / n_read

    def _stoppable(self) -> Bools:
        """Members with enough validation rows to be stopped by them."""
        counts = np.count_nonzero(self.data.weight[self.plan.held_out], axis=0)
        return np.asarray(counts >= _LEAST_HELD_OUT)

    def _watched(self, data: Data, stack: Stack, stoppable: Bools) -> Floats | None:
        if not stoppable.any():
            return None
        losses = mean_losses(stack, data, self.plan.held_out, self.loss)
        return np.where(stoppable, losses, np.nan)

    def _record(self, watch: _Watch, members: Integers, epoch: int, losses: Floats) -> None:
        row = watch.record(members, epoch, now() - self.begun, losses)
        if self.monitor is not None:
            self.monitor(row)

    def _ended(self) -> Status:
        return Status.COMPLETED if self.settings.schedule == "cosine" else Status.MAX_ITER


def _outcome(watch: _Watch, member: int, loss: float) -> Outcome:
    status = watch.status[member]
    assert status is not None
    history = tuple(watch.history[member])
    network = watch.best.network(member)
    return Outcome(network, float(loss), float(loss), status, history, 0, (float(loss),))


def _start_stack(
    n_neurons: int, data: Data, loss: Loss, seeds: Sequence[np.random.SeedSequence]
) -> Stack:
    """Starts of all members: random hinges inside their own rows, with a fitted output layer."""
    empty = np.flatnonzero(~data.weight.any(axis=0))
    if len(empty):
        raise ValueError(f"column {empty[0]} of weight is all zero; every member needs rows")
    starts = [
        _start(n_neurons, data.take(np.array([member])), loss, np.random.default_rng(seed))
        for member, seed in enumerate(seeds)
    ]
    theta, beta, intercept = (np.stack(part) for part in zip(*starts, strict=True))
    dtype = data.inputs.dtype
    return Stack.of(theta.astype(dtype), beta.astype(dtype), intercept.astype(dtype))


def _start(
    n_neurons: int, data: Data, loss: Loss, generator: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """One member's start from at most `_START_ROWS` of its rows."""
    index = np.flatnonzero(data.weight[:, 0])
    if len(index) > _START_ROWS:
        index = np.sort(generator.choice(index, _START_ROWS, replace=False))
    X, target, weight = (
        np.asarray(part, np.float64)
        for part in (data.inputs[index, :-1], data.target[index, 0], data.weight[index, 0])
    )
    problem = Problem(ArrayRows.of(X, target, weight), loss)
    theta = random_hinges(problem, n_neurons, generator)
    hidden = np.maximum(X @ theta[:, :-1].T + theta[:, -1], 0.0)
    beta, intercept = _first_readout(hidden, target, weight, loss)
    return theta, beta, intercept


def _first_readout(
    hidden: Floats, target: Floats, weight: Floats, loss: Loss
) -> tuple[Floats, Floats]:
    """A ridge fit of the neurons' outputs: one Fisher scoring step from the constant score."""
    null = loss.null_score(target, weight)[0]
    share = weight / weight.sum()
    score = np.full((len(target), 1), null)
    centred = hidden - share @ hidden
    curvature = share * loss.curvature(target, score)[:, 0]
    gram = (centred * curvature[:, None]).T @ centred
    ridge = np.full(len(gram), _START_RIDGE * (np.trace(gram) / len(gram) or 1.0))
    gradient = share * loss.gradient(target, score)[:, 0]
    beta = -solve_positive(gram, centred.T @ gradient, ridge)
    return beta, np.asarray(null - share @ hidden @ beta)
