"""Which network's rows come from which neuron, and the words and colours for what became of one."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lifenet.neurons.subset import Fate

if TYPE_CHECKING:
    from lifenet.neurons.subset import Subset
    from lifenet.recipe.record import HierarchyRecord, Level

__all__ = ["FATE_COLOURS", "FATE_WORDS", "Edge", "edges_of", "percent"]

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


def edges_of(hierarchy: HierarchyRecord) -> tuple[Edge, ...]:
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


def percent(share: float) -> str:
    """A share in whole percent, never rounded to none or all where it is not."""
    if 0 < share < 0.005:
        return "<1%"
    return ">99%" if 0.995 <= share < 1 else f"{share:.0%}"
