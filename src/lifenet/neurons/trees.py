"""Boosted trees of scikit-learn, and the bounds of their leaves: the one adapter to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from lifenet._threads import one_openmp_thread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.interactions import Groups
    from lifenet.losses import Loss

__all__ = ["LeafBounds", "Sample", "Splits", "TreeSettings", "Trees", "grow_trees"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows as trees see them.

    Attributes
    ----------
    values : (n_rows, n_columns)
    target, weight : (n_rows,)
    """

    values: Floats
    target: Floats
    weight: Floats


class TreeSettings(NamedTuple):
    """Settings of boosted trees, by scikit-learn's names."""

    max_leaf_nodes: int
    min_samples_leaf: int
    learning_rate: float
    max_features: float
    interaction_cst: Groups | None = None


@dataclass(frozen=True, eq=False)
class LeafBounds:
    """Leaves as boxes: a row is inside where ``lower < x <= upper`` in every column.

    Attributes
    ----------
    lower, upper : (n_leaves, n_columns), infinite where the leaf does not split by a column
    """

    lower: Floats
    upper: Floats

    def __len__(self) -> int:
        return len(self.lower)


class Splits(NamedTuple):
    """Splits of trees: the column, the threshold, and by how much it lowers the loss, (n,) each."""

    column: Integers
    threshold: Floats
    gain: Floats


@dataclass(frozen=True, eq=False)
class Trees:
    """Boosted trees, and what they are made of.

    Attributes
    ----------
    model : fitted, `n_rounds` rounds of one tree, or one for each of several classes
    n_columns, n_outputs : of values and of scores
    """

    model: Any
    n_columns: int
    n_outputs: int

    @property
    def n_rounds(self) -> int:
        """Number of rounds."""
        return len(self.model._predictors)

    def intercept(self, n_rounds: int | None = None) -> Floats:
        """The score before the first round, and what trees without a split add, (n_outputs,)."""
        start: Floats = np.ravel(self.model._baseline_prediction).astype(np.float64)
        for trees in self.model._predictors[:n_rounds]:
            for output, tree in enumerate(trees):
                if len(tree.nodes) == 1:
                    start[output] += float(tree.nodes[0]["value"])
        return start

    def leaves(self, n_rounds: int | None = None) -> tuple[LeafBounds, Floats]:
        """Every leaf of the first rounds, and what it adds to the scores, (n_leaves, n_outputs)."""
        bounds, heights = [], []
        for trees in self.model._predictors[:n_rounds]:
            for output, tree in enumerate(trees):
                for ends, value in _leaves(tree, self.n_columns):
                    bounds.append(ends)
                    heights.append(value * np.eye(self.n_outputs)[output])
        both = np.stack(bounds) if bounds else np.zeros((0, 2, self.n_columns))
        height = np.stack(heights) if heights else np.zeros((0, self.n_outputs))
        return LeafBounds(both[:, 0], both[:, 1]), height

    def splits(self, n_rounds: int | None = None) -> Splits:
        """Every split of the first rounds."""
        nodes = [
            tree.nodes[tree.nodes["is_leaf"] == 0]
            for trees in self.model._predictors[:n_rounds]
            for tree in trees
        ]
        names = ("feature_idx", "num_threshold", "gain")
        return Splits(*(np.concatenate([one[name] for one in nodes]) for name in names))

    def scores(self, values: Floats, rounds: Sequence[int]) -> list[Floats]:
        """Scores after each of some numbers of rounds, each (n_rows, n_outputs)."""
        staged = getattr(self.model, "staged_decision_function", self.model.staged_predict)
        wanted, found = set(rounds), {}
        with one_openmp_thread():
            for number, score in enumerate(staged(values), 1):
                if number in wanted:
                    found[number] = score.reshape(len(values), self.n_outputs)
        return [found[number] for number in rounds]


def grow_trees(
    sample: Sample,
    loss: Loss,
    settings: TreeSettings,
    n_trees: int,
    seed: np.random.SeedSequence,
    first: Sequence[tuple[int, dict[str, Any]]] = (),
) -> Trees:
    """Boosted trees of the rows.

    Parameters
    ----------
    n_trees : with these settings; several classes share them
    first : trees that come before: their number, and the settings in which they differ
    """
    classes = loss.tree_loss == "log_loss"
    kind = HistGradientBoostingClassifier if classes else HistGradientBoostingRegressor
    model = kind(
        loss=loss.tree_loss,
        early_stopping=False,
        warm_start=True,
        random_state=int(seed.generate_state(1)[0] % 2**31),
        **settings._asdict(),
    )
    # No sum may depend on the number of cores; networks are trained side by side instead.
    with one_openmp_thread():
        # Weights, even all the same, make its binning of columns take most of the time.
        weight = None if np.all(sample.weight == sample.weight[0]) else sample.weight
        target = sample.target.astype(np.intp) if classes else sample.target
        n_rounds = 0
        for number, other in (*first, (n_trees, {})):
            n_rounds += max(1, number // loss.n_outputs)
            model.set_params(max_iter=n_rounds, **{**settings._asdict(), **other})
            model.fit(sample.values, target, weight)
    return Trees(model, sample.values.shape[1], loss.n_outputs)


def _leaves(tree: Any, n_columns: int) -> list[tuple[Floats, float]]:
    """Bounds of every leaf of a tree that has split, each (2, n_columns), and its height."""
    nodes = tree.nodes
    if len(nodes) == 1:
        return []
    whole = np.stack([np.full(n_columns, -np.inf), np.full(n_columns, np.inf)])
    found, waiting = [], [(0, whole)]
    while waiting:
        number, ends = waiting.pop()
        node = nodes[number]
        if node["is_leaf"]:
            found.append((ends, float(node["value"])))
            continue
        column, threshold = int(node["feature_idx"]), float(node["num_threshold"])
        left, right = ends.copy(), ends.copy()
        left[1, column] = min(left[1, column], threshold)
        right[0, column] = max(right[0, column], threshold)
        waiting += [(int(node["left"]), left), (int(node["right"]), right)]
    return found
