"""Columns of the user's table as plain data, which every file format can hold."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.tables import CategoryCode, NumberCode, TimeCode
from lifenet.tables.columns import as_labels, kind_of
from lifenet.tables.times import days_of, length_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.tables import TableCoding

__all__ = ["Field", "fields_of", "read_cells"]

#: What levels are, by the kind of their values.
_LEVELS = {"text": "text", "truth value": "number", "number": "number"}
_TIMES = {"time": "date", "duration": "duration"}


@dataclass(frozen=True, eq=False)
class Field:
    """One column of the user's table, and the columns of numbers that it becomes.

    Attributes
    ----------
    name : of the column
    kind : "number", "boolean", "duration" (in days), "date" (days since 1970) or "category"
    columns : indices among the columns of numbers
    neutral : what stands where a number or a date is missing
    gaps : whether the second column says that the value is missing
    parts : of a date, those of "month", "weekday" and "hour" that have a column, each with what
        stands where the date is missing
    level_kind : of a category, what its levels are: "text", "number", "date" or "duration"
    levels : text, or numbers (of dates and durations, days)
    patterns : (n_levels + 2, n_columns), what the columns hold at each level, at one that training
        did not have, and where the value is missing
    share : (n_levels + 2,), the share of the training rows that had each of these
    """

    name: str
    kind: str
    columns: tuple[int, ...]
    neutral: float = 0.0
    gaps: bool = False
    parts: tuple[tuple[str, float], ...] = ()
    level_kind: str = ""
    levels: tuple[str | float, ...] = ()
    patterns: Floats | None = None
    share: Floats | None = None


def fields_of(table: TableCoding) -> tuple[Field, ...]:
    """The columns of a table.

    Raises
    ------
    ValueError
        Where a column has levels that files cannot hold.
    """
    pairs = zip(table.codes, table.columns_of, strict=True)
    return tuple(_field(code, columns) for code, columns in pairs)


def _field(code: Any, columns: tuple[int, ...]) -> Field:
    if isinstance(code, NumberCode):
        return Field(code.name, code.kind, columns, code.neutral, code.gaps)
    if isinstance(code, TimeCode):
        return Field(code.name, "date", columns, code.neutral, code.gaps, code.parts)
    if not isinstance(code, CategoryCode):
        raise TypeError(
            f"Column {code.name!r} is coded by a {type(code).__name__}, which cannot be exported."
        )
    kind, levels = _levels(code)
    patterns = code.patterns(np.arange(len(levels) + 2))
    *known, missing = code.share.tolist()
    return Field(
        code.name,
        "category",
        columns,
        level_kind=kind,
        levels=levels,
        patterns=patterns,
        share=np.array([*known, 0.0, missing]),
    )


def _levels(code: CategoryCode) -> tuple[str, tuple[str | float, ...]]:
    """What the levels of a category are, and each as text or as a number."""
    kinds = {kind_of(level) for level in code.levels}
    found: tuple[str | float, ...] = ()
    kind = ""
    if kinds <= set(_LEVELS):
        kind = _LEVELS[min(kinds)] if len({_LEVELS[one] for one in kinds}) == 1 else ""
        found = tuple(one if isinstance(one, str) else float(one) for one in code.levels)
    elif len(kinds) == 1 and kinds <= set(_TIMES):
        kind = _TIMES[min(kinds)]
        found = tuple(_days(level, kind) for level in code.levels)
    if not kind or len(set(found)) < len(found):
        shown = ", ".join(map(repr, code.levels[:3]))
        raise ValueError(
            f"Column {code.name!r} has levels that a file cannot tell apart or hold ({shown}): "
            "they must be all text, all numbers of at most 15 digits, all dates or all durations. "
            "Make text of them before fit."
        )
    return kind, found


def read_cells(
    table: TableCoding, X: Any, missing_text: Callable[[Field], str]
) -> list[npt.NDArray[Any]]:
    """The columns of a user's table as fields hold their values, (n, 1) each.

    Parameters
    ----------
    missing_text : what stands for a missing value of a column of text
    """
    read = table.read(X)
    table.encode(read)  # refuses what columns cannot be
    found = []
    for number, (code, field) in enumerate(zip(table.codes, fields_of(table), strict=True)):
        column: Any = read[number]
        if not isinstance(code, CategoryCode):
            found.append(np.asarray(code.identity(column), dtype=np.float64)[:, None])
            continue
        labels = as_labels(column)
        if field.level_kind == "text":
            texts = [*map(str, labels.labels), missing_text(field)]
            found.append(np.array(texts, dtype=object)[labels.codes][:, None])
        else:
            given = [_level_number(one, field.level_kind) for one in labels.labels]
            found.append(np.array([*given, np.nan])[labels.codes][:, None])
    return found


def _level_number(level: Any, kind: str) -> float:
    """A level that is no text; infinite, and so unseen, where it is of another kind."""
    held = kind_of(level)
    if _LEVELS.get(held, _TIMES.get(held)) != kind:
        return np.inf
    return float(level) if kind == "number" else _days(level, kind)


def _days(level: Any, kind: str) -> float:
    if kind == "duration":
        return length_of(level)
    if isinstance(level, datetime.datetime) or not isinstance(level, datetime.date):
        return days_of(level)
    return float(level.toordinal() - datetime.date(1970, 1, 1).toordinal())
