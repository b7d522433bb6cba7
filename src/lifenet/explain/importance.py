"""How much each feature matters to the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._exchange import draw_pairs, exchange_gains
from lifenet.explain._sample import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.schema import FeatureSchema

__all__ = ["FeatureImportance", "feature_importance"]

#: Pairs of rows where no number is asked for: standard errors are about a fiftieth.
_PAIRS = 2_000


@shown
@dataclass(frozen=True, eq=False)
class FeatureImportance:
    """By how much the score changes when a feature's value is taken from another row.

    Attributes
    ----------
    features : names
    importance : ndarray of shape (n_features,), in units of the score
    score_deviation : standard deviation of the score
    """

    features: tuple[str, ...]
    importance: Floats
    score_deviation: float

    @property
    def relative(self) -> Floats:
        """Importance relative to the score's standard deviation, (n_features,).

        Of independent features its square is the share of the score's variance in which the
        feature takes part: these shares add up to one where no features interact, to more where
        they do.
        """
        return np.asarray(self.importance / (self.score_deviation or np.nan))

    @property
    def order(self) -> Integers:
        """Features from the most to the least important."""
        return np.argsort(-self.importance, kind="stable")

    def to_frame(self) -> pd.DataFrame:
        """One row a feature, the most important first: feature, importance, relative."""
        pandas: Any = require("pandas", extra="data", purpose="A frame of feature importance")
        order = self.order
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "feature": [self.features[place] for place in order],
                "importance": self.importance[order],
                "relative": self.relative[order],
            }
        )
        return frame


def feature_importance(
    network: Any,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    n_pairs: int = _PAIRS,
    random_state: int | np.random.Generator = 0,
) -> FeatureImportance:
    """How much the score depends on each feature: the total effect of Jansen (1999).

    The root of half the mean, over random pairs of rows ``x, z``, of::

        (f(x) - f(x with the feature of z))^2

    It is to the score what permutation importance is to the loss, and needs no response: it says
    what the model does, not whether that is right. As there, features that depend on each other
    share what they say, and rows are asked about that may not occur.

    Parameters
    ----------
    network : fitted model, pipeline that ends in one, or PiecewiseLinear
    X : array-like or data frame of shape (n_samples, n_columns)
    schema, sample_weight, output : as in `explain_row`
    n_pairs : int, default=2000
        Pairs of rows, drawn with probability by weight.
    random_state : int or numpy Generator, default=0
        Of the draw.

    Returns
    -------
    FeatureImportance
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    first, second = draw_pairs(sample, n_pairs, random_state)
    gains = exchange_gains(sample, first, second)
    importance = np.sqrt(np.square(gains).mean(axis=0) / 2)
    spread = float(sample.deviation(sample.score))
    return FeatureImportance(sample.features, importance, spread)
