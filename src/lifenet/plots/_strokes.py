"""The strokes of the picture of a hierarchy: all of it that knows matplotlib."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.neurons.subset import Fate
from lifenet.plots._edges import FATE_COLOURS, FATE_WORDS, edges_of, percent
from lifenet.plots._style import INK, matplotlib
from lifenet.plots._tree import GAP, READOUT, SENTENCE, widest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet._typing import Floats
    from lifenet.plots._edges import Edge
    from lifenet.plots._tree import Band, Layout
    from lifenet.recipe.record import HierarchyRecord, Level

__all__ = ["Drawing"]

_MEMBER_COLOUR, _LINE_COLOUR, _BAND_COLOUR = "#3B4A54", "#8A8F94", "#F4F5F6"
_SMALLEST_SENTENCE = 0.6


class Drawing:
    """The strokes: everything that knows matplotlib."""

    def __init__(self, ax: Any, layout: Layout, zoom: float | None) -> None:
        self.collections: Any = matplotlib("collections")
        self.patches: Any = matplotlib("patches")
        self.ax, self.layout = ax, layout
        room = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        fitting = min(1.0, room.width / layout.width, room.height / layout.height)
        self.zoom = fitting if zoom is None else zoom
        # Letters shrink less than the drawing, as there is room around them.
        self.letters = self.zoom**0.6
        self.sentences = bool(layout.sentences) and self.zoom > _SMALLEST_SENTENCE

    def draw(self, hierarchy: HierarchyRecord) -> None:
        levels, layout = hierarchy.levels, self.layout
        for number, (level, band) in enumerate(self._both(levels), 1):
            self._band(number, level, band, last=number == len(levels))
            self._boxes(level, band)
            (self._bars if band.bars else self._dots)(level, band)
            if self.sentences and number > 1:
                self._sentences(layout.sentences[number - 1], band)
        self._edges(hierarchy)
        self._readout(levels[-1], layout.bands[-1])
        self._legend(levels)
        self.ax.set(xlim=(0, layout.width), ylim=(-layout.height, 0.02))
        self.ax.set_aspect("equal")
        self.ax.axis("off")
        widths = ", ".join(str(level.n_neurons) for level in levels)
        self.ax.set_title(f"LIFE [{widths}]: {_count(len(levels[-1].networks), 'member')}")

    def _text(self, x: float, y: float, text: str, size: float = 8.0, **options: Any) -> Any:
        options = {"ha": "center", "va": "center", "color": INK, "zorder": 5, **options}
        return self.ax.text(x, y, text, fontsize=size * self.letters, **options)

    def _band(self, number: int, level: Level, band: Band, *, last: bool) -> None:
        height = band.top - band.bottom
        self.ax.add_patch(
            self.patches.Rectangle(
                (0, band.bottom), self.layout.width, height, color=_BAND_COLOUR, lw=0, zorder=0
            )
        )
        middle = (band.top + band.bottom) / 2
        title = f"Level {number}" + (", the members" if last else "")
        self._text(0.1, middle + 0.26, title, 9, ha="left", weight="bold")
        self._text(0.1, middle + 0.14, _caption(level), 7.5, ha="left", va="top", linespacing=1.3)

    def _boxes(self, level: Level, band: Band) -> None:
        pad = 0.0 if band.bars else 0.12 * band.cell
        corners = [
            [(left - pad, low), (left - pad, high), (right + pad, high), (right + pad, low)]
            for left, right, high, low in band.boxes
        ]
        self.ax.add_collection(
            self.collections.PolyCollection(
                corners,
                facecolors="white",
                edgecolors=_LINE_COLOUR,
                linewidths=min(0.8, 3 * band.cell) if not band.bars else 0.0,
                zorder=1,
                gid="networks",
            )
        )

    def _dots(self, level: Level, band: Band) -> None:
        sizes = [network.n_neurons for network in level.networks]
        if not level.splits:
            places = [
                band.place(network, neuron, size)
                for network, size in enumerate(sizes)
                for neuron in range(size)
            ]
            self._circles(places, np.full(len(places), 0.5 * band.cell), _MEMBER_COLOUR, "members")
        for fate in Fate:
            splits = [split for split in level.splits if split.fate is fate]
            places = [band.place(one.network, one.neuron, sizes[one.network]) for one in splits]
            # From a third of the cell up, so that the smallest can be seen; the area is the share.
            shares = np.array([split.share for split in splits])
            diameters = band.cell * (0.3 + 0.55 * np.sqrt(shares))
            self._circles(places, diameters, FATE_COLOURS[fate], fate.name.lower())
            if self.layout.labels:
                for (x, y), split in zip(places, splits, strict=True):
                    self._text(x, y - 0.5 * band.cell - 0.07, percent(split.share), 7.5)

    def _circles(self, places: Any, diameters: Floats, colour: str, gid: str) -> None:
        if not len(places):
            return
        self.ax.add_collection(
            self.collections.EllipseCollection(
                diameters,
                diameters,
                0,
                units="xy",
                offsets=places,
                offset_transform=self.ax.transData,
                facecolors=colour,
                linewidths=0,
                zorder=3,
                gid=gid,
            )
        )

    def _bars(self, level: Level, band: Band) -> None:
        counts = np.zeros((len(level.networks), len(Fate) + 1))
        fates = list(Fate)
        for split in level.splits:
            counts[split.network, fates.index(split.fate)] += 1
        counts[:, -1] = [network.n_neurons for network in level.networks]
        counts[:, -1] -= counts[:, :-1].sum(axis=1)
        heights = counts / widest(level) * (band.boxes[:, 2:3] - band.boxes[:, 3:4])
        tops = band.boxes[:, 2:3] - np.cumsum(heights, axis=1) + heights
        names = [fate.name.lower() for fate in fates]
        colours = [*FATE_COLOURS.values(), _MEMBER_COLOUR]
        for place, (gid, colour) in enumerate(zip([*names, "members"], colours, strict=True)):
            corners = [
                [(left, top), (right, top), (right, top - height), (left, top - height)]
                for (left, right, _, _), top, height in zip(
                    band.boxes, tops[:, place], heights[:, place], strict=True
                )
                if height > 0
            ]
            if corners:
                self.ax.add_collection(
                    self.collections.PolyCollection(
                        corners, facecolors=colour, linewidths=0, zorder=3, gid=gid
                    )
                )

    def _sentences(self, texts: Sequence[str], band: Band) -> None:
        for text, (left, right, top, _) in zip(texts, band.boxes, strict=True):
            self._text((left + right) / 2, top + 0.1, text, 6.5, style="italic")

    def _edges(self, hierarchy: HierarchyRecord) -> None:
        curves = []
        for edge in edges_of(hierarchy):
            above, band = self.layout.bands[edge.level - 2], self.layout.bands[edge.level - 1]
            left, right, top, _ = band.boxes[edge.network]
            n_neurons = hierarchy.levels[edge.level - 2].networks[edge.parent].n_neurons
            begin = _outlet(above, edge, n_neurons)
            end = (left + right) / 2, top + (SENTENCE if self.sentences else 0.0)
            curves.append(_curve(begin, end))
        most = max((len(band.boxes) for band in self.layout.bands), default=1)
        self._lines(curves, FATE_COLOURS[Fate.KEPT], "edges", most)

    def _lines(self, curves: list[Floats], colour: str, gid: str, most: int) -> None:
        self.ax.add_collection(
            self.collections.LineCollection(
                curves,
                colors=colour,
                linewidths=self.zoom * float(np.clip(12 / max(most, 1), 0.5, 1.3)),
                alpha=float(np.clip(20 / max(most, 1), 0.65, 0.9)),
                zorder=2,
                gid=gid,
                capstyle="round",
            )
        )

    def _readout(self, members: Level, band: Band) -> None:
        x, y = self.layout.centre, band.bottom - GAP - READOUT / 2
        n_neurons = sum(network.n_neurons for network in members.networks)
        curves = [_curve(((left + right) / 2, low), (x, y)) for left, right, _, low in band.boxes]
        self._lines(curves, _LINE_COLOUR, "readout", len(curves))
        text = f"output layer over {_count(n_neurons, 'neuron')}"
        style = {"boxstyle": "round,pad=0.5", "facecolor": _MEMBER_COLOUR, "edgecolor": "none"}
        self._text(x, y, text, 8.5, color="white", weight="bold", bbox=style)

    def _legend(self, levels: Sequence[Level]) -> None:
        lines: Any = matplotlib("lines")
        counts = Counter(split.fate for level in levels for split in level.splits)
        handles = [
            lines.Line2D(
                [],
                [],
                ls="",
                marker="o",
                ms=6 * self.zoom,
                color=colour,
                label=f"{FATE_WORDS[fate]} ({counts[fate]:,})",
            )
            for fate, colour in FATE_COLOURS.items()
            if counts[fate]
        ]
        if handles:
            dots = any(level.splits and not band.bars for level, band in self._both(levels))
            self.ax.legend(
                handles=handles, loc="lower left", frameon=False, borderaxespad=0.1,
                fontsize=7.5 * self.letters, handletextpad=0.1, labelspacing=0.25,
                title="neurons, the larger the more rows" if dots else "neurons",
                title_fontsize=7.5 * self.letters, alignment="left",
            )  # fmt: skip

    def _both(self, levels: Sequence[Level]) -> Iterator[tuple[Level, Band]]:
        return zip(levels, self.layout.bands, strict=True)


def _outlet(band: Band, edge: Edge, n_neurons: int) -> tuple[float, float]:
    """Where an edge begins: below its neuron, or at it where neurons stand in several rows."""
    left, right, _, low = band.boxes[edge.parent]
    if edge.neuron is None or band.bars:
        return float(left + right) / 2, float(low)
    x, y = band.place(edge.parent, edge.neuron, n_neurons)
    return (x, float(low)) if band.rows == 1 else (x, y)


def _curve(begin: tuple[float, float], end: tuple[float, float]) -> Floats:
    """From one point down to the other, upright at both ends: (n_points, 2)."""
    t = np.linspace(0.0, 1.0, 24)
    bend = t * t * (3 - 2 * t)
    x = begin[0] + (end[0] - begin[0]) * bend
    return np.column_stack([x, begin[1] + (end[1] - begin[1]) * t])


def _wrapped(text: str) -> str:
    """A line of a caption, broken where it is long."""
    return "\n".join(textwrap.wrap(text, 32))


def _caption(level: Level) -> str:
    widths = {network.n_neurons for network in level.networks} or {level.n_neurons}
    width = str(max(widths)) if len(widths) == 1 else f"{min(widths)} to {max(widths)}"
    lines = [f"{_count(len(level.networks), 'network')} of {width} neurons"]
    kept = sum(split.fate is Fate.KEPT for split in level.splits)
    if level.splits:
        lines.append(f"{kept:,} of {_count(len(level.splits), 'neuron')} kept")
    if level.subsets and all(len(subset.bias) == 0 for subset in level.subsets):
        drawn = any(subset.draw is not None for subset in level.subsets)
        base = level.subsets[0].base
        lines.append("bootstrap draws of the rows" if drawn else _wrapped(f"trained on {base}"))
    else:
        lines.append(f"subsets cover {percent(level.coverage)} of rows")
    return "\n".join(lines)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")
