"""A ReLU network of codes, read in the raw columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, final

import numpy as np
import numpy.typing as npt

from lifenet.kernels.checks import check_column
from lifenet.kernels.patterns import hash_words, pattern_keys
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.coded_bounds import ColumnBound, column_bounds
from lifenet.network.coded_moves import move_coded
from lifenet.network.coded_restriction import CodedRestriction
from lifenet.network.coded_segments import SegmentLayers, integrate_coded
from lifenet.network.coding import ColumnCoding
from lifenet.network.coding_checks import check_targets, read_ends
from lifenet.network.relu import ReluNetwork
from lifenet.network.tables import FEW_ROWS, ColumnTables

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network.grid import Cells

__all__ = ["CodedNetwork", "ColumnValue"]


class ColumnValue(NamedTuple):
    """What values of a column give.

    Attributes
    ----------
    heights : (n, a), to the neurons that read the column
    linear : (n, n_outputs), to the scores
    """

    heights: Floats
    linear: Floats


def _at(table: Floats, point: Integers, share: Floats) -> Floats:
    """Values of a table between its points, (n, width)."""
    here = table[point]
    return np.asarray(here + share * (table[point + 1] - here))


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
    rows there are. What reading needs of the weights is prepared once, when it is first asked for
    (see `ColumnTables`), and never pickled; any number of threads may read at the same time.

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
        """Rows whose heights of one group of neurons are held."""
        return row_blocks(len(rows), self.tables.width, rows.dtype)

    def _wide_blocks(self, rows: Floats) -> Iterator[slice]:
        """Rows whose heights of all neurons are held."""
        return row_blocks(len(rows), self.n_neurons, rows.dtype)

    # ------------------------------------------------------------------ what is prepared once

    @cached_property
    def tables(self) -> ColumnTables:
        """What each column gives to each neuron."""
        return ColumnTables(self.coding, self.network.weights, self._bias)

    @cached_property
    def segment_layers(self) -> SegmentLayers:
        """The neurons in the parts by which segments are integrated."""
        return SegmentLayers.of(self.tables)

    @cached_property
    def _bias(self) -> Floats:
        return self.network.bias.astype(np.float64)

    @cached_property
    def _beta(self) -> Floats:
        return self.network.beta.astype(np.float64)

    @cached_property
    def linear_at_points(self) -> Floats:
        """The linear part by column, at the points of the grid, (n_points, n_outputs)."""
        at_points = np.zeros((self.coding.grid.n_points, self.n_outputs))
        linear, coding = self.network.linear, self.coding
        for column in self._linear_columns.tolist():
            points = coding.grid.points_of(column)
            weights = linear[coding.codes_of(column)].astype(np.float64)
            at_points[points] = self.tables.at_knots(column, weights)
        return at_points

    @cached_property
    def _linear_columns(self) -> Integers:
        """Columns that the linear part reads."""
        used = self.network.linear.any(axis=1)
        return np.unique(self.coding.column_of_code[used])

    def linear_rates(self, column: int) -> Floats:
        """Slopes of the linear part in every bin of a column, (r + 1, n_outputs)."""
        weights = self.network.linear[self.coding.codes_of(column)].astype(np.float64)
        return self.tables.rates_of(column, weights)

    def _linear_score(self, cells: Cells) -> Floats:
        """Intercept and linear part, (n, n_outputs)."""
        score = np.tile(self.network.intercept.astype(np.float64), (len(cells), 1))
        columns = self._linear_columns
        if len(columns):
            still = np.zeros(len(columns), dtype=np.intp)
            score += cells.products(columns, still, self.linear_at_points)
        return score

    def linear_values(self, rows: Floats) -> Floats:
        """The linear part of checked rows by column, (n, n_features, n_outputs)."""
        values = np.zeros((*rows.shape, self.n_outputs))
        columns = self._linear_columns
        if len(columns):
            cells = self.coding.grid.locate(rows)
            point, share = cells.point[:, columns], cells.share[:, columns, None]
            here = self.linear_at_points[point]
            values[:, columns] = here + share * (self.linear_at_points[point + 1] - here)
        return values

    def _add_linear_slopes(self, cells: Cells, total: Floats) -> None:
        """Add the slopes of the linear part."""
        columns, at_points = self._linear_columns, self.linear_at_points
        if len(columns):
            point = cells.point[:, columns]
            rate = cells.inside[:, columns] / self.coding.grid.gap[point]
            total[:, columns] += (at_points[point + 1] - at_points[point]) * rate[:, :, None]

    def column_value(self, column: int, x: Floats) -> ColumnValue:
        """What values of one column give to the neurons that read it, and to the scores."""
        grid, table = self.coding.grid, self.tables.column_tables[column]
        cells = grid.locate_column(column, x)
        linear: Floats = np.zeros((len(x), self.n_outputs))
        if column in self._linear_columns:
            linear = _at(self.linear_at_points, cells.point[:, 0], cells.share)
        point = cells.point[:, 0] - grid.first[column]
        return ColumnValue(_at(table.at_knots, point, cells.share), linear)

    # ------------------------------------------------------------------ the hidden layer

    def hidden(self, X: npt.ArrayLike) -> Floats:
        """Output of each neuron, ``max(0, height)``, shape (n, n_neurons)."""
        rows = self._rows(X)
        hidden = np.empty((len(rows), self.n_neurons))
        for block in self._wide_blocks(rows):
            heights = self.tables.all_heights(self.coding.grid.locate(rows[block]))
            np.maximum(heights, 0, out=hidden[block])
        return hidden

    def active(self, X: npt.ArrayLike) -> Bools:
        """Whether each neuron's height is above zero, shape (n, n_neurons)."""
        rows = self._rows(X)
        active = np.empty((len(rows), self.n_neurons), dtype=np.bool_)
        for block in self._wide_blocks(rows):
            heights = self.tables.all_heights(self.coding.grid.locate(rows[block]))
            np.greater(heights, 0, out=active[block])
        return active

    # ------------------------------------------------------------------ reading it

    def score(self, X: npt.ArrayLike) -> Floats:
        """Value of the function, shape (n, n_outputs): the network's on the codes."""
        rows = self._rows(X)
        score = np.empty((len(rows), self.n_outputs))
        for block in self._blocks(rows):
            score[block] = self._score_cells(self.coding.grid.locate(rows[block]))
        return score

    def _score_cells(self, cells: Cells) -> Floats:
        score = self._linear_score(cells)
        if len(cells) <= FEW_ROWS:
            heights = self.tables.all_heights(cells)
            score += np.maximum(heights, 0, out=heights) @ self._beta
            return score
        for neurons, heights in self.tables.heights(cells):
            score += np.maximum(heights, 0, out=heights) @ self._beta[neurons]
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
        slopes = np.zeros((*rows.shape, self.n_outputs))
        constant = np.empty((len(rows), self.n_outputs))
        for block in self._blocks(rows):
            cells = self.coding.grid.locate(rows[block])
            constant[block] = self._pull_active(cells, slopes[block])
            constant[block] -= np.einsum("nj,njo->no", rows[block], slopes[block])
        return slopes, constant

    def _pull_active(self, cells: Cells, slopes: Floats) -> Floats:
        """Add the slopes of the active neurons and of the linear part; returns the scores."""
        score = self._linear_score(cells)
        self._add_linear_slopes(cells, slopes)
        if len(cells) <= FEW_ROWS:
            heights = self.tables.all_heights(cells)
            score += np.maximum(heights, 0) @ self._beta
            self.tables.pull_few(cells, (heights > 0).astype(np.float64), self._beta, slopes)
            return score

        def shares() -> Iterator[tuple[Integers, Floats]]:
            nonlocal score
            for neurons, heights in self.tables.heights(cells):
                active = (heights > 0).astype(np.float64)
                heights *= active
                score += heights @ self._beta[neurons]
                yield neurons, active

        self.tables.pull(cells, shares(), self._beta, slopes)
        return score

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
        for block in self._wide_blocks(rows):
            heights = self.tables.all_heights(self.coding.grid.locate(rows[block]))
            own = pattern_keys(heights > 0)
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
        return column_bounds(self, row, output)

    def along(self, X: npt.ArrayLike, column: int) -> CodedRestriction:
        """The function of one raw column, the others held at each row's values."""
        rows, index = self._rows(X), check_column(column, self.n_features)
        return CodedRestriction(self, rows, index)

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
        return move_coded(self, rows, goals)

    def segment(self, start: npt.ArrayLike, end: npt.ArrayLike) -> Floats:
        """Change of the score along the straight segment from `start` to `end`, by column.

        The segment is straight in the raw columns; each neuron is integrated exactly from one of
        the knots at which it bends to the next. Over the columns the parts sum to
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
        return integrate_coded(self, first, last)

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
