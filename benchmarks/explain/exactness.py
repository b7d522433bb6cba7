"""Explanations against their definitions, on a network trained on real data."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import norm

from lifenet import LIFERegressor, LLARegressor, ReluNetwork
from lifenet.datasets import load
from lifenet.explain import (
    accumulated_effects,
    interaction_strength,
    partial_dependence,
    two_stage_strength,
)

if TYPE_CHECKING:
    from benchmarks.bars import Bars

TESTS = {
    "explanations against loops, differences, planted truth and invariances": [
        "tests/test_moves.py",
        *(
            f"tests/test_explain_{name}.py"
            for name in ("effects", "neurons", "one_row", "regions", "signs", "merging")
        ),
        *(f"tests/test_explain_{name}.py" for name in ("varying", "interactions", "stability")),
    ],
    "scikit-learn and torch networks, and what is refused": ["tests/test_explain_adopted.py"],
    "plots": ["tests/test_plots_*.py"],
}
SIZES = (500, 2_000, 10_000, 50_000)


def run(bars: Bars) -> None:
    for what, files in TESTS.items():
        command = f"{sys.executable} -m pytest -q -n 2 {' '.join(files)}"
        bars.runs_tests(what, ["bash", "-c", command])
    data = load("bike_sharing")
    wide = LIFERegressor(preset="paper", random_state=0, n_jobs=2).fit(data.X, data.y).network_
    narrow = LLARegressor(30, random_state=0).fit(data.X, data.y).network_
    equations(bars, wide, data.X)
    differences(bars, narrow, data.X)
    effects(bars, narrow, data.X)
    additive(bars)
    population(bars)


def _put(X: np.ndarray, column: int, value: float) -> np.ndarray:
    table = X.copy()
    table[:, column] = value
    return table


def equations(bars: Bars, network: ReluNetwork, X: np.ndarray) -> None:
    score, size = network.score(X)[:, 0], np.abs(network.score(X)).max()
    slopes, constant = (part[..., 0] for part in network.equation(X))
    m = network.n_neurons
    error = np.abs((slopes * X).sum(axis=1) + constant - score).max() / size
    bars.at_most(f"equation . x + intercept against the score, bike, m = {m}", error, 1e-10)
    parts = network.contributions(X)[:, :, 0].sum(axis=1) + constant
    bars.at_most("contributions against the score", np.abs(parts - score).max() / size, 1e-10)
    path = network.segment(X.mean(axis=0), X)[:, :, 0].sum(axis=1)
    start = network.score(X.mean(axis=0)[None])[0, 0]
    error = np.abs(start + path - score).max() / size
    bars.at_most("waterfall from the mean against the score", error, 1e-10)


def differences(bars: Bars, network: ReluNetwork, X: np.ndarray) -> None:
    """Central differences in rows whose region holds both ends."""
    rows, worst, n_compared = X[:2_000], 0.0, 0
    slopes = network.gradient(rows)[:, :, 0]
    for column in range(X.shape[1]):
        step = 0.02 * X[:, column].std()
        ends = [_put(rows, column, 0.0), _put(rows, column, 0.0)]
        for end, sign in zip(ends, (1, -1), strict=True):
            end[:, column] = rows[:, column] + sign * step
        keys = [network.region_keys(one) for one in (rows, *ends)]
        inside = (keys[0] == keys[1]) & (keys[0] == keys[2])
        up, down = (network.score(end)[:, 0] for end in ends)
        found = (up - down) / (ends[0][:, column] - ends[1][:, column])
        scale = np.abs(slopes[:, column]).max()
        worst = max(worst, float(np.abs(found - slopes[:, column])[inside].max() / scale))
        n_compared += int(inside.sum())
    bars.at_most(f"gradient against differences inside regions ({n_compared} slopes)", worst, 1e-10)


def effects(bars: Bars, network: ReluNetwork, X: np.ndarray) -> None:
    rows = X[::17]
    worst = {"ale": 0.0, "pd": 0.0}
    found = zip(
        accumulated_effects(network, rows).curves,
        partial_dependence(network, rows, grid=20).curves,
        strict=True,
    )
    for column, (ale, dependence) in enumerate(found):
        expected = _ale(network, rows, column)
        error = np.abs(ale.effect - expected).max() / np.abs(expected).max()
        worst["ale"] = max(worst["ale"], float(error))
        means = [network.score(_put(rows, column, value)).mean() for value in dependence.values]
        error = np.abs(dependence.effect + dependence.level - means).max() / np.abs(means).max()
        worst["pd"] = max(worst["pd"], float(error))
    bars.at_most("ALE against brute force by its definition", worst["ale"], 1e-12)
    bars.at_most("partial dependence against brute force", worst["pd"], 1e-12)


def _ale(network: ReluNetwork, X: np.ndarray, column: int) -> np.ndarray:
    values, place = np.unique(X[:, column], return_inverse=True)
    effect = np.zeros(len(values))
    for number in range(len(values) - 1):
        rows = X[(place == number) | (place == number + 1)]
        high = network.score(_put(rows, column, values[number + 1]))
        low = network.score(_put(rows, column, values[number]))
        effect[number + 1] = effect[number] + (high - low).mean()
    return effect - effect[place].mean()


def additive(bars: Bars) -> None:
    """A network without interactions, on correlated columns."""
    generator = np.random.default_rng(0)
    columns = np.repeat(np.arange(6), 8)
    weights = np.zeros((48, 6))
    weights[np.arange(48), columns] = generator.normal(size=48)
    network = ReluNetwork(weights, generator.normal(size=48), generator.normal(size=48), 0.0)
    X = generator.normal(size=(5_000, 6)) + generator.normal(size=(5_000, 1))
    worst = 0.0
    for column, curve in enumerate(accumulated_effects(network, X).curves):
        term = network.select(columns == column).score(
            np.eye(6)[column] * curve.values[:, None]
        )[:, 0]  # fmt: skip
        term -= curve.mass @ term
        worst = max(worst, float(np.abs(curve.effect - term).max() / np.abs(term).max()))
    bars.at_most("ALE against the terms of an additive network", worst, 1e-12)
    second = interaction_strength(network, X)
    bars.at_most("second-order interactions of an additive network, relative",
                 float(second.relative.max()), 1e-12)  # fmt: skip
    independent = generator.normal(size=(5_000, 6))
    both = [two_stage_strength(network, rows).relative.max() for rows in (independent, X)]
    bars.at_most("two-stage interactions of an additive network, relative, independent columns",
                 float(both[0]), 0.02)  # fmt: skip
    bars.note(
        f"two-stage interactions of an additive network, columns correlated at 0.5: {both[1]:.3f} "
        "(what the smooth leaves of a slope with steps, seen through a correlated column)"
    )


def population(bars: Bars) -> None:
    """relu(x1 + x2), correlation 0.5: distance to the effect in the population."""
    network = ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0)
    root = np.sqrt(3.0)
    distances = []
    for n in SIZES:
        found = []
        for seed in range(40):
            generator = np.random.default_rng([n, seed])
            X = generator.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n)
            curve = accumulated_effects(network, X, features=["x0"]).curves[0]
            x = curve.values
            # The integral of P(x1 + x2 > 0 | x1 = t) = Phi(sqrt(3) t).
            truth = x * norm.cdf(root * x) + norm.pdf(root * x) / root
            gap = curve.effect - truth
            found.append(np.sqrt(np.mean(np.square(gap - gap.mean()))))
        distances.append(np.mean(found))
    slope = float(np.polyfit(np.log(SIZES), np.log(distances), 1)[0])
    what = "log-log slope of ALE's distance to the population, n = 500 to 50,000"
    bars.at_least(what, slope, -0.6)
    bars.at_most(what, slope, -0.4)
