"""How much readings move from network to network: other seeds, other draws of the rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import rankdata

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain.effects import Curve, accumulated_effects
from lifenet.explain.importance import feature_importance
from lifenet.explain.interactions import interaction_strength
from lifenet.network import PiecewiseLinear

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.explain.effects import Effects
    from lifenet.schema import FeatureSchema

__all__ = ["Stability", "stability"]


@shown
@dataclass(frozen=True, eq=False)
class Stability:
    """Importance, effects and interactions of several networks on the same rows.

    Attributes
    ----------
    features : names of the p features
    importance : ndarray of shape (n_networks, p), as `feature_importance` gives it
    effects : one `Effects` a network, all at the same values
    interactions : ndarray of shape (n_networks, p, p), as `interaction_strength` gives pairs
    """

    features: tuple[str, ...]
    importance: Floats
    effects: tuple[Effects, ...]
    interactions: Floats

    @property
    def n_networks(self) -> int:
        """How many networks were read."""
        return len(self.effects)

    @property
    def strength(self) -> Floats:
        """Strength of each effect, (n_networks, p)."""
        return np.array([[curve.strength for curve in one.curves] for one in self.effects])

    def band(self, feature: str, level: float = 0.9) -> tuple[Curve, Floats, Floats]:
        """The mean curve of a feature, and the lower and upper end of a band about it.

        The band holds, at each value, the middle share `level` of the networks' effects; of few
        networks, nearly all.
        """
        curves = [one[feature] for one in self.effects]
        stacked = np.stack([curve.effect for curve in curves])
        low, high = np.quantile(stacked, [(1 - level) / 2, (1 + level) / 2], axis=0)
        mean = replace(curves[0], effect=stacked.mean(axis=0), low=None, high=None)
        return mean, low, high

    def agreement(self) -> dict[str, float]:
        """Mean rank correlation between networks, of importance, effect strength, interactions.

        One where all networks put features, or pairs, in the same order; about zero where their
        orders have nothing in common.
        """
        pairs = np.triu_indices(len(self.features), 1)
        return {
            "importance": _agreement(self.importance),
            "effects": _agreement(self.strength),
            "interactions": _agreement(self.interactions[:, pairs[0], pairs[1]]),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row a feature and a pair: kind, feature, other, mean, sd, lowest, highest.

        `kind` is "importance", "effect" (strength, in units of the score) or "interaction".
        """
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        rows: list[dict[str, Any]] = []
        for place, feature in enumerate(self.features):
            rows.append(_row("importance", feature, "", self.importance[:, place]))
            rows.append(_row("effect", feature, "", self.strength[:, place]))
        for one, other in combinations(range(len(self.features)), 2):
            pair = self.interactions[:, one, other]
            rows.append(_row("interaction", self.features[one], self.features[other], pair))
        frame: pd.DataFrame = pandas.DataFrame(rows)
        return frame.sort_values(
            ["kind", "mean"], ascending=[True, False], kind="stable", ignore_index=True
        )


def stability(
    networks: Iterable[PiecewiseLinear],
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> Stability:
    """Read several networks of the same columns on the same rows, and compare.

    Parameters
    ----------
    networks : iterable of PiecewiseLinear
        At least two: `network_` of models fitted with other seeds, or to bootstrap draws.
    X : array-like or data frame of shape (n_samples, n_columns)
    schema, sample_weight, output : as in `accumulated_effects`

    Returns
    -------
    Stability
    """
    several = [networks] if isinstance(networks, PiecewiseLinear) else list(networks)
    if len(several) < 2:
        raise ValueError(f"networks must be at least two to be compared; got {len(several)}.")
    options: dict[str, Any] = {"schema": schema, "sample_weight": sample_weight, "output": output}
    effects = tuple(accumulated_effects(one, X, refits=(), **options) for one in several)
    importance = [feature_importance(network, X, **options).importance for network in several]
    pairs = [interaction_strength(network, X, **options).pair for network in several]
    features = tuple(curve.feature for curve in effects[0].curves)
    return Stability(features, np.array(importance), effects, np.array(pairs))


def _agreement(figures: Floats) -> float:
    """Mean over pairs of rows of the correlation of their ranks; 1 where there is one column."""
    if figures.shape[1] < 2:
        return 1.0
    ranks = np.array([rankdata(row) for row in figures])
    ranks -= ranks.mean(axis=1, keepdims=True)
    sizes = np.linalg.norm(ranks, axis=1)
    unit = ranks / np.where(sizes > 0, sizes, 1.0)[:, None]
    products = (unit @ unit.T)[np.triu_indices(len(unit), 1)]
    return float(products.mean())


def _row(kind: str, feature: str, other: str, figures: Floats) -> dict[str, Any]:
    return {
        "kind": kind,
        "feature": feature,
        "other": other,
        "mean": figures.mean(),
        "sd": figures.std(ddof=1),
        "lowest": figures.min(),
        "highest": figures.max(),
    }
