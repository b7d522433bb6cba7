"""Bayesian search in a budget of seconds or trials."""

from __future__ import annotations

import inspect
import time
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from lifenet.tuning.evaluation import Task, TooSlow
from lifenet.tuning.journal import (
    RECORD,
    claim,
    import_optuna,
    kept_seed,
    open_study,
    quiet,
    records,
)
from lifenet.tuning.result import SearchResult, TrialRecord
from lifenet.tuning.spaces import named_space

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    import optuna

    from lifenet.tuning.result import Ending
    from lifenet.tuning.space import Space

__all__ = ["search"]

# Seconds of a trial, by the name of the clock.
_CLOCKS = {"wall": time.monotonic, "cpu": time.process_time}
# Trials before which none is pruned, and that are drawn at random.
_UNPRUNED, _RANDOM = 4, 8
# So many failures without a success end the search.
_HOPELESS = 10
_BAR = 20


def search(
    estimator: Any,
    space: Space | str,
    X: Any,
    y: Any,
    *,
    cv: Any = None,
    scoring: Any = None,
    groups: Any = None,
    sample_weight: Any = None,
    fit_params: Mapping[str, Any] | None = None,
    budget_seconds: float | None = None,
    max_trials: int | None = None,
    min_trials: int = 1,
    trial_share: float | None = 0.2,
    clock: Literal["wall", "cpu"] = "wall",
    journal: str | os.PathLike[str] | None = None,
    random_state: int | np.random.RandomState | None = None,
    progress: bool = False,
) -> SearchResult:
    """Find the parameters that do best on held-out rows, by a tree-structured Parzen estimator.

    The first trial is the estimator as it was given, never pruned: no result is worse on the
    folds. A later trial is pruned after a fold where it is worse than the median of those before,
    and stopped where it takes more than its share of the budget: between folds, and within a fit
    where the estimator has a `time_limit`. A trial that fails is recorded with its message.

    Parameters
    ----------
    estimator : estimator
        Any of scikit-learn's kind. Never changed.
    space : Space or str
        What is tuned; or the name of a space in `SPACES`, such as "life".
    X : array-like of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)
    cv : int, splitter, iterable of splits or None
        As everywhere in scikit-learn: None is five folds; ``ShuffleSplit(1, test_size=0.2)`` is
        one inner split. Rows are split once, all trials see the same folds.
    scoring : str, callable or None
        As everywhere in scikit-learn; None is the estimator's own `score`.
    groups : array-like of shape (n_samples,) or None
        For the splitter, and for the estimator where its `fit` takes groups.
    sample_weight : array-like of shape (n_samples,) or None
        For fits, and for scores that take weights.
    fit_params : dict or None
        Further arguments of `fit`, split with the rows where they have one entry a row.
    budget_seconds : float or None
        No trial is begun after so many seconds of trials. Trials in the journal count.
    max_trials : int or None
        Most trials, those in the journal included. Without a budget, the result is reproducible.
    min_trials : int
        Fewest trials, whatever the budget.
    trial_share : float or None
        Share of the budget that one trial may take; the estimator as given may take all of it.
        None stops no trial.
    clock : {"wall", "cpu"}
        What the seconds of the budget are: those that pass, or those that this process computes.
    journal : path or None
        File to keep finished trials in. Called again with the same data, after a kill or with a
        larger budget, the search goes on from it; one search at a time.
    random_state : int, RandomState instance or None
        Seed of the search, and of every `random_state` of the estimator that is None.
    progress : bool
        Whether to print a line a trial.

    Returns
    -------
    SearchResult

    Examples
    --------
    >>> from lifenet import LLARegressor
    >>> from lifenet.datasets import simulate
    >>> from lifenet.tuning import search
    >>> data = simulate.aim(500, random_state=0)
    >>> found = search(
    ...     LLARegressor(), "lla", data.X, data.y, cv=2, max_trials=3, random_state=0
    ... )
    >>> len(found.trials), found.best_score >= found.trials[0].score
    (3, True)
    """
    _check_ends(budget_seconds, max_trials, min_trials)
    if clock not in _CLOCKS:
        raise ValueError(f"clock must be 'wall' or 'cpu'; got {clock!r}.")
    space = named_space(space)
    with quiet(import_optuna()):
        study = open_study(journal, _UNPRUNED)
        seed = _seed(random_state, kept_seed(study))
        arguments = {"sample_weight": sample_weight, "groups": groups, **(fit_params or {})}
        task = Task.of(estimator, X, y, cv, scoring, arguments, seed)
        if journal is not None:
            claim(study, {"space": space.name, **task.identity()})
        first_error: Exception | None = None
        while _goes_on(done := records(study), budget_seconds, max_trials, min_trials):
            limits = _limits(done, budget_seconds, trial_share)
            error = _run_trial(study, task, space, len(done), limits, _CLOCKS[clock])
            first_error = first_error or error
            if progress:
                print(_line(records(study), budget_seconds, max_trials))
        return _result(study, task, space, first_error)


