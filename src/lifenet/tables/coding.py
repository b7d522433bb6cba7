"""The way from a user's table to columns of numbers, as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._shown import shown
from lifenet.kernels.hashing import hash_rows
from lifenet.tables.categories import CrossFitted, Targets, category_code
from lifenet.tables.codes import (
    CategoryCode,
    ColumnCode,
    Feature,
    NumberCode,
    TimeCode,
    number_code,
)
from lifenet.tables.columns import Column, Labels, Numbers, Times, as_labels
from lifenet.tables.reader import Faults, Table, frame_of, names_of, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lifenet._typing import Bools, Floats, Integers

__all__ = ["TableCoding", "learn_coding"]

#: Parts of the rows by which expected values are cross-fitted, as in scikit-learn's TargetEncoder.
_PARTS = 5


@shown
@dataclass(frozen=True, eq=False)
class TableCoding:
    """How each column of a table becomes columns of numbers.

    Attributes
    ----------
    codes : one a column of the table
    named : whether the table of training had names of its columns
    """

    codes: tuple[ColumnCode, ...]
    named: bool

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the table's columns."""
        return tuple(code.name for code in self.codes)

    @property
    def is_plain(self) -> bool:
        """Whether the columns of numbers are the table's, unchanged."""
        return all(
            isinstance(code, NumberCode) and not code.gaps and code.kind == "number"
            for code in self.codes
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers, each once."""
        found: dict[str, None] = {}
        for name in (name for code in self.codes for name in code.columns):
            while name in found:
                name += "'"
            found[name] = None
        return tuple(found)

    @property
    def columns_of(self) -> tuple[tuple[int, ...], ...]:
        """The columns of numbers of each of the table's columns."""
        first = np.cumsum([0, *(len(code.columns) for code in self.codes)]).tolist()
        return tuple(tuple(range(start, end)) for start, end in pairwise(first))

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the columns of numbers stand for, in their order."""
        found = []
        for code, (first, *_) in zip(self.codes, self.columns_of, strict=True):
            for one in code.features:
                missing = None if one.missing is None else first + one.missing
                columns = tuple(first + column for column in one.columns)
                found.append(one._replace(columns=columns, missing=missing))
        return tuple(found)

    def read(self, X: Any, what: str = "X") -> Table:
        """A table with the columns of training, by name where it has names.

        Raises
        ------
        ValueError
            Where columns are missing, or there are others.
        """
        frame = frame_of(X)
        if frame is not None and self.named:
            X = in_order(frame, self.names, what)
        categories = {
            code.name for code in self.codes if isinstance(code, CategoryCode) and code.has_text
        }
        table = read_table(X, self.names, undated=categories)
        if table.n_columns != len(self.codes):
            raise ValueError(
                f"{what} has {table.n_columns} columns; training had {len(self.codes)}."
            )
        return Table(self.names, table.n_rows, table.matrix, table.columns)

    def encode(self, table: Table) -> Floats:
        """The columns of numbers, (n_rows, n_columns); those of a plain table are not copied."""
        if self.is_plain and table.is_plain:
            return table.numbers()
        parts = self._each(table, lambda code, column: code.encode(column))
        return np.hstack(parts, dtype=np.float64) if parts else np.zeros((table.n_rows, 0))

    def transform(self, X: Any) -> Floats:
        """The columns of numbers of any table, (n_rows, n_columns)."""
        return self.encode(self.read(X))

    def unknown(self, table: Table) -> Bools:
        """Cells with a category that training did not have, (n_rows, n_columns of the table)."""
        return np.column_stack(self._each(table, lambda code, column: code.unknown(column)))

    def texts(self, table: Table) -> tuple[tuple[str, ...], ...]:
        """The table's own cells as people read them: for each row a text a feature."""
        by_code = self._each(table, lambda code, column: code.texts(column))
        return tuple(zip(*(texts for one in by_code for texts in one), strict=True))

    @property
    def gap_of(self) -> dict[int, int]:
        """For each column of numbers that holds nothing where a value is missing, which says so."""
        found: dict[int, int] = {}
        for code, own in zip(self.codes, self.columns_of, strict=True):
            if isinstance(code, NumberCode | TimeCode) and code.gaps:
                found |= {column: own[1] for column in own if column != own[1]}
        return found

    def category_of(self, columns: tuple[int, ...]) -> CategoryCode | None:
        """The code of a category that has these columns."""
        for code, own in zip(self.codes, self.columns_of, strict=True):
            if own == columns and isinstance(code, CategoryCode):
                return code
        return None

    def identity(self, table: Table) -> Floats:
        """Numbers that stand for the user's own values, (n_rows, n_columns of the table)."""
        if self.is_plain and table.is_plain:
            return table.numbers()
        return np.column_stack(self._each(table, lambda code, column: code.identity(column)))

    def crossfitted(self, table: Table, targets: Targets, weight: Floats) -> CrossFitted | None:
        """Codes that are to be cross-fitted in training; None where there are none."""
        ids, frequent, places = [], [], []
        for number, (code, own) in enumerate(zip(self.codes, self.columns_of, strict=True)):
            if isinstance(code, CategoryCode) and code.targets:
                found, unseen = code.ids(table[number]), len(code.levels)
                # Nothing is expected of a missing value where training had none.
                ids.append(found if code.knows_missing else np.minimum(found, unseen))
                frequent.append(np.append(code.own >= 0, [False, code.missing >= 0]))
                places.append(np.array(own[len(code.indicators) :], dtype=np.intp))
        if not ids:
            return None
        hashes = hash_rows(self.identity(table), 0)
        part = np.minimum((_PARTS * hashes).astype(np.intp), _PARTS - 1)
        return CrossFitted(tuple(ids), tuple(frequent), tuple(places), targets.values, weight, part)

    def _each(self, table: Table, work: Callable[[ColumnCode, Any], Any]) -> list[Any]:
        """What is made of every column; one error names all that do not fit."""
        faults, found = Faults(), []
        for number, code in enumerate(self.codes):
            try:
                found.append(work(code, table[number]))
            except ValueError as error:
                faults.add(f"Column {code.name!r} (number {number}) {error}.")
        faults.raise_any()
        return found


def in_order(frame: Any, names: Sequence[str], what: str = "X") -> Any:
    """A frame with its columns in the order of the names."""
    found = names_of(frame) or [str(name) for name in frame.columns]
    if found == list(names):
        return frame
    known, given = set(names), set(found)
    missing = [name for name in names if name not in given]
    further = [name for name in found if name not in known]
    if missing or further:
        raise ValueError(
            f"{what} must have the columns of training, by name and in any order."
            + (f" Missing: {missing}." if missing else "")
            + (f" Unknown: {further}; rename or drop them." if further else "")
        )
    return frame.select(list(names))


def learn_coding(
    table: Table, categorical: Integers | None, weight: Floats, targets: Targets, *, named: bool
) -> TableCoding:
    """The coding of a table's columns.

    Parameters
    ----------
    categorical : indices of the columns that are categories, whatever they hold; others that hold
        text are refused. None takes as categories what holds them.
    weight : (n_rows,); rows with weight zero do not count
    targets : of all rows
    """
    faults, counted = Faults(), weight > 0
    if categorical is not None:
        for number in sorted({*range(table.n_columns)} - {*categorical.tolist()}):
            column = table[number]
            if isinstance(column, Labels) and not column.missing.all():
                faults.add(_unnamed(table.names[number], number, column))
        faults.raise_any()
    if not counted.all():
        table = table.take(counted)
        targets = Targets(targets.values[counted], targets.names)
        weight = weight[counted]
    if categorical is None and table.is_plain:
        codes: list[ColumnCode] = [NumberCode(name, 0.0) for name in table.names]
        return TableCoding(_with_medians(codes, table, weight), named)
    codes, chosen = [], set() if categorical is None else {*categorical.tolist()}
    for number, name in enumerate(table.names):
        try:
            codes.append(_learn(name, table[number], number in chosen, weight, targets))
        except ValueError as error:
            faults.add(f"Column {name!r} (number {number}) {error}.")
    faults.raise_any()
    return TableCoding(tuple(codes), named)


def _with_medians(
    codes: Sequence[ColumnCode], table: Table, weight: Floats
) -> tuple[ColumnCode, ...]:
    """Codes of plain numbers, each with the median of its column."""
    found = []
    for number, code in enumerate(codes):
        column = table[number]
        assert isinstance(column, Numbers)
        found.append(number_code(code.name, column, weight))
    return tuple(found)


def _unnamed(name: str, number: int, column: Labels) -> str:
    """What is wrong with text in a column that the user did not say has categories."""
    first = int(np.flatnonzero(column.codes >= 0)[0])
    return (
        f"Column {name!r} (number {number}) holds {column.labels[column.codes[first]]!r} in row "
        f"{first}, and is not among categorical_features; name it there, or pass "
        "categorical_features='from_dtype'."
    )


def _learn(name: str, column: Column, chosen: bool, weight: Floats, targets: Targets) -> ColumnCode:
    if column.missing.all():
        raise ValueError("is missing in every row; drop it")
    if chosen or isinstance(column, Labels):
        return category_code(name, as_labels(column), weight, targets)
    if isinstance(column, Times) and not column.duration:
        return TimeCode.learn(name, column, weight)
    return number_code(name, column, weight)
