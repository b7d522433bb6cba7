"""Functional ANOVA: a network as an intercept, curves of features and surfaces of pairs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._bands import beside_of
from lifenet.explain._dependence_parts import DependenceParts
from lifenet.explain._exact_parts import ExactParts
from lifenet.explain._margins import Margin, draw_product, margins_of
from lifenet.explain._sample import Sample, sums_by, table_of
from lifenet.explain._subject import subject_with
from lifenet.explain.effects import Curve
from lifenet.explain.interactions import interaction_strength
from lifenet.explain.pairs import PairEffect, shares_at
from lifenet.network import FeatureNeurons

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.explain._margins import Axis
    from lifenet.explain._subject import Subject
    from lifenet.schema import FeatureSchema

__all__ = ["FunctionalAnova", "decompose"]

#: Draws of independent features on which the score's variance, and what is left over, are
#: measured; and pairs of them by which pairs of features are chosen. Chosen by hand.
_DRAWS, _CHOOSING = 4_000, 300
#: Of the score's deviation: weaker pairs are rounding.
_ROUNDING = 1e-9


class _Parts(Protocol):
    """What both ways of decomposing give."""

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]: ...
    def main(self, rows: Floats) -> Floats: ...
    def joint(self, rows: Floats) -> Floats: ...
    def curve(self, feature: int, at: Axis | Margin) -> Floats: ...
    def surface(self, pair: int, first: Axis | Margin, second: Axis | Margin) -> Floats: ...


@shown
@dataclass(frozen=True, eq=False)
class FunctionalAnova:
    """A score as an intercept, one function a feature and one a pair of features.

    All parts have mean zero over the product of the features' own distributions, those of pairs
    along either feature: no effect of a feature hides in a pair. Over that product parts are
    uncorrelated, so that their variances add up.

    Attributes
    ----------
    schema : names and groups of the columns
    intercept : mean of the score
    curves : one a feature, in the order of the columns; `mass` is the feature's distribution
    band : what their bands reach over, such as "4 folds" or "3 refits"; empty without any
    surfaces : one a pair of features, in the order of the columns
    deviation : standard deviation of the score
    left_over : share of the score's variance that no part reproduces; zero where `exact`
    exact : whether the parts sum to the score for any rows
    """

    schema: FeatureSchema
    intercept: float
    curves: tuple[Curve, ...]
    surfaces: tuple[PairEffect, ...]
    deviation: float
    left_over: float
    exact: bool
    band: str
    _parts: _Parts = field(repr=False)
    _subject: Subject = field(repr=False)

    # ------------------------------------------------------------------ the functions

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(curve.feature for curve in self.curves)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of `parts`: "intercept", features, and pairs as "a & b"."""
        pairs = (" & ".join(surface.features) for surface in self.surfaces)
        return ("intercept", *self.features, *pairs)

    def main(self, X: Any) -> Floats:
        """Effects of the features at rows, (n, n_features)."""
        return self._parts.main(self._rows(X))

    def pairs(self, X: Any) -> Floats:
        """Effects of the pairs at rows, (n, n_pairs)."""
        return self._parts.joint(self._rows(X))

    def parts(self, X: Any) -> Floats:
        """All parts at rows, (n, 1 + n_features + n_pairs), in the order of `names`.

        Where `exact`, each row sums to the score, however far from the data it is. Else curves
        and surfaces are linear between the values of their grids, and flat beyond them.
        """
        rows = self._rows(X)
        constant = np.full((len(rows), 1), self.intercept)
        return np.hstack([constant, self._parts.main(rows), self._parts.joint(rows)])

    def _rows(self, X: Any) -> Floats:
        return table_of(self._subject.prepared(X), self.schema)

    # ------------------------------------------------------------------ how much they matter

    @property
    def main_share(self) -> Floats:
        """Share of the score's variance of each feature's curve, (n_features,)."""
        return self._share([curve.strength for curve in self.curves])

    @property
    def pair_share(self) -> Floats:
        """Share of the score's variance of each pair's surface, (n_pairs,)."""
        return self._share([surface.strength for surface in self.surfaces])

    def _share(self, strengths: Sequence[float]) -> Floats:
        return np.square(np.array(strengths, dtype=np.float64) / (self.deviation or np.inf))

    def curve(self, feature: str) -> Curve:
        """The curve of a feature."""
        for curve in self.curves:
            if curve.feature == feature:
                return curve
        have = ", ".join(self.features)
        raise KeyError(f"There is no feature {feature!r}; there are {have}.")

    def surface(self, first: str, second: str) -> PairEffect:
        """The surface of a pair, named in either order."""
        for surface in self.surfaces:
            if set(surface.features) == {first, second} and first != second:
                return surface
        have = ", ".join(" & ".join(surface.features) for surface in self.surfaces)
        raise KeyError(
            f"There is no surface of {first!r} and {second!r}; there are {have or 'none'}. "
            "max_pairs sets how many are computed."
        )

    # ------------------------------------------------------------------ tables

    def to_frame(self) -> pd.DataFrame:
        """One row a part, the strongest first, and what is left over.

        Columns: part, first, second (empty for a single feature), deviation (in units of the
        score), share (of its variance).
        """
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        single = [(curve.feature, curve.feature, "") for curve in self.curves]
        double = [(" & ".join(one.features), *one.features) for one in self.surfaces]
        strengths = [
            *(curve.strength for curve in self.curves),
            *(surface.strength for surface in self.surfaces),
        ]
        frame = pandas.DataFrame([*single, *double], columns=["part", "first", "second"])
        frame["deviation"] = strengths
        frame["share"] = np.concatenate([self.main_share, self.pair_share])
        frame = frame.sort_values("share", ascending=False, kind="stable")
        rest = self.deviation * np.sqrt(self.left_over)
        frame.loc[len(frame)] = ["left over", "", "", rest, self.left_over]
        ordered: pd.DataFrame = frame.reset_index(drop=True)
        return ordered

    def curve_frame(self, feature: str) -> pd.DataFrame:
        """One row a value of a feature: value, label, effect, low, high, mass.

        `low` and `high` are the ends of the band, missing without one.
        """
        pandas: Any = require("pandas", extra="data", purpose="curve_frame")
        frame: pd.DataFrame = pandas.DataFrame(self.curve(feature).columns())
        return frame

    def pair_frame(self, first: str, second: str) -> pd.DataFrame:
        """One row a pair of values of two features: both, and the effect."""
        return self.surface(first, second).to_frame()


