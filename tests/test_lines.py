"""Linear models beside the networks of a blend."""

import numpy as np
import pytest
from sklearn.datasets import make_regression
from sklearn.linear_model import LogisticRegression, Ridge

from lifenet import LIFEClassifier, LIFERegressor
from lifenet.blend import Blend
from lifenet.blocks import ArrayRows
from lifenet.lines import linear_network, mix_with_lines
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.mixture import Fold, FoldNetwork, mean_fold_loss, saved_by_averaging
from lifenet.network import ReluNetwork
from lifenet.rules.columns import CodedColumns
from lifenet.solvers.base import Problem
from lifenet.solvers.descent import Descent

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
LINE = Blend(n_folds=3, n_networks=0, n_trees=20, descent=Descent(n_steps=20))


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
    line = linear_network(given, COLUMNS)
    assert line.n_neurons == 1
    expected = Ridge(1e-3).fit(X[:, [0, 2]], given.rows.target).predict(X[:, [0, 2]])
    np.testing.assert_allclose(line.score(X)[:, 0], expected, atol=0.02)


def test_two_classes_are_logistic_regression_of_the_values():
    X, given = problem(n=3_000, loss=Logistic())
    line = linear_network(given, COLUMNS)
    model = LogisticRegression(C=1.0, tol=1e-8).fit(X[:, [0, 2]], given.rows.target)
    expected = model.decision_function(X[:, [0, 2]])
    np.testing.assert_allclose(line.score(X)[:, 0], expected, atol=1e-3)


def test_several_classes_are_multinomial_regression_of_the_values():
    X, given = problem(loss=Multinomial(3))
    line = linear_network(given, COLUMNS)
    model = LogisticRegression(C=1.0, tol=1e-8).fit(X[:, [0, 2]], given.rows.target)
    expected = model.decision_function(X[:, [0, 2]])
    expected -= expected.mean(axis=1, keepdims=True)
    score = line.score(X)
    np.testing.assert_allclose(score - score.mean(axis=1, keepdims=True), expected, atol=2e-3)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Multinomial(3)], ids=str)
def test_a_neuron_for_each_output_is_active_on_all_rows_and_a_range_beyond(loss):
    X, given = problem(loss=loss)
    line = linear_network(given, COLUMNS)
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
        _, learn = problem(seed, bend=bend)
        _, judge = problem(seed + 10, n=200, bend=bend)
        null = np.array([learn.rows.target.mean()])
        network = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), null)
        found.append(FoldNetwork.of(Fold(learn, judge), network))
    return found


def test_the_share_is_that_with_the_least_loss_on_the_rows_apart():
    given = folds(bend=0.0)
    mixed, share = mix_with_lines(given, COLUMNS, 0.02)
    assert share == 1.0
    parts = [one.fold for one in mixed]
    least = mean_fold_loss(parts, [one.score for one in mixed])
    lines = [linear_network(one.learn, COLUMNS) for one in parts]
    for other in np.arange(0, 21) / 20:
        scores = [
            (1 - other) * one.score + other * FoldNetwork.of(one.fold, line).score
            for one, line in zip(given, lines, strict=True)
        ]
        assert mean_fold_loss(parts, scores) >= least - 1e-12
    for one in mixed:  # the scores kept are those of the networks kept
        np.testing.assert_allclose(one.score, FoldNetwork.of(one.fold, one.network).score)


def test_what_gains_too_little_is_left_out():
    given = folds(bend=0.0)
    same, share = mix_with_lines(given, COLUMNS, 0.999)
    assert share == 0
    assert [one.network for one in same] == [one.network for one in given]


def test_rows_that_one_network_is_far_off_on_do_not_make_all_linear():
    def off(seed, by):
        """A network that says the truth, but for one row that judges."""
        X, judge = problem(seed, n=200, bend=3.0)
        _, learn = problem(seed + 10, bend=3.0)
        score = (0.5 + 2 * X[:, 0] - X[:, 2] + 3.0 * np.abs(X[:, 0]))[:, None]
        score[0] += by
        null = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.zeros(1))
        return FoldNetwork(Fold(learn, judge), null, score)

    given = [off(0, 100.0), off(1, 0.0), off(2, 0.0)]
    folds_ = [one.fold for one in given]
    lines = [FoldNetwork.of(one, linear_network(one.learn, COLUMNS)).score for one in folds_]
    alone = mean_fold_loss(folds_, [one.score for one in given])
    assert mean_fold_loss(folds_, lines) < 0.5 * alone
    assert mix_with_lines(given, COLUMNS, 0.02)[1] == 0


