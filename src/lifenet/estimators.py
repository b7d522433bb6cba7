"""scikit-learn estimators: a shell that validates, calls a recipe and keeps its result."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from scipy import special
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lifenet._threads import one_blas_thread
from lifenet.blocks import ArrayRows
from lifenet.losses import Logistic, Loss, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.recipe import Training, train_alone
from lifenet.schema import FeatureSchema, check_finite
from lifenet.solvers.base import Iteration, Problem
from lifenet.solvers.lla import LLA
from lifenet.solvers.printed import PrintedLLA
from lifenet.validation import (
    check_sample_weight,
    check_target,
    encode_classes,
    naming_text_columns,
    unchanged_on_failure,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.solvers.base import Outcome

__all__ = ["LLAClassifier", "LLARegressor"]

# A pooled read-out has a unique optimum only with some penalty, also where the members have none.
_LEAST_READOUT_RIDGE = 1e-6


class _LLAEstimator(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neurons": [Interval(Integral, 1, None, closed="left")],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "algorithm": [StrOptions({"damped", "printed"})],
        "start": [StrOptions({"random", "least-squares"})],
        "n_restarts": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    n_neurons: int
    ridge: float
    algorithm: Literal["damped", "printed"]
    start: Literal["random", "least-squares"]
    n_restarts: int
    max_iter: int
    tol: float
    time_limit: float | None
    random_state: int | np.random.RandomState | None
    verbose: int

    network_: ReluNetwork
    schema_: FeatureSchema
    outcomes_: tuple[Outcome, ...]
    n_iter_: int

    def _solver(self) -> LLA | PrintedLLA:
        if self.algorithm == "printed":
            return PrintedLLA(self.n_neurons, self.start, self.max_iter, self.tol)
        return LLA(self.n_neurons, self.ridge, self.start, self.max_iter, self.tol)

    def _train(self, rows: ArrayRows, loss: Loss) -> Training:
        """Train on standardised columns; the result still reads those."""
        return train_alone(
            Problem(rows, loss),
            self._solver(),
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            # The least-squares start is the same every time.
            n_restarts=1 if self.start == "least-squares" else self.n_restarts,
            ridge=max(self.ridge, _LEAST_READOUT_RIDGE),
            time_limit=self.time_limit,
            monitor=_print_iteration if self.verbose else None,
        )

    def _keep(self, network: ReluNetwork, outcomes: tuple[Outcome, ...], rows: ArrayRows) -> None:
        self.network_ = network
        self.outcomes_ = outcomes
        self.n_iter_ = max((outcome.n_iterations for outcome in outcomes), default=0)
        present = rows.X if rows.index is None else rows.X[rows.index]
        self.schema_ = FeatureSchema.of(present, getattr(self, "feature_names_in_", None))

    def _check_fit_input(self, X: Any, y: Any, *, y_numeric: bool) -> tuple[Floats, Any]:
        check_target(y)
        with naming_text_columns(X):
            X, y = validate_data(
                self,
                X,
                y,
                dtype=[np.float64, np.float32],
                ensure_all_finite=False,
                ensure_min_samples=2,
                y_numeric=y_numeric,
            )
        check_finite(X, getattr(self, "feature_names_in_", None))
        return X, y

    def _score(self, X: Any) -> Floats:
        """Raw scores of new rows, (n_samples, n_outputs)."""
        check_is_fitted(self)
        with naming_text_columns(X):
            X = validate_data(
                self, X, reset=False, dtype=[np.float64, np.float32], ensure_all_finite=False
            )
        check_finite(X, self.schema_.names)
        return self.network_.score(X)


class LLARegressor(RegressorMixin, _LLAEstimator):  # type: ignore[misc]
    """A single-hidden-layer ReLU network trained by local linear approximation.

    All weights, biases and read-out coefficients are solved for at once, by damped Gauss-Newton
    steps that never raise the objective. Columns and target are standardised inside; `network_`
    speaks the units of the data.

    Parameters
    ----------
    n_neurons : int, default=10
        Width of the hidden layer.
    ridge : float, default=1e-4
        Penalty on the squared size of the neurons, in standardised units. Worth tuning between
        1e-6 (many rows, little noise) and 1e-1 (few rows, much noise). "printed" has none.
    algorithm : {"damped", "printed"}, default="damped"
        "printed" is the algorithm of the LIFE paper's appendix (full minimum-norm steps, no
        penalty), kept for comparison; it may diverge.
    start : {"random", "least-squares"}, default="random"
        Random hinges inside the data, or the least-squares direction with hinges at its quantiles.
    n_restarts : int, default=1
        Starts, of which the best is kept; more help where few neurons must find their places.
        "least-squares" has only one start.
    max_iter : int, default=100
        Most iterations of one start.
    tol : float, default=1e-4
        A start ends after three steps that lower the objective by less than this share.
    time_limit : float or None, default=None
        Seconds after which the best network so far is kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line an iteration.

    Attributes
    ----------
    network_ : ReluNetwork
        The fitted network, in the units of the data.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    outcomes_ : tuple of Outcome
        How training went: status, history, objectives of the starts. Its losses and networks are
        those of standardised columns and target. Empty for a constant target.
    n_iter_ : int
        Iterations of the start that was kept.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import LLARegressor
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(2000, random_state=0)
    >>> model = LLARegressor(n_neurons=20, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.8)
    True
    """

    def __init__(
        self,
        n_neurons: int = 10,
        *,
        ridge: float = 1e-4,
        algorithm: Literal["damped", "printed"] = "damped",
        start: Literal["random", "least-squares"] = "random",
        n_restarts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.ridge = ridge
        self.algorithm = algorithm
        self.start = start
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative; a weight of two is the same as a repeated row, zero as a missing one.
        """
        with unchanged_on_failure(self), one_blas_thread():
            X, y = self._check_fit_input(X, y, y_numeric=True)
            weight = check_sample_weight(sample_weight, len(X))
            rows = ArrayRows.of(X, np.asarray(y, dtype=np.float64), weight)
            center, spread = _mean_and_spread(rows.target, rows.weight)
            if spread == 0:
                self._keep(_constant(center, X.shape[1]), (), rows)
                return self
            rows = rows.with_target((rows.target - center) / spread).standardised()
            training = self._train(rows, SquaredError())
            network = _unscale(training.network, rows, center, spread)
            self._keep(network, training.outcomes, rows)
        return self

    def predict(self, X: Any) -> Floats:
        """Predicted target of each row, (n_samples,)."""
        return self._score(X)[:, 0]


