"""The command line that benchmarks with a runner have in common."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import RESULTS
from benchmarks.paper.runner import Run

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence

SCRATCH = RESULTS.parent / "scratch"
BUDGET = 30.0


def parse(parser: ArgumentParser) -> Namespace:
    """What to run, how much of it at a time, and where to."""
    add = parser.add_argument
    add("--data", nargs="+", default=[], metavar="NAME", help="only these sets; renders nothing")
    add("--model", nargs="+", default=[], metavar="NAME", help="only these models; renders nothing")
    add("--kept", action="store_true", help="run nothing: render what is kept")
    add("--retry", action="store_true", help="run again what failed")
    add("--jobs", type=int, default=1, help="processes at a time, each with one thread")
    add("--budget", type=float, help=f"seconds of each tuning that is missing; {BUDGET:g}")
    add("--trials", type=int, help="trials of each tuning; without --budget, instead of seconds")
    add("--rows", type=int, help="at most so many rows of each set; needs --folder")
    add("--seeds", type=int, help="at most so many replications")
    add("--folder", type=Path, help="for all results, instead of benchmarks/results and docs")
    args = parser.parse_args()
    if args.rows is not None and args.folder is None:
        parser.error("--rows needs --folder: figures of fewer rows are not those of the tables")
    return args


def refuse_unknown(args: Namespace, allowed: Mapping[str, Sequence[str]]) -> None:
    """Name what is unknown, and what there is."""
    for what, names in allowed.items():
        unknown = [name for name in getattr(args, what) if name not in names]
        if unknown:
            sys.exit(f"--{what}: {', '.join(unknown)} unknown; there are {', '.join(names)}")


def settings(args: Namespace, file: str, **more: Any) -> Run:
    """Of a run that keeps its records in a file of that name."""
    benchmark = file.partition("-")[0]
    return Run(
        path=(args.folder or RESULTS) / file,
        scratch=SCRATCH / benchmark if args.folder is None else args.folder / "scratch",
        budget=BUDGET if args.budget is None and args.trials is None else args.budget,
        max_trials=args.trials,
        max_rows=args.rows,
        n_jobs=args.jobs,
        retry=args.retry,
        **more,
    )
