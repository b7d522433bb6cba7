"""Means of hinges by sorted running sums, against plain loops and exact fractions."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lifenet.kernels.marginals import hinge_means
from strategies import eighths, floats, invariant

if TYPE_CHECKING:
    from lifenet._typing import Floats


def loop_means(offsets: Floats, slope: float, positions: Floats, weight: Floats) -> list[float]:
    total = sum(Fraction(float(v)) for v in weight)
    means = []
    for t in positions:
        shift = Fraction(slope) * Fraction(float(t))
        heights = (max(Fraction(0), Fraction(float(a)) + shift) for a in offsets)
        mean = sum(Fraction(float(v)) * h for v, h in zip(weight, heights, strict=True)) / total
        means.append(float(mean))
    return means


samples = st.integers(1, 9).flatmap(
    lambda n: st.tuples(floats(n), hnp.arrays(np.float64, n, elements=st.sampled_from([0.5, 1, 3])))
)
positions = st.integers(0, 6).flatmap(floats)


@invariant
@given(samples, eighths(), positions)
def test_means_are_those_of_a_loop(
    sample: tuple[Floats, Floats], slope: float, grid: Floats
) -> None:
    offsets, weight = sample
    means = hinge_means(offsets, slope, grid)
    np.testing.assert_allclose(
        means, loop_means(offsets, slope, grid, np.ones_like(offsets)), rtol=0, atol=1e-13
    )
    np.testing.assert_allclose(
        hinge_means(offsets, slope, grid, weight),
        loop_means(offsets, slope, grid, weight),
        rtol=0,
        atol=1e-13,
    )


@pytest.mark.parametrize("slope", [-1.7, -1e-3, 0.0, 0.4, 25.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_and_positions(slope: float, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    offsets, grid = rng.normal(size=3000), rng.normal(size=70)
    weight = rng.exponential(size=3000) if weighted else None
    heights = np.maximum(0, offsets[:, None] + slope * grid)
    expected = np.average(heights, axis=0, weights=weight)
    np.testing.assert_allclose(hinge_means(offsets, slope, grid, weight), expected, rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_offsets_far_from_zero_keep_their_digits(weighted: bool) -> None:
    # A year or a price in raw units: the running sums of the offsets themselves would leave
    # nothing of hinges a billion times smaller.
    rng = np.random.default_rng(4)
    offsets, grid = 1e9 + rng.normal(size=500), -1e9 + np.linspace(-2, 2, 9)
    weight = rng.integers(1, 4, 500).astype(float)
    used = weight if weighted else np.ones(500)
    means = hinge_means(offsets, 1.0, grid, weight if weighted else None)
    np.testing.assert_allclose(means, loop_means(offsets, 1.0, grid, used), rtol=1e-12)


def test_sums_of_float32_are_in_float64() -> None:
    offsets = np.random.default_rng(5).normal(0.1, 1, 20_000).astype(np.float32)
    grid = np.array([0.0, 1.0], dtype=np.float32)
    heights = np.maximum(0, offsets.astype(np.float64)[:, None] + grid)
    means = hinge_means(offsets, 1.0, grid)
    assert means.dtype == np.float64
    np.testing.assert_allclose(means, heights.mean(axis=0), rtol=1e-13)
