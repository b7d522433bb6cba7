"""`scripts/bench recipe [same] [mended] [times] [structure] [checks] [readings] [outside] ...`.

One recipe for every preset: the same models as before, what each mended defect changed, fit times,
and measures of the source. Runs are kept and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np

from benchmarks.bars import Bars, run_parts
from benchmarks.paper.analysis import geometric
from benchmarks.recipe import ablation, models, readings, source, versions
from benchmarks.runs import Runs

if TYPE_CHECKING:
    from collections.abc import Callable

#: Five sets of both tasks that every version reads, small enough for many fits.
SETS = ("aquatic_toxicity", "airfoil", "abalone", "german_credit", "breast_cancer")
SEEDS = range(5)
#: Splits on which errors are compared: folds drawn anew move them by chance alone.
SPLITS = {"fast": range(10), "best": range(5)}
PRESETS = ("paper", "fast", "best", "small")
#: Rows of each set: for errors, and for times, which are taken five times for each version.
ROWS, ROWS_TIMED = 2_000, 400

FITS = Runs("recipe-runs.csv", ("error", "cpu"))


def same(bars: Bars) -> None:
    """Predictions of the commit where the structure is done, beside those of the commit before."""
    commits = (versions.BEFORE, versions.STRUCTURE)
    found = joblib.Parallel(n_jobs=2)(
        joblib.delayed(versions.ask)(commit, "worker.py") for commit in commits
    )
    before, after = found
    ratios = {
        name: _difference(np.asarray(before[name]), np.asarray(after[name])) for name in before
    }
    bars.at_least("configurations compared with the commit before", len(ratios), 14, "d")
    named = {"adam"}
    worst = max((name for name in ratios if name not in named), key=ratios.__getitem__)
    bars.at_most(f"largest relative difference of predictions ({worst})", ratios[worst], 1e-9)
    for name in sorted(named):
        bars.at_most(
            f"{name}, where the order of an operation changed (one Adam update for all)",
            ratios[name],
            1e-9,
        )


def _difference(before: np.ndarray, after: np.ndarray) -> float:
    return float(np.abs(before - after).max() / np.abs(before).max())


def mended(bars: Bars) -> None:
    """Test errors before and after each mended defect or merged criterion."""
    for what, (before, after) in versions.STEPS.items():
        preset = "best" if "best" in what else "fast"
        for commit in (before, after):
            jobs = [(data, seed) for data in SETS for seed in SPLITS[preset]]
            FITS.run_missing(f"{preset} {commit}", jobs, partial(_fit, commit, preset, ROWS))
        ratios = _ratios(f"{preset} {before}", f"{preset} {after}", "error", np.mean)
        bars.at_most(
            f"{what}: error over before, {len(ratios)} sets", geometric(ratios), 1.005, ".4f"
        )
        each = ", ".join(f"{data} {ratio:.3f}" for data, ratio in zip(SETS, ratios, strict=True))
        bars.note(f"{what}: {each}")


def times(bars: Bars) -> None:
    """CPU seconds of every preset over those of the commit before, in turn, one thread."""
    for preset in PRESETS:
        for seed in SEEDS:
            for commit in (versions.BEFORE, "now"):
                jobs = [(data, seed) for data in SETS]
                work = partial(_fit, commit, preset, ROWS_TIMED)
                FITS.run_missing(f"time {preset} {commit}", jobs, work)
        ratios = _ratios(f"time {preset} {versions.BEFORE}", f"time {preset} now", "cpu", np.median)
        bars.at_most(
            f"{preset}: CPU seconds of a fit over before, median of {len(SEEDS)}, "
            f"{len(ratios)} sets",
            geometric(ratios),
            1.05,
            ".3f",
        )


def _fit(commit: str, preset: str, rows: int, data: str, seed: int) -> list[dict[str, Any]]:
    part = f"time {preset} {commit}" if rows == ROWS_TIMED else f"{preset} {commit}"
    found = versions.ask(commit, "one_fit.py", data, str(seed), preset, str(rows))
    return [{"part": part, "data": data, "seed": seed, **found}]


def _ratios(before: str, after: str, figure: str, mean: Callable[[Any], Any]) -> list[float]:
    """Of each set, the mean figure of the second part over that of the first, on equal seeds."""
    parts = [FITS.read(part) for part in (before, after)]
    found = []
    for data in SETS:
        rows = [{one["seed"]: one[figure] for one in part if one["data"] == data} for part in parts]
        seeds = sorted(set(rows[0]) & set(rows[1]))
        if seeds:
            first, second = (mean([one[seed] for seed in seeds]) for one in rows)
            found.append(float(second / first))
    return found


def structure(bars: Bars) -> None:
    """Measures of the source, before and after."""
    now, then = (source.measure(versions.source_of(one)) for one in ("now", versions.BEFORE))
    bars.at_most(f"longest function, lines of code (before {then.function})", now.function, 50, "d")
    bars.at_most(f"longest file, lines (before {then.file})", now.file, 500, "d")
    bars.at_most(f"modules in an import cycle (before {then.cycle})", now.cycle, 0, "d")
    bars.at_most(f"private imports across packages (before {then.private})", now.private, 0, "d")
    bars.at_most(f"isinstance on a concrete loss (before {then.losses})", now.losses, 0, "d")
    bars.at_most(f"banned names in the source (before {then.names})", now.names, 0, "d")
    bars.at_most(f"banned phrases in the source (before {then.phrases})", now.phrases, 0, "d")
    for what in ("modules", "lines", "training_lines", "entries", "numbers"):
        words = {
            "modules": "modules of the package",
            "lines": "lines of the package",
            "training_lines": "lines of the files that train",
            "entries": "top-level entries",
            "numbers": "numbers assigned to names at module level",
        }[what]
        bars.note(f"{words}: {getattr(now, what):,} (before {getattr(then, what):,})")
    for preset in ("auto", "paper"):
        touched = [versions.ask(one, "touched.py", preset) for one in (versions.BEFORE, "now")]
        bars.note(f"modules touched by one fit of {preset!r}: {touched[1]} (before {touched[0]})")


def checks(bars: Bars) -> None:
    """scikit-learn's estimator checks on the default's own recipe."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = models.estimator_checks()
    for name, (results, fits) in found.items():
        counts = Counter(one["status"] for one in results)
        failed = sorted(one["check_name"] for one in results if one["status"] == "failed")
        unexpected = [one for one in failed if one not in models.EXPECTED]
        bars.at_most(
            f"{name}: unexpected failures of {len(results)} checks", len(unexpected), 0, "d"
        )
        bars.at_most(
            f"{name}: fits by another recipe, of {sum(fits.values())}", fits["other"], 0, "d"
        )
        bars.note(f"{name}: {dict(counts)}; failing as expected: {', '.join(failed)}")
    for name, why in models.EXPECTED.items():
        bars.note(f"{name} cannot hold: {why}")


