"""The search: never worse than what was given, reproducible, resumable, not stopped by failures."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold, ShuffleSplit, cross_val_score

from lifenet import LIFERegressor, LLARegressor
from lifenet.datasets import simulate
from lifenet.tuning import Space, search

pytest.importorskip("optuna")


class Dial(RegressorMixin, BaseEstimator):
    """Scores minus the distance of `level` from 3; counts its fits, and can fail or wait."""

    fits = 0

    def __init__(self, level=0.0, wait=0.0, fail_above=np.inf, time_limit=None, random_state=None):
        self.level = level
        self.wait = wait
        self.fail_above = fail_above
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X, y, sample_weight=None):
        Dial.fits += 1
        if Dial.fits == int(os.environ.get("DIAL_HANGS", "0")):
            print("hangs", flush=True)
            time.sleep(60)
        time.sleep(self.wait if self.time_limit is None else min(self.wait, self.time_limit))
        if self.level > self.fail_above:
            raise RuntimeError(f"level {self.level:.3f} is too high")
        self.n_features_in_ = X.shape[1]
        return self

    def predict(self, X):
        return np.full(len(X), self.level)

    def score(self, X, y, sample_weight=None):
        return -abs(self.level - 3.0)


def suggest_level(trial, n_samples, n_features):
    return {"level": trial.suggest_float("level", 0.0, 10.0)}


LEVEL = Space("level", suggest_level)
X, Y = np.arange(40.0).reshape(20, 2), np.arange(20.0)
ONE = ShuffleSplit(1, random_state=0)


def test_the_first_trial_is_the_estimator_as_given_and_nothing_ends_worse():
    found = search(Dial(2.9), LEVEL, X, Y, cv=ONE, max_trials=4, random_state=0)
    first = found.trials[0]
    assert first.as_given
    assert first.score == pytest.approx(-0.1)
    assert not any(trial.as_given for trial in found.trials[1:])
    assert found.best_score == max(trial.score for trial in found.trials)
    perfect = search(Dial(3.0), LEVEL, X, Y, cv=ONE, max_trials=4, random_state=0)
    assert perfect.best_params == {}
    assert perfect.best_score == 0.0


def test_best_parameters_have_the_best_score_by_scikit_learns_own_cross_validation():
    data = simulate.aim(200, random_state=0)
    folds = KFold(3)
    model = LLARegressor(3, ridge=10.0, random_state=0)
    found = search(model, "lla", data.X, data.y, cv=folds, max_trials=4, random_state=0)
    assert found.best_params
    again = cross_val_score(model.set_params(**found.best_params), data.X, data.y, cv=folds)
    assert found.trials[found.best_number].fold_scores == pytest.approx(again)
    assert found.best_score == pytest.approx(again.mean())


def test_defaults_and_the_spaces_start_are_one_trial_only_where_they_are_the_same():
    data = simulate.aim(100, random_state=0)
    options = {"cv": ONE, "max_trials": 2, "random_state": 0}
    default = search(LLARegressor(), "lla", data.X, data.y, **options)
    assert [trial.as_given for trial in default.trials] == [True, False]
    assert default.trials[0].values["penalty"] == "auto"
    assert default.trials[1].values != default.trials[0].values
    other = search(LLARegressor(3), "lla", data.X, data.y, **options)
    assert other.trials[0].values == {}
    assert other.trials[1].values["penalty"] == "auto"  # the space's start, next


def test_the_same_seed_asks_the_same_and_another_does_not():
    def values(seed):
        found = search(Dial(), LEVEL, X, Y, cv=ONE, max_trials=6, random_state=seed)
        return [trial.values.get("level") for trial in found.trials]

    assert values(1) == values(1)
    assert values(1) != values(2)


def test_the_seed_reaches_every_random_state_that_is_none():
    class Noisy(Dial):
        def score(self, X, y, sample_weight=None):
            return float(np.random.RandomState(self.random_state).normal())

    free = search(Noisy(), LEVEL, X, Y, cv=2, max_trials=3, random_state=0)
    assert len({score for trial in free.trials for score in trial.fold_scores}) == 1
    assert free.best_number == 0  # the first of equals
    fixed = search(Noisy(random_state=7), LEVEL, X, Y, cv=2, max_trials=1, random_state=0)
    assert fixed.best_score == np.random.RandomState(7).normal()


def test_it_learns():
    """At random, levels are 2.9 from the best on average."""
    found = search(Dial(), LEVEL, X, Y, cv=ONE, max_trials=40, random_state=0)
    distance = [abs(trial.values["level"] - 3) for trial in found.trials[12:]]
    assert np.mean(distance) < 1.9


def test_failures_are_recorded_and_not_fatal():
    found = search(Dial(1.0, fail_above=2.0), LEVEL, X, Y, cv=ONE, max_trials=6, random_state=0)
    failed = [trial for trial in found.trials if trial.ending == "failed"]
    assert failed
    for trial in failed:
        assert trial.values["level"] > 2.0
        assert trial.message == f"RuntimeError: level {trial.values['level']:.3f} is too high"
        assert trial.score is None
    assert -2.0 <= found.best_score <= -1.0
    frame = found.to_frame()
    assert list(frame["ending"] == "failed") == list(frame["score"].isna())
    assert frame["value_level"][1] == found.trials[1].values["level"]


def test_where_all_fail_the_first_cause_is_named_and_it_does_not_go_on_for_ever():
    with pytest.raises(ValueError, match=r"All 3 trials failed.*RuntimeError: level 0.500"):
        search(Dial(0.5, fail_above=-1.0), LEVEL, X, Y, cv=ONE, max_trials=3)
    with pytest.raises(ValueError, match="All 10 trials failed"):
        search(Dial(fail_above=-1.0), LEVEL, X, Y, cv=ONE, budget_seconds=60)


def test_a_score_that_is_no_number_is_a_failure():
    def nan(model, X, y):
        return np.nan

    with pytest.raises(ValueError, match="score is nan"):
        search(Dial(), LEVEL, X, Y, cv=ONE, scoring=nan, max_trials=1)


def test_bad_trials_are_pruned_after_some_folds():
    def falling(trial, n_samples, n_features):
        return {"level": trial.suggest_float("level", 3.0, 3.5) + 3.0 * trial.number}

    Dial.fits = 0
    found = search(Dial(3.0), Space("falling", falling), X, Y, cv=5, max_trials=6, random_state=0)
    assert [trial.ending for trial in found.trials] == ["done"] * 4 + ["pruned"] * 2
    assert [len(trial.fold_scores) for trial in found.trials] == [5] * 4 + [1] * 2
    assert Dial.fits == 22
    assert found.best_number == 0


def suggest_wait(trial, n_samples, n_features):
    level = trial.suggest_float("level", 0.0, 6.0)
    return {"level": level, "wait": 60.0 if level > 3.0 else 0.0}


def test_a_slow_trial_is_stopped_by_the_time_limit_of_its_estimator():
    """Levels above 3 wait a minute; each is stopped at a fifth of the budget and cannot win."""
    space = Space("wait", suggest_wait)
    begun = time.monotonic()
    found = search(Dial(), space, X, Y, cv=ONE, budget_seconds=2.0, max_trials=5, random_state=1)
    assert time.monotonic() - begun < 30.0
    slow = [trial for trial in found.trials if trial.ending == "slow"]
    assert 1 <= len(slow) <= 3
    assert all("stopped after" in trial.message for trial in slow)
    for trial in found.trials[1:]:
        assert (trial.ending == "slow") == (trial.values["level"] > 3.0)
    assert found.best_params["level"] < 3.0
    assert found.best_params["wait"] == 0.0


def test_a_slow_trial_is_stopped_between_folds_where_there_is_no_time_limit():
    class Plain(Dial):
        def __init__(self, level=0.0, wait=0.0):
            self.level, self.wait = level, wait
            self.time_limit, self.fail_above = None, np.inf

    def suggest(trial, n_samples, n_features):
        return {"wait": 0.15, "level": 3.0}

    found = search(Plain(), Space("slow", suggest), X, Y, cv=5, budget_seconds=1.0, max_trials=2)
    assert [trial.ending for trial in found.trials] == ["done", "slow"]
    n_folds = len(found.trials[1].fold_scores)
    assert 1 <= n_folds <= 2
    assert f"{n_folds} of 5 folds" in found.trials[1].message


def test_the_budget_ends_the_search_but_not_the_estimator_as_given():
    found = search(Dial(wait=0.2), LEVEL, X, Y, cv=ONE, budget_seconds=0.05, random_state=0)
    assert [trial.ending for trial in found.trials] == ["done"]
    Dial.fits = 0
    found = search(Dial(wait=0.02), LEVEL, X, Y, cv=ONE, budget_seconds=0.3, random_state=0)
    assert 2 <= len(found.trials) == Dial.fits <= 15


def test_life_within_a_budget():
    data = simulate.aim(200, random_state=0)
    begun = time.monotonic()
    found = search(LIFERegressor(), "life", data.X, data.y, cv=ONE, budget_seconds=1.5)
    assert time.monotonic() - begun < 8.0
    assert found.best_score >= found.trials[0].score
    assert found.seconds == pytest.approx(sum(trial.seconds for trial in found.trials))
    LIFERegressor().set_params(**found.best_params)


def test_the_estimator_given_and_the_loggers_level_stay_as_they_were(capsys):
    import optuna

    level = optuna.logging.get_verbosity()
    model = Dial(2.0)
    before = model.get_params()
    search(model, LEVEL, X, Y, cv=ONE, max_trials=3)
    assert model.get_params() == before
    assert optuna.logging.get_verbosity() == level
    captured = capsys.readouterr()
    assert captured.out == captured.err == ""


def test_progress_is_a_line_a_trial(capsys):
    search(Dial(2.0), LEVEL, X, Y, cv=ONE, max_trials=2, random_state=0, progress=True)
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("[##########..........] trial 0: -1 (best -1), ")
    assert second.startswith("[####################] trial 1: ")


def test_weights_reach_fits_and_scores():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    weight = rng.integers(0, 3, size=60).astype(float)
    train, test = np.arange(40), np.arange(40, 60)
    space = Space("none", lambda trial, n, p: {})
    found = search(Ridge(), space, X, y, cv=[(train, test)], sample_weight=weight, max_trials=1)
    alone = Ridge().fit(X[train], y[train], weight[train])
    assert found.best_score == pytest.approx(alone.score(X[test], y[test], weight[test]))


def test_a_finished_journal_is_read_and_nothing_is_computed_again(tmp_path):
    options = {"cv": ONE, "journal": tmp_path / "trials.log", "random_state": 3}
    whole = search(Dial(), LEVEL, X, Y, cv=ONE, max_trials=6, random_state=3)
    search(Dial(), LEVEL, X, Y, max_trials=4, **options)
    Dial.fits = 0
    same = search(Dial(), LEVEL, X, Y, max_trials=4, **options)
    assert Dial.fits == 0
    assert len(same.trials) == 4
    more = search(Dial(), LEVEL, X, Y, max_trials=6, **options)
    assert Dial.fits == 2
    assert [trial.values for trial in more.trials] == [trial.values for trial in whole.trials]
    assert more.best_params == whole.best_params
    unseeded = search(Dial(), LEVEL, X, Y, cv=ONE, journal=options["journal"], max_trials=6)
    assert unseeded.seed == whole.seed


@pytest.mark.parametrize("n_bytes", [1, 15, 60])
def test_a_half_written_last_line_is_cut_off(tmp_path, n_bytes):
    journal = tmp_path / "trials.log"
    options = {"cv": ONE, "journal": journal, "random_state": 3}
    three = search(Dial(), LEVEL, X, Y, max_trials=3, **options)
    content = journal.read_bytes()
    journal.write_bytes(content[:-n_bytes])
    again = search(Dial(), LEVEL, X, Y, max_trials=3, **options)
    assert [trial.values for trial in again.trials] == [trial.values for trial in three.trials]
    assert [trial.score for trial in again.trials] == [trial.score for trial in three.trials]
    once_more = search(Dial(), LEVEL, X, Y, max_trials=4, **options)
    assert once_more.trials[:3] == again.trials


@pytest.mark.parametrize("n_lines", range(1, 14))
def test_a_journal_cut_anywhere_leads_to_the_same_trials(tmp_path, n_lines):
    journal = tmp_path / "trials.log"
    options = {"cv": ONE, "journal": journal, "random_state": 3, "max_trials": 3}
    three = search(Dial(), LEVEL, X, Y, **options)
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:n_lines]) + lines[n_lines][:7])
    again = search(Dial(), LEVEL, X, Y, **options)
    assert [trial.values for trial in again.trials] == [trial.values for trial in three.trials]


def test_another_searchs_journal_is_refused(tmp_path):
    journal = tmp_path / "trials.log"
    options = {"cv": ONE, "journal": journal, "random_state": 0, "max_trials": 1}
    search(Dial(), LEVEL, X, Y, **options)
    with pytest.raises(ValueError, match=r"its space was level, now it is other"):
        search(Dial(), Space("other", suggest_level), X, Y, **options)
    with pytest.raises(ValueError, match=r"its data was"):
        search(Dial(), LEVEL, X, Y + 1, **options)
    with pytest.raises(ValueError, match=r"its folds was"):
        search(Dial(), LEVEL, X, Y, **{**options, "cv": 3})
    with pytest.raises(ValueError, match=r"its estimator was Dial\(\), now it is Dial\(level=1"):
        search(Dial(1.0), LEVEL, X, Y, **options)
    with pytest.raises(ValueError, match=r"its seed was"):
        search(Dial(), LEVEL, X, Y, **{**options, "random_state": 1})


def test_no_other_file_is_taken_for_a_journal(tmp_path):
    table = tmp_path / "data.csv"
    table.write_text("a,b\n1,2\n3,4")
    with pytest.raises(ValueError, match=r"data\.csv is no journal"):
        search(Dial(), LEVEL, X, Y, max_trials=1, journal=table)
    assert table.read_text() == "a,b\n1,2\n3,4"
    damaged = tmp_path / "trials.log"
    damaged.write_text('{"op_code":0,\n{"op_code":0}\n')
    with pytest.raises(ValueError, match=r"trials\.log is damaged"):
        search(Dial(), LEVEL, X, Y, max_trials=1, journal=damaged)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        search(Dial(), LEVEL, X, Y, max_trials=1, journal=tmp_path / "nowhere" / "trials.log")


CHILD = """
import sys
from test_tuning_search import LEVEL, ONE, X, Y, Dial, search
search(Dial(), LEVEL, X, Y, cv=ONE, journal=sys.argv[1], max_trials=14, random_state=5)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no such signal here")
def test_a_killed_search_goes_on_where_it_was(tmp_path):
    journal = tmp_path / "trials.log"
    # After what is set already, which may say where the package under test lies.
    path = [*filter(None, [os.environ.get("PYTHONPATH")]), os.path.dirname(__file__)]
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(journal)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path), "DIAL_HANGS": "3"},
    )
    with child:
        assert child.stdout.readline() == "hangs\n"  # in the middle of the third trial
        child.send_signal(signal.SIGKILL)
    assert child.returncode == -signal.SIGKILL
    Dial.fits = 0
    options = {"cv": ONE, "random_state": 5, "max_trials": 14}
    resumed = search(Dial(), LEVEL, X, Y, journal=journal, **options)
    assert Dial.fits == 12
    whole = search(Dial(), LEVEL, X, Y, **options)
    assert [trial.values for trial in resumed.trials] == [trial.values for trial in whole.trials]
    assert resumed.best_params == whole.best_params


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "budget_seconds or max_trials"),
        ({"budget_seconds": 0}, "budget_seconds.*0"),
        ({"max_trials": 0}, "max_trials.*0"),
        ({"max_trials": 1.5}, "max_trials.*1.5"),
    ],
)
def test_errors_name_the_parameter(options, words):
    with pytest.raises(ValueError, match=words):
        search(Dial(), LEVEL, X, Y, **options)


