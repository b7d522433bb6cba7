"""What every explanation starts from: a network, the rows it is read on, and their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.network import PiecewiseLinear
from lifenet.schema import FeatureSchema, check_finite

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers

__all__ = [
    "Sample",
    "check_network",
    "check_output",
    "check_weight",
    "schema_of",
    "sums_by",
    "table_of",
]


@dataclass(frozen=True, eq=False)
class Sample:
    """One output of a network on rows with weights and names; made by `of`, which checks.

    Rows of weight zero are left out, so that they count for nothing anywhere.

    Attributes
    ----------
    network : what is explained
    X : ndarray of float64, shape (n_samples, n_columns)
    weight : ndarray of shape (n_samples,), all positive, with sum 1
    schema : names, groups and training ranges of the columns
    output : which of the network's scores
    rows : ndarray of shape (n_samples,), the index of each row in the table that was given
    total : how many rows the weights stand for: their sum, but never fewer than there are rows, so
        that weights that were divided by their sum do not count as a single row
    """

    network: PiecewiseLinear
    X: Floats
    weight: Floats
    schema: FeatureSchema
    output: int
    rows: Integers
    total: float

    @classmethod
    def of(
        cls,
        network: PiecewiseLinear,
        X: Any,
        *,
        schema: FeatureSchema | Sequence[str] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        output: int | None = None,
    ) -> Sample:
        """Check the arguments that all explanations share.

        Parameters
        ----------
        network : PiecewiseLinear
            `network_` of a fitted estimator, or one adopted by `ReluNetwork.from_mlp` or
            `ReluNetwork.from_torch`.
        X : array-like or data frame of shape (n_samples, n_columns)
            Rows to read it on, in the units of training.
        schema : FeatureSchema, names of the columns, or None
            `schema_` of the estimator. None takes the names of a data frame, or x0, x1, ...
        sample_weight : array-like of shape (n_samples,) or None
        output : int or None
            Which score; None where there is only one.
        """
        check_network(network)
        known = schema_of(schema, X, network.n_features)
        table = table_of(X, known)
        weight = check_weight(sample_weight, len(table))
        rows = np.flatnonzero(weight > 0)
        if len(rows) < len(table):
            table, weight = table[rows], weight[rows]
        total = max(float(weight.sum()), float(len(rows)))
        which = check_output(network, output)
        return cls(network, table, weight / weight.sum(), known, which, rows, total)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features: the dummies of one category are one feature."""
        return tuple(name for name, _ in self.schema.groups)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Columns of each feature."""
        return tuple(columns for _, columns in self.schema.groups)

    @property
    def score(self) -> Floats:
        """The score of each row, (n_samples,)."""
        return np.asarray(self.network.score(self.X)[:, self.output], dtype=np.float64)

    @property
    def gradient(self) -> Floats:
        """The slopes of each row, (n_samples, n_columns)."""
        return np.asarray(self.network.gradient(self.X)[:, :, self.output], dtype=np.float64)

    @property
    def center(self) -> Floats:
        """Mean of each column, (n_columns,)."""
        return np.asarray(self.weight @ self.X)

    @property
    def spread(self) -> Floats:
        """Standard deviation of each column, (n_columns,); zero for a constant one."""
        spread = self.deviation(self.X)
        size = np.maximum(np.abs(self.X).max(axis=0), np.finfo(np.float64).tiny)
        return np.asarray(np.where(spread > 1e-12 * size, spread, 0.0))

    def mean(self, values: Floats) -> Floats:
        """Weighted mean over the rows."""
        return np.asarray(np.tensordot(self.weight, values, axes=1))

    def deviation(self, values: Floats) -> Floats:
        """Weighted standard deviation over the rows (divided by the sum of the weights)."""
        return np.asarray(np.sqrt(self.mean(np.square(values - self.mean(values)))))


def sums_by(index: Integers, values: Floats, size: int = 0) -> Floats:
    """Sums of the values with each index, (size,) or up to the largest index."""
    return np.asarray(np.bincount(index, weights=values, minlength=size), dtype=np.float64)


def check_network(network: object) -> None:
    """Refuse what is not a piecewise linear function, and say how to get one."""
    if isinstance(network, PiecewiseLinear):
        return
    kind = type(network).__name__
    if hasattr(network, "network_"):
        remedy = "It is fitted: pass its network_."
    elif hasattr(network, "coefs_"):
        remedy = "Pass ReluNetwork.from_mlp(...) of it."
    elif hasattr(network, "named_modules"):
        remedy = "Pass ReluNetwork.from_torch(...) of it."
    else:
        remedy = (
            "Supported are network_ of fitted lifenet estimators, and single-hidden-layer ReLU "
            "networks of scikit-learn (ReluNetwork.from_mlp) and torch (ReluNetwork.from_torch)."
        )
    raise TypeError(f"Explanations read a network, not a {kind}. {remedy}")


def check_output(network: PiecewiseLinear, output: int | None) -> int:
    """Which score is meant."""
    n_outputs = network.n_outputs
    if output is None:
        if n_outputs == 1:
            return 0
        raise ValueError(
            f"The network has {n_outputs} scores (one a class); choose output=0 to "
            f"output={n_outputs - 1}."
        )
    if isinstance(output, bool) or not isinstance(output, (int, np.integer)):
        raise TypeError(f"output must be a number from 0 to {n_outputs - 1}; it is {output!r}.")
    if not 0 <= output < n_outputs:
        raise ValueError(f"output must be from 0 to {n_outputs - 1}; it is {output}.")
    return int(output)


def check_weight(sample_weight: npt.ArrayLike | None, n_samples: int) -> Floats:
    """Weights of the rows, (n_samples,), as float64; ones where none are given."""
    if sample_weight is None:
        return np.ones(n_samples)
    weight = np.asarray(sample_weight, dtype=np.float64)
    if weight.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weight.shape}; expected ({n_samples},), one a row of X."
        )
    bad = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if len(bad):
        raise ValueError(
            f"sample_weight must be finite and not negative; row {bad[0]} has {weight[bad[0]]}."
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one must count.")
    return weight


def schema_of(
    schema: FeatureSchema | Sequence[str] | None, X: Any, n_features: int
) -> FeatureSchema:
    """The schema given, or one with the names given or found and the ranges of X."""
    if isinstance(schema, FeatureSchema):
        known = schema
    else:
        names = _names_of(X) if schema is None else [str(name) for name in schema]
        known = FeatureSchema.of(_numbers(X, n_features), names)
    if known.n_features != n_features:
        raise ValueError(
            f"The schema names {known.n_features} columns; the network reads {n_features}."
        )
    return known


def table_of(X: Any, schema: FeatureSchema) -> Floats:
    """X as a checked table of float64 whose columns are those of the schema."""
    found = _names_of(X)
    if found is not None and found != list(schema.names):
        raise ValueError(
            f"X has the columns {found}; expected {list(schema.names)}, in this order."
        )
    table = _numbers(X, schema.n_features)
    check_finite(table, schema.names)
    return table


def _names_of(X: Any) -> list[str] | None:
    """Names of the columns of a frame; None where there are none, or not all are strings."""
    columns = list(X.columns) if hasattr(X, "columns") else []
    return columns if columns and all(isinstance(name, str) for name in columns) else None


def _numbers(X: Any, n_features: int) -> Floats:
    """X as float64, (n_samples, n_features), with at least one row."""
    table = np.asarray(X)
    if table.dtype.kind == "O":
        try:
            table = table.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"X must hold numbers; {error}. Code categories as numbers, as in training."
            ) from error
    if table.dtype.kind not in "fiub":
        raise ValueError(
            f"X must hold numbers; its dtype is {table.dtype}. Code categories as numbers, as in "
            "training."
        )
    if table.ndim != 2 or table.shape[1] != n_features:
        raise ValueError(
            f"X has shape {table.shape}; expected (n_samples, {n_features}), as the network reads."
        )
    if not len(table):
        raise ValueError("X has no rows, so there is nothing to read the network on.")
    return table.astype(np.float64, copy=False)
