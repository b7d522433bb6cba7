"""The paper's own numbers, as `benchmarks/paper/printed.csv` carries them."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

FILE = Path(__file__).resolve().parents[1] / "paper" / "printed.csv"


@cache
def _cells() -> dict[tuple[str, str, str, str], str]:
    with FILE.open(newline="", encoding="utf-8") as file:
        lines = (line for line in file if not line.startswith("#"))
        return {
            (row["table"], row["dataset"], row["metric"], row["model"]): (
                f"{row['mean']} ({row['sd']})" if row["sd"] else row["mean"]
            )
            for row in csv.DictReader(lines)
        }


def paper_figure(table: str, dataset: str, metric: str, model: str) -> str:
    """A cell with its deviation, or a dash."""
    return _cells().get((table, dataset, metric, model), "-")
