"""A single network trained directly by Adam: the paper's "Adam" columns."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from sklearn.utils._param_validation import Interval

from lifenet.estimators._base import NetworkClassifier, NetworkRegressor
from lifenet.estimators._single import SingleEstimator
from lifenet.solvers.adam import Adam

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np

    from lifenet.data.problem import Problem

__all__ = ["AdamClassifier", "AdamRegressor"]


class _AdamEstimator(SingleEstimator):
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **Adam._parameter_constraints,
        "categorical_features": SingleEstimator._categorical_constraint,
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    n_neurons: int
    learning_rate: float
    batch_size: int | None
    max_epochs: int | None
    schedule: Literal["cosine", "constant"]
    weight_decay: float
    dropout: float
    early_stopping: bool
    patience: int
    validation_fraction: float
    tol: float

    _pooled_ridge = 1e-3

    def _solver(self, problem: Problem) -> Adam:
        return Adam(**{name: getattr(self, name) for name in Adam().get_params()})


class AdamRegressor(NetworkRegressor, _AdamEstimator):
    """A single-hidden-layer ReLU network trained by Adam, with decoupled weight decay.

    Columns and target are standardised inside; `network_` speaks the units of the data.

    Parameters
    ----------
    n_neurons : int, default=40
        Width of the hidden layer.
    learning_rate : float, default=0.02
        Of the first step.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows below 1,000 of them, else twice the square root of
        their number, at most 1,024.
    max_epochs : int or None, default=None
        Passes over the rows; None takes as many as make 3,000 steps, from 10 to 50, or 100 where
        all rows are one batch.
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero over all epochs.
    weight_decay : float, default=0.01
        Share of weights and coefficients, times the learning rate, that a step takes away.
    dropout : float, default=0.0
        Share of the neurons left out at each row of a batch, at random.
    early_stopping : bool, default=False
        Whether to hold out rows and keep the best epoch on them. Below 1,000 rows nothing is held
        out, so that weights equal repeated rows there.
    patience : int, default=15
        Epochs without progress that end training early.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping.
    tol : float, default=1e-4
        Relative fall of the held-out loss that counts as progress.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
    time_limit : float or None, default=None
        Seconds after which the network so far is kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the start, the batches and the rows held out.
    verbose : int, default=0
        1 prints a line an epoch.

    Attributes
    ----------
    network_ : ReluNetwork
        The fitted network, in the units of the data.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    origin_ : Origin
        What the fit was of: rows, a hash of the data, the seed, versions.
    outcomes_ : tuple of Outcome
        How training went, on standardised columns.
    n_iter_ : int
        Epochs.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import AdamRegressor
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(2000, random_state=0)
    >>> model = AdamRegressor(n_neurons=20, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.8)
    True
    """

    def __init__(
        self,
        n_neurons: int = 40,
        *,
        learning_rate: float = 0.02,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        schedule: Literal["cosine", "constant"] = "cosine",
        weight_decay: float = 0.01,
        dropout: float = 0.0,
        early_stopping: bool = False,
        patience: int = 15,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        categorical_features: Any = "from_dtype",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose


class AdamClassifier(NetworkClassifier, _AdamEstimator):
    """A single-hidden-layer ReLU network trained by Adam to class labels.

    Two classes: log-odds. More: each class is fitted against the rest, and all neurons are pooled
    under a multinomial output layer.

    Parameters
    ----------
    n_neurons : int, default=40
        Width of the hidden layer; with more than two classes, neurons for each class.
    learning_rate : float, default=0.02
        Of the first step.
    batch_size : int or None, default=None
        Rows of a mini-batch; None takes all rows below 1,000 of them, else twice the square root of
        their number, at most 1,024.
    max_epochs : int or None, default=None
        Passes over the rows; None takes as many as make 3,000 steps, from 10 to 50, or 100 where
        all rows are one batch.
    schedule : {"cosine", "constant"}, default="cosine"
        Whether the learning rate falls to zero over all epochs.
    weight_decay : float, default=0.01
        Share of weights and coefficients, times the learning rate, that a step takes away.
    dropout : float, default=0.0
        Share of the neurons left out at each row of a batch, at random.
    early_stopping : bool, default=False
        Whether to hold out rows and keep the best epoch on them. Below 1,000 rows nothing is held
        out, so that weights equal repeated rows there.
    patience : int, default=15
        Epochs without progress that end training early.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping.
    tol : float, default=1e-4
        Relative fall of the held-out loss that counts as progress.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, on top of `sample_weight`.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
    time_limit : float or None, default=None
        Seconds after which the network so far is kept.
    random_state : int, RandomState instance or None, default=None
        Seed of the start, the batches and the rows held out.
    verbose : int, default=0
        1 prints a line an epoch.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are log-odds of the second.
    network_ : ReluNetwork
        The fitted network, in the units of the data.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    origin_ : Origin
        What the fit was of: rows, a hash of the data, the seed, versions.
    outcomes_ : tuple of Outcome
        How training went, on standardised columns: one entry, or one for each class where there
        are more than two.
    n_iter_ : int
        Epochs.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import AdamClassifier
    >>> from lifenet.datasets import simulate
    >>> data = simulate.ringnorm(2000, random_state=0)
    >>> model = AdamClassifier(n_neurons=20, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_AdamEstimator._parameter_constraints,
        "class_weight": NetworkClassifier._class_weight_constraint,
    }

    def __init__(
        self,
        n_neurons: int = 40,
        *,
        learning_rate: float = 0.02,
        batch_size: int | None = None,
        max_epochs: int | None = None,
        schedule: Literal["cosine", "constant"] = "cosine",
        weight_decay: float = 0.01,
        dropout: float = 0.0,
        early_stopping: bool = False,
        patience: int = 15,
        validation_fraction: float = 0.1,
        tol: float = 1e-4,
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        categorical_features: Any = "from_dtype",
        time_limit: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neurons = n_neurons
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.max_epochs = max_epochs
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.dropout = dropout
        self.early_stopping = early_stopping
        self.patience = patience
        self.validation_fraction = validation_fraction
        self.tol = tol
        self.class_weight = class_weight
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
