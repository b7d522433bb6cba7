"""A ReLU network along one column: increments, means and kinks, all exact."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import check_positions, check_vector, check_weight
from lifenet.kernels.marginals import hinge_means
from lifenet.kernels.row_blocks import row_blocks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats, Integers
    from lifenet.network.relu import ReluNetwork

__all__ = ["ReluRestriction"]


@dataclass(frozen=True, eq=False, repr=False)
class ReluRestriction:
    """`network` as a function of column `j` alone, for each row of `X` (n, p).

    With ``a_ik = bias_k + sum_{l != j} weights_kl x_il`` what the held columns give to neuron
    `k`, row `i` is the function::

        t -> const_i + linear_j t + sum_k beta_k max(0, a_ik + weights_kj t)

    Nothing is computed before it is asked for, and never an array of n x n_neurons. `X` is not
    copied. Made by `ReluNetwork.along`, which checks the arguments.
    """

    network: ReluNetwork
    X: Floats
    column: int

    def __repr__(self) -> str:
        return f"ReluRestriction(column={self.column}, n_rows={len(self.X)}, of={self.network!r})"

    def increment(self, low: npt.ArrayLike, high: npt.ArrayLike) -> Floats:
        """Change of the score as the column goes from `low` to `high` in each row.

        A neuron rises from `low` to `high` by at most the step times its slope, and by at most
        what it reaches at the higher end::

            |relu(z_high) - relu(z_low)| = min(|w_kj (high - low)|, relu(max(z_low, z_high)))

        which, unlike the difference, loses no digits where the step is small.

        Parameters
        ----------
        low, high : float or array-like of shape (n,)
            `low` may lie above `high`.

        Returns
        -------
        ndarray of shape (n, n_outputs)
        """
        n, dtype, network = len(self.X), self.X.dtype, self.network
        begin = check_vector("low", low, n, "n_rows")
        finish = check_vector("high", high, n, "n_rows")
        step = (finish - begin).astype(dtype)  # before rounding to float32, not after
        begin, finish = begin.astype(dtype), finish.astype(dtype)
        bends = self._bends()
        slope = network.weights[bends, self.column]
        held, signed_beta = self._held(bends), np.sign(slope)[:, None] * network.beta[bends]
        change: Floats = step[:, None] * network.linear[self.column]
        for rows in row_blocks(n, len(bends), dtype):
            top = self.X[rows] @ held.T + network.bias[bends]
            top += np.maximum(np.outer(begin[rows], slope), np.outer(finish[rows], slope))
            np.maximum(top, 0, out=top)
            np.minimum(top, np.abs(np.outer(step[rows], slope)), out=top)
            change[rows] += np.sign(step[rows])[:, None] * (top @ signed_beta)
        return change

    def mean(self, grid: npt.ArrayLike, weight: npt.ArrayLike | None = None) -> Floats:
        """Mean over the rows of the score, with the column set to each value in `grid`.

        This is the partial dependence on the column, computed exactly from all rows: neuron by
        neuron, one sort of the rows serves the whole grid, so the time is
        O(n_neurons (n + g) log n) and the memory O(n + g).

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
        if weight is None:
            return self._mean(positions, None)
        mass = check_weight(weight, len(self.X))
        present = mass > 0
        kept = ReluRestriction(self.network, self.X[present], self.column)
        return kept._mean(positions, mass[present])

    def kinks(self) -> Iterator[tuple[int, Floats]]:
        """Iterate over the neurons that bend along the column, and where they do so.

        Yields
        ------
        neuron : int
            Index of a neuron with a weight on the column, in ascending order.
        positions : ndarray of shape (n,)
            The value of the column at which each row crosses the neuron's hyperplane (infinite
            where it is too far away to be represented).
        """
        for neuron, offsets in self._offsets():
            slope = self.network.weights[neuron, self.column]
            with np.errstate(over="ignore"):
                yield neuron, -offsets / slope

    def _bends(self) -> Integers:
        """Indices of the neurons with a weight on the column."""
        return np.flatnonzero(self.network.weights[:, self.column])

    def _held(self, neurons: Integers) -> Floats:
        """Weights of some neurons on the columns that are held, (len(neurons), p)."""
        held = self.network.weights[neurons]
        held[:, self.column] = 0
        return held

    def _offsets(self) -> Iterator[tuple[int, Floats]]:
        """What the held columns give to each neuron that bends, (n,), a few neurons at a time."""
        bends = self._bends()
        for block in row_blocks(len(bends), len(self.X), self.X.dtype):
            neurons = bends[block]
            offsets = self._held(neurons) @ self.X.T + self.network.bias[neurons, None]
            yield from zip(neurons.tolist(), offsets, strict=True)

    def _mean(self, grid: Floats, weight: Floats | None) -> Floats:
        """The mean on checked arguments, all weights positive."""
        network = self.network
        slopes = network.linear[self.column].astype(np.float64)
        mean: Floats = self._constant(weight) + grid[:, None] * slopes
        for neuron, offsets in self._offsets():
            slope = float(network.weights[neuron, self.column])
            hinge = hinge_means(offsets, slope, grid, weight)
            mean += hinge[:, None] * network.beta[neuron]
        return mean.astype(self.X.dtype)

    def _constant(self, weight: Floats | None) -> Floats:
        """Mean of the part of the score that does not move with the column, (n_outputs,)."""
        still = self.network.select(self.network.weights[:, self.column] == 0)
        linear = still.linear.copy()
        linear[self.column] = 0
        score = still.with_readout(still.beta, still.intercept, linear).score(self.X)
        return np.asarray(np.average(score.astype(np.float64), axis=0, weights=weight))
