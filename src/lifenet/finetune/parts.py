"""The blocks that the weights of a wide layer fall into, and rows as these blocks read them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from lifenet.data.coded_rows import CodedRows

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers, Weights
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Rows
    from lifenet.network import ReluNetwork

__all__ = ["Part", "Ramps", "Table", "block_of", "parts_of"]


@dataclass(frozen=True, eq=False)
class Ramps:
    """Ramps of one column, from one number a row.

    Attributes
    ----------
    column : its number
    rate, shift : (n_ramps,), of the standardised ramp as a line in the row's coordinate
    low, high : (n_ramps,), between which that line is cut
    """

    column: int
    rate: Floats
    shift: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: CodedRows, column: int, codes: Integers) -> Ramps:
        """The ramps of a column that have these codes."""
        scaling = rows.scaling
        center, scale = (
            (scaling.center[codes], scaling.scale[codes])
            if scaling is not None
            else (np.zeros(len(codes)), np.ones(len(codes)))
        )
        begin = rows.coding.ramp_of_code[codes] - rows.coding.grid.first[column]
        parts = (1 / scale, -(begin + center) / scale, -center / scale, (1 - center) / scale)
        return cls(column, *(one.astype(np.float32) for one in parts))

    def values(self, coordinate: Floats) -> Floats:
        """Standardised ramps, (n_rows, n_ramps)."""
        values: Floats = coordinate[:, None] * self.rate
        values += self.shift
        np.maximum(values, self.low, out=values)
        return np.minimum(values, self.high, out=values)


@dataclass(frozen=True, eq=False)
class Part:
    """Inputs and the neurons that read them: a block of the weights, most of which are zero.

    Attributes
    ----------
    codes, neurons : their numbers
    moves : (len(neurons), len(codes)), one where a weight may move, zero elsewhere; None for all
    ramps : how the inputs follow from a column; None for inputs that are held
    """

    codes: Integers
    neurons: Integers
    moves: Floats | None
    ramps: Ramps | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of neurons and of inputs."""
        return len(self.neurons), len(self.codes)


def parts_of(network: ReluNetwork, rows: Rows) -> tuple[Part, ...]:
    """Every input in one part: the ramps of each column, and all others together."""
    if not isinstance(rows, CodedRows):
        found = [_part(network.weights, np.arange(network.n_features))]
    else:
        coding = rows.coding
        plain = coding.plain_codes
        found = [_part(network.weights, plain)]
        by_code = sparse.csc_array(network.weights) if network.is_sparse else network.weights
        others = np.setdiff1d(np.arange(coding.n_codes), plain)
        columns = coding.column_of_code[others]
        for column in np.unique(columns).tolist():
            codes = others[columns == column]
            found.append(_part(by_code, codes, Ramps.of(rows, column, codes)))
    return tuple(one for one in found if len(one.neurons) and len(one.codes))


def _part(weights: Weights, codes: Integers, ramps: Ramps | None = None) -> Part:
    if isinstance(weights, np.ndarray):
        return Part(codes, np.arange(len(weights)), None, ramps)
    stored = sparse.coo_array(weights[:, codes])
    neurons, place = np.unique(stored.row, return_inverse=True)
    moves = np.zeros((len(neurons), len(codes)), dtype=np.float32)
    moves[place, stored.col] = 1.0
    return Part(codes, neurons, None if moves.all() else moves, ramps)


def block_of(by_code: Weights, part: Part) -> Floats:
    """The weights of a part, (n_neurons, n_codes)."""
    block = by_code[:, part.codes]
    return np.asarray(block if isinstance(block, np.ndarray) else block.toarray())[part.neurons]


@dataclass
class Table:
    """Rows in single precision: inputs that are held, and where rows are in each column.

    Attributes
    ----------
    held : (n_rows, n_held)
    coordinate : (n_columns, n_rows), number of the knot below in its column, and the share of the
        way to the next
    """

    held: Floats
    coordinate: Floats
    target: Floats
    weight: Floats

    @classmethod
    def of(cls, problem: Problem, parts: tuple[Part, ...]) -> Table:
        """The rows of a problem."""
        rows = problem.rows
        weight = rows.weight / rows.weight.mean()
        codes = [part.codes for part in parts if part.ramps is None]
        held = np.concatenate([np.zeros(0, dtype=np.intp), *codes])
        if not isinstance(rows, CodedRows):
            inputs = rows.collect(lambda block: block.inputs[held].astype(np.float32)).T
            none = np.zeros((0, rows.n_rows), dtype=np.float32)
            return cls(np.ascontiguousarray(inputs), none, rows.target, weight)
        plain = rows.with_columns(held) if len(held) else None
        inputs = np.zeros((rows.n_rows, 0), dtype=np.float32)
        if plain is not None:
            inputs = plain.collect(lambda block: block.inputs[:-1].astype(np.float32)).T
        first = rows.coding.grid.first[:-1]
        located = [(cells.coordinate() - first).astype(np.float32) for cells in rows.cells()]
        coordinate = np.ascontiguousarray(np.concatenate(located).T)
        return cls(np.ascontiguousarray(inputs), coordinate, rows.target, weight)

    def take(self, rows: Integers | slice) -> Table:
        """Some of the rows."""
        return Table(
            self.held[rows], self.coordinate[:, rows], self.target[rows], self.weight[rows]
        )

    def inputs(self, part: Part) -> Floats:
        """The inputs of a part, (n_rows, n_codes)."""
        return (
            self.held
            if part.ramps is None
            else part.ramps.values(self.coordinate[part.ramps.column])
        )
