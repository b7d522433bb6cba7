"""Coefficients of local equations: by region (figure `local_imp` of the paper) and by row."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.regions import local_regions
from lifenet.explain.signs import coefficient_signs
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    VERMILION,
    fold,
    make_axes,
    matplotlib,
    tidy,
)

if TYPE_CHECKING:
    from collections.abc import Collection
    from typing import Self

    from lifenet._typing import Floats, Integers
    from lifenet.explain.regions import Regions
    from lifenet.explain.signs import CoefficientSigns

__all__ = [
    "CoefficientViolinDisplay",
    "LocalCoefficientsDisplay",
    "counted",
    "folded",
    "is_narrow",
    "leading_columns",
    "left_out",
    "over_reach",
    "room_for",
]

#: Dark where the response is low: legible as thin lines, and in grey and to the colour-blind too.
_LINE_COLOURS = "viridis"
VERDICT_COLOURS = {
    "positive": BLUE,
    "negative": VERMILION,
    "changing sign": COLOURS[3],
    "near zero": GREY,
}
#: Violins end at these quantiles of the slope: a few steep rows would squeeze the others.
_TAIL = 0.01
_GRID = 160
_QUARTERS = np.array([0.25, 0.5, 0.75])
#: Columns shown at most, where nothing else is asked.
_COLUMNS = 20
#: More names than this stand slanted.
_UPRIGHT = 5


def leading_columns(importance: Floats, most: int, always: Collection[int] = ()) -> Integers:
    """The most important columns, and those that are always shown, the largest first.

    Parameters
    ----------
    importance : ndarray of shape (n_columns,)
    most : how many columns at most, apart from those of `always`
    """
    if most < 1:
        raise ValueError(f"max_columns must be at least 1; it is {most}.")
    order = np.argsort(-importance, kind="stable")
    shown = (np.arange(len(order)) < most) | np.isin(order, list(always))
    return order[shown]


def room_for(ax: Any, axis: int, points: float, most: int | None) -> int:
    """How many columns to draw: as asked, else 20, or fewer where given axes have no room for them.

    Parameters
    ----------
    axis : 0 for columns side by side, 1 for one below the other
    points : how much of the axis a column takes, in points
    """
    if most is not None:
        return most
    return _COLUMNS if ax is None else int(np.clip(72 * _inches(ax)[axis] / points, 1, _COLUMNS))


def folded(ax: Any, text: str, size: float) -> str:
    """Lines of text, each folded to the width of the axes, for letters of a size in points."""
    letters = max(16, int(72 * _inches(ax)[0] / (0.56 * size)))
    return "\n".join(textwrap.fill(line, letters) for line in text.split("\n"))


def is_narrow(ax: Any) -> bool:
    """Whether axes leave little room for words beside them."""
    return _inches(ax)[0] < 4.5


def _inches(ax: Any) -> tuple[float, float]:
    """Width and height of axes in inches, as they are before their labels take some of it."""
    box = ax.get_position(original=True)
    width, height = ax.figure.bbox.size / ax.figure.dpi
    return float(box.width * width), float(box.height * height)


class LocalCoefficientsDisplay(ResultDisplay):
    """Parallel coordinates of the regions' equations (section 4.2).

    A line a region, through its coefficient for each column, the most important column first.
    Coefficients are standardised: the change of the score over one standard deviation of the
    column. The more rows a region has, the thicker its line, as the title says; its colour is the
    mean response.

    Parameters
    ----------
    result : Regions
    """

    _explain = staticmethod(local_regions)
    result: Regions

    def plot(
        self, ax: Any = None, *, max_columns: int | None = None, max_regions: int = 300
    ) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_columns : int or None, default=None
            Most columns, the most important first; None takes 20, or as many as given axes have
            room for.
        max_regions : int, default=300
            Most regions, the largest first. The title says how many of both are left out.

        Returns
        -------
        self
        """
        result = self.result
        if not result.n_regions:
            raise ValueError(
                f"No region has {result.min_rows:g} rows or more, so there is nothing to draw. "
                "Lower min_rows, or merge regions with MergedRegionsDisplay."
            )
        if max_regions < 1:
            raise ValueError(f"max_regions must be at least 1; it is {max_regions}.")
        columns = self._columns(room_for(ax, 0, 19.0, max_columns))
        width = float(np.clip(0.55 * len(columns) + 2.2, 5.4, 11.0))
        self.figure_, self.ax_ = make_axes(ax, (width, 4.4 if len(columns) > _UPRIGHT else 3.8))
        # The largest last, above the others.
        regions = np.arange(min(result.n_regions, max_regions))[::-1]
        self.ax_.axhline(0, color=INK, lw=0.8, zorder=1)
        self._draw_lines(regions, columns)
        self._label(len(regions), columns)
        return self

    def _columns(self, most: int) -> Integers:
        size = np.abs(self.result.standardized)
        return leading_columns(self.result.share @ size, most)

    def _draw_lines(self, regions: Integers, columns: Integers) -> None:
        ax, result = self.ax_, self.result
        heights = result.standardized[regions][:, columns]
        places = np.broadcast_to(np.arange(len(columns)), heights.shape)
        size = np.sqrt(result.count[regions] / result.count.max())
        lines = matplotlib("collections").LineCollection(
            list(np.stack([places, heights], axis=2)),
            linewidths=0.4 + 2.2 * size,
            alpha=0.25 + 0.65 * size,
            cmap=_LINE_COLOURS,
            capstyle="round",
            gid="regions",
            zorder=2,
        )
        lines.set_array(result.response_mean[regions])
        ax.add_collection(lines)
        if len(columns) == 1:  # a line needs two points
            ax.scatter(places[:, 0], heights[:, 0], c=result.response_mean[regions], s=12)
        reach = 1.06 * max(np.abs(heights).max(), np.finfo(np.float64).tiny)
        ax.set(xlim=(-0.3, len(columns) - 0.7), ylim=(-reach, reach))
        bar = self.figure_.colorbar(lines, ax=ax, pad=0.02, aspect=30)
        words = f"mean {'response' if result.target == 'response' else self.score_name}"
        bar.set_label(f"{words} in the region", fontsize=9, color=INK)
        bar.ax.tick_params(labelsize=8, color=GREY, labelcolor=INK, width=0.6, length=3)
        bar.outline.set_visible(False)
        bar.solids.set(alpha=1)

    def _label(self, n_shown: int, columns: Integers) -> None:
        ax, result = self.ax_, self.result
        width = 14 if is_narrow(ax) else 18
        names = fold([result.schema.names[column] for column in columns], width)
        slanted = len(names) > _UPRIGHT
        ax.set_xticks(range(len(names)), names, rotation=40 if slanted else 0)
        if slanted:
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        change = f"change of the {self.score_name}"
        # Two lines: the axes are not high.
        ax.set_ylabel(f"{change}\nby 1 sd of the column")
        ax.grid(axis="x", color="#E5E5E5", lw=0.8, zorder=0)
        ax.set_axisbelow(True)
        have = "has" if result.n_regions == 1 else "have"
        lines = [
            f"{result.n_regions:,} of {counted(result.n_total, 'region')} {have} at least "
            f"{counted(result.min_rows, 'row')}: {100 * result.coverage:.0f} % of all rows"
        ]
        without = left_out(result.n_regions - n_shown, "smaller region")
        without += left_out(result.schema.n_features - len(columns), "weaker column")
        if n_shown > 1:
            lines.append("a line a region: the thicker, the more rows")
        if without:
            lines.append(f"not shown: {' and '.join(without)}")
        tidy(ax)
        ax.set_title(folded(ax, "\n".join(lines), 9.5), loc="left", fontsize=9.5, color=INK)


