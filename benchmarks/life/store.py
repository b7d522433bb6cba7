"""The runs of `scripts/bench life`, in benchmarks/results/life-runs.csv."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from benchmarks.runs import Runs

RUNS = Runs("life-runs.csv", ("error", "second", "seconds", "neurons"), ("method", "setting"))
read, add, run_missing = RUNS.read, RUNS.add, RUNS.run_missing


def row(part: str, data: str, seed: int, method: str, **figures: Any) -> dict[str, Any]:
    """A row; figures not given are nan."""
    blank = {"error": np.nan, "second": np.nan, "seconds": np.nan, "neurons": np.nan, "setting": ""}
    return {"part": part, "data": data, "seed": seed, "method": method, **blank, **figures}


def by_method(rows: list[dict[str, Any]], data: str, field: str) -> dict[str, np.ndarray]:
    """Figures of every method on one set, in the order of the seeds."""
    found: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for one in rows:
        if one["data"] == data:
            found[one["method"]].append((one["seed"], one[field]))
    return {
        method: np.array([value for _, value in sorted(pairs)]) for method, pairs in found.items()
    }
