import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.kernels.spectrum import Spectrum, least_gcv_penalty
from strategies import floats, invariant


def make(n_rows=80, n_features=6, n_responses=1, seed=0):
    """Centred features of uneven spread, and responses with noise."""
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_rows, n_features)) * np.geomspace(0.1, 3, n_features)
    truth = generator.normal(size=(n_features, n_responses))
    responses = features @ truth + generator.normal(size=(n_rows, n_responses))
    return features - features.mean(axis=0), responses - responses.mean(axis=0)


def spectrum_of(features, responses):
    n = len(features)
    return Spectrum.of(
        features.T @ features / n, features.T @ responses / n, np.square(responses).sum() / n
    )


def hat(features, penalty):
    """The matrix that maps responses to fitted values, the constant's share included."""
    n, m = features.shape
    inside = np.linalg.solve(features.T @ features / n + penalty * np.eye(m), features.T / n)
    return features @ inside + 1 / n


@pytest.mark.parametrize("penalty", [1e-6, 0.02, 1.0, 50.0])
@pytest.mark.parametrize("n_features", [1, 6, 120])
@pytest.mark.parametrize("n_responses", [1, 3])
def test_one_decomposition_serves_every_penalty(penalty, n_features, n_responses):
    features, responses = make(n_features=n_features, n_responses=n_responses)
    spectrum = spectrum_of(features, responses)
    n = len(features)
    system = features.T @ features / n + penalty * np.eye(n_features)
    expected = np.linalg.solve(system, features.T @ responses / n)
    np.testing.assert_allclose(spectrum.coefficients(penalty), expected, rtol=1e-6, atol=1e-8)
    fitted = hat(features, penalty) @ responses
    assert spectrum.freedom(penalty) == pytest.approx(np.trace(hat(features, penalty)), rel=1e-6)
    assert spectrum.residual_variance(penalty) == pytest.approx(
        np.square(responses - fitted).sum() / n, rel=1e-6, abs=2e-10 * spectrum.variance
    )


@pytest.mark.parametrize("n_features", [6, 120])
def test_no_penalty_is_least_squares_of_minimum_norm(n_features):
    features, responses = make(n_features=n_features)
    features[:, 1] = features[:, 0]  # not unique, whatever the number of rows
    spectrum = spectrum_of(features, responses)
    expected = np.linalg.lstsq(features, responses, rcond=1e-10)[0]
    np.testing.assert_allclose(spectrum.coefficients(0.0), expected, rtol=1e-5, atol=1e-7)
    rank = np.linalg.matrix_rank(features, tol=1e-6)
    assert spectrum.freedom(0.0) == pytest.approx(rank + 1)


def gcv(features, responses, penalty, inflation):
    """The score, from the hat matrix itself; infinite where the fit takes up nearly all rows."""
    matrix = hat(features, penalty)
    left = 1 - inflation * np.trace(matrix) / len(features)
    if left <= 0.05:
        return np.inf
    return np.square(responses - matrix @ responses).mean() / left**2


@pytest.mark.parametrize("inflation", [1.0, 1.4])
@pytest.mark.parametrize(("n_features", "seed"), [(6, 0), (30, 1), (60, 2), (120, 3), (400, 4)])
def test_the_penalty_has_the_least_score_of_all_that_are_tried(n_features, seed, inflation):
    features, responses = make(n_features=n_features, seed=seed)
    spectrum = spectrum_of(features, responses)
    found = least_gcv_penalty(spectrum, float(len(features)), inflation)
    penalties = spectrum.penalties()
    assert found in penalties
    scores = [gcv(features, responses, one, inflation) for one in penalties]
    assert gcv(features, responses, found, inflation) <= min(scores) * (1 + 1e-9)
    # Between two that are tried there is not much to gain.
    between = np.sqrt(penalties[1:] * penalties[:-1])
    scores = [gcv(features, responses, one, inflation) for one in between]
    assert gcv(features, responses, found, inflation) <= min(scores) * 1.01


