"""LLA: Gauss-Newton on signed hinges, damped so that the objective never rises.

One iteration solves a least-squares problem on frozen activation patterns for all weights, biases
and coefficients at once (Levenberg-Marquardt damped, rejected and damped more while the objective
does not fall), then refits the output layer on the new hinges, a problem of ``n_neurons + 1``
unknowns. For a logistic target the same step is Fisher scoring.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._clock import NEVER, Deadline
from lifenet._settings import Settings
from lifenet.kernels.gram import (
    block_rows_for_gram,
    gram_fits,
    masked_gradient,
    masked_gram_diagonal,
    masked_gram_product,
    masked_gram_table,
    unfold_gram,
)
from lifenet.kernels.lstsq import conjugate_gradients, solve_positive
from lifenet.solvers.base import Status, solve_each
from lifenet.solvers.evidence import effective_unknowns, next_ridge
from lifenet.solvers.hinges import Hinges
from lifenet.solvers.starts import STARTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.losses import Loss
    from lifenet.network import ReluNetwork
    from lifenet.solvers.base import Monitor, Outcome, Task

__all__ = ["LLA", "Linearisation", "gauss_newton_step", "linearise"]

# Above this many unknowns a step is solved by conjugate gradients instead of a Gram matrix.
_DIRECT_LIMIT = 900
_CG_TOLERANCE, _CG_MAX_ITER = 3e-2, 60
_BLOCK_ROWS = 4096

# Damping: its start, its least, and how it follows the gain ratio (fall over promised fall).
_DAMPING_START, _DAMPING_LEAST = 1e-2, 1e-10
_TRUSTED_GAIN, _DOUBTED_GAIN = 0.25, 0.1
# A fall by less than this share is rounding. Taking it would let rounding choose the network, since
# near a minimum a step of relative size 1e-8 changes the objective by 1e-16.
_LEAST_FALL = 1e-11
# The objective must fall by less than the tolerance this often in a row before a start ends.
_PATIENCE = 3
# Below this share of the null model's loss the fit is exact: what is left is rounding.
_EXACT = 1e-22
# Where the ridge follows the evidence: its start, the relative fall of the objective from which on
# a step is too long to learn from, and the relative change below which it has settled.
_RIDGE_START, _STILL_FALLING, _SETTLED = 1e-5, 0.1, 0.05
# A start's output layer step is halved at most this often where it does not lower the loss.
_HALVINGS = 20


@dataclass(frozen=True)
class Linearisation:
    """The objective near some hinges: its value, gradient and Gauss-Newton curvature.

    All are weighted means over the rows, in the signed hinges, the intercept last.

    Attributes
    ----------
    loss, objective : without and with the ridge penalty
    gradient : (n_neurons * n_inputs + 1,), of the objective
    diagonal : (n_neurons * n_inputs + 1,), of the loss's curvature
    gram : the whole curvature of the loss, or None where it is only known by its products
    """

    loss: float
    objective: float
    gradient: Floats
    diagonal: Floats
    gram: Floats | None


@dataclass(frozen=True)
class LLAState:
    """Hinges, the objective around them and its ridge, and how the last step went."""

    hinges: Hinges
    local: Linearisation
    floor: float
    ridge: float
    next_damping: float
    damping: float = 0.0
    gain: float = np.nan
    rejected: int = 0
    slow_steps: int = 0
    stalled: bool = False

    @property
    def objective(self) -> float:
        """Weighted mean loss plus penalty."""
        return self.local.objective

    @property
    def loss(self) -> float:
        """Weighted mean loss."""
        return self.local.loss

    def network(self) -> ReluNetwork:
        """The network that the hinges stand for."""
        return self.hinges.network()

    def improves_on(self, other: LLAState) -> bool:
        """Always: steps lower the objective, and a new ridge makes it another one."""
        return True


@dataclass(repr=False)
class LLA(Settings):
    """Damped local linear approximation: all parameters of a narrow network solved for at once.

    Parameters
    ----------
    n_neurons : int, default=10
        Width of the network; K_J where it trains the members of LIFE.
    ridge : float or "auto", default=1e-4
        Penalty ``ridge / 2 * sum_j |theta_j|²`` on the objective, a weighted mean loss. "auto"
        follows the evidence: many rows or little noise ask for less, many neurons for more. It
        suits a network that stands alone. Base learners of LIFE want less, since the output layer
        has a penalty of its own.
    init : {"random", "least-squares"}, default="random"
        Random hinges inside the data, or the least-squares direction with quantile offsets.
    max_iter : int, default=100
        Most iterations of one start.
    tol : float, default=1e-4
        Relative fall of the objective below which a step counts as slow; three end the start.
    n_init : int, default=1
        Starts, of which the best is kept.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neurons": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "init": [StrOptions(set(STARTS))],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
    }

    n_neurons: int = 10
    ridge: float | str = 1e-4
    init: str = "random"
    max_iter: int = 100
    tol: float = 1e-4
    n_init: int = 1

    @property
    def together(self) -> int:
        """Each network is trained by itself."""
        return 1

    def train(
        self,
        problem: Problem,
        tasks: Sequence[Task],
        deadline: Deadline = NEVER,
        monitor: Monitor | None = None,
    ) -> tuple[Outcome, ...]:
        """Train a network for each task."""
        # The least-squares start is the same every time.
        n_init = 1 if self.init == "least-squares" else self.n_init
        return solve_each(self, problem, tasks, n_init, deadline, monitor)

    def begin(self, problem: Problem, generator: np.random.Generator) -> LLAState:
        """Hinges inside the data, with their output layer fitted."""
        ridge = _RIDGE_START if isinstance(self.ridge, str) else float(self.ridge)
        theta = STARTS[self.init](problem, self.n_neurons, generator)
        hinges = _fit_first_readout(problem, theta, ridge)
        local = linearise(problem, hinges, ridge)
        return LLAState(hinges, local, _EXACT * problem.null_loss(), ridge, _DAMPING_START)

    def step(self, problem: Problem, state: LLAState) -> LLAState:
        """The first damped step that lowers the objective, then the output layer on its hinges.

        A step is damped more while it does not. When the model itself promises no more than
        rounding, the state comes back unmoved and stalled.
        """
        damping, rejected = state.next_damping, 0
        least = _LEAST_FALL * state.objective
        while True:
            step, promised = gauss_newton_step(
                problem, state.hinges, state.local, state.ridge, damping
            )
            if not promised > least:
                return replace(state, gain=np.nan, rejected=rejected, stalled=True)
            trial = _trial(problem, state.hinges, step, state.ridge)
            if state.objective - trial.objective > least:
                gain = (state.objective - trial.objective) / promised
                hinges, local = _refit(problem, trial, state.ridge)
                following = self._next(state, hinges, local, damping, gain, rejected)
                return self._weigh_anew(problem, state, following)
            rejected += 1
            damping *= 4.0

    def verdict(self, state: LLAState) -> Status | None:
        """Stop when the fit is exact, no step helps, or steps have become slow."""
        if state.loss <= state.floor:
            return Status.EXACT
        if state.stalled:
            return Status.STALLED
        return Status.CONVERGED if state.slow_steps >= _PATIENCE else None

    def _next(
        self,
        state: LLAState,
        hinges: Hinges,
        local: Linearisation,
        damping: float,
        gain: float,
        rejected: int,
    ) -> LLAState:
        slow = state.objective - local.objective <= self.tol * state.objective
        return LLAState(
            hinges,
            local,
            state.floor,
            state.ridge,
            next_damping=_follow(damping, gain),
            damping=damping,
            gain=gain,
            rejected=rejected,
            slow_steps=state.slow_steps + 1 if slow else 0,
        )

    def _weigh_anew(self, problem: Problem, before: LLAState, state: LLAState) -> LLAState:
        """The state with the ridge that it asks for, once steps have become short."""
        fall = before.objective - state.objective
        if not isinstance(self.ridge, str) or fall > _STILL_FALLING * before.objective:
            return state
        ridge = _ridge_of(problem, state)
        added, hinges = ridge - state.ridge, state.hinges
        gradient = state.local.gradient.copy()
        gradient[:-1] += added * hinges.signed.ravel()
        objective = state.objective + 0.5 * added * float(hinges.squared_norms.sum())
        local = replace(state.local, objective=objective, gradient=gradient)
        settled = abs(added) <= _SETTLED * state.ridge
        return replace(
            state, local=local, ridge=ridge, slow_steps=state.slow_steps if settled else 0
        )


