import numpy as np
import pytest

from lifenet.kernels.gram import (
    block_rows_for_gram,
    gram_fits,
    masked_gradient,
    masked_gram_diagonal,
    masked_gram_product,
    masked_gram_table,
    n_pairs,
    unfold_gram,
)
from oracles import masked_design


@pytest.fixture(params=[(1, 1), (1, 4), (5, 1), (4, 3), (3, 6)], ids=lambda s: f"K{s[0]}p{s[1]}")
def block(request):
    n_neurons, n_features = request.param
    generator = np.random.default_rng(n_neurons + 10 * n_features)
    X = generator.normal(size=(37, n_features))
    theta = generator.normal(size=(n_neurons, n_features + 1))
    weight = generator.uniform(0, 2, 37)
    inputs = np.vstack([X.T, np.ones((1, 37))])
    return theta, inputs, theta @ inputs > 0, weight, masked_design(theta, X)


def test_pair_table_unfolds_to_the_gram_of_the_masked_design(block):
    theta, inputs, active, weight, design = block
    table = masked_gram_table(active, inputs, weight)
    assert table.shape == (n_pairs(len(theta)), n_pairs(len(inputs)))
    gram = unfold_gram(table, weight.sum(), *theta.shape)
    np.testing.assert_allclose(gram, design.T @ (weight[:, None] * design), atol=1e-12)


def test_gradient_is_the_design_transposed_times_rows(block):
    theta, inputs, active, weight, design = block
    rows = np.cos(weight)
    expected = (design.T @ rows)[:-1].reshape(theta.shape)
    np.testing.assert_allclose(masked_gradient(active, inputs, rows), expected, atol=1e-12)


def test_diagonal_without_the_matrix(block):
    theta, inputs, active, weight, design = block
    gram = design.T @ (weight[:, None] * design)
    expected = np.diag(gram)[:-1].reshape(theta.shape)
    np.testing.assert_allclose(masked_gram_diagonal(active, inputs, weight), expected, atol=1e-12)


def test_product_without_the_matrix(block):
    theta, inputs, active, weight, design = block
    generator = np.random.default_rng(3)
    direction, constant = generator.normal(size=theta.shape), 0.7
    image, at_intercept = masked_gram_product(active, inputs, weight, direction, constant)
    gram = design.T @ (weight[:, None] * design)
    expected = gram @ np.append(direction, constant)
    np.testing.assert_allclose(np.append(image, at_intercept), expected, atol=1e-11)


def test_sizes_whose_pair_products_fill_the_memory_do_not_fit():
    assert gram_fits(20, 50, 1500)
    assert not gram_fits(20, 80, 1500)
    assert not gram_fits(1, 1401, 1500)
    assert not gram_fits(700, 2, 1500)


def test_blocks_shrink_as_the_pairs_grow():
    sizes = [block_rows_for_gram(k, 10) for k in (5, 40, 100, 1000)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] == 4096
    assert sizes[-1] == 128
