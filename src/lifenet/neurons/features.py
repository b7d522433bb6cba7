"""Columns computed from the rows, block by block: what an output layer is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from scipy import linalg

from lifenet.data.coded_rows import CodedBlock

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers, Weights
    from lifenet.data.rows import Block, Rows
    from lifenet.network import ColumnTables

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
    """Activations of a hidden layer: ``relu(weights_j' x + bias_j)``.

    Attributes
    ----------
    weights : (n_neurons, n_inputs); a CSR array where most are zero
    bias : (n_neurons,)
    dtype : of activations of rows whose inputs are codes of columns
    """

    weights: Weights
    bias: Floats
    dtype: type[np.float32 | np.float64] = np.float64

    @property
    def n_features(self) -> int:
        """Number of neurons."""
        return len(self.bias)

    def of(self, block: Block) -> Floats:
        """(n_neurons, n_rows)."""
        features: Floats
        if isinstance(block, CodedBlock):
            features = np.empty((self.n_features, len(block.target)), dtype=self.dtype)
            for neurons, heights in self._tables(block).heights(block.cells):
                features[neurons] = heights.T
        else:
            features = self.weights @ block.inputs[:-1]
            features += self.bias[:, None]
        return np.maximum(features, 0.0, out=features)

    def _tables(self, block: CodedBlock) -> ColumnTables:
        """What each column gives to each neuron, prepared once for all blocks of the same rows."""
        rows, known = block.rows, self.__dict__.get("_known")
        if known is None or known[0] is not rows.coding or known[1] is not rows.scaling:
            tables = rows.tables(self.weights, self.bias, self.dtype)
            known = self.__dict__["_known"] = (rows.coding, rows.scaling, tables)
        found: ColumnTables = known[2]
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_known"}

    def single(self) -> Activations:
        """The same neurons, whose activations of codes are in single precision."""
        return Activations(self.weights, self.bias, np.float32)

    def select(self, index: Integers) -> Activations:
        """Some of the neurons."""
        return Activations(self.weights[index], self.bias[index], self.dtype)


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
