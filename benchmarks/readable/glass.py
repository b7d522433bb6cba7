"""Preset "glass", and sums of single columns, beside explainable boosting machines and pyGAM."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import time
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import RESULTS
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.samples import draw_sample
from benchmarks.paper.work import evaluate
from benchmarks.peers.experiments import DATA, FILE
from benchmarks.readable.models import ADDITIVE, DEFAULT, GLASS, build
from benchmarks.readable.work import FITS, SETS, fit
from benchmarks.runs import Runs
from lifenet import LIFERegressor
from lifenet.explain import decompose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.bars import Bars

EBM, GAM = "EBM, no interactions", "pyGAM"
PARTS = Runs("readable-parts.csv", ("pairs", "most"))
SUMS = Runs("readable-sums.csv", ("gap", "beyond"))
ADDITIVES = Runs("readable-additive.csv", ("error", "cpu"))
SPEED = Runs("readable-speed.csv", ("seconds",))
EXACT = [
    *(sys.executable, "-m", "pytest", "-q"),
    *("tests/test_decompose.py", "tests/test_broken_lines.py", "tests/test_interaction_cst.py"),
]
#: The set on which parts are summed, rows there, and share of cells beyond the training values.
SUM_SET, _ROWS, _BEYOND = "california_housing", 1_000_000, 0.05
_BLOCK = 20_000
#: Seconds after which a search of pyGAM is killed.
_MOST_SECONDS = 600


def count_pairs(data: str, seed: int) -> list[dict[str, Any]]:
    """Pairs of "glass", and those that an explainable boosting machine takes by default."""
    sample = draw_sample(DATA[data], seed)
    model = build(GLASS, DATA[data].task, seed).fit(sample.X, sample.y)
    p = np.shape(sample.X)[1]
    pairs = sum(len(group) == 2 for group in model.interaction_cst_)
    found = {"pairs": pairs, "most": min(3 * p, p * (p - 1) // 2)}
    return [{"part": GLASS, "data": data, "seed": seed, **found}]


def sum_of_parts(data: str, seed: int) -> list[dict[str, Any]]:
    """Largest gap of parts and scores over rows of which every column is drawn by itself.

    It is over the score or its deviation, whichever is larger.
    """
    sample = draw_sample(DATA[data], seed)
    model = build(GLASS, DATA[data].task, seed).fit(sample.X, sample.y)
    X = np.asarray(sample.X, dtype=np.float64)
    found, generator = decompose(model, X), np.random.default_rng(seed)
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    largest, n_beyond = 0.0, 0
    for _ in range(_ROWS // _BLOCK):
        shape = (_BLOCK, X.shape[1])
        rows = np.take_along_axis(X, generator.integers(0, len(X), shape), axis=0)
        beyond = generator.random(shape) < _BEYOND
        rows = np.where(beyond, low + span * generator.uniform(-1, 2, shape), rows)
        score = model.network_.score(rows)[:, 0]
        gap = np.abs(found.parts(rows).sum(axis=1) - score)
        largest = max(largest, float(np.max(gap / np.maximum(np.abs(score), found.deviation))))
        n_beyond += int(np.any((rows < low) | (rows > low + span), axis=1).sum())
    return [{"part": GLASS, "data": data, "seed": seed, "gap": largest, "beyond": n_beyond}]


def additive_boosting(data: str, seed: int) -> list[dict[str, Any]]:
    """Error and CPU seconds of an explainable boosting machine without interactions."""
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    task, sample = DATA[data].task, draw_sample(DATA[data], seed)
    regression = task == REGRESSION
    kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
    model = kind(interactions=0, n_jobs=1, random_state=seed)
    cpu = measured(lambda: model.fit(sample.X, sample.y))["cpu"]
    output = model.predict(sample.X_test) if regression else model.predict_proba(sample.X_test)
    error = evaluate(sample, output if regression else output[:, 1], task)[0]
    return [{"part": EBM, "data": data, "seed": seed, "error": error, "cpu": cpu}]


def additive_model(data: str, seed: int) -> list[dict[str, Any]]:
    """Error and CPU seconds of pyGAM's grid search; NaN where it fails or takes too long."""
    command = [sys.executable, "-m", "benchmarks.readable.gam", data, str(seed)]
    found = {"error": np.nan, "cpu": np.nan}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_MOST_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    else:
        if done.returncode == 0:
            found = json.loads(done.stdout.splitlines()[-1])
    return [{"part": GAM, "data": data, "seed": seed, **found}]


def seconds_of_parts(data: str, seed: int) -> list[dict[str, Any]]:
    """CPU seconds in which the default with 20 columns is decomposed."""
    train = FUNCTIONS[data].rows(20_000, 20, seed)
    model = LIFERegressor(random_state=0).fit(train.X, train.y)
    begun = time.process_time()
    decompose(model, train.X)
    found = {"seconds": time.process_time() - begun}
    return [{"part": DEFAULT, "data": data, "seed": seed, **found}]


def boosting_before() -> dict[tuple[str, int], dict[str, Any]]:
    """Records of explainable boosting machines by default, by set and split."""
    found = {}
    for line in (RESULTS / FILE).read_text().splitlines():
        record = json.loads(line)
        about = (record.get("kind"), record.get("table"), record.get("model"))
        if about == ("fit", "default", "EBM") and record.get("error") is not None:
            found[record["data"], record["seed"]] = record
    return found


