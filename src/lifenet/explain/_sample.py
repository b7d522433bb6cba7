"""What every explanation starts from: a network, the rows it is read on, and their names."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._subject import in_order, labels_of, subject_with
from lifenet.schema import ColumnValues, FeatureSchema, check_finite, default_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network import PiecewiseLinear
    from lifenet.tables import Feature

__all__ = [
    "Sample",
    "check_output",
    "check_weight",
    "names_unless_unknown",
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
    classes : labels of a classifier, where one was given
    """

    network: PiecewiseLinear
    X: Floats
    weight: Floats
    schema: FeatureSchema
    output: int
    rows: Integers
    total: float
    classes: npt.NDArray[Any] | None = None

    @classmethod
    def of(
        cls,
        network: Any,
        X: Any,
        *,
        schema: FeatureSchema | Sequence[str] | None = None,
        sample_weight: npt.ArrayLike | None = None,
        output: int | None = None,
    ) -> Sample:
        """Check the arguments that all explanations share.

        Parameters
        ----------
        network : fitted model, pipeline that ends in one, or PiecewiseLinear
            A network is `network_` of a fitted model, or one adopted by `ReluNetwork.from_mlp` or
            `ReluNetwork.from_torch`.
        X : array-like or data frame of shape (n_samples, n_columns)
            Rows to read it on, as `predict` takes them. The columns of a frame are matched by
            name.
        schema : FeatureSchema, names of the columns, or None
            None takes the model's own; of a network alone x0, x1, ...
        sample_weight : array-like of shape (n_samples,) or None
        output : int or None
            Which score; None where there is only one.
        """
        subject = subject_with(network, schema)
        network, X = subject.network, subject.prepared(X)
        given = schema if schema is not None else subject.schema or subject.names or None
        known = schema_of(given, X, network.n_features)
        table = table_of(X, known)
        weight = check_weight(sample_weight, len(table))
        rows = np.flatnonzero(weight > 0)
        if len(rows) < len(table):
            table, weight = table[rows], weight[rows]
        if not isinstance(given, FeatureSchema):
            known = FeatureSchema.of(table, known.names, weight=weight)
        total = max(float(weight.sum()), float(len(rows)))
        which = check_output(network, output)
        share = weight / weight.sum()
        return cls(network, table, share, known, which, rows, total, subject.classes)

    @cached_property
    def values(self) -> tuple[ColumnValues, ...]:
        """Values of the columns in training; those of these rows where the schema has none."""
        if self.schema.values:
            return self.schema.values
        return tuple(ColumnValues.of(column, self.weight) for column in self.X.T)

    @property
    def known(self) -> FeatureSchema:
        """The schema with these values."""
        return replace(self.schema, values=self.values)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.schema.names

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features: the dummies of one category are one feature."""
        return tuple(name for name, _ in self.schema.groups)

    @cached_property
    def kinds(self) -> tuple[Feature, ...]:
        """What each feature is: a category, a number, perhaps with gaps, or a date."""
        return self.schema.features

    def column_of(self, feature: int) -> int | None:
        """The column that has the values of a feature; None of a category."""
        one = self.kinds[feature]
        return None if one.kind == "category" else one.columns[0]

    def observed(self, feature: int) -> Bools | None:
        """Which rows have a value of a number; None where training had no gaps."""
        one = self.kinds[feature]
        if one.kind == "category" or one.missing is None:
            return None
        return np.asarray(self.X[:, one.missing] == 0)

    def where_observed(self, feature: int) -> Sample:
        """The rows that have a value of a number; all where none has."""
        seen = self.observed(feature)
        if seen is None or seen.all() or not seen.any():
            return self
        weight = self.weight[seen] / self.weight[seen].sum()
        return replace(self, X=self.X[seen], weight=weight, rows=self.rows[seen])

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
    """The schema given, or one with the names given and the ranges of X."""
    if isinstance(schema, str):
        raise TypeError(f"schema must be a FeatureSchema or a list of names; it is {schema!r}.")
    if isinstance(schema, FeatureSchema):
        known = schema
    else:
        names = names_unless_unknown(X, n_features) if schema is None else list(map(str, schema))
        if len(names) != n_features:
            raise ValueError(f"schema has {len(names)} names; the network reads {n_features}.")
        known = FeatureSchema.of(_numbers(in_order(X, names), n_features), names)
    if known.n_features != n_features:
        raise ValueError(
            f"The schema names {known.n_features} columns; the network reads {n_features}."
        )
    return known


def names_unless_unknown(X: Any, n_features: int) -> list[str]:
    """x0, x1, ...; of a frame with other names nobody knows which columns are meant."""
    names, found = list(default_names(n_features)), labels_of(X)
    if found is not None and sorted(found) != sorted(names):
        raise ValueError(
            "A network alone does not know the names of its columns, so that those of a frame "
            "cannot be matched. Pass the fitted model instead of its network_, or "
            "schema=model.schema_, or schema= the names in the order of training."
        )
    return names


def table_of(X: Any, schema: FeatureSchema) -> Floats:
    """X as a checked table of float64 whose columns are those of the schema."""
    table = _numbers(in_order(X, schema.names), schema.n_features)
    check_finite(table, schema.names)
    return table


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
