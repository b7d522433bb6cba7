"""A penalty on how far a function is from straight lines, as fine-tuning meets it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data.coded_rows import CodedRows
from lifenet.data.rows import HeldRows
from lifenet.finetune.parts import Table

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.moves import Smoothing
    from lifenet.data.problem import Problem
    from lifenet.finetune.parts import Part

__all__ = ["MovedRows", "Straight"]

# Moves of one step of mini-batches, and those by which a network is measured. Chosen by hand, small
# beside the rows of a step and of a measurement, so that they take little time.
_STEP_MOVES, _READ_MOVES = 12, 400


@dataclass(frozen=True, eq=False)
class MovedRows:
    """Rows of some moves, and the part of a penalty that falls on their scores.

    Attributes
    ----------
    table : 3 n rows: n unchanged, with one move, with the other
    stencil : (3, n), what the scores at the three count in a bend
    weight : (n,), half of which falls on each bend squared
    """

    table: Table
    stencil: Floats
    weight: Floats

    def penalty(self, score: Floats) -> float:
        """Of scores (3 n, k)."""
        bends = self._bends(score)
        return 0.5 * float(self.weight @ np.square(bends).sum(axis=1))

    def gradient(self, score: Floats) -> Floats:
        """Of the penalty in the scores, (3 n, k)."""
        bends = self._bends(score) * self.weight[:, None]
        return np.asarray(self.stencil[:, :, None] * bends).reshape(score.shape)

    def _bends(self, score: Floats) -> Floats:
        by_point = score.reshape(3, self.stencil.shape[1], -1)
        return np.asarray(np.einsum("sn,snk->nk", self.stencil, by_point))


@dataclass(frozen=True, eq=False)
class Straight:
    """All moves as a layer reads them.

    Attributes
    ----------
    table : rows of the moves
    smoothing : the moves, and what half the mean square of the bends is multiplied with
    """

    table: Table
    smoothing: Smoothing

    @classmethod
    def of(cls, smoothing: Smoothing, parts: tuple[Part, ...], train: Problem) -> Straight:
        """As the parts of a layer read the moves, in the form that they read training rows in."""
        rows = smoothing.moves.rows
        if isinstance(rows, CodedRows) and not isinstance(train.rows, CodedRows):
            inputs = rows.collect(lambda block: block.inputs.copy())
            rows = HeldRows(inputs, rows.target, rows.weight)
        return cls(Table.of(replace(train, rows=rows), parts), smoothing)

    def some(self, generator: np.random.Generator) -> MovedRows:
        """A few moves for one step, whose expected penalty is that of all."""
        return self._at(generator.integers(len(self.smoothing.moves), size=_STEP_MOVES))

    @cached_property
    def measured(self) -> MovedRows:
        """Moves by which a network is measured, always the same."""
        return self._at(np.arange(min(len(self.smoothing.moves), _READ_MOVES)))

    def _at(self, index: Integers) -> MovedRows:
        moves = self.smoothing.moves
        n = len(moves)
        table = self.table.take(np.concatenate([index, n + index, 2 * n + index]))
        weight = self.smoothing.factor * moves.weight[index] * (n / len(index))
        return MovedRows(table, moves.stencil[:, index].astype(np.float32), weight)
