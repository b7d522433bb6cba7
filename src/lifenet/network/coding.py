"""The coding of columns as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from lifenet.kernels.checks import check_column
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.coding_checks import check_codes, check_names, read_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers

__all__ = ["ColumnCoding"]


@dataclass(frozen=True, eq=False)
class _Pieces:
    """The linear pieces of one column's codes, one a bin.

    In bin `b` the codes are ``level_b + slope_b (x - left_b) = constant_b + slope_b x``. The bins
    are ``x < t_1``, ``t_1 <= x < t_2``, ..., ``t_r <= x`` for knots `t`: the first and the last
    are flat. Without knots there is one bin, on which the code is `x`.
    """

    knots: Floats  # (r,)
    left: Floats  # (r + 1,)
    level: Floats  # (r + 1, k)
    slope: Floats  # (r + 1, k)
    constant: Floats  # (r + 1, k)

    @classmethod
    def of(cls, knots: Floats, values: Floats) -> _Pieces:
        """The pieces of codes given by their values at the knots."""
        if not len(knots):
            zero = np.zeros((1, 1))
            return cls(knots, np.zeros(1), zero, np.ones((1, 1)), zero)
        flat = np.zeros((1, values.shape[1]))
        rise = np.diff(values, axis=0) / np.diff(knots)[:, None]
        slope = np.vstack([flat, rise, flat])
        left, level = np.append(knots[:1], knots), np.vstack([values[:1], values])
        return cls(knots, left, level, slope, level - slope * left[:, None])

    def bins(self, x: Floats) -> Integers:
        """The number of the bin of each value, 0 to r."""
        return np.searchsorted(self.knots, x, side="right")

    def sides(self, x: Floats) -> Integers:
        """The bin whose slope a value has: the last knot's is that below, where its rows are."""
        return self.bins(x) - ((x == self.knots[-1]) if len(self.knots) > 1 else 0)

    def codes(self, x: Floats, bins: Integers) -> Floats:
        """Codes of values in known bins, (n, k)."""
        moved = x - self.left[bins]
        return np.asarray(self.level[bins] + self.slope[bins] * moved[:, None])


