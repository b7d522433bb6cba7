"""Rows as blocks: the one way the training core sees data.

A solver never holds a table. It hands a function of one `Block` to `Rows`, which sums or reduces
the results over all blocks, or collects them row by row. LLA needs nothing else, so the same solver
runs on an array in memory and on any other source that can offer these operations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

import numpy as np

from lifenet._typing import Bools, Floats, Integers
from lifenet.data import budgets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ArrayRows", "Block", "Blockwise", "HeldRows", "Rows", "Scaling", "reweighted"]

_COLLECT_ROWS = 4096

Sums = TypeVar("Sums", bound=tuple[Floats | float, ...])
T = TypeVar("T")


@dataclass(frozen=True)
class Block:
    """Some rows, scaled and laid out feature-major for the kernels.

    Attributes
    ----------
    inputs : (n_features + 1, n_rows); the last row is constant one
    target : (n_rows,)
    weight : (n_rows,), positive
    """

    inputs: Floats
    target: Floats
    weight: Floats


@dataclass(frozen=True)
class Scaling:
    """Column-wise standardisation ``(x - center) / scale``.

    Attributes
    ----------
    center, scale : (n_features,)
    constant : (n_features,), columns that do not vary over the rows; their scale is one
    """

    center: Floats
    scale: Floats
    constant: Bools

    def take(self, indices: Integers) -> Scaling:
        """The same of some of the columns."""
        return Scaling(self.center[indices], self.scale[indices], self.constant[indices])


class Rows(Protocol):
    """Weighted rows of data: what solvers and starts ask of it."""

    @property
    def n_features(self) -> int:
        """Number of columns."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights: the N of every average."""

    @property
    def target(self) -> Floats:
        """All targets, (n_rows,)."""

    @property
    def weight(self) -> Floats:
        """All weights, (n_rows,)."""

    def sum(self, function: Callable[[Block], Sums], block_rows: int) -> Sums:
        """Add up a tuple of arrays or numbers over the blocks."""

    def reduce(
        self, function: Callable[[Block], T], combine: Callable[[T, T], T], block_rows: int
    ) -> T:
        """Combine the blocks' results by an associative function."""

    def collect(self, function: Callable[[Block], Floats]) -> Floats:
        """Gather arrays with one entry a row along their last axis, in the rows' order."""

    def with_target(self, target: Floats) -> Rows:
        """The same rows with other targets."""

    def take(self, indices: Integers, counts: Floats | None = None) -> Rows:
        """Some of the rows, each `counts` times as heavy as it was."""

    def with_columns(self, indices: Integers) -> Rows:
        """The same rows with some of their columns only."""

    def held(self) -> Rows:
        """The same rows, ready for many passes."""


class Blockwise:
    """Sums over blocks, for rows that can yield them."""

    def _blocks(self, block_rows: int) -> Iterator[Block]:
        raise NotImplementedError

    def sum(self, function: Callable[[Block], Sums], block_rows: int) -> Sums:
        """Add up a tuple of arrays or numbers over the blocks, first to last."""
        return self.reduce(function, _add, block_rows)

    def reduce(
        self, function: Callable[[Block], T], combine: Callable[[T, T], T], block_rows: int
    ) -> T:
        """Combine the blocks' results by an associative function, first to last."""
        blocks = self._blocks(block_rows)
        result = function(next(blocks))
        for block in blocks:
            result = combine(result, function(block))
        return result

    def collect(self, function: Callable[[Block], Floats]) -> Floats:
        """Gather arrays with one entry a row along their last axis, in the rows' order."""
        return np.concatenate([function(block) for block in self._blocks(_COLLECT_ROWS)], axis=-1)


@dataclass(frozen=True)
class HeldRows(Blockwise):
    """Rows that are already scaled and laid out as blocks want them.

    Attributes
    ----------
    inputs : (n_features + 1, n_rows), constant one last
    target, weight : (n_rows,)
    """

    inputs: Floats
    target: Floats
    weight: Floats

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.inputs) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.inputs.shape[1])

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(self.weight.sum())

    def with_target(self, target: Floats) -> HeldRows:
        """The same rows with other targets."""
        return replace(self, target=target)

    def take(self, indices: Integers, counts: Floats | None = None) -> HeldRows:
        """Some of the rows, each `counts` times as heavy as it was."""
        weight = reweighted(self.weight, indices, counts)
        return HeldRows(self.inputs[:, indices], self.target[indices], weight)

    def with_columns(self, indices: Integers) -> HeldRows:
        """The same rows with some of their columns only, which are copied."""
        return replace(self, inputs=self.inputs[np.append(indices, self.n_features)])

    def held(self) -> HeldRows:
        """These rows."""
        return self

    def _blocks(self, block_rows: int) -> Iterator[Block]:
        for start in range(0, self.n_rows, max(1, block_rows)):
            part = slice(start, start + max(1, block_rows))
            yield Block(self.inputs[:, part], self.target[part], self.weight[part])


