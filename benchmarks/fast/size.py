"""Bytes of a pickled default, and its peak memory above that just before the fit."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from benchmarks.fast.figures import sources
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import LIFE, REGRESSION, build
from benchmarks.fast.records import Job

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "size"
#: Limits by rows and columns: MB of the pickle, MB of the peak.
LIMITS: dict[tuple[int, int], dict[str, float]] = {
    (2_000, 20): {"pickle_mb": 8.0},
    (2_000, 300): {"pickle_mb": 12.0, "peak_mb": 600.0},
    (180_000, 10): {"peak_mb": 1200.0},
}
_SMOKE: dict[tuple[int, int], dict[str, float]] = {(150, 12): {"pickle_mb": 8.0, "peak_mb": 600.0}}
_WORDS = {"pickle_mb": "pickle, MB", "peak_mb": "peak memory above that just before fit, MB"}


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """One fit of each shape."""
    return [_job(*shape, smoke) for shape in (_SMOKE if smoke else LIMITS)]


def _job(rows: int, columns: int, smoke: bool) -> Job:
    more = {"quick": True} if smoke else {}
    return Job.of(PART, model=LIFE, rows=rows, columns=columns, **more)


def measure(about: dict[str, Any]) -> Record:
    """Seconds and peak of a fit, and bytes of the model."""
    rows = FUNCTIONS["mixed"].rows(about["rows"], about["columns"], 0)
    model = build(about["model"], REGRESSION, 0, quick=about.get("quick", False))
    found = measured(lambda: model.fit(rows.X, rows.y))
    return {
        **found,
        "pickle_mb": len(pickle.dumps(model)) / 1e6,
        "neurons": int(model.network_.n_neurons),
    }


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Pickles and peaks."""
    bars.note(f"{PART}: {sources(known, plan(known, smoke=smoke))}")
    for (rows, columns), limits in (_SMOKE if smoke else LIMITS).items():
        job = _job(rows, columns, smoke)
        for figure, limit in limits.items():
            what = f"{LIFE}, {rows:,} x {columns}: {_WORDS[figure]}"
            bars.most(what, known.figure(job, figure), limit, known.missing([job]), ".4g")