def _check_ends(budget_seconds: float | None, max_trials: int | None, min_trials: int) -> None:
    if budget_seconds is None and max_trials is None:
        raise ValueError("Give budget_seconds or max_trials: the search would never end.")
    if budget_seconds is not None and not budget_seconds > 0:
        raise ValueError(f"budget_seconds must be above 0; got {budget_seconds}.")
    if max_trials is not None and (not isinstance(max_trials, Integral) or max_trials < 1):
        raise ValueError(f"max_trials must be a whole number above 0; got {max_trials!r}.")
    if not isinstance(min_trials, Integral) or min_trials < 1:
        raise ValueError(f"min_trials must be a whole number above 0; got {min_trials!r}.")
    if max_trials is not None and min_trials > max_trials:
        raise ValueError(f"min_trials={min_trials} is more than max_trials={max_trials}.")


def _seed(random_state: Any, kept: int | None) -> int:
    """A whole number is itself a promise; anything else goes on with the journal's seed."""
    if kept is not None and not isinstance(random_state, Integral):
        return kept
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))


def _goes_on(
    done: tuple[TrialRecord, ...],
    budget_seconds: float | None,
    max_trials: int | None,
    min_trials: int,
) -> bool:
    if max_trials is not None and len(done) >= max_trials:
        return False
    if len(done) >= _HOPELESS and all(trial.ending == "failed" for trial in done):
        return False
    # The estimator as given is tried in any case.
    enough = len(done) >= max(min_trials, 1)
    return not enough or budget_seconds is None or _seconds(done) < budget_seconds


def _seconds(done: tuple[TrialRecord, ...]) -> float:
    return sum(trial.seconds for trial in done)


class _Limits(NamedTuple):
    """Seconds that the next trial may take: the estimator as given, and any other."""

    as_given: float | None
    other: float | None


def _limits(
    done: tuple[TrialRecord, ...], budget_seconds: float | None, trial_share: float | None
) -> _Limits:
    if budget_seconds is None or trial_share is None:
        return _Limits(None, None)
    left = max(budget_seconds - _seconds(done), 0.0)
    return _Limits(left, min(left, trial_share * budget_seconds))


def _run_trial(
    study: optuna.Study,
    task: Task,
    space: Space,
    number: int,
    limits: _Limits,
    clock: Callable[[], float],
) -> Exception | None:
    """Run the next trial and write it down; the error of one that failed."""
    trial = _ask(study, task, space, number)
    as_given = bool(trial.user_attrs.get("as_given", False))
    limit = limits.as_given if as_given else limits.other
    scores: list[float] = []
    begun = clock()
    ending, error = _attempt(trial, task, space, limit, scores, as_given=as_given)
    value = float(np.mean(scores)) if ending == "done" else None
    trial.set_user_attr(
        RECORD,
        {
            "ending": ending,
            "score": value,
            "fold_scores": scores,
            "seconds": clock() - begun,
            "as_given": as_given,
            "message": _message(ending, error),
        },
    )
    # A failed trial counts as one that was pruned, so that the sampler keeps away from its like.
    state = import_optuna().trial.TrialState.PRUNED
    study.tell(trial, value) if ending == "done" else study.tell(trial, state=state)
    return error if ending == "failed" else None


def _message(ending: Ending, error: Exception | None) -> str:
    if error is None:
        return ""
    return f"{type(error).__name__}: {error}" if ending == "failed" else str(error)