def _ridge_of(problem: Problem, state: LLAState) -> float:
    """The ridge after one step towards the evidence's largest value."""
    n_rows, local = problem.rows.total_weight, state.local
    # The intercept is an unknown without penalty, which the rows determine.
    if local.gram is None:
        gamma = _sampled_unknowns(problem, state) - 1.0
    else:
        gamma = effective_unknowns(local.gram, state.ridge) - 1.0
    free = max(n_rows - gamma - 1.0, 1.0)
    variance = 2.0 * state.loss * n_rows / free if problem.loss.quadratic else 1.0
    norm = float(state.hinges.squared_norms.sum())
    return next_ridge(state.ridge, gamma, norm, variance, n_rows)


def _sampled_unknowns(problem: Problem, state: LLAState) -> float:
    """`effective_unknowns` of many, whose Gram matrix is only known by its products.

    Estimated with one vector of random signs (Hutchinson 1990). Its standard error is at most the
    root of twice the number of unknowns, which is little where they are many.
    """
    n = len(state.local.gradient)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], n)
    probe = replace(state.local, gradient=-signs)
    solved = _solve_by_products(problem, state.hinges, probe, np.full(n, state.ridge))
    return float(np.clip(n - state.ridge * (signs @ solved), 1.0, n))


def linearise(problem: Problem, hinges: Hinges, ridge: float) -> Linearisation:
    """Value, gradient and Gauss-Newton curvature of the objective at some hinges."""
    n_neurons, n_inputs = hinges.theta.shape
    direct = gram_fits(n_neurons, n_inputs, _DIRECT_LIMIT)
    loss = problem.loss

    def sums(block: Block) -> tuple[float, Floats, float, Floats, float]:
        preactivations = hinges.preactivations(block.inputs)
        active = preactivations > 0
        score = hinges.score(preactivations, active)
        value, gradient, curvature = _weighted_terms(loss, block, score)
        second_order = masked_gram_table if direct else masked_gram_diagonal
        return (
            value,
            masked_gradient(active, block.inputs, gradient),
            float(gradient.sum()),
            second_order(active, block.inputs, curvature),
            float(curvature.sum()),
        )

    block_rows = block_rows_for_gram(n_neurons, n_inputs) if direct else _BLOCK_ROWS
    value, gradient, at_intercept, second, total = problem.rows.sum(sums, block_rows)
    n = problem.rows.total_weight
    gram = unfold_gram(second, total, n_neurons, n_inputs) / n if direct else None
    diagonal = np.append(second, total) / n if gram is None else np.diag(gram)
    slopes = gradient / n + ridge * hinges.signed
    return Linearisation(
        loss=value / n,
        objective=value / n + 0.5 * ridge * float(hinges.squared_norms.sum()),
        gradient=np.append(slopes, at_intercept / n),
        diagonal=diagonal,
        gram=gram,
    )