def decompose(
    network: Any,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    max_pairs: int = 10,
    n_background: int = 500,
    random_state: int = 0,
    refits: Iterable[Any] | None = None,
) -> FunctionalAnova:
    """Functional ANOVA of a score: intercept, one function a feature, one a pair of features.

    Means are over the product of the features' own distributions, as the rows `X` have them; of a
    column with many values, some hundred stand for all. The dummies of a category are one feature.
    A missing value is one more value of its column.

    Where every neuron reads at most two features, the parts sum to the score exactly, for any
    rows, and all pairs are there. Else parts are partial dependences over background rows, drawn
    from that product, and `left_over` says which share of the variance they miss.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
        Rows that give the distributions.
    schema, sample_weight, output : as in `accumulated_effects`
    max_pairs : int, default=10
        Pairs of features where neurons read more than two: those that act together most.
    n_background : int, default=500
        Background rows in that case.
    random_state : int, default=0
        Of their draw.
    refits : list of fitted models or networks, or None
        What the bands of the curves reach over, as in `accumulated_effects`. None takes the
        networks of the model's folds, which takes a third to a half as long again.

    Returns
    -------
    FunctionalAnova

    References
    ----------
    Hooker, "Generalized functional ANOVA diagnostics for high-dimensional functions of dependent
    variables", JCGS 16(3), 2007. Lengerich et al., "Purifying interaction effects with the
    functional ANOVA", AISTATS 2020.
    """
    _check_count("max_pairs", max_pairs, 0)
    _check_count("n_background", n_background, 1)
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    margins = margins_of(sample)
    neurons = FeatureNeurons.of(sample.network, sample.groups, sample.output)
    exact = None if neurons is None else ExactParts.of(neurons, margins)
    parts: _Parts
    generator = np.random.default_rng(random_state)
    fresh = draw_product(margins, _DRAWS, generator)
    background = draw_product(margins, n_background, generator)
    if exact is not None:
        parts, of_pairs = exact, _variances(exact, margins)
        # Over independent features parts are uncorrelated, so that variances add up.
        variance = sum(_variance(exact, margins, feature) for feature in range(len(margins)))
        whole = _Whole(exact.intercept, float(variance + of_pairs.sum()), 0.0)
    else:
        pairs = _strongest(sample, fresh, max_pairs, random_state)
        parts = DependenceParts.of(sample, neurons, margins, background, pairs)
        of_pairs, whole = _variances(parts, margins), _measure(sample, parts, fresh)
    deviation = float(np.sqrt(whole.variance))
    axes = [margin.curve_axis(sample) for margin in margins]
    own = _curves(sample, parts, margins, axes, whole.intercept)

    def read(one: Sample) -> list[Curve]:
        others = _main_parts(one, margins, background, exact=exact is not None)
        return _curves(one, others, margins, axes, 0.0)

    beside = beside_of(network, X, sample, refits, schema, sample_weight)
    return FunctionalAnova(
        schema=sample.schema,
        intercept=whole.intercept,
        curves=beside.curves(read, own=own),
        surfaces=_surfaces(sample, parts, margins, np.sqrt(of_pairs), deviation),
        deviation=deviation,
        left_over=whole.left_over,
        exact=exact is not None,
        band=beside.words,
        _parts=parts,
        _subject=subject_with(network, schema),
    )


