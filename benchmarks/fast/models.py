"""The models that are measured, one thread each, as they come unless a part says otherwise.

Packages are imported where a model is made: the process of a peer does not load lifenet.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

LIFE, BEST, SMALL, PAPER = "LIFE", "LIFE best", "LIFE small", "LIFE paper"
CATBOOST, LIGHTGBM, TREES = "CatBoost", "LightGBM", "HistGradientBoosting"
#: Presets of lifenet by the names that records have for them.
PRESETS = {LIFE: "auto", BEST: "best", SMALL: "small", PAPER: "paper"}
MODELS = (*PRESETS, CATBOOST, LIGHTGBM, TREES)
REGRESSION = "regression"

#: Rounds of LightGBM where none are chosen by early stopping: the issue's number.
LIGHTGBM_ROUNDS = 500
#: Early stopping: most rounds, rounds without a gain, share of validation rows, and seconds.
MOST_ROUNDS, PATIENCE, VALIDATION, CAP = 20_000, 50, 0.1, 1800.0
#: Seconds and rounds of models that are only made to see that all parts run.
_QUICK_SECONDS, _QUICK_ROUNDS = 0.1, 20


def build(name: str, task: str, seed: int, *, quick: bool = False, **more: Any) -> Any:
    """An unfitted estimator.

    Parameters
    ----------
    name : one of `MODELS`
    task : "regression" or "classification"
    seed : of everything random
    quick : whether it is to be fitted in next to no time, however badly
    more : settings beyond those of all
    """
    if name in PRESETS:
        return _life(name, task, seed, quick, more)
    rounds = {_ROUNDS[name]: _QUICK_ROUNDS} if quick else {}
    return _PEERS[name](task, seed, {**rounds, **more})


def _life(name: str, task: str, seed: int, quick: bool, more: dict[str, Any]) -> Any:
    from lifenet import LIFEClassifier, LIFERegressor

    settings = {"preset": PRESETS[name], "n_jobs": 1, "random_state": seed}
    if quick:
        settings["time_limit"] = _QUICK_SECONDS
    return (LIFERegressor if task == REGRESSION else LIFEClassifier)(**{**settings, **more})


def _catboost(task: str, seed: int, more: dict[str, Any]) -> Any:
    from catboost import CatBoostClassifier, CatBoostRegressor

    kind = CatBoostRegressor if task == REGRESSION else CatBoostClassifier
    settings = {"thread_count": 1, "verbose": False, "allow_writing_files": False}
    return kind(random_seed=seed, **{**settings, **more})


def _lightgbm(task: str, seed: int, more: dict[str, Any]) -> Any:
    from lightgbm import LGBMClassifier, LGBMRegressor

    kind = LGBMRegressor if task == REGRESSION else LGBMClassifier
    settings = {"n_estimators": LIGHTGBM_ROUNDS, "n_jobs": 1, "verbosity": -1}
    return kind(random_state=seed, **{**settings, **more})


def _trees(task: str, seed: int, more: dict[str, Any]) -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

    regression = task == REGRESSION
    kind = HistGradientBoostingRegressor if regression else HistGradientBoostingClassifier
    return kind(random_state=seed, **more)


_PEERS = {CATBOOST: _catboost, LIGHTGBM: _lightgbm, TREES: _trees}
_ROUNDS = {CATBOOST: "iterations", LIGHTGBM: "n_estimators", TREES: "max_iter"}


@dataclass(eq=False)
class Cap:
    """Ends boosting after some seconds: a callback of CatBoost and of LightGBM."""

    seconds: float
    reached: bool = False
    #: After LightGBM's own early stopping, which has 30.
    order: int = 40
    begun: float = field(default_factory=time.monotonic)

    def after_iteration(self, info: Any) -> bool:
        """Whether CatBoost goes on."""
        self.reached = time.monotonic() - self.begun > self.seconds
        return not self.reached

    def __call__(self, env: Any) -> None:
        """End LightGBM with the rounds that are done."""
        from lightgbm.callback import EarlyStopException

        if not self.after_iteration(env):
            raise EarlyStopException(env.iteration, env.evaluation_result_list)


@dataclass(eq=False)
class EarlyStopped:
    """CatBoost or LightGBM with as many rounds as the last tenth of the rows asks for.

    Attributes
    ----------
    name : of the model
    seed : of everything random
    quick : whether it ends after few rounds
    seconds : after which it ends with the rounds that are done
    model : the estimator, with the rounds that were best once it is fitted
    cap : what ends it
    """

    name: str
    seed: int
    quick: bool = False
    seconds: float = CAP
    model: Any = None
    cap: Cap | None = None

    def __post_init__(self) -> None:
        rounds: dict[str, Any] = {_ROUNDS[self.name]: _QUICK_ROUNDS if self.quick else MOST_ROUNDS}
        self.model = build(self.name, REGRESSION, self.seed, **rounds)

    def fit(self, X: Any, y: Any) -> EarlyStopped:
        """Fit to the first nine tenths."""
        n_train = len(y) - int(VALIDATION * len(y))
        self.cap = Cap(self.seconds)
        stop: dict[str, Any] = {"eval_set": [(X[n_train:], y[n_train:])], "callbacks": [self.cap]}
        if self.name == CATBOOST:
            stop["early_stopping_rounds"] = PATIENCE
        else:
            from lightgbm import early_stopping

            stop["callbacks"].append(early_stopping(PATIENCE, verbose=False))
        self.model.fit(X[:n_train], y[:n_train], **stop)
        return self

    def predict(self, X: Any) -> Any:
        """Predictions with the best rounds."""
        return self.model.predict(X)

    def told(self) -> dict[str, Any]:
        """Number of rounds, the learning rate, and whether seconds ended it."""
        capped = self.cap is not None and self.cap.reached
        if self.name == CATBOOST:
            rounds, rate = self.model.tree_count_, self.model.learning_rate_
        else:
            rounds, rate = self.model.best_iteration_, self.model.learning_rate
        return {"rounds": int(rounds), "rate": float(rate), "capped": capped}
