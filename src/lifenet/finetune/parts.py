"""The blocks that the weights of a wide layer fall into, and rows as these blocks read them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from lifenet.data.coded_rows import CodedRows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers, Weights
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Rows
    from lifenet.network import ReluNetwork

__all__ = ["Inputs", "Part", "Ramps", "Reading", "Table", "parts_of"]

# Neighbouring weights that differ by no more than this share of their size are equal: rounding.
_EQUAL = 1e-6


@dataclass(frozen=True, eq=False)
class Ramps:
    """Ramps of columns over one bin or several, from one number a row and column.

    A ramp of several bins is the mean of theirs.

    Attributes
    ----------
    column : (n_ramps,), its number
    rate, shift : (n_ramps,), of the standardised ramp as a line in the row's coordinate
    low, high : (n_ramps,), between which that line is cut
    """

    column: Integers
    rate: Floats
    shift: Floats
    low: Floats
    high: Floats

    @classmethod
    def of(cls, rows: CodedRows, column: int, first: Integers, width: Integers) -> Ramps:
        """Ramps that begin with these codes of a column and have so many of them."""
        center, unit = (_means_of(one, first, width) for one in _scaling_of(rows))
        begin = rows.coding.ramp_of_code[first] - rows.coding.grid.first[column]
        per_bin = 1 / (width * unit)
        parts = (per_bin, -begin * per_bin - center / unit, -center / unit, (1 - center) / unit)
        return cls(np.full(len(first), column), *(one.astype(np.float32) for one in parts))

    @classmethod
    def join(cls, several: Sequence[Ramps]) -> Ramps:
        """All of them, one after the other."""
        none = np.zeros(0, dtype=np.float32)
        numbers = ("rate", "shift", "low", "high")
        columns = [np.zeros(0, dtype=np.intp), *(one.column for one in several)]
        return cls(
            np.concatenate(columns),
            *(np.concatenate([none, *(getattr(one, name) for one in several)]) for name in numbers),
        )

    def values(self, coordinate: Floats) -> Floats:
        """Standardised ramps, (n_ramps, n_rows), from the coordinates of all columns."""
        values: Floats = np.take(coordinate, self.column, axis=0)
        values *= self.rate[:, None]
        values += self.shift[:, None]
        np.maximum(values, self.low[:, None], out=values)
        return np.minimum(values, self.high[:, None], out=values)


def _scaling_of(rows: CodedRows) -> tuple[Floats, Floats]:
    """Center and scale of the codes."""
    scaling = rows.scaling
    if scaling is None:
        return np.zeros(rows.n_features), np.ones(rows.n_features)
    return scaling.center, scaling.scale


def _means_of(values: Floats, first: Integers, width: Integers) -> Floats:
    """Means over neighbours: `width` of them from `first` on."""
    upto = np.concatenate([[0.0], np.cumsum(values)])
    # One value is itself, without rounding.
    return np.where(width == 1, values[first], (upto[first + width] - upto[first]) / width)


@dataclass(frozen=True, eq=False)
class Part:
    """Inputs and the neurons that read them: a block of the weights, most of which are zero.

    Attributes
    ----------
    codes, neurons : their numbers; of a ramp of several bins the first code
    start : (len(neurons), len(codes)), weights of the network, by input
    moves : (len(neurons), len(codes)), one where a weight may move, zero elsewhere; None for all
    ramps : how the inputs follow from a column; None for inputs that are held
    stored : weights of the network that follow from the block
    """

    codes: Integers
    neurons: Integers
    start: Floats
    moves: Floats | None = None
    ramps: Ramps | None = None
    stored: Stored | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Number of neurons and of inputs."""
        return len(self.neurons), len(self.codes)

    def weights(self, block: Floats) -> tuple[Integers, Integers, Floats]:
        """Neuron, code and value of every weight of the network, for the weights of a block."""
        values = block.astype(np.float64).ravel()
        if self.stored is not None:
            stored = self.stored
            return stored.neurons, stored.codes, values[stored.place] * stored.share
        neurons, codes = np.repeat(self.neurons, len(self.codes)), self.codes
        if self.moves is not None:
            moves = self.moves.ravel() > 0
            every = np.tile(codes, len(self.neurons))
            return neurons[moves], every[moves], values[moves]
        return neurons, np.tile(codes, len(self.neurons)), values


class Stored(NamedTuple):
    """Weights on the bins of wider ramps, and the weight of a block that each is a share of.

    Attributes
    ----------
    neurons, codes : (e,), of each weight
    place : (e,), in the block, row by row
    share : (e,), of the weight there
    """

    neurons: Integers
    codes: Integers
    place: Integers
    share: Floats


def parts_of(network: ReluNetwork, rows: Rows, movable: Bools | None = None) -> tuple[Part, ...]:
    """Every input in one part: the ramps of each column, and all others together.

    Neighbouring bins of a column in which a neuron of sparse weights rises alike are one ramp, and
    move together.

    Parameters
    ----------
    movable : (n_neurons, n_inputs), which of dense weights move; None for all
    """
    weights = network.weights
    if not isinstance(rows, CodedRows):
        found = [_plain_part(weights, np.arange(network.n_features), movable)]
    elif network.is_sparse:
        plain = rows.coding.plain_codes
        found = [_plain_part(weights, plain), *_ramp_parts(sparse.csr_array(weights), rows)]
    else:
        plain = rows.coding.plain_codes
        found = [_plain_part(weights, plain, movable)]
        others = np.setdiff1d(np.arange(rows.coding.n_codes), plain)
        columns = rows.coding.column_of_code[others]
        for column in np.unique(columns).tolist():
            codes = others[columns == column]
            ramps = Ramps.of(rows, column, codes, np.ones(len(codes), dtype=np.intp))
            found.append(replace(_plain_part(weights, codes, movable), ramps=ramps))
    return tuple(one for one in found if len(one.neurons) and len(one.codes))


