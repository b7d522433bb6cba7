"""A coded network along one raw column: increments, means and kinks, all exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import check_positions, check_vector, check_weight
from lifenet.kernels.marginals import hinge_means
from lifenet.kernels.row_blocks import row_blocks
from lifenet.kernels.weights import multiply_columns
from lifenet.network.coded_moves import hinge_rises, split_heights
from lifenet.network.tables import ColumnTables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.network.coded import CodedNetwork
    from lifenet.network.tables import ColumnTable

__all__ = ["CodedRestriction"]


@dataclass(frozen=True, eq=False, repr=False)
class CodedRestriction:
    """A coded network as a function of raw column `j` alone, for each row of `X` (n, p).

    With ``a_ik`` what the held columns give to neuron `k`, and ``g_k(t)`` what the value `t` of
    the column gives to it, row `i` is the function::

        t -> const_i + linear(t) + sum_k beta_k max(0, a_ik + g_k(t))

    Nothing is computed before it is asked for, and never an array of n x n_neurons. Made by
    `CodedNetwork.along`, which checks the arguments.
    """

    coded: CodedNetwork
    X: Floats
    column: int

    def __repr__(self) -> str:
        of = self.coded.network
        return f"CodedRestriction(column={self.column}, n_rows={len(self.X)}, of={of!r})"

    def increment(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        """Change of the score as the column goes from `low` to `high` in each row.

        Parameters
        ----------
        low, high : float or array-like of shape (n,)
            `low` may lie above `high`.

        Returns
        -------
        ndarray of shape (n, n_outputs)
        """
        n, readers = len(self.X), self._readers
        values = check_vector("low", low, n, "n_rows"), check_vector("high", high, n, "n_rows")
        change: Floats = np.empty((n, self.coded.n_outputs))
        beta = self.coded.network.beta[readers]
        for rows in row_blocks(n, self.coded.n_neurons, change.dtype):
            begin, end = (self.coded.column_value(self.column, one[rows]) for one in values)
            moved = self.X[rows].copy()
            moved[:, self.column] = values[0][rows]
            cells = self.coded.coding.grid.locate(moved)
            below, cut = split_heights(self.coded.tables.all_heights(cells)[:, readers])
            rises = hinge_rises(end.heights - begin.heights, below, cut)
            change[rows] = rises @ beta + (end.linear - begin.linear)
        return change

    def mean(self, grid: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> Floats:
        """Mean over the rows of the score, with the column set to each value in `grid`.

        Exact, from all rows: one sort of the rows a neuron serves the whole grid.

        Parameters
        ----------
        grid : array-like of shape (g,)
            In any order.
        weight : array-like of shape (n,), optional
            Weights of the rows, not negative; a zero takes the row out. Equal by default.

        Returns
        -------
        ndarray of shape (g, n_outputs)
        """
        positions = check_positions("grid", grid)
        if not len(self.X):
            raise ValueError("X has no rows, so there is nothing to take the mean of")
        rows, mass = self.X, None
        if weight is not None:
            mass = check_weight(weight, len(rows))
            rows, mass = rows[mass > 0], mass[mass > 0]
        value = self.coded.column_value(self.column, positions)
        mean: Floats = np.average(self._rest().score(rows), axis=0, weights=mass) + value.linear
        for number, neuron, offsets in self._offsets(rows):
            hinge = hinge_means(offsets, 1.0, value.heights[:, number], mass)
            mean += hinge[:, None] * self.coded.network.beta[neuron]
        return mean

    def kinks(self) -> Iterator[tuple[int, Floats]]:
        """Iterate over where the function may bend: at knots, and where neurons switch.

        Yields
        ------
        neuron : int
            -1 for a knot, all of which come first; then neurons in ascending order.
        positions : ndarray of shape (n,)
            For a knot, its place in every row. For a neuron, where each row crosses its
            hyperplane. Codes may bring a row there more than once: the neuron then comes
            again with the second crossings, and so on. Infinite where a row has no (more)
            crossing; neurons that no row crosses do not come.
        """
        coding = self.coded.coding
        for knot in coding.kinks(self.column).tolist():
            yield -1, np.full(len(self.X), knot)
        knots, at_knots = coding.knots[self.column], self._table.at_knots
        for number, neuron, offsets in self._offsets(self.X):
            if not len(knots):
                with np.errstate(over="ignore"):
                    yield neuron, -offsets / at_knots[1, number]
                continue
            for positions in _crossings(offsets, at_knots[:, number], knots):
                yield neuron, positions

    @property
    def _table(self) -> ColumnTable:
        return self.coded.tables.column_tables[self.column]

    @property
    def _readers(self) -> Integers:
        """Indices of the neurons that read the column, ascending."""
        return self._table.neurons

    def _rest(self) -> CodedNetwork:
        """The network without the neurons that read the column, and without its linear part."""
        network, coding = self.coded.network, self.coded.coding
        linear = network.linear.copy()
        linear[coding.codes_of(self.column)] = 0
        still = np.setdiff1d(np.arange(network.n_neurons), self._readers)
        part = network.select(still)
        return type(self.coded)(coding, part.with_readout(part.beta, part.intercept, linear))

    def _offsets(self, rows: Floats) -> Iterator[tuple[int, int, Floats]]:
        """What the held columns give to each neuron that reads the column, (n,).

        Yields number among the readers, neuron and offsets, a few neurons at a time.
        """
        network, coding, readers = self.coded.network, self.coded.coding, self._readers
        held = np.ones(coding.n_codes)
        held[coding.codes_of(self.column)] = 0
        cells = coding.grid.locate(rows)
        for block in row_blocks(len(readers), len(rows), rows.dtype):
            some = readers[block]
            weights = multiply_columns(network.weights[some], held)
            tables = ColumnTables(coding, weights, network.bias[some].astype(np.float64))
            offsets = tables.all_heights(cells).T
            numbers = range(block.start, block.stop)
            yield from zip(numbers, some.tolist(), offsets, strict=True)


def _crossings(offsets: Floats, shifts: Floats, knots: Floats) -> list[Floats]:
    """Where ``offsets + shift(t)`` changes sides, shift being `shifts` at the knots.

    Returns the first crossing of each row, the second, and so on, (n,) each; infinite where there
    is none.
    """
    found: list[Floats] = []
    count = np.zeros(len(offsets), dtype=np.intp)
    low = offsets + shifts[0]
    for place in range(len(knots) - 1):
        high = offsets + shifts[place + 1]
        rows = np.flatnonzero((low > 0) != (high > 0))
        share = low[rows] / (low[rows] - high[rows])
        at = knots[place] + share * (knots[place + 1] - knots[place])
        for rank in np.unique(count[rows]).tolist():
            if rank == len(found):
                found.append(np.full(len(offsets), np.inf))
            chosen = count[rows] == rank
            found[rank][rows[chosen]] = at[chosen]
        count[rows] += 1
        low = high
    return found
