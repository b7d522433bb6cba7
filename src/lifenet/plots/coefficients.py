"""Coefficients of local equations: by region (figure `local_imp` of the paper) and by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.regions import local_regions
from lifenet.explain.signs import coefficient_signs
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
    from typing import Self

    from lifenet._typing import Floats, Integers
    from lifenet.explain.regions import Regions
    from lifenet.explain.signs import CoefficientSigns
    from lifenet.schema import FeatureSchema

__all__ = ["CoefficientViolinDisplay", "LocalCoefficientsDisplay", "leading_columns", "left_out"]

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
#: More names than this stand slanted.
_UPRIGHT = 5


def leading_columns(schema: FeatureSchema, importance: Floats, most: int) -> Integers:
    """The most important columns in order, those of one feature side by side.

    Parameters
    ----------
    importance : ndarray of shape (n_columns,)
        A feature counts by its largest column.
    most : how many columns at most
    """
    if most < 1:
        raise ValueError(f"max_columns must be at least 1; it is {most}.")
    groups = [np.asarray(columns) for _, columns in schema.groups]
    groups.sort(key=lambda columns: -importance[columns].max())
    ordered = [columns[np.argsort(-importance[columns], kind="stable")] for columns in groups]
    return np.concatenate(ordered)[:most]


class LocalCoefficientsDisplay(ResultDisplay):
    """Parallel coordinates of the regions' equations (section 4.2).

    A line a region, through its coefficient for each column, the most important column first.
    Coefficients are standardised: the change of the score over one standard deviation of the
    column. The more rows a region has, the thicker its line; its colour is the mean response.

    Parameters
    ----------
    result : Regions
    """

    _explain = staticmethod(local_regions)
    result: Regions

    def plot(self, ax: Any = None, *, max_columns: int = 20, max_regions: int = 300) -> Self:
        """Draw the lines.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_columns, max_regions : int
            How many to show at most, the most important columns and the largest regions; the
            title says how many are left out.

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
        columns = self._columns(max_columns)
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
        return leading_columns(self.result.schema, self.result.share @ size, most)

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
        words = "mean response" if result.target == "response" else "mean score"
        bar.set_label(f"{words} in the region", fontsize=9, color=INK)
        bar.ax.tick_params(labelsize=8, color=GREY, labelcolor=INK, width=0.6, length=3)
        bar.outline.set_visible(False)
        bar.solids.set(alpha=1)

    def _label(self, n_shown: int, columns: Integers) -> None:
        ax, result = self.ax_, self.result
        names = fold([result.schema.names[column] for column in columns])
        slanted = len(names) > _UPRIGHT
        ax.set_xticks(range(len(names)), names, rotation=40 if slanted else 0)
        if slanted:
            for label in ax.get_xticklabels():
                label.set(ha="right", rotation_mode="anchor")
        ax.set_ylabel("change of the score by 1 sd of the column")
        ax.grid(axis="x", color="#E5E5E5", lw=0.8, zorder=0)
        ax.set_axisbelow(True)
        lines = [
            f"{result.n_regions:,} of {result.n_total:,} regions have at least "
            f"{result.min_rows:g} rows: {100 * result.coverage:.0f} % of all rows"
        ]
        without = left_out(result.n_regions - n_shown, "smaller region")
        without += left_out(result.schema.n_features - len(columns), "weaker column")
        if without:
            lines.append(f"not shown: {' and '.join(without)}")
        ax.set_title("\n".join(lines), loc="left", fontsize=9.5, color=INK)
        tidy(ax)


class CoefficientViolinDisplay(ResultDisplay):
    """Distribution of each column's slope over the rows, with the verdict on its sign.

    Slopes are standardised: the change of the score over one standard deviation of the column.
    Each violin holds the middle 98 % of the rows, its bar the middle half and its dot the median.

    Parameters
    ----------
    result : CoefficientSigns
    """

    _explain = staticmethod(coefficient_signs)
    result: CoefficientSigns

    def plot(self, ax: Any = None, *, max_columns: int = 20) -> Self:
        """Draw the violins.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_columns : int, default=20
            Most columns, the most important first; the title says how many are left out.

        Returns
        -------
        self
        """
        result = self.result
        columns = leading_columns(result.schema, result.size, max_columns)
        self.figure_, self.ax_ = make_axes(ax, (6.8, 0.34 * len(columns) + 1.3))
        self.ax_.axvline(0, color=INK, lw=0.8, zorder=1)
        for place, column in enumerate(columns):
            self._draw_violin(place, int(column))
        self._label(columns)
        return self

    def _draw_violin(self, place: int, column: int) -> None:
        ax, result = self.ax_, self.result
        colour = VERDICT_COLOURS[result.verdict[column]]
        slopes = result.slopes[:, column] * result.spread[column]
        grid, height = _density(slopes, result.weight)
        if len(grid):
            ax.fill_between(
                grid, place - 0.4 * height, place + 0.4 * height, color=colour, alpha=0.45, lw=0.6
            )
        quantile = dict(zip(result.levels, result.quantiles[column], strict=True))
        low, middle, high = (quantile[level] * result.spread[column] for level in (0.25, 0.5, 0.75))
        ax.plot([low, high], [place, place], color=colour, lw=2.4, solid_capstyle="round")
        ax.plot(middle, place, marker="o", ms=4.5, color="white", mec=colour, mew=1.2, zorder=4)

    def _label(self, columns: Integers) -> None:
        ax, result = self.ax_, self.result
        names = fold([result.schema.names[column] for column in columns], 24)
        ax.set_yticks(range(len(names)), names)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.set_xlabel("change of the score by 1 sd of the column, over the rows")
        for place, column in enumerate(columns):
            words, worrying = self._words(int(column))
            ax.annotate(
                words,
                (1.01, place),
                xycoords=("axes fraction", "data"),
                va="center",
                fontsize=8,
                color=INK,
                weight="bold" if worrying else "normal",
            )
        without = left_out(result.schema.n_features - len(columns), "weaker column")
        title = "Slopes of each row's own equation"
        title += f" ({without[0]} not shown)" if without else ""
        ax.set_title(title, loc="left", fontsize=9.5, color=INK)
        tidy(ax)
        ax.tick_params(axis="y", length=0)

    def _words(self, column: int) -> tuple[str, bool]:
        """Verdict on a column and on what was expected of it, and whether that is contradicted."""
        name, verdict = self.result.schema.names[column], self.result.verdict[column]
        for check in self.result.checks:
            if check.name == name:
                sign = "+" if check.expected > 0 else "-"
                against = f"{100 * check.against:.0f} % against"
                return f"{verdict}; expected {sign}, {against}", not check.agrees
        return verdict, False


def left_out(number: int, noun: str) -> list[str]:
    """Words for what is left out; none for nothing."""
    return [f"{number:,} {noun}{'s' if number > 1 else ''}"] if number > 0 else []


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
