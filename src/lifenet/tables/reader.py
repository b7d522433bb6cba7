"""Tables of any kind as columns: pandas, polars and pyarrow, arrays, lists, sparse matrices."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from scipy import sparse

from lifenet.kernels.numbers import LARGEST, describe_number
from lifenet.tables.columns import (
    Column,
    Labels,
    Numbers,
    Times,
    as_labels,
    coded_objects,
    is_missing,
    read_objects,
)
from lifenet.tables.times import DAY, days_of_array, length_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    import numpy.typing as npt

    from lifenet._typing import Bools, Floats

__all__ = ["Faults", "Table", "frame_of", "names_of", "read_table"]

#: Faults that are written out; the others are counted.
_MOST_FAULTS = 20


class Faults:
    """What is wrong with a table: collected, so that one error tells of all columns."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, text: str) -> None:
        """Note a fault, in a sentence."""
        self.found.append(text)

    def raise_any(self) -> None:
        """Raise one error for all that was found."""
        if len(self.found) == 1:
            raise ValueError(self.found[0])
        if self.found:
            more = len(self.found) - _MOST_FAULTS
            lines = [f"- {one}" for one in self.found[:_MOST_FAULTS]]
            lines += [f"- and {more} more"] if more > 0 else []
            raise ValueError("\n".join([f"{len(self.found)} columns cannot be read:", *lines]))


@dataclass(frozen=True, eq=False)
class Table:
    """Columns of a table, read.

    Attributes
    ----------
    names : one a column, for messages
    matrix : (n_rows, n_columns), where all columns are numbers and were one array; else None
    columns : one a column; none where there is a matrix
    """

    names: tuple[str, ...]
    n_rows: int
    matrix: Floats | None = None
    columns: tuple[Column, ...] = ()

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def __getitem__(self, column: int) -> Column:
        if self.matrix is None:
            return self.columns[column]
        return Numbers(self.matrix[:, column].astype(np.float64, copy=False))

    @property
    def is_plain(self) -> bool:
        """Whether all of it is numbers, none of them missing."""
        if self.matrix is not None:
            return not np.isnan(self.matrix).any()
        return all(
            isinstance(one, Numbers) and not one.boolean and not one.missing.any()
            for one in self.columns
        )

    def take(self, rows: Bools) -> Table:
        """Some of the rows."""
        matrix = None if self.matrix is None else self.matrix[rows]
        columns = tuple(_taken(one, rows) for one in self.columns)
        return Table(self.names, int(rows.sum()), matrix, columns)

    def numbers(self) -> Floats:
        """A plain table as an array, (n_rows, n_columns)."""
        if self.matrix is not None:
            return self.matrix
        table = np.empty((self.n_rows, self.n_columns))
        for number, column in enumerate(self.columns):
            assert isinstance(column, Numbers)
            table[:, number] = column.values
        return table


def _taken(column: Column, rows: Bools) -> Column:
    if isinstance(column, Labels):
        return Labels(column.codes[rows], column.labels)
    if isinstance(column, Times):
        return Times(column.values[rows], column.duration)
    return Numbers(column.values[rows], column.boolean)


def frame_of(X: Any) -> nw.DataFrame[Any] | None:
    """A data frame of any library behind one interface; None where it is none."""
    if isinstance(X, nw.DataFrame):
        return X
    if hasattr(X, "collect_schema") and hasattr(X, "collect"):
        raise ValueError("X is a lazy frame, which holds no rows yet. Pass X.collect().")
    if isinstance(X, np.ndarray | list | tuple) or sparse.issparse(X):
        return None
    _refuse_twice(X)
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame if isinstance(frame, nw.DataFrame) else None


def _refuse_twice(X: Any) -> None:
    """Raise where two columns have one name, which no frame library reads by name."""
    names = list(getattr(X, "column_names", getattr(X, "columns", ())))
    if len({str(name) for name in names}) < len(names):
        texts = [str(name) for name in names]
        twice = sorted({text for text in texts if texts.count(text) > 1})
        raise ValueError(
            f"X has several columns called {', '.join(map(repr, twice))}. Rename them, so that "
            "each name is one column's."
        )


