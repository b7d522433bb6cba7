"""What the sparse output layers share: features in the penalty's units, and paths of penalties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.neurons.features import Features
    from lifenet.neurons.layer import Layer

__all__ = [
    "AT_THE_END",
    "CONSTANT",
    "ON_THE_WAY",
    "PASS_ROWS",
    "ROUNDING",
    "Path",
    "Paths",
    "Units",
]

#: Violations of the optimality conditions that are left, as a share of the l1 penalty: on the way,
#: and in the model that is returned.
ON_THE_WAY, AT_THE_END = 1e-3, 1e-7
#: A slope below this share of what the target could give is rounding: there is nothing to explain.
ROUNDING = 1e-11
#: A variance below this share of the mean square is rounding: the feature is constant.
CONSTANT = 1e-12
#: Rows of a block in a pass that adds up little.
PASS_ROWS = 256


class Path(Protocol):
    """Fits at one penalty after another, each from where the last one ended."""

    @property
    def largest(self) -> float:
        """The least penalty that leaves no feature in; zero where none explains anything."""

    def advance(self, penalty: float, tolerance: float) -> Floats:
        """Go to a penalty: the model (n_features + 1, n_outputs), the intercepts last."""

    def loss(self) -> float:
        """Mean loss of the rows fitted."""

    def left_out_loss(self) -> float:
        """Mean loss of the rows left out."""

    @property
    def left_out_weight(self) -> float:
        """Weight of the rows left out."""


@dataclass(frozen=True)
class Paths:
    """The path of all rows, and those that leave out a fold each."""

    whole: Path
    folds: Sequence[Path]


@dataclass(frozen=True)
class Units:
    """Features that vary, about their mean and in the units that the penalty measures them in.

    They are `Features` themselves.

    Attributes
    ----------
    features : those that vary
    center, scale : (n_features,), of those
    indices : (n_features,), their numbers among all
    n_all : number of all features
    """

    features: Features
    center: Floats
    scale: Floats
    indices: Integers
    n_all: int

    @classmethod
    def measure(cls, problem: Problem, layer: Layer) -> Units:
        """Measure the features' means, and leave out those that are constant."""

        def sums(block: Block) -> tuple[Floats, Floats]:
            features = layer.features.of(block)
            return features @ block.weight, np.square(features) @ block.weight

        first, second = problem.rows.sum(sums, PASS_ROWS)
        mean, square = first / problem.rows.total_weight, second / problem.rows.total_weight
        varies = (square - np.square(mean) > CONSTANT * square) & (layer.scale > 0.0)
        indices = np.flatnonzero(varies)
        return cls(
            layer.features.select(indices),
            mean[indices],
            layer.scale[indices],
            indices,
            layer.n_features,
        )

    @property
    def n_features(self) -> int:
        """Number of features that vary."""
        return len(self.indices)

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows)."""
        features = self.features.of(block) - self.center[:, None]
        features /= self.scale[:, None]
        return features

    def select(self, indices: Integers) -> Units:
        """Some of the features, numbered among those that vary."""
        return Units(
            self.features.select(indices),
            self.center[indices],
            self.scale[indices],
            self.indices[indices],
            self.n_all,
        )

    def raw(self, model: Floats) -> Floats:
        """From these units to the features' own: (n_features + 1, .) to (n_all + 1, .)."""
        coefficients = model[:-1] / self.scale[:, None]
        result = np.zeros((self.n_all + 1, model.shape[1]))
        result[self.indices] = coefficients
        result[-1] = model[-1] - self.center @ coefficients
        return result
