"""Effects of single features."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.effects import accumulated_effects, partial_dependence
from lifenet.explain.integrated import integrated_effects
from lifenet.plots._axes import few_ticks, mark_missing, mark_values, place_of_missing
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import (
    BLUE,
    COLOURS,
    GREY,
    INK,
    PALE,
    columns_for,
    fold,
    folded_to,
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
    from lifenet.network import PiecewiseLinear

__all__ = [
    "EffectsDisplay",
    "band_words",
    "common_scale",
    "draw_curve",
    "line_handle",
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
#: Levels of a category that have a bar each; of more, the rarer ones share one. Chosen by hand.
_MOST_LEVELS = 15


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
    distribution of the column. Of a category, each level has a bar; a missing value of a number
    stands at the left of its curve. A legend below says so.

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
            few_ticks(panel.xaxis, curve.values, curve.kind)
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
    whole, curve = curve, curve.observed
    if whole.has_missing:
        _draw_missing(ax, whole, colour, thin=thin)
    values, effect = _thin_out(curve.values, curve.effect)
    marked = len(curve.values) <= _MARKED and not thin
    style: dict[str, Any] = {"marker": "o", "ms": 2.6} if marked else {}
    ax.plot(values, effect, color=colour, lw=1.1 if thin else 1.6, zorder=3, **style)
    if not thin:
        if curve.low is not None and curve.high is not None:
            values, low, high = _thin_out(curve.values, curve.low, curve.high)
            ax.fill_between(values, low, high, color=colour, alpha=_BAND, lw=0, zorder=2)
        _draw_distribution(ax, whole)
        mark_values(ax.xaxis, curve.values, curve.kind)


def _draw_missing(ax: Any, curve: Curve, colour: str, *, thin: bool) -> None:
    """The effect of a missing value, beside the curve."""
    values = curve.observed.values
    place = place_of_missing(values)
    ax.plot(place, curve.effect[-1], "D", ms=3 if thin else 4.5, color=colour, zorder=4)
    if thin:
        return
    if curve.low is not None and curve.high is not None:
        ends = [[curve.low[-1]], [curve.high[-1]]]
        middle, errors = (ends[0][0] + ends[1][0]) / 2, (ends[1][0] - ends[0][0]) / 2
        ax.errorbar(place, middle, errors, fmt="none", ecolor=INK, lw=1, capsize=2)
    mark_missing(ax, place, float(values[0]))


def _thin_out(values: Floats, *curves: Floats) -> tuple[Floats, ...]:
    """Every so many points of long curves, the ends included."""
    if len(values) <= _MOST_POINTS:
        return (values, *curves)
    kept = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).astype(int))
    return tuple(one[kept] for one in (values, *curves))


def _draw_distribution(ax: Any, curve: Curve) -> None:
    """Grey bars at the foot: the mass of the values, in bins where they are many."""
    foot = ax.inset_axes((0, 0, 1, 0.16), sharex=ax)
    if curve.has_missing:
        gone, curve = float(curve.mass[-1]), curve.observed
        width = 0.08 * (float(np.ptp(curve.values)) or 1.0)
        foot.bar(place_of_missing(curve.values), gone, width=width, color=PALE, lw=0)
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
    curve = _few_levels(curve)
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
    look = {"rotation": 60, "ha": "right", "rotation_mode": "anchor"} if turned else {}
    ax.set_xticks(curve.values, fold(curve.labels, 12), **look)


def middle_of(curve: Curve, share: float) -> Curve:
    """The curve between the quantiles that leave that share of the rows in the middle."""
    if not 0 < share <= 1:
        raise ValueError(f"share_of_rows must be above 0 and at most 1; it is {share}.")
    known = curve.observed
    if curve.labels is not None or len(known.values) <= _MARKED or share == 1:
        return curve
    reached = np.cumsum(known.mass) / known.mass.sum()
    low, high = np.searchsorted(reached, [(1 - share) / 2, (1 + share) / 2])
    kept = np.arange(low, min(high, len(reached) - 1) + 1)
    if len(kept) < 2:
        return curve
    return curve.part(np.append(kept, len(known.values)) if curve.has_missing else kept)


def _few_levels(curve: Curve) -> Curve:
    """The most frequent levels, and the mean of the others as one."""
    assert curve.labels is not None
    if len(curve.labels) <= _MOST_LEVELS:
        return curve
    order = np.argsort(-curve.mass, kind="stable")
    kept, rest = np.sort(order[: _MOST_LEVELS - 1]), order[_MOST_LEVELS - 1 :]
    share = curve.mass[rest] / (curve.mass[rest].sum() or 1.0)

    def joined(values: Floats | None) -> Floats | None:
        return None if values is None else np.append(values[kept], share @ values[rest])

    effect = joined(curve.effect)
    assert effect is not None
    return replace(
        curve,
        values=np.arange(len(effect), dtype=np.float64),
        effect=effect,
        mass=np.append(curve.mass[kept], curve.mass[rest].sum()),
        labels=(*(curve.labels[one] for one in kept), f"{len(rest)} others"),
        low=joined(curve.low),
        high=joined(curve.high),
    )


def panel_size(n_panels: int) -> tuple[float, float]:
    """Inches of a panel with a curve; one alone has room for the words above and below it."""
    return (2.6, 2.2) if n_panels > 1 else (4.2, 3.2)


def common_scale(curves: Sequence[Curve]) -> tuple[float, float]:
    """Ends of a vertical axis on which all curves, bands and distributions at their feet fit."""
    ends = np.array([curve.extent for curve in curves])
    low, high = float(ends.min()), float(ends.max())
    room = 0.08 * (high - low) or 1.0
    return low - 2 * room, high + room  # more below, for the distribution at the foot
