"""How a column of a table becomes columns of numbers: one frozen value for each kind."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lifenet._shown import shown
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.tables.columns import Column, Labels, Numbers, Times, as_labels, kind_of, text_of_level
from lifenet.tables.texts import MISSING, value_text

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers

__all__ = ["CategoryCode", "ColumnCode", "Feature", "NumberCode", "TimeCode", "number_code"]

_HALF = np.array([0.5])


class Feature(NamedTuple):
    """What readers know of the columns that stand for one thing.

    Attributes
    ----------
    name : of the user's column, or of a part of it
    kind : "number", "boolean", "date", "duration", "category", or of a part of a date "month",
        "weekday" or "hour"
    columns : indices among the columns of the same code
    missing : the one that is 1 where the value is missing; None where there is none
    neutral : what the first column holds there
    """

    name: str
    kind: str
    columns: tuple[int, ...]
    missing: int | None = None
    neutral: float = 0.0


class ColumnCode(Protocol):
    """A code of one column of the user's table."""

    @property
    def name(self) -> str:
        """Of the user's column."""
        ...

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        ...

    @property
    def features(self) -> tuple[Feature, ...]:
        """What stands for what."""
        ...

    @property
    def knows_missing(self) -> bool:
        """Whether training had missing values."""
        ...

    def encode(self, column: Column) -> Floats:
        """Values of the columns, (n, k); errors begin with a verb."""
        ...

    def unknown(self, column: Column) -> Bools:
        """Cells with a category that training did not have, (n,)."""
        ...

    def texts(self, column: Column) -> tuple[tuple[str, ...], ...]:
        """Each cell as people read it: for each feature n texts."""
        ...

    def identity(self, column: Column) -> Floats:
        """A number for each value, whatever was learned, (n,)."""
        ...


@shown
@dataclass(frozen=True, eq=False)
class NumberCode:
    """Numbers as they are; where some are missing, a neutral number and an indicator.

    Attributes
    ----------
    name : of the column
    neutral : the median in training, which stands where a value is missing
    gaps : whether training had missing values, so that there is an indicator of them
    kind : "number", "boolean" or "duration"
    """

    name: str
    neutral: float
    gaps: bool = False
    kind: str = "number"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return (self.name, f"{self.name} is missing") if self.gaps else (self.name,)

    @property
    def knows_missing(self) -> bool:
        """Whether training had missing values."""
        return self.gaps

    @property
    def features(self) -> tuple[Feature, ...]:
        """The column itself."""
        if self.gaps:
            return (Feature(self.name, self.kind, (0, 1), 1, self.neutral),)
        return (Feature(self.name, self.kind, (0,), None, self.neutral),)

    def encode(self, column: Column) -> Floats:
        """The values, and whether they are missing, (n, 1) or (n, 2)."""
        values = self._values(column)
        gone = np.isnan(values)
        filled = np.where(gone, self.neutral, values) if gone.any() else values
        return np.column_stack([filled, gone]) if self.gaps else filled[:, None]

    def texts(self, column: Column) -> tuple[tuple[str, ...], ...]:
        """The values as text."""
        return (tuple(value_text(value, self.kind) for value in self._values(column)),)

    def unknown(self, column: Column) -> Bools:
        """None: ranges say what numbers training had."""
        return np.zeros(len(column.missing), dtype=bool)

    def identity(self, column: Column) -> Floats:
        """The values, NaN where one is missing."""
        values = self._values(column)
        return np.where(np.isnan(values), np.nan, values)

    def _values(self, column: Column) -> Floats:
        if column.missing.all():
            return np.full(len(column.missing), np.nan)
        wanted = "durations" if self.kind == "duration" else "numbers"
        if isinstance(column, Labels):
            raise ValueError(_other_kind(column, wanted))
        given = "numbers"
        if isinstance(column, Times):
            given = "durations" if column.duration else "times"
        if given != wanted:
            raise ValueError(f"holds {given}, and held {wanted} in training. Give {wanted}")
        return column.values


