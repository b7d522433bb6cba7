"""One look for all pictures: colours safe for the colour-blind, ink, sizes, grids of panels."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "BLUE",
    "COLOURS",
    "DIVERGING",
    "GREY",
    "INK",
    "ORANGE",
    "PALE",
    "SEQUENTIAL",
    "VERMILION",
    "columns_for",
    "fold",
    "folded_to",
    "make_axes",
    "make_panels",
    "matplotlib",
    "put_legend",
    "show_middle",
    "tidy",
]

# Of Okabe and Ito, black and the pale yellow aside.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9")
BLUE, ORANGE, VERMILION = COLOURS[0], COLOURS[1], COLOURS[4]
INK, GREY, PALE = "#222222", "#777777", "#DDDDDD"
#: Negative in orange, positive in blue, zero white; and from white to dark.
DIVERGING, SEQUENTIAL = "PuOr", "Blues"


def matplotlib(module: str) -> Any:
    """A module of matplotlib, such as "pyplot" or "colors"."""
    return require(f"matplotlib.{module}", extra="plots", purpose="Drawing")


def make_axes(ax: Any, size: tuple[float, float]) -> tuple[Any, Any]:
    """The figure and axes to draw on: those given, or new ones of a size in inches."""
    if ax is not None:
        return ax.figure, ax
    figure = matplotlib("pyplot").figure(figsize=size, layout="constrained")
    return figure, figure.add_subplot()


def make_panels(
    ax: Any, n_rows: int, n_columns: int, panel: tuple[float, float], **spacing: Any
) -> tuple[Any, Any]:
    """A figure, and a grid in it for several panels: a new one, or one in the place of `ax`.

    Parameters
    ----------
    ax : matplotlib Axes or None
        One of a grid, as `plt.subplots` makes; its frame is hidden, and a subfigure takes its
        place, with a title and a layout of its own.
    panel : width and height of a panel in inches, in a new figure
    spacing : `hspace`, `wspace` in the place of an `ax` whose figure has no layout of its own
    """
    if ax is None:
        size = (panel[0] * n_columns + 0.3, panel[1] * n_rows + 0.5)
        figure = matplotlib("pyplot").figure(figsize=size, layout="constrained")
        return figure, figure.add_gridspec(n_rows, n_columns)
    spec = ax.get_subplotspec()
    if spec is None:
        raise ValueError("ax must be one of a grid; make it with plt.subplots().")
    ax.set_axis_off()
    ax.set_in_layout(False)
    place = ax.figure.add_subfigure(spec)
    return place, place.add_gridspec(n_rows, n_columns, **({} if laid_out(ax) else spacing))


def laid_out(ax: Any) -> bool:
    """Whether the figure of some axes makes room for labels by itself."""
    return ax.figure.get_layout_engine() is not None


def columns_for(n_panels: int) -> int:
    """How many panels stand side by side: three or four, whichever leaves fewer places empty."""
    return min(n_panels, min((4, 3), key=lambda columns: -n_panels % columns))


def tidy(ax: Any, *, size: float = 8.0) -> None:
    """Thin frame on two sides, small ticks, ink instead of black."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set(color=GREY, linewidth=0.6)
    ax.tick_params(labelsize=size, color=GREY, labelcolor=INK, width=0.6, length=3)
    for label in (ax.xaxis.label, ax.yaxis.label):
        label.set(fontsize=size + 1, color=INK)
    ax.title.set(fontsize=size + 1.5, color=INK)


def show_middle(ax: Any, values: Any, weight: Any, share: float = 0.98) -> None:
    """End the horizontal axis where the middle share of values ends, with a little room."""
    if not len(values):
        return
    order = np.argsort(values)
    reached = np.cumsum(weight[order]) / np.sum(weight)
    low, high = np.interp([(1 - share) / 2, (1 + share) / 2], reached, values[order])
    if np.isfinite(high - low) and high > low:
        ax.set_xlim(low - 0.03 * (high - low), high + 0.03 * (high - low))


def folded_to(place: Any, text: str, size: float) -> str:
    """Text folded to the width of a figure or a part of one, for letters of a size in points."""
    letters = max(24, int(72 * _width(place) / (0.54 * size)))
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def put_legend(place: Any, ax: Any, handles: Sequence[Any]) -> None:
    """What the marks of several panels mean, below them; `ax` is where these were asked for."""
    if not handles:
        return
    letters = [len(one.get_label()) for one in handles]
    outside = ax is None or laid_out(ax)
    place.legend(
        handles=list(handles),
        fontsize=8,
        frameon=False,
        labelcolor=INK,
        ncols=_columns(letters, 72 * _width(place)),
        loc="outside lower center" if outside else "lower center",
    )


def _columns(letters: Sequence[int], points: float) -> int:
    """In how many columns a legend of labels with so many letters fits into a width."""
    for n in range(len(letters), 1, -1):
        parts = np.array_split(np.array(letters), n)
        if sum(4.6 * part.max() + 38 for part in parts) <= points:
            return n
    return 1


def _width(place: Any) -> float:
    """Width of a figure, or of a part of one, in inches."""
    return float(place.bbox.width / place.figure.dpi)


def fold(names: Sequence[str], width: int = 18) -> list[str]:
    """Names shortened in the middle where they are longer than a number of letters."""
    half = (width - 1) // 2
    return [name if len(name) <= width else f"{name[:half]}…{name[-half:]}" for name in names]
