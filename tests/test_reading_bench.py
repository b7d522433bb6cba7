"""The parts of `scripts/bench reading` that decide, on what can be known."""

import numpy as np
import pytest
from benchmarks.reading import planted, work

from lifenet import LIFEClassifier, LIFERegressor
from lifenet.explain import coefficient_signs


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = np.c_[generator.normal(size=(200, 2)), generator.integers(0, 3, 200)]
    return X, X[:, 0] + np.abs(X[:, 1]) + X[:, 2] * (X[:, 0] > 0) + generator.normal(size=200) / 5


@pytest.fixture(scope="module")
def model(data):
    return LIFERegressor(random_state=0).fit(*data)


def test_signs_counted_by_hand_are_those_of_the_reading(model, data):
    assert work._signs(model, data[0][:60]) < 1e-9


def test_a_wrong_count_of_signs_is_noticed(model, data, monkeypatch):
    found = coefficient_signs(model, data[0][:60], expected={"x0": -1, "x1": -1, "x2": -1})
    monkeypatch.setattr(work, "coefficient_signs", lambda *rest, **more: found)
    assert work._signs(model, data[0][:60]) > 0.1


def test_interactions_by_hand_are_those_of_the_reading(model, data):
    assert work._interactions(model, data[0][:60]) < 1e-8


def test_importance_agrees_with_permutation_importance(model, data):
    assert work._importance(model, "regression", *data) > 0.9


def test_losses_are_those_of_scikit_learn(data):
    X, y = data
    labels = (y > y.mean()).astype(int)
    model = LIFEClassifier(random_state=0).fit(X, labels)
    score = model.network_.score(X)[:, 0]
    shares = model.predict_proba(X)[:, 1]
    expected = -np.mean(np.where(labels == 1, np.log(shares), np.log(1 - shares)))
    assert work._loss("classification", labels, score) == pytest.approx(expected)
    assert work._loss("regression", y, y + 2) == pytest.approx(4.0)


def test_an_order_is_right_where_clear_differences_are():
    truth = np.array([3.0, 2.0, 1.99, 0.0])
    assert planted._same_order(np.array([5.0, 1.0, 1.1, 0.1]), truth)
    assert not planted._same_order(np.array([1.0, 5.0, 1.1, 0.1]), truth)
    assert not planted._same_order(np.array([5.0, 1.0, 1.1, 2.0]), truth)
