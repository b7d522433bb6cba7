"""`scripts/bench explain [exactness] [planted] [bike] [speed] [--kept]`.

All parts, or some. Runs of the planted part are kept and not repeated; with `--kept` no missing one
is begun.
"""

from __future__ import annotations

import sys

from benchmarks.bars import Bars
from benchmarks.explain import bike, exactness, planted, speed

PARTS = {
    "speed": speed.run,
    "exactness": exactness.run,
    "bike": bike.run,
    "planted": planted.run,
}


def main(chosen: list[str]) -> None:
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"unknown parts {unknown}; there are {list(PARTS)}")
    packages = ("lifenet", "numpy", "scipy", "scikit-learn", "shap", "PyALE", "effector", "torch")
    bars = Bars("explain", packages)
    for name, part in PARTS.items():
        if not chosen or name in chosen:
            part(bars)
    planted.RUNS.note_missing(bars)
    bars.finish(write=not chosen)


if __name__ == "__main__":
    main([name for name in sys.argv[1:] if name != "--kept"])
