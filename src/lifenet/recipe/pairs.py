"""Which columns may act together: as given, or the pairs that pay on the validation rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet._threads import one_blas_thread
from lifenet.data.evaluation import some_rows
from lifenet.data.interactions import Interactions, read_groups
from lifenet.data.run import Purpose
from lifenet.neurons.leaves import sample_of
from lifenet.neurons.trees import TreeSettings, grow_trees

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Groups
    from lifenet.data.run import Run
    from lifenet.losses import Loss
    from lifenet.neurons.trees import Sample, Trees

__all__ = ["BestPairs", "Part", "restrict", "step_gains"]

# Pairs for each column, at most: those of EBM's default, interactions="3x" (interpret 0.7.8).
_PAIRS_A_COLUMN = 3
# Trees of main effects: their number for an output, leaves and learning rate.
_TREES, _LEAVES, _RATE = 150, 4, 0.15
# Bins of a column in the finest table of a pair, and how many of them are one in the others.
_BINS, _MERGED = 8, (1, 2, 4)
# Cells of a table are shrunk as if so many rows more said nothing.
_SHRINKAGE = 10.0
# Folds that are enough, and rows of a fold; of many pairs fewer rows, so that rows times pairs
# stay below a number. These and all above were chosen by hand.
_MOST_FOLDS, _MOST_ROWS, _FEWEST_ROWS, _ROWS_TIMES_PAIRS = 5, 20_000, 1_000, 200_000_000
# Share of the time after which no further fold is asked. Chosen by hand.
_ASKED_BY = 0.1
# Where there is room for this share of all pairs, a pair is taken unless it raises the loss by so
# many standard errors: leaving a few out protects little. See docs/ablations.md.
_NEARLY_ALL, _STANDARD_ERRORS = 2 / 3, 1.0
_TINY = 1e-300


@dataclass(repr=False)
class BestPairs(Settings):
    """Main effects, and the pairs of columns that lower the loss of the validation rows most.

    On the training rows of each fold, boosted trees of single columns are grown. A step of Newton's
    method in each cell of a two-way table of coarse bins then says what a pair can add to them (the
    search of FAST). Its gain is what this step lowers the loss of the fold's validation rows by
    (without any, of the training rows), beyond what the same step does in the bins of either column
    alone. All folds take the same pairs: those with the largest gains in all, as far as these are
    positive. Where there is room for two thirds of all pairs, only those that raise the loss by one
    standard error are left out.

    Parameters
    ----------
    n_pairs : int or "auto", default="auto"
        Most pairs. "auto" takes three for each column, as explainable boosting machines do.

    References
    ----------
    Lou, Caruana, Gehrke and Hooker, "Accurate intelligible models with pairwise interactions",
    2013.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_pairs": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    }

    n_pairs: int | str = "auto"

    #: Trees see one number for each column.
    needs_ramps: ClassVar[bool] = True

    def choose(self, folds: Sequence[Fold], columns_of: Groups, run: Run) -> Groups:
        """Every column alone, and the pairs, the one with the largest gain first.

        Parameters
        ----------
        columns_of : the columns of numbers of each column that is meant
        """
        n_columns = len(columns_of)
        singles = read_groups("no_interactions", n_columns)
        most = _PAIRS_A_COLUMN * n_columns if isinstance(self.n_pairs, str) else self.n_pairs
        if n_columns < 2 or most == 0:
            return singles
        pairs = read_groups("pairwise", n_columns)
        finer, which = _pairs_of_columns(pairs, columns_of)
        found, by = np.zeros((len(_MERGED), 2, len(finer))), run.deadline.rest(_ASKED_BY)
        with one_blas_thread():
            for number, fold in enumerate(folds[:_MOST_FOLDS]):
                if number > 0 and by.passed:
                    break
                found += _gains_of_pairs(fold, finer, run)
        gain, square = _largest(found, which, len(pairs))
        order = np.argsort(-gain, kind="stable")[:most].tolist()
        lenient = most >= _NEARLY_ALL * len(pairs)
        pays = gain > (-_STANDARD_ERRORS * np.sqrt(square) if lenient else 0.0)
        return (*singles, *(pairs[one] for one in order if pays[one]))


def _pairs_of_columns(pairs: Groups, columns_of: Groups) -> tuple[Groups, Integers]:
    """Pairs of the columns of numbers, and the number of the pair that each belongs to."""
    finer, which = [], []
    for number, (first, second) in enumerate(pairs):
        of_pair = list(product(columns_of[first], columns_of[second]))
        finer += of_pair
        which += [number] * len(of_pair)
    return tuple(finer), np.array(which, dtype=np.intp)


def _largest(found: Floats, which: Integers, n_pairs: int) -> tuple[Floats, Floats]:
    """The largest gain of each pair, over tables and columns of numbers, and its square, (n,)."""
    gains, squares = np.moveaxis(found, 1, 0)
    finest = gains.argmax(axis=0), np.arange(len(which))
    gain, square = gains[finest], squares[finest]
    order = np.lexsort((-gain, which))
    first = order[np.searchsorted(which[order], np.arange(n_pairs))]
    return gain[first], square[first]


