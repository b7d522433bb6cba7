"""Curves of coefficients, each through the rows that have it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.smoothing import smooth

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.explain._coefficients import Coefficients
    from lifenet.kernels.smoothing import Smooth

__all__ = ["Smooths", "Stages", "two_stages"]


@dataclass(frozen=True, eq=False)
class Smooths:
    """Curves of q responses over one column, several at a time.

    Attributes
    ----------
    parts : pairs of the indices of some responses and their curves; all in all each once
    """

    parts: tuple[tuple[Integers, Smooth], ...]

    @property
    def _size(self) -> int:
        return sum(len(which) for which, _ in self.parts)

    def __call__(self, x: Floats) -> Floats:
        """The curves at any place, (n, q)."""
        found = np.empty((len(x), self._size))
        for which, curves in self.parts:
            found[:, which] = curves(x)
        return found

    @property
    def edf(self) -> Floats:
        """Effective degrees of freedom, (q,)."""
        found = np.empty(self._size)
        for which, curves in self.parts:
            found[which] = curves.edf
        return found

    @property
    def covariance(self) -> Floats:
        """Weighted covariance of the curves, (q, q); zero between those of different rows."""
        found = np.zeros((self._size, self._size))
        for which, curves in self.parts:
            found[np.ix_(which, which)] = curves.covariance
        return found


@dataclass(frozen=True, eq=False)
class Stages:
    """The curves of both stages over each feature, and what g_main leaves of the coefficients."""

    main: list[Smooth]
    other: list[Smooths]
    residual: Floats


def two_stages(
    features: list[Coefficients], alpha: Floats, owner: Integers, counts: Floats
) -> Stages:
    """Smooth each coefficient over its own feature, and what that leaves over each other one.

    Rows whose value is missing have no slope there and no place: they take no part.
    """
    residual, main = alpha.copy(), []
    for number, one in enumerate(features):
        mine = owner == number
        main.append(_smooth(one, alpha[:, mine], counts, one.seen))
        left = residual[:, mine] - main[-1](one.places)
        residual[:, mine] = np.where(one.seen[:, None], left, 0.0)
    other = [_others(features, number, residual, owner, counts) for number in range(len(features))]
    return Stages(main, other, residual)


def _others(
    features: list[Coefficients], number: int, residual: Floats, owner: Integers, counts: Floats
) -> Smooths:
    one = features[number]
    rest = np.flatnonzero(owner != number)
    complete = np.array([features[of].seen.all() for of in owner[rest]], dtype=bool)
    groups = [np.flatnonzero(complete)] if complete.any() else []
    groups += [np.flatnonzero(owner[rest] == of) for of in np.unique(owner[rest][~complete])]
    parts = []
    for which in groups:
        seen = one.seen & features[owner[rest[which[0]]]].seen
        parts.append((which, _smooth(one, residual[:, rest[which]], counts, seen)))
    return Smooths(tuple(parts))


def _smooth(one: Coefficients, responses: Floats, counts: Floats, seen: Bools) -> Smooth:
    """Curves through the rows that are seen; through all where none is."""
    some = seen if seen.any() else np.ones(len(counts), dtype=bool)
    return smooth(one.places[some], responses[some], counts[some], categorical=bool(one.labels))
