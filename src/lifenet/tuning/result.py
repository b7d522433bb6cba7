"""What a search found: its trials as a table, and the best of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from lifenet._extras import require
from lifenet._shown import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

__all__ = ["Ending", "SearchResult", "TrialRecord"]

Ending = Literal["done", "pruned", "slow", "failed"]


@dataclass(frozen=True)
class TrialRecord:
    """One finished trial.

    Attributes
    ----------
    number : int
        Its place in the search, from 0.
    ending : {"done", "pruned", "slow", "failed"}
        "pruned" was worse than most after some folds, "slow" ran out of its share of the budget.
    score : float or None
        Mean over the folds, higher is better; None unless it is done.
    fold_scores : tuple of float
        Of the folds that were fitted.
    seconds : float
        Spent on it.
    values : dict
        What the space was answered; of the estimator as given, empty or its defaults.
    as_given : bool
        Whether it is the estimator as it was given, whatever the values.
    message : str
        Why it did not end well.
    """

    number: int
    ending: Ending
    score: float | None
    fold_scores: tuple[float, ...]
    seconds: float
    values: Mapping[str, Any]
    as_given: bool = False
    message: str = ""


@shown
@dataclass(frozen=True)
class SearchResult:
    """The best parameters of a search, and all its trials.

    Attributes
    ----------
    best_params : dict
        For `set_params` of the estimator; empty where the estimator as given was the best.
    best_score : float
        Its mean score over the folds.
    best_number : int
        The number of its trial, the first of equals.
    trials : tuple of TrialRecord
        In order.
    seconds : float
        Spent on all trials, those of an earlier run of the same journal included.
    seed : int
        Given to every `random_state` of the estimator that was None.
    """

    best_params: Mapping[str, Any]
    best_score: float
    best_number: int
    trials: tuple[TrialRecord, ...]
    seconds: float
    seed: int

    def to_frame(self) -> pd.DataFrame:
        """One row a trial: number, ending, score, seconds, as_given, message, value_<name>..."""
        pandas = require("pandas", extra="data", purpose="A data frame")
        names = dict.fromkeys(name for trial in self.trials for name in trial.values)
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "number": [trial.number for trial in self.trials],
                "ending": [trial.ending for trial in self.trials],
                "score": [float("nan" if t.score is None else t.score) for t in self.trials],
                "seconds": [trial.seconds for trial in self.trials],
                "as_given": [trial.as_given for trial in self.trials],
                "message": [trial.message for trial in self.trials],
                **{f"value_{n}": [t.values.get(n) for t in self.trials] for n in names},
            }
        )
        return frame
