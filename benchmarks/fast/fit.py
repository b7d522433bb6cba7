"""Fits on the sets of `scripts/bench peers`: seconds over CatBoost's, errors over those before.

Splits, error measures and CatBoost's settings are those of `scripts/bench peers`. What the errors
were before is read from its committed records, split by split.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from benchmarks.bars import RESULTS
from benchmarks.fast.figures import geometric, listed, median_of, paired, sources
from benchmarks.fast.models import BEST, CATBOOST, LIFE, REGRESSION
from benchmarks.fast.real import fit_split
from benchmarks.fast.records import Job, repeated

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "fit"
#: Limits of seconds over CatBoost's, and what they were before.
LIMITS = {LIFE: (3.0, "7.0"), BEST: (15.0, "about 50")}
#: Limit of the mean ratio of errors, and by how much more than two standard errors one may exceed.
MEAN_LIMIT, SET_MARGIN = 1.005, 0.02
#: What shrinks it: sets and rows, and no repeats.
_SMOKE_SETS, _SMOKE_ROWS = ("aquatic_toxicity",), 150

Errors = dict[tuple[str, str, int], "Record"]


@cache
def before() -> Errors:
    """Committed fits by model, set and seed: the default, and "best" as given."""
    from benchmarks.paper import records
    from benchmarks.peers.experiments import DEFAULT, FILE, TUNED

    tables = {LIFE: DEFAULT, BEST: TUNED}
    return {
        (one["model"], one["data"], one["seed"]): one
        for one in records.read(RESULTS / FILE)
        if one["kind"] == records.FIT and "failed" not in one
        if tables.get(one["model"]) == one["table"]
    }


def sets(*, smoke: bool = False) -> list[str]:
    """Names of the sets, small ones first."""
    from benchmarks.peers.experiments import DATA

    ordered = sorted(DATA.values(), key=lambda one: one.n_rows)
    return [one.name for one in ordered if not smoke or one.name in _SMOKE_SETS]


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """The first split of all sets with all models, then the default on the others."""
    jobs = [job for data in sets(smoke=smoke) for job in _timed(known, data, smoke)]
    return [*jobs, *(job for data in sets(smoke=smoke) for job in _others(data, smoke))]


def _timed(known: Known, data: str, smoke: bool) -> list[Job]:
    """Fits of the first split, taken in turn."""
    firsts = [_job(model, data, 0, smoke) for model in (LIFE, CATBOOST, BEST)]
    return repeated(known, firsts, n=1) if smoke else repeated(known, firsts)


def _others(data: str, smoke: bool) -> list[Job]:
    """Fits of the default on the other splits that are on record from before."""
    seeds = sorted(seed for model, name, seed in before() if (model, name) == (LIFE, data) and seed)
    return [_job(LIFE, data, seed, smoke) for seed in (seeds[:1] if smoke else seeds)]


def _job(model: str, data: str, seed: int, smoke: bool) -> Job:
    more = {"max_rows": _SMOKE_ROWS, "quick": True} if smoke else {}
    return Job.of(PART, model=model, data=data, seed=seed, repeat=0, **more)


def measure(about: dict[str, Any]) -> Record:
    """One fit: seconds, and the error on the test part."""
    return fit_split(about)


def loss_of(data: str, record: Mapping[str, Any]) -> float:
    """The figure of a split in ratios: RMSE, log-loss not below its floor, or 1 / AUC."""
    from benchmarks.peers.analysis import FLOOR
    from benchmarks.peers.experiments import BY_AUC, DATA

    if data in BY_AUC:
        return 1 / float(record["second"])
    floor = 0.0 if DATA[data].task == REGRESSION else FLOOR * record["null"]
    return max(float(record["error"]), floor)


class Change(NamedTuple):
    """Errors of a set after over before: ratio of means, and whether it is beyond the margin."""

    ratio: float
    worse: bool


def change_of(data: str, after: list[Record], earlier: list[Record]) -> Change:
    """How errors changed, from records of the same splits."""
    ours, theirs = ([loss_of(data, one) for one in some] for some in (after, earlier))
    scale = float(np.mean(theirs))
    relative = paired(np.divide(ours, scale).tolist(), np.divide(theirs, scale).tolist())
    return Change(1 + relative.mean, relative.exceeds(SET_MARGIN))


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Seconds over CatBoost's, then errors over those before."""
    bars.note(f"{PART}: {sources(known, plan(known, smoke=smoke))}")
    for model in LIMITS:
        _time_bar(bars, known, model, smoke)
    dates = sorted(one["date"][:10] for one in before().values())
    bars.note(f"errors before: fits of `scripts/bench peers`, {dates[0]} to {dates[-1]}")
    for model in LIMITS:
        _error_bars(bars, known, model, smoke)


