"""Boosted trees, and the boxes that their leaves are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import threadpoolctl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from lifenet.losses import SquaredError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.losses import Loss

__all__ = ["Boosted", "Boxes", "grow_boxes", "grow_trees"]


@dataclass(frozen=True, eq=False)
class Boxes:
    """Leaves as boxes: a row is inside where ``lower < x <= upper`` in every column.

    Attributes
    ----------
    lower, upper : (n_boxes, n_columns), infinite where a column is not asked
    """

    lower: Floats
    upper: Floats

    def __len__(self) -> int:
        return len(self.lower)


@dataclass(frozen=True, eq=False)
class Boosted:
    """Boosted trees of scikit-learn, and what they are made of.

    Attributes
    ----------
    model : as it was fitted, `n_rounds` rounds of one tree, or one for each of several classes
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

    def boxes(self, n_rounds: int | None = None) -> tuple[Boxes, Floats]:
        """Every leaf of the first rounds, and what it adds to the scores, (n_boxes, n_outputs)."""
        bounds, heights = [], []
        for trees in self.model._predictors[:n_rounds]:
            for output, tree in enumerate(trees):
                for box, value in _leaves(tree, self.n_columns):
                    bounds.append(box)
                    heights.append(value * np.eye(self.n_outputs)[output])
        both = np.stack(bounds) if bounds else np.zeros((0, 2, self.n_columns))
        height = np.stack(heights) if heights else np.zeros((0, self.n_outputs))
        return Boxes(both[:, 0], both[:, 1]), height

    def scores(self, values: Floats, rounds: Sequence[int]) -> list[Floats]:
        """Scores after each of some numbers of rounds, each (n_rows, n_outputs)."""
        staged = getattr(self.model, "staged_decision_function", self.model.staged_predict)
        wanted, found = set(rounds), {}
        with threadpoolctl.threadpool_limits(limits=1, user_api="openmp"):
            for number, score in enumerate(staged(values), 1):
                if number in wanted:
                    found[number] = score.reshape(len(values), self.n_outputs)
        return [found[number] for number in rounds]


def grow_trees(
    values: Floats,
    target: Floats,
    weight: Floats,
    loss: Loss,
    *,
    n_trees: int,
    n_leaves: int,
    learning_rate: float,
    min_leaf: int,
    columns: float,
    seed: int,
) -> Boosted:
    """Boosted trees of scikit-learn.

    Parameters
    ----------
    values : (n_rows, n_columns)
    n_trees : in all; several classes share them
    n_leaves : most leaves of a tree
    min_leaf : fewest rows of a leaf
    columns : share of the columns that a split chooses from
    """
    squared = isinstance(loss, SquaredError)
    kind = HistGradientBoostingRegressor if squared else HistGradientBoostingClassifier
    model = kind(
        max_iter=max(1, n_trees // loss.n_outputs),
        learning_rate=learning_rate,
        max_leaf_nodes=n_leaves,
        min_samples_leaf=min_leaf,
        max_features=columns,
        early_stopping=False,
        random_state=seed,
    )
    # No sum may depend on the number of cores; networks are trained side by side instead.
    with threadpoolctl.threadpool_limits(limits=1, user_api="openmp"):
        # Weights, even all the same, make its binning of columns take most of the time.
        same = bool(np.all(weight == weight[0]))
        model.fit(values, target if squared else target.astype(np.intp), None if same else weight)
    return Boosted(model, values.shape[1], loss.n_outputs)


def grow_boxes(
    values: Floats, target: Floats, weight: Floats, loss: Loss, **settings: Any
) -> Boxes:
    """The leaves of boosted trees; settings are those of `grow_trees`."""
    return grow_trees(values, target, weight, loss, **settings).boxes()[0]


def _leaves(tree: Any, n_columns: int) -> list[tuple[Floats, float]]:
    """Bounds of every leaf of a tree that has split, each (2, n_columns), and its height."""
    nodes = tree.nodes
    if len(nodes) == 1:
        return []
    whole = np.stack([np.full(n_columns, -np.inf), np.full(n_columns, np.inf)])
    found, waiting = [], [(0, whole)]
    while waiting:
        number, box = waiting.pop()
        node = nodes[number]
        if node["is_leaf"]:
            found.append((box, float(node["value"])))
            continue
        column, threshold = int(node["feature_idx"]), float(node["num_threshold"])
        left, right = box.copy(), box.copy()
        left[1, column] = min(left[1, column], threshold)
        right[0, column] = max(right[0, column], threshold)
        waiting += [(int(node["left"]), left), (int(node["right"]), right)]
    return found