class LLAClassifier(ClassifierMixin, _LLAEstimator):  # type: ignore[misc]
    """A single-hidden-layer ReLU network trained by local linear approximation to class labels.

    Two classes: damped Fisher scoring of the log-odds. More: each class is fitted against the
    rest with `n_neurons` neurons, and all neurons are pooled under a multinomial read-out.

    Parameters
    ----------
    n_neurons : int, default=10
        Width of the hidden layer; with more than two classes, neurons for each class.
    ridge : float, default=1e-3
        Penalty on the squared size of the neurons, in standardised units. Worth tuning between
        1e-6 (many rows, little noise) and 1e-1 (few rows, much noise). "printed" has none.
    algorithm : {"damped", "printed"}, default="damped"
        "printed" is the algorithm of the LIFE paper's appendix, as iteratively reweighted least
        squares, kept for comparison; it may diverge.
    start : {"random", "least-squares"}, default="random"
        Random hinges inside the data, or the direction of one Fisher scoring step of a linear
        model with hinges at its quantiles.
    n_restarts : int, default=1
        Starts, of which the best is kept; more help where few neurons must find their places.
        "least-squares" has only one start.
    max_iter : int, default=100
        Most iterations of one start.
    tol : float, default=1e-4
        A start ends after three steps that lower the objective by less than this share.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, on top of `sample_weight`. "balanced" gives all classes the same
        total weight.
    time_limit : float or None, default=None
        Seconds after which the best network so far is kept; the read-out that more than two
        classes share is fitted after that.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.
    verbose : int, default=0
        1 prints a line an iteration.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are log-odds of the second.
    network_ : ReluNetwork
        The fitted network, in the units of the data; its score is on the logit scale.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    outcomes_ : tuple of Outcome
        How training went, on standardised columns: one entry, or one for each class where there
        are more than two.
    n_iter_ : int
        Most iterations of a start that was kept.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import LLAClassifier
    >>> from lifenet.datasets import simulate
    >>> data = simulate.ringnorm(2000, random_state=0)
    >>> model = LLAClassifier(n_neurons=10, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_LLAEstimator._parameter_constraints,
        "class_weight": [StrOptions({"balanced"}), dict, None],
    }

    classes_: npt.NDArray[Any]

    def __init__(
        self,
        n_neurons: int = 10,
        *,
        ridge: float = 1e-3,
        algorithm: Literal["damped", "printed"] = "damped",
        start: Literal["random", "least-squares"] = "random",
        n_restarts: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.ridge = ridge
        self.algorithm = algorithm
        self.start = start
        self.n_restarts = n_restarts
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), class labels
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative; a weight of two is the same as a repeated row, zero as a missing one.
        """
        with unchanged_on_failure(self), one_blas_thread():
            X, y = self._check_fit_input(X, y, y_numeric=False)
            check_classification_targets(y)
            weight = check_sample_weight(sample_weight, len(X))
            classes, codes, weight = encode_classes(y, weight, self.class_weight)
            rows = ArrayRows.of(X, codes, weight).standardised()
            loss = Logistic() if len(classes) == 2 else Multinomial(len(classes))
            training = self._train(rows, loss)
            self._keep(_unscale(training.network, rows), training.outcomes, rows)
            self.classes_ = classes
        return self

    def decision_function(self, X: Any) -> Floats:
        """Raw scores: log-odds of the second class, (n_samples,), or (n_samples, n_classes)."""
        score = self._score(X)
        return score[:, 0] if score.shape[1] == 1 else score

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, (n_samples, n_classes)."""
        score = self._score(X)
        if score.shape[1] > 1:
            return Multinomial(score.shape[1]).mean(score)
        loss = Logistic()
        return np.column_stack([loss.mean(-score[:, 0]), loss.mean(score[:, 0])])

    def predict_log_proba(self, X: Any) -> Floats:
        """Logarithm of the probability of each class, (n_samples, n_classes), without underflow."""
        score = self._score(X)
        if score.shape[1] == 1:
            score = np.column_stack([np.zeros(len(score)), score[:, 0]])
        return np.asarray(special.log_softmax(score, axis=1))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The likeliest class of each row, (n_samples,)."""
        score = self._score(X)
        codes = score[:, 0] > 0 if score.shape[1] == 1 else score.argmax(axis=1)
        return self.classes_[np.asarray(codes, dtype=np.intp)]


