"""Broken lines are sums of their kinks, however far away some of these are."""

import numpy as np
import pytest

from lifenet.kernels.broken_lines import BrokenLine


def hinges(places, slopes, anchor):
    """The line of ``sum_k |slopes_k| max(0, sign_k (t - places_k))``."""
    value = sum(max(0.0, s * (anchor - t)) for t, s in zip(places, slopes, strict=True))
    return BrokenLine(
        np.array(places),
        np.abs(slopes),
        float(sum(s for s in slopes if s < 0)),
        float(sum(s for s in slopes if s > 0)),
        anchor,
        value,
    )


@pytest.mark.parametrize("anchor", [-100.0, 0.0, 0.4, 0.5, 100.0])
def test_values_are_sums_of_hinges(anchor):
    generator = np.random.default_rng(0)
    places, slopes = np.append(generator.normal(size=30), [0.5, 0.5]), generator.normal(size=32)
    line = hinges(places, slopes, anchor)
    x = np.concatenate([generator.normal(size=50), places, [-1e6, 1e6, anchor]])
    wanted = [sum(max(0.0, s * (t - at)) for at, s in zip(places, slopes, strict=True)) for t in x]
    np.testing.assert_allclose(line.at(x), wanted, rtol=1e-12, atol=1e-12)


def test_bends_far_away_cost_no_digits():
    near = hinges([0.3], [2.0], 0.0)
    far = BrokenLine(np.array([-1e30, 1e200, np.inf]), np.ones(3), 1.0, 4.0, 0.0, 0.0)
    x = np.array([-0.1, 0.1, 0.30001, 5.0])
    both = BrokenLine.total([near, far], 0.0)
    np.testing.assert_allclose(both.at(x), 2 * np.maximum(x - 0.3, 0) + 2 * x, rtol=1e-14)


def test_a_line_that_ends_flat_stays_flat():
    """Jumps of 0.1, 0.2 and -0.3 do not add up to zero in floating point."""
    line = BrokenLine(np.array([0.0, 1.0, 2.0]), np.array([0.1, 0.2, -0.3]), 0.0, 0.0, 0.0, 5.0)
    assert line.at(np.array([2.0, 1e18])) == pytest.approx([5.4, 5.4], rel=1e-14)


def test_lines_are_added_only_about_one_anchor():
    with pytest.raises(ValueError, match="same anchor"):
        BrokenLine.total([hinges([0.0], [1.0], 0.0)], 1.0)


def test_no_lines_sum_to_zero():
    assert BrokenLine.total([], 3.0).at(np.array([-1.0, 3.0, 5.0])).tolist() == [0, 0, 0]
