"""Fits of the default that show what was mended: checks, folds, sizes, rows far outside."""

from __future__ import annotations

import pickle
import warnings
from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import make_regression
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import train_test_split
from sklearn.utils.estimator_checks import check_estimator

import lifenet.estimators._life_base as shell
from lifenet import CrossFit, Hierarchy, Leaves, LIFEClassifier, LIFERegressor, MiniBatch, preset
from lifenet.datasets import load, simulate
from lifenet.recipe.auto import resolve_resampling
from lifenet.recipe.recipe import fit_life

#: Checks that cannot hold for the default, and why.
_WEIGHTS = (
    "boosted trees count rows towards the fewest of a leaf, and mini-batches draw rows, so that a "
    "weight of two is only nearly a repeated row"
)
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": _WEIGHTS,
    "check_sample_weight_equivalence_on_sparse_data": _WEIGHTS,
}
#: The default's own recipe with few trees and steps, and folds of however few rows.
QUICK = replace(
    preset("fast"),
    neurons=(Leaves(3), Hierarchy(n_neurons=3, max_iter=3, n_networks=2, max_rows="auto")),
    finetune=MiniBatch(4),
    resampling=CrossFit(2, min_rows=4),
)
SETS = (
    *("abalone", "airfoil", "aquatic_toxicity", "bike_sharing", "california_housing", "casp"),
    *("electrical_grid", "lending_club", "bank_marketing", "breast_cancer", "magic", "mushroom"),
    *("ringnorm", "higgs_atlas_10k", "higgs_uci_35k", "give_me_some_credit", "taiwan_credit"),
    *("heloc", "german_credit", "hmeq"),
)
N_ROWS, N_SPANS = 1_000, 10.0


def estimator_checks() -> dict[str, tuple[list[dict[str, Any]], Counter[str]]]:
    """Results of all checks by estimator, and how many fits were by the recipe itself."""
    found = {}
    for kind in (LIFERegressor, LIFEClassifier):
        fits: Counter[str] = Counter(own=0, other=0)

        def counted(data: Any, recipe: Any, run: Any, fits: Counter[str] = fits) -> Any:
            fitted = fit_life(data, recipe, run)
            fits["own" if isinstance(recipe.resampling, CrossFit) else "other"] += 1
            return fitted

        shell.fit_life = counted
        results = check_estimator(kind(preset=QUICK, random_state=0), on_fail=None)
        shell.fit_life = fit_life
        found[kind.__name__] = (results, fits)
    return found


def size_of_small() -> tuple[int, int]:
    """Bytes of a pickled "small", and its neurons."""
    data = simulate.mim(1_000, random_state=0)
    model = LIFERegressor(preset="small", random_state=0).fit(data.X, data.y)
    return len(pickle.dumps(model)), model.network_.n_neurons


def copies_of_networks() -> float:
    """Bytes of a pickled default over those of its network and its records of base learners."""
    data = simulate.mim(1_000, random_state=0)
    model = LIFERegressor(random_state=0).fit(data.X, data.y)
    parts = (model.network_, model.hierarchy_)
    return len(pickle.dumps(model)) / sum(len(pickle.dumps(one)) for one in parts)


@dataclass(frozen=True)
class Folds:
    moved: int
    single: int
    seeds: float
    errors: float


def folds() -> Folds:
    """What moves folds, and what other folds and starts move."""
    X, y = _table("california_housing", 4_000)
    X = X.astype(np.float32).astype(np.float64)
    model = LIFERegressor(random_state=0)
    model.recipe_ = preset("fast")
    data = model._inputs(X, y, None, (X, y, None), reset=True)
    codes = replace(data.rows, X=np.nextafter(data.rows.X, np.inf))
    single = replace(data, X=X.astype(np.float32))
    ways = [_fold_numbers(one) for one in (data, replace(data, rows=codes), single)]
    train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=0)
    said = [LIFERegressor(random_state=s).fit(train, y_train).predict(test) for s in range(2)]
    errors = [np.sqrt(np.mean((one - y_test) ** 2)) for one in said]
    return Folds(
        int(np.sum(ways[0] != ways[1])),
        int(np.sum(ways[0] != ways[2])),
        float(np.sqrt(np.mean((said[0] - said[1]) ** 2)) / np.std(y_test)),
        float(abs(errors[0] - errors[1]) / errors[0]),
    )


def _fold_numbers(data: Any) -> np.ndarray:
    numbers = np.full(data.rows.n_rows, -1)
    resampling = resolve_resampling(CrossFit(), data.problem)
    for number, fold in enumerate(resampling.folds(data, 0)):
        numbers[fold.index] = number
    return numbers


def outside() -> tuple[dict[str, float], float]:
    """How far predictions ten spans outside the data leave the range that they have inside.

    The largest distance over the range, by set, and how much more it is at a hundred spans, at the
    most. Every column alone and all together are moved down and up; classes are measured by their
    scores.
    """
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(_outside)(name) for name in SETS)
    further = max(far - near for near, far in found)
    return {name: near for name, (near, _) in zip(SETS, found, strict=True)}, further


def _outside(name: str, margin: float = 0.25) -> tuple[float, float]:
    X, y = _table(name, N_ROWS)
    classes = len(np.unique(y)) == 2
    recipe = preset("fast")
    recipe = replace(recipe, codes=replace(recipe.codes, margin=margin))
    model = (LIFEClassifier if classes else LIFERegressor)(preset=recipe, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    answer = model.decision_function if classes else model.predict
    inside = answer(X)
    low, high = inside.min(), inside.max()
    if not classes:
        low, high = min(low, y.min()), max(high, y.max())
    span = np.quantile(X, 0.95, axis=0) - np.quantile(X, 0.05, axis=0)
    worst = [0.0, 0.0]
    for number, spans in enumerate((N_SPANS, 10 * N_SPANS)):
        for move in (*(np.eye(X.shape[1]) * span), span):
            for way in (-spans, spans):
                said = answer(X[:200] + way * move)
                beyond = np.maximum(np.maximum(said - high, low - said), 0.0)
                worst[number] = max(worst[number], float(beyond.max() / (high - low)))
    return worst[0], worst[1]


def outside_before(name: str) -> float:
    """The same distance where codes end two rows before a column's ends."""
    return _outside(name, margin=0.0)[0]


def linear_functions() -> dict[str, float]:
    """RMSE of the default over that of ridge regression where the truth is linear, three seeds."""
    found = {}
    for n, p, noise in ((600, 50, 20.0), (300, 10, 50.0), (1_000, 5, 10.0)):
        ratios = []
        for seed in range(3):
            X, y = make_regression(
                n, p, n_informative=max(3, p // 3), noise=noise, random_state=seed
            )
            train, test, y_train, y_test = train_test_split(X, y, test_size=0.25, random_state=seed)
            ridge = RidgeCV(np.geomspace(1e-3, 1e3, 30)).fit(train, y_train)
            ours = LIFERegressor(random_state=seed).fit(train, y_train)
            errors = [np.mean((one.predict(test) - y_test) ** 2) for one in (ours, ridge)]
            ratios.append(np.sqrt(errors[0] / errors[1]))
        found[f"{n:,} x {p}"] = float(np.exp(np.mean(np.log(ratios))))
    return found


def _table(name: str, most_rows: int) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    if len(X) > most_rows:
        chosen = np.random.default_rng(0).choice(len(X), most_rows, replace=False)
        X, y = X[chosen], y[chosen]
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X), y
