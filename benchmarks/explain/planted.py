"""Interactions that are known: do networks trained on noisy rows show them, and no others?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.runs import Runs
from lifenet import LLA, LIFERegressor, NeuronProjection
from lifenet.explain import interaction_strength, two_stage_strength

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from planted_interactions import BLIND, PLANTED, separation

if TYPE_CHECKING:
    from benchmarks.bars import Bars

N_SAMPLES, N_SEEDS, CORRELATIONS = 5_000, 20, (0.0, 0.5)
# Seeds for which the default LIFE, ten times slower, is tried as well.
N_DEFAULT_SEEDS = 5
RUNS = Runs("explain-runs.csv", ("true_ratio", "found_ratio", "neurons"))


def run(bars: Bars) -> None:
    names = [f"{one.name}, correlation {c}" for one in PLANTED for c in CORRELATIONS]
    for part, work, n_seeds in (
        ("two-stage", two_stage, N_SEEDS),
        ("two-stage, default", two_stage_default, N_DEFAULT_SEEDS),
    ):
        RUNS.run_missing(part, [(name, seed) for seed in range(n_seeds) for name in names], work)
        rows = RUNS.read(part)
        for name in names:
            _report(bars, part, name, [row for row in rows if row["data"] == name])
    RUNS.run_missing("second-order", [(one.name, s) for one in BLIND for s in range(5)], blind)
    rows = RUNS.read("second-order")
    for planted in BLIND:
        found = [row["found_ratio"] for row in rows if row["data"] == planted.name]
        bars.at_least(
            f"seeds of {len(found)} in which the second-order measure finds {planted.name}",
            sum(ratio > 1 for ratio in found), len(found), "d",
        )  # fmt: skip


def _report(bars: Bars, part: str, name: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        return
    truth = float(np.median([row["true_ratio"] for row in rows]))
    found = [row["found_ratio"] for row in rows]
    model = "default LIFE" if "default" in part else "LIFE [8], members of 8 neurons"
    what = f"{model}: seeds of {len(rows)} with every true pair above every false one, {name}"
    if truth >= 2:
        share = len(rows) - 1 if len(rows) >= N_SEEDS else len(rows)
        bars.at_least(what, sum(ratio > 1 for ratio in found), share, "d")
    else:
        bars.note(f"{what}: {sum(ratio > 1 for ratio in found)}; no demand")
    bars.note(
        f"weakest true pair over strongest false one, {name}: {truth:.2f} by the true gradient, "
        f"{min(found):.2f} to {max(found):.2f} by the networks"
    )


def two_stage(name: str, seed: int) -> list[dict[str, Any]]:
    """A network small enough for twenty seeds of all functions."""
    model = LIFERegressor(NeuronProjection(levels=(8,)), LLA(8), random_state=seed)
    return _two_stage("two-stage", name, seed, model)


def two_stage_default(name: str, seed: int) -> list[dict[str, Any]]:
    return _two_stage(
        "two-stage, default", name, seed, LIFERegressor(preset="paper", random_state=seed)
    )


def _two_stage(part: str, name: str, seed: int, model: LIFERegressor) -> list[dict[str, Any]]:
    function, _, correlation = name.partition(", correlation ")
    planted = next(one for one in PLANTED if one.name == function)
    X, y = planted.draw(N_SAMPLES, float(correlation), seed)
    network = model.fit(X, y).network_
    ratios = [
        separation(two_stage_strength(one, X).pair, planted.pairs) for one in (planted, network)
    ]
    return [_row(part, name, seed, *ratios, network.n_neurons)]


def blind(name: str, seed: int) -> list[dict[str, Any]]:
    planted = next(one for one in BLIND if one.name == name)
    X, y = planted.draw(N_SAMPLES, 0.0, seed)
    network = LIFERegressor(preset="paper", random_state=seed).fit(X, y).network_
    ratios = [
        separation(interaction_strength(one, X).pair, planted.pairs) for one in (planted, network)
    ]
    return [_row("second-order", name, seed, *ratios, network.n_neurons)]


def _row(
    part: str, data: str, seed: int, truth: float, found: float, neurons: int
) -> dict[str, Any]:
    return {
        "part": part,
        "data": data,
        "seed": seed,
        "true_ratio": truth,
        "found_ratio": found,
        "neurons": neurons,
    }
