"""What is known of the columns: names, groups and the ranges seen in training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._shown import shown
from lifenet.kernels.numbers import LARGEST, describe_number
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.tables import Feature, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.tables import Table, TableCoding

__all__ = ["ColumnValues", "FeatureSchema"]

_BLOCK_ROWS = 16_384

# Distinct values up to which all are kept; of more, one for each of so many parts of the span,
# and of each tail beyond it. Chosen by hand: a window of 5 % to either side has eight of them.
_ALL_KEPT, _PARTS_OF_SPAN, _PARTS_OF_TAIL = 128, 80, 120
#: Quantiles that a column's span lies between: outliers do not make it wider.
_SPAN = np.array([0.05, 0.95])
# Sums of weights are equal within this share: halves must not depend on their rounding.
_ROUNDING = 1e-9
#: A value this much of a window's half-width outside of it is inside: rounding.
_EDGE = 1e-9


@shown
@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Values that a column had in training, and how many rows had each.

    Of a column with many values some are kept, each for the rows next to it.

    Attributes
    ----------
    values : (m,), ascending, each one of the training values
    counts : (m,), weight of the rows that it stands for
    span : distance of the 5 % and the 95 % quantile
    """

    values: Floats
    counts: Floats
    span: float

    @classmethod
    def of(cls, column: Floats, weight: Floats | None = None) -> ColumnValues:
        """Read from a column (n,) and the weights of its rows."""
        values: Floats
        values, inverse = np.unique(np.asarray(column, dtype=np.float64), return_inverse=True)
        counts: Floats = np.bincount(inverse.ravel(), weight, len(values)).astype(np.float64)
        present = counts > 0
        values, counts = values[present], counts[present]
        low, high = weighted_quantiles(values, counts, _SPAN)
        if len(values) > _ALL_KEPT:
            values, counts = _thinned(values, counts, _parts(values, float(low), float(high)))
        return cls(values, counts, float(high - low))

    def windows(self, x: Floats, reach: float) -> tuple[Integers, Integers]:
        """First value, and first beyond, within ``reach * span`` of each x, (n,) each."""
        half = reach * self.span
        low = np.searchsorted(self.values, x - half * (1 + _EDGE), side="left")
        high = np.searchsorted(self.values, x + half * (1 + _EDGE), side="right")
        return low, high


def _parts(values: Floats, low: float, high: float) -> Integers:
    """Number of the part of the range that each value is in, not falling."""
    width = (high - low or values[-1] - values[0]) / _PARTS_OF_SPAN
    part = np.floor((values - low) / width)
    for tail in (values < low, values > high):
        if len(np.unique(part[tail])) > _PARTS_OF_TAIL:
            place = np.arange(tail.sum()) * _PARTS_OF_TAIL // tail.sum()
            part[tail] = part[tail][0] + place / _PARTS_OF_TAIL
    # Names of parts are replaced by their order.
    return np.cumsum(np.diff(part, prepend=part[0]) != 0)


def _thinned(values: Floats, counts: Floats, part: Integers) -> tuple[Floats, Floats]:
    """The weighted median of each part, which is one of its values, and its weight."""
    total: Floats = np.bincount(part, counts).astype(np.float64)
    before = np.cumsum(counts) - np.concatenate([[0.0], np.cumsum(total)[:-1]])[part]
    beyond = before >= 0.5 * total[part] * (1 - _ROUNDING)
    first = np.searchsorted(part, np.arange(len(total)))
    median = first + np.maximum.reduceat(
        np.where(beyond, 0, 1 + np.arange(len(values)) - first[part]), first
    )
    return values[median], total


