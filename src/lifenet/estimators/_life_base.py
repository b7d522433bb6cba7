"""What LIFE's regressor and classifier share: parameters, a recipe, and its result."""

from __future__ import annotations

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.base import TransformerMixin, _fit_context
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from lifenet._clock import Deadline
from lifenet._threads import one_blas_thread
from lifenet.data.coded_rows import CodedRows
from lifenet.data.columns import code_groups, coded_columns
from lifenet.data.folds import CrossFit, Fold, TooFewRows
from lifenet.data.inputs import unchanged_on_failure
from lifenet.data.interactions import Interactions
from lifenet.data.origin import Origin
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.estimators._base import NetworkEstimator
from lifenet.estimators._distilling import DistilMixin
from lifenet.estimators._progress import CallbackSupportMixin, Reporter, with_callbacks
from lifenet.estimators._slices import FoldSlices
from lifenet.neurons.hierarchy import SAMPLERS, SOLVERS, Given
from lifenet.neurons.layer import Layer, neurons_for_linear
from lifenet.output.base import fit_output
from lifenet.output.ridge import RidgeOutput
from lifenet.recipe.compose import CODINGS, FINETUNINGS, READOUTS, compose, output_of
from lifenet.recipe.pace import cut_short
from lifenet.recipe.presets import PRESETS, preset
from lifenet.recipe.recipe import Recipe, fit_life
from lifenet.recipe.telling import folds_of, hierarchy_of, members_of, record_of

if TYPE_CHECKING:
    from typing import Self

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Groups
    from lifenet.data.units import Units
    from lifenet.network import ReluNetwork
    from lifenet.recipe.recipe import Fitted
    from lifenet.recipe.record import FoldRecord, HierarchyRecord, Member, Record

__all__ = ["STEP_CONSTRAINTS", "LIFEEstimator"]

# Parameters that have parameters, where they are objects, and such an object.
_PARTS = {
    "preset": "preset('fast')",
    "sampler": "NeuronProjection()",
    "solver": "LLA()",
    "readout": "RidgeOutput()",
    "coding": "QuantileCoding()",
    "finetune": "LBFGS()",
    "interaction_cst": "BestPairs()",
}
_CUT = "time_limit={:g} seconds: {}. Give more time for a more accurate model."
_TOO_FEW = "{} The network is fitted by the paper's method instead, as preset='paper' does."


class _Splitter(HasMethods):  # type: ignore[misc]
    """Splitters; strings can split too, but are none."""

    def is_satisfied_by(self, val: Any) -> bool:
        """Whether it can split rows."""
        return not isinstance(val, str) and bool(super().is_satisfied_by(val))


#: What the paper's steps, and what all that take them share, may be.
STEP_CONSTRAINTS: dict[str, list[Any]] = {
    "sampler": [StrOptions(set(SAMPLERS)), HasMethods(["widths", "begin", "split", "check"]), None],
    "solver": [StrOptions(set(SOLVERS)), HasMethods(["train", "check"]), None],
    "readout": [StrOptions(set(READOUTS)), HasMethods(["fit", "check"]), None],
    "validation": [
        StrOptions({"auto"}),
        Interval(Real, 0, 1, closed="neither"),
        _Splitter(["split"]),
        None,
    ],
    "n_jobs": [Integral, None],
    "random_state": ["random_state"],
    "verbose": ["verbose"],
}


