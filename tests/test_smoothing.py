"""Splines and means of levels, against scipy, dense algebra and repeated rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import BSpline, make_smoothing_spline

from lifenet.kernels.smoothing import LevelBasis, SplineBasis, choose_basis, smooth
from strategies import invariant


def noisy(n=300, seed=0, noise=0.3):
    generator = np.random.default_rng(seed)
    x = np.sort(generator.uniform(0, 5, n))
    return x, np.sin(2 * x), np.sin(2 * x) + noise * generator.normal(size=n)


# The basis.


def test_the_functions_add_up_to_one_and_are_independent_on_the_values():
    for values in (np.arange(13.0), np.arange(24.0), np.random.default_rng(0).normal(size=500)):
        design = choose_basis(values).design(values).toarray()
        np.testing.assert_allclose(design.sum(axis=1), 1, atol=1e-12)
        assert np.linalg.matrix_rank(design) == design.shape[1]


def test_the_penalty_is_the_integral_of_squared_second_derivatives():
    basis = SplineBasis(np.array([-1.0, 0.0, 0.5, 3.0]))
    coefficients = np.random.default_rng(0).normal(size=6)
    scaled = np.concatenate([[0] * 3, (basis.knots + 1) / 4, [1] * 3])
    bend = BSpline(scaled, coefficients, 3).derivative(2)
    fine = (np.arange(200_000) + 0.5) / 200_000
    assert coefficients @ basis.penalty @ coefficients == pytest.approx(
        np.mean(bend(fine) ** 2), rel=1e-6
    )


def test_few_values_and_categories_have_levels():
    assert isinstance(choose_basis(np.arange(12.0)), LevelBasis)
    assert isinstance(choose_basis(np.arange(13.0)), SplineBasis)
    assert isinstance(choose_basis(np.arange(13.0), max_levels=13), LevelBasis)
    assert isinstance(choose_basis(np.arange(40.0), categorical=True), LevelBasis)
    assert len(choose_basis(np.arange(1000.0), max_knots=7).knots) == 9


def test_knots_that_nearly_touch_count_once():
    x = np.concatenate([np.arange(20.0), np.arange(20.0) + 1e-12])
    knots = choose_basis(x).knots
    assert np.diff(knots).min() > 0.5
    assert np.isfinite(smooth(x, np.sin(x)[:, None])(x)).all()


# The fit.


@pytest.mark.parametrize("n", [60, 300])
def test_close_to_the_smoothing_spline_of_scipy(n):
    x, truth, y = noisy(n)
    ours, theirs = smooth(x, y[:, None])(x)[:, 0], make_smoothing_spline(x, y)(x)
    apart, error = np.mean((ours - theirs) ** 2), np.mean((theirs - truth) ** 2)
    assert apart < 0.05 * error


def test_minimises_what_it_says_by_dense_algebra():
    x, _, y = noisy(80)
    found = smooth(x, y[:, None])
    design, penalty = found.basis.design(x).toarray(), found.basis.penalty
    centred = y - y.mean()
    best, least = None, np.inf
    for size in np.geomspace(1e-12, 1e3, 4000):
        inverse = np.linalg.inv(design.T @ design / 80 + size * penalty)
        trace = np.trace(inverse @ design.T @ design) / 80
        fit = design @ (inverse @ design.T @ centred) / 80
        score = np.mean((centred - fit) ** 2) / (1 - trace / 80) ** 2
        if score < least:
            best, least, edf = fit, score, trace
    assert found.edf[0] == pytest.approx(edf, rel=0.05)
    np.testing.assert_allclose(found(x)[:, 0], best + y.mean(), atol=0.01)


def test_lines_come_back_exactly_and_go_on_beyond_the_data():
    x = np.random.default_rng(0).normal(size=400)
    found = smooth(x, np.c_[3 * x - 2, np.full(400, 7.0)])
    far = np.array([-50.0, 0.0, 80.0])
    np.testing.assert_allclose(found(far)[:, 0], 3 * far - 2, rtol=1e-6)
    np.testing.assert_allclose(found(far)[:, 1], 7, rtol=1e-12)
    np.testing.assert_allclose(found.edf, 2, atol=1e-2)


def test_a_smooth_function_without_noise_is_recovered():
    x, truth, _ = noisy(2000)
    found = smooth(x, truth[:, None])
    np.testing.assert_allclose(found(x)[:, 0], truth, atol=2e-4)


def test_noise_without_a_pattern_is_nearly_a_line():
    generator = np.random.default_rng(3)
    found = smooth(generator.normal(size=5000), generator.normal(size=(5000, 30)))
    assert np.median(found.edf) < 3
    assert np.median(found.deviation) < 0.03


@pytest.mark.parametrize("kind", ["lognormal", "cauchy"])
def test_heavy_tails_do_no_harm(kind):
    generator = np.random.default_rng(0)
    x = {"lognormal": np.exp(3 * generator.normal(size=3000)), "cauchy": None}[kind]
    x = generator.standard_cauchy(size=3000) if x is None else x
    y = np.arctan(x)
    found = smooth(x, np.c_[y, x])
    assert np.mean((found(x)[:, 0] - y) ** 2) < 0.05 * y.var()
    np.testing.assert_allclose(found(x)[:, 1], x, rtol=1e-4, atol=1e-3 * x.std())


def test_each_response_has_its_own_penalty():
    x, _, y = noisy()
    pure = np.random.default_rng(1).normal(size=len(x))
    together, alone = smooth(x, np.c_[y, pure]), smooth(x, pure[:, None])
    assert together.edf[0] > 7
    assert together.edf[1] == pytest.approx(alone.edf[0], rel=1e-9)
    np.testing.assert_allclose(together(x)[:, 1], alone(x)[:, 0], atol=1e-10)


@pytest.mark.parametrize("values", [5, 30, 10_000])
def test_integer_weights_are_repeated_rows(values):
    generator = np.random.default_rng(0)
    x = generator.integers(values, size=200) / 7.0
    responses = np.c_[np.sin(x) + generator.normal(size=200), generator.normal(size=200)]
    weight = generator.integers(1, 5, size=200)
    one = smooth(x, responses, weight)
    many = smooth(np.repeat(x, weight), np.repeat(responses, weight, axis=0))
    np.testing.assert_allclose(one.edf, many.edf, rtol=1e-8)
    np.testing.assert_allclose(one(x), many(x), atol=1e-8)
    np.testing.assert_allclose(one.covariance, many.covariance, atol=1e-9)


@pytest.mark.parametrize("values", [8, 200])
def test_covariance_is_that_of_the_curves_over_the_rows(values):
    generator = np.random.default_rng(1)
    x = generator.integers(values, size=400) / 20.0
    weight = generator.random(400) + 0.1
    found = smooth(x, np.c_[np.sin(x), x**2] + generator.normal(size=(400, 2)), weight)
    curves = found(x)
    wanted = np.cov(curves.T, aweights=weight, ddof=0)
    np.testing.assert_allclose(found.covariance, wanted, rtol=1e-8)
    np.testing.assert_allclose(found.deviation, np.sqrt(np.diag(wanted)), rtol=1e-8)
    np.testing.assert_allclose(np.average(curves, axis=0, weights=weight), found.center)


@invariant
@given(st.integers(1, 60), st.integers(0, 2**32 - 1), st.booleans())
def test_levels_have_their_weighted_means(n, seed, categorical):
    generator = np.random.default_rng(seed)
    x, y = generator.integers(6, size=n).astype(float), generator.normal(size=(n, 2))
    weight = generator.random(n) + 0.1
    found = smooth(x, y, weight, categorical=categorical)
    for value in np.unique(x):
        here = x == value
        wanted = np.average(y[here], axis=0, weights=weight[here])
        np.testing.assert_allclose(found(np.array([value]))[0], wanted, atol=1e-10)
    np.testing.assert_array_equal(found.edf, len(np.unique(x)))


@invariant
@given(st.integers(13, 40), st.integers(0, 2**32 - 1))
def test_small_samples_give_finite_curves_with_freedom_to_spare(n, seed):
    generator = np.random.default_rng(seed)
    x = generator.normal(size=n) ** 3
    found = smooth(x, generator.normal(size=(n, 3)))
    assert np.isfinite(found(x)).all()
    assert (found.edf < 2.2 + 0.6 * (n - 2)).all()


def test_no_response_is_no_curve():
    assert smooth(np.arange(50.0), np.empty((50, 0)))(np.arange(3.0)).shape == (3, 0)
