"""Fits: a model on one split of a table; error increases of fewer neurons and their estimates."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.metrics import log_loss

from benchmarks.paper.experiments import REGRESSION
from benchmarks.peers.models import LIFE, MODELS
from benchmarks.runs import Runs
from benchmarks.unseen.sets import SETS, draw
from lifenet import LIFEClassifier, LIFERegressor, preset

PEERS = ("XGBoost", "LightGBM", "CatBoost", "MLP", "linear")
#: The default without a linear model in its stack. This and the columns below name runs that are
#: kept in files.
UNGUARDED = "LIFE without lines"
N_NEURONS = 64

FITS = Runs("unseen-runs.csv", ("error", "null", "cpu", "line"))
PRICES = Runs("unseen-prices.csv", ("foretold", "noise", "found"))


def fit(model: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Test error, that of a constant, seconds of computing, and the linear model's weight."""
    X, X_test, y, y_test = draw(data, seed)
    task = SETS[data].task
    made = _unguarded(task, seed) if model == UNGUARDED else MODELS[model].build(task, seed)
    begun = time.process_time()
    made.fit(X, y)
    cpu = time.process_time() - begun
    return [
        {
            "part": model,
            "data": data,
            "seed": seed,
            "error": _plain(_error(made, X_test, y_test, task)),
            "null": _plain(_null(y, y_test, task)),
            "cpu": _plain(cpu),
            "line": _linear_weight(made),
        }
    ]


def price(data: str, seed: int) -> list[dict[str, Any]]:
    """Error increase of 64 neurons: as `simplify` estimates it on the training part, and tested."""
    X, X_test, y, y_test = draw(data, seed)
    task = SETS[data].task
    full = MODELS[LIFE].build(task, seed).fit(X, y)
    frontier = full.simplify(X, y)
    small = full.with_network(frontier.network_of(N_NEURONS))
    errors = [_error(one, X_test, y_test, task) for one in (full, small)]
    return [
        {
            "part": "prices",
            "data": data,
            "seed": seed,
            "foretold": _plain(frontier.increase(N_NEURONS)),
            "noise": _plain(frontier.standard_error(N_NEURONS)),
            "found": _plain(errors[1] / errors[0] - 1),
        }
    ]


def _linear_weight(model: Any) -> float:
    """Stacking weight of the linear model; zero for models without one."""
    stacked = getattr(model, "stacked_", ())
    return sum((one.weight for one in stacked if one.companion == "linear model"), 0.0)


def _unguarded(task: str, seed: int) -> Any:
    kind = LIFERegressor if task == REGRESSION else LIFEClassifier
    return kind(preset=preset("fast").set_params(stack=()), random_state=seed)


def _error(model: Any, X: Any, y: Any, task: str) -> float:
    if task == REGRESSION:
        return float(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
    return float(log_loss(y, model.predict_proba(X), labels=model.classes_))


def _null(y: Any, y_test: Any, task: str) -> float:
    """The error of a constant."""
    if task == REGRESSION:
        return float(np.sqrt(np.mean((y_test - y.mean()) ** 2)))
    shares = np.bincount(y) / len(y)
    return float(-np.mean(np.log(shares[y_test])))


def _plain(value: float) -> str:
    return f"{value:.6g}"