def reading(bars: Bars) -> None:
    """What readings cost, and what a fitted model holds."""
    passes = readings.equation_passes()
    bars.at_most("all local equations of the default, in prediction passes", passes, 3.2, ".2f")
    size, neurons = models.size_of_small()
    bars.at_most(f'pickle of "small" ({neurons} neurons), MB', size / 1e6, 1.0, ".2f")
    share = models.copies_of_networks()
    bars.at_most("pickle of the default over its network, base learners aside", share, 1.1, ".3f")


def folds(bars: Bars) -> None:
    """How much a model depends on its folds, and what no longer moves them."""
    found = models.folds()
    bars.at_most(
        "rows that change their fold where codes move by one last place", found.moved, 0, "d"
    )
    bars.at_most("rows that change their fold from float64 to float32", found.single, 0, "d")
    bars.note(
        f"predictions of two seeds (other folds, other starts) differ by {found.seeds:.3f} "
        f"standard deviations of the target, root mean square; test errors by {found.errors:.2%}"
    )


def outside(bars: Bars) -> None:
    """Predictions far outside the data, on all sets, and exactly linear functions."""
    found, further = models.outside()
    where = max(found, key=found.__getitem__)
    n_within = sum(one <= 1.0 for one in found.values())
    bars.at_most(
        f"ten spans outside the data: largest distance of a prediction from the target's range, "
        f"over the range, {len(found)} sets ({where})",
        found[where],
        1.0,
        ".3f",
    )
    bars.at_most("how much further it is at a hundred spans, at the most", further, 1e-9)
    bars.note(
        f"ten spans outside: at most one range on {n_within} of {len(found)} sets; {where} has "
        f"{models.outside_before(where):.3f} where codes end two rows before a column's ends"
    )
    for what, ratio in models.linear_functions().items():
        bars.at_most(
            f"exactly linear function, {what}: RMSE over ridge regression's", ratio, 1.05, ".3f"
        )


def accuracy(bars: Bars) -> None:
    """Where the accuracy comes from; for the record, not for a limit, and run where it is named."""
    ablation.note(bars, run="accuracy" in sys.argv)


PARTS = {
    "same": same,
    "mended": mended,
    "times": times,
    "structure": structure,
    "checks": checks,
    "readings": reading,
    "folds": folds,
    "outside": outside,
    "accuracy": accuracy,
}

if __name__ == "__main__":
    run_parts(Bars("recipe"), PARTS, FITS)
