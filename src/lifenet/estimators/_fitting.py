"""How LIFE is fitted: what its regressor and its classifier share."""

from __future__ import annotations

import time
import warnings
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin, _fit_context, is_regressor
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from lifenet._threads import one_blas_thread
from lifenet.aggregate import combine
from lifenet.blend import Blended, train_blend
from lifenet.estimators._codes import coded_columns
from lifenet.estimators._holdout import fingerprint, hold_out, make_folds
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
    from collections.abc import Sequence
    from typing import Self

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

__all__ = ["LIFEEstimator"]

# Share of a time limit in which the width of the members is chosen.
_CHOOSING = 0.1
# Share of a time limit for a blend; the rest is for what becomes of it.
_BLENDED = 0.8
# Parameters that have parameters, where they are objects, and such an object.
_PARTS = {
    "preset": "Blend",
    "sampler": "NeuronProjection",
    "solver": "LLA",
    "readout": "Ridge",
    "coding": "QuantileCoding",
    "polish": "Polish",
}
# Codes beyond so many are held in single precision.
_MOST_DOUBLE = 1 << 22
_TOO_FEW = (
    "Too few of the {} rows differ for the folds of a blend (it takes about a hundred): the "
    "network is fitted the paper's way, as preset='paper' does."
)


class LIFEEstimator(CallbackSupportMixin, TransformerMixin, SmallerMixin):  # type: ignore[misc]
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
    linear_share_: float

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as in ``preset__n_trees`` too.

        Parameters
        ----------
        **params : of this estimator, or of parts that are objects
        """
        for key in params:
            name, nested, _ = key.partition("__")
            part = params.get(name, getattr(self, name, None))
            if nested and name in _PARTS and (part is None or isinstance(part, str)):
                raise ValueError(
                    f"{key!r} sets a parameter of {name}, which is {part!r}; give {name} as an "
                    f"object first, as in {name}={_PARTS[name]}()."
                )
        super().set_params(**params)
        return self

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
        self.blend_, self._folds = blend, None
        prepared = self._prepare(X, y, sample_weight, reset=not before)
        seed = self._seed()
        if blend is not None:
            folds = make_folds(
                prepared,
                self.validation,
                X,
                y,
                groups,
                seed,
                blend.folds(prepared.rows.total_weight),
                once_more=blend.boosting is not None,
            )
            if folds is not None:
                self._fit_blend(blend, prepared, folds, seed)
                return
            if self.preset != "auto":
                warnings.warn(_TOO_FEW.format(len(prepared.rows.target)), stacklevel=4)
            self.blend_ = None
            prepared = self._prepare(X, y, sample_weight)
        # Members of the fit before must not have seen the rows held out now.
        self._hold_out_seed = self._hold_out_seed if before else seed
        held_out = hold_out(prepared, self.validation, X, y, groups, self._hold_out_seed)
        self._fit_steps(prepared, held_out, before, seed)

    def _fit_steps(
        self, prepared: Prepared, held_out: HeldOut | None, before: tuple[Member, ...], seed: int
    ) -> None:
        """The paper's way, with members of a fit before."""
        rows, units = prepared.rows, prepared.units
        polish = resolve_polish(self.polish)
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

    def _fit_blend(self, blend: Blend, prepared: Prepared, folds: list[Fold], seed: int) -> None:
        """A blend of folds."""
        assert self.coding_ is not None
        reporter = Reporter(self, 2, self.verbose, each="fold")
        begun = time.monotonic()
        limit = None if self.time_limit is None else _BLENDED * self.time_limit
        run = Run(seed, self.n_jobs, limit, reporter)
        columns = coded_columns(self.coding_, prepared.rows)
        blended = train_blend(prepared.problem, columns, folds, blend, run)
        life: Life = blended
        if blended.mixture is not None:
            reporter.say(f"boosted trees mixed in with a share of {blended.mixture.share:.2f}")
        if self.preset == "small":
            deadline = None if self.time_limit is None else begun + self.time_limit
            apart = _first_fold(folds)
            own = None if apart is None else life.members[0].network
            life = with_fewer_neurons(
                life, prepared.problem, apart, own, SMALL_NEURONS, deadline, self.coding_
            )
            reporter.say(
                f"{life.network.n_neurons} neurons learnt from {blended.network.n_neurons}"
            )
        elif isinstance(self.validation, str):
            self._folds = (seed, len(folds) - (blend.boosting is not None))
        self._keep_life(life, prepared)
        reporter.finish()

    def _keep_life(self, life: Life, prepared: Prepared, before: tuple[Member, ...] = ()) -> None:
        """Keep what was trained, in the user's units."""
        units = prepared.units
        self._fitted = fingerprint(prepared)
        self._keep(self._coded(units.unscale(life.network, trained=not before)), prepared)
        self.hierarchy_ = Hierarchy(tuple(level_of(stage, units) for stage in life.stages))
        self.members_ = (*before, *members_of(life, self.hierarchy_.levels[-1]))
        record = record_of(life)
        self.record_ = self.record_ + record if before else record
        self.polished_ = life.polished
        self.mixture_ = life.mixture if isinstance(life, Blended) else None
        self.linear_share_ = life.linear_share if isinstance(life, Blended) else 0.0
        self.n_iter_ = int(max(self.record_["iterations"], default=0))

    def _chosen_blend(self) -> Blend | None:
        """The blend that is asked for, or None for the paper's way."""
        steps = ("sampler", "solver", "readout", "coding", "polish")
        given = {name: getattr(self, name) for name in steps}
        given["warm_start"] = self.warm_start or None
        return resolve_preset(self.preset, given, regression=is_regressor(self))

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


def _first_fold(folds: Sequence[Fold]) -> HeldOut | None:
    judge = folds[0].judge
    return None if judge is None else HeldOut(folds[0].learn, judge)
