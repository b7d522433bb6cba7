"""The tree of networks behind a LIFE model: the figure `tree` of the paper, from a real fit."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet.record import Fate
from lifenet.schema import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.record import Hierarchy, Level, Subset

__all__ = ["FATE_COLOURS", "FATE_WORDS", "Edge", "HierarchyDisplay", "edges_of", "percent"]

# Of Okabe and Ito, who chose them to differ for all kinds of colour vision.
FATE_COLOURS = {
    Fate.KEPT: "#0072B2",
    Fate.TOO_SMALL: "#E69F00",
    Fate.TOO_LARGE: "#CC79A7",
    Fate.NOT_DRAWN: "#BBBBBB",
}
FATE_WORDS = {
    Fate.KEPT: "kept",
    Fate.TOO_SMALL: "too small",
    Fate.TOO_LARGE: "too large",
    Fate.NOT_DRAWN: "not drawn",
}
_MEMBER_COLOUR, _LINE_COLOUR, _INK, _BAND_COLOUR = "#3B4A54", "#8A8F94", "#222222", "#F4F5F6"

# The drawing is laid out in inches of a figure of its own; on other axes it is scaled.
_CAPTION, _GAP, _READOUT, _PAD = 1.95, 0.6, 0.45, 0.12
_LABEL, _SENTENCE, _LETTER = 0.2, 0.2, 0.05
_CELL, _SMALLEST_LABELLED_CELL, _BOX_HEIGHT = 0.5, 0.4, 0.8
_SMALLEST_SENTENCE = 0.6
# Gaps between more bars than this would be thinner than a pixel.
_TOUCHING = 60


@dataclass(frozen=True)
class Edge:
    """Where the rows of a network come from.

    Attributes
    ----------
    level : of the network that was trained on them, from 2
    network : its number in that level
    parent : number of the network in the level above
    neuron : of `parent`, whose subset it is; None where the network has the rows of `parent`, as
        where no neuron of a level made a subset that would do
    """

    level: int
    network: int
    parent: int
    neuron: int | None


def edges_of(hierarchy: Hierarchy) -> tuple[Edge, ...]:
    """One edge for each network below the first level whose rows come from the level above."""
    return tuple(
        edge
        for number, (above, level) in enumerate(
            zip(hierarchy.levels, hierarchy.levels[1:], strict=False), 2
        )
        for edge in _edges_between(above, level, number)
    )


def _edges_between(above: Level, level: Level, number: int) -> list[Edge]:
    # A level without usable subsets hands its own on, whose parents stand one level higher up:
    # those are told by their conditions, as `parent` would point to the wrong level.
    handed_on = defaultdict(list)
    for place, subset in enumerate(above.subsets):
        handed_on[_key(subset)].append(place)
    used: Counter[Any] = Counter()
    edges = []
    for place, subset in enumerate(level.subsets):
        same = handed_on.get(_key(subset))
        if same is not None:
            parent = same[used[_key(subset)] % len(same)]
            used[_key(subset)] += 1
            edges.append(Edge(number, place, parent, None))
        elif subset.parent is not None:
            edges.append(Edge(number, place, *subset.parent))
    return edges


def _key(subset: Subset) -> tuple[bytes, bytes, tuple[int, ...] | None]:
    return subset.weights.tobytes(), subset.bias.tobytes(), subset.draw


class HierarchyDisplay:
    """The hierarchy of networks of a LIFE model as a tree.

    A band for each level, a box for each network, a dot for each neuron: its colour says what
    became of its subset, its area grows with the subset's share of the rows. A line leads from a
    neuron to the network of the next level that was trained on its subset. The networks of the last
    level are the members; the read-out joins all their neurons in one layer.

    Parameters
    ----------
    hierarchy : Hierarchy
        `hierarchy_` of a fitted model.
    names : sequence of str or None, default=None
        Names of the columns; None calls them x0, x1, ...

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from lifenet import LLA, LIFERegressor, NeuronProjection
    >>> from lifenet.datasets import simulate
    >>> from lifenet.plots import HierarchyDisplay
    >>> data = simulate.aim(500, random_state=0)
    >>> model = LIFERegressor(NeuronProjection(levels=(3, 3)), LLA(2), random_state=0)
    >>> display = HierarchyDisplay(model.fit(data.X, data.y).hierarchy_, model.schema_.names)
    >>> list(display.to_frame())
    ['level', 'network', 'neuron', 'share', 'fate']
    """

    ax_: Any
    figure_: Any

    def __init__(self, hierarchy: Hierarchy, names: Sequence[str] | None = None) -> None:
        self.hierarchy = hierarchy
        self.names = None if names is None else tuple(names)

    @classmethod
    def from_estimator(cls, estimator: Any, ax: Any = None, **options: Any) -> Self:
        """Draw a fitted model's `hierarchy_`; `options` are those of `plot`."""
        return cls(estimator.hierarchy_, estimator.schema_.names).plot(ax, **options)

    def to_frame(self) -> pd.DataFrame:
        """The numbers behind it, one row a neuron: level, network, neuron, share, fate."""
        return self.hierarchy.to_frame()

    def plot(
        self,
        ax: Any = None,
        *,
        labels: bool | Literal["auto"] = "auto",
        max_neurons: int = 2000,
    ) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a figure of a fitting size.
        labels : bool or "auto", default="auto"
            Whether to write each neuron's share and, with up to three columns, each network's
            subset in words. "auto" does where there is room.
        max_neurons : int, default=2000
            A level with more neurons is drawn as bars, one a network: how many of its neurons met
            each fate.

        Returns
        -------
        self
        """
        levels = self.hierarchy.levels
        layout = _lay_out(levels, self._names(), labels, max_neurons)
        zoom = None if ax is not None else 1.0
        if ax is None:
            pyplot = require("matplotlib.pyplot", extra="plots", purpose="Drawing the hierarchy")
            size = (layout.width, layout.height + 0.35)
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        _Drawing(ax, layout, zoom).draw(self.hierarchy)
        return self

    def _names(self) -> tuple[str, ...]:
        networks = [one for level in self.hierarchy.levels for one in level.networks]
        return self.names or default_names(networks[0].n_features if networks else 0)


@dataclass(frozen=True)
class _Band:
    """Where a level is drawn.

    Attributes
    ----------
    top, bottom : of the band
    boxes : (n_networks, 4): left, right, top and bottom of each network
    rows, cell : neurons stand in a grid of so many rows and cells of this size, column by column
    bars : whether neurons are counted rather than drawn
    """

    top: float
    bottom: float
    boxes: Floats
    rows: int
    cell: float
    bars: bool

    def place(self, network: int, neuron: int, n_neurons: int) -> tuple[float, float]:
        """Middle of a neuron."""
        left, right, top, _ = self.boxes[network]
        column, row = divmod(neuron, self.rows)
        n_columns = -(-n_neurons // self.rows)
        x = (left + right) / 2 + (column + 0.5 - n_columns / 2) * self.cell
        return float(x), float(top - (row + 0.5) * self.cell)


@dataclass(frozen=True)
class _Layout:
    """Where everything is drawn; `sentences` are of each level's networks, () where none fit."""

    width: float
    height: float
    bands: tuple[_Band, ...]
    labels: bool
    sentences: tuple[tuple[str, ...], ...]

    @property
    def centre(self) -> float:
        return (_CAPTION + self.width - _PAD) / 2


