"""Main effects as the paper draws them: integrals of smoothed slopes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._bands import beside_of
from lifenet.explain._sample import Sample, sums_by
from lifenet.explain.effects import (
    Curve,
    Effects,
    accumulated_curves,
    curve_of_rows,
    features_named,
)
from lifenet.kernels.smoothing import LevelBasis, smooth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from lifenet._typing import Floats
    from lifenet.kernels.smoothing import Smooth
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["integrated_effects"]


def integrated_effects(
    network: PiecewiseLinear,
    X: Any,
    *,
    features: Iterable[str] | None = None,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    refits: Iterable[Any] | None = None,
) -> Effects:
    """The paper's own main effects (section 4.3, figure `gam_plot2`).

    The slope of each row, smoothed over its column to ``g_main``, is integrated by the midpoint
    rule between neighbouring distinct values of the column; a constant makes the mean over the
    rows zero. Where a column has few values, the means of the slopes at both ends of an interval
    are averaged. A category has no slopes: its effect is that of `accumulated_effects`, and so is
    that of a missing value beside the curve.

    It looks at slopes where rows are, and so misses kinks between the values of a coarse column
    (the hours of a day); `accumulated_effects` does not.

    Parameters
    ----------
    network, X, features, schema, sample_weight, output, refits : as in `accumulated_effects`
        The smooths of the folds' networks are their own, so that a band takes as long again.

    Returns
    -------
    Effects
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    wanted = features_named(sample, features)
    beside = beside_of(network, X, sample, refits, schema, sample_weight)
    curves = beside.curves(lambda one: _integrated(one, wanted), linear=False)
    return Effects("integrated", curves, float(sample.deviation(sample.score)), beside.words)


def _integrated(sample: Sample, features: Sequence[int]) -> list[Curve]:
    gradient, level = sample.gradient, float(sample.mean(sample.score))
    counts = sample.weight * sample.total
    curves = []
    for feature in features:
        column = sample.column_of(feature)
        if column is None:
            curves += accumulated_curves(sample, [feature])
            continue
        seen = sample.observed(feature)
        some = np.arange(len(sample.X)) if seen is None or not seen.any() else np.flatnonzero(seen)
        own = sample.X[some, column]
        values, place = np.unique(own, return_inverse=True)
        slope = smooth(own, gradient[some][:, [column]], counts[some])
        mass = sums_by(place, sample.weight[some], len(values))
        if seen is not None and not seen.any():
            mass = np.zeros(len(values))
        effect = _integrate(slope, values)
        curves.append(curve_of_rows(sample, feature, values, effect, mass, level))
    return curves


def _integrate(slope: Smooth, values: Floats) -> Floats:
    """Integral of a smooth from the first value to each, (g,)."""
    height: Floats = np.zeros(0)
    if isinstance(slope.basis, LevelBasis):
        ends = slope(values)[:, 0]
        height = (ends[1:] + ends[:-1]) / 2
    elif len(values) > 1:
        height = slope((values[1:] + values[:-1]) / 2)[:, 0]
    return np.concatenate([[0.0], np.cumsum(height * np.diff(values))])
