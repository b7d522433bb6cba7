"""Joint refinement of a wide layer and its read-out by mini-batches, each neuron in its columns."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from lifenet._settings import Settings
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Iteration, Status

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.losses import Loss
    from lifenet.solvers.base import Problem

__all__ = ["Descended", "Descent"]

_MOMENTUM, _SQUARES, _EPSILON = 0.9, 0.999, 1e-8
# Steps over which the learning rate rises at first: the moments know nothing yet.
_WARM = 50
# Fewer steps than this move nothing.
_FEWEST_STEPS = 100
# Lengths of weights and coefficients are made equal; a coefficient counts at least this much, so
# that a neuron that the read-out does not use may still be found useful.
_LEAST_COEFFICIENT = 1e-3
# Hidden layers of this many cells are computed at once where nothing is learnt.
_CELLS = 1 << 22


@dataclass(repr=False)
class Descent(Settings):
    """Adam with a cosine schedule for all neurons of a wide layer at once.

    From a read-out that is fitted already, steps must be small: the first ones would otherwise
    undo it. The network that does best on rows apart is kept, the first one included.

    Parameters
    ----------
    n_steps : int, default=400
        Most steps; 0 leaves the network as it is.
    max_epochs : int, default=12
        Passes over the rows that are enough, but for a hundred steps.
    learning_rate : float, default=2e-4
        Largest.
    batch_size : int, default=256
        Rows of a step.
    n_readings : int, default=8
        How often the rows apart are asked on the way.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_readings": [Interval(Integral, 1, None, closed="left")],
    }

    n_steps: int = 400
    max_epochs: int = 12
    learning_rate: float = 2e-4
    batch_size: int = 256
    n_readings: int = 8

    def refine(
        self,
        learn: Problem,
        judge: Problem,
        network: ReluNetwork,
        free: Bools,
        seed: np.random.SeedSequence,
        deadline: float | None = None,
    ) -> Descended:
        """Refine a network on rows to learn from, as far as rows apart gain.

        Parameters
        ----------
        network : in the units of the rows, without a linear part
        free : (n_neurons, n_features), weights that may move; biases and coefficients all do
        deadline : on the monotonic clock
        """
        run = _Run(self, learn, judge, network, free, deadline)
        return run.descend(np.random.default_rng(seed))

    def steps(self, n_rows: int) -> int:
        """Steps that so many rows get."""
        enough = self.max_epochs * _n_batches(n_rows, self.batch_size)
        return min(self.n_steps, max(enough, _FEWEST_STEPS))

    def rate(self, step: int, n_steps: int) -> float:
        """Learning rate of a step, from 0, of so many."""
        falling = 0.5 * (1.0 + math.cos(math.pi * step / n_steps))
        return self.learning_rate * falling * min(1.0, (step + 1) / _WARM)


@dataclass(frozen=True)
class Descended:
    """A refined network, what the rows apart said on the way, and why it ended."""

    network: ReluNetwork
    history: tuple[Iteration, ...]
    status: Status

    @property
    def loss(self) -> float:
        """Mean loss of the rows apart."""
        return min(row.loss for row in self.history)


@dataclass
class _Table:
    """Rows in single precision, row by row."""

    inputs: Floats  # (n_rows, n_features + 1)
    target: Floats
    weight: Floats

    @classmethod
    def of(cls, problem: Problem) -> _Table:
        rows = problem.rows
        inputs = rows.collect(lambda block: block.inputs.astype(np.float32))
        weight = rows.weight / rows.weight.mean()
        return cls(np.ascontiguousarray(inputs.T), rows.target, weight)