def names_of(X: Any) -> list[str] | None:
    """Names of a frame's columns, where all are text; None for anything else."""
    frame = frame_of(X)
    if frame is None:
        return None
    names = list(frame.columns)
    return names if names and all(isinstance(name, str) for name in names) else None


def read_table(
    X: Any, names: Sequence[str] | None = None, *, undated: Container[str] = ()
) -> Table:
    """The columns of a table.

    Parameters
    ----------
    X : data frame, or array of shape (n_rows, n_columns)
    names : of the columns, for messages; those of a frame, or x0, x1, ...
    undated : names of columns whose text is not to be read as dates

    Raises
    ------
    ValueError
        One that names every column that cannot be read, and what to do.
    """
    frame = frame_of(X)
    if frame is not None:
        labels, n_rows = tuple(str(name) for name in frame.columns), frame.shape[0]
        matrix = _as_matrix(frame)
        cells = [_Cells(frame[:, at]) for at in range(frame.shape[1] if matrix is None else 0)]
    else:
        X = X if isinstance(X, np.ndarray) else np.asarray(X)
        _check_shape(X, names)
        labels, n_rows = tuple(names) if names is not None else _default(X.shape[1]), len(X)
        matrix = _as_floats(X) if X.dtype.kind in "biuf" else None
        cells = [_Cells(X[:, at]) for at in range(X.shape[1] if matrix is None else 0)]
    columns = () if matrix is not None else _read(cells, labels, undated)
    table = Table(labels, n_rows, matrix, columns)
    _refuse_infinite(table)
    return table


def _read(
    cells: Sequence[_Cells], labels: Sequence[str], undated: Container[str]
) -> tuple[Column, ...]:
    """The columns, or one error that names all that cannot be read."""
    columns: list[Column] = []
    faults = Faults()
    for number, (label, one) in enumerate(zip(labels, cells, strict=True)):
        try:
            columns.append(one.read(dates=label not in undated))
        except ValueError as error:
            faults.add(f"Column {label!r} (number {number}) {error}.")
    faults.raise_any()
    return tuple(columns)


def _as_floats(X: npt.NDArray[Any]) -> Floats:
    return X if X.dtype.kind == "f" else X.astype(np.float64)


def _as_matrix(frame: nw.DataFrame[Any]) -> Floats | None:
    """A frame that holds nothing but numbers, read at once; None for any other."""
    kinds = frame.schema.values()
    if not all(kind.is_numeric() and not isinstance(kind, nw.Decimal) for kind in kinds):
        return None
    table = frame.to_numpy()
    return _as_floats(table) if table.dtype.kind in "iuf" and table.ndim == 2 else None


def _check_shape(X: Any, names: Sequence[str] | None) -> None:
    if X.ndim != 2:
        raise ValueError(
            f"X must be a table, a data frame or an array of two dimensions; it has {X.ndim}. Of a "
            "single row make [row], of a single column X.reshape(-1, 1)."
        )
    if names is not None and len(names) != X.shape[1]:
        raise ValueError(
            f"X has {X.shape[1]} columns, and should have {len(names)}: {', '.join(names)}."
        )


def _default(n_columns: int) -> tuple[str, ...]:
    return tuple(f"x{column}" for column in range(n_columns))


def _refuse_infinite(table: Table) -> None:
    """Raise an error that names the first cell of each column that is infinite or too large."""
    faults = Faults()
    if table.matrix is not None:
        with np.errstate(invalid="ignore"):
            if not (np.abs(table.matrix) > LARGEST).any():
                return
    for number, label in enumerate(table.names):
        column = table[number]
        if isinstance(column, Labels):
            continue
        with np.errstate(invalid="ignore"):
            wrong = np.flatnonzero(np.abs(column.values) > LARGEST)
        if len(wrong):
            kind, remedy = describe_number(float(column.values[wrong[0]]))
            faults.add(
                f"Input X contains {kind}: column {label!r} (number {number}), row {wrong[0]}. "
                f"{remedy}"
            )
    faults.raise_any()