@shown
@dataclass(frozen=True, eq=False)
class TimeCode:
    """Points in time: days since 1970, and those calendar parts that vary.

    Attributes
    ----------
    name : of the column
    neutral : the median day in training
    gaps : whether training had missing values
    parts : those of "month" (1 to 12), "weekday" (Monday is 1) and "hour" (with its fraction)
        that vary in training, each with its median
    """

    name: str
    neutral: float
    gaps: bool
    parts: tuple[tuple[str, float], ...]

    @classmethod
    def learn(cls, name: str, column: Times, weight: Floats) -> TimeCode:
        """Of rows with positive weights."""
        known = ~column.missing
        days, mass = column.values[known], weight[known]
        parts = [(part, _part_of(days, part)) for part in ("month", "weekday", "hour")]
        kept = tuple((part, _median(values, mass)) for part, values in parts if np.ptp(values) > 0)
        return cls(name, _median(days, mass), not known.all(), kept)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        gap = (f"{self.name} is missing",) if self.gaps else ()
        return (self.name, *gap, *(f"{self.name}: {part}" for part, _ in self.parts))

    @property
    def knows_missing(self) -> bool:
        """Whether training had missing values."""
        return self.gaps

    @property
    def features(self) -> tuple[Feature, ...]:
        """The day, and each part by itself."""
        missing = 1 if self.gaps else None
        own = (0, 1) if self.gaps else (0,)
        first = Feature(self.name, "date", own, missing, self.neutral)
        rest = [
            Feature(f"{self.name}: {part}", part, (len(own) + place,), None, neutral)
            for place, (part, neutral) in enumerate(self.parts)
        ]
        return (first, *rest)

    def encode(self, column: Column) -> Floats:
        """Days, whether they are missing, and calendar parts, (n, k)."""
        days = self._days(column)
        gone = np.isnan(days)
        filled = np.where(gone, self.neutral, days)
        table = [filled, *([gone] if self.gaps else [])]
        table += [np.where(gone, mid, _part_of(filled, part)) for part, mid in self.parts]
        return np.column_stack(table).astype(np.float64)

    def texts(self, column: Column) -> tuple[tuple[str, ...], ...]:
        """The day as a date, and its parts."""
        days = self._days(column)
        gone = np.isnan(days)
        parts = [(part, _part_of(np.where(gone, 0.0, days), part)) for part, _ in self.parts]
        return (
            tuple(value_text(day, "date") for day in days),
            *(
                tuple(value_text(value, part) for value in np.where(gone, np.nan, values))
                for part, values in parts
            ),
        )

    def unknown(self, column: Column) -> Bools:
        """None: ranges say what days training had."""
        return np.zeros(len(column.missing), dtype=bool)

    def identity(self, column: Column) -> Floats:
        """Days, NaN where one is missing."""
        days = self._days(column)
        return np.where(np.isnan(days), np.nan, days)

    def _days(self, column: Column) -> Floats:
        if isinstance(column, Times) and not column.duration:
            return column.values
        if column.missing.all():
            return np.full(len(column.missing), np.nan)
        if isinstance(column, Labels):
            raise ValueError(_other_kind(column, "dates"))
        given = "durations" if isinstance(column, Times) else "numbers"
        raise ValueError(f"holds {given}, and held dates in training. Give dates")


