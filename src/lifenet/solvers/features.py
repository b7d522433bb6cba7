"""Columns computed from the rows, block by block: what a linear read-out is fitted to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import linalg, sparse

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.blocks import Block, Rows

__all__ = ["Activations", "Columns", "Features", "Inputs", "Spanned", "span_of_rows"]


class Features(Protocol):
    """Columns computed from the rows, block by block."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    def of(self, block: Block) -> Floats:
        """The columns of a block, feature-major: (n_features, n_rows)."""

    def select(self, places: Integers) -> Features:
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

    def select(self, places: Integers) -> Activations:
        """Some of the neurons."""
        return Activations(self.theta[places])


@dataclass(frozen=True)
class Inputs:
    """All of the rows' own columns: features that were computed before.

    Attributes
    ----------
    n_features : number of columns
    """

    n_features: int

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows), only to read."""
        return block.inputs[:-1]

    def select(self, places: Integers) -> Columns:
        """Some of the columns."""
        return Columns(places)


@dataclass(frozen=True)
class Columns:
    """The rows' own columns at some places."""

    places: Integers

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.places)

    def of(self, block: Block) -> Floats:
        """(n_features, n_rows)."""
        return np.asarray(block.inputs[self.places])

    def select(self, places: Integers) -> Columns:
        """Some of the columns."""
        return Columns(self.places[places])


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

    def select(self, places: Integers) -> Spanned:
        """Some of the columns."""
        return Spanned(self.features, self.basis[:, places])


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
