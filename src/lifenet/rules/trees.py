"""Boosted trees, and the boxes that their leaves are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import threadpoolctl
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from lifenet.losses import SquaredError

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.losses import Loss

__all__ = ["Boxes", "grow_boxes"]


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


def grow_boxes(
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
) -> Boxes:
    """The leaves of scikit-learn's boosted trees.

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
    per_round = 1 if loss.n_outputs == 1 else loss.n_outputs
    model = kind(
        max_iter=max(1, n_trees // per_round),
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
    boxes = [box for stage in model._predictors for tree in stage for box in _leaves(tree, values)]
    empty = np.zeros((0, 2, values.shape[1]))
    both = np.stack(boxes) if boxes else empty
    return Boxes(both[:, 0], both[:, 1])


def _leaves(tree: Any, values: Floats) -> list[Floats]:
    """Bounds of every leaf of a tree that has split, each (2, n_columns)."""
    nodes, p = tree.nodes, values.shape[1]
    if len(nodes) == 1:
        return []
    whole = np.stack([np.full(p, -np.inf), np.full(p, np.inf)])
    found, waiting = [], [(0, whole)]
    while waiting:
        number, box = waiting.pop()
        node = nodes[number]
        if node["is_leaf"]:
            found.append(box)
            continue
        column, threshold = int(node["feature_idx"]), float(node["num_threshold"])
        left, right = box.copy(), box.copy()
        left[1, column] = min(left[1, column], threshold)
        right[0, column] = max(right[0, column], threshold)
        waiting += [(int(node["left"]), left), (int(node["right"]), right)]
    return found
