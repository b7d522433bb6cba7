"""The hot loop: the Gram matrix of a masked design, symmetric twice.

The Jacobian of a ReLU layer on frozen activation patterns has one column for each neuron ``j`` and
input ``a``, with entries ``1{j active} x_a``. Its weighted Gram matrix

    G[(j, a), (k, c)] = sum_i w_i 1{j, k active} x_ia x_ic

is symmetric in ``(j, k)`` *and* in ``(a, c)``. So it needs only the table over the pairs
``j <= k`` and ``a <= c``: one product of two thin matrices, half the operations of ``syrk`` on the
Jacobian, which is never formed. The intercept's row comes free, since ``1{j}·1{j} = 1{j}``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers

__all__ = [
    "block_rows_for_gram",
    "gram_fits",
    "masked_gradient",
    "masked_gram_diagonal",
    "masked_gram_product",
    "masked_gram_table",
    "n_pairs",
    "unfold_gram",
]

# Pair products are formed block by block and read once by gemm. Measured on a 512 kB L2 cache:
# fewer than 256 rows pay for Python's calls, tables much above 8 MB leave the last-level cache.
# Of narrow networks a block has up to 4,096 rows: with 1,024 two threads wait for each other's
# Python calls (a fit of 20,000 rows in 7.1 s instead of 6.5 s; in one thread 12.0 s and 11.1 s).
_BLOCK_BYTES = 8 << 20
_MIN_ROWS, _MAX_ROWS = 128, 4096


def n_pairs(n: int) -> int:
    """Number of pairs ``j <= k`` among ``n`` things."""
    return n * (n + 1) // 2


def block_rows_for_gram(n_neurons: int, n_inputs: int) -> int:
    """Rows a block should have so that its pair products stay in the cache."""
    columns = n_pairs(n_neurons) + n_pairs(n_inputs)
    return int(np.clip(_BLOCK_BYTES // (8 * columns), _MIN_ROWS, _MAX_ROWS))


def gram_fits(n_neurons: int, n_inputs: int, most_columns: int) -> bool:
    """Whether a Gram matrix of these sizes, and the pair products of a block, are small enough."""
    pairs = n_pairs(n_neurons) + n_pairs(n_inputs)
    return n_neurons * n_inputs <= most_columns and 8 * pairs * _MIN_ROWS <= 4 * _BLOCK_BYTES


def masked_gram_table(active: Bools, inputs: Floats, weight: Floats) -> Floats:
    """Sums of ``w 1{j} 1{k} x_a x_c`` over a block, for the pairs ``j <= k`` and ``a <= c``.

    Parameters
    ----------
    active : (n_neurons, n_rows)
    inputs : (n_inputs, n_rows)
    weight : (n_rows,)

    Returns
    -------
    (n_pairs(n_neurons), n_pairs(n_inputs))
    """
    # Masks are paired as bytes and widened once: three times faster than multiplying floats.
    masks = _pair(np.logical_and, active).astype(np.float64)
    products = _pair(np.multiply, inputs)
    products *= weight
    return masks @ products.T


def _pair(operation: np.ufunc, rows: Bools | Floats) -> Floats:
    """Apply a commutative `operation` to all pairs ``j <= k`` of rows."""
    n = len(rows)
    pairs: Floats = np.empty((n_pairs(n), rows.shape[1]), dtype=rows.dtype)
    stop = 0
    for j in range(n):
        start, stop = stop, stop + n - j
        operation(rows[j:], rows[j], out=pairs[start:stop])
    return pairs


def unfold_gram(table: Floats, total: float, n_neurons: int, n_inputs: int) -> Floats:
    """The whole Gram matrix from its table of pairs, the intercept's row and column last.

    Parameters
    ----------
    table : (n_pairs(n_neurons), n_pairs(n_inputs)), as summed by `masked_gram_table`
    total : the sum of the weights, the intercept's own entry

    Returns
    -------
    (n_neurons * n_inputs + 1, n_neurons * n_inputs + 1)
    """
    of_neurons, of_inputs = _pair_index(n_neurons), _pair_index(n_inputs)
    size = n_neurons * n_inputs
    gram = np.empty((size + 1, size + 1))
    gram[:size, :size] = table[of_neurons[:, None, :, None], of_inputs[None, :, None, :]].reshape(
        size, size
    )
    # The constant input is the last: its pairs, for j = k, are the sums of w 1{j} x_a.
    gram[size, :size] = table[np.diag(of_neurons)][:, of_inputs[-1]].ravel()
    gram[:size, size] = gram[size, :size]
    gram[size, size] = total
    return gram


@lru_cache(maxsize=32)
def _pair_index(n: int) -> Integers:
    """Position of pair ``(j, k)``, in either order, among the pairs ``j <= k``; only to read."""
    index = np.empty((n, n), dtype=np.intp)
    upper = np.triu_indices(n)
    index[upper] = np.arange(n_pairs(n))
    index.T[upper] = index[upper]
    index.flags.writeable = False
    return index


def masked_gradient(active: Bools, inputs: Floats, rows: Floats) -> Floats:
    """``J' rows`` for the masked design: (n_neurons, n_inputs)."""
    return (active * rows) @ inputs.T


def masked_gram_diagonal(active: Bools, inputs: Floats, weight: Floats) -> Floats:
    """The Gram matrix's diagonal, (n_neurons, n_inputs), without the matrix."""
    return (active * weight) @ np.square(inputs).T


def masked_gram_product(
    active: Bools, inputs: Floats, weight: Floats, direction: Floats, constant: float
) -> tuple[Floats, float]:
    """The Gram matrix times a vector ``(direction, constant)``, without the matrix.

    Parameters
    ----------
    direction : (n_neurons, n_inputs)

    Returns
    -------
    The product's part for the neurons, (n_neurons, n_inputs), and for the intercept.
    """
    step = direction @ inputs
    step *= active
    rows = (step.sum(axis=0) + constant) * weight
    return masked_gradient(active, inputs, rows), float(rows.sum())
