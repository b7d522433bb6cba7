"""LIFE: a wide network from many narrow ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from lifenet.estimators._base import NetworkClassifier, NetworkRegressor
from lifenet.estimators._life_base import LIFEEstimator
from lifenet.losses import Loss, SquaredError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Literal

    import numpy as np

    from lifenet.recipe.recipe import Recipe

__all__ = ["LIFEClassifier", "LIFERegressor"]


class LIFERegressor(NetworkRegressor, LIFEEstimator):
    """A wide single-hidden-layer ReLU network for regression, trained from many narrow ones.

    Step 1 (`sampler`) chooses the rows of each narrow network, step 2 (`solver`) trains them, step
    3 (`readout`) flattens their neurons into one layer and fits its coefficients.

    Parameters
    ----------
    sampler : {"neurons", "random", "bootstrap"}, sampler or None, default=None
        Step 1: `NeuronProjection`, `RandomProjection` or `Bootstrap`. None leaves the preset's.
    solver : {"lla", "adam"}, solver or None, default=None
        Step 2: `LLA` or `Adam`; its `n_neurons` is K_J, the neurons of each member. By name, 10.
        None leaves the preset's.
    readout : {"ridge", "linear", "elastic-net", "lasso", "selection", "mixing", "average"}, \
output layer or None, default=None
        Step 3: `RidgeOutput`, `ElasticNetOutput`, `BaseLearnerSelection`, `Mixing` or `Averaging`.
        "linear" is least squares without a penalty. None leaves the preset's.
    preset : {"auto", "paper", "fast", "best", "small", "glass"} or Recipe, default="auto"
        "paper" is the paper's method. "fast" adds leaf neurons of boosted trees on codes of the
        columns, fine-tunes all neurons and averages over folds: more accurate, and as exact to
        read. "best" takes several times as long, and may have whole boosted trees beside the
        network, which `stacked_` tells; "small" has at most 64 neurons, distilled from a "fast"
        one; "glass" is a sum of effects of single columns and of the pairs that pay. "auto" is
        "fast", and "paper" where a step, `coding`, `finetune` or `warm_start` is given. Beside a
        named preset or a `Recipe`, such a parameter replaces that part of it. With fewer than a
        hundred distinct rows, too few for folds, all are the paper's, and a warning says so.
    coding : {"both", "quantile", "piecewise", "full"}, QuantileCoding or None, default=None
        Whether columns are first bent by piecewise-linear codes with knots at their quantiles,
        which makes heavy tails and outliers harmless. `network_` is then a `CodedNetwork`, read in
        the raw columns as exactly as any; members and hierarchy are of the codes. None leaves the
        preset's.
    finetune : "lbfgs", LBFGS, MiniBatch or None, default=None
        Whether all neurons and the output layer are refined together in the end, which the paper
        does not do, as long as validation rows gain (without any, not at all). None leaves the
        preset's.
    smoothness : float, "auto" or None, default=None
        What is paid for a function that is straight over short distances, so that equations hold
        beside their row: the share of the training loss that straight lines may cost. 0.1 is a
        little, 3 much. "auto", that of the presets but "paper", takes as much as costs about a
        hundredth of the validation loss; 0, that of "paper", is the most accurate network whatever
        its shape. None leaves the preset's.
    interaction_cst : "pairwise", "no_interactions", groups of columns, BestPairs or None, \
