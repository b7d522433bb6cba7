"""Runs that are done are kept in benchmarks/results/life-runs.csv: a long benchmark resumes.

Delete the file, or the lines of a part, to measure anew.
"""

from __future__ import annotations

import csv
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.bars import RESULTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PATH = RESULTS / "life-runs.csv"
# With `--kept` nothing is run: the bars are those of the runs kept, and what is missing is named.
KEPT_ONLY = "--kept" in sys.argv
MISSING: list[tuple[str, str, int]] = []
FIELDS = ["part", "data", "seed", "method", "error", "second", "seconds", "neurons", "setting"]


def read(part: str) -> list[dict[str, Any]]:
    """All rows of a part, figures as numbers."""
    if not PATH.exists():
        return []
    with PATH.open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["part"] == part]
    return [
        {
            **row,
            "seed": int(row["seed"]),
            **{name: float(row[name]) for name in ("error", "second", "seconds", "neurons")},
        }
        for row in rows
    ]


def add(rows: Iterable[dict[str, Any]]) -> None:
    """Append rows."""
    fresh = not PATH.exists()
    with PATH.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if fresh:
            writer.writeheader()
        writer.writerows(rows)


def row(part: str, data: str, seed: int, method: str, **figures: Any) -> dict[str, Any]:
    """A row; figures not given are nan."""
    blank = {"error": np.nan, "second": np.nan, "seconds": np.nan, "neurons": np.nan, "setting": ""}
    return {"part": part, "data": data, "seed": seed, "method": method, **blank, **figures}


def run_missing(part: str, jobs: list[tuple[str, int]], work: Callable[[str, int], Any]) -> None:
    """Run the jobs (data, seed) of which nothing is kept yet, two at a time, one thread each."""
    done = {(one["data"], one["seed"]) for one in read(part)}
    missing = [job for job in jobs if job not in done]
    if KEPT_ONLY:
        MISSING.extend((part, *job) for job in missing)
        return
    parallel = joblib.Parallel(n_jobs=2, return_as="generator_unordered")
    for rows in parallel(joblib.delayed(work)(*job) for job in missing):
        add(rows)
        print(f"  {part}: {rows[0]['data']}, seed {rows[0]['seed']} done", flush=True)


def by_method(rows: list[dict[str, Any]], data: str, field: str) -> dict[str, np.ndarray]:
    """Figures of every method on one set, in the order of the seeds."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for one in rows:
        if one["data"] == data:
            found[one["method"]].append((one["seed"], one[field]))
    return {
        method: np.array([value for _, value in sorted(pairs)]) for method, pairs in found.items()
    }
