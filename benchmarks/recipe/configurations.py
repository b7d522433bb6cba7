"""Configurations whose predictions are compared between two versions of the package.

Run by a worker process under either version: it imports nothing but the public names of both, and
translates those that were renamed.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import GroupKFold, KFold
from sklearn.tree import DecisionTreeRegressor

import lifenet
from lifenet import LIFEClassifier, LIFERegressor, NeuronProjection, SubsetStackingRegressor
from lifenet.datasets import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

# Where the two versions call the same thing by another name.
RENAMED = not hasattr(lifenet, "Blend")
FINETUNE = "finetune" if RENAMED else "polish"
FEW = NeuronProjection(levels=(4, 4), max_networks=12)


def made(n: int) -> tuple[Any, Any, Any, Any]:
    data = simulate.mim(n + 300, random_state=0)
    return data.X[:n], data.y[:n], data.X[n:], data.y[n:]


def embedded(load: Any) -> tuple[Any, Any, Any, Any]:
    X, y = load(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(X))
    cut = int(0.8 * len(X))
    return X[order[:cut]], y[order[:cut]], X[order[cut:]], y[order[cut:]]


def answer(model: Any, X: Any) -> Any:
    if hasattr(model, "decision_function"):
        return model.decision_function(X)
    return model.predict(X)


def fitted(kind: Any, data: Any, fit: dict[str, Any] | None = None, **given: Any) -> Any:
    X, y, test, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kind(random_state=0, **given).fit(X, y, **(fit or {}))
    return answer(model, test)


def weights(n: int) -> Any:
    return np.random.default_rng(1).integers(0, 4, n).astype(float)


def warm(data: Any) -> Any:
    X, y, test, _ = data
    model = LIFERegressor(FEW, warm_start=True, random_state=0).fit(X, y)
    return answer(model.set_params(random_state=1).fit(X, y), test)


def refitted(data: Any) -> Any:
    X, y, test, _ = data
    model = LIFERegressor(FEW, random_state=0).fit(X, y)
    return answer(model.set_params(readout="elastic-net").refit_readout(X, y), test)


def simplified(data: Any, **given: Any) -> Any:
    X, y, test, _ = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LIFERegressor(random_state=0, **given).fit(X, y)
        frontier = model.simplify(X, y)
    return answer(model.with_network(frontier.network_of(32)), test)


def configurations() -> dict[str, Callable[[], Any]]:
    reg, dia, can = made(900), embedded(load_diabetes), embedded(load_breast_cancer)
    win = embedded(load_wine)
    few, many = made(80), made(9_500)
    groups = np.arange(900) // 9
    return {
        "regression, default": lambda: fitted(LIFERegressor, reg),
        "regression, paper": lambda: fitted(LIFERegressor, reg, preset="paper"),
        "regression, best": lambda: fitted(LIFERegressor, dia, preset="best"),
        "regression, small": lambda: fitted(LIFERegressor, dia, preset="small"),
        "two classes, default": lambda: fitted(LIFEClassifier, can),
        "two classes, paper": lambda: fitted(LIFEClassifier, can, preset="paper"),
        "two classes, best": lambda: fitted(LIFEClassifier, can, preset="best"),
        "two classes, small": lambda: fitted(LIFEClassifier, can, preset="small"),
        "three classes, default": lambda: fitted(LIFEClassifier, win),
        "three classes, paper": lambda: fitted(LIFEClassifier, win, preset="paper"),
        "three classes, best": lambda: fitted(LIFEClassifier, win, preset="best"),
        "three classes, small": lambda: fitted(LIFEClassifier, win, preset="small"),
        "weights, default": lambda: fitted(LIFERegressor, reg, {"sample_weight": weights(900)}),
        "weights, paper": lambda: fitted(
            LIFEClassifier, can, {"sample_weight": weights(len(can[1]))}, sampler=FEW
        ),
        "class weights": lambda: fitted(LIFEClassifier, can, class_weight="balanced"),
        "splitter, default": lambda: fitted(
            LIFERegressor, reg, {"groups": groups}, validation=GroupKFold(3)
        ),
        "splitter, paper": lambda: fitted(LIFERegressor, reg, sampler=FEW, validation=KFold(4)),
        "share, default": lambda: fitted(LIFERegressor, reg, validation=0.25),
        "share, paper": lambda: fitted(LIFERegressor, reg, sampler=FEW, validation=0.25),
        "no validation, default": lambda: fitted(LIFERegressor, reg, validation=None),
        "no validation, paper": lambda: fitted(LIFEClassifier, can, sampler=FEW, validation=None),
        "no validation, best": lambda: fitted(LIFERegressor, dia, preset="best", validation=None),
        "warm start": lambda: warm(reg),
        "coding": lambda: fitted(LIFERegressor, reg, sampler=FEW, coding="both"),
        "fine-tuning": lambda: fitted(LIFERegressor, reg, sampler=FEW, **{FINETUNE: "lbfgs"}),
        "coding and fine-tuning": lambda: fitted(
            LIFEClassifier, can, sampler=FEW, coding="piecewise", **{FINETUNE: "lbfgs"}
        ),
        "few rows, default": lambda: fitted(LIFERegressor, few),
        "few rows, small": lambda: fitted(LIFERegressor, few, preset="small"),
        "adam": lambda: fitted(LIFERegressor, reg, sampler=FEW, solver="adam"),
        "bootstrap, mixing": lambda: fitted(
            LIFERegressor, reg, sampler=lifenet.Bootstrap(8), readout="mixing"
        ),
        "random, selection": lambda: fitted(
            LIFEClassifier, can, sampler=lifenet.RandomProjection(8), readout="selection"
        ),
        "lasso": lambda: fitted(LIFERegressor, reg, sampler=FEW, readout="lasso"),
        "elastic net, three classes": lambda: fitted(
            LIFEClassifier, win, sampler=FEW, readout="elastic-net"
        ),
        "average": lambda: fitted(LIFEClassifier, win, sampler=FEW, readout="average"),
        "linear": lambda: fitted(LIFERegressor, reg, sampler=FEW, readout="linear"),
        "refitted read-out": lambda: refitted(reg),
        "simplified, paper": lambda: simplified(reg, sampler=FEW),
        "simplified, default": lambda: simplified(reg),
        "stacked trees": lambda: fitted(
            SubsetStackingRegressor,
            reg,
            member=DecisionTreeRegressor(max_depth=4, random_state=0),
            sampler=FEW,
        ),
        "9,500 rows, default": lambda: fitted(LIFERegressor, many),
    }
