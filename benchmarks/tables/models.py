"""The models that are compared on tables with categories, gaps and dates, each in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.impute import SimpleImputer
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.tables.data import REGRESSION

if TYPE_CHECKING:
    from benchmarks.tables.data import Split

LIFE, PREPARED, LIGHTGBM, CATBOOST, EBM = "LIFE", "LIFE, prepared", "LightGBM", "CatBoost", "EBM"
MODELS = (LIFE, PREPARED, LIGHTGBM, CATBOOST, EBM)
#: Columns that preparing by hand leaves out: free text, and dates.
_UNPREPARED = ("emp_title", "dteday", "level")


def fit_predict(model: str, data: Split, seed: int) -> Any:
    """Predictions of the test rows: numbers, or probabilities of the event."""
    fitted = _FITS[model](data, seed)
    return fitted(data.X_test)


def error_of(data: Split, output: Any, *, auc: bool = False) -> float:
    """RMSE or log-loss; 1 - AUC where it is asked for."""
    if data.task == REGRESSION:
        return float(np.sqrt(np.mean(np.square(data.y_test - output))))
    if auc:
        return float(1 - roc_auc_score(data.y_test, output))
    return float(log_loss(data.y_test, np.clip(output, 1e-15, 1 - 1e-15)))


def _life(data: Split, seed: int) -> Any:
    from lifenet import LIFEClassifier, LIFERegressor

    kind = LIFERegressor if data.task == REGRESSION else LIFEClassifier
    return _output(kind(random_state=seed, n_jobs=1).fit(data.X, data.y), data)


def _prepared(data: Split, seed: int) -> Any:
    """Dummies of all levels but the first, medians with indicators: as a user prepares numbers."""
    from lifenet import LIFEClassifier, LIFERegressor

    kind = LIFERegressor if data.task == REGRESSION else LIFEClassifier
    X = data.X.drop(columns=[name for name in _UNPREPARED if name in data.X])
    texts = [name for name in X if not pd.api.types.is_numeric_dtype(X[name])]
    levels = {name: sorted(X[name].dropna().unique()) for name in texts}
    imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
    numbers = [name for name in X if name not in texts]
    imputer.fit(X[numbers].astype(float)) if numbers else None

    def prepare(table: pd.DataFrame) -> Any:
        parts = [imputer.transform(table[numbers].astype(float))] if numbers else []
        for name in texts:
            parts += [
                np.asarray(table[name] == level, float)[:, None] for level in levels[name][1:]
            ]
            if X[name].isna().any():
                parts.append(np.asarray(table[name].isna(), float)[:, None])
        return np.hstack(parts)

    model = kind(random_state=seed, n_jobs=1).fit(prepare(data.X), data.y)
    predict = _output(model, data)
    return lambda table: predict(prepare(table))


def _as_categories(data: Split) -> Any:
    """Text as pandas categories with the levels of the training rows; dates as days."""
    texts = [name for name in data.X if not pd.api.types.is_numeric_dtype(data.X[name])]
    dates = [name for name in texts if name == "dteday"]
    levels = {name: data.X[name].dropna().unique() for name in texts if name not in dates}

    def prepare(table: pd.DataFrame) -> pd.DataFrame:
        found = table.copy()
        for name in dates:
            found[name] = (pd.to_datetime(table[name]) - pd.Timestamp(0)).dt.days
        for name, known in levels.items():
            found[name] = pd.Categorical(table[name], categories=known)
        return found

    return prepare, list(levels)


def _lightgbm(data: Split, seed: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if data.task == REGRESSION else LGBMClassifier
    prepare, _ = _as_categories(data)
    model = kind(random_state=seed, n_jobs=1, verbose=-1).fit(prepare(data.X), data.y)
    predict = _output(model, data)
    return lambda table: predict(prepare(table))


def _catboost(data: Split, seed: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if data.task == REGRESSION else CatBoostClassifier
    prepare, texts = _as_categories(data)

    def with_text(table: pd.DataFrame) -> pd.DataFrame:
        found = prepare(table)
        for name in texts:
            found[name] = table[name].astype(object).where(table[name].notna(), "missing")
        return found

    model = kind(random_seed=seed, thread_count=1, verbose=False, allow_writing_files=False)
    model.fit(with_text(data.X), data.y, cat_features=texts)
    predict = _output(model, data)
    return lambda table: predict(with_text(table))


def _ebm(data: Split, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = (
        ExplainableBoostingRegressor if data.task == REGRESSION else ExplainableBoostingClassifier
    )
    prepare, texts = _as_categories(data)
    types = ["nominal" if name in texts else "continuous" for name in data.X]

    def with_text(table: pd.DataFrame) -> pd.DataFrame:
        found = prepare(table)
        for name in texts:
            found[name] = table[name].astype(object)
        return found

    model = kind(random_state=seed, n_jobs=1, feature_types=types)
    model.fit(with_text(data.X), data.y)
    predict = _output(model, data)
    return lambda table: predict(with_text(table))


def _output(model: Any, data: Split) -> Any:
    if data.task == REGRESSION:
        return model.predict
    return lambda table: model.predict_proba(table)[:, 1]


_FITS = {
    LIFE: _life,
    PREPARED: _prepared,
    LIGHTGBM: _lightgbm,
    CATBOOST: _catboost,
    EBM: _ebm,
}