def gauss_newton_step(
    problem: Problem, hinges: Hinges, local: Linearisation, ridge: float, damping: float
) -> tuple[Floats, float]:
    """The damped step and the fall of the objective that the linearised model promises.

    Returns
    -------
    step : (n_neurons * n_inputs + 1,), to be added to the signed hinges and the intercept
    promised : ``-(g'd + d'(G + ridge) d / 2)``
    """
    penalty = np.full(len(local.gradient), ridge)
    penalty[-1] = 0.0
    extra = penalty + damping * _marquardt_scale(hinges, local)
    if local.gram is not None:
        step = -solve_positive(local.gram, local.gradient, extra)
    else:
        step = _solve_by_products(problem, hinges, local, extra)
    # At the solution (G + extra) d = -g, so d'(G + ridge)d = -g'd - d'(extra - ridge)d. Conjugate
    # gradients keep this true for every iterate: their residual is orthogonal to it.
    slope = float(local.gradient @ step)
    promised = -0.5 * slope + 0.5 * float(np.square(step) @ (extra - penalty))
    return step, promised


def _marquardt_scale(hinges: Hinges, local: Linearisation) -> Floats:
    """Curvature of each unknown, over the neuron's own size: what damping is measured in.

    A pattern stays valid while a hinge turns little, so the longer a theta_j, the longer the steps
    that it may take. Both factors make the damping free of the data's and the target's scale.
    """
    n_inputs = hinges.theta.shape[1]
    norms = hinges.squared_norms
    typical = float(norms.mean()) or 1.0
    relative = typical / (norms + 1e-4 * typical)
    # Positive even where saturated rows leave no curvature: damping must be able to end any search.
    curvature = local.diagonal + 1e-6 * local.diagonal.mean() + 1e-12
    return np.asarray(curvature * np.append(np.repeat(relative, n_inputs), 1.0))


def _solve_by_products(
    problem: Problem, hinges: Hinges, local: Linearisation, extra: Floats
) -> Floats:
    """The same step for many inputs, by conjugate gradients on products with the data."""
    n = problem.rows.total_weight
    shape = hinges.theta.shape

    def product(direction: Floats) -> Floats:
        slopes, constant = direction[:-1].reshape(shape), float(direction[-1])

        def sums(block: Block) -> tuple[Floats, float]:
            preactivations = hinges.preactivations(block.inputs)
            active = preactivations > 0
            score = hinges.score(preactivations, active)
            weight = block.weight * problem.loss.curvature(block.target, score[:, None])[:, 0]
            return masked_gram_product(active, block.inputs, weight, slopes, constant)

        image, at_intercept = problem.rows.sum(sums, _BLOCK_ROWS)
        return np.append(image, at_intercept) / n + extra * direction

    scale = local.diagonal + extra
    inverse = np.where(scale > 0, 1.0 / np.where(scale > 0, scale, 1.0), 0.0)
    step, _ = conjugate_gradients(
        product,
        -local.gradient,
        lambda residual: inverse * residual,
        tolerance=_CG_TOLERANCE,
        max_iter=_CG_MAX_ITER,
    )
    return step


