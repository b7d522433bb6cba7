"""The algorithm against the text, and the estimators against scikit-learn's checks."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import joblib
import numpy as np

from lifenet import LIFEClassifier, LIFERegressor
from lifenet.datasets import simulate

if TYPE_CHECKING:
    from benchmarks.bars import Bars

TESTS = {
    "algorithm against the text (subsets, drops, members, features, parts)": [
        "tests/test_sampling.py",
        "tests/test_members.py",
        "tests/test_recipe.py",
        "tests/test_record.py",
    ],
    "read-outs against independent truth": [
        "tests/test_ridge.py",
        "tests/test_elastic_net.py",
        "tests/test_selection.py",
        "tests/test_mixing.py",
    ],
    "clone, Pipeline, GridSearchCV, metadata routing, set_output, callbacks, interruption": [
        "tests/test_life.py"
    ],
    "scikit-learn's estimator checks": ["tests/test_estimator_checks.py"],
}


def run(bars: Bars) -> None:
    for what, files in TESTS.items():
        bars.runs_tests(what, [sys.executable, "-m", "pytest", "-q", "-n", "2", *files])
    bars.runs_tests(
        "scikit-learn's estimator checks, oldest supported dependencies",
        ["scripts/test", "--oldest", "-q", "tests/test_estimator_checks.py", "tests/test_life.py"],
    )
    parts(bars)
    executors(bars)
    weights(bars)


def parts(bars: Bars) -> None:
    """The flat network against its parts: features of all members' neurons times coefficients."""
    data = simulate.mim(5000, random_state=0)
    model = LIFERegressor(preset="paper", random_state=0, n_jobs=2).fit(data.X, data.y)
    network = model.network_
    total = np.full(len(data.X), network.intercept[0])
    for weights, bias, beta in zip(network.weights, network.bias, network.beta[:, 0], strict=True):
        total += beta * np.maximum(data.X @ weights + bias, 0.0)
    error = float(np.abs(total - model.predict(data.X)).max() / np.abs(total).max())
    bars.at_most("flat network against the sum of its parts, relative", error, 1e-12)
    widths = {member.network.n_neurons for member in model.members_}
    bars.at_most(
        f"neurons of the flat network over M x K_J = {len(model.members_)} x {max(widths)}",
        network.n_neurons / (len(model.members_) * max(widths)), 1.0,
    )  # fmt: skip


def executors(bars: Bars) -> None:
    """Serially, with threads, with processes."""
    data = simulate.mim(3000, random_state=1)
    for solver in ("lla", "adam"):
        models = []
        for backend, n_jobs in (("sequential", 1), ("threading", 2), ("loky", 2)):
            with joblib.parallel_config(backend=backend):
                model = LIFERegressor(solver=solver, random_state=0, n_jobs=n_jobs)
                models.append(model.fit(data.X, data.y).predict(data.X))
        error = max(float(np.abs(one - models[0]).max()) for one in models[1:])
        bars.at_most(
            f"serial against threads and processes, {solver}, largest difference", error, 0
        )


def weights(bars: Bars) -> None:
    """Integer weights against repeated rows, default settings."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(5000, 8))
    weight = generator.integers(0, 4, size=5000)
    repeated = np.repeat(np.arange(5000), weight)
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=5000)
    two = (y > 1).astype(int)
    cases = {"regression": (LIFERegressor, y), "two classes": (LIFEClassifier, two)}
    for what, (estimator, target) in cases.items():
        one = estimator(random_state=0, n_jobs=2).fit(X, target, sample_weight=weight)
        other = estimator(random_state=0, n_jobs=2).fit(X[repeated], target[repeated])
        scores = one.network_.score(X), other.network_.score(X)
        error = float(np.abs(scores[0] - scores[1]).max() / np.abs(scores[0]).max())
        bars.at_most(f"weights against repeated rows, n=5000, {what}, relative", error, 1e-6)
