"""Blend: LIFE's narrow networks and the rules of boosted trees in one layer, fold by fold.

For each fold of the rows, with the others to learn from:

1. a small hierarchy of narrow networks, as in the paper, on the smooth codes of the columns;
2. boosted trees, whose leaves become neurons of the ramps of their columns;
3. all these neurons are one layer; its ridge penalty is chosen on the fold, and from there all
   neurons and the read-out are refined together as long as the fold gains.

The mean of the folds' networks is one network again. Every row has judged one of them, so that
the folds can also say whether a linear model should be mixed in, and which boosted trees as they
are, and how much of each.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import joblib
import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet._threads import one_blas_thread
from lifenet.blocks import HeldRows
from lifenet.encoding import QuantileCoding
from lifenet.lines import mix_with_lines
from lifenet.losses import SquaredError
from lifenet.members import Place, Trained
from lifenet.mixture import Fold, FoldNetwork, mix_with_trees, sample_of
from lifenet.network import ReluNetwork
from lifenet.readouts.design import Design, HeldOut
from lifenet.readouts.favours import choose_scale
from lifenet.readouts.ridge import Ridge, follow_path
from lifenet.recipe import Life, Run, Stage, sample_subsets, successful, train_stage
from lifenet.record import Subset
from lifenet.rules.boosting import Boosting
from lifenet.rules.neurons import rule_layer, smooth_layer
from lifenet.rules.trees import grow_boxes
from lifenet.sampling import NeuronProjection
from lifenet.solvers.base import Iteration, Outcome, Problem, Status
from lifenet.solvers.descent import Descent
from lifenet.solvers.features import Activations, Inputs
from lifenet.solvers.lla import LLA
from lifenet.solvers.readout import Curvature, spreads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.blocks import Block
    from lifenet.rules.boosting import Mixture
    from lifenet.rules.columns import CodedColumns
    from lifenet.rules.neurons import Layer
    from lifenet.solvers.features import Features

__all__ = ["Blend", "Blended", "Fold", "train_blend", "train_fold"]

# Narrow networks see at most so many rows, fewer where they have many unknowns: their neurons are
# read out anew on all.
_MOST_ROWS, _FEWEST_ROWS, _CELLS = 4_000, 1_000, 2_000_000
# Neurons of a narrow network, and of those that only divide the rows.
_WIDTH, _LEVEL = 10, 8
# Their number falls with the square of the unknowns of one, from this many.
_UNKNOWNS, _FEWEST = 200, 4
# The layer is refined as a whole later on.
_ITERATIONS = 10
_RIDGE = {True: 1e-5, False: 1e-4}  # of a narrow network: squared error, classes
# So much less than a rule of equal deviation a neuron of a narrow network may cost the read-out;
# the fold says which, and without one it is the middle.
_FAVOURS = (3.0, 30.0, 300.0)
# One hardly ever active counts as if it had this share of the typical deviation.
_LEAST_SPREAD = 0.2
# Leaves of a tree where the rows or the noise do not allow for more.
_FEW_LEAVES, _MANY_LEAVES, _MANY_ROWS = 8, 16, 5_000
# Rows below which leaves may be smaller and one level of narrow networks does.
_FEW_ROWS, _SMALL_LEAF, _LEAF = 400, 10, 20
# Activations of all rows are held where they take no more bytes, and computed at every pass
# otherwise.
_HELD_BYTES = 1 << 29
# Shares of a fold's time for the narrow networks.
_SMOOTH_BY = 0.3
_UNUSED = 1e-12
_SEED_ROWS, _SEED_TREES, _SEED_STEPS, _SEED_READOUT, _SEED_WHOLE = range(5)


@dataclass(repr=False)
class Blend(Settings):
    """LIFE's narrow networks and the rules of boosted trees in one layer, averaged over folds.

    Parameters
    ----------
    n_folds : int, "auto" or "more", default="auto"
        Folds, and so networks that are averaged. "auto" takes 4, or 5 below 3,000 rows; "more" 8,
        or 5 from 20,000 rows on.
    n_networks : int, default=20
        Most narrow networks of a fold, which several classes share; fewer where columns are many
        or rows few.
    n_trees : int, default=100
        Boosted trees of a fold; several classes share them.
    n_leaves : int or "auto", default="auto"
        Most leaves of a tree. "auto" takes 16 in regression with 5,000 rows or more, else 8.
    learning_rate : float, default=0.15
        Of the boosting.
    min_leaf : int or "auto", default="auto"
        Fewest rows of a leaf. "auto" takes 20, or 10 below 400 rows.
    columns : float, default=0.5
        Share of the columns that a split chooses from.
    n_bins : int, default=64
        Most bins of a column's codes.
    descent : Descent
        How the layer is refined in the end.
    boosting : Boosting or None, default=None
        Boosted trees that the mean of the folds is mixed with as they are: more accurate, with
        several times as many neurons. Their edges become those of the codes, so `n_bins` must not
        be small.
    linear_gain : float or None, default=0.02
        Share of the loss of the folds that a linear model beside each network must take off, or
        there is none; None asks for none. It is for tables where a linear function is nearly all
        there is.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_folds": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto", "more"})],
        "n_networks": [Interval(Integral, 0, None, closed="left")],
        "n_trees": [Interval(Integral, 1, None, closed="left")],
        "n_leaves": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "min_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "columns": [Interval(Real, 0, 1, closed="right")],
        "n_bins": [Interval(Integral, 2, None, closed="left")],
        "descent": [Descent],
        "boosting": [Boosting, None],
        "linear_gain": [Interval(Real, 0, 1, closed="left"), None],
    }

    n_folds: int | str = "auto"
    n_networks: int = 20
    n_trees: int = 100
    n_leaves: int | str = "auto"
    learning_rate: float = 0.15
    min_leaf: int | str = "auto"
    columns: float = 0.5
    n_bins: int = 64
    descent: Descent = field(default_factory=Descent)
    boosting: Boosting | None = None
    linear_gain: float | None = 0.02

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        self.descent.check()
        if self.boosting is not None:
            self.boosting.check()

    def coding(self) -> QuantileCoding:
        """Codes that both kinds of neurons find theirs among."""
        return QuantileCoding("full", n_bins=self.n_bins, min_values=2)

    def folds(self, total_weight: float) -> int:
        """Number of folds."""
        if not isinstance(self.n_folds, str):
            return int(self.n_folds)
        if self.n_folds == "more":
            return 5 if total_weight >= 20_000 else 8
        return 4 if total_weight >= 3_000 else 5

    def leaves(self, problem: Problem) -> int:
        """Most leaves of a tree."""
        if not isinstance(self.n_leaves, str):
            return int(self.n_leaves)
        many = problem.rows.total_weight >= _MANY_ROWS
        regression = isinstance(problem.loss, SquaredError)
        return _MANY_LEAVES if many and regression else _FEW_LEAVES

    def rows_of_leaf(self, total_weight: float) -> int:
        """Fewest rows of a leaf."""
        if not isinstance(self.min_leaf, str):
            return int(self.min_leaf)
        return _LEAF if total_weight >= _FEW_ROWS else _SMALL_LEAF

    def networks(self, n_features: int, total_weight: float, n_outputs: int = 1) -> int:
        """Most narrow networks of an output, where they have so many inputs and rows."""
        most = self.n_networks if total_weight >= _FEW_ROWS else min(self.n_networks, _LEVEL)
        most = -(-most // n_outputs)
        fewer = round(most * min(1.0, (_UNKNOWNS / _unknowns(n_features)) ** 2))
        return min(most, max(fewer, _FEWEST))


def _unknowns(n_features: int) -> int:
    """Of a narrow network."""
    return _WIDTH * (n_features + 1)


@dataclass(frozen=True)
class Blended(Life):
    """A blend, and what its networks were mixed with.

    Attributes
    ----------
    mixture : boosted trees, where it was asked for them
    linear_share : of linear models
    """

    mixture: Mixture | None = None
    linear_share: float = 0.0


def train_blend(
    problem: Problem, columns: CodedColumns, folds: Sequence[Fold], blend: Blend, run: Run
) -> Blended:
    """A network for each fold, and their mean, mixed with boosted trees where these are asked for.

    Folds whose turn comes after the time limit are left out, but for the first.

    Parameters
    ----------
    problem : standardised codes of all rows
    folds : of the same rows
    """
    deadline = None if run.time_limit is None else time.monotonic() + run.time_limit
    jobs = run.n_jobs if len(folds) > 1 else 1
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator")
    _report(run, 0, len(folds))
    trained: list[Trained] = []
    for number, outcome in enumerate(
        parallel(
            joblib.delayed(_train_or_leave)(
                blend, columns, fold.learn, fold.judge, run.seed, number, deadline
            )
            for number, fold in enumerate(folds)
        )
    ):
        status = Status.NOT_STARTED if outcome is None else outcome.status
        subset = _seen(problem, folds[number])
        trained.append(Trained(Place(1, number, None), subset, outcome, status))
        _report(run, len(successful(trained)), len(folds))
    pairs = zip(folds, trained, strict=True)
    done = [FoldNetwork.of(fold, one.network) for fold, one in pairs if one.outcome is not None]
    share = 0.0
    if blend.linear_gain is not None:
        done, share = mix_with_lines(done, columns, blend.linear_gain)
        trained = _with_networks(trained, [one.network for one in done])
    networks = [one.network for one in done]
    network = ReluNetwork.concatenate(networks, np.full(len(networks), 1 / len(networks)))
    widest = max(one.n_neurons for one in networks)
    mixture = None
    if blend.boosting is not None:
        seed = _seed(run.seed, 0, _SEED_WHOLE)
        network, mixture = mix_with_trees(
            network, done, problem, columns, blend.boosting, seed, run.n_jobs, deadline
        )
    stage = Stage(widest, tuple(trained), (), 1.0)
    return Blended(network, (stage,), mixture=mixture, linear_share=share)


def _with_networks(trained: Sequence[Trained], networks: Sequence[ReluNetwork]) -> list[Trained]:
    """The same runs with other networks, of those that were trained."""
    others = iter(networks)
    return [
        one
        if one.outcome is None
        else replace(one, outcome=replace(one.outcome, network=next(others)))
        for one in trained
    ]


def _report(run: Run, done: int, of: int) -> None:
    if run.progress is not None:
        run.progress(1, done, of)


def _seen(problem: Problem, fold: Fold) -> Subset:
    rows = fold.learn.rows
    share = rows.total_weight / problem.rows.total_weight
    return replace(Subset.everything(rows), share=share)


def _train_or_leave(*arguments: Any) -> Outcome | None:
    """What a worker does; None where the time is over before its turn."""
    *_, fold, deadline = arguments
    if deadline is not None and fold > 0 and time.monotonic() >= deadline:
        return None
    return train_fold(*arguments)


def train_fold(
    blend: Blend,
    columns: CodedColumns,
    learn: Problem,
    judge: Problem | None,
    seed: int,
    fold: int,
    deadline: float | None = None,
) -> Outcome:
    """The network of one fold.

    Parameters
    ----------
    learn : standardised codes of the rows to learn from
    judge : the fold; without one the penalty is chosen on the rows to learn from, and nothing is
        refined
    seed, fold : all that is random follows from them
    """
    begun = time.monotonic()
    with one_blas_thread():
        smooth = _smooth_layer(blend, columns, learn, _seed(seed, fold, _SEED_ROWS), deadline)
        rules = _rules(blend, columns, learn, _seed(seed, fold, _SEED_TREES))
        layer = rules.joined(smooth)
        network = _read_out(learn, judge, layer, rules.n_neurons, _seed(seed, fold, _SEED_READOUT))
        kept, free = _used(network, layer)
        if judge is None or not kept.n_neurons:
            row = Iteration(0, time.monotonic() - begun, np.nan, np.nan, 0.0, np.nan, 0)
            return Outcome(kept, np.nan, np.nan, Status.COMPLETED, (row,))
        steps = _seed(seed, fold, _SEED_STEPS)
        done = blend.descent.refine(learn, judge, kept, free, steps, deadline)
    history = tuple(replace(row, seconds=time.monotonic() - begun) for row in done.history[-1:])
    return Outcome(done.network, done.loss, done.loss, done.status, history)


def _seed(seed: int, fold: int, purpose: int) -> np.random.SeedSequence:
    return np.random.SeedSequence(seed, spawn_key=(fold, purpose))


def _smooth_layer(
    blend: Blend,
    columns: CodedColumns,
    learn: Problem,
    seed: np.random.SeedSequence,
    deadline: float | None,
) -> Layer:
    """Neurons of a hierarchy of narrow networks, one for each class against the rest."""
    rows = learn.rows.with_columns(columns.smooth)
    n_networks = blend.networks(rows.n_features, rows.total_weight, learn.loss.n_outputs)
    if n_networks == 0:
        return smooth_layer([], columns)
    generator = np.random.default_rng(seed)
    most = int(np.clip(_CELLS // _unknowns(rows.n_features), _FEWEST_ROWS, _MOST_ROWS))
    if rows.n_rows > most:
        rows = rows.take(np.sort(generator.choice(rows.n_rows, most, replace=False)))
    problem = Problem(rows, learn.loss)
    begun = time.monotonic()
    limit = None if deadline is None else max(_SMOOTH_BY * (deadline - begun), 0.0)
    run = Run(int(generator.integers(2**31)), 1, limit)
    ridge = _RIDGE[isinstance(learn.loss, SquaredError)]
    solver = LLA(_WIDTH, ridge=ridge, max_iter=_ITERATIONS, tol=5e-3)
    levels = (_LEVEL, _LEVEL) if n_networks > _LEVEL else (_LEVEL,)
    sampler = NeuronProjection(levels=levels, max_networks=n_networks)
    subsets, stages = sample_subsets(problem, sampler, solver, run, begun)
    last = train_stage(problem, subsets, solver, len(stages) + 1, run, begun)
    return smooth_layer([one.network for one in successful(last.trained)], columns)


def _rules(
    blend: Blend, columns: CodedColumns, learn: Problem, seed: np.random.SeedSequence
) -> Layer:
    """Neurons of the leaves of boosted trees."""
    rows = sample_of(learn, columns)
    boxes = grow_boxes(
        rows.values,
        rows.target,
        rows.weight,
        learn.loss,
        n_trees=blend.n_trees,
        n_leaves=blend.leaves(learn),
        learning_rate=blend.learning_rate,
        min_leaf=blend.rows_of_leaf(learn.rows.total_weight),
        columns=blend.columns,
        seed=int(seed.generate_state(1)[0] % 2**31),
    )
    return rule_layer(boxes, columns)


def _read_out(
    learn: Problem,
    judge: Problem | None,
    layer: Layer,
    n_rules: int,
    seed: np.random.SeedSequence,
) -> ReluNetwork:
    """The layer with a ridge read-out, its penalty chosen on the rows apart."""
    theta = layer.theta
    if not layer.n_neurons:
        null = learn.loss.null_score(learn.rows.target, learn.rows.weight)
        empty = np.zeros((0, learn.rows.n_features))
        return ReluNetwork(empty, np.zeros(0), np.zeros((0, learn.loss.n_outputs)), null)
    features: Features = Activations(sparse.csr_array(theta))
    n_rows = learn.rows.n_rows + (0 if judge is None else judge.rows.n_rows)
    if 8 * n_rows * (layer.n_neurons + 1) <= _HELD_BYTES:
        learn = _laid_out(learn, features)
        judge = None if judge is None else _laid_out(judge, features)
        features = Inputs(layer.n_neurons)
    scales = _scales(spreads(learn, features), n_rules)
    if judge is None:
        found = _fit_ridge(learn, None, features, scales[len(scales) // 2], seed)
    else:
        apart = HeldOut(learn, judge)
        place, found = choose_scale(apart, features, scales)
        if not isinstance(learn.loss, SquaredError):
            found = _fit_ridge(learn, apart, features, scales[place], seed)
    return ReluNetwork(theta[:, :-1], theta[:, -1], found[:-1], found[-1])


def _laid_out(problem: Problem, features: Features) -> Problem:
    """The same rows with the features as their columns: many passes are to come."""

    def columns(block: Block) -> Floats:
        return np.vstack([features.of(block), np.ones(len(block.target))])

    rows = problem.rows
    return Problem(HeldRows(rows.collect(columns), rows.target, rows.weight), problem.loss)


def _scales(deviations: Floats, n_rules: int) -> list[Floats]:
    """What a penalty measures coefficients in: rules as they are, other neurons by deviation.

    One entry for each favour that is done to the others.
    """
    if n_rules in (0, len(deviations)):
        return [np.ones(len(deviations))]
    typical = _root_mean_square(deviations[:n_rules]) or 1.0
    others = deviations[n_rules:]
    floor = _LEAST_SPREAD * _root_mean_square(others)
    scale = np.maximum(others, floor) / typical
    scale = np.where(scale > 0, scale, 1.0)
    return [np.concatenate([np.ones(n_rules), scale / favour]) for favour in _FAVOURS]


def _root_mean_square(values: Floats) -> float:
    return float(np.sqrt(np.mean(np.square(values)))) if len(values) else 0.0


def _fit_ridge(
    learn: Problem,
    apart: HeldOut | None,
    features: Features,
    scale: Floats,
    seed: np.random.SeedSequence,
) -> Floats:
    """Coefficients of all neurons, (n_neurons + 1, n_outputs)."""
    design = Design.of(features, scale)
    if apart is not None and learn.loss.n_outputs == 1:
        return follow_path(apart, design, Curvature())[1]  # exact enough to begin from
    return Ridge().fit(learn, design, apart, np.random.default_rng(seed))


def _used(network: ReluNetwork, layer: Layer) -> tuple[ReluNetwork, Any]:
    """The neurons that count, and which of their weights may move."""
    if not network.n_neurons:
        return network, layer.free
    size = np.abs(network.beta).max(axis=1) * np.linalg.norm(network.weights, axis=1)
    kept = np.flatnonzero(size > _UNUSED * size.max())
    return network.select(kept), layer.free[kept]
