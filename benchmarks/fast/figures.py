"""Records to figures: ratios, exponents, standard errors, and bars that name what is missing."""

from __future__ import annotations

import importlib.metadata
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from benchmarks.bars import Bars
from benchmarks.paper.analysis import geometric

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from benchmarks.fast.records import Job, Known

__all__ = [
    "FastBars", "Paired", "exponent", "geometric", "listed", "median_of", "paired", "sources",
]  # fmt: skip

PACKAGES = ("lifenet", "numpy", "scipy", "scikit-learn", "lightgbm", "catboost")
#: Missing measurements that a bar names; the others are counted. Chosen by hand.
_MOST_NAMED = 4


class Paired(NamedTuple):
    """Mean of paired differences and its standard error (0 for a single pair)."""

    mean: float
    error: float

    def exceeds(self, margin: float = 0.0) -> bool:
        """Whether the mean is above the margin by more than two standard errors."""
        return self.mean - 2 * self.error > margin


def paired(ours: Sequence[float], theirs: Sequence[float]) -> Paired:
    """Differences of ours to theirs, pair by pair."""
    differences = np.subtract(ours, theirs)
    n = len(differences)
    error = float(np.std(differences, ddof=1) / np.sqrt(n)) if n > 1 else 0.0
    return Paired(float(np.mean(differences)), error)


def exponent(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """Slope of log seconds on log sizes by least squares; NaN with fewer than two sizes."""
    if len(set(sizes)) < 2:
        return np.nan
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def median_of(known: Known, jobs: Iterable[Job], figure: str = "cpu") -> float:
    """Median of a figure over the measurements on record; NaN of none."""
    found = [one for one in (known.figure(job, figure) for job in jobs) if not np.isnan(one)]
    return float(np.median(found)) if found else np.nan


def listed(numbers: Mapping[str, float], form: str = ".3g") -> str:
    """Names with their numbers, the largest first."""
    ordered = sorted(numbers.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{name} {format(number, form)}" for name, number in ordered)


def sources(known: Known, jobs: Iterable[Job]) -> str:
    """At which commits measurements were made, and when, the most frequent commit first."""
    found = [one for one in map(known.get, jobs) if one is not None]
    if not found:
        return "no measurements on record"
    commits = Counter(one["commit"] for one in found)
    parts = [f"{commit} ({n})" for commit, n in commits.most_common()]
    n_states = len({one["source"] for one in found})
    days = dict.fromkeys(sorted(one["date"][:10] for one in found))
    at = f"at {', '.join(parts)}; states of the source {n_states}"
    return f"{len(found)} measurements {at}; {', '.join(days)}"


def _installed() -> tuple[str, ...]:
    """Packages whose versions are told: bars of kept records need no peer."""
    known = {one.metadata["Name"].lower() for one in importlib.metadata.distributions()}
    return tuple(name for name in PACKAGES if name in known)


@dataclass
class FastBars(Bars):
    """Bars that are short where a measurement is missing, and then name it."""

    name: str = "fast"
    packages: tuple[str, ...] = field(default_factory=_installed)
    n_lacking: int = 0

    def most(
        self, what: str, figure: float, limit: float, missing: Sequence[str], form: str = ".3g"
    ) -> None:
        """A figure that must not exceed its limit, with all measurements on record."""
        if missing:
            self._lacking(what, figure, f"<= {format(limit, form)}", missing, form)
        else:
            self.at_most(what, figure, limit, form)

    def least(
        self, what: str, figure: float, limit: float, missing: Sequence[str], form: str = ".3g"
    ) -> None:
        """A figure that must reach its limit, with all measurements on record."""
        if missing:
            self._lacking(what, figure, f">= {format(limit, form)}", missing, form)
        else:
            self.at_least(what, figure, limit, form)

    def _lacking(
        self, what: str, figure: float, limit: str, missing: Sequence[str], form: str
    ) -> None:
        self.n_lacking += 1
        more = len(missing) - _MOST_NAMED
        names = "; ".join(missing[:_MOST_NAMED]) + (f"; and {more} more" if more > 0 else "")
        so_far = "no figure" if np.isnan(figure) else f"{format(figure, form)} so far"
        self._add(what, f"{so_far}, missing {names}", limit, False)
