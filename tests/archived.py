"""Small fitted models of every kind for tests of files, and what must be equal in two of them."""

from __future__ import annotations

import warnings
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
from benchmarks.recipe.models import QUICK
from scipy import sparse

import lifenet


def frame(n: int = 240) -> pd.DataFrame:
    """A table with every kind of column."""
    generator = np.random.default_rng(1)
    table = pd.DataFrame(
        {
            "number": generator.normal(size=n),
            "gaps": generator.normal(size=n),
            "truth": generator.random(n) > 0.5,
            "colour": generator.choice(["red", "green", "blue"], n),
            "street": [f"street {one}" for one in generator.integers(0, 14, n)],
            "whole": pd.Categorical(generator.integers(0, 4, n)),
            "share": pd.Categorical(generator.choice([0.5, 0.25, 1e-300], n)),
            "band": pd.cut(generator.normal(size=n), 3),
            "date": pd.Timestamp("2021-01-01")
            + pd.to_timedelta(generator.integers(0, 700, n), unit="D"),
            "wait": pd.to_timedelta(generator.integers(0, 700, n), unit="h"),
        }
    )
    table.loc[::11, "gaps"] = np.nan
    table.loc[::13, "colour"] = None
    return table


def target(n: int = 240) -> np.ndarray:
    table = frame(n)
    return np.asarray(table["number"] + 2 * table["truth"] + np.abs(table["gaps"].fillna(0)))


PAPER = lifenet.NeuronProjection(levels=(3,)), lifenet.LLA(3, max_iter=5)
SMALL = replace(QUICK, compress=lifenet.Distil(8, finetune=lifenet.LBFGS(5)))
GLASS = replace(QUICK, interaction_cst=lifenet.BestPairs(1))
STATE = np.random.RandomState(3)


def _models() -> dict[str, tuple[Any, str, str]]:
    """Estimators, their tables and targets, by name."""
    r, c = lifenet.LIFERegressor, lifenet.LIFEClassifier
    return {
        "lla": (lifenet.LLARegressor(3, max_iter=5, random_state=0), "array", "y"),
        "lla-constant": (lifenet.LLARegressor(3, random_state=0), "array", "constant"),
        "lla-two": (lifenet.LLAClassifier(3, max_iter=5, random_state=STATE), "array", "two"),
        "lla-three": (lifenet.LLAClassifier(3, max_iter=5, random_state=0), "frame", "three"),
        "adam": (lifenet.AdamRegressor(3, max_epochs=2, random_state=0), "frame", "y"),
        "adam-two": (lifenet.AdamClassifier(3, max_epochs=2, random_state=0), "polars", "two"),
        "paper": (r(*PAPER, random_state=0), "array", "y"),
        "paper-coded": (r(*PAPER, coding="both", finetune="lbfgs", random_state=0), "frame", "y"),
        "paper-three": (c(*PAPER, random_state=0), "frame", "three"),
        "quick": (r(preset=QUICK, random_state=0), "array", "y"),
        "quick-frame": (r(preset=QUICK, random_state=0), "frame", "y"),
        "quick-two": (c(preset=QUICK, random_state=0), "polars", "two"),
        "quick-three": (c(preset=QUICK, class_weight="balanced", random_state=0), "frame", "three"),
        "quick-grouped": (
            r(preset=QUICK, interaction_cst=[["number", "gaps"]], random_state=0),
            "frame",
            "y",
        ),
        "small": (r(preset=SMALL, random_state=0), "frame", "y"),
        "glass": (r(preset=GLASS, random_state=0), "array", "y"),
        "glass-two": (c(preset=GLASS, random_state=0), "frame", "two"),
    }


NAMES = tuple(_models())


@cache
def fitted(name: str) -> Any:
    """A fitted estimator; not to be changed."""
    model, _, wanted = _models()[name]
    y = target()
    targets = {
        "y": y,
        "constant": np.full(len(y), 2.0),
        "two": y > 1,
        "three": np.array(["low", "mid", "high"])[np.digitize(y, [0.5, 2.0])],
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(rows(name), targets[wanted])


def rows(name: str) -> Any:
    """The table that a model was fitted to."""
    kind = _models()[name][1]
    if kind == "array":
        return np.random.default_rng(0).normal(size=(240, 3)) + target()[:, None]
    table = frame()
    return table if kind == "frame" else pl.from_pandas(table.drop(columns="band"))


def differences(one: Any, other: Any, at: str = "") -> list[str]:
    """Where two values differ in a bit, a type or the sign of a zero."""
    if type(one) is not type(other):
        return [f"{at}: {type(one)} and {type(other)}"]
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        same = one.tolist() == other.tolist() if one.dtype == object else None
        if same is None:
            same = alike and np.ascontiguousarray(one).tobytes() == other.tobytes()
        return [] if alike and same else [f"{at}: arrays differ"]
    if sparse.issparse(one):
        pairs = [(one.data, other.data), (one.indices, other.indices), (one.indptr, other.indptr)]
        same = one.shape == other.shape and all(np.array_equal(*pair) for pair in pairs)
        return [] if same and one.dtype == other.dtype else [f"{at}: sparse arrays differ"]
    if isinstance(one, float):
        return [] if one.hex() == other.hex() else [f"{at}: {one} and {other}"]
    if isinstance(one, np.random.RandomState):
        return differences(list(one.get_state()), list(other.get_state()), at)
    if isinstance(one, list | tuple):
        if len(one) != len(other):
            return [f"{at}: {len(one)} and {len(other)} values"]
        pairs = zip(one, other, strict=True)
        return [text for i, pair in enumerate(pairs) for text in differences(*pair, f"{at}.{i}")]
    if isinstance(one, dict):
        if list(one) != list(other):
            return [f"{at}: names {list(one)} and {list(other)}"]
        return [text for key in one for text in differences(one[key], other[key], f"{at}.{key}")]
    if is_dataclass(one):
        names = [field.name for field in fields(one)]
        names += ["values"] if isinstance(one, lifenet.ColumnCoding) else []
        pairs = [(getattr(one, name), getattr(other, name), f"{at}.{name}") for name in names]
        return [text for pair in pairs for text in differences(*pair)]
    return [] if one == other else [f"{at}: {one!r} and {other!r}"]
