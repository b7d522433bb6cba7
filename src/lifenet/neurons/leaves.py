"""Leaf neurons: the leaves of boosted trees as neurons on codes of the columns.

A leaf is a box, an interval of some columns. On codes that rise from 0 to 1 over one bin of a
column (ramps), the box is a neuron: with I_j the ramp at its lower end less the ramp at its upper
end,

    relu(1 + sum_j (I_j - 1)),     j over the columns of the box,

is one inside, zero outside, and linear over the ramps. RuleFit (Friedman and Popescu, "Predictive
learning via rule ensembles", 2008) fits a linear model to such leaves as indicators.

How wide a ramp is, the splits of all trees say. Where a function jumps, trees split at the same
place again and again; where it is smooth, their splits are spread out; where a column says nothing,
they are few. So a ramp spans the neighbourhood that holds a given weight of splits, as the
bandwidth of nearest-neighbour density estimates does: one bin at a jump, more where the function is
smooth, a large part of a column that hardly matters. A split weighs the root of its gain: how far
it moves the scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

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
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers, Weights
    from lifenet.data.columns import CodedColumns
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.run import Run
    from lifenet.neurons.trees import LeafBounds, Splits

__all__ = ["Leaves", "leaf_layer", "sample_of", "several", "tree_network"]

# Rows that trees are grown on: their leaves are only where fine-tuning begins. Chosen by hand.
_MOST_ROWS = 200_000
# Bins of a column below which its ramps are one bin wide.
_FEWEST_BINS = 4


@dataclass(repr=False)
class Leaves(Settings):
    """A source of neurons: the leaves of boosted trees.

    Parameters
    ----------
    n_trees : int, sequence of int or "auto", default="auto"
        Boosted trees; several classes share them. Of several numbers, each goes with an entry of
        `max_leaf_nodes`, and trees are grown in that order. "auto" takes 40 and 20, or 80 and 36
        from 5,000 rows on, or 50 where the loss is separable; from 20,000 rows on more with the
        sixth root of the rows. Where the loss is separable and a recipe restricts which columns
        act together, it takes 150.
    max_leaf_nodes : int, sequence of int or "auto", default="auto"
        Most leaves of a tree. "auto" takes 4, then 16, or 24 from 5,000 rows on: effects of single
        columns and of pairs come first, and the larger trees find what is left. For separable
        losses it takes 12, or 8 where a recipe restricts which columns act together.
    learning_rate : float, default=0.25
        Of the boosting.
    min_samples_leaf : int or "auto", default="auto"
        Fewest rows of a leaf. "auto" takes 20, or 10 below 400 rows; 5 where the loss is separable
        and a recipe restricts which columns act together.
    max_features : float or "auto", default="auto"
        Share of the columns that a split chooses from. Below 1, trees of different folds differ
        more, which their mean gains from, and split by columns that say nothing. "auto" takes 1, or
        0.8 where the loss is separable.
    ramp_share : float, sequence of float or "auto", default="auto"
        What the splits that a ramp spans weigh, over what those of a column weigh on average (each
        column counts by its weight, so that columns that say nothing do not); 0 makes every ramp
        one bin wide. Of several shares, leaves have each in turn. "auto" takes 0.1, or 0.05, 0.2
        and 0.8 where the loss is separable.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_trees": [Interval(Integral, 1, None, closed="left"), tuple, list, StrOptions({"auto"})],
        "max_leaf_nodes": [
            Interval(Integral, 2, None, closed="left"),
            tuple,
            list,
            StrOptions({"auto"}),
        ],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "min_samples_leaf": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "max_features": [Interval(Real, 0, 1, closed="right"), StrOptions({"auto"})],
        "ramp_share": [Interval(Real, 0, 1, closed="left"), tuple, list, StrOptions({"auto"})],
    }

    n_trees: int | Sequence[int] | str = "auto"
    max_leaf_nodes: int | Sequence[int] | str = "auto"
    learning_rate: float = 0.25
    min_samples_leaf: int | str = "auto"
    max_features: float | str = "auto"
    ramp_share: float | Sequence[float] | str = "auto"

    #: Leaf neurons are ramps of the codes.
    needs_ramps: ClassVar[bool] = True
    #: A leaf neuron belongs to no base learner.
    makes_members: ClassVar[bool] = False

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        for name, least in (("n_trees", 1), ("max_leaf_nodes", 2)):
            given: Any = getattr(self, name)
            if isinstance(given, tuple | list):
                wrong = [one for one in given if not isinstance(one, Integral) or one < least]
                if wrong or not given:
                    found = f"{wrong[0]!r} is among them" if wrong else "there are none"
                    raise ValueError(f"{name} must be integers from {least} on; {found}.")
        shares = () if isinstance(self.ramp_share, str) else _shares(self.ramp_share)
        if not isinstance(self.ramp_share, str) and (
            not shares or not all(isinstance(one, Real) and 0 <= float(one) <= 1 for one in shares)
        ):
            raise ValueError(
                f"ramp_share must be shares from 0 to 1, one at least; it is {self.ramp_share!r}."
            )
        if "auto" not in (self.n_trees, self.max_leaf_nodes):
            sizes = [len(several(one)) for one in (self.n_trees, self.max_leaf_nodes)]
            if sizes[0] != sizes[1]:
                raise ValueError(
                    f"n_trees has {sizes[0]} numbers and max_leaf_nodes has {sizes[1]}; each "
                    "number of trees needs a size of its own."
                )

    def grow(self, fold: Fold, run: Run) -> Grown:
        """Neurons of the leaves of trees that are grown on the training rows."""
        columns = fold.columns
        assert columns is not None
        pairs = zip(several(self.n_trees), several(self.max_leaf_nodes), strict=True)
        *first, (n_trees, size) = pairs
        rows = int(self.min_samples_leaf)
        allowed = None if fold.interactions is None else fold.interactions.numbers
        settings = TreeSettings(size, rows, self.learning_rate, float(self.max_features), allowed)
        some = some_rows(fold.train, _MOST_ROWS)
        sample, seed = sample_of(some, columns), run.child_seed(fold, Purpose.LEAVES)
        smaller = [(number, {"max_leaf_nodes": nodes}) for number, nodes in first]
        trees = grow_trees(sample, fold.train.loss, settings, n_trees, seed, smaller)
        boxes = _boxes(trees.leaves()[0], columns)
        boxes = _in_turn(boxes, trees.splits(), columns, _shares(self.ramp_share))
        return Grown(_layer(boxes, columns))


