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
from lifenet.neurons.layer import neurons_for_linear
from lifenet.recipe.recipe import mean_network
from lifenet.stacking.base import (
    Ensemble,
    FoldFit,
    add_with_weight,
    averaging_gain,
    share_rows,
)
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
    assert line.n_neurons == 0
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
def test_it_is_the_linear_part_of_a_network_without_neurons(loss):
    X, given = problem(loss=loss)
    line = linear_network(given, COLUMNS.value)
    assert line.n_neurons == 0
    assert line.linear.shape == (4, loss.n_outputs)
    assert np.all(line.linear[[1, 3]] == 0)
    np.testing.assert_allclose(line.score(X), X @ line.linear + line.intercept, atol=1e-12)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Multinomial(3)], ids=str)
def test_neurons_for_a_linear_part_are_active_on_all_rows_and_a_range_beyond(loss):
    X, given = problem(loss=loss)
    line = linear_network(given, COLUMNS.value)
    neurons = neurons_for_linear(line, given.rows)
    assert neurons.n_neurons == loss.n_outputs
    assert not np.any(neurons.linear)
    for factor in (1.0, 1.9):
        middle = (X.max(axis=0) + X.min(axis=0)) / 2
        moved = middle + factor * (X - middle)
        assert np.all(neurons.preactivations(moved) > 0)
        np.testing.assert_allclose(neurons.score(moved), line.score(moved), atol=1e-10)


def folds(bend):
    """Two folds whose networks say nothing."""
    found = []
    for seed in (0, 1):
        _, train = problem(seed, bend=bend)
        _, validation = problem(seed + 10, n=200, bend=bend)
        null = np.zeros(1)
        network = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), null)
        found.append(FoldFit.of(Fold(train, validation, train), network))
    return tuple(found)


def add_linear(given, columns=COLUMNS):
    """The mean of the folds' networks with a linear model, and how it was weighed."""
    X, whole = problem()
    units = Units(whole.rows.scaling, 0.0, 1.0)
    data = Inputs(X, whole, whole.rows, units, columns=columns)
    ensemble = Ensemble.of(mean_network(given), given)
    return add_with_weight(ensemble, LinearModel(), data, Run(0))


def test_the_loss_without_it_is_less_what_the_networks_differ_by_on_shared_rows(monkeypatch):
    monkeypatch.setattr("lifenet.stacking.base._BY_ROWS", 0.0)  # nothing for more rows
    rng = np.random.default_rng(4)
    networks = [
        ReluNetwork(rng.normal(size=(5, 4)), *(0.3 * rng.normal(size=(2, 5))), 0.1)
        for _ in range(2)
    ]
    shared = share_rows([one.fold for one in folds(0.3)])
    given = tuple(FoldFit.of(*pair) for pair in zip(shared, networks, strict=True))
    differ = [
        averaging_gain(one.fold.validation, networks).mean() for one in given
    ]  # all of the validation rows are shared: they are few
    (stacked,) = add_linear(given).stacked
    single = mean_loss(given, [one.score for one in given])
    assert stacked.loss_without == pytest.approx(single - np.mean(differ))


def mean_loss(given, scores):
    """Mean loss of the validation rows of equal folds."""
    values = [
        one.fold.validation.loss.value(one.fold.validation.rows.target, score)
        for one, score in zip(given, scores, strict=True)
    ]
    return float(np.mean(np.concatenate(values)))


def test_the_weight_is_that_with_the_least_loss_on_the_validation_rows():
    given = folds(bend=0.0)
    found = add_linear(given)
    (stacked,) = found.stacked
    assert stacked.companion == "linear model"
    assert stacked.weight == 1.0
    assert found.share == 0.0
    least = mean_loss(given, found.scores)
    assert stacked.loss == pytest.approx(least)
    assert stacked.loss_without == pytest.approx(mean_loss(given, [one.score for one in given]))
    assert stacked.gain == pytest.approx(stacked.loss_without - stacked.loss)
    lines = [linear_network(one.fold.train, COLUMNS.value) for one in given]
    for other in np.arange(0, 21) / 20:
        scores = [
            (1 - other) * one.score + other * FoldFit.of(one.fold, line).score
            for one, line in zip(given, lines, strict=True)
        ]
        assert mean_loss(given, scores) >= least - 1e-12
    # The linear model in the network is that of all rows.
    X, whole = problem()
    expected = linear_network(whole, COLUMNS.value).score(X)
    np.testing.assert_allclose(found.network.score(X), expected, atol=1e-12)
    assert found.fits == given


