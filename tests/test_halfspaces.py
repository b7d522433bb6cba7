import numpy as np

from lifenet.kernels import halfspaces
from lifenet.kernels.halfspaces import halfspace_members, halfspace_shares


def test_members_and_shares_against_a_loop(monkeypatch):
    monkeypatch.setattr(halfspaces, "_BLOCK_CELLS", 12)  # several blocks
    generator = np.random.default_rng(0)
    X, weights, bias = generator.normal(size=(29, 3)), generator.normal(size=(4, 3)), np.arange(4.0)
    weight = generator.integers(0, 3, 29).astype(float)
    members = halfspace_members(X, weights, bias, 0.5)
    for i, x in enumerate(X):
        for j in range(4):
            assert members[i, j] == (bias[j] + sum(x * weights[j]) > 0.5)
    np.testing.assert_allclose(
        halfspace_shares(X, weights, bias, 0.5, weight), weight @ members / weight.sum()
    )
    np.testing.assert_allclose(halfspace_shares(X, weights, bias, 0.5), members.mean(axis=0))


def test_the_boundary_is_outside():
    members = halfspace_members(np.array([[1.0], [2.0]]), np.array([[1.0]]), np.array([0.0]), 1.0)
    assert members.tolist() == [[False], [True]]


def test_integer_weights_are_repeated_rows():
    generator = np.random.default_rng(1)
    X, weights, bias = generator.normal(size=(50, 2)), generator.normal(size=(6, 2)), np.zeros(6)
    count = generator.integers(0, 4, 50)
    np.testing.assert_allclose(
        halfspace_shares(X, weights, bias, 0.0, count.astype(float)),
        halfspace_shares(X.repeat(count, axis=0), weights, bias, 0.0),
    )
