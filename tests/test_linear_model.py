"""Linear models stacked with the networks of the folds."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from crossfitted import fit_with_folds
from lifenet import (
    CrossFit,
    Leaves,
    LIFEClassifier,
    LIFERegressor,
    LinearModel,
    MiniBatch,
    QuantileCoding,
    Recipe,
)
from lifenet.data.columns import CodedColumns
from lifenet.data.folds import Fold
from lifenet.data.inputs import Inputs
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.data.run import Run
from lifenet.data.units import Units
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.recipe.recipe import mean_network
from lifenet.stacking.base import FoldFit, averaging_gain, mean_fold_loss
from lifenet.stacking.linear_model import linear_network

# Two columns, each with its value and another code.
COLUMNS = CodedColumns(
    n_codes=4,
    value=np.array([0, 2]),
    smooth=np.arange(4),
    ramps=(np.array([], dtype=int), np.array([], dtype=int)),
    knots=(np.zeros(0), np.zeros(0)),
    zero=np.zeros(4),
    one=np.ones(4),
)
LINEAR = Recipe(
    codes=QuantileCoding("full", max_bins=64, min_values=2),
    neurons=(Leaves(n_trees=20),),
    finetune=MiniBatch(n_steps=20),
    resampling=CrossFit(3),
    stack=(LinearModel(),),
)


def problem(seed=0, n=400, loss=None, bend=0.0):
    """A line in the values, bent where it is asked for; the other codes are noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    score = 0.5 + 2 * X[:, 0] - X[:, 2] + bend * np.abs(X[:, 0])
    loss = SquaredError() if loss is None else loss
    if isinstance(loss, SquaredError):
        y = score + 0.3 * rng.normal(size=n)
    elif isinstance(loss, Logistic):
        y = (rng.random(n) < 1 / (1 + np.exp(-score))).astype(float)
    else:
        y = np.digitize(score + 0.3 * rng.normal(size=n), [-0.5, 1.5]).astype(float)
    return X, Problem(ArrayRows.of(X, y, None), loss)


def test_regression_is_ridge_regression_of_the_values():
    X, given = problem()
    line = linear_network(given, COLUMNS.value)
    assert line.n_neurons == 1
    expected = Ridge(1e-3).fit(X[:, [0, 2]], given.rows.target).predict(X[:, [0, 2]])
    np.testing.assert_allclose(line.score(X)[:, 0], expected, atol=0.02)


def test_two_classes_are_logistic_regression_of_the_values():
    X, given = problem(n=3_000, loss=Logistic())
    line = linear_network(given, COLUMNS.value)
    model = LogisticRegression(C=1.0, tol=1e-8).fit(X[:, [0, 2]], given.rows.target)
    expected = model.decision_function(X[:, [0, 2]])
    np.testing.assert_allclose(line.score(X)[:, 0], expected, atol=1e-3)


def test_several_classes_are_multinomial_regression_of_the_values():
    X, given = problem(loss=Multinomial(3))
    line = linear_network(given, COLUMNS.value)
    model = LogisticRegression(C=1.0, tol=1e-8).fit(X[:, [0, 2]], given.rows.target)
    expected = model.decision_function(X[:, [0, 2]])
    expected -= expected.mean(axis=1, keepdims=True)
    score = line.score(X)
    np.testing.assert_allclose(score - score.mean(axis=1, keepdims=True), expected, atol=2e-3)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Multinomial(3)], ids=str)
def test_a_neuron_for_each_output_is_active_on_all_rows_and_a_range_beyond(loss):
    X, given = problem(loss=loss)
    line = linear_network(given, COLUMNS.value)
    assert line.n_neurons == loss.n_outputs
    assert np.all(line.weights[:, [1, 3]] == 0)
    for factor in (1.0, 1.9):
        middle = (X.max(axis=0) + X.min(axis=0)) / 2
        assert np.all(line.preactivations(middle + factor * (X - middle)) > 0)
    slopes = line.gradient(X)
    np.testing.assert_allclose(slopes, np.broadcast_to(slopes[:1], slopes.shape), atol=1e-12)


