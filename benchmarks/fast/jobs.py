"""Wall seconds of the default with two jobs, and whether its predictions are the same."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import median_of, sources
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import LIFE, REGRESSION, build
from benchmarks.fast.records import Job, repeated

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "jobs"
N_ROWS, N_COLUMNS, N_TEST = 20_000, 10, 5_000
LIMIT = 1.7
#: Fits with each number of jobs: a ratio of wall seconds, which other work on the machine moves by
#: a tenth, asks for more than three.
N_REPEATS = 7


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """One job and two in turn."""
    rows, more = (150, {"quick": True}) if smoke else (N_ROWS, {})
    about: dict[str, Any] = {"rows": rows, "columns": N_COLUMNS, "repeat": 0, **more}
    firsts = [Job.of(PART, model=LIFE, n_jobs=n, **about) for n in (1, 2)]
    return repeated(known, firsts, n=1 if smoke else N_REPEATS)


def measure(about: dict[str, Any]) -> Record:
    """One fit, and a hash of its predictions."""
    function, columns = FUNCTIONS["mixed"], about["columns"]
    rows = function.rows(about["rows"], columns, 0)
    quick = about.get("quick", False)
    model = build(LIFE, REGRESSION, 0, quick=quick, n_jobs=about["n_jobs"])
    found = measured(lambda: model.fit(rows.X, rows.y))
    prediction = model.predict(function.rows(N_TEST, columns, 0, test=True).X)
    digest = hashlib.sha256(np.ascontiguousarray(prediction).tobytes()).hexdigest()
    return {**found, "prediction": digest[:16]}


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """The ratio of wall seconds, and predictions that differ."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    missing = known.missing(jobs)
    one, two = (
        median_of(known, [job for job in jobs if job["n_jobs"] == n], "wall") for n in (1, 2)
    )
    what = f"{LIFE}, {N_ROWS:,} x {N_COLUMNS}: wall seconds with n_jobs=1 over n_jobs=2"
    bars.least(what, one / two, LIMIT, missing, ".2f")
    found = {job: record["prediction"] for job in jobs if (record := known.get(job)) is not None}
    first = next(iter(found.values()), None)
    n_others = sum(digest != first for digest in found.values()) if found else np.nan
    what = f"fits of {len(found)} whose predictions differ in a bit from the first's"
    bars.most(what, n_others, 0, missing, ".0f")
    loads = [record["load"] for job in jobs if (record := known.get(job)) is not None]
    if loads:
        told = f"wall seconds {one:.1f} with one job and {two:.1f} with two"
        bars.note(f"{told}; load of the machine before a fit {max(loads):.2f} at the most")
