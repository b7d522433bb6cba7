"""Coefficients of features that vary by row: slopes, or contrasts of the levels of a category."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain._windows import slopes_at_reach
from lifenet.explain.levels import levels_of
from lifenet.kernels.smoothing import MOST_LEVELS

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.explain._sample import Sample

__all__ = ["Coefficients", "read_coefficients"]


@dataclass(frozen=True, eq=False)
class Coefficients:
    """Those of one feature on n rows.

    Attributes
    ----------
    places : ndarray of shape (n,), where the rows lie on it: its values, or numbers of levels
    labels : names of the levels; none where it is a single column
    names : of its r coefficients
    levels : the number of the level that each contrast is of; -1 for a slope
    alpha : ndarray of shape (n, r)
    bends : whether it can have a nonlinear effect: a number of more than two values
    spread : ndarray of shape (r, r), variance of the column, or covariance of the indicators of
        the levels that the contrasts are of
    """

    places: Floats
    labels: tuple[str, ...]
    names: tuple[str, ...]
    levels: tuple[int, ...]
    alpha: Floats
    bends: bool
    spread: Floats


def read_coefficients(sample: Sample, reach: float) -> list[Coefficients]:
    """Those of all features, in order."""
    slopes, _ = slopes_at_reach(sample, reach)
    spread = sample.spread
    return [
        _category(sample, number)
        if len(columns) > 1
        else _number(sample, name, columns[0], slopes[:, columns[0]], float(spread[columns[0]]))
        for number, (name, columns) in enumerate(sample.schema.groups)
    ]


def _number(sample: Sample, name: str, column: int, slopes: Floats, spread: float) -> Coefficients:
    """A feature of one column: its slopes, or its steps where it has few values."""
    places = sample.X[:, column]
    values = np.unique(places)
    few = 1 < len(values) <= MOST_LEVELS
    alpha = _steps(sample, column, values) if few else slopes
    variance = np.array([[spread**2]])
    return Coefficients(places, (), (name,), (-1,), alpha[:, None], len(values) > 2, variance)


def _steps(sample: Sample, column: int, values: Floats) -> Floats:
    """Change of the score from the next value below to the next one above, by their distance.

    A network is free to bend between two values that a column has: there, at a value, its slope
    says nothing of the data.
    """
    at = np.searchsorted(values, sample.X[:, column])
    low, high = values[np.maximum(at - 1, 0)], values[np.minimum(at + 1, len(values) - 1)]
    rise = sample.network.along(sample.X, column).increment(low, high)[:, sample.output]
    return np.asarray(rise / (high - low), dtype=np.float64)


def _category(sample: Sample, number: int) -> Coefficients:
    """A feature of several columns: contrasts of its levels to the most frequent one."""
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
    )
