"""The whole algorithm, for every preset, on one screen: `fit_life` and `fit_fold`."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from lifenet._clock import now
from lifenet._settings import Settings
from lifenet._threads import one_blas_thread, side_by_side
from lifenet.data.folds import CrossFit, Holdout, with_own_codes
from lifenet.data.moves import Moves
from lifenet.data.run import Purpose
from lifenet.finetune.base import fine_tune
from lifenet.network import ReluNetwork
from lifenet.neurons.hierarchy import Hierarchy
from lifenet.neurons.layer import Layer
from lifenet.output.base import fit_output
from lifenet.output.ridge import RidgeOutput
from lifenet.output.smooth import fit_smooth
from lifenet.recipe.auto import resolve, resolve_resampling
from lifenet.recipe.pace import fit_rows_in_time
from lifenet.recipe.pairs import restrict
from lifenet.stacking.base import Ensemble, FoldFit, add_with_weight, share_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Groups
    from lifenet.data.run import Run
    from lifenet.neurons.source import Grown
    from lifenet.stacking.base import Stacked

__all__ = ["Fitted", "Recipe", "fit_fold", "fit_folds", "fit_life", "mean_network"]

# Share of the time after which neurons are no longer grown: all of it but what the output layer
# takes, or less where fine-tuning is to follow. Chosen by hand.
_GROWN_BY, _GROWN_BEFORE_TUNING = 0.8, 0.3
# Share of the time that the folds may take where nothing, companions, and compression, too, follow.
_FOLDS_BY = (1.0, 0.8, 0.5)
# Moves along which a function is asked how straight it is, and their reach.
_MOVES, _REACH = 3_000, 0.05


@dataclass(repr=False)
class Recipe(Settings):
    """The parts of which a network is made; presets are values of it.

    Parameters
    ----------
    codes : QuantileCoding or None, default=None
        Piecewise-linear codes of the columns; None takes the columns unchanged.
    neurons : sequence of neuron sources, default=(Hierarchy(),)
        Steps 1 and 2: where the neurons come from, `Hierarchy` or `Leaves`.
    output : output layer, default=RidgeOutput()
        Step 3: how the neurons are combined into scores.
    finetune : LBFGS, MiniBatch or None, default=None
        How all neurons and the output layer are refined together in the end.
    resampling : Holdout or CrossFit, default=Holdout()
        Which rows choose penalties, stopping and weights; whether networks are averaged over folds.
    stack : sequence of companions, default=()
        Models with a weight chosen out of fold: `LinearModel`, `BoostedTrees`.
    compress : Distil or None, default=None
        How a network of few neurons is made of the full one.
    smoothness : float or "auto", default=0.0
        The price of straight lines: a function that changes along straight lines only within
        `explain_row`'s reach may have a training loss higher by this share than one that pays
        nothing. It falls on the output layer and on fine-tuning, and needs a `RidgeOutput`. "auto"
        pays as much as costs about a hundredth of the validation loss, and nothing where there are
        no validation rows. 0 pays nothing.
    interaction_cst : "pairwise", "no_interactions", groups of columns, BestPairs or None, \
