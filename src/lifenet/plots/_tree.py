"""Where everything in the picture of a hierarchy goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.neurons.subset import Subset
    from lifenet.recipe.record import Level

__all__ = ["GAP", "READOUT", "SENTENCE", "Band", "Layout", "lay_out", "widest"]

# The drawing is laid out in inches of a figure of its own; on other axes it is scaled.
GAP, READOUT, SENTENCE = 0.6, 0.45, 0.2
_CAPTION, _PAD, _LABEL, _LETTER = 1.95, 0.12, 0.2, 0.05
_CELL, _SMALLEST_LABELLED_CELL, _BOX_HEIGHT = 0.5, 0.4, 0.8
# Gaps between more bars than this would be thinner than a pixel.
_TOUCHING = 60


@dataclass(frozen=True)
class Band:
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
class Layout:
    """Where everything is drawn; `sentences` are of each level's networks, () where none fit."""

    width: float
    height: float
    bands: tuple[Band, ...]
    labels: bool
    sentences: tuple[tuple[str, ...], ...]

    @property
    def centre(self) -> float:
        return (_CAPTION + self.width - _PAD) / 2


def lay_out(
    levels: Sequence[Level], names: Sequence[str], labels: bool | str, max_neurons: int
) -> Layout:
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
        top = bands[-1].bottom - GAP
    return Layout(_CAPTION + room + _PAD, READOUT - top, tuple(bands), labelled, sentences)


def _grid(level: Level, width: float, max_neurons: int) -> tuple[int, float, bool]:
    """Rows and size of the cells that make the neurons as large as there is room for."""
    n_networks, n_neurons = max(len(level.networks), 1), widest(level)
    slot = width / n_networks
    if n_networks * n_neurons > max_neurons:
        return 1, slot if n_networks > _TOUCHING else 0.9 * slot, True
    cells = [
        min(0.8 * slot / -(-n_neurons // rows), _BOX_HEIGHT / rows, _CELL)
        for rows in range(1, n_neurons + 1)
    ]
    best = int(np.argmax(np.round(cells, 9)))
    return best + 1, cells[best], False


def widest(level: Level) -> int:
    return max((network.n_neurons for network in level.networks), default=level.n_neurons)


def _band(
    level: Level,
    grid: tuple[int, float, bool],
    top: float,
    room: float,
    labelled: bool,
    sentences: bool,
) -> Band:
    rows, cell, bars = grid
    box_width = cell if bars else -(-widest(level) // rows) * cell
    height = _BOX_HEIGHT if bars else rows * cell
    height += _LABEL if labelled and level.splits and not bars else 0.0
    n_networks = len(level.networks)
    slot = room / max(n_networks, 1)
    middle = _CAPTION + (np.arange(n_networks) + 0.5) * slot
    box_top = top - _PAD - (SENTENCE if sentences else 0.0)
    boxes = np.empty((n_networks, 4))
    boxes[:, 0], boxes[:, 1] = middle - box_width / 2, middle + box_width / 2
    boxes[:, 2], boxes[:, 3] = box_top, box_top - height
    return Band(top, box_top - max(height, 0.5) - _PAD, boxes, rows, cell, bars)


def _sentence(subset: Subset, names: Sequence[str]) -> str:
    """The subset's last condition, its largest weight scaled to one: ``age - 0.3 income > 2``."""
    if len(subset.bias) == 0:
        return subset.base
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
