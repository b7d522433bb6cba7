"""Fine-tuning by mini-batches: Adam for a wide layer and its output, each neuron in its columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._clock import NEVER, Deadline, now
from lifenet._settings import Settings
from lifenet.data import budgets
from lifenet.finetune.base import FineTuned
from lifenet.kernels.adam import adam_step
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Status

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.data.problem import Problem
    from lifenet.losses import Loss

__all__ = ["MiniBatch"]

# Steps over which the learning rate rises at first: the moments know nothing yet.
_WARM = 50
# What "auto" means, by the loss: passes over the rows and the learning rate. Scores of separable
# rows would grow without bound if few validation rows let them, so that their fine-tuning is
# shorter. Chosen on the training parts of the sets named in docs/ablations.md.
_EPOCHS_SEPARABLE, _EPOCHS = 30, 150
_RATE_SEPARABLE, _RATE = 2e-4, 5e-4
# Fewer steps than this move nothing.
_FEWEST_STEPS = 100
# Lengths of weights and coefficients are made equal; a coefficient counts at least this much, so
# that a neuron that the output layer does not use may still be found useful.
_LEAST_COEFFICIENT = 1e-3
# A part of fewer codes is not worth a matrix product of its own.
_FEW_CODES = 8


@dataclass(repr=False)
class MiniBatch(Settings):
    """Adam with a cosine schedule for all neurons of a wide layer at once.

    From an output layer that is fitted already, steps must be small: the first ones would otherwise
    undo it. The network with the least loss on the validation rows is kept, the first one included.

    Parameters
    ----------
    n_steps : int, default=200
        Most steps; 0 leaves the network unchanged.
    max_epochs : int or "auto", default=12
        Passes over the rows that are enough, but for a hundred steps. "auto" takes 150, or 30 for
        separable losses.
    learning_rate : float or "auto", default=2e-4
        Largest. "auto" takes 5e-4, or 2e-4 for separable losses.
    batch_size : int, default=256
        Rows of a step.
    n_readings : int, default=8
        How often the loss of the validation rows is measured on the way.
    min_epochs : int, default=0
        Passes over the rows that are made at least, where that takes more steps.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_steps": [Interval(Integral, 0, None, closed="left")],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_readings": [Interval(Integral, 1, None, closed="left")],
        "min_epochs": [Interval(Integral, 0, None, closed="left")],
    }

    n_steps: int = 200
    max_epochs: int | str = 12
    learning_rate: float | str = 2e-4
    batch_size: int = 256
    n_readings: int = 8
    min_epochs: int = 0

    def refine(
        self,
        problem: Problem,
        network: ReluNetwork,
        *,
        trainable: Bools | None = None,
        validation: Problem | None = None,
        seed: np.random.SeedSequence | None = None,
        deadline: Deadline = NEVER,
        n_iterations: int | None = None,
    ) -> FineTuned:
        """Refine a network on the rows of a problem, as far as the validation rows gain.

        Parameters
        ----------
        problem : training rows
        network : in the units of the rows, without a linear part
        trainable : (n_neurons, n_features), weights that may move; biases and coefficients all do
        validation : the network with the least loss on these rows is kept; without any, the last
        seed : of the order of the rows
        n_iterations : steps of the schedule after which it ends; all by default
        """
        movable = np.ones(network.weights.shape, bool) if trainable is None else trainable
        settings = self.resolved(problem.loss)
        run = _Run(settings, problem, validation, network, movable, deadline, n_iterations)
        return run.descend(np.random.default_rng(seed))

    def resolved(self, loss: Loss) -> MiniBatch:
        """The settings without "auto"."""
        epochs, rate = self.max_epochs, self.learning_rate
        if isinstance(epochs, str):
            epochs = _EPOCHS_SEPARABLE if loss.separable else _EPOCHS
        if isinstance(rate, str):
            rate = _RATE_SEPARABLE if loss.separable else _RATE
        return replace(self, max_epochs=epochs, learning_rate=rate)

    def steps(self, n_rows: int) -> int:
        """Steps for a number of rows."""
        batches = _n_batches(n_rows, self.batch_size)
        most = max(self.n_steps, self.min_epochs * batches) if self.n_steps else 0
        return min(most, max(int(self.max_epochs) * batches, _FEWEST_STEPS))

    def rate(self, step: int, n_steps: int) -> float:
        """Learning rate of a step, from 0, of `n_steps`."""
        falling = 0.5 * (1.0 + math.cos(math.pi * step / n_steps))
        return float(self.learning_rate) * falling * min(1.0, (step + 1) / _WARM)


