"""What a coding is made of and what it reads, checked once; errors name the column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.checks import check_positions, check_rows
from lifenet.kernels.numbers import LARGEST, describe_number
from lifenet.kernels.row_blocks import row_blocks
from lifenet.schema import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats

__all__ = ["check_codes", "check_names", "check_targets", "read_ends", "read_rows"]

_DOUBLE = np.dtype(np.float64)


def check_names(names: Sequence[str] | None, n_features: int) -> tuple[str, ...]:
    """Names of the columns: as many as there are, each once."""
    if not n_features:
        raise ValueError("knots is empty; expected an entry for each of at least one column")
    if names is None:
        return default_names(n_features)
    labels = tuple(str(name) for name in names)
    if len(labels) != n_features:
        raise ValueError(f"names has {len(labels)} entries for {n_features} columns")
    repeated = sorted({label for label in labels if labels.count(label) > 1})
    if repeated:
        raise ValueError(f"names must differ; {', '.join(repeated)} came twice")
    return labels


def check_codes(
    label: str, knots: npt.ArrayLike | None, values: npt.ArrayLike | None
) -> tuple[Floats, Floats]:
    """Knots (r,) and values (r, k) of one column, read-only; without knots, (0,) and (0, 1)."""
    bare = knots is None or np.size(knots) == 0
    if bare and values is not None and np.size(values):
        raise ValueError(f"column {label!r} has values but no knots; give both or neither")
    if knots is None or bare:
        return _frozen(np.zeros(0)), _frozen(np.zeros((0, 1)))
    if values is None:
        raise ValueError(f"column {label!r} has knots but no values; give both or neither")
    places = check_positions(f"knots of column {label!r}", knots)
    _refuse_disorder(label, places)
    levels = _levels(label, values, len(places))
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(places)
        slopes = np.diff(levels, axis=0) / gaps[:, None]
        usable = np.isfinite(slopes * np.abs(places).max()).all(axis=1) & np.isfinite(gaps)
    if not usable.all():
        at = int(np.flatnonzero(~usable)[0])
        raise ValueError(
            f"knots {places[at]} and {places[at + 1]} of column {label!r} give no usable slope; "
            "leave one of them out, or rescale the column"
        )
    return _frozen(places), _frozen(levels)


def _refuse_disorder(label: str, places: Floats) -> None:
    """Raise on the first knot that is not above the one before."""
    wrong = np.flatnonzero(places[1:] <= places[:-1])
    if len(wrong):
        at = int(wrong[0]) + 1
        raise ValueError(
            f"knots of column {label!r} must increase strictly; entry {at} is {places[at]} after "
            f"{places[at - 1]}. Sort them and keep each once, as numpy.unique does"
        )


def _levels(label: str, values: npt.ArrayLike, n_knots: int) -> Floats:
    """Values of the codes at the knots, (n_knots, k) with k >= 1."""
    name = f"values of column {label!r}"
    table = np.asarray(values)
    table = table[:, None] if table.ndim == 1 else table
    if table.ndim != 2 or len(table) != n_knots or not table.shape[1]:
        raise ValueError(
            f"{name} has shape {np.shape(values)}; expected ({n_knots},) or ({n_knots}, n_codes), "
            "a row for each knot"
        )
    return check_rows(name, table, table.shape[1], _DOUBLE)


def read_rows(name: str, value: npt.ArrayLike, labels: tuple[str, ...]) -> Floats:
    """Read a table of float64 with the columns named by `labels`, all usable numbers."""
    table = _as_numbers(name, value, labels)
    if table.ndim != 2 or table.shape[1] != len(labels):
        shown = ", ".join(labels[:8]) + (", ..." if len(labels) > 8 else "")
        raise ValueError(
            f"{name} has shape {table.shape}; expected (n_rows, {len(labels)}), with the columns "
            f"{shown} of the coding"
        )
    for block in row_blocks(len(table), len(labels), _DOUBLE):
        _refuse_unusable(name, table[block], labels, block.start)
    return table


def read_ends(
    start: npt.ArrayLike, end: npt.ArrayLike, labels: tuple[str, ...]
) -> tuple[Floats, Floats]:
    """Read the ends of n segments, (n, p) each; a single row is the end of every segment."""
    first, last = (
        read_rows(name, np.atleast_2d(np.asarray(value)), labels)
        for name, value in (("start", start), ("end", end))
    )
    if len(first) != len(last) and 1 not in (len(first), len(last)):
        raise ValueError(
            f"start has {len(first)} rows and end has {len(last)}; expected as many in both, "
            "or a single row in one of them"
        )
    n_rows = len(first) if len(last) == 1 else len(last)
    shape = (n_rows, len(labels))
    return np.broadcast_to(first, shape), np.broadcast_to(last, shape)


def check_targets(targets: npt.ArrayLike, rows: Floats, labels: tuple[str, ...]) -> Floats:
    """Read where to go from each cell, (s, n, p)."""
    array = _as_numbers("targets", targets, labels)
    if array.ndim != 3 or array.shape[1:] != rows.shape:
        n, p = rows.shape
        raise ValueError(
            f"targets has shape {array.shape}; expected (s, {n}, {p}), values to go to from each "
            "cell of X"
        )
    for place, table in enumerate(array):
        _refuse_unusable(f"targets[{place}]", table, labels, 0)
    return array


def _as_numbers(name: str, value: npt.ArrayLike, labels: tuple[str, ...]) -> Floats:
    """Any array of numbers as float64; frames of mixed columns come as arrays of objects."""
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return _unboxed(name, array, labels)
    if array.dtype.kind not in "biuf":
        raise TypeError(
            f"{name} must hold real numbers; its dtype is {array.dtype}. Code categories as "
            "numbers, as in training"
        )
    return array.astype(np.float64, copy=False)


def _unboxed(name: str, array: npt.NDArray[np.object_], labels: tuple[str, ...]) -> Floats:
    """Numbers out of objects, or an error that names the column that holds something else."""
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        place = ""
        for column, label in enumerate(labels if array.ndim == 2 else ()):
            if column < array.shape[1] and not _holds_numbers(array[:, column]):
                place = f" in column {label!r}"
                break
        raise TypeError(
            f"{name} must hold real numbers; {error}{place}. Code categories as numbers, as in "
            "training"
        ) from error


def _holds_numbers(column: npt.NDArray[np.object_]) -> bool:
    try:
        column.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _refuse_unusable(name: str, table: Floats, labels: tuple[str, ...], first_row: int) -> None:
    """Raise on the first cell that is NaN, infinite or too large, with what to do about it."""
    with np.errstate(invalid="ignore"):
        usable = np.abs(table) <= LARGEST
    if usable.all():
        return
    row, column = (int(place) for place in np.argwhere(~usable)[0])
    kind, remedy = describe_number(float(table[row, column]))
    raise ValueError(
        f"{name} contains {kind}: column {labels[column]!r} (number {column}), row "
        f"{first_row + row}. {remedy}"
    )


def _frozen(array: Floats) -> Floats:
    """A read-only copy that nobody else holds."""
    copied = np.array(array, dtype=np.float64, order="C")
    copied.setflags(write=False)
    return copied
