"""Equations of merged regions, and what merging costs."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.merging import merge_regions
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    VERMILION,
    fold,
    make_panels,
    matplotlib,
    tidy,
)
from lifenet.plots.coefficients import (
    counted,
    folded,
    is_narrow,
    leading_columns,
    left_out,
    room_for,
)

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.explain.merging import MergedRegions

__all__ = ["MergedRegionsDisplay"]

#: How far the axis goes beyond the largest coefficient of a usual region.
_REACH = 3.0
#: Conditions of a region that stand above its panel.
_CONDITIONS = 3
#: Letters that a panel has room for in such a line, the numbers aside.
_NAME_WIDTH = 15


class MergedRegionsDisplay(ResultDisplay):
    """Coefficients of each merged region with 95 % Wald intervals, and the fidelity.

    A panel a region, the largest first. Coefficients are standardised: the change of the score
    over one standard deviation of the column; intervals that do not hold zero are filled. Grey
    crosses have no interval: the rows of the region do not determine the coefficient. All panels
    have one scale, that of a usual region; an arrow points to what lies beyond it, with the number
    where that is the coefficient. The last panel shows the fidelity of each number of regions that
    was tried.

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

    def plot(self, ax: Any = None, *, max_columns: int | None = None, max_panels: int = 6) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a figure of a fitting size. On axes that are given all regions are drawn
            together, in different colours and without the panel of the fidelity.
        max_columns : int or None, default=None
            Most columns, the most important first; None takes 20, or as many as given axes have
            room for.
        max_panels : int, default=6
            Most regions. The title says how many of both are left out.

        Returns
        -------
        self
        """
        if max_panels < 1:
            raise ValueError(f"max_panels must be at least 1; it is {max_panels}.")
        result = self.result
        n_regions = min(max_panels, result.n_regions)
        columns = self._columns(room_for(ax, 1, 8.0 + 5.0 * n_regions, max_columns))
        with_path = len(result.tried) > 1
        self.axes_ = []
        if ax is None:
            self._draw_panels(n_regions, columns, with_path)
        else:
            self._draw_together(ax, n_regions, columns)
        self._title(ax, n_regions, columns)
        return self

    def _draw_panels(self, n_regions: int, columns: Integers, with_path: bool) -> None:
        """A new figure with a panel a region, and one for the fidelity."""
        n_panels = n_regions + with_path
        size = (max(2.1, 5.0 / n_panels), 0.24 * len(columns) + 1.7)
        self.figure_, grid = make_panels(None, 1, n_panels, size)
        names = fold([self.result.schema.names[column] for column in columns])
        reach = self._reach(n_regions, columns)
        for number in range(n_regions):
            first = self.axes_[0] if number else None
            panel = self.figure_.add_subplot(grid[0, number], sharex=first)
            self._draw_region(panel, number, columns, reach)
            _label_columns(panel, [""] * len(names) if number else names)
            title = self._describe(number)
            panel.set_title(title, loc="left", fontsize=7.5, color=INK, linespacing=1.25)
            self.axes_.append(panel)
        if with_path:
            self.axes_.append(self.figure_.add_subplot(grid[0, n_regions]))
            self._draw_path(self.axes_[-1])
        self.ax_ = self.axes_[0]

    def _draw_together(self, ax: Any, n_regions: int, columns: Integers) -> None:
        """All regions on the axes given, one colour each, side by side within a column's line."""
        self.figure_, self.ax_, self.axes_ = ax.figure, ax, [ax]
        shifts = np.linspace(-0.27, 0.27, n_regions) if n_regions > 1 else np.zeros(1)
        reach = self._reach(n_regions, columns)
        for number, shift in enumerate(shifts):
            colour = COLOURS[number % len(COLOURS)]
            self._draw_region(ax, number, columns, reach, shift=float(shift), colour=colour)
            label = f"region {number}: {counted(self.result.count[number], 'row')}"
            ax.plot([], [], color=colour, marker="o", ms=4, lw=1.4, label=label)
        width = 14 if is_narrow(ax) else 18
        _label_columns(ax, fold([self.result.schema.names[column] for column in columns], width))

    def _columns(self, most: int) -> Integers:
        size = np.abs(self.result.coefficients * self.result.spread)
        return leading_columns(self.result.share @ size, most)

    def _draw_region(
        self,
        ax: Any,
        number: int,
        columns: Integers,
        reach: float,
        *,
        shift: float = 0.0,
        colour: str | None = None,
    ) -> None:
        """Intervals of a region's coefficients, in one colour or by their sign."""
        middle, lower, upper = self._terms(number, columns)
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
        colours[~known] = colour or GREY
        ax.set_xlim(-reach, reach)
        for sign, end in ((-1, lower), (1, upper)):
            beyond = sign * np.where(known, end, middle) > reach
            _point_beyond(ax, sign * reach, places, beyond, colours)
            for place in np.flatnonzero(sign * middle > reach):
                _write_beyond(ax, sign * reach, places[place], f"{middle[place]:.3g}")

    def _terms(self, number: int, columns: Integers) -> tuple[Floats, Floats, Floats]:
        """Standardised coefficients of a region and the ends of their intervals."""
        result = self.result
        low, high = result.interval()
        parts = (part[number, columns] for part in (result.coefficients, low, high))
        middle, lower, upper = (part * result.spread[columns] for part in parts)
        return middle, lower, upper

    def _reach(self, n_regions: int, columns: Integers) -> float:
        """How far the axis goes: to all there is, if that does not squeeze most regions.

        A region's size is its largest coefficient that differs from zero for sure, and the axis
        goes to three times the median of these at most. Regions without one have no size.
        """
        terms = np.array([self._terms(number, columns) for number in range(n_regions)])
        largest = float(np.nanmax(np.abs(terms)))
        middle, lower, upper = np.moveaxis(terms, 1, 0)
        sure = np.where((lower > 0) | (upper < 0), np.abs(middle), 0.0)
        sizes = np.sort(sure.max(axis=1))
        sizes = sizes[sizes > 0]
        usual = _REACH * float(sizes[(len(sizes) - 1) // 2]) if len(sizes) else largest
        return 1.08 * (min(largest, usual) or 1.0)

    def _describe(self, number: int) -> str:
        """How large a region is, and its conditions, a line each."""
        result = self.result
        lines = [f"region {number}: {counted(result.count[number], 'row')}"]
        if result.n_regions > 1:
            names = fold(result.schema.names, _NAME_WIDTH)
            conditions = result.conditions(number, names)
            lines += conditions[:_CONDITIONS]
            if len(conditions) > _CONDITIONS:
                lines[-1] += f" and {len(conditions) - _CONDITIONS} more"
        return "\n".join(lines)

    def _draw_path(self, ax: Any) -> None:
        result = self.result
        ax.plot(result.tried, result.tried_fidelity, color=GREY, lw=1, marker=".", ms=5, zorder=2)
        ax.scatter([result.n_regions], [result.fidelity], s=30, color=BLUE, zorder=3, gid="chosen")
        ax.set(xlabel="merged regions", ylabel=f"R² for the {self.score_name}")
        title = f"fidelity (dot: {counted(result.n_regions, 'region')})"
        ax.set_title(title, loc="left", fontsize=8, color=INK)
        ax.set_ylim(min(0.0, float(result.tried_fidelity.min())), 1.02)
        ax.xaxis.get_major_locator().set_params(integer=True)
        tidy(ax)

    def _title(self, ax: Any, n_regions: int, columns: Integers) -> None:
        text = "\n".join(self._lines(n_regions, len(columns)))
        note = f"change of the {self.score_name} by 1 sd of the column, with 95 % Wald intervals"
        note = "; ".join([note, *self._marks(n_regions, columns)])
        if ax is None:
            # Letters of the title are half as wide as high, on a figure 72 points an inch.
            width = int(self.figure_.get_figwidth() * 72 / 5)
            lines = [textwrap.fill(line, width) for line in text.split("\n")]
            self.figure_.suptitle("\n".join(lines), fontsize=10, color=INK)
            self.figure_.supxlabel(textwrap.fill(note, width), fontsize=9, color=INK)
        else:
            ax.set_title(folded(ax, text, 9), loc="left", fontsize=9, color=INK)
            note = folded(ax, note, 9)
            ax.set_xlabel(note, fontsize=9, color=INK)
            _legend_below(ax, n_lines=note.count("\n") + 1, n_entries=n_regions)

    def _marks(self, n_regions: int, columns: Integers) -> list[str]:
        """What hollow dots, crosses and arrows mean, where there are any."""
        terms = np.array([self._terms(number, columns) for number in range(n_regions)])
        lower, upper = terms[:, 1], terms[:, 2]
        words = ["hollow: the interval holds zero"] if ((lower <= 0) & (upper >= 0)).any() else []
        if not np.isfinite(lower).all():
            words.append("cross: no interval")
        ends = np.where(np.isfinite(terms), np.abs(terms), 0.0)
        if ends.max() > self._reach(n_regions, columns):
            words.append("arrow: beyond the axis")
        return words

    def _lines(self, n_regions: int, n_columns: int) -> list[str]:
        """What was merged, what it costs, and what is not shown."""
        result = self.result
        first = (
            f"{counted(result.n_regions, 'region')} with an equation each: "
            f"R² {result.refit_fidelity:.3f} for the {self.score_name}"
        )
        if result.fidelity < result.asked_fidelity:
            first += f", {result.asked_fidelity:g} was asked for"
            first += f" in regions of at least {counted(np.ceil(result.min_rows), 'row')}"
        lines = [first]
        if np.isfinite(result.network_loss):
            losses = f"network {result.network_loss:.3g}, merged {result.merged_loss:.3g}"
            lines.append(f"{result.measure}: {losses}")
        without = left_out(result.n_regions - n_regions, "smaller region")
        without += left_out(result.schema.n_features - n_columns, "weaker column")
        if without:
            lines.append(f"not shown: {' and '.join(without)}")
        return lines


def _point_beyond(ax: Any, end: float, places: Floats, beyond: Bools, colours: Any) -> None:
    """Arrows at one end of the axis, for what lies beyond it."""
    if beyond.any():
        ax.scatter(
            np.full(beyond.sum(), end),
            places[beyond],
            s=22,
            marker=">" if end > 0 else "<",
            c=colours[beyond],
            lw=0,
            zorder=4,
            clip_on=False,
            gid="beyond",
        )


def _write_beyond(ax: Any, end: float, place: float, text: str) -> None:
    """The coefficient that lies beyond an end of the axis, inside of the arrow."""
    ax.annotate(
        text,
        (end, place),
        xytext=(-7 if end > 0 else 7, 0),
        textcoords="offset points",
        ha="right" if end > 0 else "left",
        va="center",
        fontsize=6.5,
        color=INK,
        bbox={"boxstyle": "square,pad=0.1", "fc": "white", "ec": "none"},
        zorder=5,
    )


def _legend_below(ax: Any, *, n_lines: int, n_entries: int) -> None:
    """The legend under the label of the axis, which has so many lines, clear of the data."""
    shift = matplotlib("transforms").ScaledTranslation
    below = ax.transAxes + shift(0, -(22 + 12 * n_lines) / 72, ax.figure.dpi_scale_trans)
    ax.legend(
        fontsize=7,
        frameon=False,
        loc="upper right",
        bbox_to_anchor=(1.0, 0.0),
        bbox_transform=below,
        borderaxespad=0,
        ncols=min(n_entries, 2 if is_narrow(ax) else 3) if n_entries > 2 else 1,
        columnspacing=1.0,
    )


def _label_columns(ax: Any, names: list[str]) -> None:
    """A line for each column, from the top, and one at zero."""
    ax.axvline(0, color=INK, lw=0.8, zorder=1)
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.grid(axis="y", color="#EEEEEE", lw=0.8)
    ax.set_axisbelow(True)
    tidy(ax)
    ax.tick_params(axis="y", length=0)
