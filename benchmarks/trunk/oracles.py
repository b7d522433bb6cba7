"""LLA against independent truth, on many more problems than the tests take."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from sklearn.base import clone

from lifenet import LLAClassifier, LLARegressor
from lifenet._threads import one_blas_thread
from lifenet.losses import Logistic, SquaredError
from lifenet.solvers.base import solve, start_seeds
from lifenet.solvers.lla import LLA, gauss_newton_step, linearise
from lifenet.solvers.lla_printed import PrintedLLA, PrintedState

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from typing import TYPE_CHECKING

from oracles import (  # the tests' plain versions, found by the line above
    masked_design,
    penalised_objective,
    plain_problem,
    planted_network,
    random_hinges,
)

if TYPE_CHECKING:
    from benchmarks.bars import Bars


def run(bars: Bars) -> None:
    one_step(bars)
    gradients(bars)
    planted(bars)
    never_rises(bars)
    weights_at_real_size(bars)


def one_step(bars: Bars, n_problems: int = 500) -> None:
    """The undamped step, least squares on the frozen pattern, and the printed algorithm."""
    to_lstsq, to_printed = [], []
    for seed in range(n_problems):
        generator = np.random.default_rng([seed, 5])
        X = generator.normal(size=(400, 4))
        y = np.abs(X[:, 0]) - X[:, 1] + 0.3 * generator.normal(size=400)
        hinges = random_hinges(generator, 4, 4, smallest=0.5)
        design = masked_design(hinges.theta, X)
        if np.linalg.svd(design, compute_uv=False)[-1] < 0.3:
            continue
        problem = plain_problem(X, y)
        step, _ = gauss_newton_step(problem, hinges, linearise(problem, hinges, 0.0), 0.0, 0.0)
        moved = hinges.moved(step[:-1].reshape(hinges.theta.shape), step[-1])
        found = np.append(moved.signed, moved.intercept)
        expected = np.linalg.lstsq(design, y, rcond=None)[0]
        to_lstsq.append(np.abs(found - expected).max() / np.abs(expected).max())
        state = PrintedState(hinges.theta, hinges.sign, hinges.intercept, np.inf, 0.0)
        printed = PrintedLLA(4).step(problem, state)
        if np.abs(printed.beta).min() >= 1e-3:
            products = printed.beta[:, None] * printed.theta
            sides = np.array_equal(moved.sign, np.sign(printed.beta))
            error = np.abs(moved.signed - products).max() / np.abs(products).max()
            to_printed.append(error if sides else np.inf)
    n, m = len(to_lstsq), len(to_printed)
    bars.at_most(f"one step against least squares, {n} problems, relative", max(to_lstsq), 1e-9)
    bars.at_most(f"one step against the printed one, {m} problems, relative", max(to_printed), 1e-9)


def gradients(bars: Bars) -> None:
    """The objective's gradient against central differences."""
    worst = 0.0
    for loss in (SquaredError(), Logistic()):
        for seed in range(20):
            generator = np.random.default_rng([seed, 6])
            X = generator.normal(size=(300, 3))
            y = (np.abs(X[:, 0]) - X[:, 1] > 0).astype(float)
            weight = generator.uniform(0.2, 2, 300)
            hinges = random_hinges(generator, 4, 3)
            local = linearise(plain_problem(X, y, weight, loss), hinges, 0.1)
            slopes = []
            for unknown in range(len(local.gradient)):
                ends = []
                for step in (1e-6, -1e-6):
                    move = np.zeros(len(local.gradient))
                    move[unknown] = step
                    moved = hinges.moved(move[:-1].reshape(hinges.theta.shape), move[-1])
                    ends.append(penalised_objective(moved, X, y, weight, loss, 0.1))
                slopes.append((ends[0] - ends[1]) / 2e-6)
            gap = np.abs(local.gradient - slopes).max() / np.abs(local.gradient).max()
            worst = max(worst, gap)
    bars.at_most("gradient against finite differences, 40 problems, relative", worst, 1e-5)


def planted(bars: Bars) -> None:
    """Three neurons, five columns, 2,000 noiseless rows, at most ten starts."""
    recovered, starts = 0, []
    for seed in range(10):
        X, y = planted_network(seed)
        solver = LLA(3, ridge=0.0, max_iter=200, tol=0.0)
        seeds = start_seeds(np.random.SeedSequence(seed, spawn_key=(0,)), 10)
        with one_blas_thread():
            outcome = solve(solver, plain_problem(X, y), seeds)
        error = np.sqrt(np.mean((outcome.network.score(X)[:, 0] - y) ** 2)) / np.std(y)
        recovered += error < 1e-6
        starts.append(len(outcome.objectives))
    bars.at_least("planted networks recovered to 1e-6, of 10 seeds", recovered, 9, "d")
    bars.note(f"starts that the planted networks took: {starts}")


def never_rises(bars: Bars, n_problems: int = 3000) -> None:
    """Hypothesis draws hard problems; each is counted, and none may rise."""
    from hypothesis import HealthCheck, Phase, given, settings

    from test_lla import assert_never_rises, hard_problems

    seen = {"problems": 0, "rises": 0}

    @settings(
        max_examples=n_problems,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=hard_problems())
    def watch(case: object) -> None:
        seen["problems"] += 1
        try:
            assert_never_rises(*case)  # type: ignore[misc]
        except AssertionError:
            seen["rises"] += 1

    watch()
    bars.at_least("hard problems drawn for the damped objective", seen["problems"], 2000, "d")
    bars.at_most("of them with an objective that rises", seen["rises"], 0, "d")


def weights_at_real_size(bars: Bars) -> None:
    """Integer weights against repeated, shuffled rows at n = 5,000, p = 8."""
    for kind, edges in (("regression", None), ("binary", [1.0]), ("three classes", [0.0, 1.5])):
        worst = 0.0
        for seed in range(3):
            generator = np.random.default_rng(seed)
            X = generator.normal(size=(5000, 8))
            y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=5000)
            model = LLARegressor(random_state=seed)
            if edges is not None:
                y, model = np.digitize(y, edges), LLAClassifier(random_state=seed)
            count = generator.integers(0, 4, 5000)
            order = generator.permutation(count.sum())
            weighted = clone(model).fit(X, y, sample_weight=count).network_.score(X)
            repeated = clone(model).fit(X.repeat(count, axis=0)[order], y.repeat(count)[order])
            gap = np.abs(weighted - repeated.network_.score(X)).max()
            worst = max(worst, gap / np.abs(weighted).max())
        bars.at_most(f"weights against repeated rows, n=5000 p=8, {kind}, relative", worst, 1e-6)