default=None
        Which columns a neuron may read together: those of one group, as in scikit-learn's boosted
        trees. Groups are sequences of indices, or of names where `X` is a data frame, such as
        ``[["age", "income"], [2, 3]]``; columns of no group form one more, and groups may share
        columns. "no_interactions" gives a sum of functions of single columns, "pairwise" one of
        functions of pairs, and `BestPairs` of single columns and those pairs that pay on the
        validation rows. None leaves the preset's: all columns act together, but with "glass".
    loss : "squared_error" or Loss, default="squared_error"
        What is minimised. A loss object (see `lifenet.losses`) has one output and the identity
        link, and sees the target brought to mean zero and deviation one.
    validation : "auto", float, splitter or None, default="auto"
        Rows that no member sees, on which penalties are chosen. With preset "paper" a share of the
        rows, drawn by a hash of their values, or the last split of a scikit-learn splitter (for
        groups or time): its training part is what members see, and the output layer is then fitted
        to all rows. "auto" is a share between 0.1 and 0.2, and none where distinct rows are few;
        without any, generalised cross-validation chooses. The other presets have folds instead: by
        "auto" their own, or all splits of the splitter, each with a network that has not seen it; a
        share is a single fold and None none, and so a single network, which is less accurate than
        the mean of several.
    warm_start : bool, default=False
        Whether `fit` keeps the members of the fit before and adds new ones to them. `record_` goes
        on; `hierarchy_` is that of the newest.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
    time_limit : float or None, default=None
        Seconds after which training ends with the networks that are done. The output layer of what
        there is takes the time that it takes.
    n_jobs : int or None, default=None
        Networks trained at the same time, as joblib counts: folds in threads, base learners of
        preset "paper" by the backend that joblib chooses. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 prints a line for each level, or for each fold.

    Attributes
    ----------
    network_ : ReluNetwork or CodedNetwork
        The fitted network, in the units of the data. Neurons that the output layer does not use
        are left out.
    recipe_ : Recipe
        What was fitted: a value of its own.
    coding_ : ColumnCoding or None
        The codes of the columns.
    members_ : tuple of Member
        The base learners of every fold, each with the subset that it was trained on.
    member_names_ : tuple of str
        What the base learners read: the columns, or codes of them.
    member_inputs_ : ndarray or None
        Indices of the codes that they read; None where they read all, or columns.
    hierarchy_ : HierarchyRecord
        All levels of every fold: their networks, and what became of each neuron.
    record_ : Record
        A row for every base learner trained; `record_.to_frame()` is a table.
    folds_ : tuple of FoldRecord
        The network of every fold: its rows, neurons, loss, and how fine-tuning went.
    fold_networks_ : FoldNetworks
        For each fold `network_` with the fold's network in place of the mean of all; empty where
        it is no mean of folds. Readings draw bands from them.
    stacked_ : tuple of Stacked
        The companions that were weighed beside the network, and their weights.
    interaction_cst_ : tuple of tuple of int, or None
        Groups of columns: every neuron reads those of one group. None where all may act together.
    schema_ : FeatureSchema
        Names and training ranges of the columns.
    origin_ : Origin
        What the fit was of: rows, a hash of the data, the seed, versions.
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

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **LIFEEstimator._parameter_constraints,
        "loss": [StrOptions({"squared_error"}), Loss],
    }

    def __init__(
        self,
        sampler: Any = None,
        solver: Any = None,
        readout: Any = None,
        *,
        preset: Recipe | str = "auto",
        coding: Any = None,
        finetune: Any = None,
        smoothness: float | str | None = None,
        interaction_cst: Any = None,
        loss: Loss | str = "squared_error",
        validation: Any = "auto",
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
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
        self.finetune = finetune
        self.smoothness = smoothness
        self.interaction_cst = interaction_cst
        self.loss = loss
        self.validation = validation
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _loss(self) -> Loss:
        if isinstance(self.loss, str):
            return SquaredError()
        if self.loss.n_outputs != 1:
            raise ValueError(
                f"loss={self.loss!r} has {self.loss.n_outputs} outputs; a regressor needs a loss "
                "with one."
            )
        return self.loss


class LIFEClassifier(NetworkClassifier, LIFEEstimator):
    """A wide single-hidden-layer ReLU network for classification, trained from many narrow ones.

    The members of two classes are networks of log-odds. With more classes a member is a subset and
    a class, which it tells from the rest; all neurons are combined by a multinomial output layer.

    Parameters
    ----------
    sampler : {"neurons", "random", "bootstrap"}, sampler or None, default=None
        Step 1: `NeuronProjection`, `RandomProjection` or `Bootstrap`. None leaves the preset's.
    solver : {"lla", "adam"}, solver or None, default=None
        Step 2: `LLA` or `Adam`; its `n_neurons` is K_J, the neurons of each member (with more than
        two classes, for each class). By name 10, 20 or 40, the narrowest single network that is as
        good as any on the validation rows (10 without any). None leaves the preset's.
    readout : {"ridge", "linear", "elastic-net", "lasso", "selection", "mixing", "average"}, \
output layer or None, default=None
        Step 3: `RidgeOutput`, `ElasticNetOutput`, `BaseLearnerSelection`, `Mixing` or `Averaging`.
        "linear" is a logistic or multinomial fit without a penalty. None leaves the preset's.
    preset : {"auto", "paper", "fast", "best", "small", "glass"} or Recipe, default="auto"
        The paper's method, or a more accurate recipe; see `LIFERegressor`.
    coding : {"both", "quantile", "piecewise", "full"}, QuantileCoding or None, default=None
        Piecewise-linear codes of the columns; see `LIFERegressor`.
    finetune : "lbfgs", LBFGS, MiniBatch or None, default=None
        Refinement of all neurons and the output layer together; see `LIFERegressor`.
    smoothness : float, "auto" or None, default=None
        What is paid for a function that is straight over short distances; see `LIFERegressor`.
    interaction_cst : "pairwise", "no_interactions", groups of columns, BestPairs or None, \
default=None
        Which columns a neuron may read together; see `LIFERegressor`.
    validation : "auto", float, splitter or None, default="auto"
        Rows that no member sees, on which penalties are chosen; see `LIFERegressor`.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, on top of `sample_weight`. "balanced" gives all classes the same
        total weight.
    warm_start : bool, default=False
        Whether `fit` keeps the members of the fit before and adds new ones to them.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Which columns are categories: those of text and of categorical dtypes; or a mask, indices
        or names of columns, and no others; None for none. As in scikit-learn's boosted trees.
    time_limit : float or None, default=None
        Seconds after which training ends with the networks that are done; see `LIFERegressor`.
    n_jobs : int or None, default=None
        Networks trained at the same time, as joblib counts. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of everything random.
    verbose : int, default=0
        1 prints a line for each level, or for each fold.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are log-odds of the second.
    network_ : ReluNetwork or CodedNetwork
        The fitted network, in the units of the data; its score is on the logit scale.
    recipe_, members_, hierarchy_, record_, folds_, fold_networks_, stacked_, interaction_cst_, \
coding_, schema_, origin_, n_iter_
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

    def __init__(
        self,
        sampler: Any = None,
        solver: Any = None,
        readout: Any = None,
        *,
        preset: Recipe | str = "auto",
        coding: Any = None,
        finetune: Any = None,
        smoothness: float | str | None = None,
        interaction_cst: Any = None,
        validation: Any = "auto",
        class_weight: Mapping[Any, float] | Literal["balanced"] | None = None,
        warm_start: bool = False,
        categorical_features: Any = "from_dtype",
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
        self.finetune = finetune
        self.smoothness = smoothness
        self.interaction_cst = interaction_cst
        self.validation = validation
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