def folds(bend):
    """Two folds whose networks say nothing but the mean."""
    found = []
    for seed in (0, 1):
        _, train = problem(seed, bend=bend)
        _, validation = problem(seed + 10, n=200, bend=bend)
        null = np.array([train.rows.target.mean()])
        network = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), null)
        found.append(FoldFit.of(Fold(train, validation, train), network))
    return tuple(found)


def add_linear(given, min_gain=0.02):
    """The networks of the folds with linear models, and how these were weighed."""
    X, whole = problem()
    units = Units(whole.rows.scaling, 0.0, 1.0)
    data = Inputs(X, whole, whole.rows, units, columns=COLUMNS)
    return LinearModel(min_gain).add(mean_network(given), given, data, Run(0))


def test_the_weight_is_that_with_the_least_loss_on_the_validation_rows():
    given = folds(bend=0.0)
    network, mixed, found = add_linear(given)
    assert found.companion == "linear model"
    assert found.weight == 1.0
    parts = [one.fold for one in mixed]
    least = mean_fold_loss(parts, [one.score for one in mixed])
    assert found.loss == pytest.approx(least)
    assert found.loss_without == pytest.approx(mean_fold_loss(parts, [one.score for one in given]))
    assert found.gain == pytest.approx(found.loss_without - found.loss)
    lines = [linear_network(one.train, COLUMNS.value) for one in parts]
    for other in np.arange(0, 21) / 20:
        scores = [
            (1 - other) * one.score + other * FoldFit.of(one.fold, line).score
            for one, line in zip(given, lines, strict=True)
        ]
        assert mean_fold_loss(parts, scores) >= least - 1e-12
    for one in mixed:  # the scores kept are those of the networks kept
        np.testing.assert_allclose(one.score, FoldFit.of(one.fold, one.network).score)
    X, _ = problem(seed=5)
    means = np.mean([one.network.score(X) for one in mixed], axis=0)
    np.testing.assert_allclose(network.score(X), means, atol=1e-12)


def test_what_gains_too_little_is_left_out():
    given = folds(bend=0.0)
    network, same, found = add_linear(given, 0.999)
    assert found.weight == 0
    assert found.gain == 0
    assert found.loss == found.loss_without
    assert [one.network for one in same] == [one.network for one in given]
    assert network == mean_network(given)


def test_rows_that_one_network_is_far_off_on_do_not_make_all_linear():
    def off(seed, by):
        """A network that says the truth, but for one validation row."""
        X, validation = problem(seed, n=200, bend=3.0)
        _, train = problem(seed + 10, bend=3.0)
        score = (0.5 + 2 * X[:, 0] - X[:, 2] + 3.0 * np.abs(X[:, 0]))[:, None]
        score[0] += by
        null = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.zeros(1))
        return FoldFit(Fold(train, validation, train), null, score)

    given = (off(0, 100.0), off(1, 0.0), off(2, 0.0))
    folds_ = [one.fold for one in given]
    lines = [FoldFit.of(one, linear_network(one.train, COLUMNS.value)).score for one in folds_]
    alone = mean_fold_loss(folds_, [one.score for one in given])
    assert mean_fold_loss(folds_, lines) < 0.5 * alone
    assert add_linear(given)[2].weight == 0


def test_without_validation_rows_there_is_no_linear_model():
    _, train = problem()
    null = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.zeros(1))
    given = (FoldFit.of(Fold.whole(train), null),)
    assert add_linear(given, 0.0) == (null, given, None)


def test_without_codes_it_is_a_model_of_all_inputs():
    X, whole = problem()
    given = folds(bend=0.0)
    data = Inputs(X, whole, whole.rows, Units(whole.rows.scaling, 0.0, 1.0))
    _, mixed, found = LinearModel().add(mean_network(given), given, data, Run(0))
    assert found.weight == 1.0
    for one in mixed:
        expected = linear_network(one.fold.train, np.arange(4)).score(X)
        np.testing.assert_allclose(one.network.score(X), expected, atol=1e-10)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Multinomial(3)], ids=str)
