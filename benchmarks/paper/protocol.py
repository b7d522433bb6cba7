"""How models are tuned and fitted: one protocol for all models of a benchmark, read by the code.

What docs/results.md says of it is written from these numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Protocol:
    """What a tuning may take, and which rows it sees. Final fits have no limit.

    Attributes
    ----------
    budget : seconds of trials after which none is begun; None leaves it to the trials
    clock : whether these are CPU seconds or seconds that pass
    min_trials : of each tuning, whatever the budget
    max_trials : of each tuning; None leaves it to the budget
    trial_share : of the budget that one trial may take before it is stopped; None stops none
    tuning_rows : most rows of the training part that trials see; None takes all
    clear_gain : standard errors, over rows, by which the model found has to be better than the
        model as given on a new division of all training rows; None asks for no such proof
    splits : inner splits that a trial is fitted to, by the most rows for which that holds
    max_rows : of each data set, training and test part together; None takes all
    """

    budget: float | None = None
    clock: Literal["wall", "cpu"] = "wall"
    min_trials: int = 1
    max_trials: int | None = None
    trial_share: float | None = 0.2
    tuning_rows: int | None = None
    clear_gain: float | None = None
    splits: tuple[tuple[int, int], ...] = ()
    max_rows: int | None = None

    def n_splits(self, n_rows: int) -> int:
        """Inner splits for so many rows: more where a single one says little."""
        return next((n for most, n in self.splits if n_rows <= most), 1)

    @property
    def sentences(self) -> str:
        """What a reader of the tables has to know of it."""
        kind = "CPU seconds" if self.clock == "cpu" else "seconds"
        splits = ", ".join(f"{n} such splits up to {most:,} rows" for most, n in self.splits)
        said = [
            "Each model is tuned once for each set, by Bayesian search on an inner 80/20 split of "
            "the training part of seed 0" + (f" ({splits})." if splits else "."),
            "The model as given is the first trial, and stays where nothing is better"
            + (
                "."
                if self.clear_gain is None
                else f" by more than {self.clear_gain:g} standard "
                "error, taken over rows, on a new division of all training rows."
            ),
        ]
        if self.budget is not None:
            said.append(
                f"All models have the same budget of {self.budget:g} {kind} of trials"
                + (f", and {self.min_trials} trials at least." if self.min_trials > 1 else ".")
            )
        if self.trial_share is None:
            said.append("No trial and no final fit is cut short.")
        if self.tuning_rows is not None:
            said.append(f"Trials see at most {self.tuning_rows:,} rows.")
        return " ".join(said)


#: Of the paper's tables.
PAPER = Protocol(
    budget=60.0,
    clock="cpu",
    min_trials=20,
    trial_share=None,
    tuning_rows=4_000,
    clear_gain=1.0,
    splits=((2_000, 5), (3_999, 2)),
)
#: Of the tables of peers, whose records are older.
PEERS = Protocol(budget=30.0)
