"""Coefficients of features that vary by row: slopes, or contrasts of the levels of a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain._windows import slopes_at_reach
from lifenet.explain.levels import levels_of
from lifenet.kernels.smoothing import MOST_LEVELS

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats
    from lifenet.explain._sample import Sample

__all__ = ["Coefficients", "read_coefficients"]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Those of one feature on n rows.

    Attributes
    ----------
    places : ndarray of shape (n,), where the rows lie on it: its values, or numbers of levels
    labels : names of the levels; none of a number
    names : of its r coefficients
    levels : the number of the level that each contrast is of; -1 for a slope
    alpha : ndarray of shape (n, r)
    bends : whether it can have a nonlinear effect: a number of more than two values
    spread : ndarray of shape (r, r), variance of the column, or covariance of the indicators of
        the levels that the contrasts are of
    seen : ndarray of bool, shape (n,), rows that have the coefficient: those with a value
    """

    places: Floats
    labels: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[int, ...]
    alpha: Floats
    bends: bool
    spread: Floats
    seen: Bools


def read_coefficients(sample: Sample, reach: float) -> list[Coefficients]:
    """Those of all features, in order."""
    slopes, _ = slopes_at_reach(sample, reach)
    return [
        _category(sample, number)
        if sample.column_of(number) is None
        else _number(sample, number, slopes[:, sample.groups[number][0]])
        for number in range(len(sample.features))
    ]


def _number(sample: Sample, number: int, slopes: Floats) -> Coefficients:
    """A number: its slopes, or its steps where it has few values."""
    (column, *_), name = sample.groups[number], sample.features[number]
    places, seen = sample.X[:, column], sample.observed(number)
    seen = np.ones(len(places), dtype=bool) if seen is None else seen
    known = sample.where_observed(number)
    values = np.unique(known.X[:, column])
    few = 1 < len(values) <= MOST_LEVELS
    alpha = np.where(seen, _steps(sample, column, values) if few else slopes, 0.0)
    variance = np.array([[float(known.spread[column]) ** 2]])
    return Coefficients(places, (), (name,), (-1,), alpha[:, None], len(values) > 2, variance, seen)


def _steps(sample: Sample, column: int, values: Floats) -> Floats:
    """Change of the score from the next value below to the next one above, by their distance.

    A network is free to bend between two values that a column has: there, at a value, its slope
    says nothing of the data.
    """
    at = np.minimum(np.searchsorted(values, sample.X[:, column]), len(values) - 1)
    low, high = values[np.maximum(at - 1, 0)], values[np.minimum(at + 1, len(values) - 1)]
    rise = sample.network.along(sample.X, column).increment(low, high)[:, sample.output]
    return np.asarray(rise / (high - low), dtype=np.float64)


def _category(sample: Sample, number: int) -> Coefficients:
    """A category: contrasts of its levels to the most frequent one."""
    levels = levels_of(sample, number)
    reference = int(levels.share.argmax())
    rest = [level for level in range(len(levels.labels)) if level != reference]
    contrasts = np.empty((len(sample.X), len(rest)))
    usual = sample.network.score(levels.put(sample.X, reference))[:, sample.output]
    for place, level in enumerate(rest):
        there = sample.network.score(levels.put(sample.X, level))[:, sample.output]
        contrasts[:, place] = there - usual
    share, name = levels.share[rest], sample.features[number]
    return Coefficients(
        places=levels.of_row.astype(np.float64),
        labels=levels.labels,
        names=tuple(
            f"{name}: {levels.labels[level]} - {levels.labels[reference]}" for level in rest
        ),
        levels=tuple(rest),
        alpha=contrasts,
        bends=False,
        spread=np.asarray(np.diag(share) - np.outer(share, share), dtype=np.float64),
        seen=np.ones(len(sample.X), dtype=bool),
    )
