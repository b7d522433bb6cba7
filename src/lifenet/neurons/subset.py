"""Subsets of the rows, as predicates, and what became of each neuron that could make one.

A subset is a predicate, not a list of rows: it can be evaluated on other rows, on another machine,
and printed.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.rows import Block, Rows

__all__ = ["Fate", "Split", "Subset"]


@dataclass(frozen=True, repr=False)
class Subset:
    """The rows on which a member is trained: all conditions hold, or a bootstrap draw.

    Attributes
    ----------
    weights : (n_conditions, n_features)
    bias : (n_conditions,)
    cutoff : a row is in where ``weights @ x + bias > cutoff`` in every condition
    share : of the total weight of the rows
    n_rows : number of rows
    parent : (network, neuron) of the level above whose hyperplane made it, or None
    draw : seed of a bootstrap draw from those rows, or None
    base : the rows that the conditions select from, in words
    """

    weights: Floats
    bias: Floats
    cutoff: float = 0.0
    share: float = 1.0
    n_rows: int = 0
    parent: tuple[int, int] | None = None
    draw: tuple[int, ...] | None = None
    base: str = "all rows"

    @classmethod
    def everything(cls, rows: Rows, draw: tuple[int, ...] | None = None) -> Subset:
        """All rows, or a bootstrap draw from them."""
        return cls(np.zeros((0, rows.n_features)), np.zeros(0), n_rows=rows.n_rows, draw=draw)

    def __repr__(self) -> str:
        drawn = "" if self.draw is None else ", a bootstrap draw"
        conditions = f"{len(self.bias)} condition{'' if len(self.bias) == 1 else 's'}"
        return f"Subset({self.n_rows:,} rows, {conditions} on {self.base}{drawn})"

    def holds(self, block: Block) -> Floats:
        """Which rows of a block fulfil all conditions, (n_rows,), as 0 and 1."""
        inside = self.weights @ block.inputs[:-1] + self.bias[:, None] > self.cutoff
        return np.asarray(inside.all(axis=0), dtype=np.float64)

    def select(self, rows: Rows) -> tuple[Integers, Floats | None]:
        """Numbers of the rows that are in, and how often each is (None: once)."""
        if len(self.bias) == 0:
            indices = np.arange(rows.n_rows)
        else:
            indices = np.flatnonzero(rows.collect(self.holds))
        if self.draw is None:
            return indices, None
        generator = np.random.default_rng(np.random.SeedSequence(self.draw))
        counts = generator.multinomial(len(indices), np.full(len(indices), 1 / len(indices)))
        drawn = counts > 0
        return indices[drawn], counts[drawn].astype(np.float64)

    def unscaled(self, center: Floats, scale: Floats) -> Subset:
        """The same rows, said of columns that had been scaled as ``(x - center) / scale``."""
        weights = self.weights / scale
        return replace(self, weights=weights, bias=self.bias - weights @ center)

    def describe(self, names: Sequence[str], digits: int = 3) -> str:
        """The conditions in words, as in ``0.3 age - 1.2 income + 0.4 > 0``."""
        if len(self.bias) == 0:
            return self.base
        conditions = " and ".join(
            _sentence(weights, bias, self.cutoff, names, digits)
            for weights, bias in zip(self.weights, self.bias, strict=True)
        )
        return conditions if self.base == "all rows" else f"{conditions}, of {self.base}"


def _sentence(
    weights: Floats, bias: float, cutoff: float, names: Sequence[str], digits: int
) -> str:
    order = np.argsort(-np.abs(weights), kind="stable")
    terms = [f"{weights[k]:+.{digits}g} {names[k]}" for k in order if weights[k] != 0]
    return f"{' '.join(terms)} {bias:+.{digits}g} > {cutoff:g}".removeprefix("+").strip()


class Fate(Enum):
    """What became of a neuron when its level was split."""

    KEPT = "its subset is used"
    TOO_SMALL = "its subset is too small"
    TOO_LARGE = "its subset is too large"
    NOT_DRAWN = "its subset would do, but the level has as many networks as it may"


@dataclass(frozen=True)
class Split:
    """One neuron of a level, the share of rows on its active side, and what became of it."""

    network: int
    neuron: int
    share: float
    fate: Fate

    def __getstate__(self) -> dict[str, Any]:
        # By its name: skops has no way to rebuild members of an enumeration.
        return {**vars(self), "fate": self.fate.name}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update({**state, "fate": Fate[state["fate"]]})
