"""A coded network along one raw column: increments, means and kinks, all exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import check_positions, check_vector, check_weight
from lifenet.kernels.marginals import hinge_means
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.coded_moves import hinge_rises, split_heights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.network.coding import ColumnCoding
    from lifenet.network.relu import ReluNetwork

__all__ = ["CodedRestriction"]


@dataclass(frozen=True, eq=False, repr=False)
class CodedRestriction:
    """A coded network as a function of raw column `j` alone, for each row of `X` (n, p).

    With ``a_ik`` what the codes of the held columns give to neuron `k`, and ``e(t)`` the codes
    of the value `t`, row `i` is the function::

        t -> const_i + linear_j' e(t) + sum_k beta_k max(0, a_ik + weights_kj' e(t))

    Nothing is computed before it is asked for. `mean` and `kinks` then hold the codes of the rows,
    (n, n_codes), but never an array of n x n_neurons. Made by `CodedNetwork.along`, which checks
    the arguments.
    """

    coding: ColumnCoding
    network: ReluNetwork
    X: Floats
    column: int

    def __repr__(self) -> str:
        return f"CodedRestriction(column={self.column}, n_rows={len(self.X)}, of={self.network!r})"

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
        n, own, bends = len(self.X), self._own, self._bends()
        begin = self._codes(check_vector("low", low, n, "n_rows"))
        step = self._codes(check_vector("high", high, n, "n_rows")) - begin
        moving = self.network.select(bends)
        change: Floats = step @ self.network.linear[own]
        for rows in row_blocks(n, max(len(bends), self.coding.n_codes), step.dtype):
            codes = self.coding._encode(self.X[rows])
            codes[:, own] = begin[rows]
            below, cut = split_heights(moving.preactivations(codes))
            rises = hinge_rises(step[rows] @ moving.weights[:, own].T, below, cut)
            change[rows] += rises @ moving.beta
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
        held, codes, bends = self._held(rows), self._codes(positions), self._bends()
        still = np.setdiff1d(np.arange(self.network.n_neurons), bends)
        rest = self.network.select(still).score(held)
        mean: Floats = np.average(rest, axis=0, weights=mass) + codes @ self._linear
        for neuron, offsets in self._offsets(held, bends):
            shifts = codes @ self._weights[neuron]
            hinge = hinge_means(offsets, 1.0, shifts, mass)
            mean += hinge[:, None] * self.network.beta[neuron]
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
        for knot in self.coding.kinks(self.column).tolist():
            yield -1, np.full(len(self.X), knot)
        knots = self.coding.knots[self.column]
        held, levels = self._held(self.X), self._codes(knots)
        for neuron, offsets in self._offsets(held, self._bends()):
            weights = self._weights[neuron]
            if not len(knots):
                with np.errstate(over="ignore"):
                    yield neuron, -offsets / weights[0]
                continue
            for positions in _crossings(offsets, levels @ weights, knots):
                yield neuron, positions

    @property
    def _own(self) -> slice:
        return self.coding.codes_of(self.column)

    @property
    def _weights(self) -> Floats:
        """Weights of all neurons on the codes of the column, (n_neurons, k)."""
        return self.network.weights[:, self._own]

    @property
    def _linear(self) -> Floats:
        return self.network.linear[self._own]

    def _codes(self, values: Floats) -> Floats:
        """Codes of values of the column, (n, k)."""
        return self.coding._encode_column(self.column, values)

    def _bends(self) -> Integers:
        """Indices of the neurons with a weight on a code of the column."""
        return np.flatnonzero(self._weights.any(axis=1))

    def _held(self, rows: Floats) -> Floats:
        """Codes of the rows, those of the column at zero."""
        codes = self.coding._encode(rows)
        codes[:, self._own] = 0
        return codes

    def _offsets(self, held: Floats, neurons: Integers) -> Iterator[tuple[int, Floats]]:
        """What the held codes give to each of some neurons, (n,), a few neurons at a time."""
        network = self.network
        for block in row_blocks(len(neurons), len(held), held.dtype):
            some = neurons[block]
            offsets = network.weights[some] @ held.T + network.bias[some, None]
            yield from zip(some.tolist(), offsets, strict=True)


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
