"""Moving each column alone: against scores before and after, in both of its ways of working."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.network import ReluNetwork
from strategies import floats, invariant, networks


def one_by_one(network, X, targets):
    moved = np.empty((*targets.shape, network.n_outputs))
    base = network.score(X)
    for place in range(len(targets)):
        for column in range(X.shape[1]):
            there = X.copy()
            there[:, column] = targets[place, :, column]
            moved[place, :, column] = network.score(there) - base
    return moved


@invariant
@given(st.data())
def test_moves_are_differences_of_scores(data):
    network = data.draw(networks())
    n = data.draw(st.integers(1, 6))
    X = data.draw(floats(n, network.n_features))
    targets = data.draw(floats(2, n, network.n_features))
    expected = one_by_one(network, X, targets)
    np.testing.assert_allclose(network.moves(X, targets), expected, atol=1e-11)


@pytest.mark.parametrize("size", [1e-7, 1e-3, 0.3, 5.0])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_steps_of_all_lengths(size, n_outputs):
    """Short steps look for crossings, long ones work through all neurons; here both occur."""
    generator = np.random.default_rng(0)
    network = ReluNetwork(
        generator.normal(size=(60, 5)),
        generator.normal(size=60),
        generator.normal(size=(60, n_outputs)),
        np.zeros(n_outputs),
    )
    X = generator.normal(size=(400, 5))
    lengths = size * np.array([1.0, 10.0, 0.1, 0.0, 1.0])
    targets = X + lengths * generator.standard_cauchy(size=(2, 400, 5))
    expected = one_by_one(network, X, targets)
    scale = np.abs(network.score(X)).max() + np.abs(expected).max()
    np.testing.assert_allclose(network.moves(X, targets), expected, atol=1e-13 * scale)
    assert not network.moves(X, targets)[:, :, 3].any()


def test_a_tiny_step_keeps_its_digits():
    network = ReluNetwork([[3.0]], [1.0], [1.0], 1e6)
    moved = network.moves([[0.5]], [[[0.5 + 2.0**-40]]])
    assert moved.item() == 3 * 2.0**-40


def test_float32_stays_float32():
    network = ReluNetwork([[1.0]], [0.0], [1.0], 0.0).astype(np.float32)
    moved = network.moves(np.ones((2, 1), np.float32), np.zeros((1, 2, 1), np.float32))
    assert moved.dtype == np.float32
    np.testing.assert_array_equal(moved.ravel(), [-1, -1])


def test_targets_are_checked():
    network = ReluNetwork([[1.0, 2.0]], [0.0], [1.0], 0.0)
    X = np.zeros((3, 2))
    with pytest.raises(ValueError, match=r"targets has shape \(3, 2\); expected \(s, 3, 2\)"):
        network.moves(X, X)
    bad = np.zeros((2, 3, 2))
    bad[1, 2, 0] = np.nan
    with pytest.raises(ValueError, match=r"targets\[1\] holds nan at row 2, column 0"):
        network.moves(X, bad)
