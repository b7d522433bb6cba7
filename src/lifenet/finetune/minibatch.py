"""Fine-tuning by mini-batches: Adam for a wide layer and its output, each neuron in its columns."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._clock import NEVER, Deadline, now
from lifenet._settings import Settings
from lifenet.data.evaluation import some_rows
from lifenet.finetune.base import FineTuned
from lifenet.finetune.parts import Reading, Table, parts_of
from lifenet.finetune.straight import Straight
from lifenet.kernels.adam import adam_step
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Status

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.data.moves import Smoothing
    from lifenet.data.problem import Problem
    from lifenet.finetune.parts import Inputs, Part
    from lifenet.finetune.straight import MovedRows
    from lifenet.losses import Loss

__all__ = ["MiniBatch"]

# Steps over which the learning rate rises at first: the moments know nothing yet.
_WARM = 50
# What "auto" means, by the loss: steps, passes over the rows, learning rate. Scores of separable
# rows would grow without bound if few validation rows let them, so that their fine-tuning is
# shorter. Chosen on the training parts of the sets named in docs/ablations.md.
_AUTO_SEPARABLE: dict[str, Any] = {"n_steps": 300, "max_epochs": 30, "learning_rate": 2e-3}
_AUTO: dict[str, Any] = {"n_steps": 450, "max_epochs": 150, "learning_rate": 3e-3}
# Polynomial-decay averaging (Shamir and Zhang 2013): after t steps the newest parameters count for
# (eta + 1) / (t + eta). Chosen on the sets named in docs/ablations.md, where 1 did as well.
_ETA = 3
# Fewer steps than this move nothing.
_FEWEST_STEPS = 100
# Lengths of weights and coefficients are made equal; a coefficient counts at least this much, so
# that a neuron that the output layer does not use may still be found useful.
_LEAST_COEFFICIENT = 1e-3
# Validation rows that are enough to tell whether the loss falls: the same rows are read each time.
# Chosen by hand.
_READ_ROWS = 4_000
# Rows whose hidden layer is held while the loss is read.
_BLOCK_ROWS = 1024


@dataclass(repr=False)
class MiniBatch(Settings):
    """Adam for all neurons of a wide layer at once, its parameters averaged over the steps.

    Single steps shake a network whose output layer is fitted already; the average of the
    parameters gains from the first steps on. So the loss of the validation rows says when to stop:
    once several readings have brought no lower one. The average with the least loss is kept, or
    the network itself where none is lower.

    Parameters
    ----------
    n_steps : int or "auto", default="auto"
        Most steps; 0 leaves the network unchanged. "auto" takes 450, or 300 for separable losses.
    max_epochs : int or "auto", default=12
        Passes over the rows that are enough, but for a hundred steps. "auto" takes 150, or 30 for
        separable losses.
    learning_rate : float or "auto", default="auto"
        Of every step but the first fifty, over which it rises. "auto" takes 3e-3, or 2e-3 for
        separable losses.
    batch_size : int, default=256
        Rows of a step.
    n_readings : int, default=12
        How often the loss of the validation rows is measured on the way.
    patience : int, default=4
        Readings without a lower loss after which it ends.
    min_epochs : int, default=0
        Passes over the rows that `n_steps` is raised to, where that is more.

    References
    ----------
    Kingma and Ba, "Adam: a method for stochastic optimization", 2015; Shamir and Zhang,
    "Stochastic gradient descent for non-smooth optimization", 2013, for the average.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_steps": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
        "max_epochs": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither"), StrOptions({"auto"})],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "n_readings": [Interval(Integral, 1, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
        "min_epochs": [Interval(Integral, 0, None, closed="left")],
    }

    n_steps: int | str = "auto"
    max_epochs: int | str = 12
    learning_rate: float | str = "auto"
    batch_size: int = 256
    n_readings: int = 12
    patience: int = 4
    min_epochs: int = 0

    def refine(
        self,
        problem: Problem,
        network: ReluNetwork,
        *,
        validation: Problem | None = None,
        seed: np.random.SeedSequence | None = None,
        deadline: Deadline = NEVER,
        n_iterations: int | None = None,
        smoothing: Smoothing | None = None,
        movable: Bools | None = None,
    ) -> FineTuned:
        """Refine a network on the rows of a problem, as far as the validation rows gain.

        Parameters
        ----------
        problem : training rows
        network : in the units of the rows, without a linear part; of sparse weights only those
            that are stored move, biases and coefficients all do
        validation : the network with the least loss on these rows is kept; without any, the last
        seed : of the order of the rows
        n_iterations : steps of the schedule after which it ends; all by default
        smoothing : what a straighter function may cost
        movable : (n_neurons, n_inputs), which of dense weights move; None for all
        """
        settings = self.resolved(problem.loss)
        given = (problem, validation, network, deadline, n_iterations, smoothing, movable)
        run = _Run(settings, *given)
        return run.descend(np.random.default_rng(seed))

    def resolved(self, loss: Loss) -> MiniBatch:
        """The settings without "auto"."""
        values = _AUTO_SEPARABLE if loss.separable else _AUTO
        missing = {name: one for name, one in values.items() if getattr(self, name) == "auto"}
        return replace(self, **missing)

    def steps(self, n_rows: int) -> int:
        """Steps for a number of rows; of settings without "auto"."""
        batches = _n_batches(n_rows, self.batch_size)
        most = max(int(self.n_steps), self.min_epochs * batches) if self.n_steps else 0
        return min(most, max(int(self.max_epochs) * batches, _FEWEST_STEPS))

    def rate(self, step: int) -> float:
        """Learning rate of a step, from 0; of settings without "auto"."""
        return float(self.learning_rate) * min(1.0, (step + 1) / _WARM)


