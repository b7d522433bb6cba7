"""Train one member: one narrow network, on some rows, by some solver."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._threads import one_blas_thread
from lifenet.losses import Logistic
from lifenet.solvers.base import Monitor, Outcome, Problem, Solver, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet.blocks import Rows

__all__ = ["one_against_rest", "seeds_of", "train_member"]


def seeds_of(seed: int, member: int, n_restarts: int) -> list[np.random.SeedSequence]:
    """Seeds of a member's starts, keyed by its place: any order of training gives the same."""
    return [np.random.SeedSequence(seed, spawn_key=(member, start)) for start in range(n_restarts)]


def train_member(
    solver: Solver[Any],
    problem: Problem,
    seeds: Sequence[np.random.SeedSequence],
    *,
    time_limit: float | None = None,
    monitor: Monitor | None = None,
) -> Outcome:
    """Train one member with one BLAS thread: the same seed gives the same network anywhere."""
    with one_blas_thread():
        return solve(solver, problem, seeds, time_limit=time_limit, monitor=monitor)


def one_against_rest(rows: Rows, code: int) -> Problem:
    """The binary problem of one class, coded `code` in the rows' target, against all others."""
    return Problem(rows.with_target((rows.target == code).astype(np.float64)), Logistic())
