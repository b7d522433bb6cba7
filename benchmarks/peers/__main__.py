"""`scripts/bench peers`: LIFE beside its peers, run where missing, and rendered.

Without a selection, all tables, then the page and the bars. Runs are kept and not repeated; a run
that was killed goes on where it was. Work may be divided over several invocations at a time, as
long as no two have a tuning in common: divide it by `--table`, `--data` or `--model`.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from benchmarks.bars import RESULTS, Bars
from benchmarks.paper import options, records
from benchmarks.paper.protocol import PEERS
from benchmarks.paper.records import TUNING
from benchmarks.paper.runner import plan, run_missing
from benchmarks.peers import goals, page
from benchmarks.peers.experiments import DATA, FILE, TABLES
from benchmarks.peers.models import MODELS, PACKAGES
from benchmarks.peers.shared import adopted, spared, untuned

ROOT = Path(__file__).resolve().parents[2]


def main() -> None:
    args = _arguments()
    selected = args.table or args.data or args.model
    run = options.settings(args, FILE, PEERS, models="benchmarks.peers.models", packages=PACKAGES)
    if args.folder is None:
        records.append(run.path, adopted(records.read()))
    if not args.kept:
        # One table after the other: what needs no tuning is known first.
        for name in args.table or TABLES:
            jobs = plan([name], args.data, args.model, args.seeds, TABLES)
            records.append(run.path, spared(records.read(run.path), run.protocol.budget))
            run_missing([job for job in jobs if job.kind == TUNING], run)
            records.append(run.path, untuned(records.read(run.path)))
            run_missing(jobs, run)
    if selected:
        return
    known = records.read(run.path)
    docs = ROOT / "docs" if args.folder is None else args.folder / "docs"
    page.write(known, args.folder or RESULTS, docs / "peers.md")
    bars = Bars("peers", PACKAGES)
    goals.add_bars(bars, known)
    bars.finish(write=args.folder is None)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench peers", description=__doc__)
    parser.add_argument(
        "--table", nargs="+", default=[], metavar="NAME", help=f"only these: {', '.join(TABLES)}"
    )
    args = options.parse(parser)
    options.refuse_unknown(args, {"table": list(TABLES), "data": list(DATA), "model": list(MODELS)})
    return args


if __name__ == "__main__":
    main()