def several(given: Any) -> tuple[int, ...]:
    """One number or several as several."""
    return tuple(given) if isinstance(given, tuple | list) else (int(given),)


def _shares(given: Any) -> tuple[float, ...]:
    """One share or several as several."""
    return tuple(given) if isinstance(given, tuple | list) else (float(given),)


def sample_of(problem: Problem, columns: CodedColumns) -> Sample:
    """Rows as trees see them: by the codes that rise with the columns."""
    rows = problem.rows.with_columns(columns.value)
    values = rows.collect(lambda block: block.inputs[:-1].copy()).T
    return Sample(values, rows.target, rows.weight)


def leaf_layer(leaves: LeafBounds, columns: CodedColumns) -> Layer:
    """A neuron for every distinct leaf, its ramps one bin wide."""
    return _layer(_boxes(leaves, columns), columns)


def _layer(boxes: _Boxes, columns: CodedColumns) -> Layer:
    weights, bias = _neurons(boxes.distinct()[0], columns)
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
    boxes, index = _boxes(leaves, columns).distinct()
    weights, bias = _neurons(boxes, columns)
    beta = np.zeros((len(bias), len(intercept)))
    np.add.at(beta, index, height)
    return ReluNetwork(weights, bias, beta, intercept)


class _Ends(NamedTuple):
    """Ramps at one end of boxes, (n_boxes, n_columns) each.

    Attributes
    ----------
    first : the bin that a ramp begins with; -1 where a box has no such end
    width : in bins
    """

    first: Integers
    width: Integers

    def take(self, boxes: Integers) -> _Ends:
        return _Ends(self.first[boxes], self.width[boxes])


class _Boxes(NamedTuple):
    """Leaves, by the ramps at their lower and upper ends."""

    lower: _Ends
    upper: _Ends

    @property
    def n_boxes(self) -> int:
        """Number of boxes."""
        return len(self.lower.first)

    def take(self, boxes: Integers) -> _Boxes:
        """Some of the boxes."""
        return _Boxes(self.lower.take(boxes), self.upper.take(boxes))

    @classmethod
    def join(cls, several: Sequence[_Boxes]) -> _Boxes:
        """All boxes, one after the other."""
        ends = zip(*several, strict=True)
        return cls(*(_Ends(*map(np.concatenate, zip(*one, strict=True))) for one in ends))

    def distinct(self) -> tuple[_Boxes, Integers]:
        """Every box once, and which of them each is."""
        table = np.hstack([*self.lower, *self.upper])
        _, kept, index = np.unique(table, axis=0, return_index=True, return_inverse=True)
        return _Boxes(self.lower.take(kept), self.upper.take(kept)), index.ravel()


