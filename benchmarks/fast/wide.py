"""Many columns of which twenty matter: seconds, memory and error beside boosted trees."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import median_of, sources
from benchmarks.fast.made import FUNCTIONS, rmse
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import CATBOOST, LIFE, LIGHTGBM, REGRESSION, build
from benchmarks.fast.records import Job, repeated

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "wide"
#: Rows and columns of each table.
SHAPES = {"normals": (2_000, 1_000), "binary": (4_000, 1_776)}
MODELS = (LIFE, CATBOOST, LIGHTGBM)
N_TEST = 5_000
#: Limits: seconds over CatBoost's, MB of the peak, error over the better peer's.
TIMES, PEAK, ERROR = 10.0, 3000.0, 1.05


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """All models on all tables; three draws of those that are quick."""
    return [job for table in _tables(smoke) for job in _jobs(known, table, smoke)]


def _tables(smoke: bool) -> list[str]:
    return list(SHAPES)[:1] if smoke else list(SHAPES)


def _jobs(known: Known, table: str, smoke: bool) -> list[Job]:
    rows, columns = (120, 24) if smoke else SHAPES[table]
    more = {"quick": True} if smoke else {}
    about: dict[str, Any] = {"table": table, "rows": rows, "columns": columns, "seed": 0, **more}
    firsts = [Job.of(PART, model=model, **about) for model in MODELS]
    return repeated(known, firsts, "seed", 1) if smoke else repeated(known, firsts, "seed")


def measure(about: dict[str, Any]) -> Record:
    """One fit, and its error on fresh rows with noise."""
    function, seed = FUNCTIONS[about["table"]], about["seed"]
    train = function.rows(about["rows"], about["columns"], seed)
    model = build(about["model"], REGRESSION, seed, quick=about.get("quick", False))
    found = measured(lambda: model.fit(train.X, train.y))
    test = function.rows(N_TEST, about["columns"], seed, test=True)
    return {**found, "error": rmse(model.predict(test.X), test.y)}


def mean_errors(known: Known, jobs: list[Job]) -> dict[str, float]:
    """Mean error of each model over the draws that all have on record."""
    seeds = [{job["seed"] for job in jobs if job["model"] == m and known.get(job)} for m in MODELS]
    common = set.intersection(*seeds)
    errors: dict[str, list[float]] = {model: [] for model in MODELS}
    for job in jobs:
        if job["seed"] in common:
            errors[job["model"]].append(known.figure(job, "error"))
    return {model: float(np.mean(some)) if some else np.nan for model, some in errors.items()}


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Seconds, peaks and errors by table."""
    bars.note(f"{PART}: {sources(known, plan(known, smoke=smoke))}")
    for table in _tables(smoke):
        rows, columns = SHAPES[table]
        jobs = _jobs(known, table, smoke)
        by_model = {model: [job for job in jobs if job["model"] == model] for model in MODELS}
        name = f"{LIFE}, {rows:,} x {columns:,} {table}"
        seconds = {model: median_of(known, some) for model, some in by_model.items()}
        missing = known.missing([*by_model[LIFE], *by_model[CATBOOST]])
        ratio = seconds[LIFE] / seconds[CATBOOST]
        bars.most(f"{name}: CPU seconds over CatBoost's", ratio, TIMES, missing, ".2f")
        peaks = [known.figure(job, "peak_mb") for job in by_model[LIFE]]
        missing = known.missing(by_model[LIFE])
        bars.most(f"{name}: peak memory of fit, MB", max(peaks), PEAK, missing, ".0f")
        errors = mean_errors(known, jobs)
        better = min(errors[CATBOOST], errors[LIGHTGBM])
        what = f"{name}: error over the better of LightGBM and CatBoost"
        bars.most(what, errors[LIFE] / better, ERROR, known.missing(jobs), ".3f")
        if not np.isnan(better):
            told = (f"{model} {errors[model]:.4g} in {seconds[model]:.1f} s" for model in MODELS)
            bars.note(f"{rows:,} x {columns:,} {table}: RMSE and CPU seconds: {', '.join(told)}")
