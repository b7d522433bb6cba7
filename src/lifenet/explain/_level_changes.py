"""What other levels, and a missing value, would change: exactly, on all columns of a feature."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain.levels import coded_levels, levels_of
from lifenet.tables import MISSING, OTHER, value_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats
    from lifenet.explain._sample import Sample
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema
    from lifenet.tables import Feature

__all__ = ["LevelChanges", "level_changes", "level_slopes", "missing_change"]

#: Other levels that a row is moved to: the most frequent ones. Chosen by hand.
_MOST = 5
#: Of more levels those without an indicator are taken together. Chosen by hand.
_APART = 24

#: For each feature with levels, what going to others changes: pairs of a level and a change.
LevelChanges = dict[str, tuple[tuple[str, float], ...]]


def level_changes(
    network: PiecewiseLinear, schema: FeatureSchema, rows: Floats, output: int
) -> list[LevelChanges]:
    """For each row, what going to other levels of its categories would change.

    Of a category of the user's table, its five most frequent other levels, and missing. Of a number
    with gaps, missing; where it is missing, its median.
    """
    found: list[LevelChanges] = [{} for _ in rows]
    own = np.asarray(network.score(rows)[:, output], dtype=np.float64)
    for feature in schema.features:
        columns = list(feature.columns)
        asked: list[list[tuple[str, float]]] = [[] for _ in rows]
        for label, pattern in _targets(schema, feature):
            away = (rows[:, columns] != pattern).any(axis=1)
            if feature.kind != "category":
                away = rows[:, columns[1]] != pattern[1]
            full = [label != MISSING and len(pairs) >= _MOST for pairs in asked]
            some = np.flatnonzero(away & ~np.array(full, dtype=bool))
            if not len(some):
                continue
            moved = rows[some]
            moved[:, columns] = pattern
            change = np.asarray(network.score(moved)[:, output], dtype=np.float64) - own[some]
            for row, one in zip(some.tolist(), change.tolist(), strict=True):
                asked[row].append((label, one))
        for row, pairs in enumerate(asked):
            if pairs:
                found[row][feature.name] = tuple(pairs)
    return found


def _targets(schema: FeatureSchema, feature: Feature) -> Iterator[tuple[str, Floats]]:
    """Levels that rows may go to, and what the columns of the feature hold there."""
    if schema.table is None:
        return
    if feature.kind != "category":
        if feature.missing is not None and len(feature.columns) == 2:
            yield value_text(feature.neutral, feature.kind), np.array([feature.neutral, 0.0])
            yield MISSING, np.array([feature.neutral, 1.0])
        return
    code = schema.table.category_of(feature.columns)
    if code is None:
        return
    patterns, labels = coded_levels(code)
    last = [number for number, label in enumerate(labels) if label in (OTHER, MISSING)]
    order = [number for number in range(len(labels)) if number not in last]
    # One more than are shown: a row may be at one of them.
    for number in [*order[: _MOST + 1], *sorted(last, key=lambda one: labels[one] == MISSING)]:
        yield labels[number], patterns[number]


def level_slopes(sample: Sample) -> dict[int, Floats]:
    """For each column that says whether something is the case, what its being so changes, (n,).

    Of a level: the score there less the mean score at the others, each with its share of the rows.
    Of a missing value: the score without the value less that with it; a row that has none gets
    the median.
    """
    if sample.schema.table is None:
        return {}
    found: dict[int, Floats] = {}
    for feature, one in enumerate(sample.kinds):
        if sample.schema.table.category_of(one.columns) is not None:
            found |= _of_levels(sample, feature)
        elif one.missing is not None and one.kind != "category":
            found[one.missing] = missing_change(sample, one)[0]
    return found


def missing_change(sample: Sample, feature: Feature) -> tuple[Floats, Floats]:
    """What a missing value changes in each row, (n,), and the value that it is compared with, (n,).

    The row's own value, or where it has none the median.
    """
    assert feature.missing is not None
    value, rows = feature.columns[0], sample.X.copy()
    gone = rows[:, feature.missing] != 0
    rows[:, value] = np.where(gone, rows[:, value], feature.neutral)
    rows[:, feature.missing] = np.where(gone, 0.0, 1.0)
    change = np.asarray(sample.network.score(rows)[:, sample.output], dtype=np.float64)
    change = np.where(gone, sample.score - change, change - sample.score)
    return change, sample.X[:, value]


def _of_levels(sample: Sample, feature: int) -> dict[int, Floats]:
    """The same for each indicator of a category that some rows have, and some have not."""
    levels = levels_of(sample, feature, _APART)
    scores = np.column_stack(
        [
            sample.network.score(levels.put(sample.X, level))[:, sample.output]
            for level in range(len(levels.labels))
        ]
    )
    found: dict[int, Floats] = {}
    for place, column in enumerate(levels.columns):
        if column in sample.schema.indicators:
            there = levels.patterns[:, place] != 0
            if there.any() and not there.all():
                means = [
                    scores[:, some] @ (levels.share[some] / levels.share[some].sum())
                    for some in (there, ~there)
                ]
                found[column] = np.asarray(means[0] - means[1], dtype=np.float64)
    return found
