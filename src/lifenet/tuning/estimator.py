"""The search as a scikit-learn estimator."""

from __future__ import annotations

from copy import deepcopy
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.base import BaseEstimator, MetaEstimatorMixin, _fit_context
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from lifenet.data.inputs import unchanged_on_failure
from lifenet.tuning.evaluation import configured, fit_arguments
from lifenet.tuning.search import search
from lifenet.tuning.space import Space

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Self

    import numpy as np

    from lifenet.tuning.result import SearchResult, TrialRecord

__all__ = ["LIFESearchCV"]


def _refitted_has(name: str) -> Callable[[Any], bool]:
    """Whether the refitted estimator, or before `fit` the one given, has an attribute."""

    def check(self: Any) -> bool:
        if not self.refit:
            raise AttributeError(f"{name} needs an estimator fitted to all rows: set refit=True.")
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class LIFESearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """An estimator with parameters found by Bayesian search over cross-validated scores.

    A regressor or a classifier, as the estimator is. The estimator as given is the first trial, so
    that the result is never worse than that on the folds.

    Parameters
    ----------
    estimator : estimator
        `LIFERegressor()`, `LIFEClassifier()` or any other.
    space : Space or str, default="life"
        What is tuned; a name of `lifenet.tuning.SPACES`, or a `Space`.
    cv : int, splitter, iterable of splits or None, default=None
        None is five folds. For groups or time, scikit-learn's `GroupKFold` or `TimeSeriesSplit`.
    budget : float or None, default=60
        Seconds of trials, after which none is begun; the final fit is not counted.
    n_trials : int or None, default=None
        Most trials. With ``budget=None`` the result is reproducible.
    scoring : str, callable or None, default=None
        None is the estimator's own `score`; "neg_log_loss" is worth its while for classifiers.
    refit : bool, default=True
        Whether to fit the best parameters to all rows.
    random_state : int, RandomState instance or None, default=None
        Seed of the search, and of every `random_state` of the estimator that is None.
    journal : path or None, default=None
        File that keeps finished trials, from which a killed `fit` of the same data goes on.
    verbose : int, default=0
        1 prints a line a trial.

    Attributes
    ----------
    best_params_ : dict
        Parameters of the best trial; empty where the estimator as given was the best.
    best_score_ : float
        Its mean score over the folds.
    best_index_ : int
        Its place in `trials_`.
    best_estimator_ : estimator
        Fitted to all rows with the best parameters; where `refit`.
    trials_ : tuple of TrialRecord
        All trials.
    result_ : SearchResult
        All of it; `result_.to_frame()` is a table.
    scorer_ : callable
        What trials were judged by.
    classes_, n_features_in_, feature_names_in_
        Those of `best_estimator_`, where it has them.

    Examples
    --------
    >>> from lifenet import LLARegressor
    >>> from lifenet.datasets import simulate
    >>> from lifenet.tuning import LIFESearchCV
    >>> data = simulate.aim(500, random_state=0)
    >>> tuned = LIFESearchCV(LLARegressor(), "lla", cv=2, n_trials=3, random_state=0)
    >>> tuned.fit(data.X, data.y).predict(data.X[:2]).shape
    (2,)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "space": [Space, str],
        "cv": ["cv_object"],
        "budget": [Interval(Real, 0, None, closed="neither"), None],
        "n_trials": [Interval(Integral, 1, None, closed="left"), None],
        "scoring": [str, callable, None],
        "refit": ["boolean"],
        "random_state": ["random_state"],
        "journal": [str, PathLike, None],
        "verbose": ["verbose"],
    }

    best_params_: Mapping[str, Any]
    best_score_: float
    best_index_: int
    best_estimator_: Any
    trials_: tuple[TrialRecord, ...]
    result_: SearchResult

    def __init__(
        self,
        estimator: Any,
        space: Space | str = "life",
        *,
        cv: Any = None,
        budget: float | None = 60,
        n_trials: int | None = None,
        scoring: Any = None,
        refit: bool = True,
        random_state: int | np.random.RandomState | None = None,
        journal: str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.space = space
        self.cv = cv
        self.budget = budget
        self.n_trials = n_trials
        self.scoring = scoring
        self.refit = refit
        self.random_state = random_state
        self.journal = journal
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, **fit_params: Any
    ) -> Self:
        """Search, and fit the best parameters to all rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            For fits, and for scores that take weights.
        groups : array-like of shape (n_samples,) or None
            For the splitter in `cv`, and for the estimator where its `fit` takes groups.
        **fit_params
            Further arguments of the estimator's `fit`.
        """
        with unchanged_on_failure(self):
            self._search(X, y, sample_weight, groups, fit_params)
        return self

    def _search(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, fit_params: dict[str, Any]
    ) -> None:
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        found = search(
            self.estimator,
            self.space,
            X,
            y,
            cv=self.cv,
            scoring=self.scoring,
            groups=groups,
            sample_weight=sample_weight,
            fit_params=fit_params,
            budget_seconds=self.budget,
            max_trials=self.n_trials,
            journal=self.journal,
            random_state=self.random_state,
            progress=bool(self.verbose),
        )
        self.result_, self.trials_ = found, found.trials
        self.best_params_, self.best_score_ = found.best_params, found.best_score
        self.best_index_ = found.best_number
        if self.refit:
            arguments = {"sample_weight": sample_weight, "groups": groups, **fit_params}
            model = configured(self.estimator, found.best_params, found.seed)
            self.best_estimator_ = model.fit(X, y, **fit_arguments(model, arguments))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = deepcopy(inner.classifier_tags)
        tags.regressor_tags = deepcopy(inner.regressor_tags)
        tags.input_tags = deepcopy(inner.input_tags)
        tags.target_tags = deepcopy(inner.target_tags)
        return tags

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "result_")

    @property
    def classes_(self) -> Any:
        """The labels."""
        return self._of_the_best("classes_")

    @property
    def n_features_in_(self) -> Any:
        """Columns seen in `fit`."""
        return self._of_the_best("n_features_in_")

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns, where they have some."""
        return self._of_the_best("feature_names_in_")

    def _of_the_best(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(
                f"{type(self).__name__} has no {name}: it has fitted no estimator."
            )
        return getattr(self.best_estimator_, name)

    def _best(self) -> Any:
        check_is_fitted(self)
        return self.best_estimator_

    @available_if(_refitted_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Of the best estimator: predicted target or class of each row, (n_samples,)."""
        return self._best().predict(X)

    @available_if(_refitted_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Any:
        """Of the best estimator: probability of each class, (n_samples, n_classes)."""
        return self._best().predict_proba(X)

    @available_if(_refitted_has("predict_log_proba"))  # type: ignore[untyped-decorator]
    def predict_log_proba(self, X: Any) -> Any:
        """Of the best estimator: logarithm of the probabilities, (n_samples, n_classes)."""
        return self._best().predict_log_proba(X)

    @available_if(_refitted_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Any:
        """Of the best estimator: raw scores."""
        return self._best().decision_function(X)

    @available_if(_refitted_has("transform"))  # type: ignore[untyped-decorator]
    def transform(self, X: Any) -> Any:
        """Of the best estimator: for LIFE, the activations of its neurons."""
        return self._best().transform(X)

    @available_if(_refitted_has("score"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that trials were judged by, on other rows."""
        best = self._best()
        weight = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(best, X, y, **weight))
