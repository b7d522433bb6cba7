"""How strongly pairs of features act together on the score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._exchange import draw_pairs, exchange_gains, exchanged
from lifenet.explain._sample import Sample
from lifenet.explain._windows import DEFAULT_REACH
from lifenet.explain.varying import varying_coefficients

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.explain.varying import VaryingCoefficients
    from lifenet.schema import FeatureSchema

__all__ = ["Interactions", "interaction_strength", "two_stage_strength"]

#: Pairs of rows where no number is asked for: so many, fewer where features are many.
_PAIRS, _FEWEST_PAIRS, _PAIRS_TIMES_FEATURES = 2_000, 200, 40_000
#: Rows scored at once by the second-order measure.
_BLOCK_ROWS = 20_000


@shown
@dataclass(frozen=True, eq=False)
class Interactions:
    """Strength of the interaction of each pair of features, in units of the score.

    Attributes
    ----------
    features : names of the p features
    measure : "two-stage" or "second-order"
    directed : ndarray of shape (p, p); two-stage: how much the coefficient of the row's feature
        varies with the column's; second-order: the same as `pair`. The diagonal is zero.
    pair : ndarray of shape (p, p), symmetric, by which pairs are ranked
    score_deviation : standard deviation of the score
    """

    features: tuple[str, ...]
    measure: str
    directed: Floats
    pair: Floats
    score_deviation: float

    @classmethod
    def from_varying(cls, varying: VaryingCoefficients) -> Interactions:
        """Those that varying coefficients show.

        A pair's strength is the mean of its two directions: an interaction such as
        ``x_1^2 x_2`` may show in one of them only, but what correlation alone brings about shows
        less often in both.
        """
        directed = varying.strength
        pair = (directed + directed.T) / 2
        return cls(varying.features, "two-stage", directed, pair, varying.score_deviation)

    @property
    def relative(self) -> Floats:
        """The strength of pairs relative to the standard deviation of the score, (p, p)."""
        return np.asarray(self.pair / (self.score_deviation or np.nan))

    def to_frame(self) -> pd.DataFrame:
        """All pairs, the strongest first.

        Columns: first, second, strength, relative (to the score's standard deviation), and for
        the two-stage measure both directions: first_by_second is how much the coefficient of the
        first feature varies with the second.
        """
        pandas = require("pandas", extra="data", purpose="A data frame")
        one, other = np.triu_indices(len(self.features), 1)
        table = {
            "first": [self.features[place] for place in one],
            "second": [self.features[place] for place in other],
            "strength": self.pair[one, other],
            "relative": self.relative[one, other],
        }
        if self.measure == "two-stage":
            table["first_by_second"] = self.directed[one, other]
            table["second_by_first"] = self.directed[other, one]
        frame: pd.DataFrame = pandas.DataFrame(table)
        return frame.sort_values("strength", ascending=False, kind="stable", ignore_index=True)


def two_stage_strength(
    network: Any,
    X: Any,
    *,
    reach: float = DEFAULT_REACH,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> Interactions:
    """The paper's two-stage measure (section 4.3): ``sd(g_k^m(x_k)) sd(x_m)`` for each pair.

    See `varying_coefficients`, of which it is a part: where that is at hand,
    ``Interactions.from_varying`` saves the work. It is blind to what vanishes in the mean over
    all but one feature, as ``(x_1^2 - 1)(x_2^2 - 1)`` and ``x_1 x_2 x_3`` do where the features
    are independent and symmetric. It takes slopes times standard deviations: where the column is
    skewed and the score is steep among its many small values, it says too much. For both,
    `interaction_strength` is the one to ask.

    Parameters
    ----------
    network, X, reach, schema, sample_weight, output : see `varying_coefficients`
    """
    return Interactions.from_varying(
        varying_coefficients(
            network,
            X,
            reach=reach,
            schema=schema,
            sample_weight=sample_weight,
            output=output,
            max_points=0,
        )
    )


def interaction_strength(
    network: Any,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    n_pairs: int | None = None,
    random_state: int | np.random.Generator = 0,
) -> Interactions:
    """How much each pair of features acts together: the superset importance of Liu and Owen (2006).

    The root mean square, over random pairs of rows ``x, z``, of half the mixed difference::

        f(x) - f(x with j of z) - f(x with k of z) + f(x with j and k of z)

    For independent features its square is the variance of all parts of the score in which j and
    k act together, alone or with others. It sees every interaction and is zero, to rounding, for
    a pair without one. It mixes the features of two rows: where they are strongly dependent, it
    asks the network about rows unlike any in the data.

    Parameters
    ----------
    network, X, schema, sample_weight, output : see `varying_coefficients`
    n_pairs : int or None, default=None
        Pairs of rows, drawn with probability by weight. None takes 2,000, fewer beyond 20 features.
    random_state : int or numpy Generator, default=0
        Of the draw.
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    if n_pairs is None:
        n_pairs = min(_PAIRS, max(_FEWEST_PAIRS, _PAIRS_TIMES_FEATURES // len(sample.features)))
    first, second = draw_pairs(sample, n_pairs, random_state)
    squares = np.zeros((len(sample.features),) * 2)
    for block in _blocks(len(first)):
        squares += _mixed_squares(sample, first[block], second[block])
    strength = np.sqrt((squares + squares.T) / len(first)) / 2
    spread = float(sample.deviation(sample.score))
    return Interactions(sample.features, "second-order", strength, strength, spread)


def _blocks(n_rows: int) -> Iterator[slice]:
    for start in range(0, n_rows, _BLOCK_ROWS):
        yield slice(start, start + _BLOCK_ROWS)


def _mixed_squares(sample: Sample, first: Floats, second: Floats) -> Floats:
    """Sum of squared mixed differences of each pair of features, above the diagonal.

    What going to the other row's feature k changes, with feature j of either row.
    """
    alone = exchange_gains(sample, first, second)
    squares = np.zeros((alone.shape[1],) * 2)
    for feature, columns in enumerate(sample.groups[:-1]):
        changed = exchanged(first, second, columns)
        gains = exchange_gains(sample, changed, second, since=feature + 1)
        squares[feature, feature + 1 :] = np.square(gains - alone[:, feature + 1 :]).sum(axis=0)
    return squares