@dataclass(frozen=True, eq=False)
class _Cells:
    """A column as it was given: of a frame, or of an array."""

    given: Any

    def read(self, *, dates: bool) -> Column:
        """Its values."""
        if isinstance(self.given, np.ndarray):
            return self._of_array(dates)
        dtype = self.given.dtype
        for fits, read in _READERS:
            if fits(dtype):
                return read(self.given)
        if isinstance(dtype, nw.Struct | nw.List | nw.Array):
            raise ValueError(f"holds {dtype}, several values in a cell. Give each a column")
        return read_objects(self.given.to_list(), dates=dates)

    def _of_array(self, dates: bool) -> Column:
        kind = self.given.dtype.kind
        if kind in "Mm":
            return Times(days_of_array(self.given), duration=kind == "m")
        if kind == "c":
            raise ValueError("holds complex numbers. Give their parts a column each")
        if kind == "S":
            raise ValueError("holds bytes. Decode them to text first")
        return read_objects(self.given.tolist(), dates=dates)


def _read_numbers(series: nw.Series[Any]) -> Numbers:
    try:
        return Numbers(np.array(series.cast(nw.Float64()).to_numpy(), dtype=np.float64))
    except (ValueError, TypeError):
        # pyarrow refuses integers that float64 has not all digits of, and old pandas its own NA.
        return _read_one_by_one(series)


def _read_one_by_one(series: nw.Series[Any]) -> Numbers:
    """Numbers as Python rounds them; libraries differ in the last digit of decimals."""
    values = [np.nan if is_missing(one) else float(one) for one in series.to_list()]
    return Numbers(np.array(values, dtype=np.float64))


def _read_truths(series: nw.Series[Any]) -> Numbers:
    return Numbers(_read_numbers(series).values, boolean=True)


def _read_times(series: nw.Series[Any]) -> Times:
    if isinstance(series.dtype, nw.Datetime) and series.dtype.time_zone is not None:
        series = series.dt.replace_time_zone(None)
    if not isinstance(series.dtype, nw.Datetime):
        series = series.cast(nw.Datetime("us"))
    since = _read_numbers(series.dt.timestamp("us")).values
    return Times(since / DAY)


def _read_durations(series: nw.Series[Any]) -> Times:
    given = series.to_numpy()
    if given.dtype.kind == "m":  # a sum of pandas' seconds and their fraction is not exact
        return Times(days_of_array(given), duration=True)
    try:
        length = _read_numbers(series.dt.total_microseconds()).values
    except AttributeError:  # old pandas knows no durations of pyarrow
        lengths = [np.nan if is_missing(one) else length_of(one) for one in series.to_list()]
        return Times(np.array(lengths, dtype=np.float64), duration=True)
    return Times(length / DAY, duration=True)


def _read_labels(series: nw.Series[Any]) -> Labels:
    """Categories by dtype: dates and numbers among them are labels, too."""
    coded = coded_objects(series.to_list())
    if coded.labels and all(isinstance(one, _TIMES) for one in coded.labels):
        return as_labels(read_objects(series.to_list()))  # equal to those of other frames
    return coded


def _read_nothing(series: nw.Series[Any]) -> Numbers:
    return Numbers(np.full(len(series), np.nan))


_TIMES = (datetime.date, datetime.timedelta, np.datetime64, np.timedelta64)
_READERS: tuple[tuple[Callable[[Any], bool], Callable[[Any], Column]], ...] = (
    (lambda dtype: isinstance(dtype, nw.Decimal), _read_one_by_one),
    (lambda dtype: dtype.is_numeric(), _read_numbers),
    (lambda dtype: isinstance(dtype, nw.Boolean), _read_truths),
    (lambda dtype: isinstance(dtype, nw.Date | nw.Datetime), _read_times),
    (lambda dtype: isinstance(dtype, nw.Duration), _read_durations),
    (lambda dtype: isinstance(dtype, nw.Categorical | nw.Enum), _read_labels),
)
