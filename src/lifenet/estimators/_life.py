"""LIFE: a wide network from many narrow ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from lifenet.estimators._base import NetworkClassifier, NetworkRegressor
from lifenet.estimators._fitting import LIFEEstimator

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    import numpy as np

    from lifenet.blend import Blend
    from lifenet.encoding import QuantileCoding
    from lifenet.readouts.design import Readout
    from lifenet.sampling import Sampler
    from lifenet.solvers.base import Trainer
    from lifenet.solvers.polish import Polish

__all__ = ["LIFEClassifier", "LIFERegressor"]


class LIFERegressor(NetworkRegressor, LIFEEstimator):
    """A wide single-hidden-layer ReLU network for regression, trained from many narrow ones.

    Step 1 (`sampler`) chooses the rows of each narrow network, step 2 (`solver`) trains them, step
    3 (`readout`) flattens their neurons into one layer and fits its coefficients.

    Parameters
    ----------
    sampler : {"neurons", "random", "bootstrap"}, sampler or None, default=None
        Step 1: `NeuronProjection`, `RandomProjection` or `Bootstrap`. None is "neurons".
    solver : {"lla", "adam"}, solver or None, default=None
        Step 2: `LLA` or `Adam`; its `n_neurons` is K_J, the neurons of each member. By name, 10.
        None is "lla".
    readout : {"ridge", "linear", "elastic-net", "lasso", "selection", "mixing", "average"}, \
read-out or None, default=None
        Step 3: `Ridge`, `ElasticNet`, `BaseLearnerSelection`, `Mixing` or `Averaging`. "linear" is
        least squares without a penalty. None is "ridge".
    preset : {"auto", "paper", "fast", "best", "small"} or Blend, default="auto"
        "paper" is the paper's method, with the three steps above. The others are a `Blend`: the
        narrow networks of LIFE and the rules of boosted trees in one layer on codes of the columns,
        refined together and averaged over folds: more accurate, and as exact to read. "best" takes
        several times as long as "fast", and may mix in whole boosted trees, which `mixture_` tells;
        "small" has at most 64 neurons, which learn from a "fast" one. "auto" is "fast", and
        "paper" where a step, `coding`, `polish` or `warm_start` is given. With fewer
        than a hundred different rows, too few for folds, all are the paper's, and a warning says
        so where a blend was asked for.
    coding : {"both", "quantile", "piecewise"}, QuantileCoding or None, default=None
        Whether columns are first bent by piecewise-linear codes with knots at their quantiles,
        which makes heavy tails and outliers harmless. `network_` is then a `CodedNetwork`, read in
        the raw columns as exactly as any; members and hierarchy are of the codes.
    polish : "lbfgs", Polish or None, default=None
        Whether all neurons and the read-out are refined together in the end, which the paper does
        not do: `Polish`, as long as held-out rows gain (without any, not at all).
    validation : "auto", float, splitter or None, default="auto"
        Rows that no member sees, on which the read-out's penalty is chosen; the read-out is then
        fitted to all rows. A share of the rows, drawn by a hash of their values, or the last split
        of a scikit-learn splitter (for groups or time): its training part is what members see.
        "auto" is a share between 0.1 and 0.2, and none where distinct rows are few; without any,
        generalised cross-validation chooses. A blend has folds instead: by "auto" its own, or all
        splits of the splitter, each with a network that has not seen it; a share is a single fold
        and None none, and so a single network, which is less accurate than the mean of several.
    warm_start : bool, default=False
        Whether `fit` keeps the members of the fit before and adds new ones to them. `record_` goes
        on; `hierarchy_` is that of the newest.
    time_limit : float or None, default=None
        Seconds after which training ends with the networks that are done. Eight tenths are for the
        networks; the read-out of what there is takes the time that it takes.
    n_jobs : int or None, default=None
        Networks trained at the same time, as joblib counts; which backend is joblib's to choose.
        The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 prints a line a level; of a blend, a line a fold.

    Attributes
    ----------
    network_ : ReluNetwork or CodedNetwork
        The fitted network, in the units of the data. Neurons that the read-out does not use are
        left out.
    coding_ : ColumnCoding or None
        The codes of the columns.
    members_ : tuple of Member
        The narrow networks, each with the subset that it was trained on.
    hierarchy_ : Hierarchy
        All levels: their networks, and what became of each neuron.
    record_ : Record
        A row for every network trained; `record_.to_frame()` is a table.
    polished_ : Polished or None
        How the polish went, or None without one.
    blend_ : Blend or None
        The blend that was fitted; None for the paper's method.
    mixture_ : Mixture or None
        The boosted trees that a blend was mixed with, and their share; None where none were asked
        for.
    linear_share_ : float
        Share of a linear model in a blend, zero in most.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    n_iter_ : int
        Most iterations of a network.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import LIFERegressor, NeuronProjection
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(2000, random_state=0)
    >>> model = LIFERegressor(NeuronProjection(levels=(5,)), random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.8)
    True
    """

    _ridge: ClassVar[float] = 1e-5
    _widths: ClassVar[tuple[int, ...]] = (10,)

    def __init__(
        self,
        sampler: Sampler | str | None = None,
        solver: Trainer | str | None = None,
        readout: Readout | str | None = None,
        *,
        preset: Blend | str = "auto",
        coding: QuantileCoding | str | None = None,
        polish: Polish | str | None = None,
        validation: Any = "auto",
        warm_start: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.sampler = sampler
        self.solver = solver
        self.readout = readout
        self.preset = preset
        self.coding = coding
        self.polish = polish
        self.validation = validation
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose


class LIFEClassifier(NetworkClassifier, LIFEEstimator):
    """A wide single-hidden-layer ReLU network for classification, trained from many narrow ones.

    The members of two classes are networks of log-odds. With more classes a member is a subset and
    a class, which it tells from the rest; all neurons are combined by a multinomial read-out.

    Parameters
    ----------
    sampler : {"neurons", "random", "bootstrap"}, sampler or None, default=None
        Step 1: `NeuronProjection`, `RandomProjection` or `Bootstrap`. None is "neurons".
    solver : {"lla", "adam"}, solver or None, default=None
        Step 2: `LLA` or `Adam`; its `n_neurons` is K_J, the neurons of each member (with more than
        two classes, for each class). By name 10, 20 or 40, whichever does best on the held-out
        rows for a single network (10 without any). None is "lla".
    readout : {"ridge", "linear", "elastic-net", "lasso", "selection", "mixing", "average"}, \
