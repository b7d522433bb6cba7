"""LIFE's sampling and output layers around members of any kind: trees, deeper networks, anything.

The framework of the paper's section 2.1 names such members but does not use them. There is no
single layer to read then; for that, use `LIFERegressor` and `LIFEClassifier`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from scipy import special
from sklearn.base import _fit_context, clone
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.validation import has_fit_parameter

from lifenet._threads import one_blas_thread
from lifenet.data.folds import Fold, with_own_codes
from lifenet.data.inputs import unchanged_on_failure
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.estimators._base import NetworkClassifier, NetworkEstimator, NetworkRegressor
from lifenet.estimators._life_base import STEP_CONSTRAINTS
from lifenet.neurons.features import GivenColumns
from lifenet.neurons.hierarchy import sample_subsets
from lifenet.neurons.layer import Layer
from lifenet.output.newton import spreads
from lifenet.recipe.auto import resolve
from lifenet.recipe.compose import compose
from lifenet.solvers.lla import LLA

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.data.inputs import Inputs
    from lifenet.data.units import Units
    from lifenet.neurons.subset import Subset

__all__ = ["SubsetStackingClassifier", "SubsetStackingRegressor"]

# Probabilities of a member are kept this far from 0 and 1, so that their log-odds are finite.
_MARGIN = 1e-6


class _SubsetStacking(NetworkEstimator):
    """What the regressor and the classifier share."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "member": [HasMethods(["fit", "predict"])],
        "categorical_features": NetworkEstimator._categorical_constraint,
        **STEP_CONSTRAINTS,
    }

    # Penalty of networks whose solver is given by name.
    _ridge: ClassVar[float]

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
        categorical_features: Any = "from_dtype",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.member = member
        self.sampler = sampler
        self.solver = solver
        self.readout = readout
        self.validation = validation
        self.categorical_features = categorical_features
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=False)  # type: ignore[untyped-decorator]
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Sample subsets, train a member on each, and fit the output layer of their predictions.

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
            recipe = compose(
                "paper", sampler=self.sampler, solver=self._named_solver(), readout=self.readout
            )
            data = replace(
                self._prepare(X, y, sample_weight), validation=self.validation, given=(X, y, groups)
            )
            seed = self._seed()
            run = Run(seed, self.n_jobs)
            fold = with_own_codes(data, recipe.resampling.folds(data, seed))[0]
            hierarchy = resolve(recipe, fold, run).neurons[0]
            subsets, _ = sample_subsets(fold.train, hierarchy.sampler, hierarchy.solver, run)
            scaling = data.units.scaling
            self.subsets_ = tuple(one.unscaled(scaling.center, scaling.scale) for one in subsets)
            self._units = data.units
            self.members_ = tuple(self._train_members(fold.train.rows, subsets, data, seed))
            self.schema_ = self._schema(data)
            self._fit_output(data, recipe.output, fold, seed)
            if self.verbose:
                print(f"{len(self.members_)} members trained and combined")
        return self

    def _named_solver(self) -> Any:
        """The solver of the networks that make subsets."""
        if self.solver not in (None, "lla"):
            return self.solver
        return LLA(10, ridge=self._ridge, max_iter=20, tol=5e-3)

    def _train_members(
        self, rows: Any, subsets: Sequence[Subset], data: Inputs, seed: int
    ) -> list[Any]:
        return list(
            joblib.Parallel(n_jobs=self.n_jobs)(
                joblib.delayed(_train_model)(
                    clone(self.member), rows, subset, data.units, self._labels(), seed + number
                )
                for number, subset in enumerate(subsets)
            )
        )

    def _fit_output(self, data: Inputs, output: Any, fold: Fold, seed: int) -> None:
        table, loss = self._predictions(data.rows.X), data.problem.loss
        problem, validation = _of_predictions(data.problem, table), fold.validation
        of_members = Fold(
            _of_predictions(fold.train, table),
            None if validation is None else _of_predictions(validation, table),
            problem,
        )
        n = table.shape[1]
        features = GivenColumns(n)
        layer = replace(
            Layer.of(features, spreads(problem, features)),
            member=np.arange(n),
            beta=np.ones(n),
            intercept=np.zeros(n),
            output=np.arange(n) % loss.n_outputs,
        )
        coefficients = output.fit(layer, of_members, np.random.default_rng(seed))
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
    """Any regressors as members, each trained on a subset of LIFE's, under an output layer.

    Parameters
    ----------
    member : regressor
        What is trained on each subset, for example ``DecisionTreeRegressor(max_depth=6)``. The
        output layer is fitted to predictions that the members largely make of their own rows:
        members that overfit their rows are trusted too much.
    sampler, solver, readout, validation, categorical_features, n_jobs, random_state, verbose
        As in `LIFERegressor`; the solver only trains the networks whose neurons make subsets.

    Attributes
    ----------
    members_ : tuple of fitted regressors
    subsets_ : tuple of Subset
        The rows that each was trained on.
    coef_, intercept_ : ndarray
        The output layer of the members' standardised predictions.
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
    """Any classifiers as members, each trained on a subset of LIFE's, under an output layer.

    Parameters
    ----------
    member : classifier with `predict_proba`
        What is trained on each subset, for example ``DecisionTreeClassifier(max_depth=6)``.
    sampler, solver, readout, validation, categorical_features, n_jobs, random_state, verbose
        As in `LIFEClassifier`; the solver only trains the networks whose neurons make subsets.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    members_, subsets_, coef_, intercept_, schema_, n_features_in_, feature_names_in_
        As in `SubsetStackingRegressor`; the output layer is of the members' log-odds.

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
    index, counts = subset.select(rows)
    chosen = rows.take(index, counts)
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
