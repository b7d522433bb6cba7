"""What comes in from outside is checked here, once; past this border shapes are facts."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from lifenet.kernels.row_blocks import row_blocks
from lifenet.kernels.weights import is_sparse, read_only_csr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lifenet._typing import Floats, Integers

__all__ = [
    "check_column",
    "check_ends",
    "check_network",
    "check_positions",
    "check_positive",
    "check_rows",
    "check_targets",
    "check_tolerance",
    "check_vector",
    "check_weight",
    "common_dtype",
    "neuron_indices",
]


def common_dtype(*dtypes: np.dtype[np.generic]) -> np.dtype[np.floating]:
    """float32 where every one of `dtypes` is float32, else float64."""
    single = all(dtype == np.float32 for dtype in dtypes)
    return np.dtype(np.float32) if single else np.dtype(np.float64)


def check_network(given: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]:
    """Copy the arrays of a network to read-only ones of one dtype and of matching shapes.

    Python numbers have no say in the dtype, as in numpy's own promotion; sparse weights have none
    either, and keep their own.
    """
    if is_sparse(given["weights"]):
        return _check_sparse_network(given)
    arrays = {name: _numeric(name, value) for name, value in given.items()}
    dtype = common_dtype(*(a.dtype for n, a in arrays.items() if not _is_number(given[n])))
    with np.errstate(over="ignore"):  # what overflows is refused by name below
        floats = {name: array.astype(dtype) for name, array in arrays.items()}
    for name, array in floats.items():
        _refuse_nonfinite(name, array)
    shaped = _shape_network(floats)
    return {name: _freeze(array, dtype) for name, array in shaped.items()}


def _check_sparse_network(given: Mapping[str, npt.ArrayLike]) -> dict[str, Floats]:
    """The same for weights in a sparse array, which become a CSR array."""
    weights = cast("Any", given["weights"])
    if weights.dtype.kind not in "biuf":
        raise TypeError(f"weights must hold real numbers; its dtype is {weights.dtype}")
    held = read_only_csr(weights, common_dtype(weights.dtype))
    _refuse_nonfinite("weights", held.data)
    # Everything else is checked as it would be beside as many neurons of no column.
    m, p = held.shape
    if not p:
        raise ValueError(
            f"weights has shape {held.shape}; expected (n_neurons, n_features) with n_features >= 1"
        )
    linear = given.get("linear")
    if linear is not None and np.shape(linear)[:1] != (p,):
        raise _misshapen("linear", np.asarray(linear), f"({p}, n_outputs)")
    rest = {name: value for name, value in given.items() if name not in ("weights", "linear")}
    checked = check_network({"weights": np.zeros((m, 1), dtype=np.float32), **rest})
    q, dtype = checked["beta"].shape[1], checked["bias"].dtype
    given_slopes = np.zeros((p, q)) if linear is None else _numeric("linear", linear)
    slopes = _as_columns(given_slopes.astype(np.float64))
    _refuse_nonfinite("linear", slopes)
    if slopes.shape != (p, q):
        raise _misshapen("linear", slopes, f"({p}, {q}), that is (n_features, n_outputs)")
    return {**checked, "weights": cast("Floats", held), "linear": _freeze(slopes, dtype)}


def _shape_network(arrays: Mapping[str, Floats]) -> dict[str, Floats]:
    """Bring the arrays of a network to their full shapes, or say which does not fit."""
    weights, bias = arrays["weights"], arrays["bias"]
    if weights.ndim != 2 or not weights.shape[1]:
        raise _misshapen("weights", weights, "(n_neurons, n_features) with n_features >= 1")
    m, p = weights.shape
    if bias.shape != (m,):
        raise _misshapen("bias", bias, f"({m},), one entry for each row of weights")
    beta = _as_columns(arrays["beta"])
    if beta.ndim != 2 or len(beta) != m or not beta.shape[1]:
        raise _misshapen("beta", arrays["beta"], f"({m},) or ({m}, n_outputs), a row a neuron")
    q = beta.shape[1]
    intercept = _spread("intercept", arrays["intercept"], q, "n_outputs")
    given = arrays.get("linear", np.zeros((p, q), dtype=weights.dtype))
    linear = _as_columns(given)
    if linear.shape != (p, q):
        raise _misshapen("linear", given, f"({p}, {q}), that is (n_features, n_outputs)")
    return {
        "weights": weights,
        "bias": bias,
        "beta": beta,
        "intercept": intercept,
        "linear": linear,
    }


def check_rows(
    name: str, value: npt.ArrayLike, n_features: int, dtype: np.dtype[np.floating]
) -> Floats:
    """Read a table of `n_features` finite columns, in the dtype it shares with the network."""
    table = _numeric(name, _unboxed(value))
    if table.ndim != 2:
        raise ValueError(
            f"{name} must be two-dimensional, rows by columns; it has shape {table.shape}"
        )
    if table.shape[1] != n_features:
        raise ValueError(
            f"{name} has {table.shape[1]} columns; the network reads n_features={n_features}"
        )
    rows: Floats = table.astype(common_dtype(table.dtype, dtype), copy=False)
    for block in row_blocks(len(rows), n_features, rows.dtype):
        _refuse_nonfinite(name, rows[block], first_row=block.start)
    return rows


def check_ends(
    start: npt.ArrayLike, end: npt.ArrayLike, n_features: int, dtype: np.dtype[np.floating]
) -> tuple[Floats, Floats]:
    """Read the ends of n segments, (n, p) or (1, p) each, in one dtype."""
    first = check_rows("start", _as_row("start", start), n_features, dtype)
    last = check_rows("end", _as_row("end", end), n_features, dtype)
    if len(first) != len(last) and 1 not in (len(first), len(last)):
        raise ValueError(
            f"start has {len(first)} rows and end has {len(last)}; expected as many in both, "
            f"or a single row in one of them"
        )
    both = common_dtype(first.dtype, last.dtype)
    return first.astype(both, copy=False), last.astype(both, copy=False)


def check_targets(targets: npt.ArrayLike, rows: Floats) -> Floats:
    """Read where to go from each cell, and return the steps, (s, n, p) in the dtype of the rows."""
    array: Floats = _numeric("targets", targets).astype(np.float64, copy=False)
    if array.ndim != 3 or array.shape[1:] != rows.shape:
        n, p = rows.shape
        raise _misshapen("targets", array, f"(s, {n}, {p}), values to go to from each cell of X")
    steps: Floats = (array - rows).astype(
        rows.dtype, copy=False
    )  # before rounding to float32, not after
    if not np.isfinite(steps).all():
        which, row, column = (int(i) for i in np.argwhere(~np.isfinite(steps))[0])
        raise ValueError(
            f"targets must be finite; targets[{which}] holds {array[which, row, column]} at row "
            f"{row}, column {column}"
        )
    return steps


def check_column(column: int, n_features: int) -> int:
    """Read the number of a column of a table with `n_features` of them."""
    try:
        index = operator.index(column)
    except TypeError as error:
        raise TypeError(f"column must be an integer; it is {column!r}") from error
    if not 0 <= index < n_features:
        raise IndexError(
            f"column is {index}; the network reads columns 0 to {n_features - 1} "
            f"(n_features={n_features})"
        )
    return index


def check_vector(name: str, value: npt.ArrayLike, length: int, axis: str) -> Floats:
    """Read a number, or one for each of the `length` places along `axis`, as (length,)."""
    array = _numeric(name, value).astype(np.float64, copy=False)
    _refuse_nonfinite(name, array)
    return _spread(name, array, length, axis)


def check_positive(name: str, value: npt.ArrayLike, length: int, axis: str) -> Floats:
    """Read what `check_vector` reads, and refuse what is not above zero."""
    array = check_vector(name, value, length, axis)
    wrong = np.flatnonzero(array <= 0)
    if len(wrong):
        raise ValueError(f"{name} must be positive; entry {wrong[0]} is {array[wrong[0]]}")
    return array


def check_positions(name: str, value: npt.ArrayLike) -> Floats:
    """Read a finite one-dimensional array of any length."""
    array: Floats = _numeric(name, value).astype(np.float64, copy=False)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; it has shape {array.shape}")
    _refuse_nonfinite(name, array)
    return array


def check_weight(weight: npt.ArrayLike, n_rows: int) -> Floats:
    """Read one weight a row: finite, not negative, not all zero."""
    array = check_positions("weight", weight)
    if len(array) != n_rows:
        raise ValueError(f"weight has shape {array.shape}; expected ({n_rows},), one a row of X")
    negative = np.flatnonzero(array < 0)
    if len(negative):
        raise ValueError(
            f"weight must not be negative; entry {negative[0]} is {array[negative[0]]}"
        )
    if not array.any():
        raise ValueError("weight is zero everywhere; at least one entry must be positive")
    return array


def check_tolerance(tolerance: float, dtype: np.dtype[np.floating]) -> float:
    """Read a relative tolerance; it is never less than a few roundings of `dtype`."""
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance must be at least 0 and below 1; it is {tolerance}")
    return max(float(tolerance), 16 * float(np.finfo(dtype).eps))


def neuron_indices(neurons: npt.ArrayLike, n_neurons: int) -> Integers:
    """Read a boolean mask over the neurons, or a list of their indices, as indices."""
    chosen = np.asarray(neurons)
    if chosen.dtype == np.bool_ and chosen.shape == (n_neurons,):
        return np.flatnonzero(chosen)
    if chosen.dtype == np.bool_ or chosen.ndim != 1:
        raise ValueError(
            f"neurons has shape {chosen.shape} and dtype {chosen.dtype}; expected indices in one "
            f"dimension or a boolean mask of shape ({n_neurons},)"
        )
    if not len(chosen):
        return np.zeros(0, dtype=np.intp)
    if chosen.dtype.kind not in "iu":
        raise TypeError(f"neurons must be integers or booleans; its dtype is {chosen.dtype}")
    outside = chosen[(chosen < 0) | (chosen >= n_neurons)]
    if len(outside):
        raise IndexError(f"neurons holds {outside[0]}; the network has n_neurons={n_neurons}")
    return chosen


def _numeric(name: str, value: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Read an array of real numbers, of any shape."""
    try:
        array = np.asarray(value)
    except ValueError as error:
        raise ValueError(f"{name} cannot be read as an array: {error}") from error
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers; its dtype is {array.dtype}")
    return array


