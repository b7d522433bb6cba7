import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg

from lifenet.kernels.lstsq import (
    conjugate_gradients,
    inverse_of,
    solve_minimum_norm,
    solve_positive,
    triangle,
)


def random_gram(generator, size, rank):
    factor = generator.normal(size=(rank, size))
    return factor.T @ factor


def test_positive_definite_systems_agree_with_scipy():
    generator = np.random.default_rng(0)
    gram = random_gram(generator, 12, 40)
    right = generator.normal(size=(12, 3))
    expected = linalg.solve(gram + 0.1 * np.eye(12), right, assume_a="pos")
    np.testing.assert_allclose(solve_positive(gram, right, 0.1), expected, rtol=1e-10)
    np.testing.assert_allclose(
        solve_positive(gram, right[:, 0], np.full(12, 0.1)), expected[:, 0], rtol=1e-10
    )


def test_the_given_matrix_is_not_changed():
    gram = random_gram(np.random.default_rng(0), 4, 9)
    before = gram.copy()
    solve_positive(gram, np.ones(4), 1.0)
    np.testing.assert_array_equal(gram, before)


def test_columns_of_wildly_different_scale():
    generator = np.random.default_rng(1)
    scale = 10.0 ** np.arange(-8, 8)
    gram = random_gram(generator, 16, 60)
    solution = generator.normal(size=16)
    scaled = gram * scale * scale[:, None]
    right = scaled @ (solution / scale)
    np.testing.assert_allclose(solve_positive(scaled, right) * scale, solution, rtol=1e-6)


@settings(max_examples=200, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(1, 25),
    rank=st.integers(1, 25),
    log_scale=st.floats(-6, 6),
)
def test_consistent_singular_systems_are_solved_without_blowing_up(seed, size, rank, log_scale):
    generator = np.random.default_rng(seed)
    gram = random_gram(generator, size, rank) * 10.0**log_scale
    solution = generator.normal(size=size)
    right = gram @ solution
    found = solve_positive(gram, right)
    assert np.linalg.norm(gram @ found - right) <= 1e-6 * np.linalg.norm(right)
    # Minimum norm, in coordinates scaled to a unit diagonal: never longer than the planted one.
    scale = np.sqrt(np.diag(gram))
    assert np.linalg.norm(scale * found) <= (1 + 1e-6) * np.linalg.norm(scale * solution)


def test_zero_rows_get_zero():
    gram = np.diag([2.0, 0.0, 4.0])
    np.testing.assert_allclose(solve_positive(gram, np.array([2.0, 5.0, 4.0])), [1.0, 0.0, 1.0])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_systems_that_are_not_finite_are_refused(bad):
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        solve_positive(np.diag([1.0, bad]), np.ones(2))
    with pytest.raises(np.linalg.LinAlgError, match="not finite"):
        solve_positive(np.eye(2), np.array([1.0, bad]))


def test_blockwise_factors_give_the_least_squares_of_all_rows():
    generator = np.random.default_rng(5)
    rows = generator.normal(size=(200, 9))
    factor = triangle(rows[:4])
    for start in range(4, 200, 28):
        factor = triangle(np.vstack([factor, rows[start : start + 28]]))
    expected = np.linalg.lstsq(rows[:, :-1], rows[:, -1], rcond=None)[0]
    np.testing.assert_allclose(solve_minimum_norm(factor), expected, rtol=1e-10)


def test_rank_deficient_least_squares_is_of_minimum_norm():
    generator = np.random.default_rng(6)
    design = generator.normal(size=(50, 4))
    design = np.column_stack([design, design[:, 0] - 2 * design[:, 2]])
    response = generator.normal(size=50)
    expected = np.linalg.pinv(design) @ response
    found = solve_minimum_norm(triangle(np.column_stack([design, response])))
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_conjugate_gradients_solve_and_stop_early_downhill():
    generator = np.random.default_rng(7)
    gram = random_gram(generator, 30, 60) + np.eye(30)
    right = generator.normal(size=30)
    exact = np.linalg.solve(gram, right)

    def precondition(residual):
        return residual / np.diag(gram)

    solution, products = conjugate_gradients(
        gram.__matmul__, right, precondition, tolerance=1e-12, max_iter=200
    )
    np.testing.assert_allclose(solution, exact, rtol=1e-8)
    assert products < 200
    values = []
    for most in range(6):
        early, taken = conjugate_gradients(
            gram.__matmul__, right, precondition, tolerance=0.0, max_iter=most
        )
        assert taken == most
        values.append(0.5 * early @ gram @ early - early @ right)
    assert np.all(np.diff(values) < 0)


def test_conjugate_gradients_of_zero_need_no_product():
    solution, products = conjugate_gradients(
        lambda _: pytest.fail("no product was needed"),
        np.zeros(3),
        lambda residual: residual,
        tolerance=1e-6,
        max_iter=5,
    )
    assert products == 0
    np.testing.assert_array_equal(solution, 0)


def test_inverse_is_the_solution_where_there_is_one_and_positive_definite_anyway():
    generator = np.random.default_rng(0)
    design = generator.normal(size=(30, 6)) * 10.0 ** np.arange(-3, 3)
    matrix, right = design.T @ design, generator.normal(size=6)
    expected = np.linalg.solve(matrix + 0.1 * np.eye(6), right)
    np.testing.assert_allclose(inverse_of(matrix, 0.1)(right), expected, rtol=1e-6)
    singular = np.ones((6, 6))
    singular[0], singular[:, 0] = 0.0, 0.0
    apply = inverse_of(singular)
    for vector in np.vstack([np.eye(6), generator.normal(size=(20, 6))]):
        assert vector @ apply(vector) > 0
    indefinite = np.diag([1.0, -1.0])
    assert np.array_equal(inverse_of(indefinite)(np.ones(2)) > 0, [True, True])
