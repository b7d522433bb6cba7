"""LIFE and its peers: an estimator and its search space, one thread each.

As given, before any tuning, each has the defaults of its own package. LIFE is never cut short: no
peer is, outside of the search.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.models import MODELS as OF_PAPER
from benchmarks.paper.models import Model, perceptron, same
from lifenet import LIFEClassifier, LIFERegressor
from lifenet.tuning import catboost_space, ebm_space, lightgbm_space, mlp_space

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet.tuning import Space

LIFE, SMALL, BEST = "LIFE", "LIFE small", "LIFE best"
OURS = (LIFE, SMALL, BEST)
#: Distributions whose versions a record keeps.
PACKAGES = (
    "lifenet", "numpy", "scipy", "scikit-learn", "optuna", "xgboost", "lightgbm", "catboost",
    "interpret-core",
)  # fmt: skip


def _life(space: Callable[[str], Space] | None = None, **settings: Any) -> Model:
    def build(task: str, seed: int) -> Any:
        kind = LIFERegressor if task == REGRESSION else LIFEClassifier
        return kind(random_state=seed, **settings)

    return Model(build, space)


def _lightgbm(task: str, seed: int) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if task == REGRESSION else LGBMClassifier
    return kind(n_jobs=1, random_state=seed, verbosity=-1)


def _catboost(task: str, seed: int) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if task == REGRESSION else CatBoostClassifier
    return kind(thread_count=1, random_seed=seed, verbose=False, allow_writing_files=False)


def _ebm(task: str, seed: int) -> Any:
    from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

    kind = ExplainableBoostingRegressor if task == REGRESSION else ExplainableBoostingClassifier
    return kind(n_jobs=1, random_state=seed)


def _linear(task: str, seed: int) -> Any:
    """Ridge regression, its penalty by leave-one-out; logistic regression with its default."""
    if task == REGRESSION:
        return make_pipeline(StandardScaler(), RidgeCV(np.logspace(-3, 3, 13)))
    return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000, random_state=seed))


#: Every model by its name in the tables; one without a space is never tuned.
MODELS: dict[str, Model] = {
    LIFE: _life(),
    SMALL: _life(preset="small"),
    BEST: _life(preset="best"),
    "XGBoost": OF_PAPER["XGBoost"],
    "LightGBM": Model(_lightgbm, same(lightgbm_space())),
    "CatBoost": Model(_catboost, same(catboost_space())),
    "RandomForest": OF_PAPER["RandomForest"],
    "EBM": Model(_ebm, same(ebm_space())),
    "MLP": perceptron(mlp_space(min_layers=1, max_layers=4)),
    "linear": Model(_linear),
}
