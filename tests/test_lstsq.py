import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import linalg

import lifenet.kernels.lstsq as module
from lifenet.kernels.lstsq import (
    conjugate_gradients,
    inverse_of,
    solve_minimum_norm,
    solve_positive,
    solve_ridge,
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


# ---------------------------------------------------------------------- ridge


def conditioned(generator, size, condition, scale=None):
    """A positive definite matrix of a condition number, and columns of other units."""
    vectors = linalg.qr(generator.normal(size=(size, size)))[0]
    matrix = (vectors * np.geomspace(1.0, 1.0 / condition, size)) @ vectors.T
    scale = np.ones(size) if scale is None else scale
    return (matrix + matrix.T) / 2 * scale * scale[:, None]


@pytest.fixture
def fallen(monkeypatch):
    """Systems that were solved in double precision."""
    seen, solve = [], module.solve_positive

    def look(*args):
        seen.append(args)
        return solve(*args)

    monkeypatch.setattr(module, "solve_positive", look)
    return seen


class TestRidge:
    @pytest.mark.parametrize("size", [1, 2, 30])
    @pytest.mark.parametrize("n_right", [1, 4])
    def test_well_conditioned_systems_are_those_of_numpy(self, size, n_right, fallen):
        generator = np.random.default_rng(0)
        matrix = conditioned(generator, size, 50.0)
        diagonal, right = generator.uniform(0.1, 1, size), generator.normal(size=(size, n_right))
        expected = np.linalg.solve(matrix + np.diag(diagonal), right)
        found = solve_ridge(matrix, right, diagonal)
        assert found.dtype == np.float64
        assert found.shape == (size, n_right)
        assert np.linalg.norm(found - expected) <= 1e-5 * np.linalg.norm(expected)
        assert not fallen

    @pytest.mark.parametrize("condition", [1e3, 1e5, 1e8, 1e12])
    @pytest.mark.parametrize("penalty", [1e-2, 1e-5, 1e-9])
    def test_residuals_are_small_however_ill_conditioned_a_system_is(self, condition, penalty):
        generator = np.random.default_rng(1)
        matrix, diagonal = conditioned(generator, 40, condition), np.full(40, penalty)
        right = matrix @ generator.normal(size=(40, 3))
        system = matrix + np.diag(diagonal)
        found = solve_ridge(matrix, right, diagonal)
        scale = 1 / np.sqrt(system.diagonal())[:, None]
        residual = np.linalg.norm((right - system @ found) * scale)
        assert residual <= 2e-6 * np.linalg.norm(right * scale)
        # A small residual leaves no more open than the condition of the system times it.
        expected = np.linalg.solve(system, right)
        limit = 1e-5 * min(condition, 1 / penalty)
        if limit < 0.1:
            assert np.linalg.norm(found - expected) <= limit * np.linalg.norm(expected)

    def test_fits_that_it_gives_are_those_of_ridge_regression(self):
        """What is asked of a fit is what it predicts: that hardly depends on the condition."""
        generator = np.random.default_rng(2)
        X = generator.normal(size=(200, 60)) @ conditioned(generator, 60, 1e4)
        X -= X.mean(axis=0)
        y = generator.normal(size=(200, 2))
        matrix, diagonal = X.T @ X / 200, np.full(60, 1e-4)
        expected = X @ np.linalg.solve(matrix + np.diag(diagonal), X.T @ y / 200)
        found = X @ solve_ridge(matrix, X.T @ y / 200, diagonal)
        assert np.linalg.norm(found - expected) <= 1e-4 * np.linalg.norm(expected)

    def test_columns_of_wildly_different_scale_are_solved(self, fallen):
        generator = np.random.default_rng(3)
        scale = 10.0 ** np.linspace(-8, 8, 16)
        matrix = conditioned(generator, 16, 20.0, scale)
        solution = generator.normal(size=(16, 2)) / scale[:, None]
        diagonal = 0.01 * matrix.diagonal()
        right = matrix @ solution + diagonal[:, None] * solution
        found = solve_ridge(matrix, right, diagonal)
        np.testing.assert_allclose(found * scale[:, None], solution * scale[:, None], atol=1e-5)
        assert not fallen

    @pytest.mark.parametrize("power", [-30, 30])
    def test_units_beyond_single_precision_are_solved(self, power):
        generator = np.random.default_rng(4)
        scale = np.full(6, 10.0**power)
        scale[:3] = 1.0
        matrix = conditioned(generator, 6, 20.0, scale)
        solution = generator.normal(size=(6, 1)) / scale[:, None]
        diagonal = 0.01 * matrix.diagonal()
        right = matrix @ solution + diagonal[:, None] * solution
        found = solve_ridge(matrix, right, diagonal)
        np.testing.assert_allclose(found * scale[:, None], solution * scale[:, None], atol=1e-5)

    @pytest.mark.parametrize("penalty", [1e-14, 0.0])
    def test_a_singular_matrix_under_hardly_any_penalty_falls_back(self, penalty, fallen):
        generator = np.random.default_rng(5)
        matrix = random_gram(generator, 12, 5)
        right = matrix @ generator.normal(size=(12, 2))
        found = solve_ridge(matrix, right, np.full(12, penalty))
        assert len(fallen) == 1
        np.testing.assert_allclose(matrix @ found, right, atol=1e-6 * np.abs(right).max())

    def test_a_factor_that_fails_falls_back(self, fallen):
        """Off by rounding from being positive definite."""
        matrix = np.ones((3, 3)) - 1e-9 * np.eye(3)
        right, diagonal = np.ones((3, 1)), np.full(3, 1e-6)
        expected = np.linalg.solve(matrix + np.diag(diagonal), right)
        found = solve_ridge(matrix, right, diagonal)
        assert len(fallen) == 1
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    def test_refinement_that_does_not_end_falls_back(self, fallen, monkeypatch):
        monkeypatch.setattr(module, "_REFINED", 0.0)
        generator = np.random.default_rng(6)
        matrix = conditioned(generator, 20, 1e3)
        right, diagonal = generator.normal(size=(20, 2)), np.full(20, 1e-3)
        expected = np.linalg.solve(matrix + np.diag(diagonal), right)
        np.testing.assert_allclose(solve_ridge(matrix, right, diagonal), expected, rtol=1e-9)
        assert len(fallen) == 1

    def test_zero_rows_and_no_penalty_get_zero(self):
        matrix = np.diag([2.0, 0.0, 4.0])
        found = solve_ridge(matrix, np.array([[2.0], [5.0], [4.0]]), np.zeros(3))
        np.testing.assert_allclose(found[:, 0], [1.0, 0.0, 1.0])

    def test_nothing_on_the_right_gives_nothing(self):
        generator = np.random.default_rng(7)
        found = solve_ridge(conditioned(generator, 5, 10.0), np.zeros((5, 2)), np.ones(5))
        np.testing.assert_array_equal(found, np.zeros((5, 2)))

    def test_what_is_given_is_not_changed(self):
        generator = np.random.default_rng(8)
        given_parts = conditioned(generator, 6, 10.0), generator.normal(size=(6, 2)), np.ones(6)
        before = [one.copy() for one in given_parts]
        for one in given_parts:
            one.setflags(write=False)
        solve_ridge(*given_parts)
        for one, two in zip(given_parts, before, strict=True):
            np.testing.assert_array_equal(one, two)

    @pytest.mark.parametrize("bad", [np.nan, np.inf])
    def test_systems_that_are_not_finite_are_refused(self, bad):
        off = np.eye(2)
        off[0, 1] = off[1, 0] = bad
        ones = np.ones((2, 1))
        for matrix, right in ((np.diag([1.0, bad]), ones), (off, ones), (np.eye(2), bad * ones)):
            with (
                np.errstate(all="ignore"),
                pytest.raises(np.linalg.LinAlgError, match="not finite"),
            ):
                solve_ridge(matrix, right, np.ones(2))

    @settings(max_examples=100, deadline=None)
    @given(
        seed=st.integers(0, 2**32 - 1),
        size=st.integers(1, 20),
        rank=st.integers(1, 20),
        log_penalty=st.floats(-9, 3),
    )
    def test_it_agrees_with_the_solution_in_double_precision(self, seed, size, rank, log_penalty):
        generator = np.random.default_rng(seed)
        gram = random_gram(generator, size, rank)
        assume(gram.diagonal().min() > 1e-3)
        right, diagonal = gram @ generator.normal(size=(size, 2)), np.full(size, 10.0**log_penalty)
        system = gram + np.diag(diagonal)
        found, expected = solve_ridge(gram, right, diagonal), np.linalg.solve(system, right)
        # In the norm of the system, in which all directions count as they do in a fit.
        difference = found - expected
        size_of = np.sqrt(np.sum(expected * (system @ expected)))
        assert np.sqrt(max(np.sum(difference * (system @ difference)), 0.0)) <= 1e-2 * size_of


@pytest.mark.parametrize("rank", [2, 5])
def test_any_direction_of_fall_instead_of_the_minimum_norm(rank, monkeypatch):
    """A singular system: the lifted solution solves it, too, without eigenvectors."""
    rng = np.random.default_rng(3)
    Z = rng.normal(size=(rank, 8))
    matrix = Z.T @ Z
    right = matrix @ rng.normal(size=8)
    expected = solve_positive(matrix, right)
    monkeypatch.setattr(module, "_eigen_solve", lambda *_: pytest.fail("eigenvectors"))
    found = solve_positive(matrix, right, minimum_norm=False)
    np.testing.assert_allclose(matrix @ found, right, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(matrix @ found, matrix @ expected, rtol=1e-6, atol=1e-6)
    assert found @ right > 0
