"""Weights of a layer, (n_neurons, n_inputs): an array, or a CSR array where most are zero."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers, Weights

__all__ = [
    "dense_of",
    "equal_weights",
    "is_sparse",
    "lengths_of",
    "multiply_columns",
    "multiply_rows",
    "pack_csr",
    "read_only_csr",
    "single_weights",
    "stack_weights",
    "stored_columns",
    "unpack_csr",
]


def is_sparse(weights: object) -> TypeGuard[sparse.csr_array]:
    """Whether weights are held sparsely."""
    return sparse.issparse(weights)


def dense_of(weights: Weights) -> Floats:
    """The weights as an array."""
    return weights.toarray() if is_sparse(weights) else np.asarray(weights)


def equal_weights(one: Weights, other: Weights) -> bool:
    """Whether all weights are equal, however they are held."""
    if one.shape != other.shape:
        return False
    if not (is_sparse(one) or is_sparse(other)):
        return bool(np.array_equal(one, other))
    differs: Any = sparse.csr_array(one) != sparse.csr_array(other)
    return bool(differs.nnz == 0)


def read_only_csr(weights: object, dtype: np.dtype[np.floating]) -> sparse.csr_array:
    """A copy in CSR format, its columns ascending in every row, that cannot be written to."""
    given: Any = weights
    copied: sparse.csr_array = sparse.csr_array(given, dtype=dtype, copy=True)
    copied.sum_duplicates()
    for array in (copied.data, copied.indices, copied.indptr):
        array.setflags(write=False)
    return copied


def _all_stored(weights: Weights) -> sparse.csr_array:
    """As a CSR array; of an array all weights are stored, zeros among them."""
    if is_sparse(weights):
        return weights
    n, width = weights.shape
    index, ends = np.tile(np.arange(width), n), np.arange(0, n * width + 1, max(width, 1))
    return sparse.csr_array((np.ravel(weights), index, ends), shape=(n, width))


def single_weights(weights: Weights) -> Weights:
    """Sparse weights without zeros, in float32 where that has room for all of them."""
    copied: Weights = sparse.csr_array(weights, copy=True)
    copied.eliminate_zeros()
    size, limits = np.abs(copied.data), np.finfo(np.float32)
    fits = not size.size or (size.max() < limits.max and size.min() > limits.tiny)
    return copied.astype(np.float32) if fits else copied


def pack_csr(weights: Weights) -> tuple[Any, ...]:
    """What a pickle keeps: numbers of columns in as few bytes as they need."""
    kind = np.min_scalar_type(max(weights.shape[1] - 1, 0))
    counts = np.diff(weights.indptr)
    lengths = counts.astype(np.min_scalar_type(int(counts.max(initial=0))))
    return weights.data, weights.indices.astype(kind), lengths, weights.shape


def unpack_csr(packed: tuple[Any, ...]) -> Weights:
    """The sparse weights that were packed."""
    data, indices, lengths, shape = packed
    ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    return sparse.csr_array((data, indices.astype(np.int32), ends), shape=shape)


def multiply_columns(weights: Weights, factors: Floats) -> Weights:
    """Every column times its factor."""
    if not is_sparse(weights):
        return np.asarray(weights * factors)
    return _with_data(weights, weights.data * factors[weights.indices])


def multiply_rows(weights: Weights, factors: Floats) -> Weights:
    """Every row times its factor."""
    if not is_sparse(weights):
        return np.asarray(weights * factors[:, None])
    return _with_data(weights, weights.data * np.repeat(factors, np.diff(weights.indptr)))


def stack_weights(parts: Sequence[Weights], n_inputs: int) -> Weights:
    """All rows, in their order; sparse where one of the parts is."""
    kept = [part for part in parts if part.shape[0]]
    if any(is_sparse(part) for part in kept):
        return sparse.csr_array(sparse.vstack([_all_stored(part) for part in kept], "csr"))
    return np.vstack([np.zeros((0, n_inputs)), *kept])


def lengths_of(weights: Weights) -> Floats:
    """Euclidean length of each row."""
    if not is_sparse(weights):
        return np.asarray(np.linalg.norm(weights, axis=1))
    squares = np.square(weights.data, dtype=np.float64)
    return np.sqrt(np.bincount(_row_of(weights), squares, weights.shape[0]))


def stored_columns(weights: Weights, column_of: Integers, n_columns: int) -> sparse.csr_array:
    """Which columns each neuron reads, (n_neurons, n_columns), as 0 and 1.

    Parameters
    ----------
    column_of : (n_inputs,), the column that each input is of
    """
    held = weights if is_sparse(weights) else sparse.csr_array(weights)
    pairs = np.unique(_row_of(held).astype(np.int64) * n_columns + column_of[held.indices])
    rows, columns = np.divmod(pairs, n_columns)
    shape = (held.shape[0], n_columns)
    return sparse.csr_array((np.ones(len(pairs), dtype=np.int8), (rows, columns)), shape=shape)


def _row_of(weights: sparse.csr_array) -> Integers:
    """The row of each entry that is stored."""
    return np.repeat(np.arange(weights.shape[0]), np.diff(weights.indptr))


def _with_data(weights: sparse.csr_array, data: Floats) -> sparse.csr_array:
    return sparse.csr_array((data, weights.indices, weights.indptr), shape=weights.shape)