class _Whole(NamedTuple):
    """What belongs to the whole score."""

    intercept: float
    variance: float
    left_over: float


def _check_count(name: str, value: int, least: int) -> None:
    """Raise an error unless a parameter is a whole number that is large enough."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"{name} must be a whole number; it is {value!r}.")
    if value < least:
        raise ValueError(f"{name} must be at least {least}; it is {value}.")


def _strongest(
    sample: Sample, rows: Floats, max_pairs: int, random_state: int
) -> list[tuple[int, int]]:
    """The pairs of features that act together most, ascending."""
    if max_pairs == 0 or len(sample.features) < 2:
        return []
    found = interaction_strength(
        sample.network,
        rows,
        schema=sample.schema,
        output=sample.output,
        n_pairs=_CHOOSING,
        random_state=random_state,
    )
    first, second = np.triu_indices(len(sample.features), 1)
    strength = found.pair[first, second]
    best = np.argsort(-strength, kind="stable")[:max_pairs]
    best = np.sort(best[strength[best] > _ROUNDING * found.score_deviation])
    return list(zip(first[best].tolist(), second[best].tolist(), strict=True))


def _measure(sample: Sample, parts: _Parts, rows: Floats) -> _Whole:
    """Intercept, variance and what is left over, on rows of independent features."""
    score = np.asarray(sample.network.score(rows)[:, sample.output], dtype=np.float64)
    rest = score - parts.main(rows).sum(axis=1) - parts.joint(rows).sum(axis=1)
    variance = float(score.var())
    left_over = float(rest.var() / variance) if variance > 0 else 0.0
    return _Whole(float(rest.mean()), variance, left_over)


def _variance(parts: _Parts, margins: Sequence[Margin], feature: int) -> float:
    """Variance of the effect of a feature."""
    return margins[feature].mean(np.square(parts.curve(feature, margins[feature])))


def _variances(parts: _Parts, margins: Sequence[Margin]) -> Floats:
    """Variance of the effect of each pair, (n_pairs,)."""
    found = np.empty(len(parts.pairs))
    for pair, (one, other) in enumerate(parts.pairs):
        first, second = margins[one], margins[other]
        squares = np.square(parts.surface(pair, first, second))
        found[pair] = first.mass @ squares @ second.mass
    return found


def _main_parts(
    sample: Sample, margins: Sequence[Margin], background: Floats, *, exact: bool
) -> _Parts:
    """The parts of another network, for its curves: in the same way as those of the first one."""
    neurons = FeatureNeurons.of(sample.network, sample.groups, sample.output) if exact else None
    found = None if neurons is None else ExactParts.of(neurons, margins)
    if found is not None:
        return found
    return DependenceParts.of(sample, None, margins, background, [])


def _curves(
    sample: Sample, parts: _Parts, margins: Sequence[Margin], axes: Sequence[Axis], level: float
) -> list[Curve]:
    curves = []
    for feature, (margin, axis) in enumerate(zip(margins, axes, strict=True)):
        mass = np.zeros(len(axis.places))
        mass[np.searchsorted(axis.places, margin.places)] = margin.mass
        effect = parts.curve(feature, axis)
        name = sample.features[feature]
        curves.append(Curve(name, axis.values, effect, level, mass, axis.labels, kind=margin.kind))
    return curves


def _places(sample: Sample, margins: Sequence[Margin]) -> list[Floats]:
    """Where the rows are along each feature."""
    return [margin.place(sample.X) for margin in margins]


def _surfaces(
    sample: Sample,
    parts: _Parts,
    margins: Sequence[Margin],
    strengths: Floats,
    deviation: float,
) -> tuple[PairEffect, ...]:
    axes, places = [margin.surface_axis() for margin in margins], _places(sample, margins)
    within = [axis.cell(place) for axis, place in zip(axes, places, strict=True)]
    found = []
    for pair, (first, second) in enumerate(parts.pairs):
        one, other = axes[first], axes[second]
        shape = (len(one.places) - 1, len(other.places) - 1)
        cell = within[first] * max(shape[1], 1) + within[second]
        mass = sums_by(cell, sample.weight, max(shape[0], 1) * max(shape[1], 1))
        found.append(
            PairEffect(
                features=(sample.features[first], sample.features[second]),
                values=(one.values, other.values),
                effect=parts.surface(pair, one, other),
                mass=mass[: shape[0] * shape[1]].reshape(shape),
                share=shares_at(
                    (one.places, other.places), (places[first], places[second]), sample.weight
                ),
                strength=float(strengths[pair]),
                spread=deviation,
                labels=(one.labels, other.labels),
                kinds=(margins[first].kind, margins[second].kind),
            )
        )
    return tuple(found)
