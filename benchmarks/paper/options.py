"""The command line that benchmarks with a runner have in common."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import RESULTS
from benchmarks.paper.runner import Run

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Mapping, Sequence

    from benchmarks.paper.protocol import Protocol

SCRATCH = RESULTS.parent / "scratch"


def parse(parser: ArgumentParser) -> Namespace:
    """What to run, how much of it at a time, and where to."""
    add = parser.add_argument
    add("--data", nargs="+", default=[], metavar="NAME", help="only these sets; renders nothing")
    add("--model", nargs="+", default=[], metavar="NAME", help="only these models; renders nothing")
    add("--kept", action="store_true", help="run nothing: render what is kept")
    add("--retry", action="store_true", help="run again what failed")
    add("--jobs", type=int, default=1, help="processes at a time, each with one thread")
    add("--budget", type=float, help="seconds of each tuning that is missing")
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


def settings(args: Namespace, file: str, protocol: Protocol, **more: Any) -> Run:
    """Of a run that keeps its records in a file of that name."""
    benchmark = file.partition("-")[0]
    if args.budget is not None:
        protocol = replace(protocol, budget=args.budget, max_trials=args.trials)
    elif args.trials is not None:
        protocol = replace(protocol, budget=None, min_trials=1, max_trials=args.trials)
    return Run(
        path=(args.folder or RESULTS) / file,
        scratch=SCRATCH / benchmark if args.folder is None else args.folder / "scratch",
        protocol=replace(protocol, max_rows=args.rows),
        n_jobs=args.jobs,
        retry=args.retry,
        **more,
    )
