"""Reading what users pass to fit and predict: frames of any library, arrays, sparse matrices."""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_y, validate_data

from lifenet.tables import Labels, frame_of, names_of, read_table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Integers
    from lifenet.tables import Table, TableCoding

__all__ = ["categorical_columns", "read_new", "read_training"]

_NUMBERS_AS_TEXT = (
    "Column {!r} holds text, and every cell that has any reads as a number; it is taken as "
    "categories. If amounts are meant, make numbers of it first."
)


def read_training(estimator: Any, X: Any, y: Any, *, y_numeric: bool) -> tuple[Table, Any]:
    """A table and its target, as `fit` receives them; sets `n_features_in_` and names."""
    frame = frame_of(X)
    if frame is None:
        checks: dict[str, Any] = {"ensure_min_samples": 2, "y_numeric": y_numeric}
        array, y = _checked_array(estimator, X, y, reset=True, **checks)
        default = [f"x{column}" for column in range(array.shape[1])]
        return read_table(array, undated=_undated(estimator, default, named=False)), y
    _check_lengths(frame, y)
    if 0 in frame.shape or len(frame) < 2:
        n, p = frame.shape
        found = f"{n} sample(s)" if p else "0 feature(s)"
        least = 2 if p else 1
        raise ValueError(
            f"Found array with {found} (shape=({n}, {p})) while a minimum of {least} is required."
        )
    y = _check_y(y, multi_output=False, y_numeric=y_numeric, estimator=estimator)
    texts, names = [str(name) for name in frame.columns], names_of(frame)
    table = read_table(frame, undated=_undated(estimator, texts, named=names is not None))
    estimator.n_features_in_ = table.n_columns
    if names is not None:
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    else:
        _refuse_mixed_names(frame)
        vars(estimator).pop("feature_names_in_", None)
    return table, y


def _undated(estimator: Any, names: Sequence[str], *, named: bool) -> set[str]:
    """Columns that the user says are categories: their text is not read as dates."""
    chosen = categorical_columns(estimator.categorical_features, names, named=named)
    return set() if chosen is None else {names[column] for column in chosen}


def read_new(
    estimator: Any, coding: TableCoding, X: Any, y: Any = None, **checks: Any
) -> tuple[Table, Any]:
    """New rows as a table with the columns of training, and their target where one is given."""
    frame = frame_of(X)
    if frame is not None:
        _check_lengths(frame, y)
        if y is not None:
            numeric = checks.get("y_numeric", False)
            y = _check_y(y, multi_output=False, y_numeric=numeric, estimator=estimator)
        if not len(frame):
            raise ValueError(
                f"Found array with 0 sample(s) (shape={frame.shape}) while a minimum of 1 is "
                "required. Give X at least one row."
            )
        if not coding.named and names_of(X) is not None:
            warnings.warn(
                f"X has feature names, but {type(estimator).__name__} was fitted without feature "
                "names; its columns are taken in the order they have.",
                stacklevel=5,
            )
        return coding.read(X), y
    X, y = _checked_array(estimator, X, y, reset=False, **checks)
    return coding.read(X), y


def _check_lengths(X: Any, y: Any) -> None:
    """Raise where X and y have another number of rows."""
    try:
        n, n_targets = (one.shape[0] if hasattr(one, "shape") else len(one) for one in (X, y))
    except (TypeError, IndexError):  # no rows: what is wrong with it is told later
        return
    if n != n_targets:
        raise ValueError(
            f"X has {n} rows and y has {n_targets}: inconsistent numbers of samples. Give each row "
            "one target."
        )


def _checked_array(estimator: Any, X: Any, y: Any, *, reset: bool, **checks: Any) -> Any:
    """An array of numbers, or of objects; sparse matrices of numbers are laid out."""
    X = _array_of(X)
    _check_lengths(X, y)
    dtype: Any = None if X.dtype.kind in "OUSmM" else [np.float64, np.float32]
    more = {} if y is None else {"y": y}
    found = validate_data(
        estimator,
        X,
        **more,
        reset=reset,
        dtype=dtype,
        accept_sparse=True,
        ensure_all_finite=False,
        **(checks if y is not None else {}),
    )
    X, y = found if y is not None else (found, None)
    return (np.asarray(X.toarray()) if hasattr(X, "toarray") else X), y


def _array_of(X: Any) -> Any:
    """What is no data frame as an array, unless it is one or a sparse matrix."""
    if sparse.issparse(X) or hasattr(X, "iloc"):
        _refuse_kind(getattr(getattr(X, "dtype", None), "kind", ""))
        return X
    if X is None or isinstance(X, str | bytes | dict | set) or hasattr(X, "__next__"):
        raise ValueError(
            f"X is a {type(X).__name__}, which is no table. Give a data frame, an array of two "
            "dimensions or a list of rows."
        )
    if isinstance(X, np.ma.MaskedArray):
        table: Any = np.asarray(X.data).astype(object) if np.ma.is_masked(X) else X.data
        if np.ma.is_masked(X):
            table[np.ma.getmaskarray(X)] = None
        return table
    if not isinstance(X, np.ndarray) and not hasattr(X, "dtype"):
        _refuse_ragged(X)
        given = np.asarray(X)
        # Lists that mix text and numbers: as an array of text their numbers would be text, too.
        X = np.asarray(X, dtype=object) if given.dtype.kind in "US" and given.ndim == 2 else given
    X = np.asanyarray(X)
    _refuse_kind(X.dtype.kind)
    return X.astype(object) if X.dtype.kind == "T" else X


def _refuse_kind(kind: str) -> None:
    """Raise where numbers are complex, or rows are records."""
    if kind == "c":
        raise ValueError(
            "Complex data not supported: X holds complex numbers. Give their real and imaginary "
            "parts a column each."
        )
    if kind == "V":
        raise ValueError("X is an array of records. Make a data frame of it: pandas.DataFrame(X).")


def _refuse_ragged(X: Any) -> None:
    """Name the first row of a list that is longer or shorter than the row before."""
    if not isinstance(X, list | tuple):
        return
    lengths = [len(row) if isinstance(row, list | tuple) else -1 for row in X]
    for row, (before, length) in enumerate(pairwise(lengths), start=1):
        if before != length:
            raise ValueError(
                f"Row {row} of X has {_cells(length)}, and row {row - 1} has {_cells(before)}. "
                "Give every row as many."
            )


def _cells(length: int) -> str:
    return "one value" if length < 0 else f"{length} values"


def _refuse_mixed_names(frame: Any) -> None:
    """Raise as scikit-learn does where only some names are text."""
    kinds = sorted({type(name).__name__ for name in frame.columns})
    if "str" in kinds:
        raise TypeError(
            "Feature names are only supported if all input features have string names, but your "
            f"input has {kinds} as feature name / column name types. Rename the columns, as with "
            "X.columns = X.columns.astype(str)."
        )


def categorical_columns(given: Any, names: Sequence[str], *, named: bool) -> Integers | None:
    """Indices of the columns that the user says are categories; None to go by their dtypes."""
    n_columns = len(names)
    if isinstance(given, str) and given == "from_dtype":
        return None
    if given is None:
        return np.zeros(0, dtype=np.intp)
    chosen = np.atleast_1d(np.asarray(given))
    if chosen.dtype.kind == "b":
        if chosen.shape != (n_columns,):
            raise ValueError(
                f"categorical_features is a mask of {len(chosen)} columns; X has {n_columns}. "
                "Give one truth value a column."
            )
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.intp)
    if chosen.dtype.kind in "iu":
        wrong = chosen[(chosen < 0) | (chosen >= n_columns)]
        if len(wrong):
            raise ValueError(
                f"categorical_features holds column {wrong[0]}; X has {n_columns} columns. "
                f"Give numbers from 0 to {n_columns - 1}."
            )
        return np.unique(chosen).astype(np.intp)
    if not named:
        raise ValueError(
            "categorical_features names columns, and the columns of X have no names; give a data "
            "frame, a mask, or indices of columns."
        )
    unknown = [name for name in chosen.tolist() if name not in names]
    if unknown:
        raise ValueError(
            f"categorical_features names {unknown}, which X does not have. Give names of "
            f"its columns: {', '.join(map(repr, names))}."
        )
    return np.array(sorted(list(names).index(name) for name in set(chosen.tolist())), dtype=np.intp)


def warn_of_numbers_as_text(table: Table, *, chosen: bool) -> None:
    """Say of text that reads as numbers that it is taken as categories, unless the user said so."""
    if chosen or table.matrix is not None:
        return
    for name, column in zip(table.names, table.columns, strict=True):
        if isinstance(column, Labels) and column.labels and column.is_text:
            texts = [one for one in column.labels if one.strip()]
            if texts and all(map(_reads_as_number, texts)):
                warnings.warn(_NUMBERS_AS_TEXT.format(name), stacklevel=6)


def _reads_as_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
