"""Fine-tuning by L-BFGS: all neurons and the output layer of a wide network refined together.

Base learners are trained apart and their neurons only meet in the output layer. Here all parameters
move at once, by full-batch L-BFGS from the network that the output layer left: deterministic, so
that weights equal repeated rows, and its gradient is a sum over rows. Each neuron is first brought
to equal lengths of weights and coefficients, which does not change the network; the decay
``decay / 2 * sum_j (|w_j|² + |beta_j|²)`` then acts on both alike, as a penalty on their product.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import optimize, sparse
from sklearn.utils._param_validation import Interval

from lifenet._clock import NEVER, Deadline, now
from lifenet._settings import Settings
from lifenet.data import budgets
from lifenet.data.evaluation import mean_loss
from lifenet.data.problem import Problem
from lifenet.data.rows import HeldRows
from lifenet.finetune.base import FineTuned
from lifenet.kernels.weights import is_sparse
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Status

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats
    from lifenet.data.moves import Smoothing
    from lifenet.data.rows import Block, Rows

__all__ = ["LBFGS", "Wide", "value_and_gradient", "working_type"]

# Above this many rows sums are in single precision: no repetition is checked to rounding there, and
# passes take half the time.
_SINGLE_ROWS = 20_000
# Corrections that L-BFGS keeps, and the relative fall of the objective that ends it.
_MEMORY, _LEAST_FALL = 20, 1e-12


@dataclass(frozen=True)
class Wide:
    """All parameters of a network as fine-tuning moves them.

    Attributes
    ----------
    theta : (n_neurons, n_inputs + 1), weights and bias
    beta : (n_neurons, n_outputs)
    intercept : (n_outputs,)
    """

    theta: Floats
    beta: Floats
    intercept: Floats

    @classmethod
    def of(cls, network: ReluNetwork) -> tuple[Wide, Bools]:
        """Parameters of a network, every neuron's weights as long as its coefficients.

        And which neurons are among them: others are constant, or have no coefficients.
        """
        lengths = np.linalg.norm(network.weights, axis=1)
        sizes = np.linalg.norm(network.beta, axis=1)
        alive = (lengths > 0) & (sizes > 0)
        factor = np.sqrt(sizes[alive] / lengths[alive])[:, None]
        theta = np.column_stack([network.weights[alive], network.bias[alive]]) * factor
        # A neuron without weights is a constant.
        constant = np.maximum(network.bias[lengths == 0], 0.0) @ network.beta[lengths == 0]
        return cls(theta, network.beta[alive] / factor, network.intercept + constant), alive

    @property
    def flat(self) -> Floats:
        """All in one vector."""
        return np.concatenate([self.theta.ravel(), self.beta.ravel(), self.intercept])

    def like(self, flat: Floats) -> Wide:
        """Parameters of the same shape from a vector."""
        first, second = self.theta.size, self.theta.size + self.beta.size
        return Wide(
            flat[:first].reshape(self.theta.shape),
            flat[first:second].reshape(self.beta.shape),
            flat[second:],
        )

    def network(self) -> ReluNetwork:
        """The network that they stand for."""
        return ReluNetwork(self.theta[:, :-1], self.theta[:, -1], self.beta, self.intercept)


@dataclass(repr=False)
class LBFGS(Settings):
    """Fine-tuning of all neurons and the output layer, by L-BFGS.

    Parameters
    ----------
    max_iter : int, default=100
        Most iterations.
    decay : float, default=1e-5
        Penalty ``decay / 2 * sum_j (|w_j|² + |beta_j|²)`` on a weighted mean loss.
    patience : int, default=20
        Iterations without a lower loss on the validation rows that end it.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "decay": [Interval(Real, 0, None, closed="left")],
        "patience": [Interval(Integral, 1, None, closed="left")],
    }

    max_iter: int = 100
    decay: float = 1e-5
    patience: int = 20

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
        """Refine a network on the rows of a problem; nothing is random, so that no seed is used.

        Parameters
        ----------
        problem : what is minimised
        network : in the units of the problem's rows, without a linear part; of sparse weights only
            those that are stored move
        validation : the network with the least loss on these rows is kept
        n_iterations : most iterations, in place of `max_iter`
        smoothing : a penalty on how far the function is from straight lines
        movable : (n_neurons, n_inputs), which of dense weights move; None for all
        """
        stored = movable if movable is not None else _stored(network)
        start, alive = Wide.of(network.dense())
        if not len(start.theta):
            return FineTuned(network, Status.CONVERGED, 0, (), (), 0.0)
        settings = self if n_iterations is None else replace(self, max_iter=n_iterations)
        moving = None if stored is None else stored[alive]
        held = Problem(problem.rows.held(), problem.loss)
        bends = None if smoothing is None else _Bends.of(smoothing)
        watch = _Watch(settings, held, validation, start, moving, deadline, bends)
        watch.note(start.flat)
        optimize.minimize(  # type: ignore[call-overload]  # its stubs want one-dimensional arrays
            watch.objective,
            start.flat,
            jac=True,
            method="L-BFGS-B",
            callback=watch.after_iteration,
            options={
                "maxiter": settings.max_iter,
                "maxfun": 2 * settings.max_iter + 20,
                "maxcor": _MEMORY,
                "ftol": _LEAST_FALL,
                "gtol": 0.0,
            },
        )
        return watch.result()