def _time_bar(bars: FastBars, known: Known, model: str, smoke: bool) -> None:
    ratios, missing = {}, []
    for data in sets(smoke=smoke):
        jobs = [job for job in _timed(known, data, smoke) if job["model"] in (model, CATBOOST)]
        missing += known.missing(jobs)
        both = [[job for job in jobs if job["model"] == one] for one in (model, CATBOOST)]
        ours, theirs = (median_of(known, some) for some in both)
        if not np.isnan(ours / theirs):
            ratios[data] = ours / theirs
    limit, earlier = LIMITS[model]
    what = f"{model}: CPU seconds of a fit over CatBoost's, geometric mean of {len(ratios)} sets"
    bars.most(f"{what} (before {earlier})", geometric(ratios.values()), limit, missing, ".2f")
    if ratios:
        bars.note(f"{model}, seconds over CatBoost's: {listed(ratios, '.2f')}")


def _error_bars(bars: FastBars, known: Known, model: str, smoke: bool) -> None:
    changes, missing = {}, []
    for data in sets(smoke=smoke):
        others = _others(data, smoke) if model == LIFE else []
        jobs = [_job(model, data, 0, smoke), *others]
        missing += known.missing(jobs)
        after, earlier, unlike = _pairs(known, jobs)
        missing += [] if smoke else unlike
        if after:
            changes[data] = change_of(data, after, earlier)
    _change_bars(bars, model, changes, missing)


def _pairs(known: Known, jobs: list[Job]) -> tuple[list[Record], list[Record], list[str]]:
    """Records of fits and of the same fits before, and fits without such a record."""
    after, earlier, unlike = [], [], []
    for job in jobs:
        now, then = known.get(job), before().get((job["model"], job["data"], job["seed"]))
        if now is None:
            continue
        if then is None or (now["split"] != then["split"] and "max_rows" not in job.asked):
            unlike.append(f"{job} (no record of its split from before)")
            continue
        after.append(now)
        earlier.append(then)
    return after, earlier, unlike


def _change_bars(
    bars: FastBars, model: str, changes: dict[str, Change], missing: list[str]
) -> None:
    from benchmarks.peers.experiments import BY_AUC

    ratios = {data: one.ratio for data, one in changes.items()}
    means = [ratio for data, ratio in ratios.items() if data not in BY_AUC]
    what = f"{model}: error over before, geometric mean of {len(means)} sets"
    splits = "all splits" if model == LIFE else "one split"
    bars.most(f"{what}, {splits}", geometric(means), MEAN_LIMIT, missing, ".4f")
    if ratios:
        bars.note(f"{model}, error over before: {listed(ratios, '.4f')}")
    if model != LIFE:
        return
    worse = [data for data, one in changes.items() if one.worse]
    what = f"{model}: sets worse by more than 2 % beyond two standard errors"
    named = f" ({', '.join(worse)})" if worse else ""
    bars.most(f"{what}{named}", len(worse) if changes else np.nan, 0, missing, ".0f")
