"""Neighbouring ramps that a neuron weighs alike, as one code.

A leaf neuron rises over several bins of a column, with the same weight on the ramp of each. Their
sum is one code that rises by one from knot to knot. So a default model has a fifth of the weights,
and fewer codes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats
    from lifenet.export.formula import Code

__all__ = ["joined_ramps"]


def joined_ramps(
    codes: Sequence[Code], weights: Any, linear: Floats
) -> tuple[tuple[Code, ...], Any, Floats]:
    """The codes that are read, the weights on them, and the linear part.

    Parameters
    ----------
    codes : ramps of a column in the order of their knots
    weights : CSR array (n_neurons, n_codes), sorted
    linear : (n_codes, n_outputs)
    """
    n_neurons = weights.shape[0]
    neuron = np.repeat(np.arange(n_neurons), np.diff(weights.indptr))
    starts = np.flatnonzero(~_goes_on(codes, neuron, weights))
    length = np.diff(np.append(starts, weights.nnz))
    first = weights.indices[starts]
    straight = np.flatnonzero(np.any(linear != 0, axis=1))
    runs = np.column_stack([first, length])
    alone = np.column_stack([straight, np.ones(len(straight), dtype=np.intp)])
    known, place = np.unique(np.vstack([runs, alone]), axis=0, return_inverse=True)
    place = place.ravel()
    if not len(known):  # a constant: one code that nothing reads
        known = np.array([[0, 1]])
    entries = (weights.data[starts], (neuron[starts], place[: len(starts)]))
    joined = sparse.csr_array(entries, shape=(n_neurons, len(known)))
    joined.sort_indices()
    moved = np.zeros((len(known), linear.shape[1]))
    moved[place[len(starts) :]] = linear[straight]
    return tuple(_run(codes, *one) for one in known.tolist()), joined, moved


def _goes_on(codes: Sequence[Code], neuron: Any, weights: Any) -> Bools:
    """Which weights are those before them, on the ramp that ends where theirs begins."""
    code, weight = weights.indices, weights.data
    begins = np.array([one.knots[0] if one.is_ramp else np.nan for one in codes])
    ends = np.array([one.knots[-1] if one.is_ramp else np.nan for one in codes])
    column = np.array([one.column for one in codes])
    found = np.zeros(len(code), dtype=bool)
    found[1:] = (
        (neuron[1:] == neuron[:-1])
        & (column[code[1:]] == column[code[:-1]])
        & (begins[code[1:]] == ends[code[:-1]])
        & (code[1:] == code[:-1] + 1)
        & (weight[1:] == weight[:-1])
    )
    return found


def _run(codes: Sequence[Code], first: int, length: int) -> Code:
    """The sum of some ramps."""
    if length == 1:
        return codes[first]
    some = codes[first : first + length]
    knots = (some[0].knots[0], *(one.knots[-1] for one in some))
    return type(some[0])(some[0].column, knots, tuple(float(n) for n in range(length + 1)))
