"""Axes of values of any kind: dates as dates, truth values as words, missing values apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.plots._style import GREY, INK, matplotlib
from lifenet.tables import MISSING, value_text

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["TICKED", "few_ticks", "mark_missing", "mark_values", "place_of_missing"]

#: Up to so many values have a tick each.
TICKED = 8
#: Ticks where values are many.
_TICKS = 4
#: How far from the values a missing one stands, as a share of their range.
_APART = 0.14


def mark_values(axis: Any, values: Floats, kind: str = "number") -> None:
    """Ticks: at each value of a column that has few, at few dates, at words."""
    if kind == "date":
        dates = matplotlib("dates")
        locator = dates.AutoDateLocator(minticks=2, maxticks=_TICKS)
        axis.set_major_locator(locator)
        axis.set_major_formatter(dates.AutoDateFormatter(locator))
    elif len(values) <= TICKED:
        axis.set_ticks(values, [_short(value, kind) for value in values])
    elif kind in ("weekday", "month"):
        shown = values[:: -(-len(values) // 6)]
        axis.set_ticks(shown, [_short(value, kind) for value in shown])


def _short(value: float, kind: str) -> str:
    return f"{value:g}" if kind in ("number", "duration") else value_text(value, kind)


def few_ticks(axis: Any, values: Floats, kind: str, most: int = _TICKS) -> None:
    """No more than some ticks, where values are many and ticks are not words or dates."""
    known = values[np.isfinite(values)]
    if len(known) <= TICKED or kind not in ("number", "duration", "hour"):
        return
    if len(known) == len(values):
        axis.get_major_locator().set_params(nbins=most)
        return
    # None beside the missing values, nor beyond what is shown.
    ax = axis.axes
    shown = ax.get_xlim() if axis.axis_name == "x" else ax.get_ylim()
    low, high = max(known[0], min(shown)), min(known[-1], max(shown))
    ticks = matplotlib("ticker").MaxNLocator(most).tick_values(low, high)
    axis.set_ticks(ticks[(ticks >= low) & (ticks <= high)])


def place_of_missing(values: Floats) -> float:
    """Where missing values stand beside others, which have no place: below the lowest."""
    width = float(values[-1] - values[0]) or 1.0
    return float(values[0]) - _APART * width


def mark_missing(ax: Any, place: float, edge: float, *, upright: bool = False) -> None:
    """Say what stands at a place beside the values, and part it from them by a line.

    The word stands below the ticks of the values.
    """
    line = {"color": GREY, "lw": 0.6, "ls": (0, (2, 2)), "zorder": 1}
    word: dict[str, Any] = {"fontsize": 7, "color": INK, "textcoords": "offset points"}
    if upright:
        ax.axhline((place + edge) / 2, **line)
        ax.annotate(
            MISSING, (0, place), (-4, 0), xycoords=("axes fraction", "data"), ha="right",
            va="center", **word,
        )  # fmt: skip
    else:
        ax.axvline((place + edge) / 2, **line)
        ax.annotate(
            MISSING, (place, 0), (0, -13), xycoords=("data", "axes fraction"), ha="center",
            va="top", **word,
        )  # fmt: skip
