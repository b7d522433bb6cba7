"""How much of a model curves of single columns, and surfaces of pairs, can say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from lifenet._extras import require
from lifenet._shown import shown
from lifenet._threads import one_openmp_thread
from lifenet.explain._predictor import predictor_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.schema import FeatureSchema

__all__ = ["InteractionOrder", "interaction_order"]

#: Rows that surrogates are fitted to and measured on. Chosen by hand.
_ROWS = 20_000
#: Rows of a leaf at least: few, since scores have no noise.
_LEAST_ROWS = 5
_KINDS = {"main": "no_interactions", "pairs": "pairwise"}


@shown
@dataclass(frozen=True, eq=False)
class InteractionOrder:
    """Shares of the variance of a model's score that simpler models of it reproduce.

    Attributes
    ----------
    main : by a sum of functions of one column each
    pairs : by functions of one column and of two columns each
    n_rows : rows that both were measured on, none of which they were fitted to
    """

    main: float
    pairs: float
    n_rows: int

    @property
    def beyond(self) -> float:
        """What neither reproduces: three columns and more acting together, or too little data."""
        return 1.0 - max(self.main, self.pairs)

    def to_frame(self) -> pd.DataFrame:
        """One row an order: part, share."""
        pandas: Any = require("pandas", extra="data", purpose="to_frame")
        frame: pd.DataFrame = pandas.DataFrame(
            {"part": ["main effects", "with pairs"], "share": [self.main, self.pairs]}
        )
        return frame


def interaction_order(
    predictor: Any,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
    random_state: int = 0,
) -> InteractionOrder:
    """Share of a score's variance that main effects, and pairs, reproduce on rows not seen.

    Boosted trees whose every branch stays on one column, or on two
    (``HistGradientBoostingRegressor(interaction_cst=...)``), are fitted to the scores of one half
    of the rows and measured on the other, then the other way round. So the shares are lower bounds,
    and grow with the rows.

    Parameters
    ----------
    predictor, schema, sample_weight, output : as in `roughness`
    X : array-like or data frame of shape (n_samples, n_columns)
        At most 20,000 of its rows are used, evenly spaced.
    random_state : int, default=0
        Of the halves.

    Returns
    -------
    InteractionOrder
    """
    model, sample = predictor_of(predictor, X, schema, sample_weight, output)
    index = np.unique(np.linspace(0, len(sample.X) - 1, _ROWS).astype(np.intp))
    rows, weight = sample.X[index], sample.weight[index]
    if len(rows) < 4:
        raise ValueError(f"X has {len(rows)} rows; both halves need at least two.")
    score = model.score(rows)
    half = np.random.default_rng(random_state).permutation(len(rows)) % 2
    shares = {name: _share(rows, score, weight, half, kind) for name, kind in _KINDS.items()}
    return InteractionOrder(**shares, n_rows=len(rows))


def _share(rows: Floats, score: Floats, weight: Floats, half: Any, kind: str) -> float:
    """Out-of-sample R² of a surrogate; 1 where there is nothing to reproduce."""
    left = 0.0
    for number in (0, 1):
        fit, measured = half != number, half == number
        trees = HistGradientBoostingRegressor(
            max_iter=300,
            learning_rate=0.1,
            min_samples_leaf=_LEAST_ROWS,
            interaction_cst=kind,
            early_stopping=False,
        )
        # Threads that wait for each other on a busy machine take ten times as long.
        with one_openmp_thread():
            trees.fit(rows[fit], score[fit], sample_weight=weight[fit] * len(weight))
            error = score[measured] - trees.predict(rows[measured])
        left += float(weight[measured] @ np.square(error))
    total = float(weight @ np.square(score - weight @ score / weight.sum()))
    return 1.0 - left / total if total > 0 else 1.0
