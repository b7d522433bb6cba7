"""`scripts/bench life [algorithm] [tables] [claims] [schemes] [machine] [--kept]`.

All parts, or some. Runs are kept and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

import sys

from benchmarks.bars import Bars
from benchmarks.life import algorithm, claims, machine, schemes, store, tables

PARTS = {
    "machine": machine.run,
    "tables": tables.run,
    "claims": claims.run,
    "schemes": schemes.run,
    "algorithm": algorithm.run,
}


def main(chosen: list[str]) -> None:
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"unknown parts {unknown}; there are {list(PARTS)}")
    bars = Bars("life", ("lifenet", "numpy", "scipy", "scikit-learn", "xgboost"))
    for name, part in PARTS.items():
        if not chosen or name in chosen:
            part(bars)
    store.RUNS.note_missing(bars)
    bars.finish(write=not chosen)


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--kept"])
