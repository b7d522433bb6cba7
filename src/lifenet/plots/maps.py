"""Effects of pairs of features as maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.pairs import pair_effect
from lifenet.plots._axes import TICKED, few_ticks, mark_levels, mark_missing, mark_values
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import DIVERGING, INK, PALE, fold, make_axes, matplotlib, tidy

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.pairs import PairEffect

__all__ = ["PairEffectDisplay", "map_marks"]


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
        result, known = self.result, self.result.observed
        self.figure_, self.ax_ = make_axes(ax, (5.2, 4.2))
        stepped = [_stepped(result, place) for place in (0, 1)]
        bands = self._bands(stepped)
        meshes = [self._draw_known(known, stepped), *self._draw_missing(bands)]
        limit = self._limit()
        for mesh in meshes:
            mesh.set(clim=(-limit, limit), rasterized=True)
        axes = (self.ax_.xaxis, self.ax_.yaxis)
        for axis, labels, name, values, kind in zip(
            axes, result.labels, result.features, known.values, result.kinds, strict=True
        ):
            axis.set_label_text(fold([name], 44)[0])
            if labels is None:
                mark_values(axis, values, kind)
            else:
                mark_levels(axis, labels)
        for place, end in enumerate((self.ax_.set_xlim, self.ax_.set_ylim)):
            if not stepped[place]:
                low, high = self._middle_of(place)
                apart = len(known.values[place]) < len(result.values[place])
                end(low - 0.11 * (high - low) * apart, high)
        for axis, values, kind, banded in zip(
            axes, result.values, result.kinds, stepped, strict=True
        ):
            if not banded:
                few_ticks(axis, values, kind, 5)
        for place, band in bands.items():
            width = band[1] - band[0]
            mark_missing(self.ax_, band.mean(), band[1] + 0.8 * width, upright=place == 1)
        title = f"Together beyond alone (rms {result.strength:.3g})"
        words = [mark.get_label() for mark in map_marks([result])]
        self.ax_.set_title("\n".join([title, "; ".join(words)] if words else [title]))
        tidy(self.ax_)
        if colour_bar:
            bar = self.figure_.colorbar(meshes[0], ax=self.ax_, shrink=0.85)
            bar.set_label(f"effect on the {self.score_name}", fontsize=8, color=INK)
            bar.ax.tick_params(labelsize=7)
            bar.outline.set_visible(False)
            self.bar_ = bar
        return self

    def _draw_known(self, known: PairEffect, stepped: Sequence[bool]) -> Any:
        """The map where both have a value."""
        if any(stepped):
            edges = [_edges(values) for values in known.values]
            mesh = self.ax_.pcolormesh(*edges, known.effect.T, cmap=DIVERGING)
            self._fade(edges, known.share)
            return mesh
        mesh = self.ax_.pcolormesh(*known.values, known.effect.T, shading="gouraud", cmap=DIVERGING)
        self._fade(known.values, known.mass)
        self._draw_rows(known)
        return mesh

    def _bands(self, stepped: Sequence[bool]) -> dict[int, Floats]:
        """Ends of the bands for missing values of either feature, below its values."""
        result, known = self.result, self.result.observed
        bands: dict[int, Floats] = {}
        for place, values in enumerate(known.values):
            if len(values) < len(result.values[place]):
                ends = _edges(values)[[0, -1]] if stepped[place] else self._middle_of(place)
                low, width = float(ends[0]), 0.06 * float(ends[1] - ends[0])
                bands[place] = np.array([low - 1.8 * width, low - 0.8 * width])
        return bands

    def _draw_missing(self, bands: dict[int, Floats]) -> list[Any]:
        """The bands, and a corner where both are missing."""
        result, known = self.result, self.result.observed
        meshes = []
        for place, band in bands.items():
            other = 1 - place
            drawn = [(_edges(known.values[other]), np.arange(len(known.values[other])))]
            if place == 0 and other in bands:
                drawn.append((bands[other], np.array([-1])))
            for sides, which in drawn:
                part, held = (
                    np.take(np.take(table, [-1], axis=place), which, axis=other)
                    for table in (result.effect, result.share)
                )
                pair = (band, sides) if place == 0 else (sides, band)
                meshes.append(self.ax_.pcolormesh(*pair, part.T, cmap=DIVERGING))
                self._fade(pair, held)
        return meshes

    def _middle_of(self, place: int) -> tuple[float, float]:
        """Between which values of a feature nearly all rows lie: without the outermost cells."""
        known = self.result.observed
        values, mass = known.values[place], known.mass.sum(axis=1 - place)
        low, high = 0, len(values) - 1
        if mass.sum() > 0:
            reached = np.cumsum(mass) / mass.sum()
            low, high = np.searchsorted(reached, [0.01, 0.99])
        if high <= low:
            low, high = 0, len(values) - 1
        return float(values[low]), float(values[high])

    def _limit(self) -> float:
        """The end of the colour scale: the largest effect at a corner of a cell with rows."""
        result, known = self.result, self.result.observed
        held = result.share > 0
        for rows in (slice(0, -1), slice(1, None)):
            for columns in (slice(0, -1), slice(1, None)):
                g, h = known.effect.shape
                held[:g, :h][rows, columns] |= known.mass > 0
        largest = float(np.abs(result.effect[held]).max())
        # Where there is nothing but rounding, nothing is coloured.
        return max(largest, 1e-9 * result.spread) or 1.0

    def _fade(self, edges: Sequence[Floats], share: Floats) -> None:
        """Whiten the cells without rows: what is shown there is borrowed from a neighbour."""
        empty = np.ma.masked_where(share.T > 0, np.ones(share.T.shape))
        style: dict[str, Any] = {"cmap": "gray", "vmin": 0, "vmax": 1, "rasterized": True}
        self.ax_.pcolormesh(*edges, empty, alpha=self.fade, **style)

    def _draw_rows(self, known: PairEffect) -> None:
        """A dot in each cell with rows, its area the share of the rows."""
        share = known.mass
        middles = [(values[1:] + values[:-1]) / 2 for values in known.values]
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
    return result.labels[place] is not None or len(result.observed.values[place]) <= TICKED


def map_marks(results: Sequence[PairEffect]) -> list[Any]:
    """For a legend: what the dots and the paler cells of maps mean, where there are any."""
    bands = [_stepped(one, 0) or _stepped(one, 1) for one in results]
    shares = [
        one.share if banded else one.observed.mass
        for one, banded in zip(results, bands, strict=True)
    ]
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
