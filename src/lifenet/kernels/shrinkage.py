"""Means of levels, shrunken towards the mean of all rows by empirical Bayes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["LevelSums", "crossfitted_means", "shrunken_means"]

# Levels fewer than this share of a row's weight apart from nothing have no mean.
_NO_WEIGHT = 1e-12


@dataclass(frozen=True, eq=False)
class LevelSums:
    """What shrunken means need of the rows at each of L levels.

    Attributes
    ----------
    weight : (L,)
    total : (L, m), weighted sums of the m targets
    square : (m,), weighted sums of their squares over all rows
    """

    weight: Floats
    total: Floats
    square: Floats

    @classmethod
    def of(cls, ids: Integers, target: Floats, weight: Floats, n_levels: int) -> LevelSums:
        """Of rows with levels `ids` (n,), targets (n, m) and weights (n,)."""
        sums = [np.bincount(ids, weight * one, n_levels) for one in target.T]
        total = np.array(sums, dtype=np.float64).reshape(len(sums), n_levels).T
        mass: Floats = np.bincount(ids, weight, n_levels).astype(np.float64)
        return cls(mass, total, np.asarray(weight @ np.square(target)))

    def without(self, other: LevelSums) -> LevelSums:
        """Of the rows that are not among some of these."""
        return LevelSums(
            self.weight - other.weight, self.total - other.total, self.square - other.square
        )

    def shrunken(self) -> Floats:
        """Each level's mean less that of all rows, shrunken, (L, m); 0 where a level has no rows.

        The levels' true means are taken to vary about the common one with a variance that the
        method of moments estimates, and rows about their level's mean with the pooled variance
        within levels. A level with weight n keeps the share ``n / (n + within / between)`` of its
        difference: nothing, where levels do not differ by more than chance.
        """
        present = self.weight > _NO_WEIGHT * max(self.weight.sum(), 1.0)
        weight = np.where(present, self.weight, 0.0)
        n, n_levels = float(weight.sum()), int(present.sum())
        if n_levels < 2 or n <= n_levels:
            return np.zeros_like(self.total)
        total = np.where(present[:, None], self.total, 0.0)
        common = total.sum(axis=0) / n
        away = np.divide(
            total, weight[:, None], out=np.tile(common, (len(weight), 1)), where=present[:, None]
        )
        away -= common
        apart = weight @ np.square(away)
        inside = np.maximum(self.square - n * np.square(common) - apart, 0.0) / (n - n_levels)
        spread = n - float(np.square(weight).sum()) / n
        between = np.maximum(apart - (n_levels - 1) * inside, 0.0) / max(spread, _NO_WEIGHT)
        # weight * between + inside is zero only where nothing varies.
        below = weight[:, None] * between + inside
        share = np.divide(
            weight[:, None] * between, below, out=np.zeros_like(away), where=below > 0
        )
        return np.asarray(away * share)


def shrunken_means(ids: Integers, target: Floats, weight: Floats, n_levels: int) -> Floats:
    """Each level's mean less that of all rows, shrunken, (n_levels, m).

    Parameters
    ----------
    ids : (n,), the level of each row
    target : (n, m)
    weight : (n,), positive
    """
    return LevelSums.of(ids, _centred(target, weight), weight, n_levels).shrunken()


def _centred(target: Floats, weight: Floats) -> Floats:
    """Targets less their mean: sums of squares keep few digits of a target far from zero."""
    return np.asarray(target - weight @ target / weight.sum())


def crossfitted_means(
    ids: Integers, target: Floats, weight: Floats, part: Integers, n_levels: int
) -> Floats:
    """For each row the shrunken mean of its level over the rows of all other parts, (n, m).

    Parameters
    ----------
    ids : (n,), the level of each row
    target : (n, m)
    weight : (n,), positive
    part : (n,), the part of each row, from 0
    """
    found, target = np.zeros(target.shape), _centred(target, weight)
    whole = LevelSums.of(ids, target, weight, n_levels)
    for number in np.unique(part).tolist():
        inside = part == number
        own = LevelSums.of(ids[inside], target[inside], weight[inside], n_levels)
        found[inside] = whole.without(own).shrunken()[ids[inside]]
    return found
