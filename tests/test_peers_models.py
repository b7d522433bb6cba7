"""LIFE and its peers as `scripts/bench peers` makes them: each fits, tuned and as it is."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

pytest.importorskip("fcntl", reason="records are locked by it")
optuna = pytest.importorskip("optuna")

from benchmarks.paper.runner import plan  # noqa: E402
from benchmarks.peers.experiments import (  # noqa: E402
    BY_AUC,
    CONFIRMING,
    DATA,
    DECIDING,
    DEFAULT,
    NAMED,
    SPLITS,
    TABLES,
    TUNED,
)
from benchmarks.peers.models import BEST, LIFE, MODELS, SMALL  # noqa: E402

NEEDS = {"XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost", "EBM": "interpret"}
#: As much as a test has time for, whatever a space suggests.
SHORT = {
    "n_estimators": 10,
    "iterations": 10,
    "depth": 4,
    "max_rounds": 10,
    "outer_bags": 2,
    "max_iter": 10,
}


def data(task: str):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    score = X[:, 0] + np.abs(X[:, 1])
    return X, score if task == "regression" else (score > 0.8).astype(int)


def shortened(model):
    """Less of it, where it is as it was given too."""
    names = [name for name in model.get_params() if name.rpartition("__")[2] in SHORT]
    set_too = {"iterations", "depth"} if "thread_count" in model.get_params() else set()
    return model.set_params(
        **{name: SHORT[name.rpartition("__")[2]] for name in {*names, *set_too}}
    )


@pytest.mark.filterwarnings("ignore")  # what peers warn of is not ours
@pytest.mark.parametrize("task", ["regression", "classification"])
@pytest.mark.parametrize("name", [name for name in MODELS if not name.startswith("LIFE")])
def test_every_peer_fits_as_given_and_as_its_space_suggests(name, task):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} is an extra")
    X, y = data(task)
    made = MODELS[name]
    models = [made.build(task, 0)]
    if made.space is not None:
        trial = optuna.create_study(sampler=optuna.samplers.RandomSampler(seed=0)).ask()
        models.append(made.build(task, 0).set_params(**made.space(task).suggest(trial, *X.shape)))
    for model in models:
        shortened(model).fit(X, y)
        if task == "regression":
            assert np.isfinite(model.predict(X)).all()
            assert np.mean((model.predict(X) - y) ** 2) < 1.2 * np.var(y)
        else:
            share = model.predict_proba(X)
            assert share.shape == (120, 2)
            assert np.allclose(share.sum(axis=1), 1)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NEEDS)
def test_peers_use_one_thread_and_their_seed(name):
    pytest.importorskip(NEEDS[name], reason=f"{name} is an extra")
    settings = MODELS[name].build("regression", 7).get_params()
    assert settings["thread_count" if name == "CatBoost" else "n_jobs"] == 1
    assert settings["random_seed" if name == "CatBoost" else "random_state"] == 7


def test_life_is_the_estimator_with_a_seed_and_no_limit():
    for task, kind in (("regression", "LIFERegressor"), ("classification", "LIFEClassifier")):
        model = MODELS[LIFE].build(task, 3)
        assert type(model).__name__ == kind
        changed = {
            name: value
            for name, value in model.get_params(deep=False).items()
            if value != inspect.signature(type(model)).parameters[name].default
        }
        assert changed == {"random_state": 3}


def test_presets_are_those_of_the_estimator():
    for name, preset in ((SMALL, "small"), (BEST, "best")):
        assert MODELS[name].build("regression", 0).get_params()["preset"] == preset
        assert MODELS[name].build("classification", 0).get_params()["preset"] == preset


def test_the_halves_are_all_sets_and_share_none():
    assert len(DATA) == 20
    assert sorted(DECIDING + CONFIRMING) == sorted(DATA)
    assert len(set(NAMED)) == 13
    assert set(NAMED) < set(DATA)
    assert not set(NAMED) & set(BY_AUC)


def test_seeds_are_five_or_three():
    for name in (DEFAULT, TUNED):
        counts = {one.name: len(TABLES[name].seeds_of(one)) for one in DATA.values()}
        assert counts["airfoil"] == counts["magic"] == 5
        assert counts["casp"] == counts["california_housing"] == 3
    assert len(TABLES[SPLITS].seeds_of(DATA["abalone"])) == 50


def test_only_what_has_a_space_is_tuned():
    jobs = plan([TUNED], ["airfoil"], known=TABLES)
    tuned = [job.model for job in jobs if job.kind == "tuning"]
    assert tuned == ["XGBoost", "LightGBM", "CatBoost", "RandomForest", "EBM", "MLP"]
    assert {job.model for job in jobs if job.kind == "fit"} == {*tuned, BEST}
    assert all((job.needs() is None) == (job.model == BEST) for job in jobs if job.kind == "fit")
    assert not [job for job in plan([DEFAULT], known=TABLES) if job.kind == "tuning"]
