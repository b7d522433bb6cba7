"""Half-spaces of the input: who lies in them, and which share of the weight."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats

__all__ = ["halfspace_members", "halfspace_shares"]

_BLOCK_CELLS = 1 << 19


def halfspace_members(X: Floats, weights: Floats, bias: Floats, cutoff: float = 0.0) -> Bools:
    """Which rows lie in ``bias_j + x'weights_j > cutoff``: (n_samples, n_halfspaces)."""
    return np.asarray(X @ weights.T + bias > cutoff)


def halfspace_shares(
    X: Floats,
    weights: Floats,
    bias: Floats,
    cutoff: float = 0.0,
    sample_weight: Floats | None = None,
) -> Floats:
    """Share of the total weight in each half-space, (n_halfspaces,), in blocks of rows."""
    rows = max(1, _BLOCK_CELLS // max(len(weights), 1))
    weight = np.ones(len(X)) if sample_weight is None else sample_weight
    inside = np.zeros(len(weights))
    for start in range(0, len(X), rows):
        block = slice(start, start + rows)
        inside += weight[block] @ halfspace_members(X[block], weights, bias, cutoff)
    return np.asarray(inside / weight.sum())