def _lay_out(
    levels: Sequence[Level], names: Sequence[str], labels: bool | str, max_neurons: int
) -> _Layout:
    most = max((len(level.networks) for level in levels), default=1)
    room = float(np.clip(2.0 * most, 5.5, 10.5))
    grids = [_grid(level, room, max_neurons) for level in levels]
    roomy = most <= 8 and all(
        cell >= _SMALLEST_LABELLED_CELL
        for level, (_, cell, _) in zip(levels, grids, strict=True)
        if level.splits
    )
    labelled = roomy if labels == "auto" else bool(labels)
    sentences = tuple(
        tuple(_sentence(subset, names) for subset in level.subsets) for level in levels
    ) if labelled and len(names) <= 3 else ()  # fmt: skip
    longest = max((len(text) for texts in sentences for text in texts), default=0)
    if longest * _LETTER > room / most:
        sentences = ()
    top, bands = 0.0, []
    for level, grid in zip(levels, grids, strict=True):
        bands.append(_band(level, grid, top, room, labelled, bool(sentences)))
        top = bands[-1].bottom - _GAP
    return _Layout(_CAPTION + room + _PAD, _READOUT - top, tuple(bands), labelled, sentences)


def _grid(level: Level, width: float, max_neurons: int) -> tuple[int, float, bool]:
    """Rows and size of the cells that make the neurons as large as there is room for."""
    n_networks, n_neurons = max(len(level.networks), 1), _widest(level)
    slot = width / n_networks
    if n_networks * n_neurons > max_neurons:
        return 1, slot if n_networks > _TOUCHING else 0.9 * slot, True
    cells = [
        min(0.8 * slot / -(-n_neurons // rows), _BOX_HEIGHT / rows, _CELL)
        for rows in range(1, n_neurons + 1)
    ]
    best = int(np.argmax(np.round(cells, 9)))
    return best + 1, cells[best], False


def _widest(level: Level) -> int:
    return max((network.n_neurons for network in level.networks), default=level.n_neurons)


def _band(
    level: Level,
    grid: tuple[int, float, bool],
    top: float,
    room: float,
    labelled: bool,
    sentences: bool,
) -> _Band:
    rows, cell, bars = grid
    box_width = cell if bars else -(-_widest(level) // rows) * cell
    height = _BOX_HEIGHT if bars else rows * cell
    height += _LABEL if labelled and level.splits and not bars else 0.0
    n_networks = len(level.networks)
    slot = room / max(n_networks, 1)
    middle = _CAPTION + (np.arange(n_networks) + 0.5) * slot
    box_top = top - _PAD - (_SENTENCE if sentences else 0.0)
    boxes = np.empty((n_networks, 4))
    boxes[:, 0], boxes[:, 1] = middle - box_width / 2, middle + box_width / 2
    boxes[:, 2], boxes[:, 3] = box_top, box_top - height
    return _Band(top, box_top - max(height, 0.5) - _PAD, boxes, rows, cell, bars)


class _Drawing:
    """The strokes: everything that knows matplotlib."""

    def __init__(self, ax: Any, layout: _Layout, zoom: float | None) -> None:
        self.collections: Any = require(
            "matplotlib.collections", extra="plots", purpose="Drawing the hierarchy"
        )
        self.patches: Any = require(
            "matplotlib.patches", extra="plots", purpose="Drawing the hierarchy"
        )
        self.ax, self.layout = ax, layout
        room = ax.get_window_extent().transformed(ax.figure.dpi_scale_trans.inverted())
        fitting = min(1.0, room.width / layout.width, room.height / layout.height)
        self.zoom = fitting if zoom is None else zoom
        # Letters shrink less than the drawing, as there is room around them.
        self.letters = self.zoom**0.6
        self.sentences = bool(layout.sentences) and self.zoom > _SMALLEST_SENTENCE

    def draw(self, hierarchy: Hierarchy) -> None:
        levels, layout = hierarchy.levels, self.layout
        for number, (level, band) in enumerate(zip(levels, layout.bands, strict=True), 1):
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
        options = {"ha": "center", "va": "center", "color": _INK, "zorder": 5, **options}
        return self.ax.text(x, y, text, fontsize=size * self.letters, **options)

    def _band(self, number: int, level: Level, band: _Band, *, last: bool) -> None:
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

    def _boxes(self, level: Level, band: _Band) -> None:
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

    def _dots(self, level: Level, band: _Band) -> None:
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

    def _bars(self, level: Level, band: _Band) -> None:
        counts = np.zeros((len(level.networks), len(Fate) + 1))
        fates = list(Fate)
        for split in level.splits:
            counts[split.network, fates.index(split.fate)] += 1
        counts[:, -1] = [network.n_neurons for network in level.networks]
        counts[:, -1] -= counts[:, :-1].sum(axis=1)
        heights = counts / _widest(level) * (band.boxes[:, 2:3] - band.boxes[:, 3:4])
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

    def _sentences(self, texts: Sequence[str], band: _Band) -> None:
        for text, (left, right, top, _) in zip(texts, band.boxes, strict=True):
            self._text((left + right) / 2, top + 0.1, text, 6.5, style="italic")

    def _edges(self, hierarchy: Hierarchy) -> None:
        curves = []
        for edge in edges_of(hierarchy):
            above, band = self.layout.bands[edge.level - 2], self.layout.bands[edge.level - 1]
            left, right, top, _ = band.boxes[edge.network]
            n_neurons = hierarchy.levels[edge.level - 2].networks[edge.parent].n_neurons
            begin = _outlet(above, edge, n_neurons)
            end = (left + right) / 2, top + (_SENTENCE if self.sentences else 0.0)
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

    def _readout(self, members: Level, band: _Band) -> None:
        x, y = self.layout.centre, band.bottom - _GAP - _READOUT / 2
        n_neurons = sum(network.n_neurons for network in members.networks)
        curves = [_curve(((left + right) / 2, low), (x, y)) for left, right, _, low in band.boxes]
        self._lines(curves, _LINE_COLOUR, "readout", len(curves))
        text = f"read-out over {_count(n_neurons, 'neuron')}"
        style = {"boxstyle": "round,pad=0.5", "facecolor": _MEMBER_COLOUR, "edgecolor": "none"}
        self._text(x, y, text, 8.5, color="white", weight="bold", bbox=style)

    def _legend(self, levels: Sequence[Level]) -> None:
        lines: Any = require("matplotlib.lines", extra="plots", purpose="Drawing the hierarchy")
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
            self.ax.legend(
                handles=handles, loc="lower left", frameon=False, borderaxespad=0.1,
                fontsize=7.5 * self.letters, handletextpad=0.1, labelspacing=0.25,
            )  # fmt: skip


def _outlet(band: _Band, edge: Edge, n_neurons: int) -> tuple[float, float]:
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


def _caption(level: Level) -> str:
    widths = {network.n_neurons for network in level.networks} or {level.n_neurons}
    width = str(max(widths)) if len(widths) == 1 else f"{min(widths)} to {max(widths)}"
    lines = [f"{_count(len(level.networks), 'network')} of {width} neurons"]
    kept = sum(split.fate is Fate.KEPT for split in level.splits)
    if level.splits:
        lines.append(f"{kept:,} of {_count(len(level.splits), 'neuron')} kept")
    if level.subsets and all(len(subset.bias) == 0 for subset in level.subsets):
        drawn = any(subset.draw is not None for subset in level.subsets)
        lines.append("bootstrap draws of the rows" if drawn else "trained on all rows")
    else:
        lines.append(f"subsets cover {percent(level.coverage)} of rows")
    return "\n".join(lines)


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


def percent(share: float) -> str:
    """A share in whole percent, never rounded to none or all where it is not."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"


def _sentence(subset: Subset, names: Sequence[str]) -> str:
    """The subset's last condition, its largest weight scaled to one: ``age - 0.3 income > 2``."""
    if len(subset.bias) == 0:
        return "all rows"
    weights, bias = subset.weights[-1], float(subset.bias[-1])
    scale = float(np.abs(weights).max()) or 1.0
    terms = []
    for weight, name in zip(weights / scale, names, strict=True):
        if abs(weight) >= 0.005:
            size = "" if round(abs(weight), 2) == 1 else f"{abs(weight):.2g} "
            terms.append(f"{'-' if weight < 0 else '+'} {size}{name}")
    text = " ".join(terms).removeprefix("+ ")
    if text.startswith("- "):
        text = f"-{text[2:]}"
    more = "" if len(subset.bias) == 1 else f" and {len(subset.bias) - 1} more"
    return f"{text} > {(subset.cutoff - bias) / scale:.4g}{more}".replace("-", "\N{MINUS SIGN}")
