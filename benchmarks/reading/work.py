"""One fit and its readings, beside what can be found out without them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from sklearn.metrics import log_loss

from benchmarks.fast.made import FUNCTIONS
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.samples import draw_sample
from benchmarks.peers.experiments import DATA
from benchmarks.runs import Runs
from lifenet import LIFEClassifier, LIFERegressor
from lifenet.explain import (
    coefficient_signs,
    equation_fidelity,
    explain_rows,
    feature_importance,
    interaction_strength,
    merge_regions,
)
from lifenet.explain._windows import window_lines
from lifenet.schema import FeatureSchema

if TYPE_CHECKING:
    from benchmarks.paper.samples import Sample

REACH = 0.05
#: The sets of `scripts/bench peers`, small ones first; all are right on mushroom.
SETS = tuple(name for name in sorted(DATA, key=lambda one: DATA[one].n_rows) if name != "mushroom")
TRUTH_SETS = ("german_credit", "california_housing", "taiwan_credit")
FITS = Runs(
    "reading-fidelity.csv",
    ("error", "stated", "one", "together", "fresh", "pointwise", "columns", "neurons"),
)
_TRUTH_FIGURES = (
    *("importance", "signs", "interactions", "merged", "network", "base", "regions"),
    *("first_reason", "slope_signs"),
)
TRUTH = Runs("reading-truth.csv", _TRUTH_FIGURES)
SPEED = Runs("reading-speed.csv", ("equations", "passes"))
#: Rows that are read, where a reading of all would take minutes.
_ROWS, _FEW = 4_000, 300


def _fit(preset: str, data: str, seed: int = 0) -> tuple[Any, Sample, Any, Any]:
    sample = draw_sample(DATA[data], 0)
    kind = LIFERegressor if DATA[data].task == REGRESSION else LIFEClassifier
    model = kind(preset=preset, random_state=seed).fit(sample.X, sample.y)
    X, X_test = (np.asarray(one, dtype=np.float64) for one in (sample.X, sample.X_test))
    return model, sample, X, X_test


def _loss(task: str, y: Any, score: Any) -> float:
    if task == REGRESSION:
        return float(np.mean(np.square(y - score)))
    return float(log_loss(y, 1 / (1 + np.exp(-score)), labels=[0, 1]))


def fidelity(preset: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Fidelity on training rows and on test rows, and with moves to values of the test rows."""
    model, sample, X, X_test = _fit(preset, data)
    stated = equation_fidelity(model, X, reach=REACH)
    found = equation_fidelity(model, X_test, reach=REACH)
    # The same slopes, asked at values that no training row need have had.
    fresh = equation_fidelity(model, X_test, reach=REACH, moves=FeatureSchema.of(X_test))
    pointwise = equation_fidelity(model, X_test, reach=REACH, slopes="pointwise")
    score = model.network_.score(X_test)[:, 0]
    return [
        {
            "part": preset,
            "data": data,
            "seed": seed,
            "error": _loss(DATA[data].task, sample.y_test, score),
            "stated": stated.one[0],
            "one": found.one[0],
            "together": found.together[0],
            "fresh": fresh.one[0],
            "pointwise": pointwise.one[0],
            "columns": found.n_columns[0],
            "neurons": model.network_.n_neurons,
        }
    ]


