"""Whole training runs, each on one screen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from lifenet.aggregate import pool_neurons
from lifenet.members import one_against_rest, seeds_of, train_member

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet.network import ReluNetwork
    from lifenet.solvers.base import Iteration, Monitor, Outcome, Problem, Solver

__all__ = ["MemberMonitor", "Training", "train_alone"]


#: Called with a member's number, its start's number and the newest row of its history.
MemberMonitor: TypeAlias = "Callable[[int, int, Iteration], None]"


@dataclass(frozen=True)
class Training:
    """A trained network, in the units of its rows, and how each part of it came about."""

    network: ReluNetwork
    outcomes: tuple[Outcome, ...]


def train_alone(
    problem: Problem,
    solver: Solver[Any],
    *,
    seed: int,
    n_restarts: int,
    ridge: float,
    time_limit: float | None = None,
    monitor: MemberMonitor | None = None,
) -> Training:
    """One network by one solver, without an ensemble: the paper's single-solver columns.

    A loss with several outputs has no single read-out coefficient per neuron, so each class is
    fitted against the rest, and the neurons of all classes are pooled under one new read-out.
    """
    n_classes = problem.loss.n_outputs
    if n_classes == 1:
        seeds = seeds_of(seed, 0, n_restarts)
        outcome = train_member(
            solver, problem, seeds, time_limit=time_limit, monitor=_for_member(monitor, 0)
        )
        return Training(outcome.network, (outcome,))
    outcomes = tuple(
        train_member(
            solver,
            one_against_rest(problem.rows, code),
            seeds_of(seed, code, n_restarts),
            time_limit=None if time_limit is None else time_limit / n_classes,
            monitor=_for_member(monitor, code),
        )
        for code in range(n_classes)
    )
    network = pool_neurons(problem, [outcome.network for outcome in outcomes], ridge)
    return Training(network, outcomes)


def _for_member(monitor: MemberMonitor | None, member: int) -> Monitor | None:
    return None if monitor is None else partial(monitor, member)