def test_what_gains_too_little_is_left_out(monkeypatch):
    given = folds(bend=0.0)
    monkeypatch.setattr("lifenet.stacking.base._STANDARD_ERRORS", 1e3)
    found = add_linear(given)
    (stacked,) = found.stacked
    assert stacked.weight == stacked.gain == 0
    assert stacked.loss < stacked.loss_without  # not by enough
    assert found.network == mean_network(given)
    assert found.share == 1


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
    lines = [
        FoldFit.of(one.fold, linear_network(one.fold.train, COLUMNS.value)).score for one in given
    ]
    assert mean_loss(given, lines) < 0.5 * mean_loss(given, [one.score for one in given])
    assert add_linear(given).stacked[0].weight == 0


def test_without_validation_rows_there_is_no_linear_model():
    _, train = problem()
    null = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.zeros(1))
    found = add_linear((FoldFit.of(Fold.whole(train), null),))
    assert found.network is null
    assert found.stacked == ()


def test_without_codes_it_is_a_model_of_all_inputs():
    found = add_linear(folds(bend=0.0), columns=None)
    assert found.stacked[0].weight == 1.0
    X, whole = problem()
    expected = linear_network(whole, np.arange(4)).score(X)
    np.testing.assert_allclose(found.network.score(X), expected, atol=1e-10)


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
        # Beyond the training rows codes are constant.
        low, high = X[:300].min(axis=0), X[:300].max(axis=0)
        inside = np.all((X[300:] >= low) & (X[300:] <= high), axis=1)

        def error(model):
            return np.sqrt(np.mean((model.predict(X[300:]) - y[300:])[inside] ** 2))

        ridge = Ridge(1.0).fit(X[:300], y[:300])
        assert error(linear) < 1.05 * error(ridge) < 0.5 * error(without)

    def test_are_read_as_exactly_as_ever(self, monkeypatch):
        X, y = make_regression(300, 5, noise=5.0, random_state=0)
        model = LIFERegressor(preset=LINEAR, random_state=0)
        model, folds = fit_with_folds(model, X, y, monkeypatch)
        assert linear_weight(model) > 0
        network = model.network_
        whole = network.contributions(X).sum(axis=1) + network.local_intercept(X)
        np.testing.assert_allclose(whole, network.score(X), atol=1e-8)
        # What is left of the prediction beside the mean of the folds is one linear function.
        mean = np.mean([one.score(X)[:, 0] for one in folds], axis=0)
        share = 1 - linear_weight(model)
        rest = model.predict(X) - share * mean
        codes = np.column_stack([model.coding_.encode(X), np.ones(len(X))])
        linear = np.append(network.network.linear[:, 0], 0.0)
        constant = rest - codes @ linear
        np.testing.assert_allclose(constant, constant[0], atol=1e-7)
        assert np.any(linear)

    def test_of_steps_and_bends_have_none(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (600, 3))
        y = np.where(X[:, 0] > 0.2, 1.0, 0.0) + np.abs(X[:, 1]) + 0.1 * rng.normal(size=600)
        recipe = replace(LINEAR, neurons=(Leaves(),), resampling=CrossFit(2))
        model = LIFERegressor(preset=recipe, random_state=0).fit(X, y)
        (stacked,) = model.stacked_
        assert stacked.weight == stacked.gain == 0

    def test_of_classes_have_it_too(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 8))
        y = np.digitize(3 * X[:, 0] - 2 * X[:, 1] + rng.normal(size=400), [-1, 1])
        model = LIFEClassifier(preset=LINEAR, random_state=0).fit(X, y)
        assert linear_weight(model) > 0
        plain = LogisticRegression().fit(X, y)
        assert model.score(X, y) > plain.score(X, y) - 0.03