default=None
        Which columns a neuron may read together: those of one group, so that the network is a sum
        of functions of one group each. Groups are sequences of indices or names; columns of no
        group form one more, and groups may share columns. "no_interactions" has each column alone,
        "pairwise" all pairs, `BestPairs` those that pay. None lets all columns act together.

    Examples
    --------
    >>> from lifenet import LIFERegressor, MiniBatch, preset
    >>> from lifenet.datasets import simulate
    >>> data = simulate.aim(500, random_state=0)
    >>> recipe = preset("fast").set_params(finetune=MiniBatch(n_steps=50), stack=())
    >>> model = LIFERegressor(preset=recipe, random_state=0).fit(data.X, data.y)
    >>> bool(model.score(data.X, data.y) > 0.8)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "codes": [HasMethods(["learn", "check"]), None],
        "neurons": [tuple, list],
        "output": [HasMethods(["fit", "check"])],
        "finetune": [HasMethods(["refine", "check"]), None],
        "resampling": [HasMethods(["folds", "check"])],
        "stack": [tuple, list],
        "compress": [HasMethods(["distil", "check"]), None],
        "smoothness": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "interaction_cst": [
            StrOptions({"pairwise", "no_interactions"}),
            HasMethods(["choose", "check"]),
            *(tuple, list, None),
        ],
    }

    codes: Any = None
    neurons: Sequence[Any] = field(default_factory=lambda: (Hierarchy(),))
    output: Any = field(default_factory=RidgeOutput)
    finetune: Any = None
    resampling: Any = field(default_factory=Holdout)
    stack: Sequence[Any] = ()
    compress: Any = None
    smoothness: float | str = 0.0
    interaction_cst: Any = None

    def check(self) -> None:
        """Refuse parts that are out of their range or cannot be combined."""
        super().check()
        for name, (parts, methods) in {
            "neurons": (self.neurons, ("grow", "check")),
            "stack": (self.stack, ("choose", "fit", "check")),
        }.items():
            wrong = [one for one in parts if not all(hasattr(one, method) for method in methods)]
            if wrong:
                raise ValueError(
                    f"{name} must hold objects with the methods {', '.join(methods)}, such as "
                    f"{'Leaves()' if name == 'neurons' else 'LinearModel()'}; {wrong[0]!r} is "
                    "among them."
                )
        single = (self.codes, self.output, self.finetune, self.resampling, self.compress)
        for part in (*single, *self.neurons, *self.stack, *self._choosers):
            if isinstance(part, type):
                raise ValueError(
                    f"A part of a recipe must be an object, not the class {part.__name__}; "
                    f"write {part.__name__}()."
                )
            if part is not None:
                part.check()
        self._check_together()

    @property
    def _choosers(self) -> tuple[Any, ...]:
        """What chooses the columns that may act together, where something does."""
        given = self.interaction_cst
        return (given,) if hasattr(given, "choose") or isinstance(given, type) else ()

    def _check_together(self) -> None:
        paid = not isinstance(self.smoothness, str) and self.smoothness > 0
        if paid and not isinstance(self.output, RidgeOutput):
            raise ValueError(
                f"smoothness={self.smoothness!r} needs output=RidgeOutput(), whose penalty it is "
                f"added to; output is {self.output!r}. Take smoothness=0 or another output."
            )
        if not self.neurons:
            raise ValueError("neurons is empty; a recipe needs at least one source of neurons.")
        if self.stack and not isinstance(self.resampling, CrossFit):
            raise ValueError(
                f"{type(self.stack[0]).__name__} is weighed by out-of-fold scores, and with "
                f"resampling={self.resampling!r} the output layer is fitted to all rows; use "
                "resampling=CrossFit(), or stack=()."
            )
        ramps = getattr(self.codes, "kind", None) == "full"
        for part in (*self.neurons, *self.stack, *self._choosers):
            if getattr(part, "needs_ramps", False) and not ramps:
                raise ValueError(
                    f"{type(part).__name__} needs ramps of the columns, and codes of kind "
                    f"{getattr(self.codes, 'kind', None)!r} have none; use "
                    f"codes=QuantileCoding('full') (coding='full' of an estimator), or leave "
                    f"{type(part).__name__} out."
                )
        free = [one for one in self.neurons if not getattr(one, "makes_members", False)]
        if free and getattr(self.output, "weighs_members", False):
            raise ValueError(
                f"output={self.output!r} weighs base learners, and the neurons of "
                f"{type(free[0]).__name__} belong to none; use RidgeOutput or ElasticNetOutput."
            )


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a recipe made of the data, in standardised units.

    Attributes
    ----------
    network : the result
    fits : the network of each fold that was trained
    n_folds : folds that there were; more than were trained where time ran out
    share : weight of the mean of the folds' networks in `network`
    stacked : companions that were weighed
    groups : columns that neurons read together; None for all
    """

    network: ReluNetwork
    fits: tuple[FoldFit, ...]
    n_folds: int
    share: float = 1.0
    stacked: tuple[Stacked, ...] = ()
    groups: Groups | None = None


def fit_life(data: Inputs, recipe: Recipe, run: Run) -> Fitted:
    """LIFE: a network for each fold, their mean, its companions, fewer neurons where asked."""
    folds = resolve_resampling(recipe.resampling, data.problem).folds(data, run.split_seed)
    folds = with_own_codes(data, folds)
    data, folds = restrict(data, folds, recipe.interaction_cst, run)
    by = _FOLDS_BY[(recipe.compress is not None) + bool(recipe.stack)]
    fits = fit_folds(recipe, folds, run.until(run.deadline.at(by)))
    ensemble = Ensemble.of(mean_network(fits), fits)
    for companion in recipe.stack:
        ensemble = add_with_weight(ensemble, companion, data, run)
    network = ensemble.network
    if recipe.compress is not None:
        network = recipe.compress.distil(network, fits[0], data, run)
    groups = None if data.interactions is None else data.interactions.groups
    return Fitted(network, fits, len(folds), ensemble.share, ensemble.stacked, groups)


def fit_fold(recipe: Recipe, fold: Fold, run: Run) -> FoldFit:
    """The network of one fold: grow neurons, fit the output layer, fine-tune all together."""
    begun, recipe = now(), resolve(recipe, fold, run)

    # Steps 1 and 2: neurons from all sources, trained on the training rows.
    share = _GROWN_BY if recipe.finetune is None else _GROWN_BEFORE_TUNING
    grown, steady = _grow(recipe.neurons, fold, run.until(run.deadline.rest(share)))
    layer = Layer.join([one.layer for one in grown])

    # Step 3: one layer, whose penalties are chosen on the validation rows, if there are any.
    run.report("output layer", 0, 1)
    seed, start = run.child_seed(fold, Purpose.OUTPUT), now()
    network, used, fold = _fit_output(recipe, layer, fold, run, seed)
    steady += now() - start

    # Beyond the paper: refine all neurons and coefficients as far as the validation rows gain.
    tuned = None
    if recipe.finetune is not None:
        steps = run.child_seed(fold, Purpose.FINE_TUNING)

        def rehearse() -> ReluNetwork:
            return fit_output(recipe.output, layer, fold.training_only(), seed)[0]

        tuned = fine_tune(recipe.finetune, network, fold, rehearse, steps, run.deadline)
    run.report("output layer", 1, 1)

    return FoldFit.of(
        fold,
        network if tuned is None else tuned.network,
        stages=tuple(stage for one in grown for stage in one.stages),
        inputs=next((one.inputs for one in grown if one.stages), None),
        n_leaves=int(np.count_nonzero(used.leaf_mask)),
        tuned=tuned,
        seconds=now() - begun,
        steady_seconds=steady,
    )


def _fit_output(
    recipe: Recipe, layer: Layer, fold: Fold, run: Run, seed: np.random.SeedSequence
) -> tuple[ReluNetwork, Layer, Fold]:
    """The layer under its output layer, and the fold with what fine-tuning pays for smoothness."""
    moves = None
    if recipe.smoothness != 0 and layer.n_features:
        generator = np.random.default_rng(run.child_seed(fold, Purpose.MOVES))
        moves = Moves.draw(fold.train.rows, _MOVES, _REACH, generator)
    if moves is None:
        return *fit_output(recipe.output, layer, fold, seed), fold
    found = fit_smooth(recipe.output, layer, fold, seed, moves, recipe.smoothness)
    return *found[:2], replace(fold, smoothing=found[2])


def _grow(sources: Sequence[Any], fold: Fold, run: Run) -> tuple[list[Grown], float]:
    """Neurons of every source, and the seconds of those that no deadline can end.

    Every other fold begins with the last source. Folds that begin together would otherwise grow
    trees together, for which Python holds its lock: measured, 6.4 s instead of 6.2 s for two.
    """
    order = list(range(len(sources)))
    if sum(fold.key) % 2 and not run.deadline.limited:
        order.reverse()
    grown, steady = {}, 0.0
    for number in order:
        start = now()
        grown[number] = sources[number].grow(fold, run)
        steady += 0.0 if sources[number].makes_members else now() - start
    return [grown[number] for number in range(len(sources))], steady


def fit_folds(recipe: Recipe, folds: Sequence[Fold], run: Run) -> tuple[FoldFit, ...]:
    """The networks of all folds, side by side; those whose turn is too late are left out.

    With a time limit, folds have as many rows as it allows for.
    """
    folds, expected = fit_rows_in_time(_fit_alone, recipe, folds, run)
    if recipe.stack:
        folds = share_rows(folds)
    if len(folds) == 1:
        return (_fit_alone(recipe, folds[0], run),)
    run.report("fold", 0, len(folds))
    tasks = [
        partial(_fit_or_leave, recipe, fold, run.alone(), number, expected)
        for number, fold in enumerate(folds)
    ]
    fits: list[FoldFit] = []
    for found in side_by_side(tasks, run.n_jobs):
        fits += [] if found is None else [found]
        run.report("fold", len(fits), len(folds))
    return tuple(fits)


def _fit_or_leave(
    recipe: Recipe, fold: Fold, run: Run, number: int, expected: float
) -> FoldFit | None:
    """What a worker does; None where too little time is left for the seconds it takes at least."""
    if number > 0 and run.deadline.left <= expected:
        return None
    return _fit_alone(recipe, fold, run)


def _fit_alone(recipe: Recipe, fold: Fold, run: Run) -> FoldFit:
    with one_blas_thread():
        return fit_fold(recipe, fold, run)


def mean_network(fits: Sequence[FoldFit]) -> ReluNetwork:
    """The mean of the folds' networks: one network of all their neurons."""
    networks = [one.network for one in fits]
    if len(networks) == 1:
        return networks[0]
    return ReluNetwork.concatenate(networks, np.full(len(networks), 1 / len(networks)))
