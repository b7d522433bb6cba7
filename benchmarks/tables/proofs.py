"""What must hold whatever the table: no leakage, and nothing decided by names or by order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from sklearn.metrics import log_loss

from benchmarks.runs import Runs
from benchmarks.tables.data import REGRESSION, split
from benchmarks.tables.models import error_of

if TYPE_CHECKING:
    from benchmarks.tables.data import Split

LEAKS = Runs("tables-leaks.csv", ("error", "null"))
ORDERS = Runs("tables-orders.csv", ("given", "changed"))
_LEVELS, _ROWS = 2_000, 20_000


def leak(task: str, seed: int) -> list[dict[str, Any]]:
    """Held-out error of the default where 2,000 levels and two numbers say nothing."""
    from lifenet import LIFEClassifier, LIFERegressor

    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "level": rng.integers(_LEVELS, size=_ROWS).astype(str),
            "x": rng.normal(size=_ROWS),
            "z": rng.normal(size=_ROWS),
        }
    )
    X["level"] = "level " + X["level"]
    y = rng.normal(size=_ROWS) if task == REGRESSION else rng.integers(2, size=_ROWS)
    half = _ROWS // 2
    kind = LIFERegressor if task == REGRESSION else LIFEClassifier
    model = kind(random_state=seed).fit(X[:half], y[:half])
    if task == REGRESSION:
        error = float(np.sqrt(np.mean(np.square(model.predict(X[half:]) - y[half:]))))
        null = float(np.sqrt(np.mean(np.square(y[half:] - y[:half].mean()))))
    else:
        error = float(log_loss(y[half:], model.predict_proba(X[half:])))
        null = float(log_loss(y[half:], np.full(half, y[:half].mean())))
    return [{"part": "leaks", "data": task, "seed": seed, "error": error, "null": null}]


def libraries() -> float:
    """Largest difference between predictions of models of four libraries' tables."""
    from lifenet import LIFEClassifier, LIFERegressor

    largest = 0.0
    for name, with_numpy in (("hmeq", False), ("bike_sharing_hour", False), ("airfoil", True)):
        data = split(name, 0)
        few = (data.X[:1_500], data.y[:1_500], data.X_test[:300])
        kind = LIFERegressor if data.task == REGRESSION else LIFEClassifier
        makes: list[Any] = [lambda X: X, pl.from_pandas, _arrow]
        makes += [lambda X: X.to_numpy(dtype=float)] if with_numpy else []
        scores = []
        for make in makes:
            model = kind(random_state=0).fit(make(few[0]), few[1])
            scores.append(_scores(model, make(few[2])))
        largest = max(largest, *(float(np.abs(one - scores[0]).max()) for one in scores[1:]))
    return largest


def _arrow(X: Any) -> Any:
    return pa.Table.from_pandas(X, preserve_index=False)


def _scores(model: Any, X: Any) -> Any:
    return model.predict_proba(X) if hasattr(model, "classes_") else model.predict(X)


#: What is changed for each of the two comparisons: rows, columns, or names and order of levels.
CHANGES = ("rows", "columns", "levels")
ORDER_SETS = ("german_credit", "hmeq", "abalone")


def order(what: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Test error of the default before and after a change that must not matter."""
    from lifenet import LIFEClassifier, LIFERegressor

    part = split(data, 0)
    kind = LIFERegressor if part.task == REGRESSION else LIFEClassifier
    errors = []
    for one in (part, changed(part, what, seed)):
        model = kind(random_state=seed).fit(one.X, one.y)
        output = _scores(model, one.X_test)
        errors.append(error_of(one, output if output.ndim == 1 else output[:, 1]))
    found = {"given": errors[0], "changed": errors[1]}
    return [{"part": what, "data": data, "seed": seed, **found}]


def changed(data: Split, what: str, seed: int) -> Split:
    """The same split with its rows or columns in another order, or with other names of levels."""
    rng = np.random.default_rng(seed)
    X, X_test, y = data.X, data.X_test, data.y
    if what == "rows":
        new = rng.permutation(len(X))
        X, y = X.iloc[new], y[new]
    elif what == "columns":
        names = rng.permutation(X.columns)
        X, X_test = X[names], X_test[names]
    else:
        X, X_test = _renamed(X, X_test, rng)
    return type(data)(data.task, X, y, X_test, data.y_test)


def _renamed(X: Any, X_test: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    X, X_test = X.copy(), X_test.copy()
    for name in X:
        if not pd.api.types.is_numeric_dtype(X[name]):
            levels = pd.concat([X[name], X_test[name]]).dropna().unique()
            turned = rng.permutation(len(levels))
            names = {
                level: f"{at:03d}" + "abc"[at % 3] for level, at in zip(levels, turned, strict=True)
            }
            X[name], X_test[name] = X[name].map(names), X_test[name].map(names)
    return X, X_test