@dataclass
class _Run:
    settings: MiniBatch
    train: Problem
    validation: Problem | None
    network: ReluNetwork
    deadline: Deadline
    n_iterations: int | None
    smoothing: Smoothing | None = None
    movable: Bools | None = None
    begun: float = field(default_factory=now)
    losses: list[float] = field(default_factory=list)

    def descend(self, generator: np.random.Generator) -> FineTuned:
        """All steps, or until the time is over."""
        parts = parts_of(self.network, self.train.rows, self.movable)
        current = _Parameters.of(self.network, parts)
        measured = (
            None
            if self.validation is None
            else Table.of(some_rows(self.validation, _READ_ROWS), parts)
        )
        straight = None
        if self.smoothing is not None:
            straight = Straight.of(self.smoothing, parts, self.train)
        self.measure(current, measured, straight)
        n_steps = self.settings.steps(self.train.rows.n_rows)
        last = n_steps if self.n_iterations is None else min(self.n_iterations, n_steps)
        if last == 0 or not self.network.n_neurons:
            return self._result(self.network, Status.COMPLETED, 0)
        train = Table.of(self.train, parts)
        walk = _Walk(self.settings, self, train, measured, n_steps, last, straight)
        best, taken = walk.go(current.copy(), generator)
        return self._result(best.network() if taken else self.network, walk.status, taken)

    def measure(
        self, current: _Parameters, table: Table | None, straight: Straight | None = None
    ) -> bool:
        """Note the loss of the validation rows; whether it is the least so far.

        A loss that is no number counts as infinite. Without validation rows the newest is best.
        """
        if table is None or self.validation is None:
            return True
        loss = _mean_loss(current, table, self.validation.loss)
        if straight is not None:
            moved = straight.measured
            loss += moved.penalty(_scores(current, moved.table))
        least = min(self.losses, default=np.inf)
        self.losses.append(loss if np.isfinite(loss) else np.inf)
        return self.losses[-1] < least

    def _result(self, network: ReluNetwork, status: Status, taken: int) -> FineTuned:
        seconds = now() - self.begun
        return FineTuned(network, status, taken, (), tuple(self.losses), seconds)


