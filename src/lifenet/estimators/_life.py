"""LIFE: a wide network from many narrow ones."""

from __future__ import annotations

import time
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin, _fit_context, is_regressor
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from lifenet._threads import one_blas_thread
from lifenet.aggregate import combine
from lifenet.blend import Blended, train_blend
from lifenet.estimators._base import NetworkClassifier, NetworkRegressor
from lifenet.estimators._codes import coded_columns
from lifenet.estimators._holdout import hold_out, make_folds
from lifenet.estimators._parts import (
    CODING_CONSTRAINT,
    MEMBER_READOUTS,
    PART_CONSTRAINTS,
    POLISH_CONSTRAINT,
    PRESET_CONSTRAINT,
    SMALL_NEURONS,
    resolve_coding,
    resolve_parts,
    resolve_polish,
    resolve_preset,
)
from lifenet.estimators._progress import CallbackSupportMixin, Reporter, with_callbacks
from lifenet.estimators._smaller import SmallerMixin, with_fewer_neurons
from lifenet.estimators._trained import level_of, members_of, record_of, rescaled
from lifenet.readouts.design import HeldOut
from lifenet.recipe import Life, Run, choose_width, train_life
from lifenet.record import Hierarchy, Member, Record
from lifenet.validation import unchanged_on_failure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, Self

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.blend import Blend
    from lifenet.encoding import QuantileCoding
    from lifenet.estimators._base import Prepared, Units
    from lifenet.mixture import Fold
    from lifenet.network import ReluNetwork
    from lifenet.readouts.design import Readout
    from lifenet.rules.boosting import Mixture
    from lifenet.sampling import Sampler
    from lifenet.solvers.base import Trainer
    from lifenet.solvers.polish import Polish, Polished

__all__ = ["LIFEClassifier", "LIFERegressor"]

# Share of a time limit in which the width of the members is chosen.
_CHOOSING = 0.1
# Share of a time limit for a blend; the rest is for what becomes of it.
_BLENDED = 0.8
# Codes beyond so many are held in single precision.
_MOST_DOUBLE = 1 << 22


