"""`scripts/bench reading [fidelity] [truth] [planted] [exact] [speed] [--kept]`.

How far equations hold, and whether readings of the default say what is so. All parts, or some; runs
are kept and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import Bars, run_parts
from benchmarks.reading.planted import N_SEEDS, PLANTED_NAMES, SMOOTH, TRIES, planted_try
from benchmarks.reading.work import FITS, SETS, SPEED, TRUTH, TRUTH_SETS, fidelity, speed, truth

if TYPE_CHECKING:
    from collections.abc import Sequence

PRESETS = ("fast", "small", "paper")
#: Least median fidelity at a reach of .05, columns one at a time, and all at once.
ONE = {"fast": 0.80, "paper": 0.95}
TOGETHER = {"fast": 0.65}
EXACT = [sys.executable, "-m", "pytest", "-q", "tests/test_windows.py", "tests/test_coding.py"]


def fidelities(bars: Bars) -> None:
    """How much of what the model does near unseen rows their equations explain."""
    for preset in PRESETS:
        FITS.run_missing(preset, [(data, 0) for data in SETS], partial(fidelity, preset))
        every = FITS.read(preset)
        known = [one for one in every if one["columns"] >= 2]
        _note_commits(bars, preset, every)
        left_out = sorted({one["data"] for one in every} - {one["data"] for one in known})
        named = f"{len(known)} of {len(SETS)} sets"
        bars.note(
            f"{preset}: {', '.join(left_out) or 'no set'} has fewer than two columns in reach"
        )
        one, together = _column(known, "one"), _column(known, "together")
        _median(
            bars, f"{preset}: median fidelity at reach .05, one column, {named}", one, ONE, preset
        )
        what = f"{preset}: median fidelity at reach .05, all columns, {named}"
        _median(bars, what, together, TOGETHER, preset)
        gap = np.abs(_column(known, "stated") - _column(known, "one"))
        what = f"{preset}: largest gap of the fidelity stated of training rows and of fresh rows"
        bars.at_most(f"{what} ({_at(known, gap)})", float(gap.max(initial=0.0)), 0.05, ".3f")
        gap = np.abs(_column(known, "one") - _column(known, "fresh"))
        bars.note(
            f"{preset}: gap of the fidelity with moves to training values and to values of the "
            f"test rows: median {np.median(gap):.3f}, largest {gap.max(initial=0.0):.3f} "
            f"({_at(known, gap)})"
        )
        pairs = [f"{row['data']} {row['one']:.2f}/{row['together']:.2f}" for row in known]
        bars.note(f"{preset}, one column / all columns: {', '.join(pairs)}")
        pointwise = np.median(_column(known, "pointwise"))
        bars.note(f"{preset}: median fidelity of pointwise slopes at reach .05: {pointwise:.2f}")


def truths(bars: Bars) -> None:
    """Readings against permutation importance, counts, mixed differences and refits."""
    for preset in PRESETS:
        TRUTH.run_missing(preset, [(data, 0) for data in TRUTH_SETS], partial(truth, preset))
        _note_commits(bars, preset, TRUTH.read(preset))
        for row in TRUTH.read(preset):
            name = f"{preset}, {row['data']}"
            what = f"{name}: rank correlation of importance and permutation importance"
            bars.at_least(what, row["importance"], 0.8, ".2f")
            what = f"{name}: largest gap of shares of rows against a sign, by hand"
            bars.at_most(what, row["signs"], 1e-9, ".1e")
            what = f"{name}: largest relative gap of interactions and mixed differences by hand"
            bars.at_most(what, row["interactions"], 1e-8, ".1e")
            what = f"{name}: loss of merged regions on unseen rows over that of the base rate"
            bars.at_most(what, row["merged"] / row["base"], 1.0, ".3f")
            bars.note(
                f"{name}: merged loss {row['merged']:.4g}, network {row['network']:.4g}, base rate "
                f"{row['base']:.4g}, {row['regions']:.0f} regions; two seeds agree on the first "
                f"reason of {100 * row['first_reason']:.0f} % of the rows, and on the sign of "
                f"{100 * row['slope_signs']:.0f} % of the slopes at reach .05"
            )


def planted(bars: Bars) -> None:
    """Slopes, signs, importance and interactions that are known."""
    jobs = [(name, seed) for name in PLANTED_NAMES for seed in range(N_SEEDS)]
    TRIES.run_missing("default", jobs, planted_try)
    rows = TRIES.read("default")
    _note_commits(bars, "planted", rows)
    for name in PLANTED_NAMES:
        found = [row for row in rows if row["data"] == name]
        if name in SMOOTH:
            r2 = float(np.median(_column(found, "slopes")))
            bars.at_least(
                f"{name}: R² of slopes at reach .05, median of {len(found)}", r2, 0.9, ".3f"
            )
        for reading in ("signs", "order", "pairs"):
            right = sum(row[reading] == 1 for row in found)
            what = f"{name}: seeds of {len(found)} with the right {_WORDS[reading]}"
            bars.at_least(what, right, N_SEEDS - 1, "d")


_WORDS = {"signs": "signs", "order": "order of importance", "pairs": "interactions first"}


def exact(bars: Bars) -> None:
    """Window slopes against brute force, and moves against scores."""
    bars.runs_tests("window slopes against brute force, and their invariances", EXACT)


def speeds(bars: Bars) -> None:
    """Equations at a reach of many rows."""
    SPEED.run_missing("speed", [("mixed", 0)], speed)
    _note_commits(bars, "speed", SPEED.read("speed"))
    for row in SPEED.read("speed"):
        what = "equations at reach .05 of 100,000 rows x 20 of the default, in prediction passes"
        bars.at_most(what, row["equations"] / row["passes"], 40, ".1f")
        bars.note(
            f"{row['equations']:.1f} s; a pass {row['passes']:.2f} s; CPU seconds, one thread"
        )


def _note_commits(bars: Bars, what: str, rows: Sequence[dict[str, Any]]) -> None:
    found = sorted({row["commit"] for row in rows})
    bars.note(f"{what}: {len(rows)} runs, measured at {', '.join(found) or 'no commit'}")


def _column(rows: Sequence[dict[str, Any]], name: str) -> Any:
    return np.array([row[name] for row in rows])


def _median(bars: Bars, what: str, values: Any, limits: dict[str, float], preset: str) -> None:
    figure = float(np.median(values)) if len(values) else np.nan
    if preset in limits:
        bars.at_least(what, figure, limits[preset], ".3f")
    else:
        bars.note(f"{what}: {figure:.3f}")


def _at(rows: Sequence[dict[str, Any]], values: Any) -> str:
    return rows[int(values.argmax())]["data"] if len(values) else "none"


if __name__ == "__main__":
    run_parts(
        Bars("reading"),
        {
            "fidelity": fidelities,
            "truth": truths,
            "planted": planted,
            "exact": exact,
            "speed": speeds,
        },
        FITS,
    )
