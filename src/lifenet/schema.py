"""What is known of the columns: names, groups and the ranges seen in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lifenet._typing import Bools, Floats

__all__ = ["FeatureSchema"]

_BLOCK_ROWS = 16_384
#: Squares of larger numbers, summed over rows, leave the range of float64.
LARGEST = np.float64(1e140)  # as a float64, so that float32 tables are compared in float64


@dataclass(frozen=True)
class FeatureSchema:
    """Columns of a table as a model knows them.

    Attributes
    ----------
    names : one a column
    lower, upper : smallest and largest value of each column in training
    groups : pairs of a feature's name and its columns; a plain column is a group of its own, the
        dummies of one category share a group
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    groups: tuple[tuple[str, tuple[int, ...]], ...]

    def __post_init__(self) -> None:
        """Check that the parts agree."""
        if len(set(self.names)) != len(self.names):
            repeated = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ValueError(f"Column names must differ; {', '.join(repeated)} came twice.")
        if not len(self.names) == len(self.lower) == len(self.upper):
            raise ValueError("names, lower and upper must have one entry a column.")
        columns = sorted(column for _, group in self.groups for column in group)
        if columns != list(range(len(self.names))):
            raise ValueError(
                f"Each of the {len(self.names)} columns must belong to exactly one group; "
                f"the groups hold columns {columns}."
            )

    @classmethod
    def of(
        cls,
        X: Any,
        names: Sequence[str] | None = None,
        groups: Iterable[tuple[str, Sequence[int]]] | None = None,
    ) -> FeatureSchema:
        """Read ranges, and where there are any names, from a table or a data frame.

        Columns without a name are called x0, x1, ...
        """
        if names is None and hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
        table = _as_table(X)
        check_finite(table, names)
        n_features = table.shape[1]
        labels = tuple(names) if names is not None else default_names(n_features)
        if len(labels) != n_features:
            raise ValueError(f"names has {len(labels)} entries for {n_features} columns.")
        if groups is None:
            groups = [(name, (column,)) for column, name in enumerate(labels)]
        return cls(
            names=labels,
            lower=tuple(table.min(axis=0).tolist()),
            upper=tuple(table.max(axis=0).tolist()),
            groups=tuple((name, tuple(columns)) for name, columns in groups),
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    def outside(self, X: Any) -> Bools:
        """Which cells lie outside the training range of their column: (n_samples, n_features).

        NaN lies outside every range.
        """
        table = _as_table(X)
        if table.ndim != 2 or table.shape[1] != self.n_features:
            raise ValueError(
                f"X must have {self.n_features} columns ({', '.join(self.names)}); "
                f"it has shape {table.shape}."
            )
        return np.asarray(~((table >= np.asarray(self.lower)) & (table <= np.asarray(self.upper))))


def _as_table(X: Any) -> Floats:
    """An array of floats, without a copy where X is one."""
    table = np.asarray(X)
    return table if table.dtype.kind == "f" else table.astype(np.float64)


def default_names(n_features: int) -> tuple[str, ...]:
    """x0, x1, ...: as scikit-learn names columns that have none."""
    return tuple(f"x{column}" for column in range(n_features))


def check_finite(X: Floats, names: Sequence[str] | None = None) -> None:
    """Raise an error naming the first cell that is not a usable number, and what to do."""
    for start in range(0, len(X), _BLOCK_ROWS):
        block = X[start : start + _BLOCK_ROWS]
        with np.errstate(invalid="ignore"):
            usable = np.abs(block) <= LARGEST
        if usable.all():
            continue
        row, column = (int(place) for place in np.argwhere(~usable)[0])
        label = names[column] if names is not None else default_names(X.shape[1])[column]
        kind, remedy = describe_number(float(block[row, column]))
        raise ValueError(
            f"Input X contains {kind}: column {label!r} (number {column}), row {start + row}. "
            f"{remedy}"
        )


def describe_number(value: float) -> tuple[str, str]:
    """What is wrong with a number that is NaN, infinite or too large, and what to do about it."""
    if np.isnan(value):
        return "NaN", "Impute it, for example with sklearn.impute.SimpleImputer, or drop the row."
    if np.isinf(value):
        return "infinity", "Replace it by a number in the column's range, or drop the row."
    return f"a value too large ({value:g})", "Rescale the column, or mend the value."