@shown
@dataclass(frozen=True, eq=False)
class CategoryCode:
    """Categories: indicators of levels, and where levels are many, codes of what is expected there.

    Attributes
    ----------
    name : of the column
    levels : all that training had, the most frequent first
    own : (n_levels,), the indicator of each level; -1 for a level without one
    indicators : what each indicator says, such as "purpose = car"
    unseen : the indicator of a level that training did not have; -1 for none
    missing : the indicator of a missing value; -1 where training had none
    expected : (n_levels, m), each level's shrunken mean of m targets, less that of all rows
    expected_missing : (m,), that of missing values
    targets : what each of the m targets is, for names
    """

    name: str
    levels: tuple[Any, ...]
    own: Integers
    indicators: tuple[str, ...]
    unseen: int
    missing: int
    expected: Floats
    expected_missing: Floats
    targets: tuple[str, ...] = ()
    share: Floats = field(default_factory=lambda: np.zeros(0))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of numbers."""
        return (*self.indicators, *(f"{self.name} [{target}]" for target in self.targets))

    @property
    def features(self) -> tuple[Feature, ...]:
        """The column itself."""
        missing = self.missing if self.missing >= 0 else None
        return (Feature(self.name, "category", tuple(range(len(self.columns))), missing),)

    @property
    def knows_missing(self) -> bool:
        """Whether training had missing values."""
        return self.missing >= 0

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_number"}

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {level: number for number, level in enumerate(self.levels)}

    @property
    def has_text(self) -> bool:
        """Whether some level is text."""
        return any(isinstance(level, str) for level in self.levels)

    def ids(self, column: Column) -> Integers:
        """The level of each cell, (n,): n_levels where it is unseen, n_levels + 1 where missing.

        Raises
        ------
        ValueError
            Where no cell holds what levels are, such as numbers where levels are text.
        """
        n, given = len(self.levels), as_labels(column)
        place = [self._number.get(label, n) for label in given.labels]
        if place and min(place) == n:
            kinds = {kind_of(level) for level in self.levels}
            if all(kind_of(label) not in kinds for label in given.labels):
                raise ValueError(_other_levels(given, self.levels[0]))
        return np.asarray(np.append(np.array(place, dtype=np.intp), n + 1)[given.codes])

    def encode(self, column: Column) -> Floats:
        """Indicators and expectations, (n, k)."""
        return self.patterns(self.ids(column))

    def patterns(self, ids: Integers) -> Floats:
        """What the columns hold at levels, (n, k)."""
        last = self.missing if self.missing >= 0 else self.unseen
        place = np.append(self.own, [self.unseen, last])[ids]
        table = np.zeros((len(ids), len(self.columns)))
        rows = np.flatnonzero(place >= 0)
        table[rows, place[rows]] = 1.0
        if self.targets:
            nothing = np.zeros((1, len(self.targets)))
            known = np.vstack([self.expected, nothing, self.expected_missing[None]])
            table[:, len(self.indicators) :] = known[ids]
        return table

    def level_names(self) -> tuple[str, ...]:
        """What each level is called."""
        return tuple(text_of_level(level) for level in self.levels)

    def texts(self, column: Column) -> tuple[tuple[str, ...], ...]:
        """The level of each cell, also where training did not have it."""
        labels = as_labels(column)
        names = (*(text_of_level(label) for label in labels.labels), MISSING)
        return (tuple(names[code] for code in labels.codes),)

    def unknown(self, column: Column) -> Bools:
        """Cells with a level that training did not have, (n,)."""
        return np.asarray(self.ids(column) == len(self.levels))

    def identity(self, column: Column) -> Floats:
        """A number for each level that depends on its name alone, (n,)."""
        labels = as_labels(column)
        known = [_hash(text_of_level(label)) for label in labels.labels]
        return np.asarray(np.append(np.array(known, dtype=np.float64), np.nan)[labels.codes])


def number_code(name: str, column: Numbers | Times, weight: Floats) -> NumberCode:
    """Of rows with positive weights, some of them with a value."""
    known = ~column.missing
    kind = "number"
    if isinstance(column, Times):
        kind = "duration"
    elif column.boolean:
        kind = "boolean"
    neutral = _median(column.values[known], weight[known])
    return NumberCode(name, neutral, not known.all(), kind)


def _median(values: Floats, weight: Floats) -> float:
    return float(weighted_quantiles(values, weight, _HALF)[0])


def _part_of(days: Floats, part: str) -> Floats:
    """A calendar part of days since 1970, (n,)."""
    whole = np.floor(days)
    if part == "hour":
        return np.round(24 * (days - whole), 6)
    if part == "weekday":
        return np.asarray((whole + 3) % 7 + 1)
    dates = whole.astype(np.int64).astype("datetime64[D]")
    return np.asarray(dates.astype("datetime64[M]").astype(np.int64) % 12 + 1, dtype=np.float64)


def _hash(text: str) -> float:
    number = int.from_bytes(
        blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest(), "little"
    )
    return (number >> 11) * 2.0**-53


def _other_levels(column: Labels, level: Any) -> str:
    """What is wrong with levels of which none is of a kind that levels were."""
    label, held = column.labels[0], kind_of(level)
    return (
        f"holds {label!r} in row {column.first_row(0)}, {kind_of(label)}, and held {level!r}, "
        f"{held}, in training. Give the same kind as in training"
    )


def _other_kind(column: Labels, kind: str) -> str:
    """What is wrong with text where something else was."""
    row = column.first_row(0)
    return (
        f"holds {column.labels[0]!r} in row {row}, and held {kind} in training. Give {kind}, or "
        "leave the cell empty"
    )
