"""The best steps in the place of a function of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["best_bins"]


def best_bins(effect: Floats, weight: Floats, most: int, close: float) -> Integers:
    """First values of the bins in which a function is nearest to its weighted mean.

    The sum of squared differences is the smallest that so many bins can have. There are as few bins
    as leave a root mean square of at most `close`, and never more than `most`.

    Parameters
    ----------
    effect, weight : (n,), of ascending values
    """
    costs, before = _cheapest(_costs(effect, weight), min(most, len(effect)))
    limit = close**2 * weight.sum()
    enough = np.flatnonzero(costs[:, -1] <= limit)
    last = int(enough[0]) if len(enough) else len(costs) - 1
    starts, end = [], len(effect)
    for used in range(last, -1, -1):
        end = int(before[used, end - 1])
        starts.append(end)
    return np.array(starts[::-1], dtype=np.intp)


def _costs(effect: Floats, weight: Floats) -> Floats:
    """Sum of squares about the mean from one value to another, (n, n); infinite backwards."""
    moved = effect - np.average(effect, weights=weight)
    total, first, second = (
        np.concatenate([[0.0], np.cumsum(weight * moved**power)]) for power in range(3)
    )
    w, s, q = (sums[None, 1:] - sums[:-1, None] for sums in (total, first, second))
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.maximum(q - s**2 / w, 0.0)
    found[np.tril_indices(len(effect), -1)] = np.inf
    return np.asarray(found)


def _cheapest(costs: Floats, most: int) -> tuple[Floats, Integers]:
    """Least cost of the values up to each in 1, 2, ... bins, and where the last bin starts."""
    n = len(costs)
    best, before = np.empty((most, n)), np.zeros((most, n), dtype=np.intp)
    best[0] = costs[0]
    for used in range(1, most):
        through = np.vstack([np.full(n, np.inf), best[used - 1][:-1, None] + costs[1:]])
        before[used] = through.argmin(axis=0)
        best[used] = through.min(axis=0)
    return best, before
