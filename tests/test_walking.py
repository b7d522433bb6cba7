"""The walk down a slope against a look at every place."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.readouts.walking import walk_down


@given(st.data())
def test_the_bottom_of_a_valley_is_found_from_anywhere(data):
    n = data.draw(st.integers(1, 20))
    bottom, start = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n - 1))
    steps = data.draw(st.lists(st.floats(0.1, 5), min_size=n, max_size=n))
    heights = np.abs(np.cumsum(steps) - np.cumsum(steps)[bottom])
    asked = []

    def error(place):
        asked.append(place)
        return float(heights[place])

    found = walk_down(error, n, start)
    assert found == bottom
    assert len(asked) == len(set(asked))
    assert len(asked) <= abs(start - bottom) // 2 + 6


def test_a_flat_error_stays_where_it_began():
    assert walk_down(lambda place: 1.0, 9, 4) == 4


@pytest.mark.parametrize("start", [0, 3])
def test_what_is_no_number_ends_the_walk(start):
    errors = [3.0, 2.0, 1.0, 1.5, np.inf, np.inf]
    assert walk_down(errors.__getitem__, 6, start) == 2
