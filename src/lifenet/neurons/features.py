"""Columns computed from the rows, block by block: what an output layer is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import linalg, sparse

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.rows import Block, Rows

__all__ = ["Activations", "Columns", "Features", "GivenColumns", "Spanned", "span_of_rows"]


class Features(Protocol):
    """Columns computed from the rows, block by block."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def of(self, block: Block) -> Floats:
        """The columns of a block, feature-major: (n_features, n_rows)."""

    def select(self, index: Integers) -> Features:
        """Some of the columns."""


@dataclass(frozen=True)
class Activations:
    """Activations of a hidden layer: ``relu(theta_j' (x, 1))``, theta (n_neurons, n_inputs + 1).

    Where most weights are zero, theta may be a sparse array.
    """

    theta: Floats | sparse.csr_array

    @property
    def n_features(self) -> int:
        """Number of neurons."""
        return int(self.theta.shape[0])

    def of(self, block: Block) -> Floats:
        """(n_neurons, n_rows)."""
        features: Floats = self.theta @ block.inputs
        return np.maximum(features, 0.0, out=features)

    def select(self, index: Integers) -> Activations:
        """Some of the neurons."""
        return Activations(self.theta[index])

    @property
    def dense(self) -> Floats:
        """Weights and biases as an array."""
        return self.theta.toarray() if sparse.issparse(self.theta) else self.theta

    def compact(self) -> Activations:
        """The same neurons, held sparsely where most of their weights are zero."""
        theta = self.dense
        if 2 * np.count_nonzero(theta) > theta.size:
            return Activations(theta)
        return Activations(sparse.csr_array(theta))


@dataclass(frozen=True)
class GivenColumns:
    """All of the rows' own columns: features that were computed before.

    Attributes
    ----------
    n_features : number of columns
    """

    n_features: int

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows), only to read."""
        return block.inputs[:-1]

    def select(self, index: Integers) -> Columns:
        """Some of the columns."""
        return Columns(index)


@dataclass(frozen=True)
class Columns:
    """The rows' own columns at some indices."""

    index: Integers

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.index)

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows)."""
        return np.asarray(block.inputs[self.index])

    def select(self, index: Integers) -> Columns:
        """Some of the columns."""
        return Columns(self.index[index])


@dataclass(frozen=True)
class Spanned:
    """Other features in a basis of fewer: ``basis' features``.

    Attributes
    ----------
    basis : (n_all, n_features); coefficients of these features times it are those of the others
    """

    features: Features
    basis: Floats

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.basis.shape[1])

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows)."""
        return np.asarray(self.basis.T @ self.features.of(block))

    def select(self, index: Integers) -> Spanned:
        """Some of the columns."""
        return Spanned(self.features, self.basis[:, index])


def span_of_rows(features: Features, scale: Floats, rows: Rows) -> Spanned | None:
    """Features over their scale in a basis of what the rows span; None where the rows are more.

    A fit with a penalty on scaled coefficients has no part outside of that span: nothing is lost,
    and much is saved. The basis is orthonormal, so that the penalty stays what it was.
    """
    if rows.n_rows >= features.n_features:
        return None
    table = rows.collect(features.of) / scale[:, None]
    basis = linalg.qr(table, mode="economic", check_finite=False)[0]
    return Spanned(features, basis / scale[:, None])