class CoefficientViolinDisplay(ResultDisplay):
    """Distribution of each column's change over the windows of the rows, with its verdict.

    A change is the slope times the width of the window that it is of: of a skewed column, slopes
    are steep where most values are, over little of its range. Each violin holds the middle 98 % of
    the rows, its bar the middle half and its dot the median.

    Parameters
    ----------
    result : CoefficientSigns
    """

    _explain = staticmethod(coefficient_signs)
    result: CoefficientSigns

    def plot(self, ax: Any = None, *, max_columns: int | None = None) -> Self:
        """Draw the violins.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_columns : int or None, default=None
            Most columns, the most important first; None takes 20, or as many as given axes have
            room for. Columns whose sign was expected are shown in any case. The title says how
            many are left out.

        Returns
        -------
        self
        """
        result = self.result
        asked = [result.schema.names.index(check.name) for check in result.checks]
        most = room_for(ax, 1, 17.0 if asked else 13.0, max_columns)
        columns = leading_columns(result.size, most, asked)
        self.figure_, self.ax_ = make_axes(ax, (6.8, 0.34 * len(columns) + 1.3))
        self.ax_.axvline(0, color=INK, lw=0.8, zorder=1)
        for place, column in enumerate(columns):
            self._draw_violin(place, int(column))
        self._label(columns, apart=len(columns) > most)
        return self

    def _draw_violin(self, place: int, column: int) -> None:
        ax, result = self.ax_, self.result
        colour = VERDICT_COLOURS[result.verdict[column]]
        changes = result.changes[:, column]
        seen = np.isfinite(changes)
        changes, weight = changes[seen], result.weight[seen]
        if not len(changes):
            return
        grid, height = _density(changes, weight)
        if len(grid):
            ax.fill_between(
                grid, place - 0.4 * height, place + 0.4 * height, color=colour, alpha=0.45, lw=0.6
            )
        low, middle, high = weighted_quantiles(changes, weight, _QUARTERS)
        ax.plot([low, high], [place, place], color=colour, lw=2.4, solid_capstyle="round")
        ax.plot(middle, place, marker="o", ms=4.5, color="white", mec=colour, mew=1.2, zorder=4)

    def _label(self, columns: Integers, *, apart: bool) -> None:
        """Names, verdicts and title; `apart` where some are shown only because they are checked."""
        ax, result = self.ax_, self.result
        narrow = is_narrow(ax)
        names = fold([result.schema.names[column] for column in columns], 14 if narrow else 24)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        for place, column in enumerate(columns):
            words, worrying = self._words(int(column), brief=narrow)
            ax.annotate(
                words,
                (1.01, place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=6.5 if narrow else 8,
                linespacing=0.95,
                color=INK,
                weight="bold" if worrying else "normal",
            )
        lines = ["Change of each row as each column alone rises"]
        lines.append("dot: median; bar: middle half; shape: middle 98 % of the rows")
        without = left_out(result.schema.n_features - len(columns), "weaker column")
        if without:
            verb = "is" if result.schema.n_features == len(columns) + 1 else "are"
            which = " without an expected sign" if apart else ""
            lines.append(f"{without[0]}{which} {verb} not shown")
        tidy(ax, size=7.0 if narrow else 8.0)
        ax.tick_params(axis="y", length=0)
        label = f"change of the {self.score_name} {_over_what(result.reach)}"
        if result.schema.indicators and result.reach > 0:
            label += "; of what is so or is not, such as a level, its being so"
        ax.set_xlabel(folded(ax, label, 9))
        size = 8.5 if narrow else 9.5
        ax.set_title(folded(ax, "\n".join(lines), 9.5), loc="left", fontsize=size, color=INK)

    def _words(self, column: int, *, brief: bool) -> tuple[str, bool]:
        """Verdict on a column and on what was expected of it, and whether that is contradicted."""
        name, verdict = self.result.schema.names[column], self.result.verdict[column]
        for check in self.result.checks:
            if check.name == name:
                sign = "+" if check.expected > 0 else "-"
                against = f"{100 * check.against:.0f} % against"
                words = f"\n{against} {sign}" if brief else f"; expected {sign}, {against}"
                return verdict + words, not check.agrees
        return verdict, False


def _over_what(reach: float) -> str:
    """What changes are over, in words."""
    if reach == 0:
        return "by 1 sd of the column, with the slope of each row"
    return (
        f"over {100 * reach:g} % of the column's span to either side of the row, or from its next "
        "value below to the one above"
    )


def over_reach(reach: float) -> str:
    """What slopes are, in words."""
    if reach == 0:
        return "Slopes of each row's own equation"
    return f"Slopes over {100 * reach:g} % of each column's span to either side of the row"


def counted(number: float, noun: str) -> str:
    """A number with its noun: "1 row", "1,234 rows"."""
    amount = f"{number:,.0f}" if float(number).is_integer() else f"{number:g}"
    return f"{amount} {noun if number == 1 else noun + 's'}"


def left_out(number: int, noun: str) -> list[str]:
    """Words for what is left out; none for nothing."""
    return [counted(number, noun)] if number > 0 else []


def _density(values: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Smoothed density of weighted values between two quantiles, scaled to a height of one.

    Weighted counts on a fine grid, smoothed by a Gaussian whose width is Silverman's. Empty where
    the values hardly differ.
    """
    order = np.argsort(values)
    mass = np.cumsum(weight[order]) / weight.sum()
    low, high = np.interp([_TAIL, 1 - _TAIL], mass, values[order])
    if high - low <= 1e-9 * np.abs(values).max():
        return np.empty(0), np.empty(0)
    counts, edges = np.histogram(values, _GRID, (low, high), weights=weight)
    grid = 0.5 * (edges[1:] + edges[:-1])
    quarter, three = np.interp([0.25, 0.75], mass, values[order])
    middle = np.average(values, weights=weight)
    deviation = np.sqrt(np.average((values - middle) ** 2, weights=weight))
    scale = min(deviation, (three - quarter) / 1.34) or deviation
    width = max(0.9 * scale * len(values) ** -0.2, 1.5 * (grid[1] - grid[0]))
    smooth = np.exp(-0.5 * np.square((grid[:, None] - grid) / width)) @ counts
    return grid, smooth / smooth.max()