def glasses(bars: Bars, splits: Mapping[str, list[int]]) -> None:
    """Error, seconds and pairs of "glass" beside boosting machines and the default.

    Parameters
    ----------
    splits : of each set
    """
    jobs = [(data, seed) for data in SETS for seed in splits[data]]
    FITS.run_missing(GLASS, jobs, partial(fit, GLASS))
    FITS.run_missing(DEFAULT, jobs, partial(fit, DEFAULT))
    rows, known = FITS.read(GLASS), boosting_before()
    bars.note(f"glass: {len(rows)} runs, measured at {_commits(rows)}")
    theirs = {key: (one["error"], one["cpu"]) for key, one in known.items()}
    error, seconds = _over(rows, theirs)
    what = f"glass: error over that of EBM, geometric mean of {len(error)} sets"
    bars.at_most(what, _geometric(error), 0.97, ".3f")
    lower = sum(one < 1 for one in error.values())
    bars.at_least(f"glass: sets of {len(error)} with a lower error than EBM", lower, 13, "d")
    bars.note(f"glass: error over that of EBM: {_listed(error)}")
    what = "glass: CPU seconds over those of EBM"
    bars.at_most(f"{what}, geometric mean", _geometric(seconds), 0.1, ".3f")
    most = max(seconds, key=seconds.__getitem__, default="")
    bars.at_most(f"{what}, largest ({most})", seconds.get(most, np.nan), 0.1, ".3f")
    bars.note(f"{what}: {_listed(seconds)}")
    ours = {(one["data"], one["seed"]): (one["error"], one["cpu"]) for one in FITS.read(DEFAULT)}
    error, _ = _over(rows, ours)
    bars.at_most("glass: error over the default's, geometric mean", _geometric(error), 1.04, ".3f")
    bars.note(f"glass: error over the default's: {_listed(error)}")
    _pairs_and_sums(bars)


def _pairs_and_sums(bars: Bars) -> None:
    PARTS.run_missing(GLASS, [(data, 0) for data in SETS], count_pairs)
    rows = PARTS.read(GLASS)
    too_many = [row["data"] for row in rows if row["pairs"] > row["most"]]
    bars.at_most(f"glass: sets of {len(rows)} with more pairs than EBM", len(too_many), 0, "d")
    listed = [f"{row['data']} {row['pairs']:.0f} of {row['most']:.0f}" for row in rows]
    bars.note(f"glass: pairs, of those that EBM takes: {', '.join(listed)}")
    SUMS.run_missing(GLASS, [(SUM_SET, 0)], sum_of_parts)
    for row in SUMS.read(GLASS):
        what = f"{row['data']}: largest relative gap of parts and scores, {_ROWS:,} rows"
        bars.at_most(what, row["gap"], 1e-9, ".1e")
        bars.note(f"{row['data']}: {row['beyond']:,.0f} of these rows are beyond the data")


def additives(bars: Bars) -> None:
    """Sums of single columns beside boosting machines without interactions and pyGAM."""
    jobs = [(data, 0) for data in SETS]
    FITS.run_missing(ADDITIVE, jobs, partial(fit, ADDITIVE))
    for part, work in ((EBM, additive_boosting), (GAM, additive_model)):
        if part == GAM and importlib.util.find_spec("pygam") is None:
            bars.note("pyGAM is not installed; what is kept of it is reported")
        else:
            ADDITIVES.run_missing(part, jobs, work)
        rows = ADDITIVES.read(part)
        theirs = {
            (one["data"], one["seed"]): (one["error"], one["cpu"])
            for one in rows
            if np.isfinite(one["error"])
        }
        error, seconds = _over(FITS.read(ADDITIVE), theirs)
        what = f"no interactions: error over that of {part}, geometric mean of {len(error)} sets"
        bars.at_most(what, _geometric(error), 1.0, ".3f")
        bars.note(f"no interactions: error over that of {part}: {_listed(error)}")
        bars.note(f"no interactions: CPU seconds over those of {part}: {_listed(seconds)}")
        left_out = [one["data"] for one in rows if not np.isfinite(one["error"])]
        if left_out:
            bars.note(f"{part}: none within {_MOST_SECONDS} s, or an error: {', '.join(left_out)}")


def speeds(bars: Bars) -> None:
    """How long functional ANOVA of the default takes."""
    SPEED.run_missing(DEFAULT, [("mixed", 0)], seconds_of_parts)
    for row in SPEED.read(DEFAULT):
        what = "functional ANOVA of the default, 20 columns, CPU seconds"
        bars.at_most(what, row["seconds"], 60, ".1f")


def exact(bars: Bars) -> None:
    """Parts against scores, and networks that keep columns apart."""
    bars.runs_tests("parts sum to scores, and columns are kept apart", EXACT)


def _over(
    rows: Iterable[dict[str, Any]], others: Mapping[tuple[str, int], tuple[float, float]]
) -> tuple[dict[str, float], dict[str, float]]:
    """Mean error and CPU seconds over those of others on the same splits, for each set."""
    both: dict[str, list[Any]] = defaultdict(list)
    for row in rows:
        known = others.get((row["data"], row["seed"]))
        if known is not None:
            both[row["data"]].append(((row["error"], row["cpu"]), known))
    ratios = {data: np.divide(*np.mean(pairs, axis=0)) for data, pairs in both.items()}
    error, cpu = ({data: float(one[k]) for data, one in ratios.items()} for k in range(2))
    return error, cpu


def _geometric(ratios: Mapping[str, float]) -> float:
    return float(np.exp(np.mean(np.log([*ratios.values()])))) if ratios else np.nan


def _listed(values: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _commits(rows: Iterable[dict[str, Any]]) -> str:
    return ", ".join(sorted({row["commit"] for row in rows})) or "no commit"
