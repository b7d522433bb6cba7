"""Forms of what is known of the columns: how a table is coded, the schema, labels of classes."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet.archive.arrays import DTYPES
from lifenet.archive.errors import NotStorableError
from lifenet.archive.forms import (
    Array,
    Choice,
    Fields,
    Many,
    Maybe,
    Number,
    Numbers,
    OneOf,
    Row,
    Shared,
    Text,
    Texts,
    Truth,
    Whole,
    Wholes,
    damaged,
    made,
)
from lifenet.schema import ColumnValues, FeatureSchema
from lifenet.tables import CategoryCode, NumberCode, TableCoding, TimeCode

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet.archive.arrays import Sink, Source

__all__ = ["LABELS", "SCHEMA", "TABLE"]

_MICROSECOND = datetime.timedelta(microseconds=1)


def _truth_of(text: str) -> bool:
    if text not in ("True", "False"):
        raise ValueError(f"{text!r} is no truth value")
    return text == "True"


def _text_of_interval(interval: Any) -> str:
    """An interval of numbers: the side that is closed, and the kind and the text of both ends."""
    ends = [_kind_and_text(end) for end in (interval.left, interval.right)]
    if not {kind for kind, _ in ends} <= {"whole", "number"}:
        raise NotStorableError(f"{interval!r} is no interval of numbers")
    return " ".join([interval.closed, *(part for end in ends for part in end)])


def _interval_of(text: str) -> Any:
    closed, *ends = text.split(" ")
    left, right = (_KINDS[kind][2](end) for kind, end in (ends[:2], ends[2:]))
    pandas = require("pandas", extra="data", purpose="Reading a model of intervals")
    return pandas.Interval(left, right, closed=closed)


# Kinds of levels: their types, and the way to text and back. Their order is part of the format.
_KINDS: dict[str, tuple[type | None, Callable[[Any], str], Callable[[str], Any]]] = {
    "text": (str, str, str),
    "whole": (int, str, int),
    "number": (float, float.hex, float.fromhex),
    "truth": (bool, str, _truth_of),
    "date": (datetime.date, datetime.date.isoformat, datetime.date.fromisoformat),
    "time": (datetime.datetime, datetime.datetime.isoformat, datetime.datetime.fromisoformat),
    "duration": (
        datetime.timedelta,
        lambda value: str(value // _MICROSECOND),
        lambda text: int(text) * _MICROSECOND,
    ),
    "time of day": (datetime.time, datetime.time.isoformat, datetime.time.fromisoformat),
    "decimal": (Decimal, str, Decimal),
    "interval": (None, _text_of_interval, _interval_of),
}
_NUMBER_OF = {kind: number for number, kind in enumerate(_KINDS)}


def _kind_and_text(level: Any) -> tuple[str, str]:
    """The kind of a level, and its text."""
    if isinstance(level, np.generic):
        level = level.item()
    for kind, (known, write, _) in _KINDS.items():
        if type(level) is known:
            return kind, write(level)
    if type(level).__name__ == "Interval" and type(level).__module__.split(".")[0] == "pandas":
        return "interval", _text_of_interval(level)
    raise NotStorableError(
        f"{level!r} is a {type(level).__name__}; levels and labels must be texts, numbers, truth "
        "values, times or intervals of numbers"
    )


@dataclass(frozen=True)
class _Levels:
    """A tuple of levels of a category: their kinds, and their texts."""

    def write(self, value: Any, sink: Sink, at: str) -> dict[str, Any]:
        """One kind where all have it."""
        try:
            pairs = [_kind_and_text(level) for level in value]
        except NotStorableError as error:
            raise NotStorableError(f"{at}: {error}") from None
        kinds = [kind for kind, _ in pairs]
        texts = Texts().write(tuple(text for _, text in pairs), sink, at)
        if len(set(kinds)) == 1:
            return {"kind": kinds[0], "texts": texts}
        numbers = Wholes.write([_NUMBER_OF[kind] for kind in kinds], sink, f"{at}.kinds")
        return {"kind": numbers, "texts": texts}

    def read(self, node: Any, source: Source, at: str) -> tuple[Any, ...]:
        """Levels, each of them once."""
        if not isinstance(node, dict) or set(node) != {"kind", "texts"}:
            damaged(at, "levels")
        given = node["kind"]
        texts = Texts().read(node["texts"], source, at)
        if isinstance(given, str):
            kinds = [given] * len(texts)
        else:
            names, numbers = tuple(_KINDS), Wholes.read(given, source, at)
            kinds = [names[one] if 0 <= one < len(names) else "" for one in numbers]
        if len(kinds) != len(texts) or not _KINDS.keys() >= set(kinds):
            damaged(at, "the kinds of the levels")
        levels = tuple(
            made(at, _KINDS[kind][2], text) for kind, text in zip(kinds, texts, strict=True)
        )
        if len(set(levels)) < len(levels) or any(one != one for one in levels):
            damaged(at, "levels that differ")
        return levels


_KIND_OF_NUMBERS = Choice(("number", "boolean", "duration"))
_PART = Choice(("month", "weekday", "hour"))


def _category(**fields: Any) -> CategoryCode:
    """A code whose parts fit together."""
    code = CategoryCode(**fields)
    n, width = len(code.levels), len(code.indicators)
    inside = all(-1 <= one < width for one in (code.unseen, code.missing))
    inside = inside and bool(((code.own >= -1) & (code.own < width)).all())
    shapes = (
        code.own.shape == (n,)
        and code.expected.shape == (n, len(code.targets))
        and code.expected_missing.shape == (len(code.targets),)
        and code.share.shape in ((0,), (n + 1,))
    )
    if not (inside and shapes):
        raise ValueError(f"indicators and levels of {code.name!r} do not match")
    return code


_CODE = OneOf(
    {
        "number": (
            NumberCode,
            Fields(
                NumberCode,
                {"name": Text(), "neutral": Number(), "gaps": Truth(), "kind": _KIND_OF_NUMBERS},
            ),
        ),
        "time": (
            TimeCode,
            Fields(
                TimeCode,
                {
                    "name": Text(),
                    "neutral": Number(),
                    "gaps": Truth(),
                    "parts": Many(Row((_PART, Number()))),
                },
            ),
        ),
        "category": (
            CategoryCode,
            Fields(
                CategoryCode,
                {
                    "name": Text(),
                    "levels": _Levels(),
                    "own": Array(1, ("<i8", "<i4")),
                    "indicators": Texts(),
                    "unseen": Whole(-1),
                    "missing": Whole(-1),
                    "expected": Array(2),
                    "expected_missing": Array(1),
                    "targets": Texts(),
                    "share": Array(1),
                },
                build=_category,
            ),
        ),
    }
)


def _table(**fields: Any) -> TableCoding:
    table = TableCoding(**fields)
    if not table.codes or len(set(table.names)) < len(table.names):
        raise ValueError("a table needs columns with names of their own")
    for code in table.codes:
        held: list[Any] = []
        if isinstance(code, CategoryCode):
            held = [code.expected, code.expected_missing]
        elif isinstance(code, NumberCode | TimeCode):
            held = [code.neutral]
        if not all(np.isfinite(one).all() for one in held):
            raise ValueError(f"the code of {code.name!r} must be finite")
    return table


#: How a table is coded.
TABLE = Shared(Fields(TableCoding, {"codes": Many(_CODE), "named": Truth()}, build=_table))


def _parts_of_values(value: tuple[ColumnValues, ...]) -> dict[str, Any]:
    nothing: list[Any] = [np.zeros(0)]
    return {
        "lengths": tuple(len(one.values) for one in value),
        "values": np.concatenate(nothing + [one.values for one in value]),
        "counts": np.concatenate(nothing + [one.counts for one in value]),
        "span": tuple(one.span for one in value),
    }


def _values_of(lengths: Any, values: Any, counts: Any, span: Any) -> tuple[ColumnValues, ...]:
    """Values of every column, ascending."""
    fits = len(lengths) == len(span) and min(lengths, default=0) >= 0
    if not fits or not sum(lengths) == len(values) == len(counts):
        raise ValueError("values, counts and their lengths do not match")
    ends = np.cumsum(lengths)[:-1]
    if not (np.isfinite(values).all() and np.isfinite(counts).all()):
        raise ValueError("values of columns must be finite")
    found = []
    for own, weight, width in zip(
        np.split(values, ends), np.split(counts, ends), span, strict=True
    ):
        if not (np.diff(own) > 0).all():
            raise ValueError("values of a column must ascend")
        found.append(ColumnValues(own.copy(), weight.copy(), width))
    return tuple(found)


_VALUES = Fields(
    tuple,
    {"lengths": Wholes, "values": Array(1), "counts": Array(1), "span": Numbers},
    _parts_of_values,
    _values_of,
)

#: What is known of the columns.
SCHEMA = Fields(
    FeatureSchema,
    {
        "names": Texts(),
        "lower": Numbers,
        "upper": Numbers,
        "groups": Many(Row((Text(), Wholes))),
        "values": _VALUES,
        "table": Maybe(TABLE),
    },
)


@dataclass(frozen=True)
class _Labels:
    """The labels of classes, an array of one axis."""

    def write(self, value: Any, sink: Sink, at: str) -> dict[str, Any]:
        """Numbers, texts of a width, or objects."""
        kind = value.dtype.kind
        if kind in "biuf":
            return {"numbers": sink.put(value, at)}
        if kind == "U":
            width = max(value.dtype.itemsize // 4, 1)
            return {"width": width, "texts": Texts().write(value.tolist(), sink, at)}
        if kind in "OT":
            if kind == "T":
                value = value.astype(object)
            return {"objects": _Levels().write(value.tolist(), sink, at)}
        raise NotStorableError(f"{at} has dtype {value.dtype}, which an archive does not hold")

    def read(self, node: Any, source: Source, at: str) -> Any:
        """An array of one axis."""
        keys = set(node) if isinstance(node, dict) else set()
        if keys == {"numbers"}:
            return Array(1, tuple(DTYPES)).read(node["numbers"], source, at)
        if keys == {"width", "texts"}:
            width = Whole(1).read(node["width"], source, at)
            texts = Texts().read(node["texts"], source, at)
            if max(map(len, texts), default=0) > width or 4 * width * len(texts) > source.max_bytes:
                damaged(at, "texts as wide as is said")
            return np.array(texts, dtype=f"<U{width}")
        if keys != {"objects"}:
            damaged(at, "labels of classes")
        levels = _Levels().read(node["objects"], source, at)
        labels = np.empty(len(levels), dtype=object)
        labels[:] = levels
        return labels


#: Labels of classes.
LABELS = _Labels()
