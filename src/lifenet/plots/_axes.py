"""Axes of values of any kind: dates as dates, truth values as words, missing values apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.plots._style import GREY, INK, fold, matplotlib
from lifenet.tables import MISSING, value_text

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["TICKED", "few_ticks", "mark_levels", "mark_missing", "mark_values", "place_of_missing"]

#: Up to so many values have a tick each.
TICKED = 8
#: Ticks where values are many.
_TICKS = 4
#: Numbers with more letters have every other tick alone.
_LETTERS = 5
#: Levels that are named on the axis of a map.
_LEVELS = 14
#: How far from the values a missing one stands, as a share of their range.
_APART = 0.14


def mark_values(axis: Any, values: Floats, kind: str = "number") -> None:
    """Ticks: at each value of a column that has few, at few dates, at words."""
    if kind == "date":
        axis.set_ticks(*_dates(float(values[0]), float(values[-1])))
    elif len(values) <= TICKED:
        axis.set_ticks(values, [_short(value, kind) for value in values])
    elif kind in ("weekday", "month"):
        shown = values[:: -(-len(values) // 6)]
        axis.set_ticks(shown, [_short(value, kind) for value in shown])


def mark_levels(axis: Any, labels: tuple[str, ...]) -> None:
    """The names of levels; of many, of some."""
    shown = np.arange(0, len(labels), -(-len(labels) // _LEVELS))
    axis.set_ticks(shown, fold([labels[one] for one in shown], 12))


def _dates(low: float, high: float) -> tuple[Floats, list[str]]:
    """Few round dates of a range of days since 1970, and what they are called."""
    first, last = (np.datetime64(int(np.floor(day)), "D") for day in (low, high))
    months = np.arange(first.astype("datetime64[M]"), last.astype("datetime64[M]") + 1)
    for step in (1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200):
        round_ones = months[months.astype(np.int64) % step == 0].astype("datetime64[D]")
        ticks = round_ones[(round_ones >= first) & (round_ones <= last)]
        letters = 4 if step >= 12 else 7
        if 2 <= len(ticks) <= (_TICKS if letters == 4 else _TICKS - 1):
            return ticks.astype(np.float64), [str(tick)[:letters] for tick in ticks]
    places = np.unique(np.floor(np.linspace(low, high, 3)))
    return places, [value_text(place, "date") for place in places]


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
    whole = bool((known == np.round(known)).all())
    ticks = matplotlib("ticker").MaxNLocator(most, integer=whole).tick_values(low, high)
    ticks = ticks[(ticks >= low) & (ticks <= high)]
    long = max((len(f"{tick:g}") for tick in ticks), default=0) > _LETTERS
    axis.set_ticks(ticks[::2] if long and len(ticks) > 2 and axis.axis_name == "x" else ticks)


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
        low, high = sorted(ax.get_ylim())
        ticks = [tick for tick in ax.get_yticks() if max(edge, low) <= tick <= high]
        texts = ax.yaxis.get_major_formatter().format_ticks(ticks)
        ax.set_yticks([place, *ticks], [MISSING, *texts])
    else:
        ax.axvline((place + edge) / 2, **line)
        ax.annotate(
            MISSING, (place, 0), (0, -13), xycoords=("data", "axes fraction"), ha="center",
            va="top", **word,
        )  # fmt: skip
