"""Values of a column as people read them: dates as dates, truth values as words."""

from __future__ import annotations

import numpy as np

from lifenet.kernels.numbers import number_text

__all__ = ["MISSING", "OTHER", "TRUTHS", "value_text"]

#: What an empty cell is called.
MISSING = "missing"
#: What the levels are called that have no indicator of their own.
OTHER = "other levels"
TRUTHS = ("no", "yes")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = (
    *("Jan", "Feb", "Mar", "Apr", "May", "Jun"),
    *("Jul", "Aug", "Sep", "Oct", "Nov", "Dec"),
)
_WORDS = {"boolean": (0, TRUTHS), "weekday": (1, _WEEKDAYS), "month": (1, _MONTHS)}
_MINUTES = 1440


def value_text(value: float, kind: str = "number", digits: int = 4) -> str:
    """A value of a column of numbers as text.

    Parameters
    ----------
    kind : of a `Feature`; what is none of the known ones is a number
    """
    if np.isnan(value):
        return MISSING
    if kind == "date":
        return _date_text(value)
    first, words = _WORDS.get(kind, (0, ()))
    if float(value).is_integer() and 0 <= value - first < len(words):
        return words[int(value) - first]
    text = number_text(value, digits)
    return f"{text} days" if kind == "duration" else text


def _date_text(days: float) -> str:
    """Days since 1970 as ISO 8601 writes them, to the minute where there is a time of day."""
    minutes = round(float(days) * _MINUTES)
    if minutes % _MINUTES == 0:
        return str(np.datetime64(minutes // _MINUTES, "D"))
    return str(np.datetime64(minutes, "m")).replace("T", " ")
