"""LLA exactly as the LIFE paper's appendix prints it, for its "LLA" columns.

A full step every time, from the minimum-norm solution of a regression on ``n_neurons (p + 2)``
columns that is rank-deficient by construction, divided by ``beta_j`` wherever that is not tiny. The
loss may rise; the best network on the way is kept. For anything but comparison use `LLA`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from lifenet._settings import Settings
from lifenet.kernels.lstsq import solve_minimum_norm, triangle
from lifenet.network import ReluNetwork
from lifenet.solvers.base import Status
from lifenet.solvers.lla import LLA
from lifenet.solvers.starts import STARTS

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block

__all__ = ["PrintedLLA", "PrintedState"]

# The appendix's epsilon: below it a neuron keeps its weights and bias.
_SMALLEST_BETA = 1e-3
# Rows on which the model is certain carry no information; this keeps their working response finite.
_SMALLEST_CURVATURE = 1e-9
_EXACT = 1e-22
_PATIENCE = 3
_BLOCK_ROWS = 1024


@dataclass(frozen=True)
class PrintedState:
    """A network with its output layer apart, as the appendix writes it.

    Attributes
    ----------
    theta : (n_neurons, n_features + 1), weights and bias ``(w_j, b_j)``
    beta : (n_neurons,), output layer; zero before the first step
    intercept : beta_0
    """

    theta: Floats
    beta: Floats
    intercept: float
    loss: float
    floor: float
    slow_steps: int = 0
    damping: float = 0.0
    gain: float = np.nan
    rejected: int = 0

    @property
    def objective(self) -> float:
        """The loss: the printed algorithm has no penalty."""
        return self.loss

    def score(self, inputs: Floats) -> Floats:
        """Score of a feature-major block, (n_rows,)."""
        return self.intercept + self.beta @ np.maximum(self.theta @ inputs, 0.0)

    @property
    def ridge(self) -> float:
        """The printed algorithm has no penalty."""
        return 0.0

    def improves_on(self, other: PrintedState) -> bool:
        """Where the objective is lower: steps may raise it."""
        return self.objective < other.objective

    def network(self) -> ReluNetwork:
        """The network that the state stands for."""
        return ReluNetwork(
            weights=self.theta[:, :-1],
            bias=self.theta[:, -1],
            beta=self.beta,
            intercept=self.intercept,
        )


@dataclass(repr=False)
class PrintedLLA(Settings):
    """Settings of the printed algorithm; see `LLA` for their meaning."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        name: LLA._parameter_constraints[name]
        for name in ("n_neurons", "init", "max_iter", "tol", "n_init")
    }

    n_neurons: int = 10
    init: str = "least-squares"
    max_iter: int = 100
    tol: float = 1e-4
    n_init: int = 1

    together = LLA.together
    train = LLA.train

    def begin(self, problem: Problem, generator: np.random.Generator) -> PrintedState:
        """Hinges of the chosen start, without an output layer."""
        theta = STARTS[self.init](problem, self.n_neurons, generator)
        rows, null_loss = problem.rows, problem.null_loss()
        null = float(problem.loss.null_score(rows.target, rows.weight)[0])
        return PrintedState(theta, np.zeros(len(theta)), null, null_loss, _EXACT * null_loss)

    def step(self, problem: Problem, state: PrintedState) -> PrintedState:
        """Regress on the expanded design; divide by the new beta to move weights and biases."""
        n_neurons, n_inputs = state.theta.shape
        solution = solve_minimum_norm(_regression(problem, state))
        beta, intercept = solution[:n_neurons], float(solution[-1])
        shift = solution[n_neurons:-1].reshape(n_neurons, n_inputs)
        moved = np.abs(beta) >= _SMALLEST_BETA
        theta = state.theta.copy()
        theta[moved] += shift[moved] / beta[moved, None]
        after = replace(state, theta=theta, beta=beta, intercept=intercept)
        loss = _mean_loss(problem, after)
        slow = abs(state.loss - loss) <= self.tol * state.loss
        return replace(after, loss=loss, slow_steps=state.slow_steps + 1 if slow else 0)

    def verdict(self, state: PrintedState) -> Status | None:
        """Stop when the fit is exact, the loss stands still, or a step has left the numbers."""
        if not np.isfinite(state.loss):
            return Status.DIVERGED
        if state.loss <= state.floor:
            return Status.EXACT
        return Status.CONVERGED if state.slow_steps >= _PATIENCE else None


def _regression(problem: Problem, state: PrintedState) -> Floats:
    """R factor of the weighted design ``[z1, (z3, z2), 1]`` and the working response."""
    loss = problem.loss
    n_columns = state.theta.size + len(state.theta) + 2

    def factor(block: Block) -> Floats:
        preactivations = state.theta @ block.inputs
        active = preactivations > 0
        score = state.score(block.inputs)
        scores = score[:, None]
        curvature = np.maximum(loss.curvature(block.target, scores)[:, 0], _SMALLEST_CURVATURE)
        response = score - loss.gradient(block.target, scores)[:, 0] / curvature
        masked = (active[:, None, :] * block.inputs).reshape(state.theta.size, -1)
        ones = np.ones((1, len(score)))
        columns = np.vstack([preactivations * active, masked, ones, response])
        return triangle((columns * np.sqrt(block.weight * curvature)).T)

    def both(first: Floats, second: Floats) -> Floats:
        return triangle(np.vstack([first, second]))

    return problem.rows.reduce(factor, both, max(_BLOCK_ROWS, 4 * n_columns))


def _mean_loss(problem: Problem, state: PrintedState) -> float:
    def value(block: Block) -> tuple[float]:
        rows = problem.loss.value(block.target, state.score(block.inputs)[:, None])
        return (float(block.weight @ rows),)

    (total,) = problem.rows.sum(value, _BLOCK_ROWS)
    return total / problem.rows.total_weight