@dataclass
class _Walk:
    """Steps, and whether their average gains.

    Attributes
    ----------
    n_steps, last : that there are at most, and after which it ends
    status : why it ended
    """

    settings: MiniBatch
    run: _Run
    train: Table
    measured: Table | None
    n_steps: int
    last: int
    straight: Straight | None = None
    status: Status = Status.COMPLETED

    def go(self, current: _Parameters, generator: np.random.Generator) -> tuple[_Parameters, int]:
        """The best average on the way, and after how many steps it was there."""
        settings, average, best, taken, in_vain = self.settings, current.copy(), current, 0, 0
        gradient = current.copy()
        every = -(-self.n_steps // settings.n_readings)
        batches = _batches(len(self.train.target), settings.batch_size, generator)
        for step in range(self.last):
            batch = self.train.take(next(batches))
            some = None
            if self.straight is not None:
                some = self.straight.some(generator)
            _fill_gradient(gradient, current, batch, self.run.train.loss, some)
            current.step(gradient.vector, settings.rate(step), step + 1)
            average.approach(current, (_ETA + 1) / (step + 1 + _ETA))
            late = self.run.deadline.passed
            if late or (step + 1) % every == 0 or step + 1 == self.last:
                in_vain += 1
                if self.run.measure(average, self.measured, self.straight):
                    best, taken, in_vain = average.copy(), step + 1, 0
            if late or in_vain >= settings.patience:
                self.status = Status.TIME_LIMIT if late else Status.CONVERGED
                break
        return best, taken


@dataclass
class _Parameters:
    """Weights part by part, biases, coefficients and intercepts as one vector, with Adam's moments.

    Attributes
    ----------
    started : network that the parameters began as, without a linear part
    layout : where each parameter is in the vector
    """

    vector: Floats
    started: ReluNetwork
    layout: _Layout
    first: Floats | None = None
    second: Floats | None = None

    @classmethod
    def of(cls, network: ReluNetwork, parts: tuple[Part, ...]) -> _Parameters:
        squares = np.zeros(network.n_neurons)
        for part in parts:
            squares[part.neurons] += np.square(part.start).sum(axis=1)
        lengths = np.sqrt(squares)
        sizes = np.linalg.norm(network.beta, axis=1)
        factor = np.sqrt((sizes + _LEAST_COEFFICIENT) / np.where(lengths > 0, lengths, 1.0))
        pieces = (
            *(part.start * factor[part.neurons, None] for part in parts),
            network.bias * factor,
            network.beta / factor[:, None],
            network.intercept,
        )
        vector = np.concatenate([piece.ravel() for piece in pieces]).astype(np.float32)
        return cls(vector, network, _Layout.of(parts, network))

    def copy(self) -> _Parameters:
        return _Parameters(self.vector.copy(), self.started, self.layout)

    @property
    def parts(self) -> tuple[Part, ...]:
        return self.layout.reading.parts

    @cached_property
    def split(self) -> tuple[list[Floats], Floats, Floats, Floats]:
        """Views of the weights of each part, biases, coefficients and intercepts."""
        *weights, bias, beta, intercept = (
            self.vector[where].reshape(shape) for where, shape in self.layout.pieces
        )
        return weights, bias, beta, intercept

    def hidden(self, inputs: Inputs) -> Floats:
        """What the neurons see before they bend, (n_neurons, n_rows)."""
        weights, bias, _, _ = self.split
        hidden: Floats = self.layout.on_ramps(self.vector) @ inputs.ramps
        for part, weight, codes in zip(self.parts, weights, inputs.of_part, strict=True):
            if part.moves is None or part.ramps is None:
                hidden[part.neurons] += weight @ codes.T
        hidden += bias[:, None]
        return hidden

    def step(self, gradient: Floats, rate: float, number: int) -> None:
        """One step of Adam, in place."""
        if self.first is None or self.second is None:
            self.first, self.second = np.zeros_like(gradient), np.zeros_like(gradient)
        adam_step(self.vector, gradient, self.first, self.second, number, rate)

    def approach(self, other: _Parameters, share: float) -> None:
        """Go a share of the way to other parameters, in place."""
        self.vector += np.float32(share) * (other.vector - self.vector)

    def network(self) -> ReluNetwork:
        weights, *rest = self.split
        shape = (self.started.n_neurons, self.started.n_features)
        wide: Any = np.zeros(shape)
        if self.started.is_sparse:
            both = zip(self.parts, weights, strict=True)
            found = [part.weights(block) for part, block in both]
            none = np.zeros(0, dtype=np.intp)
            index = tuple(np.concatenate([none, *(one[k] for one in found)]) for k in range(2))
            data = np.concatenate([np.zeros(0), *(one[2] for one in found)])
            wide = sparse.coo_array((data, index), shape=shape).tocsr()
        else:
            for part, weight in zip(self.parts, weights, strict=True):
                wide[np.ix_(part.neurons, part.codes)] = weight
        return ReluNetwork(wide, *(one.astype(np.float64) for one in rest))


@dataclass
class _Layout:
    """Where each parameter is in a vector of all.

    Attributes
    ----------
    reading : how the parts read rows
    pieces : slice and shape of the weights of each part, biases, coefficients and intercepts
    matrix : (n_neurons, n_ramps), the few weights of many ramps as one sparse matrix, whose product
        costs what its weights cost
    place : of the weights of the matrix in the vector
    """

    reading: Reading
    pieces: tuple[tuple[slice, tuple[int, ...]], ...]
    matrix: sparse.csr_array
    place: Integers

    @classmethod
    def of(cls, parts: tuple[Part, ...], network: ReluNetwork) -> _Layout:
        m, k = network.n_neurons, network.n_outputs
        shapes = (*(part.shape for part in parts), (m,), (m, k), (k,))
        ends = np.cumsum([0, *(math.prod(shape) for shape in shapes)]).tolist()
        slices = [slice(*both) for both in pairwise(ends)]
        reading = Reading.of(parts)
        neuron, ramp, place = _weights_on_ramps(parts, ends)
        order = np.lexsort((ramp, neuron))
        start = np.concatenate([[0], np.cumsum(np.bincount(neuron, minlength=m))])
        data = np.zeros(len(order), dtype=np.float32)
        shape = (m, len(reading.ramps.column))
        matrix = sparse.csr_array((data, ramp[order], start), shape=shape)
        return cls(reading, tuple(zip(slices, shapes, strict=True)), matrix, place[order])

    def on_ramps(self, vector: Floats) -> sparse.csr_array:
        """The matrix with the weights of a vector; the same one each time."""
        np.take(vector, self.place, out=self.matrix.data)
        return self.matrix


def _weights_on_ramps(parts: Sequence[Part], begins: Sequence[int]) -> tuple[Integers, ...]:
    """Neuron, ramp (of those of all parts) and place in the vector of each weight of few on ramps.

    Parameters
    ----------
    begins : of the weights of each part in the vector
    """
    none: Integers = np.zeros(0, dtype=np.intp)
    neurons, ramps, places, n_ramps = [none], [none], [none], 0
    for part, begun in zip(parts, begins, strict=False):
        if part.ramps is None:
            continue
        if part.moves is not None:
            reader, ramp = np.nonzero(part.moves)
            neurons.append(part.neurons[reader])
            ramps.append(n_ramps + ramp)
            places.append(begun + reader * part.shape[1] + ramp)
        n_ramps += part.shape[1]
    return tuple(np.concatenate(some) for some in (neurons, ramps, places))


def _batches(n_rows: int, size: int, generator: np.random.Generator) -> Any:
    """Rows of one step after the other, each pass in a new order."""
    while True:
        yield from np.array_split(generator.permutation(n_rows), _n_batches(n_rows, size))


def _n_batches(n_rows: int, size: int) -> int:
    return max(1, round(n_rows / size))


def _fill_gradient(
    gradient: _Parameters,
    now: _Parameters,
    batch: Table,
    loss: Loss,
    moved: MovedRows | None = None,
) -> None:
    """Gradient of the mean loss of a batch, and of the penalty on some bends, in place."""
    _, _, beta, intercept = now.split
    n_rows = len(batch.target)
    rows = batch if moved is None else batch.joined(moved.table)
    inputs = now.layout.reading.inputs(rows)
    hidden = now.hidden(inputs)
    active = np.empty_like(hidden)
    np.greater(hidden, 0.0, out=active, casting="unsafe")
    hidden *= active
    score = (beta.T @ hidden).T + intercept
    slope = loss.gradient(batch.target, score[:n_rows]) * (batch.weight / n_rows)[:, None]
    if moved is not None:
        slope = np.concatenate([slope, moved.gradient(score[n_rows:])])
    slopes: Floats = slope.astype(np.float32)
    back = active
    if len(intercept) == 1:  # BLAS takes ten times as long for a product over one output
        back *= beta
        back *= slopes.T
    else:
        back *= beta @ slopes.T
    to_weights, to_bias, to_beta, to_intercept = gradient.split
    for part, codes, found in zip(now.parts, inputs.of_part, to_weights, strict=True):
        reached = back if len(part.neurons) == len(back) else back[part.neurons]
        np.matmul(reached, codes, out=found)
        if part.moves is not None:
            found *= part.moves
    back.sum(axis=1, out=to_bias)
    np.matmul(hidden, slopes, out=to_beta)
    slopes.sum(axis=0, out=to_intercept)


def _scores(now: _Parameters, table: Table) -> Floats:
    """Scores of rows, (n_rows, n_outputs), some at a time."""
    _, _, beta, intercept = now.split
    found = []
    for start in range(0, len(table.target), _BLOCK_ROWS):
        some = table.take(slice(start, start + _BLOCK_ROWS))
        hidden = now.hidden(now.layout.reading.inputs(some))
        np.maximum(hidden, 0.0, out=hidden)
        found.append((beta.T @ hidden).T.astype(np.float64) + intercept)
    return np.concatenate(found)


def _mean_loss(now: _Parameters, table: Table, loss: Loss) -> float:
    """Weighted mean loss of rows."""
    values = loss.value(table.target, _scores(now, table))
    return float(table.weight @ values) / len(table.target)