class LIFEEstimator(CallbackSupportMixin, TransformerMixin, DistilMixin):  # type: ignore[misc]
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **STEP_CONSTRAINTS,
        "preset": [StrOptions({"auto", *PRESETS}), Recipe],
        "coding": [StrOptions(set(CODINGS)), HasMethods(["learn", "check"]), None],
        "finetune": [StrOptions(set(FINETUNINGS)), HasMethods(["refine", "check"]), None],
        "smoothness": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"}), None],
        "interaction_cst": Recipe._parameter_constraints["interaction_cst"],
        "categorical_features": NetworkEstimator._categorical_constraint,
        "warm_start": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
    }

    sampler: Any
    solver: Any
    readout: Any
    preset: Recipe | str
    coding: Any
    finetune: Any
    smoothness: float | str | None
    interaction_cst: Any
    validation: Any
    warm_start: bool
    time_limit: float | None
    n_jobs: int | None
    verbose: int

    recipe_: Recipe
    members_: tuple[Member, ...]
    hierarchy_: HierarchyRecord
    record_: Record
    folds_: tuple[FoldRecord, ...]
    member_inputs_: Integers | None
    interaction_cst_: Groups | None
    _split_seed: int

    def set_params(self, **params: Any) -> Self:
        """Set parameters, those of parts as in ``solver__ridge`` too.

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
                    f"object first, as in {name}={_PARTS[name]}."
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
            Non-negative; zero is the same as a missing row, and with preset "paper" a weight of
            two the same as a repeated row (otherwise nearly: trees count rows, mini-batches draw
            them). Weights whose mean is below one only say how rows compare.
        groups : array-like of shape (n_samples,) or None
            Handed to the splitter in `validation`.
        """
        with unchanged_on_failure(self), one_blas_thread():
            self._fit(X, y, sample_weight, groups)
        return self

    @with_callbacks  # type: ignore[untyped-decorator]
    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> None:
        recipe, before = self._recipe(), self._members_before()
        deadline, seed = Deadline.after(self.time_limit), self._seed()
        self._check_groups(X, groups)
        given = (X, y, groups)
        self.recipe_ = recipe
        data = self._inputs(X, y, sample_weight, given, reset=not before)
        # Members of the fit before must not have seen the rows held out now.
        earlier = self._split_seed if before else None
        reporter = Reporter(self, self.verbose)
        run = Run(seed + len(before), self.n_jobs, deadline, reporter, earlier)
        try:
            fitted = fit_life(data, self._with_members(recipe, before, data.units), run)
        except TooFewRows as few:
            warnings.warn(_TOO_FEW.format(few), stacklevel=5)
            self.recipe_ = _of_few_rows(recipe)
            data = self._inputs(X, y, sample_weight, given, reset=True)
            fitted = fit_life(data, self.recipe_, run)
        self._split_seed = run.split_seed
        self._keep_fitted(fitted, data, before, seed)
        reporter.finish()
        cut = cut_short(fitted.fits, fitted.n_folds) if deadline.limited else []
        if cut:
            warnings.warn(_CUT.format(self.time_limit, ", ".join(cut)), stacklevel=5)

    def _check_groups(self, X: Any, groups: Any) -> None:
        """Refuse groups that no splitter would keep together."""
        if groups is None:
            return
        if not hasattr(self.validation, "split") or isinstance(self.validation, str):
            raise ValueError(
                f"groups are used by a splitter only, and validation={self.validation!r} is none; "
                "give validation=GroupKFold(5), say, or leave groups out."
            )
        check_consistent_length(X, groups)

    def _recipe(self) -> Recipe:
        """The recipe that the parameters ask for."""
        return compose(
            self.preset,
            sampler=self.sampler,
            solver=self.solver,
            readout=self.readout,
            coding=self.coding,
            finetune=self.finetune,
            smoothness=self.smoothness,
            interaction_cst=self.interaction_cst,
            warm_start=self.warm_start,
        )

    def _members_before(self) -> tuple[Member, ...]:
        """Members of the fit before; those of folds are no members of a single network."""
        known = getattr(self, "recipe_", None)
        if not self.warm_start or known is None or isinstance(known.resampling, CrossFit):
            return ()
        return self.members_

    def _with_members(self, recipe: Recipe, before: tuple[Member, ...], units: Units) -> Recipe:
        """The recipe with members of an earlier fit as its first source of neurons."""
        if not before:
            return recipe
        given = Given([(units.rescale(one.network), one.output) for one in before])
        return replace(recipe, neurons=(given, *recipe.neurons))

    def _inputs(self, X: Any, y: Any, sample_weight: Any, given: Any, *, reset: bool) -> Inputs:
        """Checked data, with codes as the recipe wants them."""
        data = self._prepare(X, y, sample_weight, reset=reset)
        full = getattr(self.recipe_.codes, "kind", None) == "full"
        rows = data.rows
        return replace(
            data,
            columns=coded_columns(rows) if full and isinstance(rows, CodedRows) else None,
            groups=self._code_groups(),
            validation=self.validation,
            given=given,
            names=getattr(self, "feature_names_in_", None),
        )

    def _keep_fitted(
        self, fitted: Fitted, data: Inputs, before: tuple[Member, ...], seed: int
    ) -> None:
        """Keep what was trained, in the user's units."""
        units = data.units
        self.interaction_cst_ = fitted.groups
        network = self._coded(units.unscale(fitted.network, trained=not before), units)
        self._keep(network, data, seed)
        self._keep_fit(data, self._fold_slices(fitted, seed, units))
        self.hierarchy_ = hierarchy_of(fitted, units)
        self.members_ = (*before, *members_of(fitted, self.hierarchy_))
        record = record_of(fitted)
        self.record_ = self.record_ + record if before else record
        self.folds_ = folds_of(fitted)
        self.member_inputs_ = fitted.fits[0].inputs
        self.stacked_ = fitted.stacked
        most = max(self.record_["iterations"], default=0)
        self.n_iter_ = int(max(most, *(one.iterations for one in self.folds_)))

    def _fold_slices(self, fitted: Fitted, seed: int, units: Units) -> FoldSlices | None:
        """Where the folds' networks are in their mean; None where the network is no such mean."""
        resampling = self.recipe_.resampling
        if not isinstance(resampling, CrossFit) or self.recipe_.compress is not None:
            return None
        drawn, n_folds = isinstance(self.validation, str), fitted.n_folds - resampling.extra_fold
        return FoldSlices.of(fitted, units, drawn=drawn, seed=seed, n_folds=n_folds)

    def refit_readout(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit only the output layer anew, to other rows or with another `readout`.

        All rows are fitted: `validation` plays no part, and a ridge penalty is chosen by
        generalised cross-validation (for two classes, the unbiased risk estimate). The neurons are
        those of the members; after fine-tuning, or where networks are averaged over folds, they
        are those of `network_`, of no member any more. `folds_` and `stacked_` go on to tell of the
        fit.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,) or None
        """
        check_is_fitted(self)
        self._validate_params()
        with unchanged_on_failure(self), one_blas_thread():
            data = self._prepare(X, y, sample_weight, reset=False)
            output = self._output_to_refit()
            members = self._members_to_refit(output, data)
            layer, seed = Layer.of_members(members, data.rows.n_features), self._seed()
            whole = Fold.whole(data.problem)
            network, _ = fit_output(output, layer, whole, np.random.SeedSequence(seed))
            self.network_ = self._coded(data.units.unscale(network, trained=False), data.units)
            self.origin_ = Origin.of(data, seed)
            self._keep_fit(data, None)
        return self

    def _output_to_refit(self) -> Any:
        """The output layer that is asked for, or the recipe's.

        Leaf neurons are not known as such any more, so that they have no discount.
        """
        output = self.recipe_.output if self.readout is None else output_of(self.readout)
        if isinstance(output, RidgeOutput):
            output = replace(output, discounts=())
        output.check()
        return output

    def _members_to_refit(self, output: Any, data: Inputs) -> list[tuple[ReluNetwork, int]]:
        units = data.units
        moved = any(one.iterations for one in self.folds_)
        if not moved and not isinstance(self.recipe_.resampling, CrossFit):
            return [(units.rescale(one.network), one.output) for one in self.members_]
        if output.weighs_members:
            raise ValueError(
                f"readout={self.readout!r} weighs members, and after fine-tuning or averaging over "
                "folds neurons belong to none; use a ridge or elastic-net output layer, or fit "
                "with preset='paper' and finetune=None."
            )
        apart = self.interaction_cst_ is not None
        return [(neurons_for_linear(units.rescale(self._inner), data.rows, apart=apart), 0)]

    def _rows(
        self, X: Floats, target: Floats, weight: Floats | None, *, reset: bool
    ) -> ArrayRows | CodedRows:
        """Rows with codes of the columns, learned from the first rows that are fitted."""
        if reset:
            codes = self.recipe_.codes
            names = self.table_.columns
            self.coding_ = None if codes is None else codes.learn(X, weight, names=names)
        if self.coding_ is None:
            return ArrayRows.of(X, target, weight)
        return CodedRows.of(X, self.coding_, target, weight)

    def _code_groups(self) -> Any:
        return code_groups(self.coding_)

    def _interactions(self) -> Interactions | None:
        if self.interaction_cst_ is None:
            return None
        features = tuple(one.columns for one in self.table_.features)
        return Interactions.of(self.interaction_cst_, self._code_groups(), features)

    @property
    def member_names_(self) -> tuple[str, ...]:
        """Names of what the members read: columns, or codes of them."""
        check_is_fitted(self)
        names = self.schema_.names if self.coding_ is None else self.coding_.code_names
        if self.member_inputs_ is None:
            return tuple(names)
        return tuple(names[index] for index in self.member_inputs_)

    def transform(self, X: Any) -> Floats:
        """Activations of the network's neurons: (n_samples, n_neurons).

        With the output layer of the network (of its codes, where it has any: `network_.network`)
        they give the score: ``hidden @ beta + intercept``, and its linear part, mostly zero.
        """
        return self.network_.hidden(self._check_input(X))

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns of `transform`: neuron0, neuron1, ..."""
        check_is_fitted(self)
        names = [f"neuron{number}" for number in range(self.network_.n_neurons)]
        return np.asarray(names, dtype=object)


def _of_few_rows(recipe: Recipe) -> Recipe:
    """The paper's recipe in place of one that needs more rows; these tell of no pairs that pay."""
    given = recipe.interaction_cst
    groups = "no_interactions" if hasattr(given, "choose") else given
    return replace(preset("paper"), compress=recipe.compress, interaction_cst=groups)