class _LIFEEstimator(CallbackSupportMixin, TransformerMixin, SmallerMixin):  # type: ignore[misc]
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PART_CONSTRAINTS,
        "preset": PRESET_CONSTRAINT,
        "coding": CODING_CONSTRAINT,
        "polish": POLISH_CONSTRAINT,
        "warm_start": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }
    # Penalty of the members and the widths to choose from, where the solver is given by name.
    _ridge: ClassVar[float]
    _widths: ClassVar[tuple[int, ...]]

    sampler: Sampler | str | None
    solver: Trainer | str | None
    readout: Readout | str | None
    preset: Blend | str
    coding: QuantileCoding | str | None
    polish: Polish | str | None
    validation: Any
    warm_start: bool
    time_limit: float | None
    n_jobs: int | None
    verbose: int

    _hold_out_seed: int
    _single: bool
    hierarchy_: Hierarchy
    record_: Record
    polished_: Polished | None
    blend_: Blend | None
    mixture_: Mixture | None

    @_fit_context(prefer_skip_nested_validation=True)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Fit the network.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Target, or class labels.
        sample_weight : array-like of shape (n_samples,) or None
            Non-negative; a weight of two is the same as a repeated row (for a blend nearly: its
            trees count rows, its steps draw them), zero as a missing one.
        groups : array-like of shape (n_samples,) or None
            Handed to the splitter in `validation`.
        """
        with unchanged_on_failure(self), one_blas_thread():
            self._fit(X, y, sample_weight, groups)
        return self

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        blend = self._chosen_blend()
        before = self._members_before()
        self.blend_ = blend
        prepared = self._prepare(X, y, sample_weight, reset=not before)
        seed = self._seed()
        if self.blend_ is not None:
            n_folds = self.blend_.folds(prepared.rows.total_weight)
            folds = make_folds(
                prepared,
                self.validation,
                X,
                y,
                groups,
                seed,
                n_folds,
                once_more=self.blend_.boosting is not None,
            )
            if folds is not None:
                self._fit_blend(self.blend_, prepared, folds, seed)
                mean_of_folds = isinstance(self.validation, str) and self.preset != "small"
                self._folds = (seed, n_folds) if mean_of_folds else None
                return
            self.blend_ = None
            prepared = self._prepare(X, y, sample_weight)
        self._folds = None
        rows, units = prepared.rows, prepared.units
        polish = resolve_polish(self.polish)
        # Members of the fit before must not have seen the rows held out now.
        self._hold_out_seed = self._hold_out_seed if before else seed
        held_out = hold_out(prepared, self.validation, X, y, groups, self._hold_out_seed)
        begun = time.monotonic()
        sampler, solver, readout = self._parts(self._width(held_out, seed))
        spent = time.monotonic() - begun
        limit = None if self.time_limit is None else max(self.time_limit - spent, 0.0)
        n_levels = len(sampler.widths(rows.total_weight, rows.n_features)) + 1
        reporter = Reporter(self, n_levels + 1, self.verbose)
        life = train_life(
            prepared.problem,
            sampler,
            solver,
            readout,
            Run(seed + len(before), self.n_jobs, limit, reporter),
            held_out,
            rescaled(before, units),
            polish,
        )
        if self.preset == "small":
            deadline = None if self.time_limit is None else begun + self.time_limit
            life = with_fewer_neurons(
                life, prepared.problem, held_out, None, SMALL_NEURONS, deadline
            )
        self._keep_life(life, prepared, before)
        reporter.finish()

    def _keep_life(self, life: Life, prepared: Prepared, before: tuple[Member, ...] = ()) -> None:
        """Keep what was trained, in the user's units."""
        units = prepared.units
        self._keep(self._coded(units.unscale(life.network, trained=not before)), prepared)
        self.members_ = (*before, *members_of(life, units))
        self.hierarchy_ = Hierarchy(tuple(level_of(stage, units) for stage in life.stages))
        record = record_of(life)
        self.record_ = self.record_ + record if before else record
        self.polished_ = life.polished
        self.mixture_ = life.mixture if isinstance(life, Blended) else None
        self.n_iter_ = int(max(self.record_["iterations"], default=0))

    def _chosen_blend(self) -> Blend | None:
        """The blend that is asked for, or None for the paper's way."""
        steps = ("sampler", "solver", "readout", "coding", "polish")
        given = {name: getattr(self, name) for name in steps}
        given["warm_start"] = self.warm_start or None
        return resolve_preset(self.preset, given, regression=is_regressor(self))

    def _fit_blend(self, blend: Blend, prepared: Prepared, folds: list[Fold], seed: int) -> None:
        assert self.coding_ is not None
        reporter = Reporter(self, 2, self.verbose)
        begun = time.monotonic()
        limit = None if self.time_limit is None else _BLENDED * self.time_limit
        run = Run(seed, self.n_jobs, limit, reporter)
        columns = coded_columns(self.coding_, prepared.rows)
        life: Life = train_blend(prepared.problem, columns, folds, blend, run)
        if self.preset == "small":
            deadline = None if self.time_limit is None else begun + self.time_limit
            apart = _first_fold(folds)
            own = None if apart is None else life.members[0].network
            life = with_fewer_neurons(
                life, prepared.problem, apart, own, SMALL_NEURONS, deadline, self.coding_
            )
        self._keep_life(life, prepared)
        reporter.finish()

    def _parts(self, n_neurons: int) -> tuple[Sampler, Trainer, Readout]:
        return resolve_parts(
            self.sampler, self.solver, self.readout, ridge=self._ridge, n_neurons=n_neurons
        )

    def _width(self, held_out: HeldOut | None, seed: int) -> int:
        """K_J of members whose solver is given by name."""
        by_name = self.solver is None or isinstance(self.solver, str)
        if len(self._widths) == 1 or held_out is None or not by_name:
            return self._widths[0]
        _, solver, _ = self._parts(self._widths[0])
        limit = None if self.time_limit is None else _CHOOSING * self.time_limit
        return choose_width(held_out, solver, self._widths, Run(seed, time_limit=limit))

    def _members_before(self) -> tuple[Member, ...]:
        """Members of the fit before; those of a blend are no members of the paper's way."""
        if not self.warm_start or getattr(self, "blend_", None) is not None:
            return ()
        return getattr(self, "members_", ())

    def refit_readout(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit only step 3 anew, to other rows or with another `readout`; the members stay.

        All rows are fitted: `validation` plays no part, and a ridge penalty is chosen by
        generalised cross-validation (for two classes, the unbiased risk estimate). After a polish
        the neurons are those of `network_`, of no member any more.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        """
        check_is_fitted(self)
        self._validate_params()
        with unchanged_on_failure(self), one_blas_thread():
            prepared = self._prepare(X, y, sample_weight, reset=False)
            _, _, readout = self._parts(self._widths[0])
            network = combine(
                prepared.problem,
                self._members_to_refit(readout, prepared.units),
                readout,
                None,
                np.random.SeedSequence(self._seed()),
            )
            self.network_ = self._coded(prepared.units.unscale(network, trained=False))
            self._folds = None
        return self

    def _members_to_refit(self, readout: Readout, units: Units) -> list[tuple[ReluNetwork, int]]:
        refined = self.polished_ is not None or self.blend_ is not None
        if not refined:
            return rescaled(self.members_, units)
        if isinstance(readout, MEMBER_READOUTS):
            raise ValueError(
                f"readout={self.readout!r} weighs members, and after a polish or a blend neurons "
                "belong to none; use a ridge or elastic-net read-out, or fit with preset='paper' "
                "and polish=None."
            )
        return [(units.rescale(self._inner), 0)]

    def _encode(self, X: Floats, weight: Floats | None, *, reset: bool) -> Floats:
        """Codes of the columns, learnt from the first rows that are fitted."""
        if reset:
            coding = resolve_coding(self.coding) if self.blend_ is None else self.blend_.coding()
            names = getattr(self, "feature_names_in_", None)
            self.coding_ = None if coding is None else coding.learn(X, weight, names=names)
            # Kept: in another precision a row would have another hash.
            many = self.coding_ is not None and len(X) * self.coding_.n_codes > _MOST_DOUBLE
            self._single = self.blend_ is not None and many
        if self.coding_ is None:
            return X
        codes = self.coding_.encode(X)
        return codes.astype(np.float32) if self._single else codes

    def transform(self, X: Any) -> Floats:
        """Activations of the network's neurons: (n_samples, n_neurons).

        With the read-out `network_.beta` and `network_.intercept` they give the score.
        """
        X = self._check_input(X)
        return self._inner.hidden(X if self.coding_ is None else self.coding_.encode(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`: neuron0, neuron1, ..."""
        check_is_fitted(self)
        names = [f"neuron{number}" for number in range(self.network_.n_neurons)]
        return np.asarray(names, dtype=object)


class LIFERegressor(NetworkRegressor, _LIFEEstimator):
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
        "paper" where a step, `coding`, `polish` or `warm_start` is given. With about
        120 rows or fewer, too few for folds, all are the paper's.
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
        splits of the splitter, each with a network that has not seen it.
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
        1 prints a line a level.

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


class LIFEClassifier(NetworkClassifier, _LIFEEstimator):
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
        1 prints a line a level.

    Attributes
    ----------
    classes_ : ndarray
        The labels; with two of them, scores are log-odds of the second.
    network_ : ReluNetwork or CodedNetwork
        The fitted network, in the units of the data; its score is on the logit scale.
    members_, hierarchy_, record_, coding_, polished_, blend_, mixture_, schema_, n_iter_
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
        **_LIFEEstimator._parameter_constraints,
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


def _first_fold(folds: Sequence[Fold]) -> HeldOut | None:
    judge = folds[0].judge
    return None if judge is None else HeldOut(folds[0].learn, judge)
