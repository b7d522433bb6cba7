"""`scripts/bench readable [default] [paper] [frontier] [small] [glass] ... [--kept]`.

What readability costs: errors and seconds beside those before, and how far equations hold. All
parts, or some; runs are kept and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

import json
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import RESULTS, Bars, run_parts
from benchmarks.readable import glass, pictures, table
from benchmarks.readable.models import (
    ADDITIVE,
    BEST,
    DEFAULT,
    GLASS,
    PAPER,
    PRICES,
    SMALL,
    TODAY,
    at_price,
)
from benchmarks.readable.planted import TRIES, planted
from benchmarks.readable.work import FITS, SEEDS, SETS, agreement, fit
from benchmarks.runs import KEPT_ONLY

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from benchmarks.runs import Runs

#: Sets of the frontier's picture, and those on which two seeds are compared.
FRONTIER_SETS = ("airfoil", "german_credit", "heloc", "bike_sharing", "california_housing")
SEED_SETS = ("german_credit", "taiwan_credit")
SMOOTH_SETS = ("airfoil", "casp")


def seeds_before() -> dict[str, list[int]]:
    """Splits of each set on which the default was measured before."""
    found = defaultdict(set)
    for model, data, seed in _before():
        if model == "LIFE":
            found[data].add(seed)
    return {data: sorted(seeds) for data, seeds in found.items()}


def _before() -> dict[tuple[str, str, int], float]:
    """Errors before, from the records of `scripts/bench fast`."""
    found = {}
    for line in (RESULTS / "fast" / "fit.jsonl").read_text().splitlines():
        record = json.loads(line)
        about = record["about"]
        if "error" in record and about.get("repeat", 0) == 0:
            found[about["model"], about["data"], about["seed"]] = record["error"]
    return found


def errors_over_before(label: str, model: str) -> dict[str, float]:
    """Mean error over the splits, over that before on the same splits, for each set."""
    before, now = _before(), defaultdict(list)
    for row in FITS.read(label):
        known = before.get((model, row["data"], row["seed"]))
        if known is not None:
            now[row["data"]].append((row["error"], known))
    return {data: float(np.divide(*np.mean(pairs, axis=0))) for data, pairs in now.items()}


def defaults(bars: Bars) -> None:
    """The default beside what it was: error, fidelity, seconds."""
    splits = seeds_before()
    jobs = [(data, seed) for data in SETS for seed in splits[data]]
    FITS.run_missing(DEFAULT, jobs, partial(fit, DEFAULT))
    FITS.run_missing(TODAY, [(data, 0) for data in SETS], partial(fit, TODAY))
    _note_commits(bars, DEFAULT)
    ratio = errors_over_before(DEFAULT, "LIFE")
    what = f"default: error over before, geometric mean of {len(ratio)} sets"
    bars.at_most(what, _geometric(ratio.values()), 1.01, ".4f")
    worst = max(ratio, key=ratio.__getitem__)
    bars.at_most(f"default: largest error over before ({worst})", ratio[worst], 1.03, ".4f")
    bars.note(f"default: error over before: {_listed(ratio, '.3f')}")
    for data in SMOOTH_SETS:
        bars.at_most(f"default: error over before, {data}", ratio[data], 0.97, ".3f")
    _fidelities(bars, DEFAULT, one=0.90, least=0.70, together=0.80, near=0.50)
    seconds = _ratio_of("cpu", DEFAULT, TODAY)
    what = "default: CPU seconds over before, geometric mean"
    bars.at_most(what, _geometric(seconds.values()), 1.3, ".2f")
    bars.note(f"default: CPU seconds over before: {_listed(seconds, '.2f')}")


def papers(bars: Bars) -> None:
    """The default beside preset "paper", on the same splits."""
    FITS.run_missing(PAPER, [(data, 0) for data in SETS], partial(fit, PAPER))
    _note_commits(bars, PAPER)
    ratio = _ratio_of("error", DEFAULT, PAPER)
    worst = max(ratio, key=ratio.__getitem__)
    what = f'default: largest error over that of "paper", one split ({worst})'
    bars.at_most(what, ratio[worst], 1.01, ".3f")
    bars.note(f'default: error over that of "paper": {_listed(ratio, ".3f")}')


def frontiers(bars: Bars) -> None:
    """Error against fidelity at several prices."""
    for price in PRICES:
        label = at_price(price)
        FITS.run_missing(label, [(data, 0) for data in FRONTIER_SETS], partial(fit, label))
    smooth = at_price(max(PRICES))
    FITS.run_missing(smooth, [(data, 0) for data in SETS], partial(fit, smooth))
    _note_commits(bars, smooth)
    one = _known(smooth, "one")
    bars.at_least(
        f"{smooth}: median fidelity at reach .05", np.median([*one.values()]), 0.95, ".3f"
    )
    ratio = _ratio_of("error", smooth, TODAY)
    what = f"{smooth}: error over the default's before, geometric mean, one split"
    bars.at_most(what, _geometric(ratio.values()), 1.03, ".3f")
    bars.note(f"{smooth}: error over before: {_listed(ratio, '.3f')}")
    bars.note(f"{smooth}: fidelity: {_listed(one, '.2f')}")
    pictures.frontiers(FRONTIER_SETS)


def smalls(bars: Bars) -> None:
    """At most 64 neurons."""
    FITS.run_missing(SMALL, [(data, 0) for data in SETS], partial(fit, SMALL))
    _note_commits(bars, SMALL)
    rows = {row["data"]: row for row in FITS.read(SMALL)}
    bars.at_most("small: most neurons", max(row["neurons"] for row in rows.values()), 64, ".0f")
    one = _known(SMALL, "one")
    bars.at_least("small: median fidelity at reach .05", np.median([*one.values()]), 0.85, ".3f")
    bars.note(f"small: fidelity: {_listed(one, '.2f')}")
    ratio = errors_over_before(SMALL, "LIFE best")
    what = 'small: error over that of "best" before, geometric mean, one split'
    bars.at_most(what, _geometric(ratio.values()), 1.06, ".3f")
    bars.note(f'small: error over that of "best" before: {_listed(ratio, ".3f")}')


def bests(bars: Bars) -> None:
    """The most accurate preset on smooth sets."""
    FITS.run_missing(BEST, [(data, 0) for data in SMOOTH_SETS], partial(fit, BEST))
    _note_commits(bars, BEST)
    ratio = errors_over_before(BEST, "LIFE best")
    for data in SMOOTH_SETS:
        bars.at_most(f"best: error over before, {data}, one split", ratio[data], 0.97, ".3f")


def seeds(bars: Bars) -> None:
    """Two seeds of the default."""
    SEEDS.run_missing(DEFAULT, [(data, 0) for data in SEED_SETS], partial(agreement, DEFAULT))
    for row in SEEDS.read(DEFAULT):
        what = f"{row['data']}: share of rows with the same first reason by two seeds"
        bars.at_least(what, row["first_reason"], 0.85, ".2f")
        what = f"{row['data']}: share of slopes at reach .05 of the same sign by two seeds"
        bars.at_least(what, row["slope_signs"], 0.90, ".2f")


def tables(bars: Bars) -> None:
    """Presets and peers side by side, as a page."""
    for label in table.MODELS:
        work = partial(table.compared, label)
        table.TABLE.run_missing(label, [(data, 0) for data in table.SETS], work)
    table.write()
    bars.note("readable-table.md: means over " + ", ".join(table.SETS) + ", one split")


def glasses(bars: Bars) -> None:
    """Main effects and pairs beside explainable boosting machines."""
    glass.glasses(bars, seeds_before())


def _fidelities(bars: Bars, label: str, **limits: float) -> None:
    every = {row["data"]: row for row in FITS.read(label) if row["seed"] == 0}
    left_out = sorted(data for data, row in every.items() if row["columns"] < 2)
    bars.note(f"{label}: {', '.join(left_out) or 'no set'} has fewer than two columns in reach")
    one, together, near = (_known(label, name) for name in ("one", "together", "near"))
    median = np.median([*one.values()])
    what = f"{label}: median fidelity at reach .05, one column, {len(one)} sets"
    bars.at_least(what, median, limits["one"], ".3f")
    least = min(one, key=one.__getitem__)
    what = f"{label}: least fidelity at reach .05, one column ({least})"
    bars.at_least(what, one[least], limits["least"], ".3f")
    what = f"{label}: median fidelity at reach .05, all columns"
    bars.at_least(what, np.median([*together.values()]), limits["together"], ".3f")
    what = f"{label}: median fidelity of pointwise slopes at reach .02"
    bars.at_least(what, np.median([*near.values()]), limits["near"], ".2f")
    for name, found in (("one column", one), ("all columns", together), ("pointwise", near)):
        bars.note(f"{label}: {name}: {_listed(found, '.2f')}")


def _known(label: str, name: str) -> dict[str, float]:
    """A figure of the first split, of sets with two columns in reach."""
    rows = FITS.read(label)
    return {row["data"]: row[name] for row in rows if row["seed"] == 0 and row["columns"] >= 2}


def _ratio_of(name: str, label: str, other: str) -> dict[str, float]:
    """A figure of the first split over another model's."""
    first, second = (
        {row["data"]: row[name] for row in FITS.read(one) if row["seed"] == 0}
        for one in (label, other)
    )
    return {data: first[data] / second[data] for data in first if data in second}


