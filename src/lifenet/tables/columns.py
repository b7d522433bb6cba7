"""Columns as they are read: numbers, times or labels, whatever held them."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lifenet._typing import Bools, Floats, Integers

__all__ = [
    "Column",
    "Labels",
    "Numbers",
    "Times",
    "as_labels",
    "coded_objects",
    "is_missing",
    "read_objects",
    "text_of_level",
]

_DAY = 86_400.0
#: A date, or a date and a time of day, as ISO 8601 writes them.
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?")


@dataclass(frozen=True, eq=False)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    values : (n,), NaN where one is missing
    boolean : whether they are truth values, as 0 and 1
    """

    values: Floats
    boolean: bool = False

    @property
    def missing(self) -> Bools:
        """Which cells are empty, (n,)."""
        return np.isnan(self.values)


@dataclass(frozen=True, eq=False)
class Times:
    """A column of points in time, or of durations.

    Attributes
    ----------
    values : (n,), days since 1970, or days that a duration has; NaN where one is missing
    duration : whether they are durations
    """

    values: Floats
    duration: bool = False

    @property
    def missing(self) -> Bools:
        """Which cells are empty, (n,)."""
        return np.isnan(self.values)


@dataclass(frozen=True, eq=False)
class Labels:
    """A column of categories.

    Attributes
    ----------
    codes : (n,), the number of each cell's label; -1 where it is missing
    labels : each once, in no particular order
    """

    codes: Integers
    labels: tuple[Any, ...]

    @property
    def missing(self) -> Bools:
        """Which cells are empty, (n,)."""
        return np.asarray(self.codes < 0)

    @property
    def is_text(self) -> bool:
        """Whether every label is text."""
        return all(isinstance(one, str) for one in self.labels)

    def first_row(self, label: int) -> int:
        """The first row with a label."""
        return int(np.flatnonzero(self.codes == label)[0])


Column = Numbers | Times | Labels


def text_of_level(level: Any) -> str:
    """A level as people read it."""
    if isinstance(level, float) and level.is_integer() and abs(level) < 1e15:
        level = int(level)
    return str(level) if str(level) else '""'


def read_objects(values: Sequence[Any], *, dates: bool = True) -> Column:
    """A column of Python objects: all numbers, all truth values, all times, or all text.

    Text that is a date in every row, as ISO 8601 writes it, is read as times where `dates`.

    Raises
    ------
    ValueError
        Where kinds are mixed, or a cell holds something else. The message begins with a verb.
    """
    coded = coded_objects(values)
    if not coded.labels:
        return Numbers(np.full(len(coded.codes), np.nan))
    kinds = [_kind_of(label) for label in coded.labels]
    if set(kinds) == {"truth value", "number"}:
        kinds = ["number"] * len(kinds)
    _refuse_mixture(coded, kinds)
    kind = kinds[0]
    if kind == "text":
        times = _iso_times(coded) if dates else None
        return coded if times is None else times
    if kind == "time":
        return Times(_spread(coded, [_days_of(label) for label in coded.labels]))
    if kind == "duration":
        return Times(_spread(coded, [_length_of(label) for label in coded.labels]), duration=True)
    if kind == "time of day":
        return Numbers(_spread(coded, [_hours_of(label) for label in coded.labels]))
    return Numbers(_spread(coded, [_number_of(one) for one in coded.labels]), kind != "number")


def as_labels(column: Column) -> Labels:
    """A column as categories: of numbers and times each value is a label."""
    if isinstance(column, Labels):
        return column
    known = ~column.missing
    values, inverse = np.unique(column.values[known], return_inverse=True)
    codes = np.full(len(column.values), -1, dtype=np.intp)
    codes[known] = inverse.ravel()
    return Labels(codes, tuple(int(one) if one.is_integer() else one for one in values.tolist()))


def coded_objects(values: Sequence[Any]) -> Labels:
    """Objects by the number of each; what stands for a missing value is -1."""
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (number.setdefault(value, len(number)) for value in values), np.intp, len(values)
        )
    except TypeError:
        row = next(row for row, value in enumerate(values) if not _hashable(value))
        raise ValueError(
            f"holds a {type(values[row]).__name__} in row {row}. A cell must be a number, a time, "
            "text or empty"
        ) from None
    labels = list(number)
    empty = np.array([is_missing(label) for label in labels], dtype=bool)
    if not empty.any():
        return Labels(codes, tuple(labels))
    place = np.where(empty, -1, np.cumsum(~empty) - 1)
    kept = tuple(label for label, gone in zip(labels, empty, strict=True) if not gone)
    return Labels(place[codes] if len(labels) else codes, kept)


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NA or NaT; an empty text is not."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    return isinstance(value, float | np.floating | Decimal) and bool(value != value)


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _kind_of(value: Any) -> str:
    """What a cell holds, in a word; a type's name where it is nothing that can be read."""
    kinds: tuple[tuple[str, tuple[type, ...]], ...] = (
        ("text", (str,)),
        ("truth value", (bool, np.bool_)),
        ("duration", (datetime.timedelta, np.timedelta64)),
        ("number", (Real, Decimal, Fraction, np.number)),
        ("time", (datetime.date, np.datetime64)),
        ("time of day", (datetime.time,)),
    )
    return next((kind for kind, types in kinds if isinstance(value, types)), type(value).__name__)


_READ = ("text", "truth value", "number", "time", "duration", "time of day")


def _refuse_mixture(coded: Labels, kinds: Sequence[str]) -> None:
    for number, kind in enumerate(kinds):
        row = coded.first_row(number)
        if kind not in _READ:
            raise ValueError(
                f"holds a {kind} in row {row}. A cell must be a number, a time, text or empty"
            )
        if kind != kinds[0]:
            first = coded.first_row(0)
            raise ValueError(
                f"mixes {kinds[0]} (row {first}: {coded.labels[0]!r}) with {kind} (row {row}: "
                f"{coded.labels[number]!r}). Make all of it one kind, or mend those rows"
            )


def _spread(coded: Labels, values: Iterable[float]) -> Floats:
    """Values of the labels by row; NaN where one is missing."""
    table = np.append(np.fromiter(values, np.float64), np.nan)
    return np.asarray(table[coded.codes])


def _number_of(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else -float("inf")


def _days_of(value: Any) -> float:
    """Days since 1970 of a point in time, by the clock that it was given in."""
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.int64)) / (_DAY * 1e6)


def _length_of(value: Any) -> float:
    if isinstance(value, np.timedelta64):
        return float(value / np.timedelta64(1, "us")) / (_DAY * 1e6)
    return float(value.total_seconds()) / _DAY


def _hours_of(value: datetime.time) -> float:
    return value.hour + value.minute / 60 + (value.second + value.microsecond * 1e-6) / 3600


def _iso_times(coded: Labels) -> Times | None:
    """Text that is an ISO date in every row, as times."""
    if not all(_ISO.fullmatch(label) for label in coded.labels):
        return None
    try:
        days = [_days_of(np.datetime64(label.replace(" ", "T"))) for label in coded.labels]
    except ValueError:  # such as the 31st of February
        return None
    return Times(_spread(coded, days))
