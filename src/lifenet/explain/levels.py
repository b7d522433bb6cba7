"""Features of several columns, such as the dummies of one category, as levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain._sample import sums_by

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.explain._sample import Sample

__all__ = ["BASE_LEVEL", "Levels", "levels_of"]

#: More patterns than this are not the levels of a category.
MOST_LEVELS = 200
#: What the level without a dummy of its own is called.
BASE_LEVEL = "base level"


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a feature that has several columns: the patterns these have in the rows.

    Attributes
    ----------
    columns : of the feature
    patterns : ndarray of shape (n_levels, len(columns))
    labels : one a level: the name of the column that is set, or of all that are
    of_row : ndarray of int, shape (n_samples,)
    share : ndarray of shape (n_levels,), weight of the rows at each level
    """

    columns: tuple[int, ...]
    patterns: Floats
    labels: tuple[str, ...]
    of_row: Integers
    share: Floats

    def put(self, X: Floats, level: int) -> Floats:
        """A copy of the table with every row at one level."""
        table = X.copy()
        table[:, list(self.columns)] = self.patterns[level]
        return table


def levels_of(sample: Sample, feature: int) -> Levels:
    """Read the levels of a feature from the rows."""
    columns = sample.groups[feature]
    # Of the negative, so that dummies come in the order of their columns.
    turned, of_row = np.unique(-sample.X[:, list(columns)], axis=0, return_inverse=True)
    patterns = 0.0 - turned
    if len(patterns) > MOST_LEVELS:
        raise ValueError(
            f"Feature {sample.features[feature]!r} has {len(columns)} columns with "
            f"{len(patterns)} different patterns: too many for the levels of a category. Give "
            "each of its columns a group of its own in the schema."
        )
    of_row = of_row.ravel()
    share = sums_by(of_row, sample.weight, len(patterns))
    names = [sample.names[column] for column in columns]
    labels = tuple(_label(names, pattern, sample.features[feature]) for pattern in patterns)
    return Levels(columns, patterns, labels, of_row, share)


def _label(names: list[str], pattern: Floats, feature: str) -> str:
    """What a pattern is called: "A" for the dummy "sex_A" of "sex", "base level" for none set."""
    parts = []
    for name, value in zip(names, pattern, strict=True):
        if value:
            short = name.removeprefix(feature).lstrip("_=. ") or name
            parts.append(short if value == 1 else f"{short}={value:g}")
    return ", ".join(parts) or BASE_LEVEL
