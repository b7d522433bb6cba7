"""What a training run did, as frozen values: the hierarchy of networks, the record."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.neurons.subset import Split

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from lifenet.network import ReluNetwork
    from lifenet.neurons.subset import Subset

__all__ = ["FoldRecord", "HierarchyRecord", "Level", "Member", "Record", "RecordRow"]


@shown
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


@dataclass(frozen=True, repr=False)
class HierarchyRecord:
    """The hierarchies of base learners that were trained, one for each fold.

    Attributes
    ----------
    levels : of the first fold, first to last; the last one's networks are its members
    further : the same of the other folds, where networks are averaged over folds
    """

    levels: tuple[Level, ...]
    further: tuple[tuple[Level, ...], ...] = ()

    def __len__(self) -> int:
        return len(self.levels)

    def __repr__(self) -> str:
        widths = ", ".join(str(len(level.networks)) for level in self.levels) or "no"
        folds = "" if not self.further else f"{len(self.folds)} folds, the first "
        return f"HierarchyRecord({folds}with levels of {widths} networks)"

    @property
    def folds(self) -> tuple[tuple[Level, ...], ...]:
        """The levels of every fold."""
        return (self.levels, *self.further)

    def fold(self, number: int) -> HierarchyRecord:
        """The hierarchy of one fold, from 0, alone."""
        if not 0 <= number < len(self.folds):
            raise IndexError(f"There is no fold {number}; there are {len(self.folds)}, from 0.")
        return HierarchyRecord(self.folds[number])

    def to_frame(self) -> pd.DataFrame:
        """One row a neuron that could make a subset: fold, level, network, neuron, share, fate."""
        pandas = require("pandas", extra="data", purpose="A table of the hierarchy")
        rows = [
            {"fold": fold, "level": number, **asdict(split), "fate": split.fate.name.lower()}
            for fold, levels in enumerate(self.folds)
            for number, level in enumerate(levels, 1)
            for split in level.splits
        ]
        columns = ["fold", "level", *(field.name for field in fields(Split))]
        frame: pd.DataFrame = pandas.DataFrame(rows, columns=columns)
        return frame


@dataclass(frozen=True, repr=False)
class Member:
    """A network of the last level, in the user's units, and the rows that it was trained on.

    Attributes
    ----------
    network : one score: the target, the log-odds, or the log-odds of class `output`
    subset : what it was trained on
    output : the class that it tells from the rest (0 unless there are more than two)
    fold : whose training rows it was trained on, from 0
    """

    network: ReluNetwork
    subset: Subset
    output: int = 0
    fold: int = 0

    def __repr__(self) -> str:
        return f"Member({self.network!r}, {self.subset!r}, output={self.output}, fold={self.fold})"


@dataclass(frozen=True)
class RecordRow:
    """One network that was trained, or was to be trained.

    Attributes
    ----------
    fold : whose training rows it was trained on, from 0
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
    fold: int = 0


@shown
@dataclass(frozen=True)
class FoldRecord:
    """The network of one fold, which `network_` is the mean of.

    Attributes
    ----------
    train_rows, validation_rows : numbers of rows
    n_members : base learners
    n_neurons : in its hidden layer
    n_leaf_neurons : of these, leaves of boosted trees
    loss : mean loss of the validation rows, in standardised units; no number without such rows, or
        where the output layer was then fitted to them too
    smoothness : the price of straight lines that was paid; 0 for nothing
    iterations : of fine-tuning, until the network that was kept
    objectives, validation_losses : of fine-tuning, the start first
    status : why fine-tuning ended; "not fine-tuned" without any
    seconds : that the fold took
    """

    train_rows: int
    validation_rows: int
    n_members: int
    n_neurons: int
    n_leaf_neurons: int
    loss: float
    smoothness: float
    iterations: int
    objectives: tuple[float, ...]
    validation_losses: tuple[float, ...]
    status: str
    seconds: float


@dataclass(frozen=True, repr=False)
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

    def __repr__(self) -> str:
        return str(self) or "Record()"

    def __str__(self) -> str:
        """One line a level: networks, neurons, rows and seconds, of all folds together."""
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
