"""`scripts/bench files [sets] [latency] [fuzz] [kill] [--kept]`.

Models as files: every raw file by the command line alone, exports beside `predict`, latencies,
damaged and hostile input, and writers that are killed. All parts, or some; runs are kept and not
repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.bars import Bars, run_parts
from benchmarks.files import fuzz_archive, fuzz_cli, fuzz_onnx
from benchmarks.files.kill_archive import kill
from benchmarks.files.latency import LATENCY, PRESETS, latencies
from benchmarks.files.sets import SETS, one_file, write_table
from benchmarks.runs import Runs
from benchmarks.tables.data import RAW

#: Largest archive, in MB: what a pickle of as many columns may have.
_LARGEST = 8.0
N_INPUTS, N_COMMANDS, N_KILLS = 100_000, 100_000, 300
FUZZ = Runs("files-fuzz.csv", ("inputs", "crashes", "refused", "seconds"))


def sets(bars: Bars) -> None:
    """Every raw file from file to model to predictions, and its exports."""
    SETS.run_missing("sets", [(name, 0) for name in RAW], one_file)
    rows = SETS.read("sets")
    _note_commits(bars, "raw files", rows)
    bars.at_least(
        "raw files from file to predictions by the command line", len(rows), len(RAW), "d"
    )
    bars.at_most("largest archive, MB", _worst(rows, "megabytes"), _LARGEST, ".2f")
    bars.at_most("archives that differ once loaded and saved again", _sum(rows, "archive"), 0, "d")
    what = "largest |difference| / (1 + |f|) of an export"
    bars.at_most(f"{what} to predict", _worst(rows, "exports"), 1e-6, ".1e")
    bars.at_most(f"{what}'s contributions", _worst(rows, "contributions"), 1e-6, ".1e")
    for row in rows:
        bars.note(f"{row['data']}: {row['compared']}")
    write_table()
    bars.note("files-sets.md: file, seconds, score, archive size")


def latency(bars: Bars) -> None:
    """Milliseconds of one row."""
    LATENCY.run_missing("latency", [(preset, 0) for preset in PRESETS], latencies)
    _note_commits(bars, "latency", LATENCY.read("latency"))
    for row in LATENCY.read("latency"):
        bars.note(
            f"one row, {row['data']}, ms: predict {row['predict']:.2f}, ONNX {row['onnx']:.2f}, "
            f"Python module {row['python']:.2f}"
        )


def fuzz(bars: Bars) -> None:
    """Damaged archives, ONNX files, and random command lines on random CSV."""
    FUZZ.run_missing("fuzz", [("archive", 0), ("onnx", 0), ("command", 0)], _fuzzed)
    _note_commits(bars, "fuzz", FUZZ.read("fuzz"))
    for row in FUZZ.read("fuzz"):
        least = N_COMMANDS if row["data"] == "command" else N_INPUTS
        bars.at_least(f"{row['data']}: random inputs", row["inputs"], least, ",.0f")
        bars.at_most(f"{row['data']}: crashes without a named error", row["crashes"], 0, ".0f")
        bars.note(f"{row['data']}: {row['refused']:,.0f} refused, {row['seconds']:.0f} s")


def _fuzzed(what: str, seed: int) -> list[dict[str, Any]]:
    import time

    begun = time.perf_counter()
    if what == "command":
        ends = fuzz_cli.fuzz(N_COMMANDS, seed)
        found = {"inputs": sum(ends.values()), "crashes": ends["crash"], "refused": ends["refused"]}
    elif what == "onnx":
        seen = fuzz_onnx.fuzz(N_INPUTS, seed)
        crashes = seen.get("other", 0) + seen.get("unnamed", 0)
        found = {"inputs": N_INPUTS, "crashes": crashes, "refused": seen.get("refused", 0)}
    else:
        damaged = fuzz_archive.fuzz(N_INPUTS, seed)
        loaded = sum(n for kind, n in damaged["kinds"].items() if kind.endswith("loaded"))
        crashes = len(damaged["others"])
        found = {"inputs": N_INPUTS, "crashes": crashes, "refused": N_INPUTS - loaded}
    row = {"part": "fuzz", "data": what, "seed": seed, "seconds": time.perf_counter() - begun}
    return [row | found]


KILLS = Runs("files-kills.csv", ("killed", "first", "second", "halves", "left_beside"))


def kills(bars: Bars) -> None:
    """Writers killed at random moments."""
    KILLS.run_missing("kill", [("archive", 0)], _killed)
    for row in KILLS.read("kill"):
        bars.at_least("writers of archives killed", row["killed"], 250, ".0f")
        bars.at_most("files that were neither old nor new", row["halves"], 0, ".0f")


def _killed(what: str, seed: int) -> list[dict[str, Any]]:
    return [{"part": "kill", "data": what, "seed": seed, **kill(N_KILLS, seed)}]


def _worst(rows: list[dict[str, Any]], name: str) -> float:
    return max((row[name] for row in rows), default=np.nan)


def _sum(rows: list[dict[str, Any]], name: str) -> int:
    return int(sum(row[name] for row in rows))


def _note_commits(bars: Bars, what: str, rows: list[dict[str, Any]]) -> None:
    found = sorted({row["commit"] for row in rows})
    bars.note(f"{what}: {len(rows)} runs, measured at {', '.join(found) or 'no commit'}")


if __name__ == "__main__":
    run_parts(
        Bars("files"),
        {"sets": sets, "latency": latency, "fuzz": fuzz, "kill": kills},
        *(SETS, LATENCY, FUZZ, KILLS),
    )