@dataclass(frozen=True)
class ArrayRows(Blockwise):
    """Rows of an array, scaled block by block so that the table is never copied.

    Attributes
    ----------
    X : (n_samples, n_features), float32 or float64
    target : (n_rows,)
    weight : (n_rows,), positive
    scaling : applied to every block; None leaves the columns unchanged
    index : (n_rows,) numbers of the rows of `X` that take part, or None for all of them
    """

    X: Floats
    target: Floats
    weight: Floats
    scaling: Scaling | None = None
    index: Integers | None = None

    def __post_init__(self) -> None:
        """Check that target and weight are as long as the rows."""
        shape = (self.n_rows,)
        if self.target.shape != shape or self.weight.shape != shape:
            raise ValueError(
                f"target and weight must have shape {shape}, one entry a row; "
                f"got {self.target.shape} and {self.weight.shape}."
            )

    @classmethod
    def of(cls, X: Floats, target: Floats, weight: Floats | None = None) -> ArrayRows:
        """Rows in the columns' own units; rows of weight zero are left out."""
        if weight is None:
            return cls(X, target, np.ones(len(X)))
        if np.all(weight > 0):
            return cls(X, target, weight)
        index = np.flatnonzero(weight)
        return cls(X, target[index], weight[index], index=index)

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def n_rows(self) -> int:
        """Number of rows that take part."""
        return len(self.X) if self.index is None else len(self.index)

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(self.weight.sum())

    def standardised(self) -> ArrayRows:
        """The same rows with every column brought to weighted mean zero and deviation one."""
        return replace(self, scaling=self._measure_scaling())

    def with_target(self, target: Floats) -> ArrayRows:
        """The same rows with other targets."""
        return replace(self, target=target)

    def take(self, indices: Integers, counts: Floats | None = None) -> ArrayRows:
        """Some of the rows, each `counts` times as heavy as it was; the table is not copied."""
        index = indices if self.index is None else self.index[indices]
        weight = reweighted(self.weight, indices, counts)
        return replace(self, target=self.target[indices], weight=weight, index=index)

    def with_columns(self, indices: Integers) -> ArrayRows:
        """The same rows with some of their columns only, which are copied."""
        scaling = None if self.scaling is None else self.scaling.take(indices)
        return replace(self, X=np.ascontiguousarray(self.X[:, indices]), scaling=scaling)

    def held(self) -> ArrayRows | HeldRows:
        """The same rows, scaled and laid out once where that takes little memory."""
        if 8 * self.n_rows * (self.n_features + 1) > budgets.HELD_ROWS:
            return self
        inputs = np.ones((self.n_features + 1, self.n_rows))
        taken = self.X if self.index is None else self.X[self.index]
        self._scale_into(inputs[:-1], taken)
        return HeldRows(inputs, self.target, self.weight)

    def _blocks(self, block_rows: int) -> Iterator[Block]:
        """Yield consecutive blocks. Their `inputs` share one buffer: use it before the next."""
        rows = max(1, min(block_rows, self.n_rows))
        buffer = np.ones((self.n_features + 1, rows))
        for start in range(0, self.n_rows, rows):
            part = slice(start, min(start + rows, self.n_rows))
            inputs = buffer[:, : part.stop - part.start]
            taken = self.X[part] if self.index is None else self.X[self.index[part]]
            self._scale_into(inputs[:-1], taken)
            yield Block(inputs, self.target[part], self.weight[part])

    def _scale_into(self, inputs: Floats, taken: Floats) -> None:
        if self.scaling is None:
            inputs[...] = taken.T
        else:
            np.subtract(taken.T, self.scaling.center[:, None], out=inputs)
            inputs /= self.scaling.scale[:, None]

    def _measure_scaling(self) -> Scaling:
        raw = replace(self, scaling=None)
        total = self.total_weight

        def sums(block: Block) -> tuple[Floats]:
            return (block.inputs[:-1] @ block.weight,)

        def squares(block: Block) -> tuple[Floats]:
            return (np.square(block.inputs[:-1] - center[:, None]) @ block.weight,)

        least, most = raw.reduce(_range, _wider, _COLLECT_ROWS)
        constant = least == most
        center = np.where(constant, least, raw.sum(sums, _COLLECT_ROWS)[0] / total)
        scale = np.sqrt(raw.sum(squares, _COLLECT_ROWS)[0] / total)
        return Scaling(center, np.where(constant, 1.0, scale), constant)


def reweighted(weight: Floats, indices: Integers, counts: Floats | None) -> Floats:
    """Weights of some rows, each `counts` times as heavy as it was."""
    return weight[indices] if counts is None else weight[indices] * counts


def _range(block: Block) -> tuple[Floats, Floats]:
    return block.inputs[:-1].min(axis=1), block.inputs[:-1].max(axis=1)


def _wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])


def _add(left: Sums, right: Sums) -> Sums:
    # The same kinds in the same order, which the type checker cannot see.
    return cast("Sums", tuple(a + b for a, b in zip(left, right, strict=True)))