def _plain_part(weights: Weights, codes: Integers, movable: Bools | None = None) -> Part:
    """All neurons that read one of some codes."""
    if isinstance(weights, np.ndarray):
        whole = Part(codes, np.arange(len(weights)), weights[:, codes])
        if movable is None or movable[:, codes].all():
            return whole
        return replace(whole, moves=movable[:, codes].astype(np.float32))
    stored = sparse.coo_array(weights[:, codes])
    neurons, place = np.unique(stored.row, return_inverse=True)
    start, moves = (np.zeros((len(neurons), len(codes))) for _ in range(2))
    start[place, stored.col] = stored.data
    moves[place, stored.col] = 1.0
    return Part(codes, neurons, start, None if moves.all() else moves.astype(np.float32))


def _ramp_parts(weights: sparse.csr_array, rows: CodedRows) -> list[Part]:
    """The ramps that neurons of sparse weights read, column by column."""
    coding = rows.coding
    is_ramp = np.ones(coding.n_codes, dtype=bool)
    is_ramp[coding.plain_codes] = False
    weights.sort_indices()
    kept = is_ramp[weights.indices]
    neurons = np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))[kept]
    codes, data = weights.indices[kept], weights.data[kept]
    _, scale = _scaling_of(rows)
    begins = np.flatnonzero(_begins(neurons, codes, coding.column_of_code, data / scale[codes]))
    run = np.cumsum(np.bincount(begins, minlength=len(codes))) - 1
    first, width = codes[begins], np.diff(np.append(begins, len(codes)))
    columns = coding.column_of_code[codes]
    found = []
    for column in np.unique(columns).tolist():
        inside = columns == column
        own = np.unique(run[inside])
        ramps, which = np.unique(np.stack([first[own], width[own]]), axis=1, return_inverse=True)
        readers, reader = np.unique(neurons[inside], return_inverse=True)
        unit = _means_of(scale, *ramps)
        at = which.ravel()[np.searchsorted(own, run[inside])]
        place = reader.ravel() * ramps.shape[1] + at
        share = scale[codes[inside]] / (ramps[1] * unit)[at]
        shape = (len(readers), ramps.shape[1])
        # A ramp's weight is that of its height: the sum of what its bins rise by.
        rises = data[inside] * unit[at] / scale[codes[inside]]
        start = np.bincount(place, rises, shape[0] * shape[1]).astype(np.float64).reshape(shape)
        moves = np.zeros(shape, dtype=np.float32)
        moves.ravel()[place] = 1.0
        stored = Stored(neurons[inside], codes[inside], place, share)
        form = Ramps.of(rows, column, *ramps)
        found.append(Part(ramps[0], readers, start, None if moves.all() else moves, form, stored))
    return found


def _begins(neurons: Integers, codes: Integers, column: Integers, rise: Floats) -> Bools:
    """Which weights, by neuron and code, begin a ramp: others go on with the rise before them."""
    begins = np.ones(len(codes), dtype=bool)
    if len(codes) > 1:
        size = np.maximum(np.abs(rise[1:]), np.abs(rise[:-1]))
        begins[1:] = (
            (np.diff(neurons) != 0)
            | (np.diff(codes) != 1)
            | (np.diff(column[codes]) != 0)
            | (np.abs(np.diff(rise)) > _EQUAL * size)
        )
    return begins


@dataclass(frozen=True, eq=False)
class Reading:
    """How the parts of a layer read rows.

    Attributes
    ----------
    parts : of the layer
    ramps : of all parts, one part after the other
    """

    parts: tuple[Part, ...]
    ramps: Ramps

    @classmethod
    def of(cls, parts: tuple[Part, ...]) -> Reading:
        """Of some parts."""
        return cls(parts, Ramps.join([part.ramps for part in parts if part.ramps is not None]))

    def inputs(self, table: Table) -> Inputs:
        """What each part reads of rows."""
        ramps, found, begun = self.ramps.values(table.coordinate), [], 0
        for part in self.parts:
            if part.ramps is None:
                found.append(table.held)
                continue
            found.append(ramps[begun : begun + len(part.codes)].T)
            begun += len(part.codes)
        return Inputs(found, ramps)


class Inputs(NamedTuple):
    """Rows as the parts of a layer read them.

    Attributes
    ----------
    of_part : for each part (n_rows, n_codes)
    ramps : (n_ramps, n_rows), those of all parts, one part after the other
    """

    of_part: list[Floats]
    ramps: Floats


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

    def joined(self, other: Table) -> Table:
        """These rows and then others."""
        return Table(
            np.concatenate([self.held, other.held]),
            np.concatenate([self.coordinate, other.coordinate], axis=1),
            np.concatenate([self.target, other.target]),
            np.concatenate([self.weight, other.weight]),
        )
