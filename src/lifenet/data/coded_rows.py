"""Rows whose inputs are codes of columns, held as the columns themselves.

A column has up to some seventy codes, and all of them follow from one number a cell. Those who can
read cells do; for all others the codes of a block of rows are made when they are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lifenet.data import budgets
from lifenet.data.rows import ArrayRows, Block, Blockwise, HeldRows, Scaling, reweighted
from lifenet.kernels.weights import multiply_columns
from lifenet.network import CodedNetwork, ColumnCoding, ColumnTables, ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers, Weights
    from lifenet.network import Cells

__all__ = ["CodedBlock", "CodedRows"]

# Rows whose plain codes are made at a time.
_SOME_ROWS = 1 << 16


class CodedBlock(Block):
    """Some rows, whose inputs are made when they are asked for.

    Attributes
    ----------
    rows : that the block is of
    values : (n, n_columns), the user's columns
    """

    def __init__(self, rows: CodedRows, values: Floats, target: Floats, weight: Floats) -> None:
        for name, value in (
            ("rows", rows),
            ("values", values),
            ("target", target),
            ("weight", weight),
        ):
            object.__setattr__(self, name, value)

    if TYPE_CHECKING:
        rows: CodedRows
        values: Floats

    @cached_property
    def inputs(self) -> Floats:
        """(n_codes + 1, n_rows), standardised; the last row is constant one."""
        return self.rows.codes_of(self.values)

    @cached_property
    def cells(self) -> Cells:
        """Where the rows are between the knots."""
        return self.rows.coding.grid.locate(self.values)


@dataclass(frozen=True)
class CodedRows(Blockwise):
    """Rows of an array whose inputs are codes of its columns.

    Attributes
    ----------
    X : (n_samples, n_columns), the user's columns
    coding : of the columns
    target : (n_rows,)
    weight : (n_rows,), positive
    scaling : of the codes; None leaves them unchanged
    index : (n_rows,) numbers of the rows of `X` that take part, or None for all of them
    """

    X: Floats
    coding: ColumnCoding
    target: Floats
    weight: Floats
    scaling: Scaling | None = None
    index: Integers | None = None

    @classmethod
    def of(
        cls, X: Floats, coding: ColumnCoding, target: Floats, weight: Floats | None = None
    ) -> CodedRows:
        """Rows with codes that are not standardised; rows of weight zero are left out."""
        if weight is None:
            return cls(X, coding, target, np.ones(len(X)))
        if np.all(weight > 0):
            return cls(X, coding, target, weight)
        index = np.flatnonzero(weight)
        return cls(X, coding, target[index], weight[index], index=index)

    # ------------------------------------------------------------------ rows

    @property
    def n_features(self) -> int:
        """Number of codes."""
        return self.coding.n_codes

    @property
    def n_rows(self) -> int:
        """Number of rows that take part."""
        return len(self.X) if self.index is None else len(self.index)

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(self.weight.sum())

    @property
    def values(self) -> Floats:
        """The user's columns of the rows that take part, (n_rows, n_columns)."""
        return self.X if self.index is None else self.X[self.index]

    def standardised(self) -> CodedRows:
        """The same rows with every code brought to weighted mean zero and deviation one."""
        return replace(self, scaling=self._measure_scaling())

    def with_target(self, target: Floats) -> CodedRows:
        """The same rows with other targets."""
        return replace(self, target=target)

    def take(self, indices: Integers, counts: Floats | None = None) -> CodedRows:
        """Some of the rows, each `counts` times as heavy as it was; the table is not copied."""
        index = indices if self.index is None else self.index[indices]
        weight = reweighted(self.weight, indices, counts)
        return replace(self, target=self.target[indices], weight=weight, index=index)

    def with_columns(self, indices: Integers) -> ArrayRows:
        """The same rows with some of their codes only."""
        plain = self.coding.plain_codes
        if np.isin(indices, plain).all():
            chosen = np.searchsorted(plain, indices)
            table = np.concatenate(
                [self.coding.plain_values(cells)[:, chosen] for cells in self.cells()]
            )
        else:
            table = np.concatenate(
                [block.inputs[indices].T for block in replace(self, scaling=None)._blocks(4096)]
            )
        scaling = None if self.scaling is None else self.scaling.take(indices)
        return ArrayRows(table, self.target, self.weight, scaling)

    def held(self) -> CodedRows | HeldRows:
        """The same rows, their codes laid out once where that takes little memory."""
        if 8 * self.n_rows * (self.n_features + 1) > budgets.HELD_ROWS:
            return self
        return HeldRows(self.codes_of(self.values), self.target, self.weight)

    # ------------------------------------------------------------------ codes and networks

    def codes_of(self, values: Floats) -> Floats:
        """Codes of some rows as blocks want them, (n_codes + 1, n), constant one last."""
        inputs = np.ones((self.n_features + 1, len(values)))
        coding = self.coding
        if len(coding.plain_codes) == coding.n_codes:
            inputs[:-1] = coding.plain_values(coding.grid.locate(values)).T
        else:
            inputs[:-1] = coding.encode_checked(values).T
        if self.scaling is not None:
            inputs[:-1] -= self.scaling.center[:, None]
            inputs[:-1] /= self.scaling.scale[:, None]
        return inputs

    def tables(
        self, weights: Weights, bias: Floats, dtype: type[np.float32 | np.float64] = np.float64
    ) -> ColumnTables:
        """A layer of neurons on these rows' inputs, as what each column gives to them."""
        scaling = self.scaling
        if scaling is None:
            return ColumnTables(self.coding, weights, bias, dtype)
        # A code that is constant on the rows gives nothing.
        weights = multiply_columns(weights, np.where(scaling.constant, 0.0, 1.0))
        return ColumnTables(self.coding, weights, bias, dtype, (scaling.center, scaling.scale))

    def of_columns(self, network: ReluNetwork) -> CodedNetwork:
        """A network of these rows' inputs as one of the user's columns."""
        if self.scaling is not None:
            network = network.fold_scaling(self.scaling.center, self.scaling.scale)
        return CodedNetwork(self.coding, network)

    # ------------------------------------------------------------------ blocks and scaling

    def _blocks(self, block_rows: int) -> Iterator[CodedBlock]:
        rows = max(1, min(block_rows, self.n_rows))
        for start in range(0, self.n_rows, rows):
            part = slice(start, min(start + rows, self.n_rows))
            values = self.X[part] if self.index is None else self.X[self.index[part]]
            yield CodedBlock(self, values, self.target[part], self.weight[part])

    def cells(self) -> Iterator[Cells]:
        """Where the rows are between the knots, many rows at a time."""
        for block in self._blocks(_SOME_ROWS):
            yield block.cells

    def _measure_scaling(self) -> Scaling:
        """Means and deviations: of ramps from the weight in each bin, of other codes directly."""
        center, scale = np.zeros(self.n_features), np.ones(self.n_features)
        constant = np.zeros(self.n_features, dtype=bool)
        ramps = self._ramp_moments()
        plain = self.coding.plain_codes
        raw = replace(self, scaling=None).with_columns(plain).standardised().scaling
        assert raw is not None
        center[plain], scale[plain], constant[plain] = raw.center, raw.scale, raw.constant
        others = np.setdiff1d(np.arange(self.n_features), plain)
        center[others], scale[others], constant[others] = (part[others] for part in ramps)
        return Scaling(center, scale, constant)

    def _ramp_moments(self) -> tuple[Floats, Floats, Floats]:
        """Mean, deviation and whether it is constant, of every ramp."""
        grid, total = self.coding.grid, self.total_weight
        n = grid.n_points
        sums = np.zeros((3, n))
        lowest, highest = np.full(n, np.inf), np.full(n, -np.inf)
        for block in self._blocks(_SOME_ROWS):
            cells, weight = block.cells, block.weight
            for column in range(len(grid.knots)):
                own = grid.points_of(column)
                point, share = cells.point[:, column] - own.start, cells.share[:, column]
                for power in range(3):
                    mass = weight if power == 0 else weight * share**power
                    sums[power, own] += np.bincount(point, mass, own.stop - own.start)
                ends = cells.point[:, column] + share
                lowest[own] = np.minimum(lowest[own], ends.min())
                highest[own] = np.maximum(highest[own], ends.max())
        mean, square = np.zeros(n), np.zeros(n)
        for column in range(len(grid.knots)):
            own = grid.points_of(column)
            beyond = np.append(np.cumsum(sums[0, own][::-1])[::-1][1:], 0.0)
            mean[own] = (beyond + sums[1, own]) / total
            square[own] = (beyond + sums[2, own]) / total
        deviation = np.sqrt(np.maximum(square - np.square(mean), 0.0))
        at = np.clip(self.coding.ramp_of_code, 0, None)
        place = np.arange(n)
        flat = np.clip(lowest - place, 0, 1) == np.clip(highest - place, 0, 1)
        flat |= deviation <= 0
        center = np.where(flat, np.clip(lowest - place, 0, 1), mean)
        return center[at], np.where(flat, 1.0, deviation)[at], flat[at]
