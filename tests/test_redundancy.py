import numpy as np
import pytest

from lifenet.kernels import redundancy
from lifenet.kernels.redundancy import keep_least_redundant


def told(residuals, variable, others):
    """R² of one variable regressed on others with a constant; zero where it does not vary."""
    response = residuals[:, variable]
    if np.ptp(response) == 0:
        return 0.0
    design = np.column_stack([np.ones(len(residuals)), residuals[:, others]])
    coefficients = np.linalg.lstsq(design, response, rcond=None)[0]
    return 1 - np.var(response - design @ coefficients) / np.var(response)


def kept_by_regressions(residuals, n_kept):
    """Algorithm 3 with its M regressions run anew after every removal (erratum 9).

    The last two always tell each other alike: the later goes.
    """
    left = list(range(residuals.shape[1]))
    while len(left) > n_kept:
        shares = [told(residuals, one, [k for k in left if k != one]) for one in left]
        left.pop(int(np.flatnonzero(shares >= np.max(shares) - 1e-12)[-1]))
    return left


def correlated(seed, n_variables, n_rows=300):
    generator = np.random.default_rng(seed)
    mixing = np.eye(n_variables) + 0.4 * generator.normal(size=(n_variables, n_variables))
    scale = generator.uniform(0.01, 100, n_variables)
    return (generator.normal(size=(n_rows, n_variables)) @ mixing + 3) * scale


def covariance(residuals):
    return np.cov(residuals, rowvar=False, bias=True)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_kept", [1, 4, 9])
def test_removals_are_those_of_one_regression_each(seed, n_kept):
    residuals = correlated(seed, 9)
    kept = keep_least_redundant(covariance(residuals), n_kept)
    assert kept.tolist() == kept_by_regressions(residuals, n_kept)


@pytest.mark.parametrize("refresh", [1, 3, 50])
def test_removals_do_not_depend_on_when_the_inverse_is_formed_anew(refresh, monkeypatch):
    residuals = correlated(5, 25)
    monkeypatch.setattr(redundancy, "_REFRESH", refresh)
    kept = keep_least_redundant(covariance(residuals), 6)
    assert kept.tolist() == kept_by_regressions(residuals, 6)


def test_more_removals_than_between_two_inversions():
    residuals = correlated(1, 60, n_rows=150)
    assert redundancy._REFRESH < 60 - 8
    kept = keep_least_redundant(covariance(residuals), 8)
    assert kept.tolist() == kept_by_regressions(residuals, 8)


@pytest.mark.parametrize("noise", [0.0, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize("seed", range(5))
def test_of_two_near_duplicates_only_one_goes(noise, seed):
    """Both have R² = 1 at first: a one-shot ranking would drop both (erratum 9)."""
    generator = np.random.default_rng(seed)
    base = correlated(seed, 6) / 100
    twice = generator.permutation(6)[:3]
    copies = base[:, twice] * [1.0, 2.0, -3.0] + noise * generator.normal(size=(300, 3))
    kept = keep_least_redundant(covariance(np.column_stack([base, copies])), 6)
    assert sorted(np.concatenate([np.arange(6), twice])[kept]) == [0, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("seed", range(10))
def test_of_exact_duplicates_the_later_goes_whatever_rounding_says(seed):
    """Rounding of order 1e-6 in an inverse of order 1e10 used to choose among them."""
    generator = np.random.default_rng(seed)
    base = generator.normal(size=(300, 6))
    copies = base[:, generator.permutation(6)[:3]]
    kept = keep_least_redundant(covariance(np.column_stack([base, copies])), 6)
    assert kept.tolist() == [0, 1, 2, 3, 4, 5]


def test_many_duplicates_leave_one_of_each():
    label = np.concatenate([np.arange(30), np.random.default_rng(0).integers(30, size=70)])
    residuals = np.random.default_rng(1).normal(size=(500, 30))[:, label]
    kept = keep_least_redundant(covariance(residuals), 30)
    assert sorted(label[kept]) == list(range(30))


def test_more_variables_than_rows_leave_no_exact_combination():
    """Of 40 variables on 15 rows, the 10 kept are linearly independent."""
    residuals = np.random.default_rng(0).normal(size=(15, 40))
    kept = keep_least_redundant(covariance(residuals), 10)
    assert len(set(kept)) == 10
    assert max(told(residuals, one, [k for k in kept if k != one]) for one in kept) < 1 - 1e-6


def test_a_constant_variable_is_told_by_no_other():
    """Constant errors have no R²; the member is right but for a shift, and stays."""
    residuals = correlated(0, 5)
    residuals[:, 2] = 4.0
    for n_kept in (4, 3, 2):
        kept = keep_least_redundant(covariance(residuals), n_kept)
        assert 2 in kept
        assert kept.tolist() == kept_by_regressions(residuals, n_kept)


def test_units_do_not_matter():
    residuals = correlated(3, 8)
    scale = np.geomspace(1e-6, 1e6, 8)
    one = keep_least_redundant(covariance(residuals), 4)
    other = keep_least_redundant(covariance(residuals * scale), 4)
    np.testing.assert_array_equal(one, other)


def test_the_covariance_is_only_read():
    matrix = covariance(correlated(0, 6))
    before = matrix.copy()
    keep_least_redundant(matrix, 2)
    np.testing.assert_array_equal(matrix, before)