def _boxes(leaves: LeafBounds, columns: CodedColumns) -> _Boxes:
    """Leaves with ramps of one bin."""
    lower, upper = (_Ends(ends, np.ones_like(ends)) for ends in _bins(leaves, columns))
    return _Boxes(lower, upper)


def _widened(boxes: _Boxes, splits: Splits, columns: CodedColumns, share: float) -> _Boxes:
    """Boxes whose ramps span splits of a given weight.

    Widths are powers of two and ramps begin at multiples of a quarter of their width: few distinct
    ramps, which many neurons then share.

    Parameters
    ----------
    share : of the mean weight of a column's splits, where columns count by their weight
    """
    weight = np.sqrt(np.maximum(splits.gain, 0.0))
    by_column = np.bincount(splits.column, weight)
    # The column of a typical split, not the typical column: were all columns to count alike, some
    # that say nothing would make all ramps narrow.
    enough = share * float(np.square(by_column).sum() / (by_column.sum() or 1.0))
    lower, upper = (_Ends(ends.first.copy(), ends.width.copy()) for ends in boxes)
    for column, ramps in enumerate(columns.ramps):
        own = splits.column == column
        if len(ramps) < _FEWEST_BINS or not own.any():
            continue
        bins = columns.bins(column, splits.threshold[own])
        held = np.bincount(bins, weight[own], len(ramps)).astype(np.float64)
        spans = _spans(held, enough)
        widths = 1 << np.round(np.log2(spans)).astype(np.intp)
        widths = np.where(widths > len(ramps), widths // 2, widths)
        for part in (lower, upper):
            used = np.flatnonzero(part.first[:, column] >= 0)
            at = part.first[used, column]
            width = widths[at]
            step = np.maximum(width // 4, 1)
            begin = step * ((at - width // 2 + step // 2) // step)
            part.first[used, column] = np.clip(begin, 0, len(ramps) - width)
            part.width[used, column] = width
    return _Boxes(lower, upper)


def _in_turn(
    boxes: _Boxes, splits: Splits, columns: CodedColumns, shares: Sequence[float]
) -> _Boxes:
    """Boxes that have each share of the splits in turn: neighbouring leaves differ in width."""
    parts = []
    for at, share in enumerate(shares):
        part = boxes.take(np.arange(at, boxes.n_boxes, len(shares)))
        parts.append(_widened(part, splits, columns, share) if share > 0 else part)
    return _Boxes.join(parts)


def _spans(weight: Floats, enough: float) -> Integers:
    """For every bin, the number of bins around it that hold enough weight; all where none do.

    Parameters
    ----------
    weight : (n,), of the bins, not negative
    """
    n = len(weight)
    upto = np.concatenate([[0.0], np.cumsum(weight)])
    spans, bins = np.full(n, n), np.arange(n)
    for reach in range(n - 1, -1, -1):
        held = upto[np.minimum(bins + reach + 1, n)] - upto[np.maximum(bins - reach, 0)]
        spans[held >= enough] = min(2 * reach + 1, n)
    return spans


def _neurons(boxes: _Boxes, columns: CodedColumns) -> tuple[Weights, Floats]:
    """Weights and biases of boxes."""
    n = len(boxes.lower.first)
    bias = np.ones(n)
    rows: list[Integers] = [np.zeros(0, dtype=np.intp)]
    codes, values = list(rows), [np.zeros(0)]
    for column, ramps in enumerate(columns.ramps):
        for ends, sign in zip(boxes, (1.0, -1.0), strict=True):
            used = np.flatnonzero(ends.first[:, column] >= 0)
            width = ends.width[used, column]
            row = np.repeat(used, width)
            # A ramp of several bins is the mean of theirs.
            begin = np.repeat(ends.first[used, column] - np.cumsum(width) + width, width)
            code = ramps[begin + np.arange(len(row))]
            height = sign / np.repeat(width, width)
            # Ramps are codes brought to heights 0 and 1.
            rise = columns.one[code] - columns.zero[code]
            rows.append(row)
            codes.append(code)
            values.append(height / rise)
            bias -= np.bincount(row, height * columns.zero[code] / rise, n)
        # I_j - 1 is the ramp up, less one, less the ramp down; without a lower end it begins at 1.
        bias[boxes.lower.first[:, column] >= 0] -= 1.0
    index = (np.concatenate(rows), np.concatenate(codes))
    shape = (n, columns.n_codes)
    return sparse.coo_array((np.concatenate(values), index), shape=shape).tocsr(), bias


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
