import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.kernels.quantiles import weighted_quantiles

LEVELS = np.array([0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0])


@pytest.mark.parametrize("n", [1, 2, 7, 100])
def test_equal_weights_are_numpys_inverted_cdf(n):
    values = np.random.default_rng(n).normal(size=n)
    expected = np.quantile(values, LEVELS, method="inverted_cdf")
    np.testing.assert_array_equal(weighted_quantiles(values, None, LEVELS), expected)
    np.testing.assert_array_equal(weighted_quantiles(values, np.ones(n), LEVELS), expected)


@given(
    pairs=st.lists(
        st.tuples(st.integers(-5, 5), st.integers(0, 4)), min_size=1, max_size=30
    ).filter(lambda pairs: any(weight for _, weight in pairs)),
    levels=st.lists(st.floats(0, 1), min_size=1, max_size=5),
)
def test_integer_weights_are_repeated_values(pairs, levels):
    values, weight = (np.array(part, dtype=float) for part in zip(*pairs, strict=True))
    repeated = values.repeat(weight.astype(int))
    np.testing.assert_array_equal(
        weighted_quantiles(values, weight, np.array(levels)),
        weighted_quantiles(repeated, None, np.array(levels)),
    )


def test_levels_on_a_step_of_the_distribution_survive_fractional_weights():
    """Sums of thirds are not exact: rounding used to choose the neighbour."""
    values, levels = np.arange(6.0), np.arange(1, 6) / 6
    for weight in (0.1, 1 / 3, 0.7):
        uneven = np.full(12, weight)
        uneven[::2] *= 1 + 1e-15
        found = weighted_quantiles(values.repeat(2), uneven, levels)
        np.testing.assert_array_equal(found, values[:5])


def test_values_of_weight_zero_do_not_count_even_at_the_ends():
    values, weight = np.array([-9.0, 1.0, 2.0, 9.0]), np.array([0.0, 1.0, 1.0, 0.0])
    np.testing.assert_array_equal(
        weighted_quantiles(values, weight, np.array([0.0, 1.0])), [1.0, 2.0]
    )
