"""The paper's bike-sharing study: what its text says, on two networks of ours."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet import LIFERegressor
from lifenet.explain import (
    accumulated_effects,
    interaction_strength,
    local_regions,
    neuron_importance,
    two_stage_strength,
)

if TYPE_CHECKING:
    from benchmarks.bars import Bars


def run(bars: Bars) -> None:
    study = _study()
    X, X_test, y, y_test = study.data()
    models = {
        "selection and elastic net": study.fit(X, y),
        "default": LIFERegressor(preset="paper", random_state=0, n_jobs=2).fit(X, y),
    }
    for name, model in models.items():
        network = model.network_
        bars.note(
            f"bike, {name}: {network.n_neurons} neurons, R² {model.score(X_test, y_test):.3f} on "
            "rows not seen"
        )
        interactions(bars, name, model, X)
        hours(bars, name, model, X)
    network = models["selection and elastic net"].network_
    importance = neuron_importance(network, X)
    regions = local_regions(network, X, min_rows=3)
    bars.note(
        f"bike, selection and elastic net: {network.n_neurons} neurons (paper 116), "
        f"{importance.n_above(0.02)} above 2 % of the largest importance (paper 13), "
        f"{regions.n_regions} regions of at least three rows (paper 47)"
    )


def _study() -> Any:
    """The example, as a module."""
    path = Path(__file__).parents[2] / "examples" / "bike_sharing.py"
    spec = importlib.util.spec_from_file_location("bike_sharing", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def interactions(bars: Bars, name: str, model: Any, X: Any) -> None:
    for measure in (two_stage_strength, interaction_strength):
        pairs = measure(model.network_, X).to_frame()
        found = [{row["first"], row["second"]} for _, row in pairs.head(3).iterrows()]
        rank = 1 + found.index({"hr", "workingday"}) if {"hr", "workingday"} in found else 99
        what = f"bike, {name}: rank of hr x workingday by {measure.__name__}"
        bars.at_most(what, rank, 1, "d")
        words = ", ".join(" x ".join(sorted(pair)) for pair in found)
        bars.note(f"bike, {name}: strongest pairs by {measure.__name__}: {words}")


def hours(bars: Bars, name: str, model: Any, X: Any) -> None:
    """Peaks in the morning and in the evening, the trough at night."""
    curve = accumulated_effects(model.network_, X, features=["hr"])["hr"]
    effect = curve.effect
    morning = 5 + int(np.argmax(effect[5:12]))
    evening = 14 + int(np.argmax(effect[14:22]))
    trough = int(np.argmin(effect))
    places = {"morning peak": (morning, 7, 8), "evening peak": (evening, 17, 18)}
    for what, (hour, low, high) in {**places, "trough": (trough, 3, 4)}.items():
        bars.at_least(f"bike, {name}: {what} of the effect of hr", hour, low, "d")
        bars.at_most(f"bike, {name}: {what} of the effect of hr", hour, high, "d")
