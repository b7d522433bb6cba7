"""What "auto" means: the one function that fills a recipe in from loss, rows and columns.

Every number here was chosen on the training parts of the sets named in docs/ablations.md, unless a
comment says otherwise.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.data.folds import CrossFit
from lifenet.finetune.minibatch import MiniBatch
from lifenet.neurons.hierarchy import SAMPLERS, Hierarchy
from lifenet.neurons.leaves import Leaves, several
from lifenet.neurons.sampling import NeuronProjection
from lifenet.output.ridge import RidgeOutput
from lifenet.recipe.single import choose_width
from lifenet.solvers.adam import Adam
from lifenet.solvers.lla import LLA

if TYPE_CHECKING:
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.recipe.recipe import Recipe

__all__ = ["resolve", "resolve_resampling"]

# Rows below which leaves may be smaller and one level of the hierarchy is enough.
_FEW_ROWS = 400
# Trees and their leaves: small trees first, then larger ones; more and larger trees from some rows
# on. For separable losses trees of one size.
_TREES, _LEAVES = (40, 20), (4, 16)
_TREES_OF_MANY, _LEAVES_OF_MANY, _MANY_ROWS = (80, 36), (4, 24), 5_000
_TREES_SEPARABLE, _LEAVES_SEPARABLE = (50,), (12,)
# For separable losses where only some columns act together: trees say less each, so that there are
# more of them, and their leaves may be smaller.
_TREES_SEPARABLE_RESTRICTED, _LEAVES_SEPARABLE_RESTRICTED = (150,), (8,)
_MIN_SAMPLES_LEAF_RESTRICTED = 5
# Share of the columns that a split chooses from, and what ramps span of a column's mean splits.
_MAX_FEATURES, _RAMP_SHARE = 1.0, 0.1
_MAX_FEATURES_SEPARABLE, _RAMP_SHARE_SEPARABLE = 0.8, (0.05, 0.2, 0.8)
# From this many rows on more trees with this power of the rows, so that the Gram matrix of their
# leaves grows with the cube root of the rows.
_ROWS_OF_TREES, _MORE_TREES = 20_000, 1 / 6
_MIN_SAMPLES_LEAF, _MIN_SAMPLES_LEAF_FEW = 20, 10
# Neurons of each network in the levels of a hierarchy that is limited to n_networks.
_LEVEL = 8
# Base learners are at most one for so many rows, where that is more than a level has.
_ROWS_A_NETWORK = 50
# Base learners become fewer with the square of the unknowns of one, from this many unknowns on.
_UNKNOWNS, _FEWEST_NETWORKS = 200, 4
# Their rows: at most this many, or this share of them, and never more than the last; fewer where
# unknowns times rows would be more than this.
_SHARE_OF_ROWS, _MOST_ROWS_OF_MANY = 0.25, 20_000
_MOST_ROWS, _FEWEST_ROWS, _CELLS = 2_000, 1_000, 2_000_000
# Penalty of base learners whose solver is given by name, for separable losses and for others.
_RIDGE_SEPARABLE, _RIDGE = 1e-4, 1e-5
# Widths of base learners; base learners that are too narrow to tell classes apart do not make up
# for it together, so that several are tried for separable losses.
_WIDTHS_SEPARABLE, _WIDTHS = (10, 20, 40), (10,)
# Share of the time in which a width is chosen. Chosen by hand.
_CHOOSING = 0.1


def resolve_resampling(resampling: Any, problem: Problem) -> Any:
    """The number of folds, from all rows."""
    if not isinstance(resampling, CrossFit) or not isinstance(resampling.n_folds, str):
        return resampling
    n_rows = problem.rows.total_weight
    if resampling.n_folds == "more":
        return replace(resampling, n_folds=5 if n_rows >= 20_000 else 7)
    return replace(resampling, n_folds=4 if n_rows >= 3_000 else 5)


def resolve(recipe: Recipe, fold: Fold, run: Run) -> Recipe:
    """The recipe of a fold without "auto", from the loss and the training rows."""
    neurons = tuple(_resolve_source(source, fold, run) for source in recipe.neurons)
    tuning = _resolve_tuning(recipe.finetune, fold.train)
    smoothness = recipe.smoothness
    if isinstance(smoothness, str) and (
        fold.validation is None or not isinstance(recipe.output, RidgeOutput)
    ):
        smoothness = 0.0
    return replace(recipe, neurons=neurons, finetune=tuning, smoothness=smoothness)


def _resolve_source(source: Any, fold: Fold, run: Run) -> Any:
    if isinstance(source, Leaves):
        return _resolve_leaves(source, fold.train, restricted=fold.interactions is not None)
    if isinstance(source, Hierarchy):
        return _resolve_hierarchy(source, fold, run)
    return source


def _resolve_leaves(leaves: Leaves, train: Problem, *, restricted: bool) -> Leaves:
    n_rows, rows = train.rows.total_weight, leaves.min_samples_leaf
    separable = train.loss.separable
    n_trees, nodes = leaves.n_trees, leaves.max_leaf_nodes
    trees, sizes = _trees(n_rows, separable, restricted)
    if isinstance(n_trees, str):
        more = max(1.0, n_rows / _ROWS_OF_TREES) ** _MORE_TREES
        n_trees = tuple(round(more * one) for one in trees)
    if isinstance(nodes, str):
        n_sizes = len(several(n_trees))
        nodes = sizes if n_sizes == len(sizes) else sizes[-1:] * n_sizes
    # Where sizes were given, and the number of trees was not, all sizes have as many trees.
    if len(several(nodes)) != len(several(n_trees)):
        n_trees = (max(sum(several(n_trees)) // len(several(nodes)), 1),) * len(several(nodes))
    if isinstance(rows, str):
        rows = _MIN_SAMPLES_LEAF if n_rows >= _FEW_ROWS else _MIN_SAMPLES_LEAF_FEW
        if restricted and separable:
            rows = _MIN_SAMPLES_LEAF_RESTRICTED
    columns: Any = leaves.max_features
    share: Any = leaves.ramp_share
    if isinstance(columns, str):
        columns = _MAX_FEATURES_SEPARABLE if separable else _MAX_FEATURES
    if isinstance(share, str):
        share = _RAMP_SHARE_SEPARABLE if separable else _RAMP_SHARE
    grown = replace(leaves, n_trees=n_trees, max_leaf_nodes=nodes, min_samples_leaf=rows)
    return replace(grown, max_features=columns, ramp_share=share)


def _trees(
    n_rows: float, separable: bool, restricted: bool
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Numbers of trees and their leaves."""
    if separable:
        if restricted:
            return _TREES_SEPARABLE_RESTRICTED, _LEAVES_SEPARABLE_RESTRICTED
        return _TREES_SEPARABLE, _LEAVES_SEPARABLE
    if n_rows < _MANY_ROWS:
        return _TREES, _LEAVES
    return _TREES_OF_MANY, _LEAVES_OF_MANY