@dataclass(frozen=True, eq=False)
class _Part:
    """Codes and the neurons that they enter: a block of the weights, most of which are zero.

    Attributes
    ----------
    codes, neurons : their numbers
    moves : (len(neurons), len(codes)), one where a weight may move, zero elsewhere; None for all
    """

    codes: Integers
    neurons: Integers
    moves: Floats | None

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.neurons), len(self.codes)


def _parts(weights: Floats, trainable: Bools) -> tuple[_Part, ...]:
    """Every code in one part, together with those that enter the same neurons.

    Codes that hardly any other goes with share one part, lest there be too many.
    """
    used = trainable | (weights != 0)
    patterns, kinds = np.unique(np.packbits(used, axis=0), axis=1, return_inverse=True)
    groups = [np.flatnonzero(kinds.ravel() == kind) for kind in range(patterns.shape[1])]
    few = [group for group in groups if len(group) < _FEW_CODES]
    groups = [group for group in groups if len(group) >= _FEW_CODES]
    if few:
        groups.append(np.sort(np.concatenate(few)))
    parts = []
    for codes in groups:
        neurons = np.flatnonzero(used[:, codes].any(axis=1))
        moves = trainable[np.ix_(neurons, codes)]
        if len(neurons):
            parts.append(_Part(codes, neurons, None if moves.all() else moves.astype(np.float32)))
    return tuple(parts)


@dataclass
class _Table:
    """Rows in single precision, row by row, the codes of each part apart."""

    inputs: tuple[Floats, ...]  # each (n_rows, n_codes)
    target: Floats
    weight: Floats

    @classmethod
    def of(cls, problem: Problem, parts: tuple[_Part, ...]) -> _Table:
        rows = problem.rows
        # All codes in one pass: some rows are scaled anew at each.
        order = np.concatenate([np.zeros(0, dtype=np.intp), *(part.codes for part in parts)])
        inputs = rows.collect(lambda block: block.inputs[order].astype(np.float32))
        ends = np.cumsum([len(part.codes) for part in parts])[:-1]
        weight = rows.weight / rows.weight.mean()
        split = (np.ascontiguousarray(one.T) for one in np.split(inputs, ends))
        return cls(tuple(split) if parts else (), rows.target, weight)

    def take(self, rows: Integers | slice) -> _Table:
        """Some of the rows."""
        inputs = tuple(one[rows] for one in self.inputs)
        return _Table(inputs, self.target[rows], self.weight[rows])


