"""Search spaces of the peers: boosted trees, random forests, deep networks.

Each is over the parameters that its users tune, in their usual ranges. None needs its package.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from lifenet.tuning.space import Space

if TYPE_CHECKING:
    from lifenet.tuning.space import Trial

__all__ = [
    "catboost_space",
    "ebm_space",
    "lightgbm_space",
    "mlp_space",
    "random_forest_space",
    "xgboost_space",
]


def xgboost_space() -> Space:
    """`XGBRegressor`, `XGBClassifier`: rounds, learning rate, depth, subsampling, penalties."""
    return Space("xgboost", _suggest_xgboost, _start_xgboost)


def random_forest_space() -> Space:
    """scikit-learn's random forests: trees, features of a split, size of leaves."""
    return Space("random-forest", _suggest_random_forest)


def mlp_space(*, min_layers: int = 2, max_layers: int = 4) -> Space:
    """scikit-learn's MLP as the paper's FFNN: two to four hidden layers, and how it is trained.

    It needs standardised columns: tune a pipeline, with ``mlp_space().prefixed("mlpregressor")``.
    """
    if not 1 <= min_layers <= max_layers:
        raise ValueError(f"1 <= min_layers <= max_layers; got {min_layers} and {max_layers}.")
    return Space(f"mlp({min_layers}-{max_layers})", partial(_suggest_mlp, min_layers, max_layers))


def lightgbm_space() -> Space:
    """`LGBMRegressor`, `LGBMClassifier`: rounds, learning rate, leaves, subsampling, penalties."""
    return Space("lightgbm", _suggest_lightgbm)


def catboost_space() -> Space:
    """`CatBoostRegressor`, `CatBoostClassifier`: rounds, learning rate, depth, penalty, noise."""
    return Space("catboost", _suggest_catboost)


def ebm_space() -> Space:
    """Explainable boosting machines of interpret: bins, leaves, interactions, learning rate."""
    return Space("ebm", _suggest_ebm)


def _clip(value: int, low: int, high: int) -> int:
    return max(low, min(value, high))


def _suggest_xgboost(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "n_estimators": trial.suggest_int("n_estimators", 100, 2000, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.005, 0.5, log=True),
        "max_depth": trial.suggest_int("max_depth", 1, 14),
        "min_child_weight": trial.suggest_float("min_child_weight", 0.1, 300.0, log=True),
        "subsample": trial.suggest_float("subsample", 0.3, 1.0),
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.3, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-4, 1000.0, log=True),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-8, 10.0, log=True),
        "gamma": trial.suggest_float("gamma", 1e-8, 1.0, log=True),
    }


def _start_xgboost(n_samples: int, n_features: int) -> dict[str, Any]:
    """Many slow rounds with some subsampling, shallower trees for few rows."""
    return {
        "n_estimators": 500,
        "learning_rate": 0.05,
        "max_depth": 8 if n_samples >= 5000 else 4,
        "min_child_weight": 1.0,
        "subsample": 0.8,
        "colsample_bytree": 0.8,
        "reg_lambda": 1.0,
        "reg_alpha": 1e-8,
        "gamma": 1e-8,
    }


def _suggest_random_forest(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    leaf = _clip(n_samples // 20, 2, 50)
    return {
        "n_estimators": trial.suggest_int("n_estimators", 100, 500, log=True),
        "max_features": trial.suggest_float("max_features", 0.1, 1.0),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 1, leaf, log=True),
        "max_depth": trial.suggest_categorical("max_depth", (None, 8, 16, 32)),
        "max_samples": trial.suggest_float("max_samples", 0.5, 1.0),
    }


def _suggest_mlp(
    min_layers: int, max_layers: int, trial: Trial, n_samples: int, n_features: int
) -> dict[str, Any]:
    n_layers = trial.suggest_int("n_layers", min_layers, max_layers)
    # A batch may not be larger than what folds and early stopping leave of the rows.
    batches = [size for size in (32, 64, 128, 256, 512) if size <= n_samples // 2]
    return {
        "hidden_layer_sizes": tuple(
            trial.suggest_int(f"width_{layer}", 8, 512, log=True)
            for layer in range(1, n_layers + 1)
        ),
        "activation": "relu",
        "alpha": trial.suggest_float("alpha", 1e-7, 10.0, log=True),
        "learning_rate_init": trial.suggest_float("learning_rate_init", 1e-4, 3e-2, log=True),
        **({"batch_size": trial.suggest_categorical("batch_size", batches)} if batches else {}),
        "early_stopping": True,
        "max_iter": 500,
    }


def _suggest_lightgbm(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "n_estimators": trial.suggest_int("n_estimators", 100, 2000, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "num_leaves": trial.suggest_int("num_leaves", 4, 256, log=True),
        "min_child_samples": trial.suggest_int("min_child_samples", 1, 100, log=True),
        "subsample": trial.suggest_float("subsample", 0.5, 1.0),
        "subsample_freq": 1,
        "colsample_bytree": trial.suggest_float("colsample_bytree", 0.5, 1.0),
        "reg_lambda": trial.suggest_float("reg_lambda", 1e-8, 100.0, log=True),
        "reg_alpha": trial.suggest_float("reg_alpha", 1e-8, 10.0, log=True),
    }


def _suggest_catboost(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "iterations": trial.suggest_int("iterations", 100, 2000, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 0.01, 0.3, log=True),
        "depth": trial.suggest_int("depth", 3, 10),
        "l2_leaf_reg": trial.suggest_float("l2_leaf_reg", 0.1, 100.0, log=True),
        "random_strength": trial.suggest_float("random_strength", 1e-3, 10.0, log=True),
        "bagging_temperature": trial.suggest_float("bagging_temperature", 0.0, 1.0),
    }


def _suggest_ebm(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "max_bins": trial.suggest_int("max_bins", 64, 1024, log=True),
        "max_leaves": trial.suggest_int("max_leaves", 2, 5),
        "min_samples_leaf": trial.suggest_int("min_samples_leaf", 2, 50, log=True),
        "interactions": trial.suggest_int(
            "interactions", 0, _clip(n_features * (n_features - 1) // 2, 0, 30)
        ),
        "learning_rate": trial.suggest_float("learning_rate", 0.005, 0.1, log=True),
        "smoothing_rounds": trial.suggest_int("smoothing_rounds", 0, 500),
    }
