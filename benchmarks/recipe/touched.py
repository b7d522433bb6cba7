"""Modules of ours whose code one fit runs, beyond what importing the package runs.

usage: PYTHONPATH=SRC python touched.py PRESET
"""

from __future__ import annotations

import sys
import warnings

from lifenet import LIFERegressor
from lifenet.datasets import simulate


def main(preset: str) -> None:
    data, seen = simulate.mim(400, random_state=0), set()

    def trace(frame: object, event: str, argument: object) -> None:
        name = frame.f_globals.get("__name__", "")  # type: ignore[attr-defined]
        if name.startswith("lifenet."):
            seen.add(name)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.setprofile(trace)
        LIFERegressor(preset=preset, random_state=0).fit(data.X, data.y)
        sys.setprofile(None)
    print(len(seen))


if __name__ == "__main__":
    main(sys.argv[1])
