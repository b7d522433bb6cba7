"""How a training run is carried out: its seed, its workers, its deadline, its progress."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from lifenet._clock import NEVER, Deadline

if TYPE_CHECKING:
    from lifenet.data.folds import Fold

__all__ = ["Progress", "Purpose", "Run"]

#: Called with what is being done, how many of it are done, and how many there are in all.
Progress: TypeAlias = Callable[[str, int, int], None]


class Purpose(IntEnum):
    """What a seed is for: each purpose of each fold has a seed of its own."""

    HIERARCHY = 0
    LEAVES = 1
    FINE_TUNING = 2
    COMPANION = 4
    MOVES = 5
    PAIRS = 6
    OUTPUT = 2_000_000


@dataclass(frozen=True)
class Run:
    """What does not change the result of a training run, and the seed.

    Attributes
    ----------
    seed : everything random follows from it
    n_jobs : workers, as joblib counts them
    deadline : work that is not begun by then is left out
    progress : called as networks are done
    earlier_seed : of an earlier fit whose base learners are kept: they must not have seen the rows
        that are held out now
    """

    seed: int
    n_jobs: int | None = None
    deadline: Deadline = NEVER
    progress: Progress | None = None
    earlier_seed: int | None = None

    @property
    def split_seed(self) -> int:
        """Seed of the rows that are held out."""
        return self.seed if self.earlier_seed is None else self.earlier_seed

    def child_seed(self, fold: Fold, purpose: Purpose) -> np.random.SeedSequence:
        """The seed of a purpose in a fold: any order of work gives the same."""
        return np.random.SeedSequence(self.seed, spawn_key=(*fold.key, int(purpose)))

    def until(self, deadline: Deadline) -> Run:
        """The same run with another deadline."""
        return replace(self, deadline=deadline)

    def alone(self) -> Run:
        """The same run as a worker carries it out: without workers or progress of its own."""
        return replace(self, n_jobs=1, progress=None)

    def report(self, what: str, done: int, total: int) -> None:
        """Say how far the run has come."""
        if self.progress is not None:
            self.progress(what, done, total)
