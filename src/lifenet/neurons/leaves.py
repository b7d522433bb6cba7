"""Leaf neurons: the leaves of boosted trees as neurons on codes of the columns.

A leaf is a box, an interval of some columns. On codes that rise from 0 to 1 over one bin of a
column (ramps), the box is a neuron: with I_j the ramp at its lower end less the ramp at its upper
end,

    relu(1 + sum_j (I_j - 1)),     j over the columns of the box,

is one inside, zero outside, and linear over the bins in between. RuleFit (Friedman and Popescu,
"Predictive learning via rule ensembles", 2008) fits a linear model to such leaves as indicators.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.evaluation import some_rows
from lifenet.data.run import Purpose
from lifenet.network import ReluNetwork
from lifenet.neurons.features import Activations
from lifenet.neurons.layer import Layer
from lifenet.neurons.source import Grown
from lifenet.neurons.trees import Sample, TreeSettings, grow_trees

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers, Weights
    from lifenet.data.columns import CodedColumns
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.neurons.trees import LeafBounds

__all__ = ["Leaves", "leaf_layer", "sample_of", "tree_network"]

# Rows that trees are grown on: their leaves are only where fine-tuning begins. Chosen by hand.
_MOST_ROWS = 200_000


@dataclass(repr=False)
class Leaves(Settings):
    """A source of neurons: the leaves of boosted trees.

    Parameters
    ----------
    n_trees : int or "auto", default="auto"
        Boosted trees; several classes share them. "auto" takes 60, and from 20,000 rows on more
        with the sixth root of the rows.
    max_leaf_nodes : int or "auto", default="auto"
        Most leaves of a tree. "auto" takes 16 where a loss is not separable and there are 5,000
        rows or more, else 8.
    learning_rate : float, default=0.15
        Of the boosting.
    min_samples_leaf : int or "auto", default="auto"
        Fewest rows of a leaf. "auto" takes 20, or 10 below 400 rows.
    max_features : float, default=0.5
        Share of the columns that a split chooses from.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_trees": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_leaf_nodes": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto"})],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_features": [Interval(Real, 0, 1, closed="right")],
    }

    n_trees: int | str = "auto"
    max_leaf_nodes: int | str = "auto"
    learning_rate: float = 0.15
    min_samples_leaf: int | str = "auto"
    max_features: float = 0.5

    #: Leaf neurons are ramps of the codes.
    needs_ramps: ClassVar[bool] = True
    #: A leaf neuron belongs to no base learner.
    makes_members: ClassVar[bool] = False

    def grow(self, fold: Fold, run: Run) -> Grown:
        """Neurons of the leaves of trees that are grown on the training rows."""
        columns = fold.columns
        assert columns is not None
        settings = TreeSettings(
            int(self.max_leaf_nodes),
            int(self.min_samples_leaf),
            self.learning_rate,
            self.max_features,
        )
        some = some_rows(fold.train, _MOST_ROWS)
        sample, seed = sample_of(some, columns), run.child_seed(fold, Purpose.LEAVES)
        trees = grow_trees(sample, fold.train.loss, settings, int(self.n_trees), seed)
        return Grown(leaf_layer(trees.leaves()[0], columns))


def sample_of(problem: Problem, columns: CodedColumns) -> Sample:
    """Rows as trees see them: by the codes that rise with the columns."""
    rows = problem.rows.with_columns(columns.value)
    values = rows.collect(lambda block: block.inputs[:-1].copy()).T
    return Sample(values, rows.target, rows.weight)


def leaf_layer(leaves: LeafBounds, columns: CodedColumns) -> Layer:
    """A neuron for every distinct leaf; it may bend in the columns of its leaf, and in no other."""
    first, last, _ = _distinct(leaves, columns)
    weights, bias = _neurons(first, last, columns, all_ramps=True)
    ones = np.ones(len(bias))
    return Layer.of(Activations(weights, bias), ones, leaf=ones.astype(bool))


def tree_network(
    leaves: LeafBounds, height: Floats, intercept: Floats, columns: CodedColumns
) -> ReluNetwork:
    """Whole trees as a network: what every leaf adds to the scores, summed over all.

    Parameters
    ----------
    height : (n_leaves, n_outputs)
    intercept : (n_outputs,)
    """
    first, last, index = _distinct(leaves, columns)
    weights, bias = _neurons(first, last, columns)
    beta = np.zeros((len(bias), len(intercept)))
    np.add.at(beta, index, height)
    return ReluNetwork(weights, bias, beta, intercept)


def _distinct(leaves: LeafBounds, columns: CodedColumns) -> tuple[Integers, Integers, Integers]:
    """The ramps at which the distinct leaves begin and end, and which of them each leaf is."""
    both, index = np.unique(np.hstack(_bins(leaves, columns)), axis=0, return_inverse=True)
    return both[:, : columns.n_columns], both[:, columns.n_columns :], index.ravel()


def _neurons(
    first: Integers, last: Integers, columns: CodedColumns, *, all_ramps: bool = False
) -> tuple[Weights, Floats]:
    """Weights and biases of leaves that begin and end at these ramps.

    Parameters
    ----------
    all_ramps : whether weights of zero are stored for all ramps of a leaf's columns
    """
    n = len(first)
    bias = np.ones(n)
    rows, codes, values = [], [], []
    for column, ramps in enumerate(columns.ramps):
        for ends, sign in ((first, 1.0), (last, -1.0)):
            used = np.flatnonzero(ends[:, column] >= 0)
            code = ramps[ends[used, column]]
            # Ramps are codes brought to heights 0 and 1.
            rise = columns.one[code] - columns.zero[code]
            rows.append(used)
            codes.append(code)
            values.append(sign / rise)
            bias[used] -= sign * columns.zero[code] / rise
        # I_j - 1 is the ramp up, less one, less the ramp down; without a lower end it begins at 1.
        bias[first[:, column] >= 0] -= 1.0
        if all_ramps:
            used = np.flatnonzero((first[:, column] >= 0) | (last[:, column] >= 0))
            rows.append(np.repeat(used, len(ramps)))
            codes.append(np.tile(ramps, len(used)))
            values.append(np.zeros(len(used) * len(ramps)))
    index = tuple(np.concatenate([np.zeros(0, dtype=np.intp), *part]) for part in (rows, codes))
    data = np.concatenate([np.zeros(0), *values])
    return sparse.coo_array((data, index), shape=(n, columns.n_codes)).tocsr(), bias


def _bins(leaves: LeafBounds, columns: CodedColumns) -> tuple[Integers, Integers]:
    """The ramps at which a leaf begins and ends, (n_leaves, n_columns); -1 where it does not.

    Both ends in one bin leave nothing between; the upper one moves on, or the lower one back.
    """
    first = np.full(leaves.lower.shape, -1, dtype=np.intp)
    last = first.copy()
    for column, knots in enumerate(columns.knots):
        if len(knots) < 2:
            continue
        low, high = np.isfinite(leaves.lower[:, column]), np.isfinite(leaves.upper[:, column])
        first[low, column] = columns.bins(column, leaves.lower[low, column])
        last[high, column] = columns.bins(column, leaves.upper[high, column])
        narrow = low & high & (last[:, column] <= first[:, column])
        last[narrow, column] = first[narrow, column] + 1
        beyond = narrow & (last[:, column] > len(knots) - 2)
        last[beyond, column] = len(knots) - 2
        first[beyond, column] = len(knots) - 3
    # A column of a single bin has no room for both ends.
    first[first < 0] = -1
    return first, last