def truth(preset: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Readings of one model, what they are compared with, and those of a second seed."""
    model, sample, X, X_test = _fit(preset, data)
    task = DATA[data].task
    rows = X[:_ROWS]
    other = _fit(preset, data, 1)[0]
    merged = merge_regions(model, X, sample.y)
    score = model.network_.score(X_test)[:, 0]
    base = float(np.mean(sample.y))
    constant = np.full(
        len(sample.y_test), base if task == REGRESSION else np.log(base / (1 - base))
    )
    losses = [_loss(task, sample.y_test, one) for one in (merged.score(X_test), score, constant)]
    return [
        {
            "part": preset,
            "data": data,
            "seed": seed,
            "importance": _importance(model, task, X, sample.y),
            "signs": _signs(model, rows[:_FEW]),
            "interactions": _interactions(model, rows[:_FEW]),
            **dict(zip(("merged", "network", "base"), losses, strict=True)),
            "regions": merged.n_regions,
            **_agreement(model, other, X_test[:_FEW], rows),
        }
    ]


def _importance(model: Any, task: str, X: Any, y: Any) -> float:
    """Rank correlation with permutation importance over the features whose order it knows."""
    rows, target = X[-_ROWS:], np.asarray(y)[-_ROWS:]
    ours = feature_importance(model, rows).importance
    scoring = "neg_mean_squared_error" if task == REGRESSION else "neg_log_loss"
    theirs = permutation_importance(
        model, rows, target, scoring=scoring, n_repeats=5, random_state=0
    )
    # Below two of its standard deviations noise decides the order.
    seen = theirs.importances_mean > 2 * theirs.importances_std
    return float(spearmanr(ours[seen], theirs.importances_mean[seen])[0])


#: Differences of scores that are smaller than this share of them are rounding.
_ROUNDING = 1e-13


def _signs(model: Any, rows: Any) -> float:
    """Largest gap to shares of rows against a sign that are counted from scores alone."""
    schema, network = model.schema_, model.network_
    found = coefficient_signs(model, rows, expected=dict.fromkeys(schema.names, 1), near_zero=0.0)
    gaps = []
    for column, check in enumerate(found.checks):
        known = schema.values[column]
        against = 0
        for row in rows:
            values = known.values[
                np.abs(known.values - row[column]) <= REACH * known.span * (1 + 1e-9)
            ]
            counts = known.counts[np.isin(known.values, values)]
            steps = values - row[column]
            if not steps.any():
                low = known.values[known.values < row[column]].max(initial=-np.inf)
                high = known.values[known.values > row[column]].min(initial=np.inf)
                ends = [end if np.isfinite(end) else row[column] for end in (low, high)]
                scores = _moved(network, row, column, np.array(ends))
                rounding = _ROUNDING * np.abs(scores).max()
                against += scores[1] < scores[0] - rounding and ends[1] > ends[0]
                continue
            own = network.score(row[None])[0, 0]
            gains = _moved(network, row, column, values) - own
            rounding = _ROUNDING * max(abs(own), np.abs(gains).max()) * (counts @ np.abs(steps))
            against += counts @ (steps * gains) < -rounding
        gaps.append(abs(against / len(rows) - check.against))
    return float(max(gaps))


def _moved(network: Any, row: Any, column: int, values: Any) -> Any:
    table = np.repeat(row[None], len(values), axis=0)
    table[:, column] = values
    return network.score(table)[:, 0]


def _interactions(model: Any, rows: Any) -> float:
    """Largest relative gap to mixed differences of scores of the first six features."""
    n_pairs, few = 50, list(range(min(6, rows.shape[1])))
    found = interaction_strength(model, rows, n_pairs=n_pairs, random_state=0).pair
    cumulated = np.cumsum(np.full(len(rows), 1 / len(rows)))
    uniform = np.random.default_rng(0).random((2, n_pairs)) * cumulated[-1]
    x, z = (rows[np.searchsorted(cumulated, one, "right")] for one in uniform)

    def score(*columns: int) -> Any:
        table = x.copy()
        table[:, list(columns)] = z[:, list(columns)]
        return model.network_.score(table)[:, 0]

    gaps = []
    for j in few:
        for k in few[j + 1 :]:
            mixed = score() - score(j) - score(k) + score(j, k)
            gaps.append(abs(np.sqrt(np.mean(mixed**2)) / 2 - found[j, k]))
    return float(max(gaps) / found.max())


def _agreement(model: Any, other: Any, rows: Any, background: Any) -> dict[str, float]:
    """How often two seeds give the same first reason, and the same sign of a slope at a reach."""
    both = [explain_rows(one, rows, X=background) for one in (model, other)]
    first = [[np.abs(row.parts).argmax() for row in one] for one in both]
    slopes = [np.array([row.slopes for row in one]) for one in both]
    seen = (slopes[0] != 0) & (slopes[1] != 0)
    same = np.sign(slopes[0][seen]) == np.sign(slopes[1][seen])
    return {
        "first_reason": float(np.mean(np.equal(*first))),
        "slope_signs": float(same.mean()) if len(same) else np.nan,
    }


def speed(data: str, seed: int) -> list[dict[str, Any]]:
    """CPU seconds of equations at a reach, and of a prediction, of the same rows."""
    function = FUNCTIONS[data]
    train = function.rows(20_000, 20, seed)
    model = LIFERegressor(random_state=0).fit(train.X, train.y)
    rows = function.rows(100_000, 20, seed, test=True).X
    network = model.network_
    network.score(rows[:1_000])
    begun = time.process_time()
    network.score(rows)
    passed = time.process_time()
    for start in range(0, len(rows), 10_000):
        window_lines(network, rows[start : start + 10_000], model.schema_, REACH)
    done = time.process_time()
    found = {"equations": done - passed, "passes": passed - begun}
    return [{"part": "speed", "data": data, "seed": seed, **found}]
