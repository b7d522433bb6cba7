import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import Ridge as Oracle

from lifenet.blocks import ArrayRows
from lifenet.losses import Multinomial, SquaredError
from lifenet.readouts.design import HeldOut
from lifenet.readouts.favours import choose_scale, squared_error
from lifenet.readouts.moments import gather_moments
from lifenet.solvers.base import Problem
from lifenet.solvers.features import Activations


def problem(n, seed, loss=None, weight=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    y = 2 * X[:, 0] + 0.1 * rng.normal(size=n)
    if loss is not None:
        y = np.digitize(y, [-1, 1]).astype(float)
    weight = None if weight is None else rng.integers(1, 4, n).astype(float)
    return Problem(ArrayRows.of(X, y, weight), loss or SquaredError())


# Both signs of each column, so that a linear function is among the read-outs.
THETA = np.hstack([np.vstack([np.eye(6), -np.eye(6)]), np.zeros((12, 1))])
FEATURES = Activations(THETA)


def table(one):
    return one.rows.collect(FEATURES.of).T


def test_errors_from_moments_are_those_of_the_rows():
    judge = problem(50, 1, weight=True)
    fit = np.random.default_rng(0).normal(size=(13, 1))
    score = table(judge) @ fit[:-1, 0] + fit[-1, 0]
    expected = np.average((judge.rows.target - score) ** 2, weights=judge.rows.weight)
    moments = gather_moments(judge, FEATURES, np.ones(12))
    assert_allclose(squared_error(moments, fit), expected, rtol=1e-10)


def test_features_that_the_truth_needs_are_favoured():
    learn, judge = problem(40, 2), problem(400, 3)
    right, wrong = np.ones(12), np.ones(12)
    right[[0, 6]] = 1e-2  # those of the first column may cost little
    wrong[[1, 7]] = 1e-2
    place, fit = choose_scale(HeldOut(learn, judge), FEATURES, [wrong, np.ones(12), right])
    assert place == 2
    assert np.abs(fit[[0, 6], 0]).min() > 10 * np.abs(np.delete(fit[:-1, 0], [0, 6])).max()


def test_the_fit_is_a_ridge_fit_of_scaled_features():
    learn, judge = problem(60, 4, weight=True), problem(60, 5)
    scale = np.random.default_rng(0).uniform(0.5, 2, 12)
    _, fit = choose_scale(HeldOut(learn, judge), FEATURES, [scale])
    X, weight = table(learn) / scale, learn.rows.weight
    share = weight / weight.sum()
    unit = np.mean(share @ np.square(X - share @ X))
    paths = []
    for penalty in np.geomspace(1e-5, 10, 13):
        oracle = Oracle(alpha=penalty * unit * weight.sum())
        oracle.fit(X, learn.rows.target, sample_weight=weight)
        paths.append(np.append(oracle.coef_ / scale, oracle.intercept_))
    errors = [
        np.mean((table(judge) @ one[:-1] + one[-1] - judge.rows.target) ** 2) for one in paths
    ]
    assert_allclose(fit[:, 0], paths[int(np.argmin(errors))], rtol=1e-6, atol=1e-8)


def test_classes_are_fitted_as_indicators():
    learn, judge = problem(80, 6, Multinomial(3)), problem(80, 7, Multinomial(3))
    _, fit = choose_scale(HeldOut(learn, judge), FEATURES, [np.ones(12)])
    assert fit.shape == (13, 3)
    assert_allclose(fit[-1].sum(), 1, atol=0.2)


@pytest.mark.parametrize("n_rows", [5, 12])
def test_fewer_rows_than_features_have_a_fit(n_rows):
    held_out = HeldOut(problem(n_rows, 8), problem(30, 9))
    _, fit = choose_scale(held_out, FEATURES, [np.ones(12)])
    assert np.isfinite(fit).all()