@dataclass(frozen=True)
class _Readout:
    """The objective as a function of factors on the neurons' output layer, near factors of one."""

    loss: float
    objective: float
    gradient: Floats
    curvature: Floats

    def newton(self) -> Floats:
        """The step of the factors and of the intercept, (n_neurons + 1,)."""
        return -solve_positive(self.curvature, self.gradient)


@dataclass(frozen=True)
class _Trial:
    hinges: Hinges
    readout: _Readout

    @property
    def objective(self) -> float:
        return self.readout.objective


def _trial(problem: Problem, hinges: Hinges, step: Floats, ridge: float) -> _Trial:
    moved = hinges.moved(step[:-1].reshape(hinges.theta.shape), step[-1])
    return _Trial(moved, _linearise_readout(problem, moved, ridge))


def _refit(problem: Problem, trial: _Trial, ridge: float) -> tuple[Hinges, Linearisation]:
    """Refit the trial's output layer, where that promises more than rounding and keeps it."""
    step = trial.readout.newton()
    promised = -0.5 * float(trial.readout.gradient @ step)
    if promised > _LEAST_FALL * trial.objective:
        refitted = _rescale(trial.hinges, step, 1.0)
        local = linearise(problem, refitted, ridge)
        if local.objective < trial.objective:
            return refitted, local
    return trial.hinges, linearise(problem, trial.hinges, ridge)


def _weighted_terms(loss: Loss, block: Block, score: Floats) -> tuple[float, Floats, Floats]:
    """Sum of a block's losses at one score a row, (n_rows,), and their gradient and curvature."""
    scores = score[:, None]
    return (
        float(block.weight @ loss.value(block.target, scores)),
        block.weight * loss.gradient(block.target, scores)[:, 0],
        block.weight * loss.curvature(block.target, scores)[:, 0],
    )


def _linearise_readout(problem: Problem, hinges: Hinges, ridge: float) -> _Readout:
    """Value, gradient and curvature of the objective in the output layer's factors."""
    loss, n_neurons = problem.loss, len(hinges.theta)

    def sums(block: Block) -> tuple[float, Floats, Floats]:
        preactivations = hinges.preactivations(block.inputs)
        features = np.ones((n_neurons + 1, len(block.target)))
        np.maximum(preactivations, 0.0, out=features[:-1])
        features[:-1] *= hinges.sign[:, None]
        score = features[:-1].sum(axis=0) + hinges.intercept
        value, gradient, curvature = _weighted_terms(loss, block, score)
        return value, features @ gradient, (features * curvature) @ features.T

    value, gradient, curvature = problem.rows.sum(sums, _BLOCK_ROWS)
    n = problem.rows.total_weight
    penalty = np.append(ridge * hinges.squared_norms, 0.0)
    return _Readout(
        loss=value / n,
        objective=value / n + 0.5 * float(penalty.sum()),
        gradient=gradient / n + penalty,
        curvature=curvature / n + np.diag(penalty),
    )


def _rescale(hinges: Hinges, step: Floats, length: float) -> Hinges:
    return hinges.rescaled(1.0 + length * step[:-1], hinges.intercept + length * step[-1])


def _fit_first_readout(problem: Problem, theta: Floats, ridge: float) -> Hinges:
    """Size and sign of the starting hinges: one Newton step of the output layer from no effect.

    The step is halved until the loss falls, so that a start is never worse than a constant.
    """
    null = problem.loss.null_score(problem.rows.target, problem.rows.weight)[0]
    hinges = Hinges(1e-3 * theta, np.ones(len(theta)), float(null))
    readout = _linearise_readout(problem, hinges, ridge)
    step = readout.newton()
    for halving in range(_HALVINGS):
        fitted = _rescale(hinges, step, 0.5**halving)
        if _linearise_readout(problem, fitted, ridge).objective <= readout.objective:
            return fitted
    return hinges


def _follow(damping: float, gain: float) -> float:
    """The next step's damping, from how well the linearised model foretold this one."""
    if gain > _TRUSTED_GAIN:
        damping /= 5.0
    elif gain < _DOUBTED_GAIN:
        damping *= 2.0
    return max(damping, _DAMPING_LEAST)
