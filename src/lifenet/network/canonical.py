"""Equal functions, equal networks: merging neurons and the unique form.

Three identities are used, with ``z = w'x + b`` and ``c > 0``::

    relu(c z) = c relu(z)          relu(-z) = relu(z) - z          relu(b) is a constant

All functions here take and return the arrays of a network, in float64.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["Parts", "canonical_form", "merge_parallel"]


class Parts(NamedTuple):
    """The arrays of a network, in the order of its constructor."""

    weights: Floats
    bias: Floats
    beta: Floats
    intercept: Floats
    linear: Floats


def merge_parallel(parts: Parts, tolerance: float) -> Parts:
    """Fold constants, join neurons that are positive multiples, drop those without effect.

    The first neuron of each group stays where it is and keeps its weights.
    """
    parts = _fold_constants(parts)
    norm = _norms(parts.weights)
    labels = _rank_rows(_normals(parts, norm), tolerance)
    first, group = _first_of_each(labels)
    terms = parts.beta * (norm / norm[first][group])[:, None]
    total, size = np.zeros((2, len(first), parts.beta.shape[1]))
    np.add.at(total, group, terms)
    np.add.at(size, group, np.abs(terms))
    # What cancels to rounding is zero; a neuron alone in its group goes only if beta is exactly 0.
    alive = np.abs(total).max(axis=1) > tolerance * size.max(axis=1)
    kept = first[alive]
    return parts._replace(weights=parts.weights[kept], bias=parts.bias[kept], beta=total[alive])


def canonical_form(parts: Parts, tolerance: float) -> Parts:
    """Bring a network to the one form that all networks computing its function share."""
    parts = _orient(_fold_constants(parts), tolerance)
    parts = merge_parallel(_normalise(parts), tolerance)
    ranks = _rank_rows(_normals(parts, np.ones(len(parts.bias))), tolerance)
    order = np.argsort(ranks, kind="stable")
    return parts._replace(
        weights=parts.weights[order], bias=parts.bias[order], beta=parts.beta[order]
    )


def _fold_constants(parts: Parts) -> Parts:
    """Move neurons without weights, which are constants, to the intercept.

    So are those whose hyperplane is further from the origin than numbers go.
    """
    constant = _norms(parts.weights) <= np.abs(parts.bias) * np.finfo(np.float64).tiny
    values = np.maximum(parts.bias[constant], 0) @ parts.beta[constant]
    return parts._replace(
        weights=parts.weights[~constant],
        bias=parts.bias[~constant],
        beta=parts.beta[~constant],
        intercept=parts.intercept + values,
    )


def _orient(parts: Parts, tolerance: float) -> Parts:
    """Make each neuron's first weight beyond `tolerance` of its largest one positive."""
    weights, bias, beta = parts.weights, parts.bias, parts.beta
    size = np.abs(weights)
    leading = (size > tolerance * size.max(axis=1, keepdims=True)).argmax(axis=1)
    turned = np.take_along_axis(weights, leading[:, None], axis=1)[:, 0] < 0
    sign = np.where(turned, -1.0, 1.0)
    return parts._replace(
        weights=sign[:, None] * weights + 0.0,  # no negative zeros
        bias=sign * bias + 0.0,
        intercept=parts.intercept + bias[turned] @ beta[turned],
        linear=parts.linear + weights[turned].T @ beta[turned],
    )


def _normalise(parts: Parts) -> Parts:
    """Give each neuron's weights the Euclidean norm 1."""
    norm = _norms(parts.weights)
    normals = _normals(parts, norm)
    return parts._replace(
        weights=normals[:, :-1], bias=normals[:, -1], beta=parts.beta * norm[:, None]
    )


def _norms(weights: Floats) -> Floats:
    """Euclidean norms of the rows, safe from overflow and underflow."""
    largest = np.abs(weights).max(axis=1, keepdims=True)
    scaled = np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0)
    return np.asarray(largest[:, 0] * np.linalg.norm(scaled, axis=1))


def _normals(parts: Parts, norm: Floats) -> Floats:
    """Unit normals of the hyperplanes and, last, their offsets, (m, p + 1)."""
    return np.column_stack([parts.weights, parts.bias]) / norm[:, None]


def _rank_rows(rows: Floats, tolerance: float) -> Integers:
    """Number the rows in lexicographic order, those equal to rounding alike.

    Column after column, the rows still alike are sorted and set apart wherever a value exceeds
    the one before it by more than `tolerance` of its size. Plain sorting would let the rounding
    of one column override all columns after it. Comparing each entry with its own size makes
    the result the same in all units of the columns.
    """
    ranks = np.zeros(len(rows), dtype=np.intp)
    for column in rows.T:
        order = np.lexsort((column, ranks))
        value, rank = column[order], ranks[order]
        size = np.maximum(np.abs(value[1:]), np.abs(value[:-1]))
        apart = (np.diff(value) > tolerance * size) | (np.diff(rank) > 0)
        ranks[order[1:]] = np.cumsum(apart)
        ranks[order[:1]] = 0
    return ranks


def _first_of_each(labels: Integers) -> tuple[Integers, Integers]:
    """The index at which each label comes first, ascending, and each entry's number among them."""
    _, first, group = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return first[order], number[group]