@dataclass
class _Run:
    settings: Descent
    learn: Problem
    judge: Problem
    network: ReluNetwork
    free: Bools
    deadline: float | None
    begun: float = field(default_factory=time.monotonic)
    history: list[Iteration] = field(default_factory=list)

    def descend(self, generator: np.random.Generator) -> Descended:
        """All steps, or until the time is over."""
        now = _Parameters.of(self.network)
        judge = _Table.of(self.judge)
        best, least = now.copy(), self._read(0, now, judge)
        status, n_steps = Status.COMPLETED, self.settings.steps(self.learn.rows.n_rows)
        if n_steps == 0 or not self.network.n_neurons:
            return Descended(self.network, tuple(self.history), status)
        learn, free = _Table.of(self.learn), _with_bias(self.free)
        every = -(-n_steps // self.settings.n_readings)
        batches = _batches(len(learn.target), self.settings.batch_size, generator)
        for step in range(n_steps):
            gradient = _gradient(now, learn, next(batches), self.learn.loss)
            gradient[: free.size] *= free.ravel()
            now.step(gradient, self.settings.rate(step, n_steps), step + 1)
            late = self.deadline is not None and time.monotonic() >= self.deadline
            if late or (step + 1) % every == 0 or step + 1 == n_steps:
                loss = self._read(step + 1, now, judge)
                if loss < least:
                    best, least = now.copy(), loss
            if late:
                status = Status.TIME_LIMIT
                break
        moved = self.history[0].loss > least
        return Descended(best.network() if moved else self.network, tuple(self.history), status)

    def _read(self, step: int, now: _Parameters, judge: _Table) -> float:
        """Mean loss of the rows apart; infinite where it is no number."""
        loss = _mean_loss(now, judge, self.judge.loss)
        value = loss if np.isfinite(loss) else np.inf
        seconds = time.monotonic() - self.begun
        self.history.append(Iteration(step, seconds, value, value, 0.0, np.nan, 0))
        return value


@dataclass
class _Parameters:
    """Weights, coefficients and intercepts as one vector, with Adam's two moments."""

    vector: Floats
    n_neurons: int
    n_inputs: int
    n_outputs: int
    first: Floats | None = None
    second: Floats | None = None

    @classmethod
    def of(cls, network: ReluNetwork) -> _Parameters:
        lengths = np.linalg.norm(network.weights, axis=1)
        sizes = np.linalg.norm(network.beta, axis=1)
        factor = np.sqrt((sizes + _LEAST_COEFFICIENT) / np.where(lengths > 0, lengths, 1.0))[
            :, None
        ]
        theta = np.column_stack([network.weights, network.bias]) * factor
        parts = (theta, network.beta / factor, network.intercept)
        vector = np.concatenate([part.ravel() for part in parts]).astype(np.float32)
        return cls(vector, len(theta), theta.shape[1], network.n_outputs)

    def copy(self) -> _Parameters:
        return _Parameters(self.vector.copy(), self.n_neurons, self.n_inputs, self.n_outputs)

    @property
    def theta(self) -> Floats:
        size = self.n_neurons * self.n_inputs
        return self.vector[:size].reshape(self.n_neurons, self.n_inputs)

    @property
    def beta(self) -> Floats:
        start = self.n_neurons * self.n_inputs
        return self.vector[start : -self.n_outputs].reshape(self.n_neurons, self.n_outputs)

    @property
    def intercept(self) -> Floats:
        return self.vector[-self.n_outputs :]

    def step(self, gradient: Floats, rate: float, number: int) -> None:
        """One step of Adam, in place."""
        if self.first is None or self.second is None:
            self.first, self.second = np.zeros_like(gradient), np.zeros_like(gradient)
        self.first *= _MOMENTUM
        self.first += (1.0 - _MOMENTUM) * gradient
        np.square(gradient, out=gradient)
        self.second *= _SQUARES
        gradient *= 1.0 - _SQUARES
        self.second += gradient
        np.sqrt(self.second, out=gradient)
        unbiased = math.sqrt(1.0 - _SQUARES**number)
        gradient += _EPSILON * unbiased
        np.divide(self.first, gradient, out=gradient)
        gradient *= rate * unbiased / (1.0 - _MOMENTUM**number)
        self.vector -= gradient

    def network(self) -> ReluNetwork:
        theta = self.theta.astype(np.float64)
        return ReluNetwork(
            theta[:, :-1],
            theta[:, -1],
            self.beta.astype(np.float64),
            self.intercept.astype(np.float64),
        )


def _with_bias(free: Bools) -> Floats:
    """Factors on the gradient of all weights and biases."""
    return np.column_stack([free, np.ones(len(free))]).astype(np.float32)


def _batches(n_rows: int, size: int, generator: np.random.Generator) -> Any:
    """Rows of one step after the other, each pass in a new order."""
    while True:
        yield from np.array_split(generator.permutation(n_rows), _n_batches(n_rows, size))


def _n_batches(n_rows: int, size: int) -> int:
    return max(1, round(n_rows / size))


def _gradient(now: _Parameters, table: _Table, rows: Integers, loss: Loss) -> Floats:
    """Gradient of the mean loss of a batch, as one vector."""
    inputs, target = table.inputs[rows], table.target[rows]
    hidden = now.theta @ inputs.T
    active = np.empty_like(hidden)
    np.greater(hidden, 0.0, out=active, casting="unsafe")
    hidden *= active
    score = (now.beta.T @ hidden).T + now.intercept
    slope = loss.gradient(target, score[:, 0] if now.n_outputs == 1 else score)
    slope = slope.reshape(len(rows), -1) * (table.weight[rows] / len(rows))[:, None]
    slopes: Floats = slope.astype(np.float32)
    to_beta = hidden @ slopes
    back = now.beta @ slopes.T
    back *= active
    to_theta = back @ inputs
    return np.concatenate([to_theta.ravel(), to_beta.ravel(), slopes.sum(axis=0)])


def _mean_loss(now: _Parameters, table: _Table, loss: Loss) -> float:
    total, size = 0.0, max(64, _CELLS // max(now.n_neurons, 1))
    for start in range(0, len(table.target), size):
        part = slice(start, start + size)
        hidden = now.theta @ table.inputs[part].T
        np.maximum(hidden, 0.0, out=hidden)
        score = ((now.beta.T @ hidden).T + now.intercept).astype(np.float64)
        values = loss.value(table.target[part], score[:, 0] if now.n_outputs == 1 else score)
        total += float(table.weight[part] @ values)
    return total / float(table.weight.sum())