def _resolve_hierarchy(hierarchy: Hierarchy, fold: Fold, run: Run) -> Hierarchy:
    solver = _resolve_solver(hierarchy, fold, run)
    columns, rows = fold.columns, fold.train.rows
    n_inputs = rows.n_features if columns is None else len(columns.smooth)
    unknowns = solver.n_neurons * (n_inputs + 1)
    max_rows = hierarchy.max_rows
    if isinstance(max_rows, str):
        enough = max(_MOST_ROWS, int(_SHARE_OF_ROWS * rows.total_weight))
        cells = max(_CELLS, int(_CELLS * _SHARE_OF_ROWS * rows.total_weight / _MOST_ROWS))
        max_rows = int(np.clip(cells // unknowns, _FEWEST_ROWS, min(enough, _MOST_ROWS_OF_MANY)))
    sampler, n_networks = hierarchy.sampler, hierarchy.n_networks
    if n_networks is not None:
        n_networks = _n_networks(n_networks, unknowns, fold.train)
        levels = (_LEVEL, _LEVEL) if n_networks > _LEVEL else (_LEVEL,)
        given = NeuronProjection(levels=levels) if isinstance(sampler, str) else sampler
        sampler = replace(given, max_networks=max(n_networks, 1))
    elif isinstance(sampler, str):
        sampler = SAMPLERS[sampler]()
    if isinstance(sampler, NeuronProjection):
        sampler = replace(sampler, max_networks=sampler.n_networks(solver.n_neurons))
    return replace(
        hierarchy, sampler=sampler, solver=solver, n_networks=n_networks, max_rows=max_rows
    )


def _n_networks(most: int, unknowns: int, train: Problem) -> int:
    """Most base learners of an output."""
    most = min(most, max(_LEVEL, int(train.rows.total_weight / _ROWS_A_NETWORK)))
    most = -(-most // train.loss.n_outputs)
    fewer = round(most * min(1.0, (_UNKNOWNS / unknowns) ** 2))
    return min(most, max(fewer, _FEWEST_NETWORKS))


def _resolve_solver(hierarchy: Hierarchy, fold: Fold, run: Run) -> Any:
    """The solver of the base learners: its penalty by the loss, its width by the validation rows.

    Base learners need not be trained to the last digit: the output layer is fitted anew.
    """
    if not isinstance(hierarchy.solver, str):
        return hierarchy.solver
    separable = fold.train.loss.separable
    widths: Any = hierarchy.n_neurons
    if isinstance(widths, str):
        widths = _WIDTHS_SEPARABLE if separable else _WIDTHS
    widths = tuple(widths) if isinstance(widths, tuple | list) else (int(widths),)
    if hierarchy.solver == "adam":
        solver: Any = Adam(widths[0])
    else:
        ridge = _RIDGE_SEPARABLE if separable else _RIDGE
        solver = LLA(widths[0], ridge=ridge, max_iter=hierarchy.max_iter, tol=5e-3)
    limited = run.until(run.deadline.rest(_CHOOSING))
    return solver.set_params(n_neurons=choose_width(fold, solver, widths, limited))


def _resolve_tuning(tuning: Any, train: Problem) -> Any:
    return tuning.resolved(train.loss) if isinstance(tuning, MiniBatch) else tuning
