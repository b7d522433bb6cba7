"""Small cross-fitted recipes and data for them; fits take a tenth of a second."""

from __future__ import annotations

import numpy as np

from lifenet import (
    CodedNetwork,
    CrossFit,
    Hierarchy,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LinearModel,
    MiniBatch,
    QuantileCoding,
    Recipe,
    RidgeOutput,
)
from lifenet.recipe.recipe import fit_life


def leaves(**changes) -> Leaves:
    return Leaves(**{"n_trees": 8, "max_leaf_nodes": 4, "min_samples_leaf": 20, **changes})


def hierarchy(**changes) -> Hierarchy:
    few = {"n_neurons": 10, "max_iter": 10, "n_networks": 2, "max_rows": "auto"}
    return Hierarchy(**{**few, **changes})


def small_recipe(*neurons, **changes) -> Recipe:
    """The preset "fast" with fewer of everything; without base learners unless they are given."""
    parts = {
        "codes": QuantileCoding("full", max_bins=8, min_values=2),
        "neurons": neurons or (leaves(),),
        "output": RidgeOutput(discounts=(3.0, 30.0, 300.0)),
        "finetune": MiniBatch(n_steps=20),
        "resampling": CrossFit(2),
        "stack": (LinearModel(),),
    }
    return Recipe(**{**parts, **changes})


LEAVES = small_recipe()
BOTH = small_recipe(leaves(), hierarchy())


def planted(n=450, seed=0):
    """A step and an interaction. Trees bin columns of few values much faster."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.uniform(-1, 1, (n, 3)), 2)
    signal = np.where(X[:, 0] > 0.2, 1.0, 0.0) + 2 * X[:, 1] * (X[:, 2] > 0)
    return X, signal + 0.1 * rng.normal(size=n)


def labelled(n=450, seed=0):
    X, y = planted(n, seed)
    return X, np.array(["low", "mid", "top"])[np.digitize(y, [0.0, 1.0])]


def regressor(preset=LEAVES, **settings) -> LIFERegressor:
    return LIFERegressor(**{"preset": preset, "random_state": 0, **settings})


def classifier(preset=LEAVES, **settings) -> LIFEClassifier:
    return LIFEClassifier(**{"preset": preset, "random_state": 0, **settings})


def same(one, other) -> bool:
    """Whether two networks are equal bit for bit."""
    if isinstance(one, CodedNetwork):
        return isinstance(other, CodedNetwork) and same(one.network, other.network)
    return one == other


def fit_with_folds(model, X, y, monkeypatch):
    """The fitted model, and the networks of its folds in the user's units."""
    seen = []

    def watched(data, recipe, run):
        fitted = fit_life(data, recipe, run)
        seen.append((data.units, fitted.fits))
        return fitted

    with monkeypatch.context() as patch:
        patch.setattr("lifenet.estimators._life_base.fit_life", watched)
        model.fit(X, y)
    ((units, fits),) = seen
    return model, [CodedNetwork(model.coding_, units.unscale(one.network)) for one in fits]


class Enough(Exception):
    """Nothing is to be trained."""