@dataclass
class _Run:
    settings: MiniBatch
    train: Problem
    validation: Problem | None
    network: ReluNetwork
    trainable: Bools
    deadline: Deadline
    n_iterations: int | None
    begun: float = field(default_factory=now)
    losses: list[float] = field(default_factory=list)

    def descend(self, generator: np.random.Generator) -> FineTuned:
        """All steps, or until the time is over."""
        parts = _parts(self.network.weights, self.trainable)
        current = _Parameters.of(self.network, parts)
        measured = None if self.validation is None else _Table.of(self.validation, parts)
        best, taken = current.copy(), 0
        self._measure(current, measured)
        n_steps = self.settings.steps(self.train.rows.n_rows)
        last = n_steps if self.n_iterations is None else min(self.n_iterations, n_steps)
        if last == 0 or not self.network.n_neurons:
            return self._result(self.network, Status.COMPLETED, 0)
        train = _Table.of(self.train, parts)
        every = -(-n_steps // self.settings.n_readings)
        batches = _batches(len(train.target), self.settings.batch_size, generator)
        late = False
        for step in range(last):
            gradient = _gradient(current, train.take(next(batches)), self.train.loss)
            current.step(gradient, self.settings.rate(step, n_steps), step + 1)
            late = self.deadline.passed
            due = late or (step + 1) % every == 0 or step + 1 == last
            if due and self._measure(current, measured):
                best, taken = current.copy(), step + 1
            if late:
                break
        status = Status.TIME_LIMIT if late else Status.COMPLETED
        return self._result(best.network() if taken else self.network, status, taken)

    def _measure(self, current: _Parameters, table: _Table | None) -> bool:
        """Note the loss of the validation rows; whether it is the least so far.

        A loss that is no number counts as infinite. Without validation rows the newest is best.
        """
        if table is None or self.validation is None:
            return True
        loss = _mean_loss(current, table, self.validation.loss)
        least = min(self.losses, default=np.inf)
        self.losses.append(loss if np.isfinite(loss) else np.inf)
        return self.losses[-1] < least

    def _result(self, network: ReluNetwork, status: Status, taken: int) -> FineTuned:
        seconds = now() - self.begun
        return FineTuned(network, status, taken, (), tuple(self.losses), seconds)


@dataclass
class _Parameters:
    """Weights part by part, biases, coefficients and intercepts as one vector, with Adam's moments.

    Attributes
    ----------
    started : network that the parameters began as, without a linear part
    """

    vector: Floats
    parts: tuple[_Part, ...]
    started: ReluNetwork
    first: Floats | None = None
    second: Floats | None = None

    @classmethod
    def of(cls, network: ReluNetwork, parts: tuple[_Part, ...]) -> _Parameters:
        lengths = np.linalg.norm(network.weights, axis=1)
        sizes = np.linalg.norm(network.beta, axis=1)
        factor = np.sqrt((sizes + _LEAST_COEFFICIENT) / np.where(lengths > 0, lengths, 1.0))
        weights = network.weights * factor[:, None]
        pieces = (
            *(weights[np.ix_(part.neurons, part.codes)] for part in parts),
            network.bias * factor,
            network.beta / factor[:, None],
            network.intercept,
        )
        vector = np.concatenate([piece.ravel() for piece in pieces]).astype(np.float32)
        return cls(vector, parts, network)

    def copy(self) -> _Parameters:
        return _Parameters(self.vector.copy(), self.parts, self.started)

    @property
    def n_neurons(self) -> int:
        return self.started.n_neurons

    @property
    def n_outputs(self) -> int:
        return self.started.n_outputs

    def split(self) -> tuple[list[Floats], Floats, Floats, Floats]:
        """Views of the weights of each part, biases, coefficients and intercepts."""
        m, k = self.n_neurons, self.n_outputs
        shapes = (*(part.shape for part in self.parts), (m,), (m, k), (k,))
        ends = np.cumsum([math.prod(shape) for shape in shapes])
        pieces = np.split(self.vector, ends[:-1])
        *weights, bias, beta, intercept = (
            piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)
        )
        return weights, bias, beta, intercept

    def hidden(self, table: _Table) -> Floats:
        """What the neurons see before they bend, (n_neurons, n_rows)."""
        weights, bias, _, _ = self.split()
        hidden = np.repeat(bias[:, None], len(table.target), axis=1)
        for part, weight, codes in zip(self.parts, weights, table.inputs, strict=True):
            if len(part.neurons) == len(hidden):
                hidden += weight @ codes.T
            else:
                hidden[part.neurons] += weight @ codes.T
        return hidden

    def step(self, gradient: Floats, rate: float, number: int) -> None:
        """One step of Adam, in place."""
        if self.first is None or self.second is None:
            self.first, self.second = np.zeros_like(gradient), np.zeros_like(gradient)
        adam_step(self.vector, gradient, self.first, self.second, number, rate)

    def network(self) -> ReluNetwork:
        weights, *rest = self.split()
        wide = np.zeros_like(self.started.weights)
        for part, weight in zip(self.parts, weights, strict=True):
            wide[np.ix_(part.neurons, part.codes)] = weight
        return ReluNetwork(wide, *(one.astype(np.float64) for one in rest))


def _batches(n_rows: int, size: int, generator: np.random.Generator) -> Any:
    """Rows of one step after the other, each pass in a new order."""
    while True:
        yield from np.array_split(generator.permutation(n_rows), _n_batches(n_rows, size))


def _n_batches(n_rows: int, size: int) -> int:
    return max(1, round(n_rows / size))


def _gradient(now: _Parameters, batch: _Table, loss: Loss) -> Floats:
    """Gradient of the mean loss of a batch, as one vector."""
    _, _, beta, intercept = now.split()
    n_rows = len(batch.target)
    hidden = now.hidden(batch)
    active = np.empty_like(hidden)
    np.greater(hidden, 0.0, out=active, casting="unsafe")
    hidden *= active
    score = (beta.T @ hidden).T + intercept
    slope = loss.gradient(batch.target, score) * (batch.weight / n_rows)[:, None]
    slopes: Floats = slope.astype(np.float32)
    back = beta @ slopes.T
    back *= active
    to_weights = []
    for part, codes in zip(now.parts, batch.inputs, strict=True):
        reached = back if len(part.neurons) == len(back) else back[part.neurons]
        to_weights.append(reached @ codes)
        if part.moves is not None:
            to_weights[-1] *= part.moves
    pieces = (*to_weights, back.sum(axis=1), hidden @ slopes, slopes.sum(axis=0))
    return np.concatenate([piece.ravel() for piece in pieces])


def _mean_loss(now: _Parameters, table: _Table, loss: Loss) -> float:
    _, _, beta, intercept = now.split()
    total, size = 0.0, max(64, budgets.FORWARD_BLOCK // max(now.n_neurons, 1))
    for start in range(0, len(table.target), size):
        part = table.take(slice(start, start + size))
        hidden = now.hidden(part)
        np.maximum(hidden, 0.0, out=hidden)
        score = ((beta.T @ hidden).T + intercept).astype(np.float64)
        total += float(part.weight @ loss.value(part.target, score))
    return total / float(table.weight.sum())
