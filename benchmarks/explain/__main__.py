"""`scripts/bench explain [exactness] [planted] [bike] [speed] [--kept]`.

All parts, or some. Runs of the planted part are kept and not repeated; with `--kept` no missing one
is begun.
"""

from __future__ import annotations

from benchmarks.bars import Bars, run_parts
from benchmarks.explain import bike, exactness, planted, speed

PARTS = {
    "speed": speed.run,
    "exactness": exactness.run,
    "bike": bike.run,
    "planted": planted.run,
}


PACKAGES = ("lifenet", "numpy", "scipy", "scikit-learn", "shap", "PyALE", "effector", "torch")

if __name__ == "__main__":
    run_parts(Bars("explain", PACKAGES), PARTS, planted.RUNS)