def test_without_rows_apart_there_is_no_line():
    _, learn = problem()
    null = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), np.zeros(1))
    given = [FoldNetwork.of(Fold(learn, None), null)]
    assert mix_with_lines(given, COLUMNS, 0.0) == (given, 0.0)


@pytest.mark.parametrize("loss", [SquaredError(), Logistic(), Multinomial(3)], ids=str)
def test_the_mean_saves_what_its_members_differ_by(loss):
    rng = np.random.default_rng(0)
    X, given = problem(loss=loss)
    k = loss.n_outputs
    networks = [
        ReluNetwork(np.eye(4), np.zeros(4), 0.1 * rng.normal(size=(4, k)), np.zeros(k))
        for _ in range(5)
    ]
    scores = np.stack([one.score(X) for one in networks])

    def losses(score):
        return loss.value(given.rows.target, score[:, 0] if k == 1 else score)

    true = np.mean([losses(one) for one in scores], axis=0) - losses(scores.mean(axis=0))
    saved = saved_by_averaging(given, networks)
    if isinstance(loss, SquaredError):
        np.testing.assert_allclose(saved, true, atol=1e-12)
    elif k == 1:
        np.testing.assert_allclose(saved, true, rtol=0.1, atol=1e-4)
    else:  # classes compete, which the diagonal of the curvature leaves out
        assert 0.5 < saved.mean() / true.mean() < 2


class TestBlends:
    def test_of_a_linear_function_are_linear(self):
        X, y = make_regression(400, 12, n_informative=5, noise=5.0, random_state=0)
        line, without = (
            LIFERegressor(preset=blend, random_state=0).fit(X[:300], y[:300])
            for blend in (LINE, Blend(**{**LINE.get_params(deep=False), "linear_gain": None}))
        )
        assert without.linear_share_ == 0
        assert line.linear_share_ > 0.8
        # Codes end with their outer knots.
        low, high = np.transpose([(knots[0], knots[-1]) for knots in line.coding_.knots])
        inside = np.all((X[300:] >= low) & (X[300:] <= high), axis=1)

        def error(model):
            return np.sqrt(np.mean((model.predict(X[300:]) - y[300:])[inside] ** 2))

        ridge = Ridge(1.0).fit(X[:300], y[:300])
        assert error(line) < 1.15 * error(ridge) < 0.5 * error(without)

    def test_are_read_as_exactly_as_ever(self):
        X, y = make_regression(300, 5, noise=5.0, random_state=0)
        model = LIFERegressor(preset=LINE, random_state=0).fit(X, y)
        assert model.linear_share_ > 0
        network = model.network_
        whole = network.contributions(X).sum(axis=1) + network.local_intercept(X)
        np.testing.assert_allclose(whole, network.score(X), atol=1e-8)
        means = [one.network.score(model.coding_.encode(X)) for one in model.members_]
        np.testing.assert_allclose(model.predict(X), np.mean(means, axis=0)[:, 0], atol=1e-8)

    def test_of_steps_and_bends_have_none(self):
        rng = np.random.default_rng(0)
        X = rng.uniform(-1, 1, (600, 3))
        y = np.where(X[:, 0] > 0.2, 1.0, 0.0) + np.abs(X[:, 1]) + 0.1 * rng.normal(size=600)
        blend = Blend(n_folds=2, n_networks=0, descent=Descent(n_steps=20))
        assert LIFERegressor(preset=blend, random_state=0).fit(X, y).linear_share_ == 0

    def test_of_classes_have_it_too(self):
        rng = np.random.default_rng(0)
        X = rng.normal(size=(400, 8))
        y = np.digitize(3 * X[:, 0] - 2 * X[:, 1] + rng.normal(size=400), [-1, 1])
        model = LIFEClassifier(preset=LINE, random_state=0).fit(X, y)
        assert model.linear_share_ > 0
        plain = LogisticRegression().fit(X, y)
        assert model.score(X, y) > plain.score(X, y) - 0.03

    @pytest.mark.parametrize("value", [-0.1, 1.0, "much"])
    def test_a_bad_gain_is_named(self, value):
        with pytest.raises(ValueError, match="linear_gain"):
            Blend(linear_gain=value).check()
