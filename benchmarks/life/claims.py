"""The paper's claim of efficiency, and that no prediction blows up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.life import store
from benchmarks.life.tables import split, timed_fit
from lifenet import LLA, LIFERegressor, LLARegressor, NeuronProjection
from lifenet.datasets import load

if TYPE_CHECKING:
    from benchmarks.bars import Bars

WIDTH = 300
EFFICIENCY = ("casp", "california_housing", "bike_sharing")
BLOW_UPS, N_SPLITS = ("abalone", "aquatic_toxicity"), 50
#: A test error of so many medians over the splits is a blow-up.
BLOWN_UP = 2.0


def run(bars: Bars) -> None:
    store.run_missing("efficiency", [(name, 0) for name in EFFICIENCY], efficiency_job)
    jobs = [(name, seed) for name in BLOW_UPS for seed in range(N_SPLITS)]
    store.run_missing("blow-ups", jobs, blow_up_job)
    efficiency_bars(bars)
    blow_up_bars(bars)


def efficiency_job(name: str, seed: int) -> list[dict[str, Any]]:
    """A network of 300 neurons by LIFE, and directly by LLA for ten times as long."""
    X, X_test, y, y_test = split(name, seed)

    def row_of(model: Any, seconds: float, method: str) -> dict[str, Any]:
        error = float(np.sqrt(np.mean(np.square(model.predict(X_test) - y_test))))
        neurons = model.network_.n_neurons
        return store.row(
            "efficiency", name, seed, method, error=error, seconds=seconds, neurons=neurons
        )

    sampler = NeuronProjection(levels=(10, 10), max_networks=WIDTH // 10)
    solver = LLA(10, ridge=1e-5, max_iter=20, tol=5e-3)
    life, seconds = timed_fit(LIFERegressor(sampler, solver, random_state=seed), X, y)
    direct = LLARegressor(
        WIDTH, max_iter=100_000, tol=1e-6, time_limit=10 * seconds, random_state=seed
    )
    direct, direct_seconds = timed_fit(direct, X, y)
    return [row_of(life, seconds, "LIFE(LLA)"), row_of(direct, direct_seconds, "LLA")]


def efficiency_bars(bars: Bars) -> None:
    rows = store.read("efficiency")
    for name in EFFICIENCY:
        error = store.by_method(rows, name, "error")
        seconds = store.by_method(rows, name, "seconds")
        ratio = float(seconds["LIFE(LLA)"][0] / seconds["LLA"][0])
        better = error["LIFE(LLA)"][0] <= error["LLA"][0]
        bars.note(
            f"width {WIDTH}, {name}: LIFE RMSE {error['LIFE(LLA)'][0]:.4g} in "
            f"{seconds['LIFE(LLA)'][0]:.1f} s, direct LLA {error['LLA'][0]:.4g} in "
            f"{seconds['LLA'][0]:.1f} s"
        )
        bars.at_most(
            f"LIFE's share of direct LLA's time, error no worse, width {WIDTH}, {name}",
            ratio if better else np.nan, 0.2, ".3f",
        )  # fmt: skip


def blow_up_job(name: str, seed: int) -> list[dict[str, Any]]:
    data = load(name)
    X, X_test, y, y_test = train_test_split(
        np.asarray(data.X, dtype=float), data.y, test_size=0.2, random_state=seed
    )
    model, seconds = timed_fit(
        LIFERegressor(NeuronProjection(levels=(20, 20)), random_state=seed), X, y
    )
    error = float(np.sqrt(np.mean(np.square(model.predict(X_test) - y_test))))
    neurons = model.network_.n_neurons
    return [
        store.row(
            "blow-ups", name, seed, "LIFE(LLA)", error=error, seconds=seconds, neurons=neurons
        )
    ]


def blow_up_bars(bars: Bars) -> None:
    rows = store.read("blow-ups")
    for name in BLOW_UPS:
        error = store.by_method(rows, name, "error")["LIFE(LLA)"]
        neurons = store.by_method(rows, name, "neurons")["LIFE(LLA)"]
        bars.at_most(
            f"largest over median test RMSE, {len(error)} splits of {name}, "
            f"{neurons.min():.0f} to {neurons.max():.0f} neurons",
            largest_over_median(error), BLOWN_UP, ".2f",
        )  # fmt: skip


def largest_over_median(errors: Any) -> float:
    """How far the worst split is from the usual one."""
    return float(np.max(errors) / np.median(errors))
