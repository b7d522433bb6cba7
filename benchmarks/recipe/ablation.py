"""Where the accuracy of the default comes from: sources of neurons alone and together."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.runs import Runs
from lifenet import LIFERegressor, preset
from lifenet.datasets import load

if TYPE_CHECKING:
    from benchmarks.bars import Bars
    from lifenet import Recipe

SETS = {"airfoil": range(3), "california_housing": range(1)}
FITS = Runs("recipe-accuracy.csv", ("error", "neurons", "trees"))


def recipes() -> dict[str, Recipe]:
    fast = preset("fast")
    leaves, hierarchy = fast.neurons
    return {
        "leaf neurons alone": replace(fast, neurons=(leaves,)),
        "base learners alone": replace(fast, neurons=(hierarchy,)),
        "default": fast,
        "best": preset("best"),
    }


def note(bars: Bars, *, run: bool) -> None:
    """One line a set: the test RMSE of each recipe, of the runs that are kept."""
    for name in ("best", *(one for one in recipes() if one != "best")) if run else ():
        jobs = [(data, seed) for data, seeds in SETS.items() for seed in seeds]
        FITS.run_missing(name, jobs, partial(_fit, name))
    for data, seeds in SETS.items():
        found = []
        for name in recipes():
            rows = [one for one in FITS.read(name) if one["data"] == data]
            if rows:
                found.append(f"{name} {np.mean([one['error'] for one in rows]):.4g}")
        bars.note(f"accuracy: {data}, RMSE, {len(seeds)} splits: {', '.join(found)}")
    for one in FITS.read("best"):
        if one["data"] == "california_housing":
            bars.note(
                f'"best" on {one["data"]}: {one["trees"]:,.0f} of {one["neurons"]:,.0f} neurons '
                "are leaves of whole boosted trees"
            )


def _fit(name: str, data: str, seed: int) -> list[dict[str, Any]]:
    table = load(data)
    X, y = np.asarray(table.X, dtype=float), np.asarray(table.y)
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    model = LIFERegressor(preset=recipes()[name], random_state=seed).fit(train, y_train)
    error = float(np.sqrt(np.mean((model.predict(test) - y_test) ** 2)))
    trees = model.network_.n_neurons - sum(one.n_neurons for one in model.folds_)
    row = {"part": name, "data": data, "seed": seed}
    return [{**row, "error": error, "neurons": model.network_.n_neurons, "trees": trees}]
