"""Speed as ratios of two things measured in one run, one thread a fit; memory at its peak."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import time
import warnings
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg.blas import dsyrk
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPRegressor
from threadpoolctl import threadpool_limits

from lifenet._threads import one_blas_thread
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.datasets import load
from lifenet.kernels.gram import block_rows_for_gram
from lifenet.losses import SquaredError
from lifenet.solvers.base import Outcome, solve
from lifenet.solvers.lla import LLA

if TYPE_CHECKING:
    from benchmarks.bars import Bars

SIZES = [(20_000, 6, 20), (45_000, 9, 20), (20_000, 10, 40)]
N_NEURONS = 20
PEERS = {
    "lbfgs": ({"solver": "lbfgs", "max_iter": 400, "alpha": 0, "tol": 0}, 1 / 3),
    "adam": ({"solver": "adam", "max_iter": 60, "tol": 0}, 1 / 4),
}


def run(bars: Bars) -> None:
    with threadpool_limits(1):
        for size in SIZES:
            iteration_against_syrk(bars, *size)
        curves = [
            row for name in ("casp", "electrical_grid") for row in race_against_mlp(bars, name)
        ]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["dataset", "method", "seed", "seconds", "training_loss"])
    writer.writerows(curves)
    bars.files["trunk-race.csv"] = buffer.getvalue()
    memory(bars)


def iteration_against_syrk(bars: Bars, n: int, p: int, k: int) -> None:
    """Medians of five fits: seconds an iteration, rejected steps and all, over syrk's."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, p))
    y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * generator.normal(size=n)
    problem = Problem(ArrayRows.of(X, y).standardised(), SquaredError())
    iteration, syrk = [], []
    for repeat in range(5):
        outcome = _train(LLA(k), problem, repeat)
        first, last = outcome.history[0], outcome.history[-1]
        iteration.append((last.seconds - first.seconds) / last.iteration)
        syrk.append(_syrk_seconds(X, outcome.network))
    ratio = float(np.median(iteration) / np.median(syrk))
    bars.at_most(f"one LLA iteration over syrk, n={n} p={p} K={k}", ratio, 2.0, ".2f")


def _train(solver: LLA, problem: Problem, seed: int) -> Outcome:
    """One start, with one BLAS thread."""
    with one_blas_thread():
        return solve(solver, problem, [np.random.SeedSequence(seed, spawn_key=(0, 0))])


def _syrk_seconds(X: np.ndarray, network: object) -> float:
    """Seconds of the syrk calls alone, on blocks of the design formed before."""
    n, p = X.shape
    rows = block_rows_for_gram(network.n_neurons, p + 1)
    blocks = []
    for start in range(0, n, rows):
        part = X[start : start + rows]
        homogeneous = np.column_stack([part, np.ones(len(part))])
        active = network.active(part)
        design = (active[:, :, None] * homogeneous[:, None, :]).reshape(len(part), -1)
        blocks.append(np.asfortranarray(np.column_stack([design, np.ones(len(part))])))
    size = blocks[0].shape[1]
    times = []
    for _ in range(3):
        gram = np.zeros((size, size), order="F")
        begun = time.perf_counter()
        for block in blocks:
            gram = dsyrk(1.0, block, beta=1.0, c=gram, trans=1, overwrite_c=1)
        times.append(time.perf_counter() - begun)
    return float(np.median(times))


def race_against_mlp(bars: Bars, name: str) -> list[list[object]]:
    """Seconds until LLA has the training loss that an MLP of the same width ends with."""
    data = load(name)
    X = (data.X - data.X.mean(axis=0)) / data.X.std(axis=0)
    y = (data.y - data.y.mean()) / data.y.std()
    problem = Problem(ArrayRows.of(X, y), SquaredError())
    ratios: dict[str, list[float]] = {peer: [] for peer in PEERS}
    curves: list[list[object]] = []
    for seed in range(10):
        solver = LLA(N_NEURONS, ridge=0.0, max_iter=150, tol=0.0)
        history = _train(solver, problem, seed).history
        curves += [[name, "LLA", seed, f"{r.seconds:.4f}", f"{r.loss:.6f}"] for r in history]
        for peer, (settings, _) in PEERS.items():
            seconds, loss = _fit_mlp(X, y, settings, seed)
            curves.append([name, f"MLP {peer}", seed, f"{seconds:.4f}", f"{loss:.6f}"])
            reached = next((row.seconds for row in history if row.loss <= loss), np.inf)
            ratios[peer].append(reached / seconds)
    for peer, (_, limit) in PEERS.items():
        what = f"LLA's time to the loss of MLP {peer} over its time, {name}, median of 10"
        bars.at_most(what, float(np.median(ratios[peer])), limit, ".3f")
        never = sum(np.isinf(ratios[peer]))
        worst = max((r for r in ratios[peer] if np.isfinite(r)), default=np.nan)
        bars.note(f"{name} {peer}: never reached in {never} of 10 seeds; worst ratio {worst:.3f}")
    return curves


def _fit_mlp(
    X: np.ndarray, y: np.ndarray, settings: dict[str, object], seed: int
) -> tuple[float, float]:
    model = MLPRegressor(hidden_layer_sizes=(N_NEURONS,), random_state=seed, **settings)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # max_iter is the peer's given budget
        model.fit(X, y)
    seconds = time.perf_counter() - begun
    return seconds, float(np.mean((model.predict(X) - y) ** 2) / 2)


_MEMORY_PROBE = """
import json, numpy as np
from lifenet import LLARegressor

def status(key):
    lines = open("/proc/self/status").read().splitlines()
    return int(next(line for line in lines if line.startswith(key)).split()[1]) / 1024

n, p = 1_000_000, 20
X = np.empty((n, p))
generator = np.random.default_rng(0)
for start in range(0, n, 10_000):
    X[start : start + 10_000] = generator.normal(size=(10_000, p))
y = np.abs(X[:, 0]) + X[:, 1]
LLARegressor(20, max_iter=1, random_state=0).fit(X[:2000], y[:2000])  # what imports and BLAS take
open("/proc/self/clear_refs", "w").write("5")  # the peak restarts here
before = status("VmRSS:")
LLARegressor(20, max_iter=3, random_state=0).fit(X, y)
print(json.dumps({"before": before, "peak": status("VmHWM:")}))
"""


def memory(bars: Bars) -> None:
    """Peak resident memory of a fit to a million rows, above what was there before it."""
    output = subprocess.run(
        [sys.executable, "-c", _MEMORY_PROBE], capture_output=True, text=True, check=True
    ).stdout
    found = json.loads(output)
    growth = found["peak"] - found["before"]
    bars.at_most("memory of fit above before, n=1000000 p=20 K=20, MB", growth, 100, ".0f")