@shown
@dataclass(frozen=True)
class FeatureSchema:
    """Columns of a table as a model knows them.

    Attributes
    ----------
    names : one a column
    lower, upper : smallest and largest value of each column in training
    groups : pairs of a feature's name and its columns; a plain column is a group of its own, the
        dummies of one category share a group
    values : of each column, the values that it had; none where they are not known
    table : how the user's table becomes these columns; None where they are the table's own
    """

    names: tuple[str, ...]
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    groups: tuple[tuple[str, tuple[int, ...]], ...]
    values: tuple[ColumnValues, ...] = field(default=(), compare=False, repr=False)
    table: TableCoding | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check that the parts agree."""
        if len(set(self.names)) != len(self.names):
            repeated = sorted({name for name in self.names if self.names.count(name) > 1})
            raise ValueError(f"Column names must differ; {', '.join(repeated)} came twice.")
        if not len(self.names) == len(self.lower) == len(self.upper):
            raise ValueError("names, lower and upper must have one entry a column.")
        if len(self.values) not in (0, len(self.names)):
            raise ValueError(
                f"values has {len(self.values)} entries for {len(self.names)} columns."
            )
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
        weight: Floats | None = None,
    ) -> FeatureSchema:
        """Read ranges and values, and where there are any names, from a table or a data frame.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_columns)
        names : one a column, or None: those of a frame, or x0, x1, ...
        groups : pairs of a feature's name and its columns, or None
            As in `grouped`.
        weight : of the rows, (n_samples,), or None
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
            values=tuple(ColumnValues.of(column, weight) for column in table.T),
        )
        return plain if groups is None else plain.grouped(groups)

    @classmethod
    def of_table(cls, table: TableCoding, X: Floats, weight: Floats | None = None) -> FeatureSchema:
        """Of the columns that a user's table becomes.

        Parameters
        ----------
        X : (n_samples, n_columns), the columns of training rows
        weight : of the rows, (n_samples,), or None
        """
        plain = cls.of(X, table.columns, weight=weight)
        if table.is_plain:
            return plain
        counts = np.ones(len(X)) if weight is None else weight
        values = list(plain.values)
        for one in table.features:
            for column in one.columns:
                if one.kind == "category" or column == one.missing:
                    # Indicators have no value near another; neither have expectations by level.
                    values[column] = replace(values[column], span=0.0)
            if one.missing is not None and one.kind != "category":
                known = X[:, one.missing] == 0
                values[one.columns[0]] = ColumnValues.of(X[known, one.columns[0]], counts[known])
        groups = tuple((one.name, one.columns) for one in table.features)
        return replace(plain, groups=groups, values=tuple(values), table=table)

    @property
    def gaps(self) -> dict[int, int]:
        """For each column that holds nothing where a value is missing, the one that says so."""
        return {} if self.table is None else self.table.gap_of

    @property
    def codes_of_levels(self) -> tuple[int, ...]:
        """Columns made of a user's category, or of whether a value is missing."""
        if self.table is None:
            return ()
        of_levels = {
            at for one in self.table.features if one.kind == "category" for at in one.columns
        }
        return tuple(sorted(of_levels | set(self.gaps.values())))

    @property
    def indicators(self) -> tuple[int, ...]:
        """Those of them that are 0 or 1."""
        if self.table is None:
            return ()
        expected = {
            one.columns[place]
            for one in self.table.features
            for code in [self.table.category_of(one.columns)]
            if code is not None
            for place in range(len(code.indicators), len(one.columns))
        }
        return tuple(one for one in self.codes_of_levels if one not in expected)

    @property
    def features(self) -> tuple[Feature, ...]:
        """What each group of columns stands for."""
        known = {} if self.table is None else {one.columns: one for one in self.table.features}
        return tuple(
            known.get(
                columns, Feature(name, "number" if len(columns) == 1 else "category", columns)
            )
            for name, columns in self.groups
        )

    @classmethod
    def named(cls, names: Iterable[str]) -> FeatureSchema:
        """Names alone: ranges are not known."""
        labels = tuple(str(name) for name in names)
        low, high = (-np.inf,) * len(labels), (np.inf,) * len(labels)
        return cls(labels, low, high, tuple((name, (at,)) for at, name in enumerate(labels)))

    def renamed(self, names: Iterable[str]) -> FeatureSchema:
        """The same columns under other names, each a feature of its own."""
        new = FeatureSchema.named(names)
        if new.n_features != self.n_features:
            raise ValueError(f"{new.n_features} names for {self.n_features} columns.")
        return replace(new, lower=self.lower, upper=self.upper, values=self.values)

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
        return replace(self, groups=tuple(known))

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

        Where the model was fitted to a table with categories, missing values or dates, `X` is such
        a table, and the cells are its own: a level that training did not have is outside, and so
        is a missing value where training had none. In a table of numbers NaN is outside every
        range. Columns of frames are matched by name.
        """
        if self.table is not None:
            return self.outside_of(self.table.read(X))
        frame = frame_of(X)
        if frame is not None and set(frame.columns) == set(self.names):
            X = frame.select(list(self.names)).to_numpy()
        table = _as_table(X)
        if table.ndim != 2 or table.shape[1] != self.n_features:
            raise ValueError(
                f"X must have {self.n_features} columns ({', '.join(self.names)}); "
                f"it has shape {table.shape}."
            )
        return np.asarray(~((table >= np.asarray(self.lower)) & (table <= np.asarray(self.upper))))

    def outside_of(self, read: Table) -> Bools:
        """The same of a table that has been read, where the model was fitted to one."""
        assert self.table is not None
        columns = self.table.encode(read)
        beyond = ~((columns >= np.asarray(self.lower)) & (columns <= np.asarray(self.upper)))
        outside = self.table.unknown(read)
        for number, own in enumerate(self.table.columns_of):
            ranged = [at for at in own if at not in self._levels]
            outside[:, number] |= beyond[:, ranged].any(axis=1)
            gone = read[number].missing
            outside[gone, number] = not self.table.codes[number].knows_missing
        return outside

    @property
    def _levels(self) -> set[int]:
        """Columns that say which level a category has."""
        return {at for one in self.features if one.kind == "category" for at in one.columns}


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
