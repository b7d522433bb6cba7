"""What is known of the columns: names, groups and the ranges seen in training."""

from __future__ import annotations

from collections.abc import Mapping
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
                f"the groups hold columns {columns}. FeatureSchema.grouped fills in the others."
            )

    @classmethod
    def of(
        cls,
        X: Any,
        names: Sequence[str] | None = None,
        groups: Iterable[tuple[str, Sequence[int | str]]] | None = None,
    ) -> FeatureSchema:
        """Read ranges, and where there are any names, from a table or a data frame.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_columns)
        names : one a column, or None: those of a frame, or x0, x1, ...
        groups : pairs of a feature's name and its columns, or None
            As in `grouped`.
        """
        if names is None and hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
        table = _as_table(X)
        check_finite(table, names)
        n_features = table.shape[1]
        labels = tuple(names) if names is not None else default_names(n_features)
        if len(labels) != n_features:
            raise ValueError(f"names has {len(labels)} entries for {n_features} columns.")
        plain = cls(
            names=labels,
            lower=tuple(table.min(axis=0).tolist()),
            upper=tuple(table.max(axis=0).tolist()),
            groups=tuple((name, (column,)) for column, name in enumerate(labels)),
        )
        return plain if groups is None else plain.grouped(groups)

    def grouped(
        self, groups: Mapping[str, Sequence[int | str]] | Iterable[tuple[str, Sequence[int | str]]]
    ) -> FeatureSchema:
        """The same columns, some of them as one feature: the dummies of a category.

        Parameters
        ----------
        groups : mapping, or pairs, of a feature's name and its columns
            Columns by name or number. Those that no group names stay features of their own, and
            features then stand in the order of their columns; else in the order given.

        Examples
        --------
        >>> schema = FeatureSchema(("age", "job=A", "job=B"), (0, 0, 0), (9, 1, 1),
        ...                        (("age", (0,)), ("job=A", (1,)), ("job=B", (2,))))
        >>> schema.grouped({"job": ["job=A", "job=B"]}).groups
        (('age', (0,)), ('job', (1, 2)))
        """
        pairs = groups.items() if isinstance(groups, Mapping) else groups
        known = [(str(name), self._columns(name, columns)) for name, columns in pairs]
        named = {column for _, columns in known for column in columns}
        rest = [(name, (at,)) for at, name in enumerate(self.names) if at not in named]
        if rest:
            known = sorted([*known, *rest], key=lambda group: group[1])
        return FeatureSchema(self.names, self.lower, self.upper, tuple(known))

    def _columns(self, feature: str, columns: Sequence[int | str]) -> tuple[int, ...]:
        """Numbers of the columns of a feature."""
        found = []
        for column in [columns] if isinstance(columns, str) else columns:
            at = self.names.index(column) if column in self.names else column
            if isinstance(at, str) or not 0 <= at < self.n_features:
                raise ValueError(
                    f"The group {feature!r} has a column {column!r}; there are "
                    f"{', '.join(self.names)}."
                )
            found.append(int(at))
        if not found:
            raise ValueError(f"The group {feature!r} has no columns.")
        return tuple(found)

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
