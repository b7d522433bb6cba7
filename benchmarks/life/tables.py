"""LIFE(LLA), LIFE(Adam), LLA and Adam on real data, beside XGBoost and the paper's numbers.

Every method sees the same 80/20 split and one thread. LLA and Adam have their width (and Adam its
epochs) chosen on an inner 80/20 split of the training part; their final fit stops when it has
converged (`base` gives them all of LIFE's seconds). XGBoost has the settings of the project's
design notes.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.life import store
from benchmarks.life.paper import paper_figure
from lifenet import (
    AdamClassifier,
    AdamRegressor,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
)
from lifenet.datasets import load

if TYPE_CHECKING:
    from benchmarks.bars import Bars

WIDTHS = (10, 20, 40, 80, 160)
EPOCHS = (None, 100)
SEEDS, SEEDS_LARGE, LARGE = 5, 3, 20_000
# Name, the paper's name, most that the ratio to XGBoost may be (None: no bar).
REGRESSION = {
    "casp": ("CASP", 1.15),
    "california_housing": ("California Housing", 1.17),
    "bike_sharing": ("Bike Sharing", None),
    "electrical_grid": ("Electrical Grid", None),
    "abalone": ("Abalone", None),
    "airfoil": ("Airfoil", 0.85),
    "aquatic_toxicity": ("Aquatic Toxicity", 1.02),
}
CLASSIFICATION = {
    "breast_cancer": ("Breast Cancer Wisconsin", 0.89),
    "ringnorm": ("Ringnorm", 0.91),
    "magic": ("MAGIC Gamma Telescope", 1.00),
    "bank_marketing": ("Bank Marketing", 1.05),
    "mushroom": ("Mushroom", None),
}
METHODS = ("LIFE(LLA)", "LLA", "LIFE(Adam)", "Adam", "XGBoost")


def run(bars: Bars) -> None:
    store.run_missing("regression", jobs(REGRESSION), regression_job)
    store.run_missing("classification", jobs(CLASSIFICATION), classification_job)
    regression_bars(bars)
    classification_bars(bars)


def jobs(sets: dict[str, Any]) -> list[tuple[str, int]]:
    return [
        (name, seed)
        for name in sets
        for seed in range(SEEDS_LARGE if len(load(name).y) > LARGE else SEEDS)
    ]


def split(name: str, seed: int) -> tuple[Any, ...]:
    data = load(name)
    y = data.y if data.classes is None else (data.y == data.y.max()).astype(int)
    stratify = None if data.classes is None else y
    X, X_test, y, y_test = train_test_split(
        np.asarray(data.X, dtype=float), y, test_size=0.2, random_state=seed, stratify=stratify
    )
    return X, X_test, y, y_test


def timed_fit(model: Any, X: Any, y: Any) -> tuple[Any, float]:
    """A fit, and its seconds of computing: other work on the machine does not count."""
    begun = time.process_time()
    model.fit(X, y)
    return model, time.process_time() - begun


def regression_job(name: str, seed: int) -> list[dict[str, Any]]:
    from xgboost import XGBRegressor

    X, X_test, y, y_test = split(name, seed)
    variance = float(np.mean(np.square(y_test - y_test.mean())))

    def row_of(model: Any, seconds: float, method: str, setting: str = "") -> dict[str, Any]:
        error = float(np.mean(np.square(model.predict(X_test) - y_test)))
        return store.row(
            "regression", name, seed, method, error=error**0.5, second=1 - error / variance,
            seconds=seconds, neurons=_neurons(model), setting=setting,
        )  # fmt: skip

    def loss(model: Any, X: Any, y: Any) -> float:
        return float(np.mean(np.square(model.predict(X) - y)))

    return _all_methods(X, y, seed, row_of, loss, LIFERegressor, LLARegressor, AdamRegressor,
                        XGBRegressor)  # fmt: skip


def classification_job(name: str, seed: int) -> list[dict[str, Any]]:
    from xgboost import XGBClassifier

    X, X_test, y, y_test = split(name, seed)

    def row_of(model: Any, seconds: float, method: str, setting: str = "") -> dict[str, Any]:
        share = model.predict_proba(X_test)[:, 1]
        return store.row(
            "classification", name, seed, method, error=log_loss(y_test, share),
            second=roc_auc_score(y_test, share), seconds=seconds, neurons=_neurons(model),
            setting=setting,
        )  # fmt: skip

    def loss(model: Any, X: Any, y: Any) -> float:
        return float(log_loss(y, model.predict_proba(X)[:, 1]))

    return _all_methods(X, y, seed, row_of, loss, LIFEClassifier, LLAClassifier, AdamClassifier,
                        XGBClassifier, only_life=name == "mushroom")  # fmt: skip


def _neurons(model: Any) -> float:
    return float(model.network_.n_neurons) if hasattr(model, "network_") else np.nan


def _all_methods(X, y, seed, row_of, loss, life, lla, adam, xgboost, only_life=False):  # type: ignore[no-untyped-def]
    """All methods on one split, one row each."""
    rows = []
    model, by_lla = timed_fit(life(preset="paper", random_state=seed), X, y)
    rows.append(row_of(model, by_lla, "LIFE(LLA)"))
    if only_life:
        return rows
    model, by_adam = timed_fit(life(solver="adam", random_state=seed), X, y)
    rows.append(row_of(model, by_adam, "LIFE(Adam)"))

    inner = train_test_split(X, y, test_size=0.2, random_state=seed + 1000)
    limit = float(np.clip(by_lla / 4, 1.0, 10.0))
    width = min(
        WIDTHS,
        key=lambda k: _inner(lla(k, time_limit=limit, random_state=seed), inner, loss),
    )
    final = lla(width, n_init=3, time_limit=max(2.0, by_lla), random_state=seed)
    rows.append(row_of(*timed_fit(final, X, y), "LLA", f"width {width}"))

    # Many rows make many steps of an epoch: more epochs are worth trying only where there are few.
    grid = [(k, epochs) for k in WIDTHS for epochs in (EPOCHS if len(X) <= LARGE else EPOCHS[:1])]
    width, epochs = min(
        grid,
        key=lambda one: _inner(adam(one[0], max_epochs=one[1], random_state=seed), inner, loss),
    )
    final = adam(width, max_epochs=epochs, random_state=seed)
    rows.append(
        row_of(*timed_fit(final, X, y), "Adam", f"width {width}, epochs {epochs or 'auto'}")
    )

    depth = 8 if len(X) >= 0.8 * 5000 else 4
    peer = xgboost(
        n_estimators=500, learning_rate=0.05, max_depth=depth, subsample=0.8,
        colsample_bytree=0.8, n_jobs=1, random_state=seed,
    )  # fmt: skip
    rows.append(row_of(*timed_fit(peer, X, y), "XGBoost"))
    return rows


def _inner(model: Any, inner: tuple[Any, ...], loss: Any) -> float:
    X, X_validation, y, y_validation = inner
    return float(loss(model.fit(X, y), X_validation, y_validation))


def regression_bars(bars: Bars) -> None:
    rows = store.read("regression")
    lines = [_header("RMSE", "R²")]
    for name, (title, limit) in REGRESSION.items():
        error = store.by_method(rows, name, "error")
        lines += _table(rows, name, title, "real_reg", ("RMSE", "R2"))
        _against_base(bars, name, error, "RMSE")
        ratio = float(np.mean(error["LIFE(LLA)"] / error["XGBoost"]))
        what = f"RMSE of LIFE(LLA) over XGBoost, {name}"
        if limit is None:
            bars.note(f"{what}: {ratio:.3f}")
        else:
            bars.at_most(what, ratio, limit, ".3f")
    bars.files["life-regression.md"] = "\n".join(lines) + "\n"


def classification_bars(bars: Bars) -> None:
    rows = store.read("classification")
    lines, met = [_header("log-loss", "AUC")], 0
    for name, (title, limit) in CLASSIFICATION.items():
        error = store.by_method(rows, name, "error")
        if not error:
            bars.at_most(f"log-loss of LIFE(LLA) over XGBoost, {name}, not run", np.nan, 1.0)
            continue
        lines += _table(rows, name, title, "real_cla", ("logloss", "AUC"))
        if limit is None:  # all methods tell these classes apart
            area = store.by_method(rows, name, "second")["LIFE(LLA)"]
            bars.at_least(f"AUC of LIFE(LLA), {name}", float(area.mean()), 0.9995, ".4f")
            continue
        _against_base(bars, name, error, "log-loss")
        ratio = float(np.mean(error["LIFE(LLA)"] / error["XGBoost"]))
        met += ratio <= limit
        bars.note(
            f"log-loss of LIFE(LLA) over XGBoost, {name}: {ratio:.3f} (the paper's + 0.05: {limit})"
        )
    bars.at_least("sets of four whose ratio to XGBoost is at most the paper's + 0.05", met, 3)
    bars.files["life-classification.md"] = "\n".join(lines) + "\n"


def _against_base(bars: Bars, name: str, error: dict[str, np.ndarray], metric: str) -> None:
    for solver in ("LLA", "Adam"):
        life, base = error[f"LIFE({solver})"], error[solver]
        bar_against_base(bars, name, metric, solver, life, base, f"one fit of {solver}")


def bar_against_base(
    bars: Bars,
    name: str,
    metric: str,
    solver: str,
    life: np.ndarray,
    base: np.ndarray,
    what: str,
) -> None:
    """LIFE must not be worse than its base method, paired by split."""
    bars.at_most(
        f"{metric} of LIFE({solver}) over {what}, {name} "
        f"(better in {int(np.sum(life < base))} of {len(life)} splits)",
        float(np.mean(life / base)), 1.0, ".3f",
    )  # fmt: skip


def _header(first: str, second: str) -> str:
    return (
        f"| data | method | {first} (sd) | {second} | seconds, one thread | neurons "
        f"| the paper: {first} (sd) | {second} | seconds |\n|---|---|---|---|---|---|---|---|---|"
    )


def _table(
    rows: list[dict[str, Any]], name: str, title: str, table: str, metrics: tuple[str, str]
) -> list[str]:
    figures = {
        field: store.by_method(rows, name, field)
        for field in ("error", "second", "seconds", "neurons")
    }
    lines = []
    for method in [one for one in METHODS if one in figures["error"]]:
        error = figures["error"][method]
        theirs = [paper_figure(table, title, metric, method) for metric in (*metrics, "T")]
        lines.append(
            f"| {title} | {method} | {error.mean():.4g} ({error.std(ddof=1):.2g}) "
            f"| {figures['second'][method].mean():.4f} | {figures['seconds'][method].mean():.3g} "
            f"| {figures['neurons'][method].mean():.0f} | {' | '.join(theirs)} |".replace(
                "nan", "-"
            )
        )
    return lines
