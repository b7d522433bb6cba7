"""`scripts/bench fast`: fit times, predictions, sizes, and errors beside boosted trees.

Without arguments all parts run, then the bars are printed and written to
`benchmarks/results/fast-bars.txt`. Each measurement is kept under `benchmarks/results/fast` and not
repeated; a run that was killed goes on where it was. Bars are of all that is kept, whatever was
run; a bar of which a measurement is missing is short, and names it. With `--smoke` nothing is kept,
unless there is a `--folder`.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.bars import RESULTS
from benchmarks.fast import curves, fit, models
from benchmarks.fast.figures import FastBars
from benchmarks.fast.runner import Settings, run_missing

if TYPE_CHECKING:
    from collections.abc import Sequence

#: Modules of this package, cheap parts first.
PARTS = (
    "size",
    "jobs",
    "columns",
    "explain",
    "classes",
    "predict",
    "wide",
    "fit",
    "time_limit",
    "curves",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run what is missing, then the bars."""
    args = _parser().parse_args(arguments)
    _refuse_unknown_sets(args)
    if args.smoke and args.folder is None:
        with tempfile.TemporaryDirectory() as folder:
            _run(args, Path(folder))
    else:
        _run(args, args.folder or RESULTS / "fast")


def _run(args: argparse.Namespace, folder: Path) -> None:
    only = {"data": args.sets, "size": args.sizes, "function": args.functions, "model": args.models}
    settings = Settings(folder, args.smoke, args.again, args.retry, only)
    chosen = [name for name in PARTS if not args.part or name in args.part]
    bars = FastBars()
    if args.smoke:
        bars.note("smoke: all parts run on next to no rows, and no figure means anything")
    for name in chosen:
        part: Any = importlib.import_module(f"benchmarks.fast.{name}")
        if not args.kept:
            run_missing(name, part, settings)
        part.add_bars(bars, settings.known(name), smoke=args.smoke)
    apart = args.smoke or args.folder is not None
    if apart:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "fast-bars.txt").write_text("\n".join([*bars.header(), *bars.lines]) + "\n")
    if args.smoke:
        sys.exit(f"{bars.n_lacking} bars lack a measurement" if bars.n_lacking else 0)
    bars.finish(write=not apart and len(chosen) == len(PARTS))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="scripts/bench fast", description=__doc__)
    add = parser.add_argument
    add("--part", nargs="+", default=[], choices=PARTS, help="only these; the file is not written")
    add("--kept", action="store_true", help="run nothing: the bars of what is kept")
    add("--again", action="store_true", help="measure anew what is on record")
    add("--retry", action="store_true", help="measure anew what failed")
    add("--sets", nargs="+", default=[], metavar="NAME", help="run only these sets")
    add("--models", nargs="+", default=[], choices=models.MODELS, help="run only these models")
    functions = tuple(curves.CURVES)
    add("--functions", nargs="+", default=[], choices=functions, help="run only these curves")
    add("--sizes", nargs="+", default=[], type=int, help="run only these sizes of the curves")
    add(
        "--smoke",
        action="store_true",
        help="see that all parts run, on few rows; fails if one does not",
    )
    add("--folder", type=Path, help="for records and bars, instead of benchmarks/results")
    return parser


def _refuse_unknown_sets(args: argparse.Namespace) -> None:
    known = fit.sets() if args.sets else []
    unknown = [name for name in args.sets if name not in known]
    if unknown:
        raise SystemExit(f"--sets: {', '.join(unknown)} unknown; there are {', '.join(known)}")


if __name__ == "__main__":
    main()
