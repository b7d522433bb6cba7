"""The effect of every feature on an additive score, in bins and by level."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.export.bins import best_bins
from lifenet.tables import text_of_level
from lifenet.tables.times import label_of_time

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.export.formula import Formula
    from lifenet.schema import ColumnValues, FeatureSchema
    from lifenet.tables import CategoryCode, Feature, Table

__all__ = ["FeaturePoints", "features_of", "rounded"]


@dataclass(frozen=True, eq=False)
class FeaturePoints:
    """Points of one feature.

    Attributes
    ----------
    name : of the feature
    labels : what each bin or level is
    points : (m,), one each
    share : (m,), share of the training rows
    columns : of numbers
    number : of the user's column
    cuts : (n_bins - 1,), the smallest value of each bin but the first; none of a category
    missing : the column that says whether a number is missing; None where there is none
    category : the code of a category; None of numbers
    """

    name: str
    labels: tuple[str, ...]
    points: Floats
    share: Floats
    columns: tuple[int, ...]
    number: int
    cuts: Floats = field(default_factory=lambda: np.zeros(0))
    missing: int | None = None
    category: CategoryCode | None = None

    def places(self, columns: Floats, table: Table) -> Integers:
        """Index of each row's points, (n,), by columns of numbers and the user's own."""
        if self.category is not None:
            return self.category.ids(table[self.number])
        found = np.searchsorted(self.cuts, columns[:, self.columns[0]], side="right")
        if self.missing is not None:
            found[columns[:, self.missing] == 1] = len(self.points) - 1
        return np.asarray(found)

    def rounded(self, decimals: int | None) -> FeaturePoints:
        """The same with rounded points."""
        return replace(self, points=rounded(self.points, decimals))


def rounded(points: Floats, decimals: int | None) -> Floats:
    """Points of so many decimals, none of them minus zero."""
    return points if decimals is None else np.round(points, decimals) + 0.0


def features_of(
    model: Any, formula: Formula, factor: float, max_bins: int, close: float
) -> tuple[float, list[FeaturePoints]]:
    """Points of the mean row, and of each feature about its mean.

    Parameters
    ----------
    factor : points of one unit of the score
    close : distance from the effect at which bins are good enough, in points
    """
    schema: FeatureSchema = model.schema_
    rest = np.array([[_middle(one) for one in schema.values]])
    constant, found = factor * float(model.network_.score(rest)[0, 0]), []
    number_of = {at: n for n, one in enumerate(formula.fields) for at in one.columns}
    for feature in schema.features:
        number = number_of[feature.columns[0]]
        own = formula.fields[number]
        patterns, share = own.patterns, own.share
        if patterns is None or share is None:
            patterns, share = _values(feature, schema.values)
        effect = factor * _effects(model.network_, rest, feature, patterns)
        mean = float(np.average(effect, weights=share))
        constant += mean
        made = FeaturePoints(
            name=feature.name,
            labels=(),
            points=effect - mean,
            share=share / share.sum(),
            columns=feature.columns,
            number=number,
        )
        if own.kind == "category":
            code = model.table_.codes[number]
            labels = (*code.level_names(), "another level", "missing")
            found.append(replace(made, labels=labels, category=code))
        else:
            found.append(_binned(made, feature, patterns, max_bins, close))
    return constant, found


def _middle(values: ColumnValues) -> float:
    return float(values.values[len(values.values) // 2])


def _effects(network: Any, rest: Floats, feature: Feature, patterns: Floats) -> Floats:
    """Change of the score as a feature's columns take some values, (m,)."""
    rows = np.repeat(rest, len(patterns), axis=0)
    rows[:, list(feature.columns)] = patterns
    return np.asarray((network.score(rows) - network.score(rest))[:, 0])


def _values(feature: Feature, known: tuple[ColumnValues, ...]) -> tuple[Floats, Floats]:
    """Values of a feature's columns in training, the missing one last, and their weights."""
    held = known[feature.columns[0]]
    if feature.missing is None:
        return held.values[:, None], held.counts
    gaps = known[feature.missing]
    gone = float(gaps.counts[gaps.values == 1].sum())
    patterns = np.zeros((len(held.values) + 1, 2))
    patterns[:, 0] = [*held.values, feature.neutral]
    patterns[-1, 1] = 1.0
    return patterns, np.append(held.counts, gone)


def _binned(
    exact: FeaturePoints, feature: Feature, patterns: Floats, most: int, close: float
) -> FeaturePoints:
    """Bins in the place of single values."""
    n = len(patterns) - (feature.missing is not None)
    values, points, share = patterns[:n, 0], exact.points[:n], exact.share[:n]
    starts = best_bins(points, share, most, close)
    mass = np.add.reduceat(share, starts)
    means = np.add.reduceat(share * points, starts) / mass
    cuts = np.array(
        [_short(values[at - 1], values[at], feature.kind) for at in starts[1:].tolist()]
    )
    labels = _labels(feature, cuts)
    return replace(
        exact,
        labels=labels if feature.missing is None else (*labels, "missing"),
        points=np.append(means, exact.points[n:]),
        share=np.append(mass, exact.share[n:]),
        cuts=cuts,
        missing=feature.missing,
    )


def _short(low: float, high: float, kind: str) -> float:
    """A number above `low` and not above `high` that is written in few digits."""
    if kind == "date":
        return float(np.floor(high)) if np.floor(high) > low else high
    for digits in range(1, 16):
        for near in (high, low + (high - low) / 2):
            found = float(f"{near:.{digits}g}")
            if low < found <= high:
                return found
    return high


def _labels(feature: Feature, cuts: Floats) -> tuple[str, ...]:
    """What each bin is, in the terms of the user's column."""
    if feature.kind == "boolean" and len(cuts) == 1:
        return ("false", "true")
    if not len(cuts):
        return ("any",)
    texts = [_text(one, feature.kind) for one in cuts.tolist()]
    between = [f"{low} to below {high}" for low, high in pairwise(texts)]
    return (f"below {texts[0]}", *between, f"{texts[-1]} and above")


def _text(value: float, kind: str) -> str:
    if kind in ("date", "duration"):
        return str(label_of_time(value, duration=kind == "duration"))
    return text_of_level(value)
