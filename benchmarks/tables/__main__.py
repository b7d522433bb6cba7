"""`scripts/bench tables [raw] [leaks] [orders] [exact] [bad] [fuzz] [speed] [native] [--kept]`.

Tables as people have them: every raw file, beside peers that handle categories and gaps by
themselves, and what must hold whatever the table. All parts, or some; runs are kept and not
repeated; with `--kept` no missing one is begun, and what takes a minute is done all the same.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.bars import Bars, run_parts
from benchmarks.tables import bad_input, fuzz
from benchmarks.tables.data import CLASSIFICATION, RAW, REGRESSION
from benchmarks.tables.models import CATBOOST, EBM, LIFE, LIGHTGBM, PREPARED
from benchmarks.tables.proofs import CHANGES, LEAKS, ORDER_SETS, ORDERS, leak, libraries, order
from benchmarks.tables.raw import RAWS, raw, write_table
from benchmarks.tables.speed import SPEED, speed
from benchmarks.tables.work import BY_AUC, FITS, SETS, fit

if TYPE_CHECKING:
    from collections.abc import Iterable


N_SEEDS, N_ORDERS = 3, 5
#: Most of the ratio of our error to a peer's, geometric mean over the sets.
LIMITS = {LIGHTGBM: 0.98, CATBOOST: 1.00, EBM: 0.97}
#: A fit of EBM takes minutes: one split of each set.
_EBM_SEEDS = 1
N_FRAMES, N_FITS = 20_000, 500
EXACT = (
    "tests/test_explain_tables.py",
    "tests/test_explain_tables_rows.py",
    "tests/test_decompose_tables.py",
    "tests/test_table_models.py",
)
CHECKS = ("tests/test_estimator_checks.py",)


def raws(bars: Bars) -> None:
    """Every raw file with nothing but the target named."""
    RAWS.run_missing("raw", [(name, 0) for name in RAW], raw)
    rows = RAWS.read("raw")
    _note_commits(bars, "raw files", rows)
    bars.at_least("raw files fitted, scored and explained", len(rows), len(RAW), "d")
    gap = max((row["gap"] for row in rows), default=np.nan)
    bars.at_most("raw files: largest relative gap of parts that must sum to a score", gap, 1e-9)
    write_table()
    bars.note("tables-raw.md: file, kinds of columns, seconds, score")


def natives(bars: Bars) -> None:
    """Beside peers that handle categories and gaps by themselves."""
    for model in (LIFE, PREPARED, LIGHTGBM, CATBOOST, EBM):
        jobs = [
            (data, seed) for data in SETS for seed in range(_EBM_SEEDS if model == EBM else N_SEEDS)
        ]
        FITS.run_missing(model, jobs, partial(fit, model))
        _note_commits(bars, model, FITS.read(model))
    errors = _errors()
    for peer, limit in LIMITS.items():
        ratio = {data: _ratio(errors, data, peer) for data in SETS}
        ratio = {data: one for data, one in ratio.items() if np.isfinite(one)}
        what = f"error over {peer}'s, geometric mean of {len(ratio)} of {len(SETS)} sets"
        bars.at_most(what, _geometric(ratio.values()), limit, ".4f")
        bars.note(f"error over {peer}'s: {_listed(ratio)}")
    worse = {data: _beyond(errors, data) for data in SETS}
    worst = max(worse, key=worse.__getitem__)
    what = f"error over that after preparing by hand, less two standard errors ({worst})"
    bars.at_most(what, worse[worst], 1.01, ".4f")
    ratio = {data: _ratio(errors, data, PREPARED) for data in SETS}
    bars.note(f"error over that after preparing by hand: {_listed(ratio)}")
    gaps = [errors[model]["hmeq"][0] for model in (LIFE, PREPARED)]
    what = "HMEQ, first split: log-loss over that with SimpleImputer(add_indicator=True)"
    bars.at_most(what, gaps[0] / gaps[1], 1.0, ".4f")
    bars.note(f"HMEQ, first split: log-loss {gaps[0]:.4f}, by hand {gaps[1]:.4f}")


def leaks(bars: Bars) -> None:
    """A column of 2,000 random levels and a random target."""
    LEAKS.run_missing("leaks", [(task, 0) for task in (REGRESSION, CLASSIFICATION)], leak)
    _note_commits(bars, "leaks", LEAKS.read("leaks"))
    for row in LEAKS.read("leaks"):
        what = f"2,000 random levels, random target, {row['data']}: error over the null model's"
        bars.at_most(what, row["error"] / row["null"], 1.01, ".4f")


def orders(bars: Bars) -> None:
    """Libraries, and the order and names of what has none."""
    what = "largest difference of predictions: pandas, polars, pyarrow, and numpy for numbers"
    bars.at_most(what, libraries(), 0.0)
    jobs = [(data, seed) for data in ORDER_SETS for seed in range(N_ORDERS)]
    for change in CHANGES:
        ORDERS.run_missing(change, jobs, partial(order, change))
        rows = ORDERS.read(change)
        _note_commits(bars, f"order of {change}", rows)
        for data in ORDER_SETS:
            own = [row for row in rows if row["data"] == data]
            sums = [sum(row[name] for row in own) for name in ("changed", "given")]
            away = abs(sums[0] / sums[1] - 1) if own else np.nan
            what = f"{data}, five seeds: relative change of the error by other {_WORDS[change]}"
            bars.at_most(what, away, 0.01, ".4f")


_WORDS = {
    "rows": "order of rows",
    "columns": "order of columns",
    "levels": "names and order of levels",
}


def exact(bars: Bars) -> None:
    """What the tests show: exact explanations, preset "paper" without draws, estimator checks."""
    run = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    bars.runs_tests("explanations of tables are exact; order and names", [*run, *EXACT])
    bars.runs_tests("estimator checks with categories and NaN allowed", [*run, *CHECKS])


def bad(bars: Bars) -> None:
    """What is wrong is named, with the remedy."""
    found = bad_input.bad_inputs()
    bad_input.write_table(found)
    bars.at_least("bad inputs with a message that names it and the remedy", len(found), 40, "d")


def fuzzes(bars: Bars) -> None:
    """Random frames through reader and coding, and some of them fitted."""
    found = fuzz.fuzz(N_FRAMES, seed=0)
    bars.at_least("random frames read and coded", found["frames"], N_FRAMES, "d")
    bars.at_most("errors without a column's or a parameter's name", found["unnamed"], 0, "d")
    bars.at_most("cells that do not decode to what was given", found["wrong"], 0, "d")
    fits = fuzz.fuzz_fits(N_FITS, seed=0)
    bars.at_least("random frames fitted", fits["fits"], N_FITS, "d")
    what = "largest difference of predictions to those of the same table as plain numbers"
    bars.at_most(what, fits["largest"], 1e-9)


def speeds(bars: Bars) -> None:
    """Reading and encoding of 100,000 rows x 30 columns."""
    SPEED.run_missing("speed", [("half text", 0)], speed)
    _note_commits(bars, "speed", SPEED.read("speed"))
    for row in SPEED.read("speed"):
        share = row["encoding"] / row["fit"]
        bars.at_most("100,000 rows x 30, half text: share of encoding in a fit", share, 0.15)
        bars.note(f"CPU seconds: encoding {row['encoding']:.1f}, fit {row['fit']:.1f}")


def _errors() -> dict[str, dict[str, dict[int, float]]]:
    """Errors by model, set and seed."""
    found: dict[str, dict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for model in (LIFE, PREPARED, LIGHTGBM, CATBOOST, EBM):
        for row in FITS.read(model):
            found[model][row["data"]][row["seed"]] = row["error"]
    return found


def _ratio(errors: Any, data: str, peer: str) -> float:
    """Mean error over a peer's on the splits that both have; of AUC, the peer's over ours."""
    seeds = sorted(set(errors[LIFE][data]) & set(errors[peer][data]))
    if not seeds:
        return np.nan
    ours, theirs = (np.mean([errors[one][data][seed] for seed in seeds]) for one in (LIFE, peer))
    return float((1 - theirs) / (1 - ours) if data in BY_AUC else ours / theirs)


def _beyond(errors: Any, data: str) -> float:
    """Error over that after preparing by hand, less two standard errors over the splits."""
    seeds = sorted(set(errors[LIFE][data]) & set(errors[PREPARED][data]))
    pairs = np.array([[errors[one][data][seed] for one in (LIFE, PREPARED)] for seed in seeds])
    pairs = 1 / (1 - pairs) if data in BY_AUC else pairs
    ratio = pairs[:, 0] / pairs[:, 1]
    error = ratio.std(ddof=1) / np.sqrt(len(ratio)) if len(ratio) > 1 else 0.0
    return float(ratio.mean() - 2 * error)


def _geometric(values: Iterable[float]) -> float:
    known = [*values]
    return float(np.exp(np.mean(np.log(known)))) if known else np.nan


def _listed(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3f}" for name, value in values.items())


def _note_commits(bars: Bars, what: str, rows: list[dict[str, Any]]) -> None:
    found = sorted({row["commit"] for row in rows})
    bars.note(f"{what}: {len(rows)} runs, measured at {', '.join(found) or 'no commit'}")


if __name__ == "__main__":
    parts = {
        "raw": raws,
        "leaks": leaks,
        "orders": orders,
        "exact": exact,
        "bad": bad,
        "fuzz": fuzzes,
        "speed": speeds,
        "native": natives,
    }
    run_parts(Bars("tables"), parts, FITS, RAWS, LEAKS, ORDERS, SPEED)
