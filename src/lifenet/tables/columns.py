"""Columns as they are read: numbers, times or labels, whatever held them."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.tables.times import days_of, hours_of, iso_days, label_of_time, length_of

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
    "kind_of",
    "read_objects",
    "text_of_level",
]


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
    kinds = [kind_of(label) for label in coded.labels]
    truths = set(kinds) == {"truth value"} and not all(map(_is_truth_or_missing, values))
    if truths or set(kinds) == {"truth value", "number"}:  # 1 and True are equal
        kinds = ["number"] * len(kinds)
    _refuse_mixture(coded, kinds)
    kind = kinds[0]
    if kind == "text":
        times = _iso_times(coded) if dates else None
        return coded if times is None else times
    if kind == "time":
        return Times(_spread(coded, [days_of(label) for label in coded.labels]))
    if kind == "duration":
        return Times(_spread(coded, [length_of(label) for label in coded.labels]), duration=True)
    if kind == "time of day":
        return Numbers(_spread(coded, [hours_of(label) for label in coded.labels]))
    return Numbers(_spread(coded, [_number_of(one) for one in coded.labels]), kind != "number")


def as_labels(column: Column) -> Labels:
    """A column as categories: of numbers and times each value is a label.

    Times are dates again, or dates and times of day, and durations are durations.
    """
    if isinstance(column, Labels):
        return column
    known = ~column.missing
    values, inverse = np.unique(column.values[known], return_inverse=True)
    codes = np.full(len(column.values), -1, dtype=np.intp)
    codes[known] = inverse.ravel()
    labels: list[Any] = values.tolist()
    if isinstance(column, Times):
        return Labels(codes, tuple(label_of_time(one, duration=column.duration) for one in labels))
    return Labels(codes, tuple(int(one) if one.is_integer() else one for one in labels))


def coded_objects(values: Sequence[Any]) -> Labels:
    """Objects by the number of each; what stands for a missing value is -1.

    Times with a zone lose it, as by the clock that they were given in: two zones' times of one
    instant would be equal.
    """
    number: dict[Any, int] = {}
    try:
        codes = np.fromiter(
            (number.setdefault(value, len(number)) for value in values), np.intp, len(values)
        )
    except TypeError:
        row = next((row for row, value in enumerate(values) if not _hashable(value)), None)
        if row is None and any(map(_is_numpys, values)):
            # Some of numpy's numbers cannot be compared with fractions and long integers.
            return coded_objects([one.item() if _is_numpys(one) else one for one in values])
        if row is None:
            raise ValueError(
                "holds cells that cannot be compared. Make all of it one kind"
            ) from None
        raise ValueError(
            f"holds a {type(values[row]).__name__} in row {row}. A cell must be a number, a time, "
            "text or empty"
        ) from None
    labels = list(number)
    if any(map(_zoned, labels)):
        return coded_objects([one.replace(tzinfo=None) if _zoned(one) else one for one in values])
    empty = np.array([is_missing(label) for label in labels], dtype=bool)
    if not empty.any():
        return Labels(codes, tuple(labels))
    place = np.where(empty, -1, np.cumsum(~empty) - 1)
    kept = tuple(label for label, gone in zip(labels, empty, strict=True) if not gone)
    return Labels(place[codes] if len(labels) else codes, kept)


def _is_numpys(value: Any) -> bool:
    return isinstance(value, np.number) and not isinstance(value, np.longdouble | np.timedelta64)


def _zoned(value: Any) -> bool:
    return isinstance(value, datetime.datetime) and value.tzinfo is not None


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


def kind_of(value: Any) -> str:
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


def _is_truth_or_missing(value: Any) -> bool:
    return isinstance(value, bool | np.bool_) or is_missing(value)


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


def _iso_times(coded: Labels) -> Times | None:
    """Text that is an ISO date in every row, as times."""
    days = iso_days(coded.labels)
    return None if days is None else Times(_spread(coded, days))
