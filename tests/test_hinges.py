import numpy as np

from lifenet.solvers.hinges import Hinges
from oracles import hinge_score, random_hinges


def test_network_is_the_same_function_with_unit_directions():
    generator = np.random.default_rng(0)
    hinges, X = random_hinges(generator, 5, 3), generator.normal(size=(40, 3))
    network = hinges.network()
    np.testing.assert_allclose(network.score(X)[:, 0], hinge_score(hinges, X))
    np.testing.assert_allclose(np.linalg.norm(network.weights, axis=1), 1.0)


def test_a_hinge_without_direction_stays_finite():
    hinges = Hinges(np.array([[0.0, 0.0, 2.0]]), np.array([-1.0]), 1.0)
    np.testing.assert_allclose(hinges.network().score(np.zeros((1, 2))), -1.0)


def test_a_step_that_turns_a_hinge_round_keeps_its_side():
    """The new slope was fitted on rows where x > 0: there, and only there, it must act."""
    hinges = Hinges(np.array([[1.0, 0.0]]), np.array([1.0]), 0.0)
    moved = hinges.moved(np.array([[-3.0, 0.0]]), 0.5)  # fitted: slope -2 where x > 0
    X = np.array([[-1.0], [1.0]])
    np.testing.assert_allclose(hinge_score(moved, X), [0.5, 0.5 - 2.0])


def test_steps_add_up_in_the_signed_hinges():
    generator = np.random.default_rng(1)
    hinges, step = random_hinges(generator, 6, 4), generator.normal(size=(6, 5))
    moved = hinges.moved(step, -1.0)
    np.testing.assert_allclose(moved.signed, hinges.signed + step)
    assert np.all(np.sum(moved.theta * hinges.theta, axis=1) >= 0)


def test_rescaling_keeps_patterns_and_scales_the_output_layer():
    generator = np.random.default_rng(2)
    hinges, X = random_hinges(generator, 3, 2), generator.normal(size=(30, 2))
    factors = np.array([2.0, -0.5, 1.0])
    rescaled = hinges.rescaled(factors, 3.0)
    inputs = np.column_stack([X, np.ones(30)]).T
    np.testing.assert_array_equal(rescaled.theta @ inputs > 0, hinges.theta @ inputs > 0)
    features = hinges.sign[:, None] * np.maximum(hinges.theta @ inputs, 0)
    np.testing.assert_allclose(hinge_score(rescaled, X), 3.0 + factors @ features)
