"""One fit of a model on one split: its error, its CPU seconds, and how far its equations hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.measuring import measured
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.samples import draw_sample
from benchmarks.paper.work import evaluate
from benchmarks.peers.experiments import DATA
from benchmarks.readable.models import build
from benchmarks.runs import Runs
from lifenet.explain import equation_fidelity, explain_rows

if TYPE_CHECKING:
    from benchmarks.paper.samples import Sample

REACH, NEAR = 0.05, 0.02
#: The sets of `scripts/bench peers`, small ones first; all are right on mushroom.
SETS = tuple(name for name in sorted(DATA, key=lambda one: DATA[one].n_rows) if name != "mushroom")
FITS = Runs(
    "readable-fits.csv",
    ("error", "cpu", "one", "together", "near", "columns", "neurons"),
)
SEEDS = Runs("readable-seeds.csv", ("first_reason", "slope_signs"))
#: Rows of which two seeds are asked for reasons.
_FEW = 300


def fit(label: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Error, seconds and fidelity of a model on a split; the fidelity of the first split alone."""
    task, sample = DATA[data].task, draw_sample(DATA[data], seed)
    model = build(label, task, seed)
    used = measured(lambda: model.fit(sample.X, sample.y))
    regression = task == REGRESSION
    output = model.predict(sample.X_test) if regression else _probability(model, sample)
    found = {
        "part": label,
        "data": data,
        "seed": seed,
        "error": evaluate(sample, output, task)[0],
        "cpu": used["cpu"],
        "neurons": model.network_.n_neurons,
        **dict.fromkeys(("one", "together", "near", "columns"), np.nan),
    }
    return [found | (fidelities(model, sample) if seed == 0 else {})]


def _probability(model: Any, sample: Sample) -> Any:
    return model.predict_proba(sample.X_test)[:, 1]


def fidelities(model: Any, sample: Sample) -> dict[str, float]:
    """Of unseen rows: slopes of windows at a reach of .05, and of the rows themselves at .02."""
    rows = np.asarray(sample.X_test, dtype=np.float64)
    window = equation_fidelity(model, rows, reach=REACH)
    near = equation_fidelity(model, rows, reach=NEAR, slopes="pointwise")
    return {
        "one": window.one[0],
        "together": window.together[0],
        "near": near.one[0],
        "columns": window.n_columns[0],
    }


def agreement(label: str, data: str, seed: int) -> list[dict[str, Any]]:
    """How often two seeds give the same first reason, and the same sign of a slope at a reach."""
    sample = draw_sample(DATA[data], seed)
    models = [build(label, DATA[data].task, one).fit(sample.X, sample.y) for one in (0, 1)]
    X, rows = (
        np.asarray(one, dtype=np.float64) for one in (sample.X[:4_000], sample.X_test[:_FEW])
    )
    both = [explain_rows(one, rows, X=X) for one in models]
    first = [[np.abs(row.parts).argmax() for row in one] for one in both]
    slopes = [np.array([row.slopes for row in one]) for one in both]
    seen = (slopes[0] != 0) & (slopes[1] != 0)
    same = np.sign(slopes[0][seen]) == np.sign(slopes[1][seen])
    found = {"first_reason": float(np.mean(np.equal(*first))), "slope_signs": float(same.mean())}
    return [{"part": label, "data": data, "seed": seed, **found}]
