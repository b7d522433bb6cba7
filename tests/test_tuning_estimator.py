"""LIFESearchCV keeps scikit-learn's conventions."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GroupKFold, TimeSeriesSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from lifenet import LIFERegressor, LLAClassifier, LLARegressor, NeuronProjection
from lifenet.datasets import simulate
from lifenet.tuning import LIFESearchCV, Space, lla_space

pytest.importorskip("optuna")


def suggest_alpha(trial, n_samples, n_features):
    return {"alpha": trial.suggest_float("alpha", 1e-3, 1e3, log=True)}


def suggest_c(trial, n_samples, n_features):
    return {"C": trial.suggest_float("C", 1e-3, 1e3, log=True)}


ALPHA, C = Space("alpha", suggest_alpha), Space("C", suggest_c)
FEW = {"cv": 3, "budget": None, "n_trials": 3, "random_state": 0}
CHECKED = [
    LIFESearchCV(Ridge(), ALPHA, **{**FEW, "n_trials": 2}),
    LIFESearchCV(LogisticRegression(), C, **{**FEW, "n_trials": 2}),
]


def cases():
    for number_of, estimator in enumerate(CHECKED):
        for number, (_, check) in enumerate(estimator_checks_generator(estimator)):
            name = getattr(check, "func", check).__name__
            yield pytest.param(estimator, check, id=f"{number_of}-{number}-{name}")


@pytest.mark.filterwarnings("default")  # the checks provoke scikit-learn's own warnings
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_check(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def data():
    return simulate.aim(120, random_state=0)


def test_it_is_what_its_estimator_is():
    assert is_regressor(LIFESearchCV(LLARegressor()))
    assert is_classifier(LIFESearchCV(LLAClassifier()))
    assert not hasattr(LIFESearchCV(LLARegressor()), "predict_proba")
    assert hasattr(LIFESearchCV(LLAClassifier()), "predict_proba")


def test_the_best_parameters_are_fitted_to_all_rows(data):
    model = LLARegressor(3, ridge=10.0)
    tuned = LIFESearchCV(model, "lla", **FEW).fit(data.X, data.y)
    assert tuned.best_params_
    assert tuned.best_index_ == np.argmax([trial.score or -np.inf for trial in tuned.trials_])
    assert tuned.best_score_ == tuned.trials_[tuned.best_index_].score
    assert tuned.n_features_in_ == data.X.shape[1]
    alone = clone(model).set_params(**tuned.best_params_, random_state=tuned.result_.seed)
    alone.fit(data.X, data.y)
    np.testing.assert_array_equal(tuned.predict(data.X), alone.predict(data.X))
    assert tuned.score(data.X, data.y) == alone.score(data.X, data.y)
    assert vars(model).keys() == vars(LLARegressor()).keys()  # the one given stays unfitted
    again = pickle.loads(pickle.dumps(tuned))
    np.testing.assert_array_equal(again.predict(data.X), alone.predict(data.X))


def test_life_is_tuned(data):
    small = Space(
        "small", lambda trial, n, p: {"solver__n_neurons": trial.suggest_int("width", 2, 5)}
    )
    from lifenet import LLA

    life = LIFERegressor(NeuronProjection(levels=(3,)), LLA(3, max_iter=5))
    tuned = LIFESearchCV(life, small, **FEW).fit(data.X, data.y)
    assert tuned.transform(data.X).shape == (120, tuned.best_estimator_.network_.n_neurons)
    assert {trial.ending for trial in tuned.trials_} == {"done"}


def test_groups_are_never_torn_apart(data):
    groups = np.repeat(np.arange(12), 10)
    seen = []

    class Watcher(Ridge):
        def fit(self, X, y, sample_weight=None, groups=None):
            seen.append(set(groups))
            return super().fit(X, y, sample_weight)

    tuned = LIFESearchCV(Watcher(), ALPHA, **{**FEW, "cv": GroupKFold(4), "n_trials": 1})
    tuned.fit(data.X, data.y, groups=groups)
    assert [len(one) for one in seen] == [9, 9, 9, 9, 12]
    folds = [set(range(12)) - one for one in seen[:4]]
    assert set.union(*folds) == set(range(12))
    with pytest.raises(ValueError, match="groups"):
        clone(tuned).fit(data.X, data.y)


def test_the_future_is_never_trained_on(data):
    seen = []

    class Watcher(Ridge):
        def fit(self, X, y):
            seen.append(X[:, 0].max())
            return super().fit(X, y)

        def score(self, X, y):
            assert X[:, 0].min() > seen[-1]
            return super().score(X, y)

    X = np.column_stack([np.arange(120.0), data.X])
    tuned = LIFESearchCV(Watcher(), ALPHA, **{**FEW, "cv": TimeSeriesSplit(3)}).fit(X, data.y)
    assert [trial.ending for trial in tuned.trials_] == ["done"] * 3


def test_in_a_pipeline_and_around_one(data):
    around = LIFESearchCV(
        make_pipeline(StandardScaler(), Ridge()), ALPHA.prefixed("ridge"), **FEW
    ).fit(data.X, data.y)
    assert all(name == "ridge__alpha" for name in around.best_params_)
    inside = make_pipeline(StandardScaler(), LIFESearchCV(Ridge(), ALPHA, **FEW))
    assert len(cross_val_score(inside, data.X, data.y, cv=2)) == 2
    assert clone(inside).set_params(lifesearchcv__estimator__alpha=2.0)[-1].estimator.alpha == 2.0


def test_names_classes_scoring_and_weights(data):
    frame = pd.DataFrame(data.X[:, :2], columns=["age", "income"])
    labels = np.where(data.y > np.median(data.y), "high", "low")
    tuned = LIFESearchCV(LogisticRegression(), C, scoring="neg_log_loss", **FEW)
    tuned.fit(frame, labels, sample_weight=np.ones(120))
    assert list(tuned.feature_names_in_) == ["age", "income"]
    assert list(tuned.classes_) == ["high", "low"]
    chosen = tuned.predict_proba(frame)[np.arange(120), (labels == "low").astype(int)]
    assert tuned.score(frame, labels) == pytest.approx(np.log(chosen).mean())


def test_without_refit_there_is_a_result_and_no_predictions(data):
    tuned = LIFESearchCV(Ridge(), ALPHA, refit=False, **FEW).fit(data.X, data.y)
    assert len(tuned.trials_) == 3
    assert not hasattr(tuned, "predict")
    assert not hasattr(tuned, "n_features_in_")
    with pytest.raises(AttributeError, match="predict"):
        tuned.predict(data.X)


def test_a_failed_fit_leaves_it_as_it_was(data):
    tuned = LIFESearchCV(Ridge(), ALPHA, **FEW)
    with pytest.raises(NotFittedError):
        tuned.predict(data.X)
    tuned.fit(data.X, data.y)
    before = tuned.predict(data.X)
    with pytest.raises(ValueError, match=r"All 3 trials failed.*NaN"):
        tuned.fit(np.where(data.X > 0, np.nan, data.X), data.y)
    np.testing.assert_array_equal(tuned.predict(data.X), before)


def test_the_journal_of_a_fit_is_gone_on_with(data, tmp_path):
    tuned = LIFESearchCV(LLARegressor(3), lla_space(), journal=tmp_path / "trials.log", **FEW)
    first = tuned.fit(data.X, data.y).result_
    assert clone(tuned).set_params(verbose=1).fit(data.X, data.y).result_.trials == first.trials


def test_verbose_prints_a_line_a_trial(data, capsys):
    LIFESearchCV(Ridge(), ALPHA, verbose=1, **FEW).fit(data.X, data.y)
    assert [line.split("] ")[1][:8] for line in capsys.readouterr().out.splitlines()] == [
        f"trial {number}:" for number in range(3)
    ]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"budget": 0}, "'budget' parameter"),
        ({"n_trials": 0}, "'n_trials' parameter"),
        ({"space": "lief"}, "'space' parameter"),
        ({"n_trials": None}, "budget_seconds or max_trials"),
    ],
)
def test_errors_name_the_parameter(data, parameters, words):
    with pytest.raises(ValueError, match=words):
        LIFESearchCV(Ridge(), ALPHA, **FEW).set_params(**parameters).fit(data.X, data.y)
