"""A network as curves of single features and maps of pairs, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.explain.anova import decompose
from lifenet.plots._axes import few_ticks
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    INK,
    columns_for,
    fold,
    folded_to,
    make_panels,
    put_legend,
    tidy,
)
from lifenet.plots.effects import (
    band_words,
    common_scale,
    draw_curve,
    marks_of,
    middle_of,
)
from lifenet.plots.maps import PairEffectDisplay, map_marks

if TYPE_CHECKING:
    from typing import Self

    from lifenet.explain.anova import FunctionalAnova
    from lifenet.explain.effects import Curve
    from lifenet.explain.pairs import PairEffect

__all__ = ["EffectsAndPairsDisplay"]

#: Labels with more letters are turned.
_LETTERS = 14
#: Parts with a smaller share of the score's variance are rounding.
_ROUNDING = 1e-18


class EffectsAndPairsDisplay(ResultDisplay):
    """The parts of a score: curves of features, then maps of pairs, the strongest first.

    Curves are in units of the score (log-odds for a classifier) and share one vertical scale; the
    grey bars at the foot are the distribution of the column. Maps show what two features do beyond
    what each does alone: positive in purple, negative in orange, paler where there are no rows.
    Shaded bands, and the whiskers of levels, reach from the lowest to the highest of the networks
    of the folds, or of refits, where there are several. Titles give the share of the score's
    variance. Axes end where the middle 98 % of the rows end.

    Parameters
    ----------
    result : FunctionalAnova
        Of `decompose`.

    Attributes
    ----------
    axes_ : panels of the curves, then of the pairs
    """

    result: FunctionalAnova
    axes_: list[Any]
    _explain = staticmethod(decompose)

    def plot(self, ax: Any = None, *, max_features: int = 8, max_pairs: int = 4) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Place of all panels; None makes a figure of a fitting size.
        max_features, max_pairs : int, default=8 and 4
            Most panels of either sort.

        Returns
        -------
        self
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        if max_pairs < 0:
            raise ValueError(f"max_pairs must be at least 0; it is {max_pairs}.")
        curves, surfaces = self._curves()[:max_features], self._surfaces()[:max_pairs]
        n_columns = columns_for(max(len(curves), len(surfaces)))
        above = -(-len(curves) // n_columns)
        n_rows = above - (-len(surfaces) // n_columns)
        room = {"hspace": 0.6, "wspace": 0.5, "bottom": 0.15}
        size = (2.9, 2.4) if n_columns > 1 else (4.2, 3.0)
        figure, grid = make_panels(ax, n_rows, n_columns, size, **room)
        self.figure_, self.axes_ = figure if ax is None else ax.figure, []
        low, high = common_scale([middle_of(curve, 0.98) for curve, _ in curves])
        for place, (curve, share) in enumerate(curves):
            panel = figure.add_subplot(grid[divmod(place, n_columns)])
            self._draw_curve(panel, curve, share)
            panel.set_ylim(low, high)
            if place % n_columns == 0:
                panel.set_ylabel(f"change of the {self.score_name}", fontsize=8, color=INK)
            self.axes_.append(panel)
        for place, (surface, share) in enumerate(surfaces):
            row, column = divmod(place, n_columns)
            panel = figure.add_subplot(grid[above + row, column])
            last = column == n_columns - 1 or place == len(surfaces) - 1
            self._draw_surface(panel, surface, share, labelled=last)
            self.axes_.append(panel)
        self.ax_ = self.axes_[0] if ax is None else ax
        title = folded_to(figure, self._title(len(curves), len(surfaces)), 10)
        figure.suptitle(title, fontsize=10, color=INK)
        marks = marks_of([curve for curve, _ in curves], band_words(self.result.band))
        put_legend(figure, ax, [*marks, *map_marks([surface for surface, _ in surfaces])])
        return self

    def _curves(self) -> list[tuple[Curve, float]]:
        """Curves with their shares, the strongest first."""
        pairs = zip(self.result.curves, self.result.main_share.tolist(), strict=True)
        return sorted(pairs, key=lambda pair: -pair[1])

    def _surfaces(self) -> list[tuple[PairEffect, float]]:
        """Surfaces with their shares, the strongest first; without those that are zero."""
        pairs = zip(self.result.surfaces, self.result.pair_share.tolist(), strict=True)
        return sorted((one for one in pairs if one[1] > _ROUNDING), key=lambda one: -one[1])

    def _draw_curve(self, panel: Any, curve: Curve, share: float) -> None:
        draw_curve(panel, middle_of(curve, 0.98), BLUE)
        panel.set_title(f"{fold([curve.feature], 24)[0]}: {_percent(share)}")
        tidy(panel)
        few_ticks(panel.xaxis, curve.values, curve.kind)

    def _draw_surface(
        self, panel: Any, surface: PairEffect, share: float, *, labelled: bool
    ) -> None:
        display = PairEffectDisplay(surface)
        display.score_name = self.score_name
        display.plot(panel)
        panel.set_title(f"together: {_percent(share)}")
        tidy(panel)
        for axis, name in zip((panel.xaxis, panel.yaxis), surface.features, strict=True):
            axis.set_label_text(fold([name], 24)[0])
        if not labelled:
            display.bar_.set_label("")
        labels = surface.labels[0] or ()
        if sum(map(len, labels)) > _LETTERS:
            panel.tick_params(axis="x", rotation=60)

    def _title(self, n_curves: int, n_surfaces: int) -> str:
        result = self.result
        text = f"Parts of the {self.score_name}, which is {result.intercept:.3g} on average"
        if result.exact:
            text += "; they sum to it exactly"
        else:
            text += f"; they leave over {_percent(result.left_over)} of its variance"
        hidden = len(result.curves) - n_curves, len(self._surfaces()) - n_surfaces
        words = [
            f"{count} {word}{'s' if count > 1 else ''}"
            for count, word in zip(hidden, ("feature", "pair"), strict=True)
            if count
        ]
        return text + (f" ({' and '.join(words)} not shown)" if words else "")


def _percent(share: float) -> str:
    """A share with one decimal where it is small, never rounded to none."""
    if 0 < share < 0.0005:
        return "<0.1 %"
    return f"{100 * share:.1f} %" if share < 0.0995 else f"{100 * share:.0f} %"
