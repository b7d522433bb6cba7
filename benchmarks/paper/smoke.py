"""`scripts/bench paper --smoke`: every part on tiny data, in a temporary folder.

Kills and what comes after them are in tests/test_paper_runner.py.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
import time
from pathlib import Path

from benchmarks.bars import Bars
from benchmarks.paper import records
from benchmarks.paper.experiments import ATTAINABLE, ORACLE, TABLES
from benchmarks.paper.protocol import Protocol
from benchmarks.paper.runner import PACKAGES, Run, plan, run_missing

ROWS, TUNING_ROWS, TRIALS = 120, 80, 2
#: One set of each kind: simulated, real, with gaps; and those of the last two tables.
DATA = (
    "GAM",
    "aquatic_toxicity",
    "breast_cancer",
    "hmeq",
    "MIM (Regression)",
    "MIM (Classification)",
    "MNIST",
)
#: Tables that differ from another one by the draw of their predictors only: a few models do.
LIKE_OTHERS = ("sim_reg2", "sim_cal1")


def run(n_jobs: int) -> int:
    """Run, draw and render all; 0 where nothing failed."""
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        known = _tables(Path(name), n_jobs)
        _figures(Path(name))
        _report(Path(name), known)
    failed = [one for one in known if "failed" in one]
    for one in failed:
        print(f"failed: {records.key(one)}: {one['failed']}")
    print(f"{len(known)} records, {len(failed)} failed; {time.monotonic() - begun:.0f} s")
    return int(bool(failed))


def _tables(folder: Path, n_jobs: int) -> list[records.Record]:
    settings = Run(
        folder / records.FILE,
        folder / "scratch",
        Protocol(max_trials=TRIALS, tuning_rows=TUNING_ROWS, max_rows=ROWS),
        n_jobs=n_jobs,
    )
    full = [name for name in TABLES if name not in LIKE_OTHERS]
    run_missing(plan(full, DATA, n_seeds=1), settings)
    run_missing(plan(LIKE_OTHERS, DATA, (ORACLE, ATTAINABLE, "LLA"), n_seeds=1), settings)
    return records.read(settings.path)


def _figures(folder: Path) -> None:
    from benchmarks.paper import figures

    for name in figures.NAMES:
        begun = time.monotonic()
        for kept in (False, True):
            figures.draw(
                name,
                folder=folder / "images",
                data_folder=folder / "paper-figures",
                kept=kept,
                small=True,
            )
        print(f"figure {name}: {time.monotonic() - begun:.1f} s", flush=True)


def _report(folder: Path, known: list[records.Record]) -> None:
    """The bars of tiny data mean nothing: that they are written is what counts."""
    from benchmarks.paper import analysis, render

    render.write(known, folder, folder / "results.md")
    with contextlib.redirect_stdout(io.StringIO()):
        analysis.add_bars(Bars("paper", PACKAGES), known, folder)
