"""Learning curves: errors to a known truth from 5,000 to a million rows, and the growth of time.

The rows of a seed are nested over the sizes, and tested on the same rows. Boosted trees have as
many rounds as a tenth of the rows asks for.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import Paired, exponent, paired, sources
from benchmarks.fast.made import FUNCTIONS, rmse
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import (
    CAP,
    CATBOOST,
    LIFE,
    LIGHTGBM,
    REGRESSION,
    EarlyStopped,
    build,
)
from benchmarks.fast.records import Job

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "curves"
#: Functions of made-up rows, and the columns of each: with "noise", twenty do not matter.
CURVES = {"smooth": ("smooth", 10), "jumps": ("jumps", 10), "noise": ("smooth", 30)}
#: Sizes, and how many seeds each has.
SIZES = {
    5_000: 5,
    12_000: 5,
    30_000: 5,
    60_000: 5,
    180_000: 3,
    420_000: 2,
    1_000_000: 2,
}
_SMOKE_SIZES = {120: 1, 240: 1}
_SMOKE_CURVES = ("smooth",)
PEERS = (LIGHTGBM, CATBOOST)
MODELS = (LIFE, *PEERS)
N_TEST = 20_000
#: Size from which the exponent of time is computed, and its limit.
LARGE, EXPONENT = 60_000, 1.25
#: Wall seconds that a process may take; peers end their rounds earlier.
_TIMEOUT = 4 * 3600.0


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """Sizes ascending, so that the first results are there early."""
    return [
        job
        for size in _sizes(smoke)
        for function in _functions(smoke)
        for seed in range(_sizes(smoke)[size])
        for job in (_job(model, function, size, seed, smoke) for model in MODELS)
    ]


def _sizes(smoke: bool) -> dict[int, int]:
    return _SMOKE_SIZES if smoke else SIZES


def _functions(smoke: bool) -> tuple[str, ...]:
    return _SMOKE_CURVES if smoke else tuple(CURVES)


def _job(model: str, function: str, size: int, seed: int, smoke: bool) -> Job:
    timeout = _TIMEOUT if model == LIFE else CAP + 1200
    more = {"quick": True} if smoke else {}
    return Job.of(PART, timeout, model=model, function=function, size=size, seed=seed, **more)


def _jobs(model: str, function: str, size: int, smoke: bool) -> list[Job]:
    """All seeds of a cell."""
    return [_job(model, function, size, seed, smoke) for seed in range(_sizes(smoke)[size])]


def measure(about: dict[str, Any]) -> Record:
    """One fit, and the distance of its predictions from the truth on fresh rows."""
    name, columns = CURVES[about["function"]]
    seed, quick = about["seed"], about.get("quick", False)
    rows = FUNCTIONS[name].rows(about["size"], columns, seed)
    if about["model"] == LIFE:
        model = build(LIFE, REGRESSION, seed, quick=quick)
    else:
        model = EarlyStopped(about["model"], seed, quick)
    found = measured(lambda: model.fit(rows.X, rows.y))
    told = {"neurons": int(model.network_.n_neurons)} if about["model"] == LIFE else model.told()
    test = FUNCTIONS[name].rows(N_TEST, columns, seed, test=True)
    return {**found, **told, "error": rmse(model.predict(test.X), test.truth)}


def errors_of(known: Known, jobs: list[Job]) -> dict[int, float]:
    """Errors by seed of those on record."""
    return {job["seed"]: known.figure(job, "error") for job in jobs if known.get(job) is not None}


def change(ours: dict[int, float], theirs: dict[int, float]) -> Paired | None:
    """Our errors less theirs on the seeds that both have; None without any."""
    seeds = sorted(ours.keys() & theirs.keys())
    if not seeds:
        return None
    return paired([ours[seed] for seed in seeds], [theirs[seed] for seed in seeds])


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Steps that rise, cells in which a peer is better, and exponents of time."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    _step_bar(bars, known, smoke)
    _peer_bar(bars, known, smoke)
    _exponent_bar(bars, known, smoke)
    for function in _functions(smoke):
        _note_curve(bars, known, function, smoke)
    capped = [str(job) for job in jobs if (known.get(job) or {}).get("capped")]
    if capped:
        bars.note(f"boosting that {CAP / 60:.0f} minutes ended: {'; '.join(capped)}")


def _step_bar(bars: FastBars, known: Known, smoke: bool) -> None:
    risen, n_steps, sizes = [], 0, list(_sizes(smoke))
    jobs = [job for job in plan(known, smoke=smoke) if job["model"] == LIFE]
    for function in _functions(smoke):
        cells = {size: errors_of(known, _jobs(LIFE, function, size, smoke)) for size in sizes}
        for small, large in pairwise(sizes):
            step = change(cells[large], cells[small])
            n_steps += step is not None
            if step is not None and step.exceeds():
                risen.append(f"{function} {small:,} to {large:,}")
    what = f"{LIFE}: steps of {n_steps} at which the error rises by more than two standard errors"
    named = f" ({'; '.join(risen)})" if risen else ""
    figure = len(risen) if n_steps else np.nan
    bars.most(f"{what}{named}", figure, 0, known.missing(jobs), ".0f")


def _peer_bar(bars: FastBars, known: Known, smoke: bool) -> None:
    beaten, n_cells = [], 0
    for function in _functions(smoke):
        for size in _sizes(smoke):
            ours = errors_of(known, _jobs(LIFE, function, size, smoke))
            others = [errors_of(known, _jobs(peer, function, size, smoke)) for peer in PEERS]
            found = against_better(ours, others)
            n_cells += found is not None
            if found is not None and found.exceeds():
                beaten.append(f"{function} {size:,}")
    what = f"{LIFE}: of {n_cells} functions and sizes, those with an error above the better peer's"
    named = f" ({'; '.join(beaten)})" if beaten else ""
    missing = known.missing(plan(known, smoke=smoke))
    figure = len(beaten) if n_cells else np.nan
    bars.most(f"{what} by more than two standard errors{named}", figure, 0, missing, ".0f")


def against_better(ours: dict[int, float], others: list[dict[int, float]]) -> Paired | None:
    """Our errors less those of the peer with the lower mean, on the seeds that all have."""
    seeds = set(ours).intersection(*others)
    if not seeds:
        return None
    shared = [{seed: one[seed] for seed in seeds} for one in others]
    better = min(shared, key=lambda one: sum(one.values()))
    return change(ours, better)


def _exponent_bar(bars: FastBars, known: Known, smoke: bool) -> None:
    sizes = [size for size in _sizes(smoke) if smoke or size >= LARGE]
    found, jobs = {}, []
    for function in _functions(smoke):
        cells = {size: _jobs(LIFE, function, size, smoke) for size in sizes}
        jobs += [job for some in cells.values() for job in some]
        means = {size: _mean_seconds(known, some) for size, some in cells.items()}
        points = {size: one for size, one in means.items() if not np.isnan(one)}
        found[function] = exponent(list(points), list(points.values()))
        if points:
            told = ", ".join(f"{size:,}: {one:.1f}" for size, one in points.items())
            bars.note(f"{function}, CPU seconds of {LIFE}: {told}")
    what = f"{LIFE}: exponent of CPU seconds from {sizes[0]:,} rows on, largest of {len(found)}"
    largest = float(np.max(list(found.values())))
    bars.most(f"{what} functions", largest, EXPONENT, known.missing(jobs), ".3f")


def _mean_seconds(known: Known, jobs: list[Job]) -> float:
    """Geometric mean over seeds; NaN where none is on record."""
    found = [known.figure(job, "cpu") for job in jobs if known.get(job) is not None]
    return float(np.exp(np.mean(np.log(found)))) if found else np.nan


def _note_curve(bars: FastBars, known: Known, function: str, smoke: bool) -> None:
    """Mean errors of all models, size by size."""
    parts = []
    for size in _sizes(smoke):
        cells = [errors_of(known, _jobs(model, function, size, smoke)) for model in MODELS]
        told = " / ".join(f"{np.mean(list(c.values())):.4g}" if c else "-" for c in cells)
        parts += [f"{size:,}: {told}"] if any(cells) else []
    if parts:
        names = " / ".join(MODELS)
        bars.note(f"{function}, RMSE to the truth of {names}: {'; '.join(parts)}")
