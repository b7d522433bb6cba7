"""How many rows a time limit allows for, measured on a few of them, and what it cut short."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import TYPE_CHECKING

from lifenet.data.evaluation import some_rows
from lifenet.solvers.base import Status

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lifenet.data.folds import Fold
    from lifenet.data.run import Run
    from lifenet.recipe.recipe import Recipe
    from lifenet.stacking.base import FoldFit

__all__ = ["cut_short", "fit_rows_in_time"]

# Rows of the pilot fit, and the share of the time that it may take.
_PILOT_ROWS, _PILOT_SHARE = 2_000, 0.15
# Share of the time left that trees and output layer of the first fold may take: they cannot be
# ended on their way as training and fine-tuning can. Chosen by hand.
_STEADY_SHARE = 0.4


def fit_rows_in_time(
    fit: Callable[[Recipe, Fold, Run], FoldFit], recipe: Recipe, folds: Sequence[Fold], run: Run
) -> tuple[Sequence[Fold], float]:
    """The folds with as many rows as the time allows for, and seconds that each takes at least.

    A pilot fit of few rows measures what trees and output layer take; both grow with the rows.
    Without a time limit, or of few rows, folds stay what they are.
    """
    n_rows = folds[0].fit.rows.n_rows
    if not run.deadline.limited or n_rows <= _PILOT_ROWS:
        return folds, 0.0
    pilot = _with_rows(folds[0], _PILOT_ROWS)
    limited = run.alone().until(run.deadline.rest(_PILOT_SHARE))
    known = fit(replace(recipe, finetune=None), pilot, limited)
    pace = known.steady_seconds / pilot.fit.rows.n_rows
    allowed = int(_STEADY_SHARE * run.deadline.left / max(pace, 1e-9))
    if allowed >= n_rows:
        return folds, pace * n_rows
    allowed = max(allowed, _PILOT_ROWS)
    warnings.warn(
        f"The time limit allows for about {allowed:,} of the {n_rows:,} training rows of a fold; "
        "the others are left out. Give more time to fit all of them.",
        stacklevel=2,
    )
    return [_with_rows(fold, allowed) for fold in folds], pace * allowed


def cut_short(fits: Sequence[FoldFit], n_folds: int) -> list[str]:
    """What the time limit left out or ended early, in words."""
    statuses = [one.status for fit in fits for stage in fit.stages for one in stage.trained]
    tuned = [fit.tuned.status for fit in fits if fit.tuned is not None]
    known = (
        (n_folds - len(fits), n_folds, "folds were left out"),
        (statuses.count(Status.NOT_STARTED), len(statuses), "base learners were left out"),
        (statuses.count(Status.TIME_LIMIT), len(statuses), "base learners ended early"),
        (tuned.count(Status.TIME_LIMIT), len(tuned), "runs of fine-tuning ended early"),
    )
    return [f"{count} of {of} {what}" for count, of, what in known if count > 0]


def _with_rows(fold: Fold, most: int) -> Fold:
    """The fold with fewer rows to train on, and validation rows in proportion."""
    share = most / max(fold.fit.rows.n_rows, 1)
    train = some_rows(fold.train, most)
    fit = some_rows(fold.fit, most) if fold.refits else train
    validation = fold.validation
    index = fold.index
    if validation is not None:
        n_rows = validation.rows.n_rows
        validation = some_rows(validation, max(round(share * n_rows), min(n_rows, 500)))
        if validation is not fold.validation:
            index = None
    return replace(fold, train=train, fit=fit, validation=validation, index=index)
