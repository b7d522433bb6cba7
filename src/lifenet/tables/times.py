"""Points in time and durations as days, to the microsecond, whatever held them.

Within 65,536 days of 1970, until the year 2149, a float tells every microsecond from the next.
"""

from __future__ import annotations

import datetime
import re
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats

__all__ = ["DAY", "days_of", "days_of_array", "hours_of", "iso_days", "label_of_time", "length_of"]

#: Microseconds of a day.
DAY = 86_400e6
_MICROSECOND = datetime.timedelta(microseconds=1)
_EPOCH = datetime.datetime(1970, 1, 1)
#: A date, or a date and a time of day, as ISO 8601 writes them.
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?", re.ASCII)
#: Characters of such a text up to the microsecond.
_ISO_MICROSECONDS = 26
#: Units that are a whole number of microseconds, and those that a microsecond is a number of.
_WHOLE, _FINER = ("W", "D", "h", "m", "s", "ms", "us"), ("ns", "ps", "fs", "as")


def days_of_array(values: npt.NDArray[Any]) -> Floats:
    """Days since 1970, or days that durations have, of numpy's times (n,); NaN for NaT.

    Raises
    ------
    ValueError
        Where a time is too far off, or a unit has no fixed length. The message begins with a verb.
    """
    unit = np.datetime_data(values.dtype)[0]
    duration = values.dtype.kind == "m"
    if duration and unit not in (*_WHOLE, *_FINER):
        raise ValueError(
            "holds durations in years, months or no unit, which have no fixed length. Give days"
        )
    gone = np.isnat(values)
    whole = values.astype(f"{values.dtype.kind}8[us]")
    if unit not in _FINER:
        # Numpy does not say that a number of microseconds left the range of 64 bits.
        far = np.flatnonzero((whole.astype(values.dtype) != values) & ~gone)
        if len(far):
            what = "duration" if duration else "time"
            raise ValueError(
                f"holds a {what} too far off in row {far[0]}: {values[far[0]]}. Years must be "
                "within 290,000 of 1970; mend the value"
            )
    elif duration:
        # Casts of durations round towards zero; all else rounds down.
        fine = np.timedelta64(1, "us").astype(values.dtype).astype(np.int64)
        whole = (values.astype(np.int64) // max(int(fine), 1)).astype("m8[us]")
    return np.where(gone, np.nan, whole.astype(np.int64) / DAY)


def days_of(value: Any) -> float:
    """Days since 1970 of a point in time, by the clock that it was given in."""
    if isinstance(value, np.datetime64):
        return float(days_of_array(np.array([value]))[0])
    if isinstance(value, datetime.datetime):
        value = value.replace(tzinfo=None)
    return float(np.datetime64(value, "us").astype(np.int64)) / DAY


def length_of(value: Any) -> float:
    """Days that a duration has."""
    if isinstance(value, np.timedelta64):
        return float(days_of_array(np.array([value]))[0])
    return float(value // _MICROSECOND) / DAY


def hours_of(value: datetime.time) -> float:
    """Hours since midnight, with their fraction."""
    return value.hour + value.minute / 60 + (value.second + value.microsecond * 1e-6) / 3600


def iso_days(labels: Sequence[str]) -> list[float] | None:
    """Days of texts that are all dates, as ISO 8601 writes them; None where one is not."""
    if not all(_ISO.fullmatch(label) for label in labels):
        return None
    try:
        return [
            days_of(np.datetime64(label.replace(" ", "T")[:_ISO_MICROSECONDS])) for label in labels
        ]
    except ValueError:  # such as the 31st of February
        return None


def label_of_time(days: float, *, duration: bool) -> Any:
    """What people read as a time: a date, a date and a time of day, or a duration."""
    try:
        length = datetime.timedelta(microseconds=round(days * DAY))
        if duration:
            return length
        moment = _EPOCH + length
    except OverflowError:  # beyond the years that Python's dates have
        return days
    return moment if days % 1 else moment.date()
