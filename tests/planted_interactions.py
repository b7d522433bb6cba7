"""Functions whose interactions are known, with their gradients: truth for what networks show.

Each is read like a network, so that the same procedure applied to the truth says how strong each
pair really is. Tests and benchmarks both import it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit, ndtr

from lifenet.network import PiecewiseLinear

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["BLIND", "PLANTED", "Planted", "separation"]

#: Noise, as a part of the score's standard deviation.
NOISE = 0.1


@dataclass(frozen=True, eq=False)
class Planted:
    """A smooth function of some predictors with known interactions.

    Attributes
    ----------
    name : of the function
    n_features : number of predictors; those that it does not use are noise
    pairs : the predictors that interact, by number
    uniform : whether predictors are uniform on [0, 1]; else standard normal
    value : rows (n, p) -> (n,)
    slopes : rows (n, p) -> {column: (n,)}, the columns with a slope that is not zero
    """

    name: str
    n_features: int
    pairs: frozenset[tuple[int, int]]
    value: Callable
    slopes: Callable
    uniform: bool = False
    n_outputs: int = 1

    def draw(self, n_samples, correlation, seed):
        """Predictors, equally correlated as normal variables, and a noisy response."""
        generator = np.random.default_rng(seed)
        common = generator.normal(size=(n_samples, 1))
        own = generator.normal(size=(n_samples, self.n_features))
        X = np.sqrt(correlation) * common + np.sqrt(1 - correlation) * own
        X = ndtr(X) if self.uniform else X
        score = self.value(X)
        return X, score + NOISE * score.std() * generator.normal(size=n_samples)

    def score(self, X):
        return self.value(np.asarray(X))[:, None]

    def gradient(self, X):
        X = np.asarray(X)
        gradient = np.zeros((len(X), self.n_features, 1))
        for column, slope in self.slopes(X).items():
            gradient[:, column, 0] = slope
        return gradient

    def moves(self, rows, targets):
        """Change of the score as each column alone goes to each target, (s, n, p, 1)."""
        return np.stack(
            [
                np.stack([self._moved(rows, table, at) for at in range(self.n_features)], axis=1)
                for table in np.asarray(targets)
            ]
        )

    def along(self, rows, column):
        return _Along(self, np.asarray(rows), column)

    def _moved(self, rows, targets, column):
        mixed = np.array(rows, dtype=np.float64)
        mixed[:, column] = targets[:, column]
        return self.score(mixed) - self.score(rows)


@dataclass(frozen=True, eq=False)
class _Along:
    """A planted function along one column."""

    planted: Planted
    rows: np.ndarray
    column: int

    def increment(self, low, high):
        ends = [np.array(self.rows, dtype=np.float64) for _ in range(2)]
        for rows, end in zip(ends, (low, high), strict=True):
            rows[:, self.column] = end
        return self.planted.score(ends[1]) - self.planted.score(ends[0])

    def mean(self, grid, weight=None):
        return np.array([np.average(self._at(value), axis=0, weights=weight) for value in grid])

    def _at(self, value):
        rows = np.array(self.rows, dtype=np.float64)
        rows[:, self.column] = value
        return self.planted.score(rows)


def _not_needed(self, *arguments):
    raise NotImplementedError("Planted functions have scores and slopes, and no neurons.")


# Explanations take what has the whole reading interface, whatever of it they use.
for _name in vars(PiecewiseLinear):
    if not _name.startswith("_") and _name not in {*vars(Planted), *Planted.__annotations__}:
        setattr(Planted, _name, _not_needed)


def _products(X):
    return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + X[:, 4] ** 2 / 2 + X[:, 5] - np.sin(2 * X[:, 6])


def _products_slopes(X):
    return {
        0: X[:, 1],
        1: X[:, 0],
        2: X[:, 3],
        3: X[:, 2],
        4: X[:, 4],
        5: np.ones(len(X)),
        6: -2 * np.cos(2 * X[:, 6]),
    }


def _hinges(X):
    return (
        2 * np.maximum(X[:, 0] + X[:, 1], 0)
        + np.maximum(X[:, 2] - X[:, 3], 0) * 2
        + X[:, 4]
        + np.abs(X[:, 5])
    )


def _hinges_slopes(X):
    one, two = 2.0 * (X[:, 0] + X[:, 1] > 0), 2.0 * (X[:, 2] > X[:, 3])
    return {0: one, 1: one, 2: two, 3: -two, 4: np.ones(len(X)), 5: np.sign(X[:, 5])}


def _friedman(X):
    """The first function of Friedman (1991)."""
    return (
        10 * np.sin(np.pi * X[:, 0] * X[:, 1])
        + 20 * (X[:, 2] - 0.5) ** 2
        + 10 * X[:, 3]
        + 5 * X[:, 4]
    )


def _friedman_slopes(X):
    wave = 10 * np.pi * np.cos(np.pi * X[:, 0] * X[:, 1])
    ones = np.ones(len(X))
    return {
        0: wave * X[:, 1],
        1: wave * X[:, 0],
        2: 40 * (X[:, 2] - 0.5),
        3: 10 * ones,
        4: 5 * ones,
    }


def _gates(X):
    return 2 * X[:, 0] * expit(3 * X[:, 1]) + X[:, 3] * np.tanh(X[:, 2]) + np.cos(X[:, 4]) - X[:, 5]


def _gates_slopes(X):
    gate, bend = expit(3 * X[:, 1]), np.tanh(X[:, 2])
    return {
        0: 2 * gate,
        1: 6 * X[:, 0] * gate * (1 - gate),
        2: X[:, 3] * (1 - bend**2),
        3: bend,
        4: -np.sin(X[:, 4]),
        5: -np.ones(len(X)),
    }


def _chain(X):
    return X[:, 1] * (X[:, 0] + X[:, 2]) + 2 * np.cos(X[:, 3]) + X[:, 4]


def _chain_slopes(X):
    return {
        0: X[:, 1],
        1: X[:, 0] + X[:, 2],
        2: X[:, 1],
        3: -2 * np.sin(X[:, 3]),
        4: np.ones(len(X)),
    }


def _one_way(X):
    """The slope of column 0 is nil in the mean over column 0: one direction alone shows it."""
    middle = 2 * X - 1
    return 4 * middle[:, 0] ** 2 * middle[:, 1] + 2 * middle[:, 2] * middle[:, 3] + middle[:, 4]


def _one_way_slopes(X):
    middle = 2 * X - 1
    return {
        0: 16 * middle[:, 0] * middle[:, 1],
        1: 8 * middle[:, 0] ** 2,
        2: 4 * middle[:, 3],
        3: 4 * middle[:, 2],
        4: 2 * np.ones(len(X)),
    }


PLANTED = (
    Planted("products", 8, frozenset({(0, 1), (2, 3)}), _products, _products_slopes),
    Planted("hinges", 8, frozenset({(0, 1), (2, 3)}), _hinges, _hinges_slopes),
    Planted("friedman", 10, frozenset({(0, 1)}), _friedman, _friedman_slopes, uniform=True),
    Planted("gates", 7, frozenset({(0, 1), (2, 3)}), _gates, _gates_slopes),
    Planted("chain", 6, frozenset({(0, 1), (1, 2)}), _chain, _chain_slopes),
    Planted("one way", 8, frozenset({(0, 1), (2, 3)}), _one_way, _one_way_slopes, uniform=True),
)


def _blind_square(X):
    return (X[:, 0] ** 2 - 1) * (X[:, 1] ** 2 - 1)


def _blind_square_slopes(X):
    first, second = X[:, 0], X[:, 1]
    return {0: 2 * first * (second**2 - 1), 1: 2 * second * (first**2 - 1)}


def _triple(X):
    return X[:, 0] * X[:, 1] * X[:, 2]


def _triple_slopes(X):
    return {0: X[:, 1] * X[:, 2], 1: X[:, 0] * X[:, 2], 2: X[:, 0] * X[:, 1]}


#: What the two-stage measure cannot see where predictors are independent.
BLIND = (
    Planted("squares", 6, frozenset({(0, 1)}), _blind_square, _blind_square_slopes),
    Planted("triple", 6, frozenset({(0, 1), (0, 2), (1, 2)}), _triple, _triple_slopes),
)


def separation(pair, true_pairs):
    """The weakest of the true pairs over the strongest of the others; above 1 where all rank first.

    Parameters
    ----------
    pair : (p, p) symmetric strengths
    true_pairs : pairs of columns, the lower number first
    """
    first, second = np.triu_indices(len(pair), 1)
    true = np.array([(j, k) in true_pairs for j, k in zip(first, second, strict=True)])
    values = pair[first, second]
    return float(values[true].min() / values[~true].max())