@final
@dataclass(frozen=True, init=False, eq=False, repr=False)
class ColumnCoding:
    """A map of every raw column into one or more codes, continuous and piecewise linear.

    The codes of a column are given by their values at its knots. They are linear between
    neighbouring knots and constant outside the first and the last, so that a network of codes
    does not extrapolate. A column without knots passes through unchanged, as a single code.

    The arrays are checked once, copied and read-only, all float64. Codes stand in the order of
    their columns. Two codings are equal when their arrays and names are.

    Parameters
    ----------
    knots : sequence of array-likes of shape (r_j,), or None
        For each column, where its codes may bend, strictly increasing; None (or nothing) for a
        column that passes through.
    values : sequence of array-likes of shape (r_j, k_j) or (r_j,), or None
        For each column, its codes at the knots; one-dimensional for a single code.
    names : sequence of str, optional
        Of the columns, for errors; x0, x1, ... by default.

    Examples
    --------
    >>> from lifenet.network import ColumnCoding
    >>> coding = ColumnCoding([[0.0, 1.0, 4.0], None], [[0.0, 2.0, 3.0], None])
    >>> coding.encode([[0.5, 7.0], [9.0, 8.0]]).tolist()
    [[1.0, 7.0], [3.0, 8.0]]
    """

    knots: tuple[Floats, ...]
    values: tuple[Floats, ...]
    names: tuple[str, ...]

    def __init__(
        self,
        knots: Sequence[npt.ArrayLike | None],
        values: Sequence[npt.ArrayLike | None],
        names: Sequence[str] | None = None,
    ) -> None:
        if len(knots) != len(values):
            raise ValueError(
                f"knots has {len(knots)} entries and values has {len(values)}; expected one a "
                "column in both"
            )
        labels = check_names(names, len(knots))
        columns = [check_codes(*one) for one in zip(labels, knots, values, strict=True)]
        width = [codes.shape[1] for _, codes in columns]
        place = np.repeat(np.arange(len(labels)), width)
        place.setflags(write=False)
        self._set("knots", tuple(places for places, _ in columns))
        self._set("values", tuple(codes for _, codes in columns))
        self._set("names", labels)
        self._set("_column_of_code", place)
        self._set("_first_code", np.concatenate([[0], np.cumsum(width)]))
        self._set("_pieces", tuple(_Pieces.of(*one) for one in columns))

    if TYPE_CHECKING:
        _column_of_code: Integers
        _first_code: Integers  # (n_features + 1,)
        _pieces: tuple[_Pieces, ...]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------------ the value

    @property
    def n_features(self) -> int:
        """Number of raw columns."""
        return len(self.names)

    @property
    def code_names(self) -> tuple[str, ...]:
        """A name for each code: its column's, with a number where the column has several."""
        widths = np.diff(self._first_code)
        return tuple(
            name if width == 1 else f"{name} [{number}]"
            for name, width in zip(self.names, widths, strict=True)
            for number in range(width)
        )

    @property
    def n_codes(self) -> int:
        """Number of codes of all columns together."""
        return len(self._column_of_code)

    @property
    def column_of_code(self) -> Integers:
        """The raw column of each code, (n_codes,), ascending."""
        return self._column_of_code

    def codes_of(self, column: int) -> slice:
        """Where the codes of a raw column stand among all codes."""
        index = check_column(column, self.n_features)
        return slice(int(self._first_code[index]), int(self._first_code[index + 1]))

    def kinks(self, column: int) -> Floats:
        """The knots of a raw column at which one of its codes changes its slope, ascending."""
        pieces = self._pieces[check_column(column, self.n_features)]
        bends = (np.diff(pieces.slope, axis=0) != 0).any(axis=1)
        return np.asarray(pieces.knots[bends])

    def __repr__(self) -> str:
        return f"ColumnCoding(n_features={self.n_features}, n_codes={self.n_codes})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ColumnCoding):
            return NotImplemented
        return self.names == other.names and self._first_difference(other) is None

    def __reduce__(self) -> tuple[type[ColumnCoding], tuple[Any, ...]]:
        # Copies and pickles are built by the constructor: numpy restores arrays as writable.
        return ColumnCoding, (self.knots, self.values, self.names)

    def _first_difference(self, other: ColumnCoding) -> str | None:
        """Name of the first column that `other`, of as many columns, codes otherwise."""
        for column, label in enumerate(self.names):
            if column >= other.n_features or not (
                np.array_equal(self.knots[column], other.knots[column])
                and np.array_equal(self.values[column], other.values[column])
            ):
                return label
        return None

    # ------------------------------------------------------------------ the map

    def encode(self, X: npt.ArrayLike) -> Floats:
        """Codes of the rows of a table, shape (n, n_codes), float64."""
        return self._encode(self._rows("X", X))

    def slopes(self, X: npt.ArrayLike) -> Floats:
        """Derivative of each code in its raw column, shape (n, n_codes).

        At a knot, that of the side above it; at the last one that of the side below.
        """
        return self._by_bin(self._rows("X", X), [pieces.slope for pieces in self._pieces])

    def intercepts(self, X: npt.ArrayLike) -> Floats:
        """Constant of the linear piece of each code, shape (n, n_codes).

        ``intercepts + slopes x`` is the code, `x` being the value in the code's raw column.
        """
        return self._by_bin(self._rows("X", X), [pieces.constant for pieces in self._pieces])

    def segments(self, X: npt.ArrayLike) -> Integers:
        """The bin of each value, shape (n, n_features): how many knots are not above it.

        The last knot belongs to the bin below it. 0 for a column without knots.
        """
        return self._bins(self._rows("X", X))

    def _rows(self, name: str, X: npt.ArrayLike) -> Floats:
        return read_rows(name, X, self.names)

    def _columns(self) -> Iterator[tuple[int, slice, _Pieces]]:
        """Number, place of the codes and pieces of each column."""
        for column, pieces in enumerate(self._pieces):
            yield column, slice(*self._first_code[column : column + 2].tolist()), pieces

    def _bins(self, rows: Floats) -> Integers:
        bins = np.zeros(rows.shape, dtype=np.intp)
        for column, _, pieces in self._columns():
            if len(pieces.knots):
                bins[:, column] = pieces.sides(rows[:, column])
        return bins

    def _by_bin(self, rows: Floats, tables: list[Floats]) -> Floats:
        """Entries of each column's table (r + 1, k) at the bins of the rows, (n, n_codes)."""
        found = np.empty((len(rows), self.n_codes))
        for column, place, pieces in self._columns():
            found[:, place] = tables[column][pieces.sides(rows[:, column])]
        return found

    def _encode(self, rows: Floats) -> Floats:
        """Codes of checked rows, some rows at a time."""
        codes = np.empty((len(rows), self.n_codes))
        for block in row_blocks(len(rows), self.n_codes, codes.dtype):
            for column, place, _ in self._columns():
                codes[block, place] = self._encode_column(column, rows[block, column])
        return codes

    def _encode_column(self, column: int, x: Floats) -> Floats:
        """Codes of values of one column, (n, k)."""
        pieces = self._pieces[column]
        return x[:, None] if not len(pieces.knots) else pieces.codes(x, pieces.bins(x))

    def _linear(self, rows: Floats) -> tuple[Floats, Floats, Floats]:
        """Codes, slopes and constants of checked rows, (n, n_codes) each."""
        codes, slopes, constants = np.empty((3, len(rows), self.n_codes))
        for column, place, pieces in self._columns():
            bins = pieces.bins(rows[:, column])
            codes[:, place] = pieces.codes(rows[:, column], bins)
            sides = pieces.sides(rows[:, column])
            slopes[:, place] = pieces.slope[sides]
            constants[:, place] = pieces.constant[sides]
        return codes, slopes, constants

    def _by_column(self, parts: Floats) -> Floats:
        """Sum parts by code, (n, n_codes, ...), over the codes of each raw column."""
        return np.add.reduceat(parts, self._first_code[:-1], axis=1)