read-out or None, default=None
        Step 3: `Ridge`, `ElasticNet`, `BaseLearnerSelection`, `Mixing` or `Averaging`. "linear" is
        a logistic or multinomial fit without a penalty. None is "ridge".
    preset : {"auto", "paper", "fast", "best", "small"} or Blend, default="auto"
        The paper's method, or a blend; see `LIFERegressor`.
    coding : {"both", "quantile", "piecewise"}, QuantileCoding or None, default=None
        Piecewise-linear codes of the columns; see `LIFERegressor`.
    polish : "lbfgs", Polish or None, default=None
        Joint refinement of all neurons and the read-out in the end; see `LIFERegressor`.
    validation : "auto", float, splitter or None, default="auto"
        Rows that no member sees, on which the read-out's penalty is chosen; see `LIFERegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, on top of `sample_weight`. "balanced" gives all classes the same
        total weight.
    warm_start : bool, default=False
        Whether `fit` keeps the members of the fit before and adds new ones to them.
    time_limit : float or None, default=None
        Seconds after which training ends with the networks that are done; see `LIFERegressor`.
    n_jobs : int or None, default=None
        Networks trained at the same time, as joblib counts. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 prints a line a level; of a blend, a line a fold.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are log-odds of the second.
    network_ : ReluNetwork or CodedNetwork
        The fitted network, in the units of the data; its score is on the logit scale.
    members_, hierarchy_, record_, coding_, polished_, blend_, mixture_, linear_share_, schema_, \
n_iter_
        As in `LIFERegressor`.
    n_features_in_, feature_names_in_
        As in all of scikit-learn.

    Examples
    --------
    >>> from lifenet import LIFEClassifier, NeuronProjection
    >>> from lifenet.datasets import simulate
    >>> data = simulate.ringnorm(1000, random_state=0)
    >>> model = LIFEClassifier(NeuronProjection(levels=(5,)), random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.9)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LIFEEstimator._parameter_constraints,
        "class_weight": NetworkClassifier._class_weight_constraint,
    }
    _ridge: ClassVar[float] = 1e-4
    # Members that are too narrow to tell the classes apart do not make up for it together.
    _widths: ClassVar[tuple[int, ...]] = (10, 20, 40)

    def __init__(
        self,
        sampler: Sampler | str | None = None,
        solver: Trainer | str | None = None,
        readout: Readout | str | None = None,
        *,
        preset: Blend | str = "auto",
        coding: QuantileCoding | str | None = None,
        polish: Polish | str | None = None,
        validation: Any = "auto",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.sampler = sampler
        self.solver = solver
        self.readout = readout
        self.preset = preset
        self.coding = coding
        self.polish = polish
        self.validation = validation
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
