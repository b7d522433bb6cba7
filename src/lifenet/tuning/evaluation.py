"""One trial: the estimator with some parameters, over the folds."""

from __future__ import annotations

import inspect
import re
import time
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params, has_fit_parameter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lifenet._typing import Integers

__all__ = ["Task", "TooSlow", "configured", "fit_arguments"]

# LIFE ends its training at this share of its time limit; a fit that took as long may be cut short.
_CUT = 0.8
_LEAST_SECONDS = 0.05


class TooSlow(Exception):
    """A verdict, not a fault: a trial ran out of its time."""


def configured(estimator: Any, parameters: Mapping[str, Any], seed: int) -> Any:
    """A new estimator with these parameters; every `random_state` that is None gets the seed."""
    model = clone(estimator).set_params(**parameters)
    free = {
        name: seed
        for name, value in model.get_params().items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return model.set_params(**free)


def fit_arguments(estimator: Any, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of `fit` that are given; groups only where the estimator takes them."""
    return {
        name: value
        for name, value in arguments.items()
        if value is not None and (name != "groups" or has_fit_parameter(estimator, "groups"))
    }


@dataclass(frozen=True, eq=False)
class Task:
    """Data, folds and score: what every trial of a search is judged by.

    Attributes
    ----------
    estimator : as it was given
    X, y : all rows
    arguments : of `fit`, split by rows where they have one entry a row
    folds : (train, test) rows of each fold, the same for all trials
    scorer : higher is better
    scoring : what was asked for as scorer
    seed : for every `random_state` that is None
    weighs : whether the scorer gets the weights
    """

    estimator: Any
    X: Any
    y: Any
    arguments: Mapping[str, Any]
    folds: tuple[tuple[Integers, Integers], ...]
    scorer: Any
    scoring: str
    seed: int
    weighs: bool

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        cv: Any,
        scoring: Any,
        arguments: Mapping[str, Any],
        seed: int,
    ) -> Task:
        """Split the rows once."""
        X, y = indexable(X, y)
        scorer = check_scoring(estimator, scoring)
        splitter = check_cv(cv, y, classifier=is_classifier(estimator))
        folds = tuple(splitter.split(X, y, arguments.get("groups")))
        weighs = arguments.get("sample_weight") is not None and _takes_weights(
            estimator, scoring, scorer
        )
        chosen = fit_arguments(estimator, arguments)
        return cls(estimator, X, y, chosen, folds, scorer, str(scoring), seed, weighs)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns; what is no table is left to the estimator to refuse."""
        shape = getattr(self.X, "shape", None) or np.shape(self.X)
        return (shape[0], shape[1]) if len(shape) == 2 else (len(self.y), 1)

    def identity(self) -> dict[str, Any]:
        """What a journal must agree with."""
        X = self.X if sparse.issparse(self.X) else np.asarray(self.X)
        weight = self.arguments.get("sample_weight")
        return {
            "estimator": _plain(repr(_silent(self.estimator))),
            "scoring": _plain(self.scoring),
            "shape": list(self.shape),
            "data": joblib.hash(
                (X, np.asarray(self.y), None if weight is None else np.array(weight))
            ),
            "folds": joblib.hash(self.folds),
            "seed": self.seed,
        }

    def score_folds(
        self, parameters: Mapping[str, Any], limit: float | None, *, cut: bool
    ) -> Iterator[float]:
        """Fit and score fold by fold.

        Parameters
        ----------
        parameters : of the estimator
        limit : seconds for all folds, or None
        cut : whether to end with `TooSlow` where the limit is used up; otherwise it only bounds
            fits that have a time limit of their own
        """
        begun = time.monotonic()
        for number, (train, test) in enumerate(self.folds):
            spent = time.monotonic() - begun
            left = None if limit is None else limit - spent
            if cut and left is not None and left <= 0:
                raise TooSlow(f"{number} of {len(self.folds)} folds took {spent:.3g} s")
            model = configured(self.estimator, parameters, self.seed)
            n_left = 1 if cut else len(self.folds) - number
            bound = _bound(model, None if left is None else left / n_left)
            since = time.monotonic()
            with warnings.catch_warnings():
                if bound is not None:  # the limit is the search's, which tells how a trial ended
                    warnings.filterwarnings("ignore", "time_limit=|The time limit", UserWarning)
                self._fit(model, train)
            seconds = time.monotonic() - since
            if cut and bound is not None and seconds >= _CUT * bound:
                raise TooSlow(f"a fit was stopped after {seconds:.3g} s")
            yield self._score(model, test)

    def _fit(self, model: Any, rows: Integers) -> None:
        X, y = _safe_split(model, self.X, self.y, rows)
        model.fit(X, y, **_check_method_params(self.X, self.arguments, rows))

    def _score(self, model: Any, rows: Integers) -> float:
        X, y = _safe_split(model, self.X, self.y, rows)
        weight: dict[str, Any] = {}
        if self.weighs:
            weight = {"sample_weight": self.arguments["sample_weight"]}
        score = float(self.scorer(model, X, y, **_check_method_params(self.X, weight, rows)))
        if not np.isfinite(score):
            raise ValueError(f"The score is {score}.")
        return score


def _silent(estimator: Any) -> Any:
    """The estimator without what changes no result."""
    same = {"n_jobs": None, "verbose": 0}
    known = estimator.get_params()
    return clone(estimator).set_params(**{name: same[name] for name in same if name in known})


def _plain(text: str) -> str:
    """A description without the addresses of this process."""
    return re.sub(r" at 0x[0-9a-fA-F]+", "", text)


def _bound(model: Any, seconds: float | None) -> float | None:
    """Give the model so many seconds where it has a `time_limit` that allows more; else None."""
    parameters = model.get_params()
    if seconds is None or "time_limit" not in parameters:
        return None
    own = parameters["time_limit"]
    if own is not None and own <= seconds:
        return None
    bound = max(seconds, _LEAST_SECONDS)
    model.set_params(time_limit=bound)
    return bound


def _takes_weights(estimator: Any, scoring: Any, scorer: Any) -> bool:
    function = estimator.score if scoring is None else getattr(scorer, "_score_func", scorer)
    return "sample_weight" in inspect.signature(function).parameters