def test_without_optuna_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r"Tuning needs optuna.*lifenet\[tune\]"):
        search(Dial(), LEVEL, X, Y, max_trials=1)


def test_there_are_enough_trials_though_the_budget_is_used_up():
    few = search(Dial(wait=0.05), LEVEL, X, Y, cv=ONE, budget_seconds=0.01, random_state=0)
    assert len(few.trials) == 1
    enough = search(
        Dial(wait=0.05),
        LEVEL,
        X,
        Y,
        cv=ONE,
        budget_seconds=0.01,
        min_trials=5,
        trial_share=None,
        random_state=0,
    )
    assert len(enough.trials) == 5
    assert {trial.ending for trial in enough.trials} == {"done"}  # none was stopped


def test_a_budget_of_computed_seconds_does_not_count_those_that_only_pass():
    options = {"cv": ONE, "budget_seconds": 0.3, "max_trials": 6, "random_state": 0}
    passed = search(Dial(wait=0.2), LEVEL, X, Y, **options)
    computed = search(Dial(wait=0.2), LEVEL, X, Y, clock="cpu", trial_share=None, **options)
    assert len(passed.trials) < 6
    assert len(computed.trials) == 6
    assert computed.seconds < 0.3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_trials": 0}, "min_trials must be a whole number"),
        ({"min_trials": 9}, "min_trials=9 is more than max_trials=3"),
        ({"clock": "sun"}, "clock must be 'wall' or 'cpu'; got 'sun'"),
    ],
)
def test_bad_ends_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        search(Dial(), LEVEL, X, Y, cv=ONE, max_trials=3, **wrong)
