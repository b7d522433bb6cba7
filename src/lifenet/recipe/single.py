"""A single network by one solver, without an ensemble: the paper's single-solver columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from sklearn.base import clone

from lifenet._threads import one_blas_thread
from lifenet.data.evaluation import row_losses, standard_error
from lifenet.neurons.layer import Layer
from lifenet.output.newton import fit_coefficients, spreads
from lifenet.solvers.base import Task

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lifenet._clock import Deadline
    from lifenet._typing import Floats
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.network import ReluNetwork
    from lifenet.solvers.base import Iteration, Outcome, Trainer

__all__ = ["NetworkMonitor", "SingleNetwork", "choose_width", "pool_neurons", "train_single"]

#: Called with a network's number, its start's number and the newest row of its history.
NetworkMonitor: TypeAlias = "Callable[[int, int, Iteration], None]"

# Penalty of the output layer of several classes, where a single network of each is tried.
_POOLED_RIDGE = 1e-6


@dataclass(frozen=True)
class SingleNetwork:
    """A network trained by one solver, in the units of the rows, and how its parts came about."""

    network: ReluNetwork
    outcomes: tuple[Outcome, ...]


def train_single(
    problem: Problem,
    solver: Trainer,
    run: Run,
    ridge: float = _POOLED_RIDGE,
    monitor: NetworkMonitor | None = None,
) -> SingleNetwork:
    """One network by one solver.

    A loss with several outputs has no single coefficient per neuron, so each class is fitted
    against the rest, and the neurons of all classes are pooled under one new output layer.

    Parameters
    ----------
    ridge : penalty of that output layer
    """
    n_outputs = problem.loss.n_outputs
    if n_outputs == 1:
        outcome = _train(problem, solver, run, 0, run.deadline.rest(), monitor)
        return SingleNetwork(outcome.network, (outcome,))
    outcomes = tuple(
        _train(
            problem.against_rest(code),
            solver,
            run,
            code,
            run.deadline.rest(1.0 / (n_outputs - code)),
            monitor,
        )
        for code in range(n_outputs)
    )
    network = pool_neurons(problem, [outcome.network for outcome in outcomes], ridge)
    return SingleNetwork(network, outcomes)


def choose_width(fold: Fold, solver: Trainer, widths: Sequence[int], run: Run) -> int:
    """The narrowest single network that is as good as the best of them on the validation rows.

    Base learners of that width can tell by themselves what there is to tell; wider ones would
    overfit, and take longer. As good is within one standard error of the difference. When the time
    is over, of those tried.
    """
    validation = fold.validation
    if validation is None or len(widths) == 1:
        return widths[0]
    losses: list[Floats] = []
    widths = sorted(widths)
    for width in widths:
        narrow = clone(solver).set_params(n_neurons=width)
        losses.append(row_losses(validation, train_single(fold.train, narrow, run).network))
        if run.deadline.passed:
            break
    weight = validation.rows.weight
    best = min(losses, key=lambda one: float(weight @ one))
    return next(
        width
        for width, one in zip(widths, losses, strict=False)
        if weight @ (one - best) / weight.sum() <= standard_error(one - best, weight)
    )


def pool_neurons(problem: Problem, networks: Sequence[ReluNetwork], ridge: float) -> ReluNetwork:
    """One layer of all networks' neurons under a new output layer, fitted to the problem's loss.

    Parameters
    ----------
    ridge : penalty on the coefficients of activations of unit deviation
    """
    layer = Layer.of_members([(one, 0) for one in networks], problem.rows.n_features)
    with one_blas_thread():
        scale = spreads(problem, layer.features)
        return layer.network(fit_coefficients(problem, layer.features, scale, ridge))


def _train(
    problem: Problem,
    solver: Trainer,
    run: Run,
    code: int,
    deadline: Deadline,
    monitor: NetworkMonitor | None,
) -> Outcome:
    seed = np.random.SeedSequence(run.seed, spawn_key=(code,))
    task = Task(np.arange(problem.rows.n_rows), None, seed)
    watch = None if monitor is None else partial(monitor, code)
    with one_blas_thread():
        return solver.train(problem, [task], deadline, watch)[0]
