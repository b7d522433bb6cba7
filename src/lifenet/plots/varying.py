"""Coefficients against variables: the plot matrix of section 4.3 of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.varying import varying_coefficients
from lifenet.plots._axes import few_ticks, mark_values
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    fold,
    folded_to,
    make_panels,
    show_middle,
    tidy,
)
from lifenet.plots.coefficients import over_reach
from lifenet.tables import value_text

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.varying import Axis, VaryingCoefficients

__all__ = ["VaryingCoefficientsDisplay"]

#: Size of a panel in inches; where there are only one or two a side, a larger one.
_PANEL, _LARGE_PANEL = (1.65, 1.4), (3.0, 2.3)
#: Contrasts of one category drawn: those with the largest means.
_MOST_CONTRASTS = 4
_POINT, _DARK = "#9A9A9A", "#8C2D04"


class VaryingCoefficientsDisplay(ResultDisplay):
    """How the coefficient of each feature (rows) varies over each feature (columns).

    On the diagonal the coefficient of a feature is drawn over the feature itself, with
    ``g_main``: level where the effect is linear. Elsewhere it is drawn over another feature, with
    its mean plus ``g_k^m``, which would be level if the two did not interact; the figure in the
    corner is the strength of that interaction as a part of the score's standard deviation. The
    contrasts of a category have a colour each; its own panel shows their means.

    Parameters
    ----------
    result : VaryingCoefficients

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes, shape (k, k), one a panel
    shown_ : numbers of the features drawn, the strongest first
    """

    _explain = staticmethod(varying_coefficients)
    result: VaryingCoefficients
    axes_: Any
    shown_: list[int]

    def plot(self, ax: Any = None, *, max_features: int = 6) -> Self:
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Place of all panels; it must be one of a grid, as `plt.subplots` makes.
        max_features : int, default=6
            Most features; those with the strongest main effect or interaction are drawn.
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        self.shown_ = _strongest(self.result)[:max_features]
        size = len(self.shown_)
        panel_size = _PANEL if size > 2 else _LARGE_PANEL
        figure, grid = make_panels(ax, size, size, panel_size, hspace=0.15, wspace=0.15)
        self.axes_ = np.empty((size, size), dtype=object)
        for row, feature in enumerate(self.shown_):
            lines = _lines(self.result, feature)
            for column, over in enumerate(self.shown_):
                panel = figure.add_subplot(grid[row, column])
                self.axes_[row, column] = panel
                _draw(panel, self.result, lines, feature, over)
                _label(panel, self.result, feature, over, row == size - 1, column == 0)
            limits = _limits(self.result, lines)
            for panel in self.axes_[row]:
                panel.set_ylim(*limits)
        self.figure_ = figure if ax is None else ax.figure
        self.ax_ = self.axes_[0, 0] if ax is None else ax
        self._title(figure)
        return self

    def _title(self, place: Any) -> None:
        shown, total = len(self.shown_), len(self.result.axes)
        text = (
            "Coefficients (rows) by variable (columns)" if shown > 1 else "Coefficient by variable"
        )
        if shown < total:
            text += f": the {shown} strongest of {total} features"
        lines = [text, over_reach(self.result.reach)]
        marks = "Dots: rows; lines: their smooth or mean"
        if shown > 1:
            marks += "; numbers: strength in standard deviations of the score"
        place.suptitle(folded_to(place, "\n".join([*lines, marks]), 10), fontsize=10, color=INK)


@dataclass(frozen=True)
class _Line:
    """One coefficient to draw: its number and colour."""

    coefficient: int
    colour: str


def _strongest(result: VaryingCoefficients) -> list[int]:
    """Features by the largest of what their own coefficients show."""
    size = np.max([result.linear, result.nonlinear, result.strength.max(axis=1)], axis=0)
    return [int(place) for place in np.argsort(-size, kind="stable")]


def _lines(result: VaryingCoefficients, feature: int) -> list[_Line]:
    owned = np.flatnonzero(result.owner == feature)
    if not result.axes[feature].labels:
        return [_Line(int(owned[0]), BLUE)]
    largest = owned[np.argsort(-np.abs(result.mean[owned]), kind="stable")][:_MOST_CONTRASTS]
    return [
        _Line(int(one), COLOURS[place % len(COLOURS)]) for place, one in enumerate(np.sort(largest))
    ]


def _draw(
    ax: Any, result: VaryingCoefficients, lines: list[_Line], feature: int, over: int
) -> None:
    ax.axhline(0, color=GREY, lw=0.6, ls=(0, (4, 3)), zorder=1)
    axis = result.axes[over]
    if feature == over and axis.labels:
        _draw_means(ax, result, feature, lines)
        return
    single = len(lines) == 1
    for line in lines:
        shade, density = (_POINT, 0.25) if single else (line.colour, 0.1)
        _draw_points(ax, result, line, over, color=shade, alpha=density)
        curve = result.curves[over][:, line.coefficient]
        if feature != over:
            curve = curve + result.mean[line.coefficient]
        _draw_curve(ax, axis, curve, _DARK if single else line.colour)


def _draw_points(ax: Any, result: VaryingCoefficients, line: _Line, over: int, **look: Any) -> None:
    places = result.places[:, over]
    if result.axes[over].by_level:
        # Evenly to both sides of the level, the same in every drawing.
        aside = 2 * ((np.arange(len(places)) * 0.618034) % 1) - 1
        places = places + 0.25 * _gap(result.axes[over].grid) * aside
    heights = result.alpha[:, line.coefficient]
    ax.scatter(places, heights, s=2, lw=0, rasterized=True, zorder=2, **look)


def _draw_curve(ax: Any, axis: Axis, curve: Floats, colour: str) -> None:
    if axis.by_level:
        reach = 0.35 * _gap(axis.grid)
        ax.hlines(curve, axis.grid - reach, axis.grid + reach, color=colour, lw=1.8, zorder=4)
    else:
        ax.plot(axis.grid, curve, color=colour, lw=1.5, zorder=4)


def _draw_means(ax: Any, result: VaryingCoefficients, feature: int, lines: list[_Line]) -> None:
    """The mean contrast of each level; that of the level compared with is zero."""
    colours = {line.coefficient: line.colour for line in lines}
    means, shades = np.zeros(len(result.axes[feature].labels)), {}
    for one in np.flatnonzero(result.owner == feature):
        means[result.level[one]] = result.mean[one]
        shades[int(result.level[one])] = colours.get(int(one), GREY)
    for place, height in enumerate(means):
        colour = shades.get(place, INK)
        ax.vlines(place, 0, height, color=colour, lw=1.5)
        ax.plot(place, height, "o", color=colour, ms=4)


def _gap(grid: Floats) -> float:
    """The least distance of levels."""
    return float(np.diff(grid).min()) if len(grid) > 1 else 1.0


def _label(
    ax: Any, result: VaryingCoefficients, feature: int, over: int, lowest: bool, leftmost: bool
) -> None:
    tidy(ax, size=7)
    axis = result.axes[over]
    if axis.by_level:
        _mark_levels(ax, axis)
    else:
        mark_values(ax.xaxis, axis.grid, axis.kind)
        few_ticks(ax.xaxis, axis.grid, axis.kind)
        seen = result.places[np.isfinite(result.places[:, over]), over]
        show_middle(ax, seen, np.ones(len(seen)))
    ax.locator_params(axis="y", nbins=4)
    ax.tick_params(labelbottom=lowest, labelleft=leftmost)
    if lowest:
        ax.set_xlabel(fold([axis.name])[0], fontsize=8)
    if leftmost:
        kind = "contrasts of" if result.axes[feature].labels else "slope of"
        ax.set_ylabel(f"{kind}\n{fold([result.axes[feature].name])[0]}", fontsize=8)
    text = _verdict(result, feature) if feature == over else _part(result, feature, over)
    ax.text(
        0.97, 0.97, text, transform=ax.transAxes, ha="right", va="top", fontsize=7, color=INK,
        zorder=6, bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.8},
    )  # fmt: skip


def _mark_levels(ax: Any, axis: Axis) -> None:
    """A tick a level, thinned out where there are many."""
    step = -(-len(axis.grid) // 6)
    ticks = axis.grid[::step]
    ax.set_xticks(ticks)
    if axis.labels:
        names = fold([axis.labels[int(tick)] for tick in ticks], 10)
        crowded = sum(map(len, names)) > 14
        ax.set_xticklabels(names, rotation=90 if crowded else 0)
    elif axis.kind in ("boolean", "weekday", "month", "date"):
        ax.set_xticklabels([value_text(tick, axis.kind) for tick in ticks])
    margin = 0.6 * _gap(axis.grid)
    ax.set_xlim(axis.grid[0] - margin, axis.grid[-1] + margin)


def _verdict(result: VaryingCoefficients, feature: int) -> str:
    word = result.verdict[feature]
    return "no main effect" if word == "none" else word.replace(" and ", " + ")


def _part(result: VaryingCoefficients, feature: int, over: int) -> str:
    part = result.strength[feature, over] / (result.score_deviation or np.nan)
    return f"{part:.2f}" if np.isfinite(part) else ""


def _limits(result: VaryingCoefficients, lines: list[_Line]) -> tuple[float, float]:
    """Heights that hold zero, nearly all points, and every curve within the bulk of its rows."""
    chosen = [line.coefficient for line in lines]
    if not chosen:
        return -1.0, 1.0
    points = result.alpha[:, chosen]
    points = points[np.isfinite(points)]
    middle = [np.quantile(points, [0.005, 0.995])] if points.size else []
    heights = np.concatenate([[0.0], result.mean[chosen], *middle])
    low, high = float(heights.min()), float(heights.max())
    margin = 0.12 * (high - low) or 1.0
    return low - margin, high + 1.8 * margin
