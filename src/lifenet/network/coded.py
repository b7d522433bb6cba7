"""A ReLU network of codes, read in the raw columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import check_column
from lifenet.kernels.patterns import hash_words
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.coded_bounds import ColumnBound, column_bounds
from lifenet.network.coded_moves import move_coded
from lifenet.network.coded_restriction import CodedRestriction
from lifenet.network.coded_segments import integrate_coded
from lifenet.network.coding import ColumnCoding
from lifenet.network.coding_checks import check_targets, read_ends
from lifenet.network.equations import mix_equations, neuron_equations
from lifenet.network.relu import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lifenet._typing import Floats, Integers

__all__ = ["CodedNetwork"]


@final
@dataclass(frozen=True, repr=False)
class CodedNetwork:
    """A ReLU network of the codes of raw columns, as a function of the raw columns.

    The codes are continuous and piecewise linear, so this function is too, and it offers the
    whole reading interface, `PiecewiseLinear`, exactly. Slopes follow by the chain rule: the
    slope in column `j` is the sum over its codes `c` of ``dcode_c/dx_j`` times the network's slope
    in code `c`. At a knot the slopes are those of the side above it, at the last one of the side
    below.

    Results are float64. Tables are worked through in blocks: beyond the result, or the local
    equations of all rows where a part of them is asked for, a few megabytes suffice however many
    rows there are.

    Parameters
    ----------
    coding : ColumnCoding
    network : ReluNetwork
        It reads the codes: ``network.n_features == coding.n_codes``.

    Examples
    --------
    >>> from lifenet.network import CodedNetwork, ColumnCoding
    >>> from lifenet.network import ReluNetwork
    >>> coding = ColumnCoding([[0.0, 1.0, 4.0]], [[0.0, 2.0, 3.0]])
    >>> hinge = CodedNetwork(coding, ReluNetwork([[1.0]], [-1.0], [2.0], 0.0))
    >>> hinge.score([[0.25], [1.0], [9.0]]).ravel().tolist()
    [0.0, 2.0, 4.0]
    """

    coding: ColumnCoding
    network: ReluNetwork

    def __post_init__(self) -> None:
        """Check that the network reads the codes."""
        for name, kind in (("coding", ColumnCoding), ("network", ReluNetwork)):
            given = getattr(self, name)
            if not isinstance(given, kind):
                raise TypeError(f"{name} must be a {kind.__name__}; it is {given!r}")
        if self.network.n_features != self.coding.n_codes:
            raise ValueError(
                f"the network reads {self.network.n_features} columns and the coding gives "
                f"{self.coding.n_codes} codes; train the network on coding.encode(X)"
            )

    # ------------------------------------------------------------------ the value

    @property
    def n_features(self) -> int:
        """Number of raw columns."""
        return self.coding.n_features

    @property
    def n_outputs(self) -> int:
        """Number of scores that it gives."""
        return self.network.n_outputs

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return self.network.n_neurons

    @property
    def column_of_code(self) -> Integers:
        """The column that each code follows, (n_codes,)."""
        return self.coding.column_of_code

    def encode(self, X: npt.ArrayLike) -> Floats:
        """Codes of rows, which the network reads, (n, n_codes)."""
        return self.coding.encode(X)

    def __repr__(self) -> str:
        return f"CodedNetwork({self.coding!r}, {self.network!r})"

    def __reduce__(self) -> tuple[type[CodedNetwork], tuple[ColumnCoding, ReluNetwork]]:
        return CodedNetwork, (self.coding, self.network)

    def _rows(self, X: npt.ArrayLike) -> Floats:
        return self.coding._rows("X", X)

    def _blocks(self, rows: Floats) -> Iterator[slice]:
        width = max(self.n_neurons, self.coding.n_codes * self.n_outputs)
        return row_blocks(len(rows), width, rows.dtype)

    # ------------------------------------------------------------------ reading it

    def score(self, X: npt.ArrayLike) -> Floats:
        """Value of the function, shape (n, n_outputs): the network's on the codes."""
        rows = self._rows(X)
        score = np.empty((len(rows), self.n_outputs))
        for block in self._blocks(rows):
            score[block] = self.network.score(self.coding._encode(rows[block]))
        return score

    def equation(self, X: npt.ArrayLike) -> tuple[Floats, Floats]:
        """Slopes and constant of the linear piece that each row lies on.

        ``constant + sum_j x_j slopes_j`` is the score. On a kink, both are those of the side on
        which the neuron is inactive; at a knot, those of the side above it, at the last one of
        the side below. Slopes are zero in a column whose value lies outside its knots.

        Returns
        -------
        slopes : ndarray of shape (n, n_features, n_outputs)
        constant : ndarray of shape (n, n_outputs)
        """
        rows = self._rows(X)
        slopes = np.empty((*rows.shape, self.n_outputs))
        constant = np.empty((len(rows), self.n_outputs))
        terms = neuron_equations(self.network, rows.dtype)
        for block in self._blocks(rows):
            codes, code_slopes, code_constants = self.coding._linear(rows[block])
            inner, level = mix_equations(self.network, self.network._share(codes), terms)
            np.einsum("nc,nco->no", code_constants, inner, out=constant[block])
            constant[block] += level
            inner *= code_slopes[:, :, None]
            slopes[block] = self.coding._by_column(inner)
        return slopes, constant

    def gradient(self, X: npt.ArrayLike) -> Floats:
        """Slopes of each row's `equation`, shape (n, n_features, n_outputs)."""
        return self.equation(X)[0]

    def local_intercept(self, X: npt.ArrayLike) -> Floats:
        """Constant of each row's `equation`, shape (n, n_outputs)."""
        return self.equation(X)[1]

    def contributions(self, X: npt.ArrayLike) -> Floats:
        """Each raw column times its local slope, shape (n, n_features, n_outputs).

        With the local intercept, the contributions of a row sum to its score.
        """
        rows = self._rows(X)
        gradient = self.gradient(rows)
        gradient *= rows[:, :, None]
        return gradient

    def region_keys(self, X: npt.ArrayLike) -> npt.NDArray[np.uint64]:
        """A key for the linear region of each row: its active neurons and its bins.

        A 64-bit hash of the network's key and the bin of each column that has knots; where no
        column has, the network's own key.

        Returns
        -------
        ndarray of uint64, shape (n,)
        """
        rows = self._rows(X)
        keys = np.empty(len(rows), dtype=np.uint64)
        coded = [column for column, knots in enumerate(self.coding.knots) if len(knots)]
        for block in self._blocks(rows):
            own = self.network.region_keys(self.coding._encode(rows[block]))
            bins = self.coding._bins(rows[block])[:, coded].astype(np.uint64)
            keys[block] = hash_words(np.column_stack([own, bins])) if coded else own
        return keys

    def limits(self, x: npt.ArrayLike, output: int = 0) -> Floats:
        """Between which values of each raw column, the others held, a row's equation holds.

        Parameters
        ----------
        x : array-like of shape (n_features,)

        Returns
        -------
        ndarray of shape (n_features, 2)
            The values of `bounds`; infinite where nothing changes the equation that way.
        """
        ends = np.tile([-np.inf, np.inf], (self.n_features, 1))
        for bound in self.bounds(x, output):
            ends[bound.column, int(bound.upper)] = bound.value
        return ends

    def bounds(self, x: npt.ArrayLike, output: int = 0) -> tuple[ColumnBound, ...]:
        """Where a row's equation changes as one raw column alone moves, and why.

        For each column the nearest value below and above the row's at which a neuron switches
        or a knot changes the slope; absent where nothing changes the equation that way.

        Parameters
        ----------
        x : array-like of shape (n_features,)
        """
        row = self._rows(np.atleast_2d(np.asarray(x)))[0]
        return column_bounds(self.coding, self.network, row, output)

    def along(self, X: npt.ArrayLike, column: int) -> CodedRestriction:
        """The function of one raw column, the others held at each row's values."""
        rows, index = self._rows(X), check_column(column, self.n_features)
        return CodedRestriction(self.coding, self.network, rows, index)

    def moves(self, X: npt.ArrayLike, targets: npt.ArrayLike) -> Floats:
        """Change of the score as each raw column alone goes to another value, the others held.

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
        goals = check_targets(targets, rows, self.coding.names)
        return move_coded(self.coding, self.network, rows, goals)

    def segment(self, start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
        """Change of the score along the straight segment from `start` to `end`, by column.

        The segment is straight in the raw columns; it is cut at the knots that it crosses, and
        each piece is integrated exactly. Over the columns the parts sum to
        ``score(end) - score(start)``.

        Parameters
        ----------
        start, end : array-like of shape (n, n_features), (1, n_features) or (n_features,)
            A single row is the end of every segment.

        Returns
        -------
        ndarray of shape (n, n_features, n_outputs)
        """
        first, last = read_ends(start, end, self.coding.names)
        return integrate_coded(self.coding, self.network, first, last)

    # ------------------------------------------------------------------ making others of it

    def select(self, neurons: npt.ArrayLike) -> CodedNetwork:
        """The network with some of its neurons: indices in the order wanted, or a mask."""
        return CodedNetwork(self.coding, self.network.select(neurons))

    def with_readout(
        self,
        beta: npt.ArrayLike,
        intercept: npt.ArrayLike,
        linear: npt.ArrayLike | None = None,
    ) -> CodedNetwork:
        """The same neurons under another read-out; `linear` is unchanged unless given."""
        return CodedNetwork(self.coding, self.network.with_readout(beta, intercept, linear))

    def merge_parallel(self, tolerance: float = 1e-9) -> CodedNetwork:
        """The same function with neurons that repeat each other made one."""
        return CodedNetwork(self.coding, self.network.merge_parallel(tolerance))

    @classmethod
    def concatenate(
        cls, networks: Iterable[CodedNetwork], coefficients: npt.ArrayLike | None = None
    ) -> CodedNetwork:
        """The weighted sum ``sum_i coefficients_i f_i`` of networks with one coding.

        Parameters
        ----------
        networks : iterable of CodedNetwork
            At least one, all with equal codings and as many outputs.
        coefficients : array-like of shape (len(networks),), optional
            Ones by default.
        """
        members = list(networks)
        coding = _shared_coding(members)
        joined = ReluNetwork.concatenate([member.network for member in members], coefficients)
        return cls(coding, joined)

    @classmethod
    def average(cls, networks: Iterable[CodedNetwork]) -> CodedNetwork:
        """The mean of networks with one coding, as one network."""
        members = list(networks)
        return cls.concatenate(members, np.full(len(members), 1 / max(1, len(members))))


def _shared_coding(networks: list[CodedNetwork]) -> ColumnCoding:
    """The coding that all networks have."""
    if not networks:
        raise ValueError("networks is empty; expected at least one")
    shared = networks[0].coding
    for index, member in enumerate(networks):
        if member.coding == shared:
            continue
        other = shared._first_difference(member.coding)
        where = f"codes column {other!r} in another way" if other else "has other columns"
        raise ValueError(
            f"networks[{index}] {where} than networks[0]; learn one coding from all rows and "
            "train every network on its codes"
        )
    return shared
