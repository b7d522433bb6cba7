"""Made-up rows whose truth is known.

Rows of a seed are nested: the first rows of a large draw are those of a small one. Rows to test on
depend on the seed alone. The noise is such that the truth explains nine tenths of the variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.random import Generator
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

#: Share of the variance of the target that the truth explains.
_SHARE = 0.9
#: Rows from which the deviation of the truth is computed, and their seed.
_REFERENCE_ROWS, _REFERENCE_SEED = 20_000, 2**32 - 1
#: A share of ones of columns of 0 and 1.
_ONES = 0.05


class Rows(NamedTuple):
    """Columns (n, p), target (n,) and the target without noise (n,)."""

    X: Floats
    y: Floats
    truth: Floats


@dataclass(frozen=True)
class Function:
    """A truth of the first columns, and how columns are drawn.

    Attributes
    ----------
    truth : (n, p) -> (n,), a function of the first `n_matter` columns
    columns : (generator, n, p) -> (n, p)
    n_matter : columns that the truth reads
    """

    truth: Callable[[Floats], Floats]
    columns: Callable[[Generator, int, int], Floats]
    n_matter: int = 10

    def rows(self, n: int, p: int, seed: int, *, test: bool = False) -> Rows:
        """Rows to train on, or other rows to test on."""
        if p < self.n_matter:
            raise ValueError(f"The function reads {self.n_matter} columns; {p} are asked for.")
        X = self.columns(np.random.default_rng([seed, 2 * test]), n, p)
        truth = self.truth(X)
        noise = np.random.default_rng([seed, 2 * test + 1]).normal(size=n)
        return Rows(X, truth + self.noise() * noise, truth)

    def noise(self) -> float:
        """Standard deviation of the noise."""
        generator = np.random.default_rng(_REFERENCE_SEED)
        X = self.columns(generator, _REFERENCE_ROWS, self.n_matter)
        return float(np.std(self.truth(X)) * np.sqrt((1 - _SHARE) / _SHARE))


def _uniform(generator: Generator, n: int, p: int) -> Floats:
    return generator.random((n, p))


def _normal(generator: Generator, n: int, p: int) -> Floats:
    return generator.normal(size=(n, p))


def _binary(generator: Generator, n: int, p: int) -> Floats:
    return (generator.random((n, p)) < _ONES).astype(np.float64)


def _smooth(X: Floats) -> Floats:
    """Friedman's first function of five uniform columns, and more of the kind of five others."""
    first = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2
    lines = 10 * X[:, 3] + 5 * X[:, 4]
    second = 8 * X[:, 5] * X[:, 6] + 5 * np.tanh(4 * (X[:, 7] - 0.5))
    return np.asarray(first + lines + second + 6 * np.exp(-3 * X[:, 8]) * np.cos(6 * X[:, 9]))


def _jumps(X: Floats) -> Floats:
    """Steps of single columns and of pairs, a staircase, and smooth parts."""
    steps = 5.0 * (X[:, 0] > 0.3) - 4.0 * (X[:, 0] > 0.7) * (X[:, 1] > 0.5)
    stairs = 2.0 * np.floor(4 * X[:, 2]) + 4.0 * ((X[:, 3] > 0.4) & (X[:, 4] < 0.6))
    waves = 5 * np.sin(6 * X[:, 5]) * X[:, 6] + 8 * (X[:, 7] - 0.5) ** 2
    return np.asarray(steps + stairs + waves + 3 * X[:, 8] * (X[:, 9] > 0.2))


def _mixed(X: Floats) -> Floats:
    """Smooth, with bends, interactions and jumps, of normal columns."""
    smooth = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + np.abs(X[:, 3])
    jumps = 1.5 * (X[:, 4] > 0.3) - (X[:, 5] < -0.5) * (X[:, 6] > 0)
    return np.asarray(smooth + jumps + 0.5 * X[:, 7] ** 2 + X[:, 8] + np.tanh(2 * X[:, 9]))


def _wide_normals(X: Floats) -> Floats:
    """Eight linear parts, three products and six bends of twenty normal columns."""
    lines = X[:, :8] @ np.array([1.0, -0.9, 0.8, -0.7, 0.6, -0.6, 0.5, -0.5])
    products = X[:, 8] * X[:, 9] - 0.8 * X[:, 10] * X[:, 11] + 0.6 * X[:, 12] * X[:, 13]
    bends = np.abs(X[:, 14:17]).sum(axis=1) + np.maximum(X[:, 17:20], 0).sum(axis=1)
    return np.asarray(lines + products + bends)


def _wide_binary(X: Floats) -> Floats:
    """Twenty linear parts and three products of columns of 0 and 1."""
    effects = np.linspace(1.0, 3.0, 20) * np.where(np.arange(20) % 2, -1.0, 1.0)
    products = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] - X[:, 4] * X[:, 5]
    return np.asarray(X[:, :20] @ effects + 3 * products)


FUNCTIONS = {
    "smooth": Function(_smooth, _uniform),
    "jumps": Function(_jumps, _uniform),
    "mixed": Function(_mixed, _normal),
    "normals": Function(_wide_normals, _normal, 20),
    "binary": Function(_wide_binary, _binary, 20),
}


def rmse(prediction: Any, target: Any) -> float:
    """Root of the mean squared difference."""
    return float(np.sqrt(np.mean(np.square(np.asarray(prediction) - target))))
