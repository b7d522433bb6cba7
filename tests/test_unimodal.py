"""The search for the minimum of one valley against a look at every index."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.kernels.unimodal import coarse_valley, find_valley, least_neighbour


@given(st.data())
def test_the_bottom_of_a_valley_is_found_from_anywhere(data):
    n = data.draw(st.integers(1, 20))
    bottom, start = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    steps = data.draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n))
    heights = np.abs(np.cumsum(steps) - np.cumsum(steps)[bottom])
    asked = []

    def error(index):
        asked.append(index)
        return float(heights[index])

    found = find_valley(error, n, start)
    assert found == bottom
    assert len(asked) == len(set(asked))
    assert len(asked) <= abs(start - bottom) // 2 + 6


def test_a_flat_error_stays_where_it_began():
    assert find_valley(lambda index: 1.0, 9, 4) == 4


@pytest.mark.parametrize("start", [0, 3])
def test_an_infinite_error_ends_the_search(start):
    errors = [3.0, 2.0, 1.0, 1.5, np.inf, np.inf]
    assert find_valley(errors.__getitem__, 6, start) == 2


@given(n=st.integers(1, 40), valley=st.integers(0, 39), start=st.integers(0, 39))
def test_a_coarse_valley_is_next_to_the_least(n, valley, start):
    valley, start = min(valley, n - 1), min(start, n - 1)

    def error(index):
        assert 0 <= index < n
        return abs(index - valley)

    found = coarse_valley(error, n, start)
    assert abs(found - valley) <= 1
    assert least_neighbour(error, n, found) == valley
