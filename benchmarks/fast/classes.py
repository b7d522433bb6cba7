"""Fifty classes: CPU seconds and accuracy beside HistGradientBoosting."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import median_of, sources
from benchmarks.fast.measuring import measured
from benchmarks.fast.models import LIFE, TREES, build
from benchmarks.fast.records import Job, repeated

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "classes"
N_ROWS, N_COLUMNS, N_CLASSES = 5_000, 20, 50
#: Columns that tell classes apart, and how far apart they are: HistGradientBoosting is right on
#: four rows of five.
_N_INFORMATIVE, _SEPARATION = 15, 2.0
#: The larger of so many times HistGradientBoosting's seconds and so many seconds is the limit.
TIMES, SECONDS = 10.0, 60.0


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """Both models in turn; three draws where they are quick."""
    rows, classes = (150, 3) if smoke else (N_ROWS, N_CLASSES)
    about = {"rows": rows, "classes": classes, "seed": 0, **({"quick": True} if smoke else {})}
    firsts = [Job.of(PART, model=model, **about) for model in (LIFE, TREES)]
    return repeated(known, firsts, "seed", 1) if smoke else repeated(known, firsts, "seed")


def measure(about: dict[str, Any]) -> Record:
    """One fit, and its accuracy on as many fresh rows of the same draw."""
    from sklearn.datasets import make_classification

    n_rows, seed = about["rows"], about["seed"]
    X, y = make_classification(
        2 * n_rows,
        N_COLUMNS,
        n_informative=_N_INFORMATIVE,
        n_redundant=0,
        n_classes=about["classes"],
        n_clusters_per_class=1,
        class_sep=_SEPARATION,
        random_state=seed,
    )
    model = build(about["model"], "classification", seed, quick=about.get("quick", False))
    found = measured(lambda: model.fit(X[:n_rows], y[:n_rows]))
    return {**found, "accuracy": float(np.mean(model.predict(X[n_rows:]) == y[n_rows:]))}


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Seconds, and accuracies on the draws that both have."""
    jobs = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, jobs)}")
    missing = known.missing(jobs)
    ours, theirs = ([job for job in jobs if job["model"] == one] for one in (LIFE, TREES))
    seconds, others = median_of(known, ours), median_of(known, theirs)
    limit = SECONDS if np.isnan(others) else max(SECONDS, TIMES * others)
    what = f"{LIFE}, {N_CLASSES} classes, {N_ROWS:,} x {N_COLUMNS}: CPU seconds, the limit the"
    bars.most(f"{what} larger of 60 and 10 times {TREES}'s", seconds, limit, missing, ".1f")
    pairs = [
        (known.figure(one, "accuracy"), known.figure(one.but(model=TREES), "accuracy"))
        for one in ours
    ]
    pairs = [pair for pair in pairs if not np.isnan(pair).any()]
    mine, yours = np.mean(pairs, axis=0) if pairs else (np.nan, np.nan)
    what = f"{LIFE}, {N_CLASSES} classes: accuracy less {TREES}'s, draws {len(pairs)}"
    bars.least(what, float(mine - yours), 0.0, missing, ".4f")
    if pairs:
        told = f"accuracy {mine:.4f}, {TREES} {yours:.4f}; CPU seconds {seconds:.1f}"
        bars.note(f"{N_CLASSES} classes: {told}, {TREES} {others:.1f}")
