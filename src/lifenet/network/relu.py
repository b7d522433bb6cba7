"""The single-hidden-layer ReLU network as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import (
    check_column,
    check_ends,
    check_network,
    check_positive,
    check_rows,
    check_targets,
    check_tolerance,
    check_vector,
    common_dtype,
    neuron_indices,
)
from lifenet.kernels.patterns import pattern_keys
from lifenet.kernels.row_blocks import row_blocks
from lifenet.kernels.weights import (
    dense_of,
    equal_weights,
    is_sparse,
    multiply_columns,
    pack_csr,
    single_weights,
    unpack_csr,
)
from lifenet.network.adopt import read_mlp, read_torch
from lifenet.network.adopt_onnx import read_onnx
from lifenet.network.canonical import Parts, canonical_form, merge_parallel
from lifenet.network.equations import mix_equations, neuron_equations
from lifenet.network.joining import alike, join_parts
from lifenet.network.limits import steps_to_switch
from lifenet.network.moves import move_columns
from lifenet.network.restriction import ReluRestriction
from lifenet.network.segments import integrate_segments

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lifenet._typing import Bools, Floats

__all__ = ["ReluNetwork"]


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class ReluNetwork:
    """A ReLU network with one hidden layer and a linear part::

        f(x) = intercept + linear' x + sum_k beta_k max(0, weights_k' x + bias_k)

    It gives raw scores in the units of the columns it was built for; it knows no links and no
    names. The arrays are checked once, copied and read-only. All share one dtype: float32 if
    every array given is float32, else float64. Two networks are equal when their arrays are.

    Where most weights are zero they may be a SciPy CSR array, in float32 or float64 whatever the
    other arrays are. What is stored are the weights that fine-tuning may move, zeros among them.
    `dense` gives the same network with an array of weights.

    Results are float32 where both the network and the table are, else float64. Tables are
    array-likes of finite numbers. Except where n x n_neurons numbers are what is asked for,
    tables are worked through in blocks: beyond the result, or the local equations of all rows
    where a part of them is asked for, a few megabytes suffice however many rows there are (and a
    copy of a table that must change its dtype).

    Parameters
    ----------
    weights : array-like or sparse array of shape (n_neurons, n_features)
        A row for each neuron. There may be no neurons: the function is then linear.
    bias : array-like of shape (n_neurons,)
    beta : array-like of shape (n_neurons, n_outputs) or (n_neurons,)
        One-dimensional for a single output.
    intercept : float or array-like of shape (n_outputs,)
    linear : array-like of shape (n_features, n_outputs) or (n_features,), optional
        Zeros by default.

    Examples
    --------
    >>> from lifenet.network import ReluNetwork
    >>> hinge = ReluNetwork([[1.0, -1.0]], bias=[0.5], beta=[2.0], intercept=1.0)
    >>> hinge.score([[1.0, 0.0], [0.0, 1.0]]).ravel().tolist()
    [4.0, 1.0]
    """

    weights: Floats
    bias: Floats
    beta: Floats
    intercept: Floats
    linear: Floats

    def __init__(
        self,
        weights: npt.ArrayLike,
        bias: npt.ArrayLike,
        beta: npt.ArrayLike,
        intercept: npt.ArrayLike,
        linear: npt.ArrayLike | None = None,
    ) -> None:
        given = {"weights": weights, "bias": bias, "beta": beta, "intercept": intercept}
        if linear is not None:
            given["linear"] = linear
        for name, array in check_network(given).items():
            object.__setattr__(self, name, array)

    # ------------------------------------------------------------------ the value

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return int(self.weights.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns that the network reads."""
        return int(self.weights.shape[1])

    @property
    def n_outputs(self) -> int:
        """Number of scores that it gives."""
        return int(self.beta.shape[1])

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """The dtype of all its arrays, sparse weights apart."""
        return self.bias.dtype

    @property
    def is_sparse(self) -> bool:
        """Whether the weights are a CSR array."""
        return is_sparse(self.weights)

    def dense(self) -> ReluNetwork:
        """The same network with an array of weights."""
        parts = self._parts()
        weights = dense_of(parts[0]).astype(self.dtype, copy=False)
        return ReluNetwork(weights, *parts[1:]) if self.is_sparse else self

    def _parts(self) -> Parts:
        return Parts(self.weights, self.bias, self.beta, self.intercept, self.linear)

    def __repr__(self) -> str:
        return (
            f"ReluNetwork(n_neurons={self.n_neurons}, n_features={self.n_features}, "
            f"n_outputs={self.n_outputs}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReluNetwork):
            return NotImplemented
        pairs = zip(self._parts()[1:], other._parts()[1:], strict=True)
        alike = all(np.array_equal(mine, theirs) for mine, theirs in pairs)
        return alike and equal_weights(self.weights, other.weights)

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # Copies and pickles are built by the constructor: numpy restores arrays as writable.
        weights, *rest = self._parts()
        if self.is_sparse:
            return _unpacked, (pack_csr(weights), *rest)
        return ReluNetwork, (weights, *rest)

    # ------------------------------------------------------------------ the hidden layer

    def preactivations(self, X: npt.ArrayLike) -> Floats:
        """What each neuron cuts at zero, ``X weights' + bias``, shape (n, n_neurons)."""
        return self._preactivations(self._rows(X))

    def active(self, X: npt.ArrayLike) -> Bools:
        """Whether each neuron's preactivation is above zero, shape (n, n_neurons)."""
        rows = self._rows(X)
        active = np.empty((len(rows), self.n_neurons), dtype=np.bool_)
        for block in self._blocks(rows):
            np.greater(self._preactivations(rows[block]), 0, out=active[block])
        return active

    def hidden(self, X: npt.ArrayLike) -> Floats:
        """Output of each neuron, ``max(0, X weights' + bias)``, shape (n, n_neurons)."""
        return self._hidden(self._rows(X))

    def _rows(self, X: npt.ArrayLike) -> Floats:
        return check_rows("X", X, self.n_features, self.dtype)

    def _blocks(self, rows: Floats) -> Iterable[slice]:
        width = max(self.n_neurons, self.n_features * self.n_outputs)
        return row_blocks(len(rows), width, rows.dtype)

    def _preactivations(self, rows: Floats) -> Floats:
        values: Floats
        if is_sparse(self.weights):
            values = np.ascontiguousarray((self.weights @ rows.T).T, dtype=rows.dtype)
        else:
            values = rows @ self.weights.T
        values += self.bias
        return values

    def _hidden(self, rows: Floats) -> Floats:
        values = self._preactivations(rows)
        return np.maximum(values, 0, out=values)

    def _share(self, rows: Floats) -> Floats:
        """1 where a neuron is active, else 0, in the dtype of the rows."""
        return (self._preactivations(rows) > 0).astype(rows.dtype)

    # ------------------------------------------------------------------ reading it

    def score(self, X: npt.ArrayLike) -> Floats:
        """Value of the network, shape (n, n_outputs)."""
        rows = self._rows(X)
        score = rows @ self.linear + self.intercept
        for block in self._blocks(rows):
            score[block] += self._hidden(rows[block]) @ self.beta
        return score

    def equation(self, X: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Slopes and constant of the linear piece that each row lies on.

        The slopes are ``linear + sum over active k of weights_k beta_k'``, the constant is
        ``intercept + sum over active k of bias_k beta_k``, and ``constant + sum_j x_j slopes_j``
        is the score. On a kink, both are those of the side on which the neuron is inactive.

        Returns
        -------
        slopes : ndarray of shape (n, n_features, n_outputs)
        constant : ndarray of shape (n, n_outputs)
        """
        if self.is_sparse:
            return self.dense().equation(X)
        rows = self._rows(X)
        slopes = np.empty((*rows.shape, self.n_outputs), dtype=rows.dtype)
        constant = np.empty((len(rows), self.n_outputs), dtype=rows.dtype)
        terms = neuron_equations(self, rows.dtype)
        for block in self._blocks(rows):
            found = mix_equations(self, self._share(rows[block]), terms)
            slopes[block], constant[block] = found
        return slopes, constant

    def gradient(self, X: npt.ArrayLike) -> Floats:
        """Slopes of each row's `equation`, shape (n, n_features, n_outputs)."""
        return self.equation(X)[0]

    def local_intercept(self, X: npt.ArrayLike) -> Floats:
        """Constant of each row's `equation`, shape (n, n_outputs)."""
        return self.equation(X)[1]

    def contributions(self, X: npt.ArrayLike) -> Floats:
        """Each column times its local slope, ``x_j gradient_j``.

        With the local intercept, the contributions of a row sum to its score.

        Returns
        -------
        ndarray of shape (n, n_features, n_outputs)
        """
        rows = self._rows(X)
        gradient = self.gradient(rows)
        gradient *= rows[:, :, None]
        return gradient

    def region_keys(self, X: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        """A key for the linear region that each row lies in: its pattern of active neurons.

        Up to 64 neurons the key is the pattern itself, bit `k` for neuron `k`; above that it
        is a 64-bit hash of the pattern, the same on all platforms.

        Returns
        -------
        ndarray of uint64, shape (n,)
        """
        rows = self._rows(X)
        keys = np.empty(len(rows), dtype=np.uint64)
        for block in self._blocks(rows):
            keys[block] = pattern_keys(self._preactivations(rows[block]) > 0)
        return keys

    def limits(self, x: npt.ArrayLike, output: int = 0) -> Floats:
        """Between which values of each column, the others held, a row's equation holds.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        ndarray of shape (n_features, 2)
            The lowest and the highest value; infinite where no neuron bends that way.
        """
        row = self._rows(np.atleast_2d(np.asarray(x)))
        part = self.select(self.beta[:, output] != 0).dense()
        heights = part.preactivations(row)[0].astype(np.float64)
        ends: Floats = row[0][:, None] + steps_to_switch(heights, part.weights.astype(np.float64))
        return ends

    def along(self, X: npt.ArrayLike, column: int) -> ReluRestriction:
        """The network as a function of one column, the others held at each row's values."""
        return ReluRestriction(self.dense(), self._rows(X), check_column(column, self.n_features))

    def moves(self, X: npt.ArrayLike, targets: npt.ArrayLike) -> Floats:
        """Change of the score as each column alone goes to another value, the others held.

        ``f(x_i with column j at targets_sij) - f(x_i)``, exact, for all columns in one pass: where
        the steps are short, as between neighbouring values of a column, it costs little more than
        the gradient.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
        targets : array-like of shape (s, n, n_features)
            `s` values to go to from each cell.

        Returns
        -------
        ndarray of shape (s, n, n_features, n_outputs)
        """
        rows = self._rows(X)
        return move_columns(self.dense(), rows, check_targets(targets, rows))

    def segment(self, start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
        """Change of the score along the straight segment from `start` to `end`, by column.

        The exact integral ``(end_j - start_j) int_0^1 df/dx_j(start + t (end - start)) dt``.
        It sums over the columns to ``score(end) - score(start)``.

        Parameters
        ----------
        start, end : array-like of shape (n, n_features), (1, n_features) or (n_features,)
            A single row is the end of every segment.

        Returns
        -------
        ndarray of shape (n, n_features, n_outputs)
        """
        first, last = check_ends(start, end, self.n_features, self.dtype)
        return integrate_segments(self.dense(), first, last)

    # ------------------------------------------------------------------ making others of it

    def astype(self, dtype: npt.DTypeLike) -> ReluNetwork:
        """The same network in float32 or float64, sparse weights included."""
        wanted = np.dtype(dtype)
        if wanted not in (np.dtype(np.float32), np.dtype(np.float64)):
            raise TypeError(f"dtype must be float32 or float64; it is {wanted}")
        with np.errstate(over="ignore"):  # the constructor refuses what overflows
            return ReluNetwork(*(array.astype(wanted) for array in self._parts()))

    def compact(self, center: npt.ArrayLike = 0.0) -> ReluNetwork:
        """Nearly the same network in less memory: sparse weights in float32, no zeros among them.

        Parameters
        ----------
        center : float or array-like of shape (n_features,)
            Where rounding changes no height, such as the means of the columns.
        """
        if not self.is_sparse:
            return self
        middle = check_vector("center", center, self.n_features, "n_features")
        weights, bias, *rest = self._parts()
        rounded = single_weights(weights)
        lost = weights @ middle - rounded.astype(np.float64) @ middle
        return ReluNetwork(rounded, bias + lost, *rest)

    def select(self, neurons: npt.ArrayLike) -> ReluNetwork:
        """The network with some of its neurons, and the same intercept and linear part.

        Parameters
        ----------
        neurons : array-like of int, or of bool and shape (n_neurons,)
            Indices in the order wanted, or a mask.
        """
        kept = neuron_indices(neurons, self.n_neurons)
        return ReluNetwork(
            self.weights[kept], self.bias[kept], self.beta[kept], self.intercept, self.linear
        )

    def with_readout(
        self,
        beta: npt.ArrayLike,
        intercept: npt.ArrayLike,
        linear: npt.ArrayLike | None = None,
    ) -> ReluNetwork:
        """The same neurons under another read-out; `linear` is unchanged unless given."""
        linear = self.linear if linear is None else linear
        return ReluNetwork(self.weights, self.bias, beta, intercept, linear)

    @classmethod
    def concatenate(
        cls, networks: Iterable[ReluNetwork], coefficients: npt.ArrayLike | None = None
    ) -> ReluNetwork:
        """The weighted sum ``sum_i coefficients_i f_i`` of networks, as one network.

        Parameters
        ----------
        networks : iterable of ReluNetwork
            At least one, all with the same columns and outputs.
        coefficients : array-like of shape (len(networks),), optional
            Ones by default; ``1 / len(networks)`` each for the average.
        """
        given = alike(networks)
        joined = join_parts([one.astype(np.float64)._parts() for one in given], coefficients)
        return cls(*joined).astype(common_dtype(*(one.dtype for one in given)))

    def fold_scaling(
        self,
        center: npt.ArrayLike,
        scale: npt.ArrayLike,
        output_center: npt.ArrayLike = 0.0,
        output_scale: npt.ArrayLike = 1.0,
    ) -> ReluNetwork:
        """The network in raw units, given this one in scaled units.

        This network reads ``(x - center) / scale`` and predicts
        ``(y - output_center) / output_scale``; the one returned reads `x` and predicts `y`.

        Parameters
        ----------
        center, scale : float or array-like of shape (n_features,)
            Scales are positive.
        output_center, output_scale : float or array-like of shape (n_outputs,)
        """
        middle = check_vector("center", center, self.n_features, "n_features")
        unit = check_positive("scale", scale, self.n_features, "n_features")
        level = check_vector("output_center", output_center, self.n_outputs, "n_outputs")
        spread = check_positive("output_scale", output_scale, self.n_outputs, "n_outputs")
        weights, linear = multiply_columns(self.weights, 1.0 / unit), self.linear / unit[:, None]
        return ReluNetwork(
            weights,
            self.bias - weights @ middle,
            self.beta * spread,
            level + spread * (self.intercept - middle @ linear),
            linear * spread,
        ).astype(self.dtype)

    def merge_parallel(self, tolerance: float = 1e-9) -> ReluNetwork:
        """The same function with neurons that repeat each other made one.

        Neurons whose weights and bias are positive multiples of each other become one, at the
        index of the first; neurons without weights go into the intercept; neurons whose `beta`
        is zero, or cancels to zero when merged, go. The linear part is unchanged.

        Parameters
        ----------
        tolerance : float, default 1e-9
            Relative difference of numbers that count as the same; at least 16 roundings.
        """
        limit = check_tolerance(tolerance, self.dtype)
        parts = self.dense().astype(np.float64)._parts()
        return ReluNetwork(*merge_parallel(parts, limit)).astype(self.dtype)

    def canonical(self, tolerance: float = 1e-9) -> ReluNetwork:
        """The form that all networks computing this function share.

        Each neuron's weights have Euclidean norm 1 and the first one that is not zero is
        positive (by ``relu(-z) = relu(z) - z``, the rest moves to the linear part and the
        intercept); no two neurons share a hyperplane, none is without effect, and they are in
        lexicographic order of weights and bias.

        Parameters
        ----------
        tolerance : float, default 1e-9
            As in `merge_parallel`; also the share of a neuron's largest weight below which another
            does not decide the orientation.
        """
        limit = check_tolerance(tolerance, self.dtype)
        parts = self.dense().astype(np.float64)._parts()
        return ReluNetwork(*canonical_form(parts, limit)).astype(self.dtype)

    # ------------------------------------------------------------------ adopting others

    @classmethod
    def from_mlp(cls, model: Any) -> ReluNetwork:
        """The raw score of a fitted scikit-learn MLP with one hidden layer of ReLUs.

        Predictions (their logarithms under the Poisson loss), log-odds (of two classes, or several
        labels) or log-probabilities up to a constant in each row (of more classes).
        """
        return cls(*read_mlp(model))

    @classmethod
    def from_torch(cls, module: Any) -> ReluNetwork:
        """The network in a torch module made of Linear, ReLU, Linear.

        They may be wrapped, and Dropout and Identity may stand between them. What a wrapper's own
        `forward` does besides (a sigmoid at the end, a skip connection) is not seen.
        """
        return cls(*read_torch(module))

    @classmethod
    def from_onnx(cls, model: Any, output: str | None = None) -> ReluNetwork:
        """The network in an ONNX file, its bytes or model, up to the tensor called `output`."""
        return cls(*read_onnx(model, output))


def _unpacked(packed: tuple[Any, ...], *rest: Floats) -> ReluNetwork:
    """A network of sparse weights from what a pickle keeps of it."""
    return ReluNetwork(unpack_csr(packed), *rest)