def _unboxed(value: npt.ArrayLike) -> npt.ArrayLike:
    """Numbers out of an array of objects, which is what a frame of floats and booleans becomes."""
    array = np.asarray(value)
    if array.dtype.kind != "O":
        return array
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError):
        return array


def _is_number(value: object) -> bool:
    """Whether `value` is a number of Python's own (numpy's float64 inherits from float)."""
    return isinstance(value, int | float) and not isinstance(value, np.generic)


def _refuse_nonfinite(name: str, array: Floats, first_row: int = 0) -> None:
    """Raise on the first entry that is infinite or not a number, and say where it is."""
    if np.isfinite(array).all():
        return
    index = [int(i) for i in np.argwhere(~np.isfinite(array))[0]]
    found = array[tuple(index)]
    raise ValueError(f"{name} must be finite; it holds {found}{_place(index, first_row)}")


def _place(index: Sequence[int], first_row: int) -> str:
    """Say in words where in an array an entry is."""
    if not index:
        return ""
    row = first_row + index[0]
    return f" at row {row}, column {index[1]}" if len(index) > 1 else f" at entry {row}"


def _misshapen(name: str, array: Floats, expected: str) -> ValueError:
    return ValueError(f"{name} has shape {array.shape}; expected {expected}")


def _as_columns(array: Floats) -> Floats:
    """Take a one-dimensional array as a single column."""
    return array[:, None] if array.ndim == 1 else array


def _as_row(name: str, value: npt.ArrayLike) -> npt.NDArray[np.generic]:
    """Take a one-dimensional array as a single row."""
    array = _numeric(name, value)
    return array[None] if array.ndim == 1 else array


def _spread(name: str, array: Floats, length: int, axis: str) -> Floats:
    """Repeat a single number along `axis`, or check that there is one for each place."""
    if array.shape not in ((), (length,)):
        raise _misshapen(name, array, f"a number or ({length},), that is ({axis},)")
    return np.broadcast_to(array, (length,))


def _freeze(array: Floats, dtype: np.dtype[np.floating]) -> Floats:
    """Copy to a read-only array that nobody else holds."""
    frozen: Floats = np.array(array, dtype=dtype, order="C")
    frozen.setflags(write=False)
    return frozen
