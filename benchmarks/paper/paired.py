"""Two models on the same seeds: by how much one is better, and whether that may be chance.

Errors of a seed are compared by the logarithm of their ratio. Test parts of one real set overlap
in their training rows, so that differences over seeds are less independent than they look: their
variance is corrected as Nadeau and Bengio do ("Inference for the generalization error", 2003).
Samples of a simulation are independent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

from benchmarks.paper.experiments import TABLES
from benchmarks.paper.summary import values

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.paper.summary import Place, Runs

#: A difference that chance exceeds less often than this is one.
LEVEL = 0.05


@dataclass(frozen=True)
class Paired:
    """One model against another on a set.

    Attributes
    ----------
    ratio : geometric mean over seeds of the first's error over the second's
    t : mean of the logarithm over its standard error; NaN of fewer than two seeds
    p : of a ratio as far from one, two-sided
    n : seeds that both have
    """

    ratio: float
    t: float
    p: float
    n: int

    @property
    def better(self) -> bool:
        """Whether the first is better beyond chance."""
        return bool(self.p < LEVEL and self.ratio < 1)

    @property
    def worse(self) -> bool:
        """Whether the first is worse beyond chance."""
        return bool(self.p < LEVEL and self.ratio > 1)


def compare(runs: Runs, one: Place, other: Place) -> Paired:
    """Errors of two models on the seeds that both have."""
    first, second = values(runs, one, "error"), values(runs, other, "error")
    seeds = sorted(set(first) & set(second))
    if not seeds:
        return Paired(np.nan, np.nan, np.nan, 0)
    logs = np.log([first[seed] / second[seed] for seed in seeds])
    ratio = float(np.exp(logs.mean()))
    if len(seeds) < 2:
        return Paired(ratio, np.nan, np.nan, len(seeds))
    fit = runs[one][seeds[0]]
    simulated = TABLES[one[0]].find(one[1]).simulated
    overlap = 0.0 if simulated else fit["n_test"] / fit["n_train"]
    error = float(logs.std(ddof=1)) * np.sqrt(1 / len(seeds) + overlap)
    if error == 0:
        return Paired(ratio, np.nan, float(ratio == 1), len(seeds))
    t = float(logs.mean() / error)
    return Paired(ratio, t, float(2 * stats.t.sf(abs(t), len(seeds) - 1)), len(seeds))


def holm(found: Sequence[Paired]) -> list[bool]:
    """Which of several comparisons are beyond chance, all of them considered (Holm 1979)."""
    order = sorted(range(len(found)), key=lambda index: found[index].p)
    known = [False] * len(found)
    for rank, index in enumerate(order):
        if not found[index].p < LEVEL / (len(found) - rank):
            break
        known[index] = True
    return known


def over_sets(ratios: Sequence[float]) -> float:
    """Probability of ratios of several sets that lie as much on one side of 1 (Wilcoxon 1945)."""
    logs = np.log(np.asarray(ratios, dtype=float))
    if len(logs) == 0 or not np.any(logs):
        return 1.0
    return float(stats.wilcoxon(logs).pvalue)


def of_counts(n_less: int, n: int) -> float:
    """Probability of a count as far from half of the sets (sign test)."""
    return float(stats.binomtest(n_less, n).pvalue) if n else 1.0
