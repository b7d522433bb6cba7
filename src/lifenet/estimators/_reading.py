"""Reading what users pass to fit and predict: frames of any library, arrays, sparse matrices."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import _check_y, check_consistent_length, validate_data

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
    if 0 in frame.shape or len(frame) < 2:
        n, p = frame.shape
        found = f"{n} sample(s)" if p else "0 feature(s)"
        least = 2 if p else 1
        raise ValueError(
            f"Found array with {found} (shape=({n}, {p})) while a minimum of {least} is required."
        )
    y = _check_y(y, multi_output=False, y_numeric=y_numeric, estimator=estimator)
    check_consistent_length(frame, y)
    texts, named = [str(name) for name in frame.columns], names_of(frame) is not None
    table = read_table(frame, undated=_undated(estimator, texts, named=named))
    estimator.n_features_in_ = table.n_columns
    names = names_of(frame)
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
    if frame_of(X) is not None:
        if y is not None:
            numeric = checks.get("y_numeric", False)
            y = _check_y(y, multi_output=False, y_numeric=numeric, estimator=estimator)
            check_consistent_length(X, y)
        if not coding.named and names_of(X) is not None:
            warnings.warn(
                f"X has feature names, but {type(estimator).__name__} was fitted without feature "
                "names; its columns are taken in the order they have.",
                stacklevel=5,
            )
        return coding.read(X), y
    X, y = _checked_array(estimator, X, y, reset=False, **checks)
    return coding.read(X), y


def _checked_array(estimator: Any, X: Any, y: Any, *, reset: bool, **checks: Any) -> Any:
    """An array of numbers, or of objects; sparse matrices of numbers are laid out."""
    if not isinstance(X, np.ndarray) and not sparse.issparse(X) and not hasattr(X, "dtype"):
        given = np.asarray(X)
        # Lists that mix text and numbers: as an array of text their numbers would be text, too.
        X = np.asarray(X, dtype=object) if given.dtype.kind in "US" and given.ndim == 2 else given
    kind = getattr(getattr(X, "dtype", None), "kind", "O")
    dtype: Any = None if kind in "OUSmM" else [np.float64, np.float32]
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
                f"categorical_features is a mask of {len(chosen)} columns; X has {n_columns}."
            )
        return np.flatnonzero(chosen)
    if chosen.size == 0:
        return np.zeros(0, dtype=np.intp)
    if chosen.dtype.kind in "iu":
        wrong = chosen[(chosen < 0) | (chosen >= n_columns)]
        if len(wrong):
            raise ValueError(
                f"categorical_features holds column {wrong[0]}; X has {n_columns} columns, from 0 "
                f"to {n_columns - 1}."
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
            f"categorical_features names {unknown}, which X does not have; its columns are "
            f"{', '.join(map(repr, names))}."
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
