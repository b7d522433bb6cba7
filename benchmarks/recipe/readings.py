"""What readings of the default estimator's network cost, in prediction passes."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from lifenet import LIFERegressor
from lifenet.datasets import simulate

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["equation_passes"]

N_ROWS = 2_000
REPEATS = 7


def equation_passes() -> float:
    """Time of all local equations over the time of one prediction pass on the same rows.

    The network is that of ``LIFERegressor(random_state=0)`` on 2,000 rows of the multiple index
    model. Both are medians of the process's own time, measured in turn with one thread.
    """
    data = simulate.mim(N_ROWS, random_state=0)
    network, X = LIFERegressor(random_state=0).fit(data.X, data.y).network_, data.X
    with threadpool_limits(1):
        works = (lambda: network.score(X), lambda: network.equation(X))
        found = [[_seconds(work) for work in works] for _ in range(REPEATS + 1)]
    predict, equations = np.median(found[1:], axis=0)  # the first round warms up
    return float(equations / predict)


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun
