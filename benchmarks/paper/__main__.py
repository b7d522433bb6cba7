"""`scripts/bench paper`: every table and figure of the paper, run where missing, and rendered.

Without a selection, all tables and figures, then the bars. Runs are kept and not repeated; a run
that was killed goes on where it was. Work may be divided over several invocations at a time, as
long as no two have a tuning in common: divide it by `--table`, `--data` or `--model`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

from benchmarks.bars import RESULTS, Bars
from benchmarks.paper import options, records
from benchmarks.paper.experiments import TABLES
from benchmarks.paper.protocol import PAPER
from benchmarks.paper.runner import PACKAGES, missing, plan, run_missing

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    args = _arguments()
    if args.smoke:
        from benchmarks.paper import smoke

        sys.exit(smoke.run(args.jobs))
    _check_names(args)
    everything = not (args.table or args.figure or args.data or args.model)
    run = options.settings(args, records.FILE, PAPER)
    jobs = plan(args.table or ([] if args.figure else TABLES), args.data, args.model, args.seeds)
    if not args.kept:
        run_missing(jobs, run)
    _draw(args, everything)
    if args.data or args.model:
        return
    known = records.read(run.path)
    if not args.figure or args.table:
        _render(known, args.folder)
    if everything:
        _finish(known, len(missing(jobs, run.path)), write=args.folder is None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench paper", description=__doc__)
    add = parser.add_argument
    add("--table", nargs="+", default=[], metavar="NAME", help=f"only these: {', '.join(TABLES)}")
    add("--figure", nargs="+", default=[], metavar="NAME", help="only these figures")
    add("--smoke", action="store_true", help="every part on tiny data, in a temporary folder")
    return options.parse(parser)


def _check_names(args: argparse.Namespace) -> None:
    """Name what is unknown, and what there is."""
    tables = [TABLES[name] for name in args.table if name in TABLES] or list(TABLES.values())
    allowed = {
        "table": list(TABLES),
        "data": sorted({one.name for table in tables for one in table.present}),
        "model": sorted({model for table in tables for model in table.models}),
    }
    if args.figure:
        from benchmarks.paper import figures

        allowed["figure"] = list(figures.NAMES)
    options.refuse_unknown(args, allowed)


def _draw(args: argparse.Namespace, everything: bool) -> None:
    if not (args.figure or everything):
        return
    from benchmarks.paper import figures

    for name in args.figure or figures.NAMES:
        figures.draw(
            name,
            folder=ROOT / "docs" / "images" / "paper" if args.folder is None else args.folder,
            data_folder=(args.folder or RESULTS) / "paper-figures",
            kept=args.kept,
        )
        print(f"figure {name} drawn", flush=True)


def _render(known: list[records.Record], folder: Path | None) -> None:
    from benchmarks.paper import render

    docs = ROOT / "docs" if folder is None else folder
    render.write(known, folder or RESULTS, docs / "results.md")


def _finish(known: list[records.Record], n_missing: int, *, write: bool) -> None:
    from benchmarks.paper import analysis

    bars = Bars("paper", PACKAGES)
    analysis.add_bars(bars, known)
    _prove_runner(bars)
    n_failed = sum("failed" in one for one in known)
    if n_missing or n_failed:
        bars.note(f"{n_missing} tunings and fits are missing, {n_failed} failed")
    bars.finish(write=write)


def _prove_runner(bars: Bars) -> None:
    """That a kill changes nothing, and that all parts run on tiny data."""
    tests = [sys.executable, "-m", "pytest", "-q", "tests/test_paper_runner.py"]
    bars.runs_tests("runner killed (SIGKILL) in the middle and resumed: the same records", tests)
    begun = time.monotonic()
    smoke = subprocess.run([sys.executable, "-m", "benchmarks.paper", "--smoke", "--jobs", "2"])
    bars.passes("every part on tiny data (--smoke)", smoke.returncode)
    bars.at_most("seconds that takes", time.monotonic() - begun, 180, ".0f")


if __name__ == "__main__":
    main()
