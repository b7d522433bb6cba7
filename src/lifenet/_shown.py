"""How results show themselves: in a line or two, and in notebooks as a small table."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from html import escape
from typing import Any, TypeVar

import numpy as np

__all__ = ["shown"]

_Kind = TypeVar("_Kind", bound=type)

#: Longest text of one field, most entries that are written out, and rows of a table in a notebook.
_LONGEST, _MOST_ENTRIES, _MOST_ROWS = 60, 4, 12
#: How an array is told that is too long to be written out.
_ARRAY = "array of shape"


def shown(kind: _Kind) -> _Kind:
    """Give a dataclass a short repr, and a table for notebooks."""
    assert is_dataclass(kind)
    kind.__repr__ = _repr  # type: ignore[method-assign]
    kind._repr_html_ = _repr_html  # type: ignore[attr-defined]
    return kind


def _repr(self: Any) -> str:
    pairs = [f"{name}={text}" for name, text in _told(self)]
    return f"{type(self).__name__}({', '.join(pairs)})"


def _repr_html(self: Any) -> str:
    frame = _frame_of(self)
    # What the table below holds need not be told as a shape.
    told = [(name, text) for name, text in _told(self) if not (frame and text.startswith(_ARRAY))]
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(text)}</td></tr>"
        for name, text in told
    )
    return f"<div><strong>{escape(type(self).__name__)}</strong><table>{rows}</table>{frame}</div>"


def _told(self: Any) -> list[tuple[str, str]]:
    """The fields that are shown, each in a few words."""
    return [(one.name, _summary(getattr(self, one.name))) for one in fields(self) if one.repr]


def _summary(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, np.ndarray):
        short = value.ndim == 1 and len(value) <= _MOST_ENTRIES
        if short and value.dtype.kind in "fiub":
            return f"[{', '.join(_summary(one) for one in value.tolist())}]"
        return f"{_ARRAY} {value.shape}"
    if isinstance(value, tuple | list):
        return _sequence(value)
    if isinstance(value, dict):
        return f"{len(value)} entries" if len(value) > _MOST_ENTRIES else _cut(repr(value))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__
    return _cut(repr(value))


def _sequence(value: tuple[Any, ...] | list[Any]) -> str:
    if len(value) <= _MOST_ENTRIES and not any(is_dataclass(one) for one in value):
        text = ", ".join(_summary(one) for one in value)
        if len(text) <= _LONGEST:
            return f"({text})"
    kinds = {type(one).__name__ for one in value}
    return f"({len(value)} of {kinds.pop() if len(kinds) == 1 else 'several kinds'})"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _frame_of(self: Any) -> str:
    """The first rows of the result's table, where pandas is there to make one."""
    if not hasattr(self, "to_frame"):
        return ""
    try:
        frame = self.to_frame()
    except ImportError:
        return ""
    more = len(frame) - _MOST_ROWS
    rest = f"<p>and {more} more rows: to_frame()</p>" if more > 0 else ""
    return str(frame.head(_MOST_ROWS).to_html(index=False, border=0)) + rest
