"""`time_limit`: wall seconds of limited fits of every preset.

A fit without a limit comes first. Limits of more than twice its seconds are not tried: nothing
would be cut short.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import sources
from benchmarks.fast.models import BEST, LIFE, PAPER, SMALL
from benchmarks.fast.real import fit_split
from benchmarks.fast.records import Job

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "time_limit"
#: Small and large, of both tasks, with few columns and with many.
SETS = (
    "abalone",
    "mushroom",
    "bike_sharing",
    "taiwan_credit",
    "casp",
    "give_me_some_credit",
)
PRESETS = (PAPER, LIFE, BEST, SMALL)
LIMITS = (3.0, 10.0, 60.0)
#: What a fit may take: a share of the limit more, and some seconds.
SHARE, SECONDS = 0.2, 1.0
#: Limits up to so many times the seconds of a fit without one are tried.
_FAR = 2.0


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """Without a limit, then with those that may cut it short."""
    sets = SETS[:1] if smoke else SETS
    presets = PRESETS[:1] if smoke else PRESETS
    return [job for data in sets for model in presets for job in _jobs(known, data, model, smoke)]


def _jobs(known: Known, data: str, model: str, smoke: bool) -> list[Job]:
    more = {"max_rows": 150} if smoke else {}
    natural = Job.of(PART, 7200.0, model=model, data=data, limit=None, **more)
    limits: tuple[float, ...] = (0.2,) if smoke else LIMITS
    if known.get(natural) is not None:
        longest = _FAR * known.figure(natural, "wall")
        limits = tuple(one for one in limits if one <= longest)
    timed = [
        Job.of(PART, 600 + 10 * one, model=model, data=data, limit=one, **more) for one in limits
    ]
    return [natural, *timed]


def measure(about: dict[str, Any]) -> Record:
    """One fit of the first split, and its error."""
    return fit_split(about, time_limit=about["limit"])


def excess(limit: float, wall: float) -> float:
    """Wall seconds beyond what a fit with that limit may take; negative within it."""
    return wall - ((1 + SHARE) * limit + SECONDS)


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """How many fits take too long, and by how much the longest."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    limited = [job for job in jobs if job["limit"] is not None]
    found = {
        str(job): excess(job["limit"], known.figure(job, "wall"))
        for job in limited
        if known.get(job) is not None
    }
    missing = known.missing(jobs)
    late = {name: one for name, one in found.items() if one > 0}
    what = f"fits of {len(found)} whose time_limit is not kept within 20 % plus one second"
    bars.most(what, len(late) if found else np.nan, 0, missing, ".0f")
    worst = max(found, key=found.__getitem__, default="none")
    what = f"largest excess over time_limit, 20 % and one second, seconds ({worst})"
    bars.most(what, found.get(worst, np.nan), 0.0, missing, ".2f")
    if late:
        bars.note(f"seconds too many: {'; '.join(f'{k}: {v:.1f}' for k, v in late.items())}")
    n_all = sum(job["limit"] is None for job in jobs) * (1 if smoke else len(LIMITS))
    n_far = n_all - len(limited)
    bars.note(f"limits of {n_all} that are far above the seconds of a fit, and not tried: {n_far}")
