"""LIFE's sampling and read-outs around members of any kind: trees, deeper networks, anything.

The framework of the paper's section 2.1 names such members but does not use them. There is no
single layer to read then; for that, use `LIFERegressor` and `LIFEClassifier`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from scipy import special
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import has_fit_parameter

from lifenet._threads import one_blas_thread
from lifenet.blocks import ArrayRows
from lifenet.estimators._base import NetworkClassifier, NetworkEstimator, NetworkRegressor
from lifenet.estimators._holdout import hold_out
from lifenet.estimators._parts import PART_CONSTRAINTS, resolve_parts
from lifenet.readouts.design import Design, HeldOut
from lifenet.recipe import Run, sample_subsets
from lifenet.schema import FeatureSchema
from lifenet.solvers.base import Problem
from lifenet.solvers.features import Inputs
from lifenet.solvers.readout import spreads
from lifenet.validation import unchanged_on_failure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.estimators._base import Prepared, Units
    from lifenet.readouts.design import Readout
    from lifenet.record import Subset

__all__ = ["SubsetStackingClassifier", "SubsetStackingRegressor"]

# Probabilities of a member are kept this far from 0 and 1, so that their log-odds are finite.
_MARGIN = 1e-6


class _SubsetStacking(NetworkEstimator):
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "member": [HasMethods(["fit", "predict"])],
        **PART_CONSTRAINTS,
    }

    members_: tuple[Any, ...]
    subsets_: tuple[Subset, ...]
    coef_: Floats
    intercept_: Floats

    def __init__(
        self,
        member: Any,
        sampler: Any = "neurons",
        solver: Any = "lla",
        readout: Any = "ridge",
        *,
        validation: Any = "auto",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.member = member
        self.sampler = sampler
        self.solver = solver
        self.readout = readout
        self.validation = validation
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Sample subsets, train a member on each, and fit the read-out of their predictions.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Target, or class labels.
        sample_weight : array-like of shape (n_samples,) or None
            Handed to the members too, where they take weights.
        groups : array-like of shape (n_samples,) or None
            Handed to the splitter in `validation`.
        """
        with unchanged_on_failure(self), one_blas_thread():
            sampler, solver, readout = resolve_parts(
                self.sampler, self.solver, self.readout, ridge=self._ridge
            )
            prepared = self._prepare(X, y, sample_weight)
            seed, rows = self._seed(), prepared.rows
            held_out = hold_out(prepared, self.validation, X, y, groups, seed)
            learn = rows if held_out is None else held_out.learn.rows
            run = Run(seed, self.n_jobs)
            problem = Problem(learn, prepared.problem.loss)
            subsets, _ = sample_subsets(problem, sampler, solver, run, time.monotonic())
            self.subsets_ = tuple(prepared.units.unscale_subset(one) for one in subsets)
            self._units = prepared.units
            self.members_ = tuple(self._train_members(learn, subsets, prepared, seed))
            names = getattr(self, "feature_names_in_", None)
            self.schema_ = FeatureSchema.of(prepared.present, names)
            self._fit_readout(prepared, readout, held_out, seed)
            if self.verbose:
                print(f"{len(self.members_)} members trained and combined")
        return self

    def _train_members(
        self, rows: Any, subsets: Sequence[Subset], prepared: Prepared, seed: int
    ) -> list[Any]:
        return list(
            joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(_train_model)(
                    clone(self.member), rows, subset, prepared.units, self._labels(), seed + number
                )
                for number, subset in enumerate(subsets)
            )
        )

    def _fit_readout(
        self, prepared: Prepared, readout: Readout, held_out: HeldOut | None, seed: int
    ) -> None:
        table, loss = self._predictions(prepared.rows.X), prepared.problem.loss
        problem = _of_predictions(prepared.problem, table)
        if held_out is not None:
            held_out = HeldOut(
                _of_predictions(held_out.learn, table), _of_predictions(held_out.judge, table)
            )
        features = Inputs(table.shape[1])
        design = Design(
            features=features,
            scale=spreads(problem, features),
            member=np.arange(table.shape[1]),
            beta=np.ones(table.shape[1]),
            intercept=np.zeros(table.shape[1]),
            output=np.arange(table.shape[1]) % loss.n_outputs,
        )
        coefficients = readout.fit(problem, design, held_out, np.random.default_rng(seed))
        self.coef_, self.intercept_ = coefficients[:-1], coefficients[-1]

    def _score(self, X: Any) -> Floats:
        X = self._check_input(X)
        score = self._predictions(X) @ self.coef_ + self.intercept_
        return np.asarray(self._units.center + self._units.spread * score)

    def _labels(self) -> Any:
        """Labels of the classes, or None."""
        return getattr(self, "classes_", None)

    def _predictions(self, X: Floats) -> Floats:
        """Each member's standardised prediction or log-odds, (n_samples, members x outputs)."""
        raise NotImplementedError


