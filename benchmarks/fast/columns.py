"""Growth of the seconds of a fit with the number of columns, ten of which matter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import exponent, median_of, sources
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import LIFE, REGRESSION, build
from benchmarks.fast.records import Job, repeated

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "columns"
COLUMNS = (10, 30, 100, 300)
N_ROWS = 5_000
LIMIT = 1.2


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """All widths in turn; three times those that are quick."""
    columns, rows = ((10, 20), 150) if smoke else (COLUMNS, N_ROWS)
    more = {"quick": True} if smoke else {}
    firsts = [Job.of(PART, model=LIFE, rows=rows, columns=p, repeat=0, **more) for p in columns]
    return repeated(known, firsts, n=1) if smoke else repeated(known, firsts)


def measure(about: dict[str, Any]) -> Record:
    """One fit."""
    rows = FUNCTIONS["mixed"].rows(about["rows"], about["columns"], 0)
    model = build(LIFE, REGRESSION, 0, quick=about.get("quick", False))
    found = measured(lambda: model.fit(rows.X, rows.y))
    return {**found, "neurons": int(model.network_.n_neurons)}


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """The exponent over all widths."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    widths = dict.fromkeys(job["columns"] for job in jobs)
    seconds = {p: median_of(known, [job for job in jobs if job["columns"] == p]) for p in widths}
    points = {p: one for p, one in seconds.items() if not np.isnan(one)}
    found = exponent(list(points), list(points.values()))
    what = f"{LIFE}, {N_ROWS:,} rows: exponent of CPU seconds in the columns, 10 to 300"
    bars.most(what, found, LIMIT, known.missing(jobs), ".3f")
    if points:
        told = ", ".join(f"{p}: {one:.1f}" for p, one in points.items())
        bars.note(f"CPU seconds by columns: {told}")
