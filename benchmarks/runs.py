"""Runs that are done are kept in a CSV file under benchmarks/results: a long benchmark resumes.

Delete the file, or the lines of a part, to measure anew. With `--kept` on the command line nothing
is run: the bars are those of the runs kept, and what is missing is named.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import joblib

from benchmarks.bars import RESULTS, commit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.bars import Bars

KEPT_ONLY = "--kept" in sys.argv


@dataclass
class Runs:
    """The runs of one benchmark: rows with a part, a data set, a seed, and figures."""

    file: str
    figures: tuple[str, ...]
    words: tuple[str, ...] = ()
    missing: list[tuple[str, str, int]] = field(default_factory=list)
    #: Found when the benchmark is loaded: what is committed while it runs was not measured.
    at: str = field(default_factory=commit)

    @property
    def fields(self) -> list[str]:
        words = (*self.words[:1], *self.figures, *self.words[1:])
        return ["part", "data", "seed", *words, "commit"]

    def read(self, part: str) -> list[dict[str, Any]]:
        """All rows of a part, figures as numbers."""
        path = RESULTS / self.file
        if not path.exists():
            return []
        with path.open(newline="") as file:
            rows = [row for row in csv.DictReader(file) if row["part"] == part]
        numbers = [
            (int(row["seed"]), {name: float(row[name]) for name in self.figures}) for row in rows
        ]
        return [
            {**row, "seed": seed, **figures}
            for row, (seed, figures) in zip(rows, numbers, strict=True)
        ]

    def add(self, rows: Iterable[dict[str, Any]]) -> None:
        """Append rows, with the commit that they were measured on."""
        stamp = {"commit": self.at}
        path = RESULTS / self.file
        fresh = not path.exists()
        with path.open("a", newline="") as file:
            writer = csv.DictWriter(file, self.fields, lineterminator="\n")
            if fresh:
                writer.writeheader()
            writer.writerows({**row, **stamp} for row in rows)

    def run_missing(
        self, part: str, jobs: list[tuple[str, int]], work: Callable[[str, int], Any]
    ) -> None:
        """Run the jobs (data, seed) of which nothing is kept: two at a time, one thread each."""
        done = {(one["data"], one["seed"]) for one in self.read(part)}
        missing = [job for job in jobs if job not in done]
        if KEPT_ONLY:
            self.missing.extend((part, *job) for job in missing)
            return
        parallel = joblib.Parallel(n_jobs=2, return_as="generator_unordered")
        for rows in parallel(joblib.delayed(work)(*job) for job in missing):
            self.add(rows)
            print(f"  {part}: {rows[0]['data']}, seed {rows[0]['seed']} done", flush=True)

    def note_missing(self, bars: Bars) -> None:
        """Name the runs that `--kept` left out."""
        if self.missing:
            what = ", ".join(f"{part} {data} {seed}" for part, data, seed in self.missing)
            bars.note(f"reported with --kept; {len(self.missing)} runs are missing: {what}")