class SubsetStackingRegressor(NetworkRegressor, _SubsetStacking):
    """Any regressors as members, each trained on a subset of LIFE's, combined by its read-outs.

    Parameters
    ----------
    member : regressor
        What is trained on each subset, for example ``DecisionTreeRegressor(max_depth=6)``. The
        read-out is fitted to predictions that the members largely make of their own rows: members
        that learn rows by heart are trusted too much.
    sampler, solver, readout, validation, n_jobs, random_state, verbose
        As in `LIFERegressor`; the solver only trains the networks whose neurons make subsets.

    Attributes
    ----------
    members_ : tuple of fitted regressors
    subsets_ : tuple of Subset
        The rows that each was trained on.
    coef_, intercept_ : ndarray
        The read-out of the members' standardised predictions.
    schema_, n_features_in_, feature_names_in_
        As in `LIFERegressor`.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from lifenet import NeuronProjection, SubsetStackingRegressor
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(2000, random_state=0)
    >>> tree = DecisionTreeRegressor(max_depth=4, random_state=0)
    >>> model = SubsetStackingRegressor(tree, NeuronProjection(levels=(4, 4)), random_state=0)
    >>> model = model.fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > tree.fit(data.X, data.y).score(data.X, data.y))
    True
    """

    _ridge: ClassVar[float] = 1e-4

    def _predictions(self, X: Floats) -> Floats:
        columns = [member.predict(X) for member in self.members_]
        return (np.column_stack(columns) - self._units.center) / self._units.spread


class SubsetStackingClassifier(NetworkClassifier, _SubsetStacking):
    """Any classifiers as members, each trained on a subset of LIFE's, combined by its read-outs.

    Parameters
    ----------
    member : classifier with `predict_proba`
        What is trained on each subset, for example ``DecisionTreeClassifier(max_depth=6)``.
    sampler, solver, readout, validation, n_jobs, random_state, verbose
        As in `LIFEClassifier`; the solver only trains the networks whose neurons make subsets.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    members_, subsets_, coef_, intercept_, schema_, n_features_in_, feature_names_in_
        As in `SubsetStackingRegressor`; the read-out is of the members' log-odds.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from lifenet import NeuronProjection, SubsetStackingClassifier
    >>> from lifenet.datasets import simulate
    >>> data = simulate.ringnorm(1000, random_state=0)
    >>> tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    >>> model = SubsetStackingClassifier(tree, NeuronProjection(levels=(5,)), random_state=0)
    >>> bool(model.fit(data.X, data.y).score(data.X, data.y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **_SubsetStacking._parameter_constraints,
        "member": [HasMethods(["fit", "predict_proba"])],
    }
    _ridge: ClassVar[float] = 1e-3
    class_weight = None

    def _predictions(self, X: Floats) -> Floats:
        return np.hstack([_log_odds(member, X, self.classes_) for member in self.members_])


def _log_odds(member: Any, X: Floats, classes: Any) -> Floats:
    """A member's log-odds: of the second class, or of each; it may not know them all."""
    share = np.full((len(X), len(classes)), _MARGIN)
    share[:, np.searchsorted(classes, member.classes_)] = member.predict_proba(X)
    share = np.clip(share if len(classes) > 2 else share[:, 1:], _MARGIN, 1 - _MARGIN)
    return np.asarray(special.logit(share))


def _train_model(
    model: Any, rows: ArrayRows, subset: Subset, units: Units, labels: Any, seed: int
) -> Any:
    """What a worker does: fit a model to the rows of a subset, in the user's units."""
    places, counts = subset.select(rows)
    chosen = rows.take(places, counts)
    assert chosen.index is not None
    y = units.center + units.spread * chosen.target
    if labels is not None:
        y = labels[chosen.target.astype(np.intp)]
    unseeded = [
        name
        for name, value in model.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    model.set_params(**dict.fromkeys(unseeded, seed % 2**31))
    weight = {"sample_weight": chosen.weight} if has_fit_parameter(model, "sample_weight") else {}
    return model.fit(chosen.X[chosen.index], y, **weight)


def _of_predictions(problem: Problem, table: Floats) -> Problem:
    """The same rows with the members' predictions for columns."""
    rows = problem.rows
    assert isinstance(rows, ArrayRows)
    return Problem(ArrayRows(table, rows.target, rows.weight, None, rows.index), problem.loss)
