"""From a reference to a row: which feature moves the score by how much."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.one_row import MINUS, number_text
from lifenet.explain.rows import explain_row
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import BLUE, GREY, INK, VERMILION, fold, make_axes, tidy

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.one_row import RowExplanation

__all__ = ["WaterfallDisplay"]

_STARTS = {
    "mean score": "mean score",
    "mean": "score of the mean row",
    "median": "score of the median row",
    "zero": "score of the row of zeros",
    "row": "reference row",
}


class WaterfallDisplay(ResultDisplay):
    """Steps from the score at a reference to the score of a row, by feature.

    The steps are exact: they sum to the difference of the scores. A row outside the training data
    is flagged in the title.

    Parameters
    ----------
    result : RowExplanation
        ``WaterfallDisplay.from_estimator(model, x, X=X)`` makes it.
    """

    _explain = staticmethod(explain_row)
    result: RowExplanation

    def plot(self, ax: Any = None, *, max_features: int = 12) -> Self:
        """Draw the steps, the largest first.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_features : int, default=12
            How many steps to show at most; the smallest are folded into "others (k)".

        Returns
        -------
        self
        """
        steps = self.result.steps(max_features)
        labels, parts = [label for label, _ in steps], np.array([part for _, part in steps])
        totals = self.result.reference_score + np.concatenate([[0.0], np.cumsum(parts)])
        height = 0.8 + 0.28 * (len(parts) + 2) + 0.15 * len(self.result.caution) / 62
        self.figure_, self.ax_ = make_axes(ax, (6.2, height))
        self._draw(parts, totals)
        self._write(parts, totals)
        self._label([_fold_label(label) for label in labels])
        return self

    def _draw(self, parts: Floats, totals: Floats) -> None:
        """Bars, and the running total from each to the next."""
        ax, places = self.ax_, np.arange(1, len(parts) + 1)
        colours = [BLUE if part >= 0 else VERMILION for part in parts]
        ax.barh(places, parts, left=totals[:-1], color=colours, height=0.62, zorder=2)
        above = np.arange(len(totals))
        ax.vlines(totals, above + 0.31, above + 0.69, color=GREY, linewidth=0.7)
        ends = [totals[0], self.result.score]
        ax.scatter(ends, [0, len(parts) + 1], s=22, color=INK, zorder=3)

    def _write(self, parts: Floats, totals: Floats) -> None:
        """Numbers beside the bars, on the side where the bar ends."""
        low, high = float(totals.min()), float(totals.max())
        width = (high - low) or max(1.0, abs(high))
        self.ax_.set_xlim(low - 0.16 * width, high + 0.16 * width)
        gap = 0.012 * width
        for place, (part, end) in enumerate(zip(parts, totals[1:], strict=True), 1):
            sign, side = ("+" if part else "", 1) if part >= 0 else (MINUS, -1)
            self._number(end + side * gap, place, sign + number_text(abs(part), 3), side)
        for place, score in ((0, totals[0]), (len(parts) + 1, self.result.score)):
            side = 1 if score < low + 0.5 * width else -1
            self._number(score + 2 * side * gap, place, number_text(score), side, weight="bold")

    def _number(self, x: float, y: float, text: str, side: int, **how: Any) -> None:
        align = "left" if side > 0 else "right"
        self.ax_.text(x, y, text, ha=align, va="center", fontsize=7.5, color=INK, **how)

    def _label(self, labels: list[str]) -> None:
        ax, result = self.ax_, self.result
        rows = [_STARTS[result.reference], *labels, "this row"]
        ax.set_yticks(range(len(rows)), rows)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        tidy(ax)
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(self.score_name)
        ax.set_title(fill(result.caution, 62), loc="left", fontsize=8, color=VERMILION)


def _fold_label(label: str) -> str:
    """A label whose name and value are both shortened where they are long."""
    name, mark, value = label.rpartition(" = ")
    (short,), (brief,) = fold([name], 22), fold([value], 16)
    return short + mark + brief