def _mean_and_spread(values: Floats, weight: Floats) -> tuple[float, float]:
    """Weighted mean and deviation; zero where all values are the same."""
    if values.min() == values.max():
        return float(values[0]), 0.0
    total = weight.sum()
    center = float(weight @ values / total)
    return center, float(np.sqrt(weight @ np.square(values - center) / total))


def _unscale(
    network: ReluNetwork, rows: ArrayRows, center: float = 0.0, spread: float = 1.0
) -> ReluNetwork:
    """A network of standardised columns and target, in the units of the data.

    A column that was constant in training has taught nothing: its weights, which no step has moved,
    become zero, so that another value in it changes no prediction.
    """
    scaling = rows.scaling
    assert scaling is not None
    taught = ReluNetwork(
        weights=np.where(scaling.constant, 0.0, network.weights),
        bias=network.bias,
        beta=network.beta,
        intercept=network.intercept,
    )
    return taught.fold_scaling(scaling.center, scaling.scale, center, spread)


def _constant(value: float, n_features: int) -> ReluNetwork:
    """The network without neurons."""
    return ReluNetwork(
        weights=np.zeros((0, n_features)), bias=np.zeros(0), beta=np.zeros((0, 1)), intercept=value
    )


def _print_iteration(member: int, start: int, row: Iteration) -> None:
    print(
        f"network {member + 1}, start {start + 1}, iteration {row.iteration}: "
        f"objective {row.objective:.6g}, damping {row.damping:.1e}, {row.seconds:.1f} s"
    )
