"""The coding of columns as a frozen value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, final

import numpy as np

from lifenet.kernels.checks import check_column
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.coding_checks import check_codes, check_names, read_rows
from lifenet.network.grid import Grid

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.network.grid import Cells

__all__ = ["ColumnCoding", "PackedCodes"]


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


class _Held(NamedTuple):
    """Codes of one column at its knots, ramps by where they rise.

    A ramp rises from 0 to 1 between two neighbouring knots.

    Attributes
    ----------
    plain : (r, k_plain), values of the codes that are no ramps
    rises : (k,), the knot from which each code rises; -1 for codes that are no ramps
    """

    plain: Floats
    rises: Integers

    @classmethod
    def of(cls, values: Floats) -> _Held:
        """Of values (r, k) at the knots."""
        r, k = values.shape
        rises = np.full(k, -1, dtype=np.int32)
        if r > 1:
            low = (values == 0).sum(axis=0)
            known = low + (values == 1).sum(axis=0) == r
            steps = known & (low > 0) & (low < r)
            # As many zeros as there are come first where the values never fall.
            steps &= (np.diff(values, axis=0) >= 0).all(axis=0)
            rises[steps] = low[steps] - 1
        plain = np.array(values[:, rises < 0], order="C")
        plain.setflags(write=False)
        rises.setflags(write=False)
        return cls(plain, rises)

    def values(self) -> Floats:
        """Values (r, k) at the knots, read-only."""
        table = np.empty((len(self.plain), len(self.rises)))
        ramps = self.rises >= 0
        table[:, ~ramps] = self.plain
        table[:, ramps] = np.arange(len(table))[:, None] > self.rises[ramps]
        table.setflags(write=False)
        return table


class PackedCodes(NamedTuple):
    """Codes of one column in few numbers.

    Attributes
    ----------
    knots : (r,), ascending; none for a column that passes through
    plain : (r, k_plain), values at the knots of the codes that are no ramps
    rises : (k,), the knot from which each code rises from 0 to 1; -1 for codes that are no ramps
    """

    knots: Floats
    plain: Floats
    rises: Integers


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
        self._fill(check_codes(*one) for one in zip(labels, knots, values, strict=True))
        self._set("names", labels)

    def _fill(self, columns: Iterable[tuple[Floats, Floats]]) -> None:
        """Take knots and values of the columns, of one after the other."""
        pairs = [(places, _Held.of(levels)) for places, levels in columns]
        width = [len(one.rises) for _, one in pairs]
        place = np.repeat(np.arange(len(pairs)), width)
        place.setflags(write=False)
        self._set("knots", tuple(knots for knots, _ in pairs))
        self._set("_held", tuple(held for _, held in pairs))
        self._set("_column_of_code", place)
        self._set("_first_code", np.concatenate([[0], np.cumsum(width)]))

    if TYPE_CHECKING:
        _held: tuple[_Held, ...]
        _column_of_code: Integers
        _first_code: Integers  # (n_features + 1,)

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    # ------------------------------------------------------------------ the value

    @property
    def packed(self) -> tuple[tuple[PackedCodes, ...], tuple[str, ...]]:
        """The codes of each column in few numbers, and the names of the columns."""
        pairs = zip(self.knots, self._held, strict=True)
        return tuple(PackedCodes(knots, *held) for knots, held in pairs), self.names

    @classmethod
    def unpacked(cls, columns: Sequence[PackedCodes], names: Sequence[str]) -> ColumnCoding:
        """A coding from what `packed` gives, checked like any other."""
        labels, coding = check_names(names, len(columns)), object.__new__(cls)
        coding._fill(
            check_codes(label, one.knots, _Held(one.plain, one.rises).values())
            for label, one in zip(labels, columns, strict=True)
        )
        coding._set("names", labels)
        return coding

    @property
    def values(self) -> tuple[Floats, ...]:
        """For each column, its codes at the knots, (r_j, k_j)."""
        return tuple(one.values() for one in self._held)

    def values_of(self, column: int) -> Floats:
        """The codes of one column at its knots, (r_j, k_j)."""
        return self._held[check_column(column, self.n_features)].values()

    def bin_slopes(self, column: int) -> Floats:
        """Slopes of one column's codes in every bin, (r_j + 1, k_j); the outer ones are zero."""
        return self._pieces[check_column(column, self.n_features)].slope

    @cached_property
    def grid(self) -> Grid:
        """The knots of all columns."""
        return Grid.of(self.knots)

    @cached_property
    def ramp_of_code(self) -> Integers:
        """The point of the grid from which each code rises to 1 at the next; -1 for no ramp."""
        first = np.repeat(self.grid.first[:-1], np.diff(self._first_code))
        rises = np.concatenate([one.rises for one in self._held])
        return np.where(rises < 0, -1, first + rises)

    @cached_property
    def plain_codes(self) -> Integers:
        """Codes that are none of several ramps of their column, ascending."""
        alone = np.repeat(np.diff(self._first_code) == 1, np.diff(self._first_code))
        return np.flatnonzero(alone | (self.ramp_of_code < 0))

    @cached_property
    def _plain_tables(self) -> tuple[Floats, Integers]:
        """Plain codes at the points of the grid, column by column side by side.

        Returns
        -------
        tables : (n_points, width), a column's plain codes at its own points, zeros after them
        place : (n_plain,), column times width plus number within the column, of each plain code
        """
        codes = self.plain_codes
        columns = self._column_of_code[codes]
        width = int(np.bincount(columns, minlength=self.n_features).max(initial=1))
        number = np.arange(len(codes)) - np.searchsorted(columns, columns)
        tables = np.zeros((self.grid.n_points, width))
        for column in np.unique(columns).tolist():
            own = slice(*np.searchsorted(codes, self._first_code[column : column + 2]).tolist())
            points = tables[self.grid.points_of(column), : own.stop - own.start]
            if len(self.knots[column]):
                inside = codes[own] - self._first_code[column]
                points[...] = self._held[column].values()[:, inside]
            else:  # the code is the value itself: points 0 and 1
                points[1] = 1.0
        return tables, columns * width + number

    def plain_values(self, cells: Cells) -> Floats:
        """Values of the plain codes, (n, n_plain)."""
        tables, place = self._plain_tables
        share = cells.share[:, :, None]
        values = np.take(tables, cells.point, axis=0)
        values *= 1 - share
        above = np.take(tables, cells.point + 1, axis=0)
        above *= share
        values += above
        return np.take(values.reshape(len(cells), -1), place, axis=1)

    def plain_slopes(self, cells: Cells) -> Floats:
        """Slopes of the plain codes in their columns, (n, n_plain)."""
        tables, place = self._plain_tables
        rise = tables[cells.point + 1] - tables[cells.point]
        rise *= (cells.inside / self.grid.gap[cells.point])[:, :, None]
        return np.asarray(rise.reshape(len(cells), -1)[:, place])

    @cached_property
    def _pieces(self) -> tuple[_Pieces, ...]:
        pairs = zip(self.knots, self._held, strict=True)
        return tuple(_Pieces.of(knots, held.values()) for knots, held in pairs)

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

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        # Copies and pickles are built anew: numpy restores arrays as writable.
        return _rebuilt, (self.knots, tuple(tuple(one) for one in self._held), self.names)

    def _first_difference(self, other: ColumnCoding) -> str | None:
        """Name of the first column that `other`, of as many columns, codes otherwise."""
        for column, label in enumerate(self.names):
            if column >= other.n_features or not (
                np.array_equal(self.knots[column], other.knots[column])
                and all(map(np.array_equal, self._held[column], other._held[column]))
            ):
                return label
        return None

    # ------------------------------------------------------------------ the map

    def encode(self, X: npt.ArrayLike) -> Floats:
        """Codes of the rows of a table, shape (n, n_codes), float64."""
        return self.encode_checked(self._rows("X", X))

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
        for column, knots in enumerate(self.knots):
            if len(knots):
                x = rows[:, column]
                last = (x == knots[-1]) if len(knots) > 1 else 0
                bins[:, column] = np.searchsorted(knots, x, side="right") - last
        return bins

    def _by_bin(self, rows: Floats, tables: list[Floats]) -> Floats:
        """Entries of each column's table (r + 1, k) at the bins of the rows, (n, n_codes)."""
        found = np.empty((len(rows), self.n_codes))
        for column, place, pieces in self._columns():
            found[:, place] = tables[column][pieces.sides(rows[:, column])]
        return found

    def encode_checked(self, rows: Floats) -> Floats:
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


def _rebuilt(
    knots: tuple[Floats, ...], held: tuple[tuple[Floats, Integers], ...], names: tuple[str, ...]
) -> ColumnCoding:
    """A coding from what a pickle keeps of one, checked like any other."""
    pairs = zip(knots, held, strict=True)
    return ColumnCoding.unpacked([PackedCodes(places, *one) for places, one in pairs], names)
