"""Equations of merged regions, and what merging costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.merging import merge_regions
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import BLUE, COLOURS, GREY, INK, VERMILION, fold, make_panels, tidy
from lifenet.plots.coefficients import leading_columns, left_out

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Integers
    from lifenet.explain.merging import MergedRegions

__all__ = ["MergedRegionsDisplay"]


class MergedRegionsDisplay(ResultDisplay):
    """Coefficients of each merged region with 95 % Wald intervals, and the fidelity.

    A panel a region, the largest first. Coefficients are standardised: the change of the score
    over one standard deviation of the column; intervals that do not hold zero are filled. Grey
    crosses have no interval: the rows of the region do not determine the coefficient. The last
    panel shows the fidelity of each number of regions that was tried.

    Parameters
    ----------
    result : MergedRegions

    Attributes
    ----------
    axes_ : list of matplotlib Axes, one a region and that of the fidelity, if drawn
    """

    _explain = staticmethod(merge_regions)
    result: MergedRegions
    axes_: list[Any]

    def plot(self, ax: Any = None, *, max_columns: int = 20, max_panels: int = 6) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a figure of a fitting size. On axes that are given all regions are drawn
            together, in different colours and without the panel of the fidelity.
        max_columns : int, default=20
            Most columns, the most important first.
        max_panels : int, default=6
            Most regions. The title says how many of both are left out.

        Returns
        -------
        self
        """
        if max_panels < 1:
            raise ValueError(f"max_panels must be at least 1; it is {max_panels}.")
        result = self.result
        columns = self._columns(max_columns)
        n_regions = min(max_panels, result.n_regions)
        with_path = len(result.tried) > 1
        self.axes_ = []
        if ax is None:
            self._draw_panels(n_regions, columns, with_path)
        else:
            self._draw_together(ax, n_regions, columns)
        self._title(ax, n_regions, len(columns))
        return self

    def _draw_panels(self, n_regions: int, columns: Integers, with_path: bool) -> None:
        """A new figure with a panel a region, and one for the fidelity."""
        n_panels = n_regions + with_path
        size = (max(2.1, 5.0 / n_panels), 0.24 * len(columns) + 1.7)
        self.figure_, grid = make_panels(None, 1, n_panels, size)
        names = fold([self.result.schema.names[column] for column in columns])
        for number in range(n_regions):
            first = self.axes_[0] if number else None
            panel = self.figure_.add_subplot(grid[0, number], sharex=first)
            self._draw_region(panel, number, columns)
            _label_columns(panel, [""] * len(names) if number else names)
            title = self._describe(number)
            panel.set_title(title, loc="left", fontsize=8, color=INK, linespacing=1.25)
            self.axes_.append(panel)
        if with_path:
            self.axes_.append(self.figure_.add_subplot(grid[0, n_regions]))
            self._draw_path(self.axes_[-1])
        self.ax_ = self.axes_[0]

    def _draw_together(self, ax: Any, n_regions: int, columns: Integers) -> None:
        """All regions on the axes given, one colour each, side by side within a column's line."""
        self.figure_, self.ax_, self.axes_ = ax.figure, ax, [ax]
        shifts = np.linspace(-0.3, 0.3, n_regions) if n_regions > 1 else np.zeros(1)
        for number, shift in enumerate(shifts):
            colour = COLOURS[number % len(COLOURS)]
            self._draw_region(ax, number, columns, shift=float(shift), colour=colour)
            label = f"region {number + 1}: {self.result.count[number]:,.0f} rows"
            ax.plot([], [], color=colour, marker="o", ms=4, lw=1.4, label=label)
        _label_columns(ax, fold([self.result.schema.names[column] for column in columns]))
        ax.legend(fontsize=7, frameon=False, loc="best")

    def _columns(self, most: int) -> Integers:
        size = np.abs(self.result.coefficients * self.result.spread)
        return leading_columns(self.result.schema, self.result.share @ size, most)

    def _draw_region(
        self,
        ax: Any,
        number: int,
        columns: Integers,
        *,
        shift: float = 0.0,
        colour: str | None = None,
    ) -> None:
        """Intervals of a region's coefficients, in one colour or by their sign."""
        result = self.result
        scale = result.spread[columns]
        middle = result.coefficients[number, columns] * scale
        lower, upper = (end[number, columns] * scale for end in result.interval())
        places = np.arange(len(columns)) + shift
        known = np.isfinite(lower)
        sure = known & ((lower > 0) | (upper < 0))
        colours = np.where(middle > 0, colour or BLUE, colour or VERMILION)
        ax.hlines(places[known], lower[known], upper[known], colors=colours[known], lw=1.4)
        for some, faces in ((sure, colours), (known & ~sure, np.full(len(columns), "white"))):
            ax.scatter(
                *(middle[some], places[some]), s=17, c=faces[some], ec=colours[some], zorder=3
            )
        ax.scatter(
            *(middle[~known], places[~known]),
            s=17,
            marker="x",
            color=colour or GREY,
            lw=1,
            zorder=3,
        )

    def _describe(self, number: int) -> str:
        """How large a region is, and the two columns in which it differs most from all rows."""
        result = self.result
        overall = result.share @ result.column_means
        shift = np.abs(result.column_means[number] - overall)
        away = np.divide(shift, result.spread, out=np.zeros_like(shift), where=result.spread > 0)
        lines = [f"region {number + 1}: {result.count[number]:,.0f} rows"]
        for column in np.argsort(-away, kind="stable")[:2] if result.n_regions > 1 else ():
            name = fold([result.schema.names[column]], 16)[0]
            lines.append(f"mean {name} {result.column_means[number, column]:.3g}")
        return "\n".join(lines)

    def _draw_path(self, ax: Any) -> None:
        result = self.result
        ax.plot(result.tried, result.tried_fidelity, color=GREY, lw=1, marker=".", ms=5, zorder=2)
        ax.scatter([result.n_regions], [result.fidelity], s=30, color=BLUE, zorder=3, gid="chosen")
        ax.set(xlabel="merged regions", ylabel="R² for the score")
        ax.set_title("fidelity", loc="left", fontsize=8, color=INK)
        ax.set_ylim(min(0.0, float(result.tried_fidelity.min())), 1.02)
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)

    def _title(self, ax: Any, n_regions: int, n_columns: int) -> None:
        result = self.result
        lines = [
            f"{result.n_total:,} regions merged into {result.n_regions}: "
            f"R² {result.fidelity:.3f} for the score"
        ]
        if result.target == "response":
            losses = f"network {result.network_loss:.3g}, merged {result.merged_loss:.3g}"
            lines.append(f"{result.measure}: {losses}")
        without = left_out(result.n_regions - n_regions, "smaller region")
        without += left_out(result.schema.n_features - n_columns, "weaker column")
        if without:
            lines.append(f"not shown: {' and '.join(without)}")
        note = "change of the score by 1 sd of the column, with 95 % Wald intervals"
        if ax is None:
            self.figure_.suptitle("\n".join(lines), fontsize=10, color=INK)
            self.figure_.supxlabel(note, fontsize=9, color=INK)
        else:
            ax.set_title("\n".join(lines), loc="left", fontsize=9, color=INK)
            ax.set_xlabel(note, fontsize=9, color=INK)


def _label_columns(ax: Any, names: list[str]) -> None:
    """A line for each column, from the top, and one at zero."""
    ax.axvline(0, color=INK, lw=0.8, zorder=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(axis="y", color="#EEEEEE", lw=0.8)
    ax.set_axisbelow(True)
    tidy(ax)
    ax.tick_params(axis="y", length=0)
