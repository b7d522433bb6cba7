"""What a training run did, as frozen values: subsets, the hierarchy of networks, the record.

A subset is a predicate, not a list of rows: it can be evaluated on other rows, on another machine,
and printed.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.blocks import Block, Rows
    from lifenet.network import ReluNetwork

__all__ = ["Fate", "Hierarchy", "Level", "Member", "Record", "RecordRow", "Split", "Subset"]


@dataclass(frozen=True)
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
    """

    weights: Floats
    bias: Floats
    cutoff: float = 0.0
    share: float = 1.0
    n_rows: int = 0
    parent: tuple[int, int] | None = None
    draw: tuple[int, ...] | None = None

    @classmethod
    def everything(cls, rows: Rows, draw: tuple[int, ...] | None = None) -> Subset:
        """All rows, or a bootstrap draw from them."""
        return cls(np.zeros((0, rows.n_features)), np.zeros(0), n_rows=rows.n_rows, draw=draw)

    def holds(self, block: Block) -> Floats:
        """Which rows of a block fulfil all conditions, (n_rows,), as 0 and 1."""
        inside = self.weights @ block.inputs[:-1] + self.bias[:, None] > self.cutoff
        return np.asarray(inside.all(axis=0), dtype=np.float64)

    def select(self, rows: Rows) -> tuple[Integers, Floats | None]:
        """Numbers of the rows that are in, and how often each is (None: once)."""
        if len(self.bias) == 0:
            places = np.arange(rows.n_rows)
        else:
            places = np.flatnonzero(rows.collect(self.holds))
        if self.draw is None:
            return places, None
        generator = np.random.default_rng(np.random.SeedSequence(self.draw))
        counts = generator.multinomial(len(places), np.full(len(places), 1 / len(places)))
        drawn = counts > 0
        return places[drawn], counts[drawn].astype(np.float64)

    def unscaled(self, center: Floats, scale: Floats) -> Subset:
        """The same rows, said of columns that had been scaled as ``(x - center) / scale``."""
        weights = self.weights / scale
        return replace(self, weights=weights, bias=self.bias - weights @ center)

    def describe(self, names: Sequence[str], digits: int = 3) -> str:
        """The conditions in words, as in ``0.3 age - 1.2 income + 0.4 > 0``."""
        if len(self.bias) == 0:
            return "all rows"
        return " and ".join(
            _sentence(weights, bias, self.cutoff, names, digits)
            for weights, bias in zip(self.weights, self.bias, strict=True)
        )


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


@dataclass(frozen=True)
class Level:
    """One iteration of the algorithm: its networks, what each was trained on, and their split.

    Attributes
    ----------
    n_neurons : width of its networks
    networks : in the user's units; one score each
    subsets : the rows that each network was trained on
    splits : one for each neuron; empty in the last level
    coverage : share of the rows' weight that lies in at least one of the subsets
    """

    n_neurons: int
    networks: tuple[ReluNetwork, ...]
    subsets: tuple[Subset, ...]
    splits: tuple[Split, ...] = ()
    coverage: float = 1.0


@dataclass(frozen=True)
class Hierarchy:
    """All levels, first to last; the last one's networks are the members."""

    levels: tuple[Level, ...]

    def __len__(self) -> int:
        return len(self.levels)

    def to_frame(self) -> pd.DataFrame:
        """One row a neuron that was up for a split: level, network, neuron, share, fate."""
        pandas = require("pandas", extra="data", purpose="A table of the hierarchy")
        rows = [
            {"level": number, **asdict(split), "fate": split.fate.name.lower()}
            for number, level in enumerate(self.levels, 1)
            for split in level.splits
        ]
        columns = ["level", *(field.name for field in fields(Split))]
        frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
        return frame


@dataclass(frozen=True)
class Member:
    """A network of the last level, in the user's units, and the rows that it was trained on.

    Attributes
    ----------
    network : one score: the target, the log-odds, or the log-odds of class `output`
    subset : what it was trained on
    output : the class that it tells from the rest (0 unless there are more than two)
    """

    network: ReluNetwork
    subset: Subset
    output: int = 0


@dataclass(frozen=True)
class RecordRow:
    """One network that was trained, or was to be trained.

    Attributes
    ----------
    level : from 1
    member : number of the network among those trained in its level; -1 where none was trained
    output : class that it tells from the rest
    parent, neuron : network and neuron of the level above that made its subset; -1 for none
    share : of the rows' weight in the subset
    rows : in the subset
    neurons : width; 0 where nothing was trained
    loss : weighted mean loss on the subset, in standardised units
    iterations, seconds : of its solver
    status : why its solver stopped
    """

    level: int
    member: int
    output: int
    parent: int
    neuron: int
    share: float
    rows: int
    neurons: int
    loss: float
    iterations: int
    seconds: float
    status: str


@dataclass(frozen=True)
class Record:
    """The table of all networks that a fit trained, one `RecordRow` each."""

    rows: tuple[RecordRow, ...] = ()

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RecordRow]:
        return iter(self.rows)

    def __getitem__(self, column: str) -> Any:
        """One column as an array."""
        if column not in _COLUMNS:
            raise KeyError(f"There is no column {column!r}; the columns are {', '.join(_COLUMNS)}.")
        return np.array([getattr(row, column) for row in self.rows])

    def __add__(self, other: Record) -> Record:
        return Record(self.rows + other.rows)

    def to_frame(self) -> pd.DataFrame:
        """The table as a pandas frame."""
        pandas = require("pandas", extra="data", purpose="A table of the record")
        frame: pd.DataFrame = pandas.DataFrame(
            [asdict(row) for row in self.rows], columns=list(_COLUMNS)
        )
        return frame

    def __str__(self) -> str:
        """One line a level: networks, neurons, rows and seconds."""
        return "\n".join(self._line(level) for level in sorted({row.level for row in self.rows}))

    def _line(self, level: int) -> str:
        rows = [row for row in self.rows if row.level == level]
        trained = [row for row in rows if row.neurons]
        sizes = [row.rows for row in rows]
        return (
            f"level {level}: {len(trained)} networks, {sum(row.neurons for row in trained)} "
            f"neurons, on {min(sizes):,} to {max(sizes):,} rows, "
            f"{sum(row.seconds for row in rows):.1f} s of work"
        )


_COLUMNS = tuple(field.name for field in fields(RecordRow))
