import numpy as np
import pytest

from lifenet.losses import Logistic
from lifenet.solvers.starts import STARTS, least_squares_hinges, random_hinges
from oracles import plain_problem


def make(n=500, p=4, seed=0, weight=None, loss=None):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, p))
    y = X @ np.arange(1.0, p + 1) + generator.normal(size=n)
    return X, y, plain_problem(X, y if loss is None else (y > 0), weight, loss)


@pytest.mark.parametrize("start", STARTS)
def test_every_hinge_cuts_the_data(start):
    X, _, problem = make()
    theta = STARTS[start](problem, 20, np.random.default_rng(3))
    np.testing.assert_allclose(np.linalg.norm(theta[:, :-1], axis=1), 1.0)
    share = (X @ theta[:, :-1].T + theta[:, -1] > 0).mean(axis=0)
    assert share.min() >= 0.04
    assert share.max() <= 0.96


def test_random_directions_differ_and_follow_the_generator():
    _, _, problem = make()
    first, again = (random_hinges(problem, 5, np.random.default_rng(1)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert len(np.unique(first[:, 0])) == 5


def test_least_squares_direction_and_equal_quantiles():
    X, y, problem = make()
    theta = least_squares_hinges(problem, 4, np.random.default_rng(0))
    slopes = np.linalg.lstsq(np.column_stack([X, np.ones(len(X))]), y, rcond=None)[0][:-1]
    np.testing.assert_allclose(theta[0, :-1], slopes / np.linalg.norm(slopes))
    share = (X @ theta[:, :-1].T + theta[:, -1] > 0).mean(axis=0)
    np.testing.assert_allclose(share, [0.8, 0.6, 0.4, 0.2], atol=0.003)


def test_least_squares_start_of_a_logistic_target_points_at_the_classes():
    _, _, problem = make(loss=Logistic())
    theta = least_squares_hinges(problem, 1, np.random.default_rng(0))
    direction = np.arange(1.0, 5.0) / np.linalg.norm(np.arange(1.0, 5.0))
    assert theta[0, :-1] @ direction > 0.98


def test_a_target_without_trend_gets_a_random_direction():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    problem = plain_problem(X, np.array([1.0, 1.0, 4.0, 4.0]))
    theta = least_squares_hinges(problem, 2, np.random.default_rng(0))
    assert np.isfinite(theta).all()
    np.testing.assert_allclose(np.abs(theta[:, 0]), 1.0)


@pytest.mark.parametrize("start", STARTS)
def test_integer_weights_give_the_hinges_of_repeated_rows(start):
    X, y, _ = make()
    count = np.random.default_rng(5).integers(0, 4, len(X))
    weighted = plain_problem(X, y, count.astype(float))
    repeated = plain_problem(X.repeat(count, axis=0), y.repeat(count))
    first, second = (
        STARTS[start](problem, 15, np.random.default_rng(9)) for problem in (weighted, repeated)
    )
    np.testing.assert_allclose(first, second, rtol=1e-10)


def test_no_row_lies_on_a_hinge():
    """A row on the boundary would be active or not by rounding."""
    X, _, problem = make()
    theta = random_hinges(problem, 50, np.random.default_rng(2))
    assert np.abs(X @ theta[:, :-1].T + theta[:, -1]).min() > 1e-10
