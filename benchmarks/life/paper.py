"""The paper's own numbers, read from its tables beside the data where they are at hand."""

from __future__ import annotations

import csv
from functools import cache

from lifenet.datasets.registry import data_folder


@cache
def _cells() -> dict[tuple[str, str, str, str], str]:
    path = data_folder().parent / "paper" / "tables.csv"
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {
            (row["table"], row["dataset"], row["metric"], row["model"]): (
                f"{row['mean']} ({row['sd']})" if row["sd"] else row["mean"]
            )
            for row in csv.DictReader(file)
        }


def paper_figure(table: str, dataset: str, metric: str, model: str) -> str:
    """A cell with its deviation, or a dash."""
    return _cells().get((table, dataset, metric, model), "-")
