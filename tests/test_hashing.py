import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.kernels.hashing import hash_rows
from strategies import invariant, rows

_WORD = 2**64 - 1


def splitmix(values, seed):
    """The same number with Python's integers, bit by bit."""
    state = seed % 2**63
    for value in values:
        state ^= int(np.float64(value + 0.0).view(np.uint64))
        state = (state + 0x9E3779B97F4A7C15) & _WORD
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & _WORD
        state ^= state >> 31
    return (state >> 11) / 2**53


@invariant
@given(rows(3), st.integers(0, 2**64))
def test_numbers_are_those_of_whole_number_arithmetic(X, seed):
    expected = [splitmix(row, seed) for row in X]
    np.testing.assert_array_equal(hash_rows(X, seed), expected)


@invariant
@given(rows(3, min_rows=2), st.data())
def test_a_number_depends_on_the_row_alone(X, data):
    order = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=12))
    np.testing.assert_array_equal(hash_rows(X[order], 7), hash_rows(X, 7)[order])


@invariant
@given(rows(2, min_rows=2))
def test_only_equal_rows_share_a_number(X):
    numbers = hash_rows(X, 3)
    assert len(np.unique(numbers)) == len(np.unique(X, axis=0))


def test_both_zeros_are_one():
    X = np.array([[0.0, 1.0], [-0.0, 1.0]])
    assert np.signbit(X[1, 0])
    one, other = hash_rows(X, 0)
    assert one == other


def test_the_order_of_columns_matters():
    X = np.array([[1.0, 2.0], [2.0, 1.0]])
    one, other = hash_rows(X, 0)
    assert one != other


@pytest.mark.parametrize("kind", ["normal", "a counter", "two values", "one column varies"])
def test_numbers_are_spread_evenly(kind):
    """Each of 20 equal bins holds its share, by chi-square at a chance of one in a million."""
    n = 20_000
    generator = np.random.default_rng(0)
    X = {
        "normal": generator.normal(size=(n, 3)),
        "a counter": np.arange(n, dtype=float)[:, None],
        "two values": (np.arange(n)[:, None] >> np.arange(15)) % 2.0,
        "one column varies": np.column_stack([np.ones(n), np.arange(n) / 8, np.zeros(n)]),
    }[kind]
    numbers = hash_rows(X, 1)
    assert numbers.min() >= 0
    assert numbers.max() < 1
    counts = np.histogram(numbers, bins=20, range=(0, 1))[0]
    assert np.sum((counts - n / 20) ** 2) / (n / 20) < 63.7  # chi-square with 19 degrees


def test_another_seed_gives_unrelated_numbers():
    X = np.random.default_rng(0).normal(size=(5000, 2))
    numbers = np.array([hash_rows(X, seed) for seed in (0, 1, 2, 1 << 40)])
    correlation = np.corrcoef(numbers)
    assert np.abs(correlation[~np.eye(4, dtype=bool)]).max() < 0.07  # five deviations


def test_tables_of_either_width_and_layout_agree():
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    expected = hash_rows(X.astype(np.float64), 5)
    np.testing.assert_array_equal(hash_rows(X, 5), expected)
    np.testing.assert_array_equal(hash_rows(np.asfortranarray(X), 5), expected)
    np.testing.assert_array_equal(hash_rows(np.repeat(X, 2, axis=0)[::2], 5), expected)


def test_the_table_is_only_read():
    X = np.array([[-0.0, 1.0]])
    before = X.copy()
    hash_rows(X, 0)
    assert X.tobytes() == before.tobytes()