@dataclass
class _Watch:
    """What is noted on the way: the best network so far, and why to stop."""

    settings: LBFGS
    problem: Problem
    validation: Problem | None
    start: Wide
    trainable: Bools | None
    deadline: Deadline
    bends: _Bends | None = None
    begun: float = field(default_factory=now)
    objectives: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    best: int = 0
    best_flat: Floats = field(default_factory=lambda: np.zeros(0))
    status: Status = Status.CONVERGED
    newest: tuple[bytes, float] = (b"", np.nan)

    def objective(self, flat: Floats) -> tuple[float, Floats]:
        """Value and gradient of the penalised mean loss."""
        wide = self.start.like(flat)
        value, gradient = value_and_gradient(
            self.problem, wide, self.settings.decay, self.trainable
        )
        if self.bends is not None:
            penalty, slope = self.bends.value_and_gradient(wide, self.trainable)
            value, gradient = value + penalty, gradient + slope
        self.newest = (flat.tobytes(), value)
        return value, gradient

    def note(self, flat: Floats) -> None:
        """Measure the parameters of an iteration, and keep them where they are the best."""
        seen, value = self.newest
        self.objectives.append(value if seen == flat.tobytes() else self.objective(flat)[0])
        if self.validation is not None:
            wide = self.start.like(flat)
            penalty = 0.0 if self.bends is None else self.bends.value_and_gradient(wide)[0]
            self.validation_losses.append(mean_loss(self.validation, wide.network()) + penalty)
        losses = self.validation_losses or self.objectives
        if len(losses) == 1 or losses[-1] < losses[self.best]:
            self.best, self.best_flat = len(losses) - 1, flat.copy()

    def after_iteration(self, flat: Floats) -> None:
        """Note it; stop where time is up or the validation rows have not gained for long."""
        self.note(flat)
        if len(self.objectives) > self.settings.max_iter:
            self.status = Status.MAX_ITER
        if self.deadline.passed:
            self.status = Status.TIME_LIMIT
            raise StopIteration
        waited = len(self.validation_losses) - 1 - self.best
        if self.validation_losses and waited >= self.settings.patience:
            self.status = Status.VALIDATED
            raise StopIteration

    def result(self) -> FineTuned:
        """The best network."""
        return FineTuned(
            self.start.like(self.best_flat).network(),
            self.status,
            self.best,
            tuple(self.objectives),
            tuple(self.validation_losses),
            now() - self.begun,
        )


