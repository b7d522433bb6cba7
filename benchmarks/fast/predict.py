"""Predictions over LightGBM's, the time of one row, and what all equations cost.

Each preset is fitted beside LightGBM in one process, and predictions are taken in turn.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import sources
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured, medians, seconds_of
from benchmarks.fast.models import BEST, LIFE, LIGHTGBM, REGRESSION, SMALL, build
from benchmarks.fast.records import Job

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "predict"
COLUMNS = (10, 26)
#: Limits of seconds over LightGBM's, of milliseconds of one row, and of prediction passes.
RATIOS = {LIFE: 5.0, BEST: 25.0, SMALL: 2.0}
MILLISECONDS = {LIFE: 2.0, SMALL: 0.3}
PASSES = 3.2
N_TRAIN, N_PREDICTED, N_EQUATIONS, CHUNK = 20_000, 10_000, 1_000_000, 100_000
#: Predictions of which the median is taken, of many rows and of one; chosen by hand.
REPEATS, SINGLE_REPEATS = 7, 200


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """Predictions of all presets, then equations of the default."""
    columns, presets = (COLUMNS[:1], (LIFE, SMALL)) if smoke else (COLUMNS, tuple(RATIOS))
    return [*(_job(one, p, smoke) for p in columns for one in presets), _equations_job(smoke)]


def _job(model: str, columns: int, smoke: bool) -> Job:
    rows = {"rows": 150, "predicted": 300, "quick": True} if smoke else {"rows": N_TRAIN}
    return Job.of(PART, what="prediction", model=model, columns=columns, **rows)


def _equations_job(smoke: bool) -> Job:
    rows = {"rows": 150, "predicted": 1_000, "quick": True} if smoke else {"rows": N_TRAIN}
    timeout = 4 * 3600.0
    return Job.of(PART, timeout, what="equations", model=LIFE, columns=COLUMNS[0], **rows)


def measure(about: dict[str, Any]) -> Record:
    """Predictions of a preset, or equations of the default."""
    quick = about.get("quick", False)
    train = FUNCTIONS["mixed"].rows(about["rows"], about["columns"], 0)
    model = build(about["model"], REGRESSION, 0, quick=quick)
    found = measured(lambda: model.fit(train.X, train.y))
    if about["what"] == "equations":
        return {**found, **_equations(model, about)}
    peer = build(LIGHTGBM, REGRESSION, 0, quick=quick).fit(train.X, train.y)
    n_rows = about.get("predicted", N_PREDICTED)
    X = FUNCTIONS["mixed"].rows(n_rows, about["columns"], 0, test=True).X
    works = (partial(one.predict, X) for one in (model, peer))
    ours, theirs = medians(*works, repeats=2 if quick else REPEATS)
    return {
        **found,
        "ours": ours,
        "theirs": theirs,
        "ratio": ours / theirs,
        "one_row_ms": one_row(model, X),
        "peer_one_row_ms": one_row(peer, X),
        "neurons": int(model.network_.n_neurons),
    }


def one_row(model: Any, X: Any) -> float:
    """Median wall milliseconds of the prediction of a single row."""
    seconds = []
    for index in range(SINGLE_REPEATS):
        row = X[index % len(X)][None].copy()
        begun = time.perf_counter()
        model.predict(row)
        seconds.append(time.perf_counter() - begun)
    return 1e3 * float(np.median(seconds))


def _equations(model: Any, about: dict[str, Any]) -> Record:
    """All equations over one prediction pass on the same rows, chunk by chunk in turn."""
    n_rows = about.get("predicted", N_EQUATIONS)
    X = FUNCTIONS["mixed"].rows(n_rows, about["columns"], 0, test=True).X
    passes = equations = 0.0
    for rows in np.array_split(X, max(n_rows // CHUNK, 2)):
        passes += seconds_of(partial(model.predict, rows))
        equations += seconds_of(partial(model.network_.equation, rows))
    return {"pass": passes, "equations": equations, "ratio": equations / passes}


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Ratios, milliseconds and passes."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    for job in jobs:
        missing, model = known.missing([job]), job["model"]
        if job["what"] == "equations":
            what = f"{model}: all equations of {N_EQUATIONS:,} rows x {job['columns']}"
            bars.most(
                f"{what} in prediction passes", known.figure(job, "ratio"), PASSES, missing, ".2f"
            )
            continue
        what = f"{model}: prediction of {N_PREDICTED:,} rows x {job['columns']} over LightGBM's"
        bars.most(what, known.figure(job, "ratio"), RATIOS[model], missing, ".2f")
        if model in MILLISECONDS:
            what = f"{model}: prediction of one row x {job['columns']}, milliseconds"
            limit = MILLISECONDS[model]
            bars.most(what, known.figure(job, "one_row_ms"), limit, missing, ".3f")
        found = known.get(job)
        if found is not None:
            bars.note(
                f"{model} x {job['columns']}: {found['neurons']:,} neurons, CPU seconds "
                f"{found['ours']:.3f}, LightGBM {found['theirs']:.3f}; one row "
                f"{found['one_row_ms']:.3f} ms, LightGBM {found['peer_one_row_ms']:.3f} ms"
            )
