"""The columns of the tables: an estimator and its search space, one thread each.

Spaces are those of `lifenet.tuning`. As given, before any tuning, each model has its own defaults,
except for FFNN, whose default of one hidden layer would not be the paper's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.life.schemes import SCHEMES as SAMPLERS
from benchmarks.life.schemes import WIDTH as SINGLE_WIDTH
from benchmarks.paper.experiments import REGRESSION, SCHEMES, SINGLE, untuned
from lifenet import (
    Adam,
    AdamClassifier,
    AdamRegressor,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
)
from lifenet.tuning import (
    Space,
    adam_space,
    life_space,
    lla_space,
    mlp_space,
    random_forest_space,
    xgboost_space,
)

if TYPE_CHECKING:
    from collections.abc import Callable

_FFNN: dict[str, Any] = {
    "hidden_layer_sizes": (64, 64),
    "early_stopping": True,
    "max_iter": 500,
}


@dataclass(frozen=True)
class Model:
    """How a column is made.

    Attributes
    ----------
    build : (task, seed) -> unfitted estimator
    space : task -> what is tuned; None where nothing is
    """

    build: Callable[[str, int], Any]
    space: Callable[[str], Space] | None = None


def _life(solver: str) -> Callable[[str, int], Any]:
    def build(task: str, seed: int) -> Any:
        kind = LIFERegressor if task == REGRESSION else LIFEClassifier
        return kind(solver=solver, random_state=seed)

    return build


def _of(regressor: type, classifier: type, **settings: Any) -> Callable[[str, int], Any]:
    def build(task: str, seed: int) -> Any:
        kind = regressor if task == REGRESSION else classifier
        return kind(random_state=seed, **settings)

    return build


def _xgboost(task: str, seed: int) -> Any:
    from xgboost import XGBClassifier, XGBRegressor

    kind = XGBRegressor if task == REGRESSION else XGBClassifier
    return kind(n_jobs=1, random_state=seed)


def perceptron(space: Space, **settings: Any) -> Model:
    """scikit-learn's MLP on standardised columns, and a standardised response."""

    def build(task: str, seed: int) -> Any:
        if task != REGRESSION:
            return make_pipeline(StandardScaler(), MLPClassifier(random_state=seed, **settings))
        pipeline = make_pipeline(StandardScaler(), MLPRegressor(random_state=seed, **settings))
        return TransformedTargetRegressor(pipeline, transformer=StandardScaler())

    def of_step(task: str) -> Space:
        step = "regressor__mlpregressor" if task == REGRESSION else "mlpclassifier"
        return space.prefixed(step)

    return Model(build, of_step)


def same(space: Space) -> Callable[[str], Space]:
    """A space that does not depend on the task."""
    return lambda task: space


def _scheme(name: str) -> Callable[[str, int], Any]:
    """Members are LLA's in regression and Adam's in classification."""

    def build(task: str, seed: int) -> Any:
        if task == REGRESSION:
            return LIFERegressor(SAMPLERS[name], random_state=seed)
        return LIFEClassifier(SAMPLERS[name], Adam(10), random_state=seed)

    return build


def _single(task: str, seed: int) -> Any:
    kind = LLARegressor if task == REGRESSION else AdamClassifier
    return kind(SINGLE_WIDTH, random_state=seed)


_TUNED: dict[str, Model] = {
    "LIFE(LLA)": Model(_life("lla"), same(life_space("lla"))),
    "LLA": Model(_of(LLARegressor, LLAClassifier), same(lla_space())),
    "LIFE(Adam)": Model(_life("adam"), same(life_space("adam"))),
    "Adam": Model(_of(AdamRegressor, AdamClassifier), same(adam_space())),
    "FFNN": perceptron(mlp_space(), **_FFNN),
    "XGBoost": Model(_xgboost, same(xgboost_space())),
    "RandomForest": Model(
        _of(RandomForestRegressor, RandomForestClassifier, n_jobs=1), same(random_forest_space())
    ),
}
#: Every model that is fitted, by its name in the tables.
MODELS: dict[str, Model] = {
    **_TUNED,
    **{untuned(name): Model(made.build) for name, made in _TUNED.items()},
    **{name: Model(_scheme(name)) for name in SCHEMES},
    SINGLE: Model(_single),
}


def readable(parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters for a record: words and numbers as they are, settings as their code."""
    return {
        name: value
        if value is None or isinstance(value, str | bool | int | float)
        else " ".join(repr(value).split())
        for name, value in parameters.items()
    }