@dataclass(frozen=True, eq=False)
class _Bends:
    """A penalty on how far a function is from straight lines.

    Attributes
    ----------
    inputs : (n_inputs + 1, 3 n), rows of the moves
    smoothing : the moves, and what half the mean square of the bends is multiplied with
    """

    inputs: Floats
    smoothing: Smoothing

    @classmethod
    def of(cls, smoothing: Smoothing) -> _Bends:
        """With the rows of the moves held."""
        return cls(smoothing.moves.rows.collect(lambda block: block.inputs.copy()), smoothing)

    def value_and_gradient(
        self, wide: Wide, trainable: Bools | None = None
    ) -> tuple[float, Floats]:
        """The penalty, and its gradient in all parameters."""
        moves, factor = self.smoothing.moves, self.smoothing.factor
        hidden = np.maximum(wide.theta @ self.inputs, 0.0)
        bends = moves.bends(wide.beta.T @ hidden)
        slope = np.hstack(list(moves.stencil[:, None, :] * (factor * moves.weight * bends)))
        back = (wide.beta @ slope) * (hidden > 0)
        to_theta = back @ self.inputs.T
        if trainable is not None:
            to_theta[:, :-1] *= trainable
        gradient = Wide(to_theta, hidden @ slope.T, np.zeros_like(wide.intercept))
        return 0.5 * factor * float((np.square(bends) @ moves.weight).sum()), gradient.flat


def value_and_gradient(
    problem: Problem, wide: Wide, decay: float, trainable: Bools | None = None
) -> tuple[float, Floats]:
    """The penalised mean loss, and its gradient in all parameters.

    One pass over the rows; the hidden layer is held for one block of them at a time.

    Parameters
    ----------
    trainable : (n_neurons, n_inputs), weights whose gradient counts; None for all
    """
    loss, rows = problem.loss, problem.rows
    kind = working_type(rows)
    theta: Floats = wide.theta.astype(kind)
    beta: Floats = wide.beta.astype(kind)

    def sums(block: Block) -> tuple[float, Floats, Floats, Floats]:
        inputs: Floats = block.inputs.astype(kind, copy=False)
        hidden = theta @ inputs
        active = hidden > 0
        hidden *= active
        score = _score(beta, wide.intercept, hidden)
        value = float(block.weight @ loss.value(block.target, score))
        slopes = loss.gradient(block.target, score)
        slope: Floats = (slopes * block.weight[:, None]).astype(kind, copy=False)
        back = beta @ slope.T
        back *= active
        return (
            value,
            (back @ inputs.T).astype(np.float64, copy=False),
            (hidden @ slope).astype(np.float64, copy=False),
            slope.sum(axis=0, dtype=np.float64),
        )

    value, to_theta, to_beta, to_intercept = rows.sum(sums, _block_rows(len(theta)))
    n = rows.total_weight
    weights = wide.theta[:, :-1]
    penalty = 0.5 * decay * float(np.vdot(weights, weights) + np.vdot(wide.beta, wide.beta))
    to_theta /= n
    to_theta[:, :-1] += decay * weights
    if trainable is not None:
        to_theta[:, :-1] *= trainable
    gradient = Wide(to_theta, to_beta / n + decay * wide.beta, to_intercept / n)
    return value / n + penalty, gradient.flat


def _stored(network: ReluNetwork) -> Bools | None:
    """Weights that may move, (n_neurons, n_features); None for all."""
    weights = network.weights
    if not is_sparse(weights):
        return None
    ones = (np.ones(weights.nnz, dtype=bool), weights.indices, weights.indptr)
    return np.asarray(sparse.csr_array(ones, shape=weights.shape).toarray())


def working_type(rows: Rows) -> type[np.float32 | np.float64]:
    """What sums over rows are formed in: single precision for many, and for rows held in it."""
    held_single = isinstance(rows, HeldRows) and rows.inputs.dtype == np.float32
    return np.float32 if held_single or rows.n_rows > _SINGLE_ROWS else np.float64


def _score(beta: Floats, intercept: Floats, hidden: Floats) -> Floats:
    """Scores of a block, (n_rows, n_outputs)."""
    return np.asarray((beta.T @ hidden).T + intercept)


def _block_rows(n_neurons: int) -> int:
    return max(64, budgets.GRADIENT_BLOCK // max(n_neurons, 1))
