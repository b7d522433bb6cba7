"""Tables of few values and their codes: at their rows, leaves are exact indicators."""

from __future__ import annotations

import dataclasses

import numpy as np

from lifenet.data.coded_rows import CodedRows
from lifenet.data.codes import QuantileCoding
from lifenet.data.columns import CodedColumns, coded_columns
from lifenet.data.problem import Problem
from lifenet.losses import Logistic, SquaredError
from lifenet.neurons.trees import Sample, TreeSettings, grow_trees

SETTINGS = TreeSettings(max_leaf_nodes=6, min_samples_leaf=8, learning_rate=0.3, max_features=0.5)
N_TREES, SEED = 9, 3
SQUARED = SquaredError()


def few_valued(n=400, seed=0):
    """Three columns of few integers, unevenly apart, two of two values and a constant one."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.integers(0, 8, n),
            rng.choice([0.0, 1.0, 4.0, 9.0, 100.0], n),
            rng.integers(0, 3, n),
            rng.integers(0, 2, n),
            rng.choice([-3.0, 5.0], n),
            np.full(n, 7.0),
        ]
    ).astype(float)


def target_of(X, loss=SQUARED, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    score = X[:, 0] * (X[:, 1] > 2) - 4 * X[:, 3] + 2 * (X[:, 2] == 1) * (X[:, 4] > 0) + noise
    if isinstance(loss, SquaredError):
        return score
    edges = [0.0] if isinstance(loss, Logistic) else [-1.0, 2.0]
    return np.searchsorted(edges, score).astype(float)


@dataclasses.dataclass
class Coded:
    """A table, its codes, and what the codes say of it."""

    X: np.ndarray
    coding: object
    rows: CodedRows
    columns: CodedColumns

    @classmethod
    def of(cls, X, weight=None, dtype=np.float64, max_bins=64):
        X = X.astype(dtype)
        coding = QuantileCoding("full", max_bins=max_bins, min_values=2).learn(X, weight)
        rows = CodedRows.of(X, coding, np.zeros(len(X)), weight).standardised()
        return cls(X, coding, rows, coded_columns(rows))

    def inputs(self, X=None):
        """Standardised codes of any rows, and one."""
        codes = self.coding.encode(self.X if X is None else X)
        scaling = self.rows.scaling
        return np.column_stack([(codes - scaling.center) / scaling.scale, np.ones(len(codes))])

    def values(self):
        return self.inputs()[:, self.columns.value]

    def problem(self, target, loss=SQUARED):
        """A loss on the coded rows."""
        return Problem(self.rows.with_target(target), loss)


def grow(values, target, loss=SQUARED, weight=None, n_trees=N_TREES, seed=SEED, **settings):
    """Trees of rows whose values are given."""
    weight = np.ones(len(values)) if weight is None else weight
    sample, chosen = Sample(values, target, weight), SETTINGS._replace(**settings)
    return grow_trees(sample, loss, chosen, n_trees, np.random.SeedSequence(seed))


def inside(leaves, values):
    """Which rows lie in which leaves, (n_leaves, n_rows)."""
    return np.array(
        [
            np.all((low < values) & (values <= high), axis=1)
            for low, high in zip(leaves.lower, leaves.upper, strict=True)
        ]
    )
