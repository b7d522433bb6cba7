"""What the machine sees: parallel efficiency of step 2, and memory."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.life import store
from lifenet import LLA, NeuronProjection
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.datasets import load
from lifenet.losses import SquaredError
from lifenet.neurons.hierarchy import sample_subsets
from lifenet.neurons.members import train_members

if TYPE_CHECKING:
    from benchmarks.bars import Bars

REPEATS, N_MEMBERS = 3, 40

_MEMORY_PROBE = """
import json, os, threading, time
import numpy as np
import psutil
from lifenet import LLA, LIFERegressor, NeuronProjection

def resident():
    processes = [psutil.Process()] + psutil.Process().children(recursive=True)
    total = 0
    for process in processes:
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            pass
    return total

generator = np.random.default_rng(0)
X = generator.normal(size=(1_000_000, 20))
y = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + generator.normal(size=len(X))
before, peak, done = resident(), [0], threading.Event()

def watch():
    while not done.wait(0.2):
        peak[0] = max(peak[0], resident())

watcher = threading.Thread(target=watch)
watcher.start()
begun = time.perf_counter()
model = LIFERegressor(
    NeuronProjection(levels=(20, 20), max_networks=100),
    LLA(10, max_iter=1), n_jobs=2, random_state=0,
).fit(X, y)
seconds = time.perf_counter() - begun
done.set()
watcher.join()
print(json.dumps({
    "growth": (peak[0] - before) / 1e9, "seconds": seconds, "neurons": model.network_.n_neurons,
}))
"""


def run(bars: Bars) -> None:
    """Measured one after the other, with nothing else running; kept like all other runs."""
    done = {one["data"] for one in store.read("machine")}
    for name, measure in {"parallel": parallel_efficiency, "memory": memory}.items():
        if name not in done:
            store.add([measure()])
    figures = {one["data"]: one for one in store.read("machine")}
    bars.at_least(
        f"parallel efficiency of step 2 on 2 processes, CASP ({figures['parallel']['setting']})",
        figures["parallel"]["error"], 0.85, ".3f",
    )  # fmt: skip
    bars.at_most(
        "memory of a fit above the input, n=1000000 p=20 "
        f"m={figures['memory']['neurons']:.0f}, 2 processes, GB",
        figures["memory"]["error"], 2.0, ".2f",
    )  # fmt: skip


def parallel_efficiency() -> dict[str, Any]:
    """Seconds of step 2 by one process over twice those by two, medians of three."""
    data = load("casp")
    y = (data.y - data.y.mean()) / data.y.std()
    rows = ArrayRows.of(np.asarray(data.X, dtype=float), y).standardised()
    problem, solver = Problem(rows, SquaredError()), LLA(10, 1e-5, max_iter=20, tol=5e-3)
    sampler = NeuronProjection(levels=(20, 20), max_networks=N_MEMBERS)
    subsets, _ = sample_subsets(problem, sampler, solver, Run(0, n_jobs=2))

    def seconds(n_jobs: int) -> float:
        begun = time.perf_counter()
        train_members(problem, subsets, solver, level=3, run=Run(0, n_jobs=n_jobs))
        return time.perf_counter() - begun

    joblib.Parallel(n_jobs=2)(joblib.delayed(abs)(one) for one in range(4))  # workers are up
    serial = [seconds(1) for _ in range(REPEATS)]
    parallel = [seconds(2) for _ in range(REPEATS)]
    efficiency = float(np.median(serial) / (2 * np.median(parallel)))
    setting = (
        f"{len(subsets)} members, {np.median(serial):.1f} s against {np.median(parallel):.1f} s"
    )
    return store.row("machine", "parallel", 0, "LIFE(LLA)", error=efficiency, setting=setting)


def memory() -> dict[str, Any]:
    """Proportional memory of all processes at its peak, above that with the input alone."""
    output = subprocess.run(
        [sys.executable, "-c", _MEMORY_PROBE], capture_output=True, text=True, check=True
    ).stdout
    found = json.loads(output)
    return store.row(
        "machine", "memory", 0, "LIFE(LLA)", error=found["growth"], seconds=found["seconds"],
        neurons=found["neurons"],
    )  # fmt: skip