def _attempt(
    trial: optuna.Trial,
    task: Task,
    space: Space,
    limit: float | None,
    scores: list[float],
    *,
    as_given: bool,
) -> tuple[Ending, Exception | None]:
    """Fit and score the folds until all are done or the trial ends otherwise."""
    try:
        parameters = _parameters(trial, task, space, as_given=as_given)
        for score in task.score_folds(parameters, limit, cut=not as_given):
            scores.append(score)
            trial.report(float(np.mean(scores)), len(scores) - 1)
            if not as_given and len(scores) < len(task.folds) and trial.should_prune():
                return "pruned", None
    except TooSlow as error:
        return "slow", error
    except Exception as error:
        return "failed", error
    return "done", None


def _ask(study: optuna.Study, task: Task, space: Space, number: int) -> optuna.Trial:
    """The next trial: one that was planned, or what the sampler makes of those before.

    Each trial has a sampler of its own, seeded by its number, so that a search that went on from a
    journal asks what it would have asked without the break.
    """
    optuna = import_optuna()
    state = np.random.SeedSequence([task.seed, number]).generate_state(1)
    study.sampler = optuna.samplers.TPESampler(
        seed=int(state[0]), n_startup_trials=_RANDOM, multivariate=False
    )
    planned = _plan(task, space)
    waiting = study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,))
    if number < len(planned) and not waiting:
        values, as_given = planned[number]
        study.enqueue_trial(values, user_attrs={"as_given": as_given})
    return study.ask()


def _plan(task: Task, space: Space) -> list[tuple[dict[str, Any], bool]]:
    """Values of the first trials, and whether each is the estimator as given."""
    if space.start is None:
        return [({}, True)]
    start = space.start(*task.shape)
    if space.starts_at_default and _has_defaults(task, space, start):
        return [(start, True)]
    return [({}, True), (start, False)]


def _has_defaults(task: Task, space: Space, start: dict[str, Any]) -> bool:
    """Whether all that the space sets has the default value of its class in the estimator."""
    fixed = import_optuna().trial.FixedTrial(start)
    try:
        names = space.suggest(fixed, *task.shape)
    except ValueError:  # the start leaves a choice open
        return False
    given = task.estimator.get_params()
    for name in names:
        owner_name, _, leaf = name.rpartition("__")
        owner = given[owner_name] if owner_name else task.estimator
        parameter = inspect.signature(type(owner)).parameters.get(leaf)
        if parameter is None or not _same(given[name], parameter.default):
            return False
    return True


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and isinstance(one, str | int | float) and one == other


def _parameters(trial: Any, task: Task, space: Space, *, as_given: bool) -> dict[str, Any]:
    """The estimator's parameters of a trial; the values of one as given only inform the sampler."""
    if not as_given:
        return space.suggest(trial, *task.shape)
    planned, _ = _plan(task, space)[0]
    if planned:
        space.suggest(trial, *task.shape)
    return {}


def _result(
    study: optuna.Study, task: Task, space: Space, first_error: Exception | None
) -> SearchResult:
    trials = records(study)
    done = [trial for trial in trials if trial.score is not None]
    if not done:
        cause = next(trial.message for trial in trials if trial.ending == "failed")
        kind = TypeError if cause.startswith("TypeError") else ValueError
        raise kind(
            f"All {len(trials)} trials failed. The first, the estimator as given: {cause}"
        ) from first_error
    best = max(done, key=lambda trial: (trial.score, -trial.number))
    assert best.score is not None
    parameters: dict[str, Any] = {}
    if not best.as_given:
        fixed = import_optuna().trial.FixedTrial(dict(best.values))
        parameters = space.suggest(fixed, *task.shape)
    return SearchResult(parameters, best.score, best.number, trials, _seconds(trials), task.seed)


def _line(
    trials: tuple[TrialRecord, ...], budget_seconds: float | None, max_trials: int | None
) -> str:
    """How far the search is, how its last trial ended, and the best so far."""
    last, seconds = trials[-1], _seconds(trials)
    shares = []
    if budget_seconds is not None:
        shares.append(seconds / budget_seconds)
    if max_trials is not None:
        shares.append(len(trials) / max_trials)
    full = round(_BAR * min(max(shares), 1.0))
    how = f"{last.score:.6g}" if last.score is not None else f"{last.ending}, {last.message}"
    scores = [trial.score for trial in trials if trial.score is not None]
    best = f"best {max(scores):.6g}" if scores else "none done yet"
    of = "" if budget_seconds is None else f" of {budget_seconds:g}"
    bar = "#" * full + "." * (_BAR - full)
    return f"[{bar}] trial {last.number}: {how.rstrip(', ')} ({best}), {seconds:.1f}{of} s"
