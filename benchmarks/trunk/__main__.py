"""`scripts/bench trunk [oracles] [speed] [project]`: all parts, or those named."""

from __future__ import annotations

import sys

from benchmarks.bars import Bars
from benchmarks.trunk import oracles, project, speed

PARTS = {"oracles": oracles.run, "speed": speed.run, "project": project.run}


def main(chosen: list[str]) -> None:
    unknown = [name for name in chosen if name not in PARTS]
    if unknown:
        sys.exit(f"unknown parts {unknown}; there are {list(PARTS)}")
    bars = Bars("trunk")
    for name, part in PARTS.items():
        if not chosen or name in chosen:
            part(bars)
    bars.finish(write=not chosen)


main(sys.argv[1:])
