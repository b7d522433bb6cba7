"""The planted truth of `scripts/bench readable planted`: parts sum to it and have mean zero."""

import numpy as np
import pytest
from benchmarks.readable.planted import _GRID, TRUTHS


@pytest.mark.parametrize("name", list(TRUTHS))
def test_parts_sum_to_the_function_but_for_a_constant(name):
    truth = TRUTHS[name]
    rows = truth.draw(500, 0)[0]
    parts = sum(truth.main(j, rows[:, j]) for j in range(len(truth.curves)))
    parts = parts + sum(truth.joint(pair, *rows[:, pair].T) for pair in truth.surfaces)
    # Means of surfaces are interpolated between points of the grid.
    assert np.ptp(truth.value(rows) - parts) < 1e-4


@pytest.mark.parametrize("name", list(TRUTHS))
def test_parts_have_mean_zero(name):
    truth = TRUTHS[name]
    for j in range(len(truth.curves)):
        assert abs(truth.main(j, _GRID).mean()) < 1e-12
    for pair in truth.surfaces:
        table = truth.joint(pair, _GRID[:, None], _GRID[None])
        np.testing.assert_allclose(table.mean(axis=0), 0, atol=1e-12)
        np.testing.assert_allclose(table.mean(axis=1), 0, atol=1e-12)
