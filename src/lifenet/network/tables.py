"""A network of codes prepared for reading: what each column gives to each neuron, at its knots.

A neuron's height is its bias plus one function of each column that it reads, linear between the
column's knots. `ColumnTables` holds these functions by their values at the knots, and only those
that are not zero. A row then costs two multiplications for each column of a neuron, however many
codes the column has.

Neurons that read no ramps (base learners read the value and the normal score of every column) are
one matrix product of those codes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from lifenet.kernels.weights import is_sparse, stored_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Bools, Floats, Integers, Weights
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.grid import Cells, Grid

__all__ = ["FEW_ROWS", "ColumnTable", "ColumnTables"]

# Neurons of a group: neurons that read the same columns are put together, and a group's tables
# should stay in the cache. Measured: 64 to 512 take the same time where all read all columns.
_GROUP = 128
#: Rows that are evaluated column by column rather than group by group, where groups are many.
FEW_ROWS, _FEW_GROUPS = 8, 2


class ColumnTable(NamedTuple):
    """What one column gives to the neurons that read it.

    Attributes
    ----------
    neurons : (a,) their indices, ascending
    at_knots : (r, a), at the points of the grid that belong to the column
    """

    neurons: Integers
    at_knots: Floats


class _Group(NamedTuple):
    """Some neurons, and the tables of all columns that one of them reads."""

    neurons: Integers  # (g,)
    columns: Integers  # (c,)
    shift: Integers  # (c,), first point of each column on the grid less its row in the tables
    tables: Floats  # (n_points of these columns, g)


@dataclass(frozen=True, eq=False)
class ColumnTables:
    """A hidden layer on codes, by what each column gives to each neuron.

    Attributes
    ----------
    coding : of the columns
    weights : (n_neurons, n_codes), on the codes
    bias : (n_neurons,)
    dtype : of tables of groups, and so of heights of many rows
    units : center and scale of the codes, (n_codes,) each, where the neurons read standardised
        codes; tables are made of these before they are rounded to `dtype`
    """

    coding: ColumnCoding
    weights: Weights
    bias: Floats
    dtype: type[np.float32 | np.float64] = np.float64
    units: tuple[Floats, Floats] | None = None

    # ------------------------------------------------------------------ what is prepared once

    @property
    def grid(self) -> Grid:
        """The knots of all columns."""
        return self.coding.grid

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return len(self.bias)

    @cached_property
    def width(self) -> int:
        """Most neurons of which `heights` gives heights at a time; a cell counts, too."""
        return max(len(self._plain[0]), _GROUP, 4 * self.coding.n_features)

    @cached_property
    def _by_code(self) -> sparse.csc_array:
        held = self.weights if is_sparse(self.weights) else sparse.csr_array(self.weights)
        return sparse.csc_array(held, dtype=np.float64)

    @cached_property
    def _reads(self) -> sparse.csr_array:
        """Which columns each neuron reads, (n_neurons, n_columns)."""
        coding = self.coding
        return stored_columns(self.weights, coding.column_of_code, coding.n_features)

    @cached_property
    def _on_plain(self) -> Bools:
        """Which neurons read no ramps, (n_neurons,)."""
        ramps = np.ones(self.coding.n_codes, dtype=np.int8)
        ramps[self.coding.plain_codes] = 0
        by_code = self._by_code
        reads = np.repeat(ramps, np.diff(by_code.indptr))
        return np.asarray(np.bincount(by_code.indices, reads, self.n_neurons) == 0)

    @cached_property
    def _plain(self) -> tuple[Integers, Floats]:
        """Neurons that read no ramps, and their weights on the plain codes."""
        neurons = np.flatnonzero(self._on_plain)
        codes = self.coding.plain_codes
        weights = self._by_code[:, codes].tocsr()[neurons].toarray()
        return neurons, weights

    @cached_property
    def column_tables(self) -> tuple[ColumnTable, ...]:
        """For each column, the table of the neurons that read it, ramps or no ramps."""
        return tuple(self._table(column) for column in range(self.coding.n_features))

    @cached_property
    def _ramp_tables(self) -> tuple[ColumnTable, ...]:
        """The same without the neurons that read no ramps."""
        if not self._on_plain.any():
            return self.column_tables
        inside = ~self._on_plain
        found = []
        for column in range(self.coding.n_features):
            neurons, at_knots = self._table(column, inside)
            found.append(ColumnTable(neurons, at_knots))
        return tuple(found)

    def _table(self, column: int, among: Bools | None = None) -> ColumnTable:
        """The table of one column, of some neurons."""
        neurons, weights = self._weights_on(column, among)
        return ColumnTable(neurons, self.at_knots(column, weights))

    def _weights_on(self, column: int, among: Bools | None = None) -> tuple[Integers, Floats]:
        """The neurons that read a column, and their weights on its codes, (k, a)."""
        by_code, codes = self._by_code, self.coding.codes_of(column)
        begin, end = by_code.indptr[codes.start], by_code.indptr[codes.stop]
        rows, data = by_code.indices[begin:end], by_code.data[begin:end]
        code = np.repeat(
            np.arange(codes.stop - codes.start),
            np.diff(by_code.indptr[codes.start : codes.stop + 1]),
        )
        if among is not None:
            kept = among[rows]
            rows, data, code = rows[kept], data[kept], code[kept]
        neurons, place = np.unique(rows, return_inverse=True)
        weights = np.zeros((codes.stop - codes.start, len(neurons)))
        weights[code, place.ravel()] = data
        return neurons, weights

    @cached_property
    def column_rates(self) -> tuple[Floats, ...]:
        """For each column, slopes of its table in every bin, (r + 1, a).

        From the weights, not from the table: a slope of zero is exactly zero.
        """
        return tuple(
            self.rates_of(column, self._weights_on(column)[1])
            for column in range(self.coding.n_features)
        )

    def rates_of(self, column: int, weights: Floats) -> Floats:
        """Slopes in every bin of a column, (r + 1, a), for weights (k, a) on its codes."""
        return np.asarray(self.coding.bin_slopes(column) @ weights)

    def at_knots(self, column: int, weights: Floats) -> Floats:
        """Values at the points of a column for weights (k, a) on its codes."""
        levels = self.coding.values_of(column)
        if not len(levels):  # the code is the value itself: points 0 and 1
            levels = np.array([[0.0], [1.0]])
        if len(levels) == 1:
            levels = np.repeat(levels, 2, axis=0)
        if self.units is not None:
            center, scale = (part[self.coding.codes_of(column)] for part in self.units)
            levels = (levels - center) / scale
        return np.asarray(levels @ weights)

    def _plain_codes(self, cells: Cells) -> Floats:
        """The plain codes of rows, in the units that the neurons read, (n, n_plain)."""
        codes = self.coding.plain_values(cells)
        if self.units is not None:
            center, scale = (part[self.coding.plain_codes] for part in self.units)
            codes = (codes - center) / scale
        return codes.astype(self.dtype, copy=False)

    @cached_property
    def _groups(self) -> tuple[_Group, ...]:
        """Groups of the neurons that read ramps."""
        neurons = np.flatnonzero(~self._on_plain)
        if not len(neurons):
            return ()
        reads = self._reads[neurons].toarray().astype(bool)
        often = np.argsort(-reads.sum(axis=0), kind="stable")
        packed = np.packbits(reads[:, often], axis=1)
        order = np.lexsort(packed.T[::-1])
        groups = []
        for start in range(0, len(order), _GROUP):
            some = order[start : start + _GROUP]
            columns = np.flatnonzero(reads[some].any(axis=0))
            groups.append(self._group(neurons[some], columns))
        return tuple(groups)

    def _group(self, neurons: Integers, columns: Integers) -> _Group:
        first = self.grid.first
        widths = first[columns + 1] - first[columns]
        begin = np.concatenate([[0], np.cumsum(widths)])
        tables = np.zeros((int(begin[-1]), len(neurons)), dtype=self.dtype)
        place = np.full(self.n_neurons, -1, dtype=np.intp)
        place[neurons] = np.arange(len(neurons))
        for number, column in enumerate(columns.tolist()):
            known = self._ramp_tables[column]
            here = place[known.neurons]
            rows = slice(int(begin[number]), int(begin[number + 1]))
            tables[rows, here[here >= 0]] = known.at_knots[:, here >= 0]
        return _Group(neurons, columns, first[columns] - begin[:-1], tables)

    @cached_property
    def _group_slopes(self) -> tuple[Floats, ...]:
        """For each group, slopes of its tables from each point to the next."""
        found = []
        for group in self._groups:
            slopes = np.zeros_like(group.tables)
            np.subtract(group.tables[1:], group.tables[:-1], out=slopes[:-1])
            first = self.grid.first
            points = np.concatenate([np.arange(first[j], first[j + 1]) for j in group.columns])
            slopes /= self.grid.gap[points][:, None]
            found.append(slopes)
        return tuple(found)

    # ------------------------------------------------------------------ reading it

    def heights(self, cells: Cells) -> Iterator[tuple[Integers, Floats]]:
        """What neurons cut at zero, some neurons at a time: their indices and (n, g) heights."""
        neurons, weights = self._plain
        if len(neurons):
            values: Floats = self._plain_codes(cells) @ weights.T.astype(self.dtype, copy=False)
            values += self.bias[neurons]
            yield neurons, values
        for group in self._groups:
            values = cells.products(group.columns, group.shift, group.tables)
            values += self.bias[group.neurons]
            yield group.neurons, values

    def all_heights(self, cells: Cells) -> Floats:
        """What all neurons cut at zero, (n, n_neurons)."""
        if len(cells) <= FEW_ROWS and len(self._groups) > _FEW_GROUPS:
            return self._heights_of_few(cells)
        heights = np.empty((len(cells), self.n_neurons))
        for neurons, values in self.heights(cells):
            heights[:, neurons] = values
        return heights

    def _heights_of_few(self, cells: Cells) -> Floats:
        """The same, column by column: no group has to be gone through."""
        heights = np.tile(self.bias.astype(np.float64), (len(cells), 1))
        neurons, weights = self._plain
        if len(neurons):
            heights[:, neurons] += self._plain_codes(cells) @ weights.T
        for column, (readers, table) in enumerate(self._ramp_tables):
            if len(readers):
                point = cells.point[:, column] - self.grid.first[column]
                share = cells.share[:, column, None]
                here = table[point]
                heights[:, readers] += here + share * (table[point + 1] - here)
        return heights

    def pull_few(self, cells: Cells, share: Floats, beta: Floats, total: Floats) -> None:
        """Add slopes as `pull` does, for few rows and shares (n, n_neurons) of all neurons."""
        plain = self._plain[0]
        if len(plain):
            self._pull_plain(cells, share[:, plain], beta[plain], total)
        for column, (readers, table) in enumerate(self._ramp_tables):
            if len(readers):
                point = cells.point[:, column] - self.grid.first[column]
                rate = cells.inside[:, column] / self.grid.gap[cells.point[:, column]]
                slopes = (table[point + 1] - table[point]) * rate[:, None]
                slopes *= share[:, readers]
                total[:, column] += slopes @ beta[readers]

    def pull(
        self, cells: Cells, parts: Iterator[tuple[Integers, Floats]], beta: Floats, total: Floats
    ) -> None:
        """Add the slopes of heights, each neuron's counted by its share and coefficients.

        Parameters
        ----------
        parts : neurons and (n, g) shares, in the groups and the order of `heights`
        beta : (n_neurons, n_outputs)
        total : (n, n_columns, n_outputs), added to
        """
        plain = self._plain[0]
        groups = iter(zip(self._groups, self._group_slopes, strict=True))
        for neurons, share in parts:
            if len(plain) and neurons is plain:
                self._pull_plain(cells, share, beta[neurons], total)
                continue
            group, slopes = next(groups)
            taken = np.empty(share.shape, dtype=slopes.dtype)
            single = beta.shape[1] == 1
            counted = share * beta[neurons, 0] if single else share
            for column, shift in zip(group.columns.tolist(), group.shift.tolist(), strict=True):
                np.take(slopes, cells.point[:, column] - shift, axis=0, out=taken, mode="clip")
                if single:
                    found = np.einsum("nm,nm->n", taken, counted)[:, None]
                else:
                    taken *= counted
                    found = taken @ beta[neurons]
                found *= cells.inside[:, column, None]
                total[:, column] += found

    def _pull_plain(self, cells: Cells, share: Floats, beta: Floats, total: Floats) -> None:
        """Add slopes as `pull` does, of the neurons that read no ramps alone."""
        slopes = self.coding.plain_slopes(cells)
        column = self.coding.column_of_code[self.coding.plain_codes]
        firsts = np.flatnonzero(np.diff(column, prepend=-1))
        for output in range(beta.shape[1]):
            by_code = (share * beta[:, output]) @ self._plain[1]
            by_code *= slopes
            total[:, column[firsts], output] += np.add.reduceat(by_code, firsts, axis=1)
