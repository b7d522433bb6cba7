"""Many narrow networks as one stack: their scores, losses and gradients by batched products.

With ``theta_j = (w_j, b_j)`` a member is

    f(x) = intercept + sum_j beta_j relu(theta_j' (x, 1)).

Let ``G_j`` be the sum over the rows on which neuron j is active of (derivative of the loss) (x, 1).
Then the gradient in theta_j is ``beta_j G_j`` and the one in beta_j is ``theta_j' G_j``, so one
product of the masked derivatives with the rows serves both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.data import budgets
from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.losses import Loss

__all__ = ["Batch", "Data", "Dropout", "Stack", "mean_losses", "stack_gradient"]

# Parameters start at the order of one. Beyond this they have left for infinity, and the squared
# product of two of them is about to leave the range of float32.
_TOO_LARGE = 1e8


@dataclass(frozen=True)
class Stack:
    """Parameters of several networks as one vector, so that a step of Adam is one pass over it.

    Attributes
    ----------
    vector : all parameters: first every theta, then every beta, then every intercept
    n_members, n_neurons, n_inputs : shape of theta; n_inputs counts the constant one
    """

    vector: Floats
    n_members: int
    n_neurons: int
    n_inputs: int

    @classmethod
    def of(cls, theta: Floats, beta: Floats, intercept: Floats) -> Stack:
        """The parameters of all members, put into one vector."""
        vector = np.concatenate([theta.ravel(), beta.ravel(), intercept])
        return cls(vector, *theta.shape)

    @property
    def theta(self) -> Floats:
        """A view, (n_members, n_neurons, n_inputs)."""
        shape = (self.n_members, self.n_neurons, self.n_inputs)
        return self.vector[: self._ends[0]].reshape(shape)

    @property
    def beta(self) -> Floats:
        """A view, (n_members, n_neurons)."""
        return self.vector[slice(*self._ends)].reshape(self.n_members, self.n_neurons)

    @property
    def intercept(self) -> Floats:
        """A view, (n_members,)."""
        return self.vector[self._ends[1] :]

    @property
    def _ends(self) -> tuple[int, int]:
        neurons = self.n_members * self.n_neurons
        return neurons * self.n_inputs, neurons * (self.n_inputs + 1)

    def copy(self) -> Stack:
        """The same numbers in a vector of their own."""
        return replace(self, vector=self.vector.copy())

    def zeros(self) -> Stack:
        """Zeros of the same shape."""
        return replace(self, vector=np.zeros_like(self.vector))

    def take(self, members: Integers) -> Stack:
        """Some of the members."""
        return Stack.of(self.theta[members], self.beta[members], self.intercept[members])

    def put(self, member: int, other: Stack, number: int) -> None:
        """Overwrite one member by one of another stack."""
        self.theta[member] = other.theta[number]
        self.beta[member] = other.beta[number]
        self.intercept[member] = other.intercept[number]

    def sound(self) -> Bools:
        """Which members hold finite numbers of a sensible size only, (n_members,)."""
        # Written so that a value that is not a number counts as too large.
        theta = (np.abs(self.theta) < _TOO_LARGE).all(axis=(1, 2))
        beta = (np.abs(self.beta) < _TOO_LARGE).all(axis=1)
        return np.asarray(theta & beta & (np.abs(self.intercept) < _TOO_LARGE))

    def network(self, member: int) -> ReluNetwork:
        """One member with unit directions, so that cut-offs measure distance, in float64."""
        theta = self.theta[member].astype(np.float64)
        norms = np.linalg.norm(theta[:, :-1], axis=1)
        norms = np.where(norms > 0, norms, 1.0)
        beta, intercept = self.beta[member] * norms, float(self.intercept[member])
        return ReluNetwork(theta[:, :-1] / norms[:, None], theta[:, -1] / norms, beta, intercept)


@dataclass(frozen=True)
class Batch:
    """Some rows as all members see them.

    Attributes
    ----------
    inputs : (n_rows, n_features + 1); the last column is constant one
    target : (n_members, n_rows), or (1, n_rows) where the members share it
    weight : (n_members, n_rows)
    """

    inputs: Floats
    target: Floats
    weight: Floats

    def target_of(self, members: slice) -> Floats:
        """The target of some members."""
        return self.target if len(self.target) == 1 else self.target[members]


@dataclass(frozen=True)
class Data:
    """The table, kept row-major: a batch gathers whole rows of it.

    Attributes
    ----------
    inputs : (n_rows, n_features + 1)
    target : (n_rows, n_members) or (n_rows, 1)
    weight : (n_rows, n_members)
    """

    inputs: Floats
    target: Floats
    weight: Floats

    @classmethod
    def of(cls, X: Floats, target: Floats, weight: Floats, dtype: type[np.floating]) -> Data:
        """Inputs in a precision of their own, the constant one added; weights unchanged."""
        inputs = np.ones((len(X), X.shape[1] + 1), dtype)
        inputs[:, :-1] = X
        return cls(inputs, target.reshape(len(X), -1), weight)

    def batch(self, index: Integers) -> Batch:
        """Some rows, all in the precision of the inputs."""
        dtype = self.inputs.dtype
        return Batch(
            self.inputs[index],
            np.ascontiguousarray(self.target[index].T, dtype),
            np.ascontiguousarray(self.weight[index].T, dtype),
        )

    def take(self, members: Integers) -> Data:
        """The same rows for some of the members."""
        target = self.target if self.target.shape[1] == 1 else self.target[:, members]
        return Data(self.inputs, target, self.weight[:, members])

    def total_weight(self, index: Integers) -> Floats:
        """Weight of some rows for each member, (n_members,), summed in float64."""
        parts = _parts(index, self.weight.shape[1])
        sums = [self.weight[part].sum(axis=0, dtype=np.float64) for part in parts]
        return np.asarray(np.sum(sums, axis=0))


@dataclass(frozen=True)
class Dropout:
    """Neurons left out at random, anew for every row; the others count for more.

    Attributes
    ----------
    rate : share left out
    generators : one for each member, so that a member is the same whoever it is trained with
    """

    rate: float
    generators: tuple[np.random.Generator, ...]

    def factors(self, members: slice, shape: tuple[int, int], dtype: np.dtype[Any]) -> Floats:
        """Zero or 1 / (1 - rate) for each member, neuron and row."""
        drawn = np.stack([one.random(shape, dtype=np.float32) for one in self.generators[members]])
        return np.asarray((drawn >= self.rate) / (1.0 - self.rate), dtype=dtype)

    def take(self, members: Integers) -> Dropout:
        """For some of the members."""
        return Dropout(self.rate, tuple(self.generators[member] for member in members))


def stack_gradient(
    stack: Stack,
    batch: Batch,
    scale: Floats,
    loss: Loss,
    *,
    read_loss: bool = True,
    dropout: Dropout | None = None,
) -> tuple[Stack, Floats]:
    """Gradient of each member's weighted loss on a batch, and that loss.

    Parameters
    ----------
    scale : (n_members,), factors on the sums over the rows of weight times loss
    read_loss : whether the values are wanted; without, they are zero
    dropout : neurons left out, of gradient and loss alike

    Returns
    -------
    gradient : a stack like the parameters
    losses : (n_members,)
    """
    gradient, losses = stack.zeros(), np.zeros(stack.n_members)
    for members in _groups(stack, len(batch.inputs)):
        active, score = _forward(stack, members, batch.inputs, dropout)
        target = batch.target_of(members)
        weight = batch.weight[members] * scale[members, None]
        derivative = weight * loss.gradient(target, score[..., None])[..., 0]
        active *= derivative[:, None, :]
        summed = (active.reshape(-1, len(batch.inputs)) @ batch.inputs).reshape(
            -1, stack.n_neurons, stack.n_inputs
        )
        gradient.theta[members] = stack.beta[members, :, None] * summed
        gradient.beta[members] = np.einsum("mki,mki->mk", stack.theta[members], summed)
        gradient.intercept[members] = derivative.sum(axis=1)
        if read_loss:
            losses[members] = np.sum(weight * loss.value(target, score[..., None]), axis=1)
    return gradient, losses


def _forward(
    stack: Stack, members: slice, inputs: Floats, dropout: Dropout | None = None
) -> tuple[Floats, Floats]:
    """Which neurons are active, and the scores.

    Returns
    -------
    active : (n_members, n_neurons, n_rows), zeros and ones, those times factors of the dropout
    score : (n_members, n_rows)
    """
    theta = stack.theta[members]
    hidden = theta.reshape(-1, stack.n_inputs) @ inputs.T
    # Numbers instead of truth values: two plain products are faster than maximum and where.
    active = np.empty_like(hidden)
    np.greater(hidden, 0.0, out=active, casting="unsafe")
    shape = (len(theta), stack.n_neurons, len(inputs))
    if dropout is not None:
        active *= dropout.factors(members, shape[1:], active.dtype).reshape(active.shape)
    hidden *= active
    score = np.matmul(stack.beta[members, None, :], hidden.reshape(shape))[:, 0]
    return active.reshape(shape), score + stack.intercept[members, None]


def _groups(stack: Stack, n_rows: int) -> Iterator[slice]:
    """Members in groups whose preactivations stay in the cache."""
    size = max(1, budgets.GRADIENT_BLOCK // (stack.n_neurons * n_rows))
    return (slice(start, start + size) for start in range(0, stack.n_members, size))


def _parts(index: Integers, n_columns: int) -> Iterator[Integers]:
    """An index in parts small enough to gather that many columns at once."""
    size = max(1, budgets.GRADIENT_BLOCK // n_columns)
    return (index[start : start + size] for start in range(0, len(index), size))


def mean_losses(stack: Stack, data: Data, index: Integers, loss: Loss) -> Floats:
    """Each member's weighted mean loss on some rows, (n_members,); not a number without weight."""
    losses = np.zeros(stack.n_members)
    for part in _parts(index, stack.n_members):
        batch = data.batch(part)
        for members in _groups(stack, len(part)):
            score = _forward(stack, members, batch.inputs)[1]
            values = loss.value(batch.target_of(members), score[..., None])
            losses[members] += (batch.weight[members] * values).sum(axis=1)
    total = data.total_weight(index)
    missing = np.full(stack.n_members, np.nan)
    return np.asarray(np.divide(losses, total, out=missing, where=total > 0))