def test_pure_noise_is_shrunk_and_a_clear_signal_is_not():
    features, responses = make(n_rows=300)
    noise = np.random.default_rng(1).normal(size=responses.shape)
    noise -= features @ np.linalg.lstsq(features, noise, rcond=None)[0]  # nothing to find
    shrunk = least_gcv_penalty(spectrum_of(features, noise), 300.0)
    assert spectrum_of(features, noise).freedom(shrunk) < 1.1
    signal = 100 * features.sum(axis=1, keepdims=True) + noise
    left = least_gcv_penalty(spectrum_of(features, signal), 300.0)
    assert spectrum_of(features, signal).freedom(left) > 6.9


def test_a_total_twice_as_large_trusts_the_fit_more():
    """A weight of two counts like a repeated row: the same moments, but more rows."""
    features, responses = make(n_features=30)
    spectrum = spectrum_of(features, responses)
    single, double = (least_gcv_penalty(spectrum, total) for total in (80.0, 160.0))
    assert double < single
    repeated = spectrum_of(np.vstack([features] * 2), np.vstack([responses] * 2))
    assert least_gcv_penalty(repeated, 160.0) == pytest.approx(double)


def test_features_that_are_all_zero_get_nothing():
    responses = np.random.default_rng(0).normal(size=(20, 1))
    spectrum = spectrum_of(np.zeros((20, 4)), responses)
    for penalty in (0.0, least_gcv_penalty(spectrum, 20.0)):
        assert np.isfinite(penalty)
        np.testing.assert_array_equal(spectrum.coefficients(penalty), 0.0)
        assert spectrum.freedom(penalty) == 1.0
        assert spectrum.residual_variance(penalty) == pytest.approx(np.square(responses).mean())


def test_fewer_rows_than_the_freedom_allows_end_at_the_largest_penalty():
    """On two rows no fit leaves anything to judge by; the answer must still be a number."""
    features, responses = make(n_rows=2, n_features=5)
    spectrum = spectrum_of(features, responses)
    found = least_gcv_penalty(spectrum, 1.0)
    assert found == pytest.approx(spectrum.penalties()[-1])


def test_an_exact_fit_is_left_almost_unpenalised():
    """What is left unexplained is rounding: it must not choose."""
    features, _ = make(n_rows=300)
    responses = features.sum(axis=1, keepdims=True)
    spectrum = spectrum_of(features, responses)
    found = least_gcv_penalty(spectrum, 300.0)
    assert np.isfinite(found)
    np.testing.assert_allclose(spectrum.coefficients(found), 1.0, rtol=1e-2)


@invariant
@given(floats(7, 3), floats(7, 1), st.floats(1e-6, 1e3), st.floats(1.01, 100))
def test_more_penalty_means_less_freedom_and_a_worse_fit(features, responses, penalty, factor):
    features, responses = features - features.mean(axis=0), responses - responses.mean(axis=0)
    spectrum = spectrum_of(features, responses)
    assert 1 <= spectrum.freedom(penalty * factor) <= spectrum.freedom(penalty) + 1e-9
    assert spectrum.freedom(0.0) <= 1 + 3 + 1e-9
    scale = 1e-9 * (1 + spectrum.variance)
    fits = [spectrum.residual_variance(one) for one in (0.0, penalty, penalty * factor)]
    assert 0 <= fits[0] <= fits[1] + scale <= fits[2] + 2 * scale <= spectrum.variance + 3 * scale


@invariant
@given(floats(7, 3), floats(7, 2), st.floats(1e-6, 1e3))
def test_coefficients_minimise_the_penalised_quadratic(features, responses, penalty):
    spectrum = spectrum_of(features, responses)
    found = spectrum.coefficients(penalty)
    gradient = features.T @ (features @ found - responses) / 7 + penalty * found
    np.testing.assert_allclose(gradient, 0, atol=1e-9 * (1 + np.abs(responses).max() ** 2 * 50))
