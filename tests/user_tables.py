"""Tables as users have them, models of them, and their scores by the public methods alone."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd

from crossfitted import small_recipe
from lifenet import LLA, LIFEClassifier, LIFERegressor, NeuronProjection, Recipe

TARGETS = ("number", "two classes", "three classes")
RECIPES = ("paper", "quick")
MODELS = [(target, recipe) for target in TARGETS for recipe in RECIPES]
PURPOSES = ("car", "radio", "house", "boat", "tv", "trip")
_SHARES = (0.35, 0.25, 0.2, 0.1, 0.06, 0.04)


def table(n=400, seed=0):
    """Numbers with and without gaps, a category of few levels and one of many, truths and dates."""
    rng = np.random.default_rng(seed)
    income = np.round(rng.lognormal(1.0, 0.5, n), 1)
    children = rng.integers(0, 4, n).astype(float)
    day = pd.Timestamp("2011-01-01") + pd.to_timedelta(rng.integers(0, 700, n), unit="D")
    return pd.DataFrame(
        {
            "income": np.where(rng.random(n) < 0.15, np.nan, income),
            "age": rng.integers(20, 70, n).astype(float),
            "purpose": np.where(rng.random(n) < 0.1, None, rng.choice(PURPOSES, n, p=_SHARES)),
            "city": [f"city {number}" for number in np.minimum(rng.geometric(0.2, n), 16) - 1],
            "owns": rng.random(n) < 0.4,
            "day": day,
            "children": np.where(rng.random(n) < 0.2, np.nan, children),
        }
    )


def target(X, kind, seed=1):
    """A number, or the class that it lies in."""
    gone = X["income"].isna()
    days = (X["day"] - X["day"].min()).dt.days
    signal = (
        np.where(gone, 1.5, np.sin(X["income"].fillna(0)))
        + 0.02 * X["age"] * (X["purpose"] == "car")
        + X["owns"] * (1.0 + 0.5 * gone)
        + 0.001 * days
        + 0.5 * (X["city"] == "city 0")
        + 0.7 * X["purpose"].isna()
        + np.where(X["children"].isna(), -0.5, 0.3 * X["children"])
    )
    y = signal.to_numpy() + 0.1 * np.random.default_rng(seed).normal(size=len(X))
    if kind == "number":
        return y
    names = np.array(["bad", "good"] if kind == "two classes" else ["a", "b", "c"])
    edges = np.quantile(y, np.arange(1, len(names)) / len(names))
    return names[np.searchsorted(edges, y)]


def settings(recipe):
    if recipe == "quick":
        return {"preset": small_recipe(), "random_state": 0}
    solver = LLA(4, max_iter=10, tol=1e-2)
    return {"sampler": NeuronProjection(levels=(4, 4)), "solver": solver, "random_state": 0}


@cache
def fitted(kind, recipe):
    """A model and its table; the same object at every call."""
    X = table()
    model = LIFERegressor if kind == "number" else LIFEClassifier
    assert isinstance(settings(recipe).get("preset", small_recipe()), Recipe)
    return model(**settings(recipe)).fit(X, target(X, kind)), X


def options(kind):
    """Which score is explained."""
    return {"output": 1} if kind == "three classes" else {}


def scorer(model, kind):
    """The explained score of a user's table, by the model's own methods."""
    if kind == "number":
        return model.predict
    if kind == "two classes":
        return model.decision_function
    return lambda X: model.decision_function(X)[:, 1]


def put(X, column, value):
    """All rows with a value in a column; None is missing."""
    changed = X.copy()
    changed[column] = np.nan if value is None and X[column].dtype.kind == "f" else value
    return changed


def median(column):
    """The smallest value that half of the known ones do not exceed."""
    return float(column.dropna().quantile(0.5, interpolation="lower"))
