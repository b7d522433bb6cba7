"""`scripts/bench life [algorithm] [tables] [base] [claims] [schemes] [machine] [--kept]`.

All parts, or some. Runs are kept and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

from benchmarks.bars import Bars, run_parts
from benchmarks.life import algorithm, base, claims, machine, schemes, store, tables

PARTS = {
    "machine": machine.run,
    "tables": tables.run,
    "base": base.run,
    "claims": claims.run,
    "schemes": schemes.run,
    "algorithm": algorithm.run,
}
PACKAGES = ("lifenet", "numpy", "scipy", "scikit-learn", "xgboost")

if __name__ == "__main__":
    run_parts(Bars("life", PACKAGES), PARTS, store.RUNS)
