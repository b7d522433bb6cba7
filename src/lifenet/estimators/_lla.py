"""A single network trained directly by LLA: the paper's "LLA" columns."""

from __future__ import annotations

from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval, StrOptions

from lifenet.estimators._base import NetworkClassifier, NetworkRegressor
from lifenet.estimators._single import SingleEstimator
from lifenet.solvers.lla import LLA
from lifenet.solvers.lla_printed import PrintedLLA

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from lifenet.data.problem import Problem

__all__ = ["LLAClassifier", "LLARegressor"]

# Width where none is given: ten rows for each unknown, between these bounds. More neurons do little
# harm, since the ridge follows the evidence; fewer are often too few (docs/lla.md).
_ROWS_AN_UNKNOWN, _NARROWEST, _WIDEST = 10, 10, 40
# Penalty of the output layer that more than two classes share, where the networks find their own.
_POOLED = 1e-3


class _LLAEstimator(SingleEstimator):
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_neurons": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "ridge": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "algorithm": [StrOptions({"damped", "printed"})],
        "init": [StrOptions({"random", "least-squares"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "categorical_features": SingleEstimator._categorical_constraint,
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    n_neurons: int | Literal["auto"]
    ridge: float | Literal["auto"]
    algorithm: Literal["damped", "printed"]
    init: Literal["random", "least-squares"]
    n_init: int
    max_iter: int
    tol: float
    time_limit: float | None
    random_state: int | np.random.RandomState | None
    verbose: int

    @property
    def _pooled_ridge(self) -> float:  # type: ignore[override]
        """Some penalty, also where the networks have none: the optimum is unique with it only."""
        return _POOLED if isinstance(self.ridge, str) else max(self.ridge, 1e-6)

    def _solver(self, problem: Problem) -> LLA | PrintedLLA:
        width = self.n_neurons
        if isinstance(width, str):
            wanted = problem.rows.total_weight / (_ROWS_AN_UNKNOWN * (problem.rows.n_features + 1))
            width = int(min(max(wanted, _NARROWEST), _WIDEST))
        if self.algorithm == "printed":
            return PrintedLLA(width, self.init, self.max_iter, self.tol, self.n_init)
        return LLA(width, self.ridge, self.init, self.max_iter, self.tol, self.n_init)


class LLARegressor(NetworkRegressor, _LLAEstimator):
    """A single-hidden-layer ReLU network trained by local linear approximation.

    All weights, biases and output layer coefficients are solved for at once, by damped Gauss-Newton
    steps that never raise the objective. Columns and target are standardised inside; `network_`
    speaks the units of the data.

    Parameters
    ----------
    n_neurons : int or "auto", default="auto"
        Width of the hidden layer. "auto" has ten rows for each unknown, from 10 to 40 neurons.
    ridge : float or "auto", default="auto"
        Penalty on the squared size of the neurons, in standardised units: from 1e-6 (many rows,
        little noise) to 1e-1 (few rows, much noise). "auto" follows the evidence. "printed" has
        none.
    algorithm : {"damped", "printed"}, default="damped"
        "printed" is the algorithm of the LIFE paper's appendix (full minimum-norm steps, no
        penalty), kept for comparison; it may diverge.
    init : {"random", "least-squares"}, default="random"
        Random hinges inside the data, or the least-squares direction with hinges at its quantiles.
    n_init : int, default=1
        Starts, of which the best is kept; more help where few neurons must find their positions.
        "least-squares" has only one start.
    max_iter : int, default=100
        Most iterations of one start.
    tol : float, default=1e-4
        A start ends after three steps that lower the objective by less than this share.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
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
    origin_ : Origin
        What the fit was of: rows, a hash of the data, the seed, versions.
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
        n_neurons: int | Literal["auto"] = "auto",
        *,
        ridge: float | Literal["auto"] = "auto",
        algorithm: Literal["damped", "printed"] = "damped",
        init: Literal["random", "least-squares"] = "random",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        categorical_features: Any = "from_dtype",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.ridge = ridge
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose


class LLAClassifier(NetworkClassifier, _LLAEstimator):
    """A single-hidden-layer ReLU network trained by local linear approximation to class labels.

    Two classes: damped Fisher scoring of the log-odds. More: each class is fitted against the
    rest with `n_neurons` neurons, and all neurons are pooled under a multinomial output layer.

    Parameters
    ----------
    n_neurons : int or "auto", default="auto"
        Width of the hidden layer; with more than two classes, neurons for each class. "auto" has
        ten rows for each unknown, from 10 to 40 neurons.
    ridge : float or "auto", default="auto"
        Penalty on the squared size of the neurons, in standardised units: from 1e-6 (many rows,
        little noise) to 1e-1 (few rows, much noise). "auto" follows the evidence. "printed" has
        none.
    algorithm : {"damped", "printed"}, default="damped"
        "printed" is the algorithm of the LIFE paper's appendix, as iteratively reweighted least
        squares, kept for comparison; it may diverge.
    init : {"random", "least-squares"}, default="random"
        Random hinges inside the data, or the direction of one Fisher scoring step of a linear
        model with hinges at its quantiles.
    n_init : int, default=1
        Starts, of which the best is kept; more help where few neurons must find their positions.
        "least-squares" has only one start.
    max_iter : int, default=100
        Most iterations of one start.
    tol : float, default=1e-4
        A start ends after three steps that lower the objective by less than this share.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, on top of `sample_weight`. "balanced" gives all classes the same
        total weight.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
    time_limit : float or None, default=None
        Seconds after which the best network so far is kept; the output layer that more than two
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
    origin_ : Origin
        What the fit was of: rows, a hash of the data, the seed, versions.
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
        "class_weight": NetworkClassifier._class_weight_constraint,
    }

    def __init__(
        self,
        n_neurons: int | Literal["auto"] = "auto",
        *,
        ridge: float | Literal["auto"] = "auto",
        algorithm: Literal["damped", "printed"] = "damped",
        init: Literal["random", "least-squares"] = "random",
        n_init: int = 1,
        max_iter: int = 100,
        tol: float = 1e-4,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.ridge = ridge
        self.algorithm = algorithm
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
