"""Search spaces: what is tuned of LIFE and of its peers, and over which range.

A space is a plain function of a trial: it asks for numbers and choices and returns parameters of
an estimator. It needs neither optuna nor the peer's own package.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from lifenet.neurons.sampling import NeuronProjection
from lifenet.output.averaging import Averaging
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.mixing import Mixing
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import BaseLearnerSelection
from lifenet.solvers.adam import Adam
from lifenet.solvers.lla import LLA
from lifenet.tuning.peers import (
    catboost_space,
    ebm_space,
    lightgbm_space,
    mlp_space,
    random_forest_space,
    xgboost_space,
)
from lifenet.tuning.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lifenet.tuning.space import Trial

__all__ = ["SPACES", "adam_space", "life_space", "lla_space", "named_space"]

# Rows that each neuron of a network needs, and the widest network of a level.
_ROWS_A_NEURON, _FEWEST_NEURONS, _WIDEST = 20, 3, 30
# Widest member, widest network by itself, and most neurons of all members together.
_WIDEST_MEMBER, _WIDEST_ALONE, _MOST_NEURONS = 80, 320, 3000
READOUTS = ("ridge", "ridge-fixed", "elastic-net", "selection", "mixing", "average")


def life_space(
    solver: Literal["lla", "adam"] = "lla",
    *,
    max_levels: int = 3,
    readouts: tuple[str, ...] = ("ridge", "ridge-fixed", "elastic-net"),
) -> Space:
    """LIFE: levels and their neurons, `lower`, `upper`, `cutoff`, penalties and read-out.

    Parameters
    ----------
    solver : {"lla", "adam"}
        What trains the members.
    max_levels : int
        Most levels before the last, J - 1.
    readouts : tuple of str
        Read-outs to choose from: "ridge" (its penalty chosen in the fit), "ridge-fixed" (its
        penalty tuned), "elastic-net", "selection", "mixing", "average".
    """
    if solver not in ("lla", "adam"):
        raise ValueError(f"solver must be 'lla' or 'adam'; got {solver!r}.")
    if max_levels < 1:
        raise ValueError(f"max_levels must be at least 1; got {max_levels}.")
    unknown = sorted(set(readouts) - set(READOUTS))
    if unknown or not readouts:
        raise ValueError(f"readouts must be some of {READOUTS}; got {readouts!r}.")
    return Space(
        f"life({solver}, {max_levels}, {'/'.join(readouts)})",
        partial(_suggest_life, solver, max_levels, tuple(readouts)),
        partial(_start_life, solver, max_levels, tuple(readouts)),
        starts_at_default=solver == "lla",
    )


def lla_space() -> Space:
    """`LLARegressor`, `LLAClassifier`: width, penalty, initialisation, number of them."""
    return Space("lla", _suggest_lla, _start_lla, starts_at_default=True)


def adam_space() -> Space:
    """`AdamRegressor`, `AdamClassifier`: width, learning rate, weight decay, early stopping."""
    return Space("adam", _suggest_adam, _start_adam, starts_at_default=True)


#: Every space by name, each as a function without arguments.
SPACES: Mapping[str, Callable[[], Space]] = {
    "life": life_space,
    "life-adam": partial(life_space, "adam"),
    "lla": lla_space,
    "adam": adam_space,
    "xgboost": xgboost_space,
    "random-forest": random_forest_space,
    "mlp": mlp_space,
    "lightgbm": lightgbm_space,
    "catboost": catboost_space,
    "ebm": ebm_space,
}


def named_space(space: Space | str) -> Space:
    """A space, given itself or by name."""
    if isinstance(space, Space):
        return space
    if space not in SPACES:
        raise ValueError(
            f"The 'space' parameter must be a Space or one of {sorted(SPACES)}; got {space!r}."
        )
    return SPACES[space]()


def _width(n_samples: int, most: int) -> int:
    """Neurons that so many rows can carry."""
    return max(_FEWEST_NEURONS, min(n_samples // _ROWS_A_NEURON, most))


def _suggest_life(
    solver: str,
    max_levels: int,
    readouts: tuple[str, ...],
    trial: Trial,
    n_samples: int,
    n_features: int,
) -> dict[str, Any]:
    widest = _width(n_samples, _WIDEST)
    n_levels = trial.suggest_int("n_levels", 1, max_levels)
    width = trial.suggest_int(
        "member_neurons", _FEWEST_NEURONS, _width(n_samples, _WIDEST_MEMBER), log=True
    )
    n_networks = trial.suggest_int("max_networks", 20, 300, log=True)
    sampler = NeuronProjection(
        levels=tuple(
            trial.suggest_int(f"neurons_{level}", _FEWEST_NEURONS, widest)
            for level in range(1, n_levels + 1)
        ),
        lower=trial.suggest_float("lower", 0.01, 0.4),
        upper=trial.suggest_float("upper", 0.6, 1.0),
        cutoff=trial.suggest_float("cutoff", -2.0, 1.0),
        max_networks=min(n_networks, _MOST_NEURONS // width),
    )
    return {
        "sampler": sampler,
        "solver": _suggest_member(solver, trial, width),
        "readout": _suggest_readout(readouts, trial),
    }


def _suggest_member(solver: str, trial: Trial, width: int) -> LLA | Adam:
    if solver == "adam":
        return Adam(
            width,
            learning_rate=trial.suggest_float("learning_rate", 1e-3, 3e-1, log=True),
            weight_decay=trial.suggest_float("weight_decay", 1e-6, 10.0, log=True),
        )
    # Members need not be trained to the last digit: the read-out is fitted anew.
    ridge = trial.suggest_float("ridge", 1e-9, 1.0, log=True)
    return LLA(width, ridge=ridge, max_iter=20, tol=5e-3)


def _suggest_readout(readouts: tuple[str, ...], trial: Trial) -> Any:
    kind = trial.suggest_categorical("readout", readouts)
    if kind == "ridge-fixed":
        return RidgeOutput(penalty=trial.suggest_float("readout_penalty", 1e-7, 1.0, log=True))
    if kind == "elastic-net":
        return ElasticNetOutput(
            l1_ratio=trial.suggest_float("l1_ratio", 0.05, 1.0),
            rule=trial.suggest_categorical("rule", ("best", "one-se")),
        )
    if kind == "selection":
        return BaseLearnerSelection(keep=trial.suggest_float("keep", 0.1, 1.0))
    return {"ridge": RidgeOutput, "mixing": Mixing, "average": Averaging}[kind]()


def _start_life(
    solver: str, max_levels: int, readouts: tuple[str, ...], n_samples: int, n_features: int
) -> dict[str, Any]:
    """The defaults of `LIFERegressor`, as near as the space comes to them."""
    n_levels = min(2, max_levels)
    width = _width(n_samples, 20)
    return {
        "n_levels": n_levels,
        **{f"neurons_{level}": width for level in range(1, n_levels + 1)},
        "lower": 0.1,
        "upper": 0.9,
        "cutoff": -0.3,
        "max_networks": 150,
        "member_neurons": min(10, width),
        **({"learning_rate": 0.02, "weight_decay": 0.01} if solver == "adam" else {"ridge": 1e-5}),
        **({"readout": "ridge"} if "ridge" in readouts else {}),
    }


def _suggest_lla(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "n_neurons": trial.suggest_int(
            "n_neurons", _FEWEST_NEURONS, _width(n_samples, _WIDEST_ALONE), log=True
        ),
        "ridge": _suggest_ridge(trial),
        "init": trial.suggest_categorical("init", ("random", "least-squares")),
        "n_init": trial.suggest_int("n_init", 1, 3),
    }


def _suggest_ridge(trial: Trial) -> float | str:
    if trial.suggest_categorical("penalty", ("auto", "given")) == "auto":
        return "auto"
    return trial.suggest_float("ridge", 1e-9, 10.0, log=True)


def _start_lla(n_samples: int, n_features: int) -> dict[str, Any]:
    # What "auto" takes, or nearly so.
    width = min(max(n_samples // (10 * (n_features + 1)), 10), 40, _width(n_samples, _WIDEST_ALONE))
    return {"n_neurons": width, "penalty": "auto", "init": "random", "n_init": 1}


def _suggest_adam(trial: Trial, n_samples: int, n_features: int) -> dict[str, Any]:
    return {
        "n_neurons": trial.suggest_int("n_neurons", 5, 1000, log=True),
        "learning_rate": trial.suggest_float("learning_rate", 3e-4, 3e-1, log=True),
        "weight_decay": trial.suggest_float("weight_decay", 1e-6, 10.0, log=True),
        "early_stopping": trial.suggest_categorical("early_stopping", (False, True)),
    }


def _start_adam(n_samples: int, n_features: int) -> dict[str, Any]:
    return {"n_neurons": 40, "learning_rate": 0.02, "weight_decay": 0.01, "early_stopping": False}