def _geometric(values: Iterable[float]) -> float:
    return float(np.exp(np.mean(np.log([*values]))))


def _listed(values: dict[str, Any], form: str) -> str:
    return ", ".join(f"{name} {format(value, form)}" for name, value in values.items())


def _note_commits(bars: Bars, label: str) -> None:
    rows = FITS.read(label)
    commits = sorted({row["commit"] for row in rows})
    bars.note(f"{label}: {len(rows)} runs, measured at {', '.join(commits)}")


PARTS: dict[str, Callable[[Bars], None]] = {
    "default": defaults,
    "paper": papers,
    "frontier": frontiers,
    "small": smalls,
    "best": bests,
    "seeds": seeds,
    "table": tables,
    "glass": glasses,
    "additive": glass.additives,
    "planted": planted,
    "speed": glass.speeds,
    "exact": glass.exact,
}


def _or_missing(name: str, part: Callable[[Bars], None], runs: Runs, label: str) -> Any:
    """A part, or with `--kept` a bar that is short where nothing of it was run."""

    def reported(bars: Bars) -> None:
        if KEPT_ONLY and not runs.read(label):
            bars.at_least(f"{name}: runs", 0, 1, "d")
        else:
            part(bars)

    return reported


#: By what a part is known to have been run.
_KNOWN_BY = {
    "frontier": (FITS, at_price(max(PRICES))),
    "small": (FITS, SMALL),
    "best": (FITS, BEST),
    "seeds": (SEEDS, DEFAULT),
    "table": (table.TABLE, DEFAULT),
    "glass": (FITS, GLASS),
    "additive": (FITS, ADDITIVE),
    "planted": (TRIES, GLASS),
    "speed": (glass.SPEED, DEFAULT),
}

if __name__ == "__main__":
    reported = {
        name: _or_missing(name, part, *_KNOWN_BY[name]) if name in _KNOWN_BY else part
        for name, part in PARTS.items()
    }
    run_parts(Bars("readable"), reported, FITS)
