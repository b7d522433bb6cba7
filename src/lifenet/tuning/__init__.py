"""Bayesian tuning: search spaces, a resumable search in a budget of seconds, a meta-estimator.

| question | name |
|---|---|
| What is tuned, and over which range? | `life_space` and the other spaces; `Space` for your own |
| Which parameters do best on held-out rows? | `search` |
| The same, as a scikit-learn estimator | `LIFESearchCV` |

The search is optuna's (the extra ``lifenet[tune]``). Its first trial is the estimator as it was
given, so that tuning never ends worse than that on the validation rows.
"""

from lifenet.tuning.estimator import LIFESearchCV
from lifenet.tuning.peers import (
    catboost_space,
    ebm_space,
    lightgbm_space,
    mlp_space,
    random_forest_space,
    xgboost_space,
)
from lifenet.tuning.result import SearchResult, TrialRecord
from lifenet.tuning.search import search
from lifenet.tuning.space import Space
from lifenet.tuning.spaces import SPACES, adam_space, life_space, lla_space

__all__ = [
    "SPACES",
    "LIFESearchCV",
    "SearchResult",
    "Space",
    "TrialRecord",
    "adam_space",
    "catboost_space",
    "ebm_space",
    "life_space",
    "lightgbm_space",
    "lla_space",
    "mlp_space",
    "random_forest_space",
    "search",
    "xgboost_space",
]
