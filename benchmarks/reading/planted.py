"""Functions whose slopes, signs and interactions are known, learned by the default."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import rankdata

from benchmarks.runs import Runs
from lifenet import LIFERegressor
from lifenet.explain import coefficient_signs, feature_importance, interaction_strength
from lifenet.explain._windows import window_lines

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from planted_interactions import PLANTED, separation

N_SAMPLES, N_SEEDS = 5_000, 20
PLANTED_NAMES = tuple(one.name for one in PLANTED)
#: Those without a kink.
SMOOTH = tuple(name for name in PLANTED_NAMES if name not in {"hinges", "gates"})
TRIES = Runs("reading-planted.csv", ("slopes", "signs", "order", "pairs"))
_ROWS = 500
#: Importances closer than this share have no order.
_CLEAR = 0.1


def planted_try(name: str, seed: int) -> list[dict[str, Any]]:
    """R² of slopes at a reach, and whether signs, order and interactions are those of the truth."""
    planted = next(one for one in PLANTED if one.name == name)
    X, y = planted.draw(N_SAMPLES, 0.0, seed)
    rows = planted.draw(_ROWS, 0.0, seed + 1_000)[0]
    model = LIFERegressor(random_state=seed).fit(X, y)
    known = {"schema": model.schema_}
    slopes, true_slopes = (
        window_lines(one, rows, model.schema_, 0.05).slopes[..., 0]
        for one in (model.network_, planted)
    )
    found, truth = (coefficient_signs(one, rows, **known).verdict for one in (model, planted))
    ours, theirs = (feature_importance(one, rows, **known).importance for one in (model, planted))
    pairs = interaction_strength(model, rows, **known).pair
    spread = X.std(axis=0)
    left = np.square((slopes - true_slopes) * spread).sum()
    total = np.square(true_slopes * spread - (true_slopes * spread).mean(axis=0)).sum()
    return [
        {
            "part": "default",
            "data": name,
            "seed": seed,
            "slopes": 1 - left / total,
            "signs": float(found == truth),
            "order": float(_same_order(ours, theirs)),
            "pairs": float(separation(pairs, planted.pairs) > 1),
        }
    ]


def _same_order(ours: Any, theirs: Any) -> bool:
    """Whether features whose true importance differs clearly stand in the true order."""
    clear = theirs[:, None] > (1 + _CLEAR) * theirs[None] + 1e-9
    ranks = rankdata(ours)
    return bool((ranks[:, None] > ranks[None])[clear].all())
