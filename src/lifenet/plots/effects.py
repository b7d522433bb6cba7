"""Effects of features, alone and in pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.effects import accumulated_effects, partial_dependence
from lifenet.explain.integrated import integrated_effects
from lifenet.explain.pairs import pair_effect
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    DIVERGING,
    GREY,
    INK,
    PALE,
    columns_for,
    fold,
    folded_to,
    make_axes,
    make_panels,
    matplotlib,
    put_legend,
    tidy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.effects import Curve, Effects
    from lifenet.explain.pairs import PairEffect
    from lifenet.network import PiecewiseLinear

__all__ = [
    "EffectsDisplay",
    "PairEffectDisplay",
    "band_words",
    "common_scale",
    "draw_curve",
    "line_handle",
    "map_marks",
    "marks_of",
    "middle_of",
    "panel_size",
]

_WORDS = {
    "accumulated": "accumulated local effect",
    "partial": "partial dependence, centred",
    "integrated": "integral of the smoothed slope",
}
#: More values than this are drawn without a mark at each.
_MARKED = 40
_MOST_POINTS = 2_000
#: How opaque bands are.
_BAND = 0.3
#: Up to so many values have a tick each.
_TICKED = 8


def _effects(
    network: PiecewiseLinear, X: Any, *, kind: str = "accumulated", **options: Any
) -> Effects:
    """Effects of a kind, by name; `options` are those of its function."""
    kinds: dict[str, Callable[..., Effects]] = {
        "accumulated": accumulated_effects,
        "partial": partial_dependence,
        "integrated": integrated_effects,
    }
    if kind not in kinds:
        raise ValueError(f"kind must be one of {', '.join(kinds)}; it is {kind!r}.")
    return kinds[kind](network, X, **options)


class EffectsDisplay(ResultDisplay):
    """Effects of features, a panel each, the strongest first.

    The curve is in units of the score (log-odds for a classifier) and zero on the average over the
    rows; all panels share one vertical scale, so that their sizes can be compared. The shaded band,
    and the whiskers of levels, reach from the lowest to the highest of the networks of the folds,
    or of refits (``refits=[...]``), where there are several. The grey bars at the foot are the
    distribution of the column. Of a category, each level has a bar. A legend below says so.

    ``from_estimator`` and ``from_network`` take ``kind="accumulated"`` (the default), ``"partial"``
    or ``"integrated"``.

    Parameters
    ----------
    result : Effects
        Of `accumulated_effects`, `partial_dependence` or `integrated_effects`.
    """

    result: Effects
    axes_: list[Any]
    _explain = staticmethod(_effects)

    def plot(
        self,
        ax: Any = None,
        *,
        beside: Sequence[Effects] = (),
        max_features: int = 12,
        share_scale: bool = True,
        share_of_rows: float = 0.98,
    ) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Place of all panels; None makes a figure of a fitting size.
        beside : sequence of Effects, default=()
            Other effects of the same features, drawn thinner in the same panels.
        max_features : int, default=12
            Most panels; the title says how many features are left out.
        share_scale : bool, default=True
            Whether all panels have the same vertical scale.
        share_of_rows : float, default=0.98
            Panels show the middle values of their column with this share of the rows, so that a few
            outliers do not squeeze the others; 1 shows all values.

        Returns
        -------
        self
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; got {max_features}.")
        shown = [middle_of(one, share_of_rows) for one in self.result.ranked()[:max_features]]
        n_columns = columns_for(len(shown))
        n_rows = -(-len(shown) // n_columns)
        room = {"hspace": 0.6, "wspace": 0.35, "bottom": 0.2}
        figure, grid = make_panels(ax, n_rows, n_columns, panel_size(len(shown)), **room)
        self.figure_, self.axes_ = figure if ax is None else ax.figure, []
        for place, curve in enumerate(shown):
            panel = figure.add_subplot(grid[divmod(place, n_columns)])
            draw_curve(panel, curve, BLUE)
            for number, other in enumerate(beside, 1):
                draw_curve(
                    panel,
                    middle_of(other[curve.feature], share_of_rows),
                    COLOURS[number],
                    thin=True,
                )
            panel.set_title(fold([curve.feature], 30)[0])
            tidy(panel)
            if curve.labels is None and len(curve.values) > _TICKED:
                panel.locator_params(axis="x", nbins=4)
            self.axes_.append(panel)
        self.ax_ = self.axes_[0] if ax is None else ax
        if share_scale:
            others = [
                middle_of(one[curve.feature], share_of_rows) for one in beside for curve in shown
            ]
            low, high = common_scale([*shown, *others])
            for panel in self.axes_:
                panel.set_ylim(low, high)
        self._label(figure, len(shown), share_of_rows)
        handles = []
        if beside or self.result.band:
            for number, effects in enumerate((self.result, *beside)):
                handles.append(line_handle(COLOURS[number], _WORDS[effects.kind], thin=number > 0))
        put_legend(figure, ax, [*handles, *marks_of(shown, band_words(self.result.band))])
        return self

    def _label(self, place: Any, n_shown: int, share_of_rows: float) -> None:
        left_out = len(self.result.curves) - n_shown
        title = f"{_WORDS[self.result.kind].capitalize()} on the {self.score_name}"
        if share_of_rows < 1:
            title += f", middle {100 * share_of_rows:g} % of the rows"
        if left_out:
            words = "weaker feature is" if left_out == 1 else "weaker features are"
            title += f" ({left_out} {words} not shown)"
        place.suptitle(folded_to(place, title, 10), fontsize=10, color=INK)
        place.supylabel(f"change of the {self.score_name}", fontsize=9, color=INK)


def band_words(over: str) -> str:
    """What a band is that reaches over folds or refits; nothing where there is none."""
    return f"from lowest to highest of {over}" if over else ""


def line_handle(colour: str, label: str, *, thin: bool = False) -> Any:
    """A line for a legend."""
    return matplotlib("lines").Line2D([], [], color=colour, lw=1.1 if thin else 1.6, label=label)


def marks_of(curves: Sequence[Curve], band: str) -> list[Any]:
    """For a legend: what the marks of `draw_curve` mean; `band` says what bands are, if any."""
    patch = matplotlib("patches").Patch
    level = [curve.labels is not None for curve in curves]
    found = []
    if band:
        whiskers = " (whiskers)" if all(level) else " (band, whiskers)" if any(level) else ""
        found.append(patch(color=BLUE, alpha=_BAND, lw=0, label=band + whiskers))
    if not all(level):
        found.append(patch(color=PALE, lw=0, label="distribution of the rows"))
    if any(level):
        found.append(patch(color=BLUE, lw=0, label="level, as wide as it is frequent"))
    return found


def draw_curve(ax: Any, curve: Curve, colour: str, *, thin: bool = False) -> None:
    """Draw one effect: a line, or bars for the levels of a category, with its band unless thin."""
    ax.axhline(0, color=GREY, lw=0.6, zorder=1)
    if curve.labels is not None:
        _draw_levels(ax, curve, colour, thin=thin)
        return
    values, effect = _thin_out(curve.values, curve.effect)
    marked = len(curve.values) <= _MARKED and not thin
    style: dict[str, Any] = {"marker": "o", "ms": 2.6} if marked else {}
    ax.plot(values, effect, color=colour, lw=1.1 if thin else 1.6, zorder=3, **style)
    if not thin:
        if curve.low is not None and curve.high is not None:
            values, low, high = _thin_out(curve.values, curve.low, curve.high)
            ax.fill_between(values, low, high, color=colour, alpha=_BAND, lw=0, zorder=2)
        _draw_distribution(ax, curve)
        _mark_values(ax.xaxis, curve.values)


def _thin_out(values: Floats, *curves: Floats) -> tuple[Floats, ...]:
    """Every so many points of long curves, the ends included."""
    if len(values) <= _MOST_POINTS:
        return (values, *curves)
    kept = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(int))
    return tuple(one[kept] for one in (values, *curves))


def _mark_values(axis: Any, values: Floats) -> None:
    """A tick at each value of a column that has few."""
    if len(values) <= _TICKED:
        axis.set_ticks(values, [f"{value:g}" for value in values])


def _draw_distribution(ax: Any, curve: Curve) -> None:
    """Grey bars at the foot: the mass of the values, in bins where they are many."""
    foot = ax.inset_axes((0, 0, 1, 0.16), sharex=ax)
    few = len(curve.values) <= _MARKED
    if few:
        gap = np.diff(curve.values).min() if len(curve.values) > 1 else 1.0
        foot.bar(curve.values, curve.mass, width=0.8 * gap, color=PALE, lw=0)
    else:
        foot.hist(curve.values, bins=40, weights=curve.mass, color=PALE, lw=0)
    foot.set_axis_off()
    foot.set_zorder(ax.get_zorder() - 1)
    ax.patch.set_visible(False)


def _draw_levels(ax: Any, curve: Curve, colour: str, *, thin: bool) -> None:
    assert curve.labels is not None
    if thin:
        ax.plot(curve.values, curve.effect, "D", ms=3, color=colour, zorder=4)
        return
    # As wide as the level is frequent, so that rare levels look rare.
    width = 0.25 + 0.6 * curve.mass / curve.mass.max()
    ax.bar(curve.values, curve.effect, width=width, color=colour, lw=0, zorder=2)
    if curve.low is not None and curve.high is not None:
        middle, errors = (curve.low + curve.high) / 2, (curve.high - curve.low) / 2
        ax.errorbar(curve.values, middle, errors, fmt="none", ecolor=INK, lw=1, capsize=2)
    turned = max(len(label) for label in curve.labels) * len(curve.labels) > 28
    ax.set_xticks(curve.values, fold(curve.labels, 12), rotation=60 if turned else 0)


def middle_of(curve: Curve, share: float) -> Curve:
    """The curve between the quantiles that leave that share of the rows in the middle."""
    if not 0 < share <= 1:
        raise ValueError(f"share_of_rows must be above 0 and at most 1; it is {share}.")
    if curve.labels is not None or len(curve.values) <= _MARKED or share == 1:
        return curve
    reached = np.cumsum(curve.mass) / curve.mass.sum()
    low, high = np.searchsorted(reached, [(1 - share) / 2, (1 + share) / 2])
    kept = slice(low, min(high, len(reached) - 1) + 1)
    if len(curve.values[kept]) < 2:
        return curve
    return curve.part(kept)


def panel_size(n_panels: int) -> tuple[float, float]:
    """Inches of a panel with a curve; one alone has room for the words above and below it."""
    return (2.6, 2.2) if n_panels > 1 else (4.2, 3.2)


def common_scale(curves: Sequence[Curve]) -> tuple[float, float]:
    """Ends of a vertical axis on which all curves, bands and distributions at their feet fit."""
    ends = np.array([curve.extent for curve in curves])
    low, high = float(ends.min()), float(ends.max())
    room = 0.08 * (high - low) or 1.0
    return low - 2 * room, high + room  # more below, for the distribution at the foot


class PairEffectDisplay(ResultDisplay):
    """What two features do together beyond what each does alone, as a map.

    Positive in purple, negative in orange. The dots show where rows lie; paler cells have none,
    and may lie beyond the scale. Categories, and columns of few values, are drawn as bands. The
    line below the title says so.

    Parameters
    ----------
    result : PairEffect
    """

    result: PairEffect
    #: How much of their colour cells without rows lose.
    fade: float = 0.85
    #: The colour bar, after `plot` with one.
    bar_: Any
    _explain = staticmethod(pair_effect)

    def plot(self, ax: Any = None, *, colour_bar: bool = True) -> Self:
        """Draw the map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        colour_bar : bool, default=True

        Returns
        -------
        self
        """
        result = self.result
        self.figure_, self.ax_ = make_axes(ax, (5.2, 4.2))
        limit = self._limit()
        stepped = [_stepped(result, place) for place in (0, 1)]
        if any(stepped):
            edges = [_edges(values) for values in result.values]
            mesh = self.ax_.pcolormesh(*edges, result.effect.T, cmap=DIVERGING)
            self._fade(edges, result.share)
        else:
            mesh = self.ax_.pcolormesh(
                *result.values, result.effect.T, shading="gouraud", cmap=DIVERGING
            )
            self._fade(result.values, result.mass)
        mesh.set(clim=(-limit, limit), rasterized=True)
        if not any(stepped):
            self._draw_rows()
        axes = (self.ax_.xaxis, self.ax_.yaxis)
        for axis, labels, name, values in zip(
            axes, result.labels, result.features, result.values, strict=True
        ):
            axis.set_label_text(fold([name], 44)[0])
            if labels is None:
                _mark_values(axis, values)
            else:
                axis.set_ticks(values, fold(labels, 12))
        for place, end in enumerate((self.ax_.set_xlim, self.ax_.set_ylim)):
            if not stepped[place]:
                end(*self._middle_of(place))
        for name in ("x", "y"):
            if not stepped[name == "y"]:
                self.ax_.locator_params(axis=name, nbins=5)
        title = f"Together beyond alone (rms {result.strength:.3g})"
        words = [mark.get_label() for mark in map_marks([result])]
        self.ax_.set_title("\n".join([title, "; ".join(words)] if words else [title]))
        tidy(self.ax_)
        if colour_bar:
            bar = self.figure_.colorbar(mesh, ax=self.ax_, shrink=0.85)
            bar.set_label(f"effect on the {self.score_name}", fontsize=8, color=INK)
            bar.ax.tick_params(labelsize=7)
            bar.outline.set_visible(False)
            self.bar_ = bar
        return self

    def _middle_of(self, place: int) -> tuple[float, float]:
        """Between which values of a feature nearly all rows lie: without the outermost cells."""
        values, mass = self.result.values[place], self.result.mass.sum(axis=1 - place)
        reached = np.cumsum(mass) / mass.sum()
        low, high = np.searchsorted(reached, [0.01, 0.99])
        if high <= low:
            low, high = 0, len(values) - 1
        return float(values[low]), float(values[high])

    def _limit(self) -> float:
        """The end of the colour scale: the largest effect at a corner of a cell with rows."""
        held = np.zeros(self.result.effect.shape, dtype=bool)
        for rows in (slice(0, -1), slice(1, None)):
            for columns in (slice(0, -1), slice(1, None)):
                held[rows, columns] |= self.result.mass > 0
        largest = float(np.abs(self.result.effect[held]).max())
        # Where there is nothing but rounding, nothing is coloured.
        return max(largest, 1e-9 * self.result.spread) or 1.0

    def _fade(self, edges: Sequence[Floats], share: Floats) -> None:
        """Whiten the cells without rows: what is shown there is borrowed from a neighbour."""
        empty = np.ma.masked_where(share.T > 0, np.ones(share.T.shape))
        style: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1, "rasterized": True}
        self.ax_.pcolormesh(*edges, empty, alpha=self.fade, **style)

    def _draw_rows(self) -> None:
        """A dot in each cell with rows, its area the share of the rows."""
        share = self.result.mass
        middles = [(values[1:] + values[:-1]) / 2 for values in self.result.values]
        first, second = np.nonzero(share)
        self.ax_.scatter(
            middles[0][first],
            middles[1][second],
            s=1.5 + 13 * share[first, second] / share.max(),
            color=INK,
            alpha=0.55,
            lw=0,
            rasterized=True,
        )


def _stepped(result: PairEffect, place: int) -> bool:
    """Whether a feature is a category, or has so few values that each is drawn as a band."""
    return result.labels[place] is not None or len(result.values[place]) <= _TICKED


def map_marks(results: Sequence[PairEffect]) -> list[Any]:
    """For a legend: what the dots and the paler cells of maps mean, where there are any."""
    bands = [_stepped(one, 0) or _stepped(one, 1) for one in results]
    shares = [one.share if banded else one.mass for one, banded in zip(results, bands, strict=True)]
    found = []
    if not all(bands):
        style = {"ls": "", "marker": "o", "ms": 3, "color": INK, "alpha": 0.55}
        line = matplotlib("lines").Line2D
        found.append(line([], [], label="dots: rows, the larger the more", **style))
    if any((share == 0).any() for share in shares):
        patch = matplotlib("patches").Patch
        found.append(patch(facecolor="#F4F2F6", edgecolor=PALE, lw=0.6, label="paler: no rows"))
    return found


def _edges(values: Floats) -> Floats:
    """Borders halfway between values, and as far outside the outer ones."""
    if len(values) == 1:
        return np.array([values[0] - 0.5, values[0] + 0.5])
    middle = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middle[0]], middle, [2 * values[-1] - middle[-1]]])