def test_the_mean_of_networks_saves_what_they_differ_by(loss):
    rng = np.random.default_rng(0)
    X, given = problem(loss=loss)
    k = loss.n_outputs
    networks = [
        ReluNetwork(np.eye(4), np.zeros(4), 0.1 * rng.normal(size=(4, k)), np.zeros(k))
        for _ in range(5)
    ]
    scores = np.stack([one.score(X) for one in networks])

    def losses(score):
        return loss.value(given.rows.target, score)

    true = np.mean([losses(one) for one in scores], axis=0) - losses(scores.mean(axis=0))
    saved = averaging_gain(given, networks)
    if isinstance(loss, SquaredError):
        np.testing.assert_allclose(saved, true, atol=1e-12)
    elif k == 1:
        np.testing.assert_allclose(saved, true, rtol=0.1, atol=1e-4)
    else:  # classes compete, which the diagonal of the curvature leaves out
        assert 0.5 < saved.mean() / true.mean() < 2


def linear_weight(model):
    return next(one.weight for one in model.stacked_ if one.companion == "linear model")


class TestCrossFittedNetworks:
    def test_of_a_linear_function_are_linear(self):
        X, y = make_regression(400, 12, n_informative=5, noise=5.0, random_state=0)
        linear, without = (
            LIFERegressor(preset=recipe, random_state=0).fit(X[:300], y[:300])
            for recipe in (LINEAR, replace(LINEAR, stack=()))
        )
        assert without.stacked_ == ()
        assert linear_weight(linear) > 0.8
        # Codes end with their outer knots.
        low, high = np.transpose([(knots[0], knots[-1]) for knots in linear.coding_.knots])
        inside = np.all((X[300:] >= low) & (X[300:] <= high), axis=1)

        def error(model):
            return np.sqrt(np.mean((model.predict(X[300:]) - y[300:])[inside] ** 2))

        ridge = Ridge(1.0).fit(X[:300], y[:300])
        assert error(linear) < 1.15 * error(ridge) < 0.5 * error(without)

    def test_are_read_as_exactly_as_ever(self, monkeypatch):
        X, y = make_regression(300, 5, noise=5.0, random_state=0)
        model = LIFERegressor(preset=LINEAR, random_state=0)
        model, folds = fit_with_folds(model, X, y, monkeypatch)
        assert linear_weight(model) > 0
        network = model.network_
        whole = network.contributions(X).sum(axis=1) + network.local_intercept(X)
        np.testing.assert_allclose(whole, network.score(X), atol=1e-8)
        mean = np.mean([one.score(X)[:, 0] for one in folds], axis=0)
        np.testing.assert_allclose(model.predict(X), mean, atol=1e-8)

    def test_of_steps_and_bends_have_none(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (600, 3))
        y = np.where(X[:, 0] > 0.2, 1.0, 0.0) + np.abs(X[:, 1]) + 0.1 * rng.normal(size=600)
        recipe = replace(LINEAR, neurons=(Leaves(),), resampling=CrossFit(2))
        model = LIFERegressor(preset=recipe, random_state=0).fit(X, y)
        (stacked,) = model.stacked_
        assert stacked.weight == 0
        assert stacked.loss == stacked.loss_without

    def test_of_classes_have_it_too(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 8))
        y = np.digitize(3 * X[:, 0] - 2 * X[:, 1] + rng.normal(size=400), [-1, 1])
        model = LIFEClassifier(preset=LINEAR, random_state=0).fit(X, y)
        assert linear_weight(model) > 0
        plain = LogisticRegression().fit(X, y)
        assert model.score(X, y) > plain.score(X, y) - 0.03

    @pytest.mark.parametrize("value", [-0.1, 1.0, "much"])
    def test_a_bad_gain_is_named(self, value):
        with pytest.raises(ValueError, match="'min_gain' parameter of LinearModel"):
            Recipe(stack=(LinearModel(value),)).check()