def restrict(
    data: Inputs, folds: Sequence[Fold], interaction_cst: Any, run: Run
) -> tuple[Inputs, list[Fold]]:
    """Data and folds that say which columns a neuron may read together."""
    if interaction_cst is None:
        return data, list(folds)
    features = data.features
    if hasattr(interaction_cst, "choose"):
        groups = interaction_cst.choose(folds, features, run)
    elif isinstance(interaction_cst, str):
        groups = read_groups(interaction_cst, len(features))
    else:
        groups = _by_feature(read_groups(interaction_cst, data.n_columns, data.names), data)
    known = Interactions.of(groups, data.groups, features)
    return replace(data, interactions=known), [replace(one, interactions=known) for one in folds]


def _by_feature(groups: Groups, data: Inputs) -> Groups:
    """Groups of the user's columns as groups of features: a date has its parts with it."""
    number = {column: at for at, columns in enumerate(data.features) for column in columns}
    own = [{number[column] for column in columns} for columns in data.columns_of]
    return tuple(tuple(sorted(set().union(*(own[one] for one in group)))) for group in groups)


class Part(NamedTuple):
    """Rows of a fold after the main effects.

    Attributes
    ----------
    bins : (n_columns, n_rows)
    slope, curvature : (n_outputs, n_rows), derivatives of the loss in the scores, by weight
    """

    bins: Integers
    slope: Floats
    curvature: Floats

    @classmethod
    def of(cls, sample: Sample, trees: Trees, loss: Loss, edges: Sequence[Floats]) -> Part:
        """Rows whose scores are those of the trees, in bins with these edges."""
        score = trees.scores(sample.values, [trees.n_rounds])[0]
        pairs = zip(edges, sample.values.T, strict=True)
        return cls(
            np.stack([np.searchsorted(ends, values) for ends, values in pairs]),
            (loss.gradient(sample.target, score) * sample.weight[:, None]).T,
            (loss.curvature(sample.target, score) * sample.weight[:, None]).T,
        )

    def merged(self, n: int) -> Part:
        """With n neighbouring bins as one."""
        return self._replace(bins=self.bins // n)


def _gains_of_pairs(fold: Fold, pairs: Groups, run: Run) -> Floats:
    """By how much pairs lower the loss of a fold's validation rows.

    Returns
    -------
    (n_tables, 2, n_pairs) : for each size of tables, sums over the rows, and of the squares
    """
    columns, loss = fold.columns, fold.train.loss
    assert columns is not None
    most = int(np.clip(_ROWS_TIMES_PAIRS // len(pairs), _FEWEST_ROWS, _MOST_ROWS))
    train = some_rows(fold.train, most)
    validation = train if fold.validation is None else some_rows(fold.validation, most)
    sample, unseen = sample_of(train, columns), sample_of(validation, columns)
    rows = max(1, min(20, train.rows.n_rows // 40))
    alone = read_groups("no_interactions", columns.n_columns)
    settings = TreeSettings(_LEAVES, rows, _RATE, 1.0, alone)
    seed = run.child_seed(fold, Purpose.PAIRS)
    trees = grow_trees(sample, loss, settings, _TREES * loss.n_outputs, seed)
    levels = np.arange(1, _BINS) / _BINS
    edges = [
        np.unique(np.quantile(values, levels, method="inverted_cdf")) for values in sample.values.T
    ]
    seen, new = (Part.of(one, trees, loss, edges) for one in (sample, unseen))
    return np.stack([_gains(seen.merged(n), new.merged(n), pairs) for n in _MERGED])


def _gains(train: Part, unseen: Part, pairs: Groups) -> Floats:
    """Sums of gains, and of their squares, of tables of one size, (2, n_pairs)."""
    single = []
    for seen, new in zip(train.bins, unseen.bins, strict=True):
        gain = step_gains(train, unseen, seen, new)
        # What a column still adds by itself is no interaction.
        single.append(gain if gain.sum() > 0 else np.zeros_like(gain))
    found = np.empty((2, len(pairs)))
    for number, (one, other) in enumerate(pairs):
        cells = (part.bins[one] * _BINS + part.bins[other] for part in (train, unseen))
        gain = step_gains(train, unseen, *cells) - single[one] - single[other]
        found[:, number] = gain.sum(), np.square(gain).sum()
    return found


def step_gains(train: Part, unseen: Part, seen: Integers, new: Integers) -> Floats:
    """What a step of Newton's method in every cell lowers the loss of each unseen row by.

    Parameters
    ----------
    seen, new : cells of the training rows and of the others
    """
    total, n_cells = np.zeros(len(new)), _BINS * _BINS
    for output, (slope, curvature) in enumerate(zip(train.slope, train.curvature, strict=True)):
        weight = np.bincount(seen, curvature, n_cells) + _SHRINKAGE * curvature.mean()
        step = (-np.bincount(seen, slope, n_cells) / np.maximum(weight, _TINY))[new]
        total -= (unseen.slope[output] + 0.5 * unseen.curvature[output] * step) * step
    return total
