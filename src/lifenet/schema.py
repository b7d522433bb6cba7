"""What is known of the columns: names, groups and the ranges seen in training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lifenet._typing import Bools, Floats

__all__ = ["FeatureSchema"]

_BLOCK_ROWS = 65_536


@dataclass(frozen=True)
class FeatureSchema:
    """Columns of a table as a model knows them.

    Attributes
    ----------
    names : one a column
    lower, upper : smallest and largest value of each column in training
    groups : feature name -> its columns, in column order; a plain column is a group of its own,
        the dummies of one category share a group
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    groups: Mapping[str, tuple[int, ...]]

    def __post_init__(self) -> None:
        """Check that the parts agree."""
        if len(set(self.names)) != len(self.names):
            repeated = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ValueError(f"Column names must differ; {', '.join(repeated)} came twice.")
        if not len(self.names) == len(self.lower) == len(self.upper):
            raise ValueError("names, lower and upper must have one entry a column.")
        columns = sorted(column for group in self.groups.values() for column in group)
        if columns != list(range(len(self.names))):
            raise ValueError(
                f"Each of the {len(self.names)} columns must belong to exactly one group; "
                f"the groups hold columns {columns}."
            )

    @classmethod
    def of(
        cls,
        X: Floats,
        names: Sequence[str] | None = None,
        groups: Mapping[str, Sequence[int]] | None = None,
    ) -> FeatureSchema:
        """Read ranges from a table; columns without a name are called x0, x1, ..."""
        n_features = X.shape[1]
        labels = tuple(names) if names is not None else default_names(n_features)
        if len(labels) != n_features:
            raise ValueError(f"names has {len(labels)} entries for {n_features} columns.")
        if groups is None:
            groups = {name: (column,) for column, name in enumerate(labels)}
        return cls(
            names=labels,
            lower=tuple(X.min(axis=0).tolist()),
            upper=tuple(X.max(axis=0).tolist()),
            groups={name: tuple(columns) for name, columns in groups.items()},
        )

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.names)

    def outside(self, X: Floats) -> Bools:
        """Which cells lie outside the training range of their column: (n_samples, n_features)."""
        return np.asarray((np.asarray(self.lower) > X) | (np.asarray(self.upper) < X))

    def check_finite(self, X: Floats) -> None:
        """Raise an error naming the first cell that is NaN or infinite, and what to do."""
        check_finite(X, self.names)


def default_names(n_features: int) -> tuple[str, ...]:
    """x0, x1, ...: as scikit-learn names columns that have none."""
    return tuple(f"x{column}" for column in range(n_features))


def check_finite(X: Floats, names: Sequence[str] | None = None) -> None:
    """Raise an error naming the first cell that is NaN or infinite, and what to do."""
    for start in range(0, len(X), _BLOCK_ROWS):
        bad = ~np.isfinite(X[start : start + _BLOCK_ROWS])
        if not bad.any():
            continue
        row, column = (int(place) for place in np.argwhere(bad)[0])
        label = names[column] if names is not None else default_names(X.shape[1])[column]
        kind = "NaN" if np.isnan(X[start + row, column]) else "infinity"
        raise ValueError(
            f"Input X contains {kind}: column {label!r} (number {column}), row {start + row}. "
            "Impute or drop such rows first, for example with sklearn.impute.SimpleImputer."
        )
