"""Shrunken means of levels: exact variance components, loops over parts, repeated rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet.kernels.shrinkage import LevelSums, crossfitted_means, shrunken_means
from strategies import invariant


def exact(ids, target, weight, n_levels):
    """One target's shrunken means in exact fractions: variance components of one random effect.

    Searle, Casella and McCulloch (1992), section 3.6: the unbalanced one-way ANOVA.
    """
    rows = [
        (level, Fraction(y), Fraction(w)) for level, y, w in zip(ids, target, weight, strict=True)
    ]
    n = sum(w for _, _, w in rows)
    common = sum(w * y for _, y, w in rows) / n
    sizes, means = {}, {}
    for level in sorted({level for level, _, _ in rows}):
        here = [(y, w) for one, y, w in rows if one == level]
        sizes[level] = sum(w for _, w in here)
        means[level] = sum(w * y for y, w in here) / sizes[level]
    found = [Fraction(0)] * n_levels
    k = len(sizes)
    if k < 2 or n <= k:
        return np.array(found, dtype=float)
    within = sum(w * (y - means[level]) ** 2 for level, y, w in rows) / (n - k)
    between = sum(sizes[one] * (means[one] - common) ** 2 for one in sizes)
    between = (between - (k - 1) * within) / (n - sum(s * s for s in sizes.values()) / n)
    between = max(between, Fraction(0))
    for level, size in sizes.items():
        below = size * between + within
        share = size * between / below if below else 0
        found[level] = share * (means[level] - common)
    return np.array([float(one) for one in found])


@st.composite
def rows_of_levels(draw, max_weight=4):
    n, n_levels = draw(st.integers(1, 25)), draw(st.integers(1, 6))
    ids = draw(st.lists(st.integers(0, n_levels - 1), min_size=n, max_size=n))
    eighths = st.integers(-40, 40).map(lambda k: k / 8)
    target = draw(st.lists(eighths, min_size=n, max_size=n))
    weight = draw(st.lists(st.integers(1, max_weight), min_size=n, max_size=n))
    return np.array(ids), np.array(target), np.array(weight, dtype=float), n_levels


@invariant
@given(rows_of_levels())
def test_means_are_those_of_exact_variance_components(case):
    ids, target, weight, n_levels = case
    found = shrunken_means(ids, target[:, None], weight, n_levels)
    assert_allclose(found[:, 0], exact(ids, target, weight, n_levels), atol=1e-9)


@invariant
@given(rows_of_levels(), st.integers(1, 4))
def test_crossfitted_means_are_those_of_a_loop_over_parts(case, n_parts):
    ids, target, weight, n_levels = case
    part = np.arange(len(ids)) % n_parts
    found = crossfitted_means(ids, target[:, None], weight, part, n_levels)
    for row in range(len(ids)):
        others = part != part[row]
        expected = np.zeros(n_levels)
        if others.any():
            expected = exact(ids[others], target[others], weight[others], n_levels)
        assert found[row, 0] == pytest.approx(expected[ids[row]], abs=1e-9)


@invariant
@given(rows_of_levels())
def test_integer_weights_are_repeated_rows(case):
    ids, target, weight, n_levels = case
    times, part = weight.astype(int), ids % 2
    each = np.column_stack([target, target**2])
    one = shrunken_means(ids, each, weight, n_levels)
    other = shrunken_means(
        ids.repeat(times), each.repeat(times, axis=0), np.ones(times.sum()), n_levels
    )
    assert_allclose(one, other, atol=1e-9)
    one = crossfitted_means(ids, each, weight, part, n_levels)
    other = crossfitted_means(
        ids.repeat(times),
        each.repeat(times, axis=0),
        np.ones(times.sum()),
        part.repeat(times),
        n_levels,
    )
    assert_allclose(one.repeat(times, axis=0), other, atol=1e-9)


def test_a_level_alone_gets_nothing():
    target = np.arange(10.0)[:, None]
    assert_array_equal(shrunken_means(np.zeros(10, int), target, np.ones(10), 3), 0)


def test_levels_of_one_row_each_get_nothing():
    target = np.arange(10.0)[:, None]
    assert_array_equal(shrunken_means(np.arange(10), target, np.ones(10), 12), 0)


def test_levels_that_do_not_differ_get_nothing():
    ids, target = np.arange(40) // 4, np.tile([1.0, -1.0], 20)[:, None]
    assert_array_equal(shrunken_means(ids, target, np.ones(40), 10), 0)


def test_random_levels_get_next_to_nothing_and_real_ones_nearly_all():
    generator = np.random.default_rng(0)
    ids, noise = generator.integers(0, 200, 4000), generator.normal(size=(4000, 1))
    effect = generator.normal(size=200)[ids][:, None]
    assert np.std(shrunken_means(ids, noise, np.ones(4000), 200)) < 0.05
    real = shrunken_means(ids, 3 * effect + 0.1 * noise, np.ones(4000), 200)[ids]
    assert np.corrcoef(real[:, 0], effect[:, 0])[0, 1] > 0.999


def test_a_level_without_rows_is_left_at_nothing():
    found = shrunken_means(np.array([0, 0, 2, 2]), np.eye(4)[:, :1], np.ones(4), 5)
    assert_array_equal(found[[1, 3, 4]], 0)


def test_a_target_without_variance_gives_no_mean_and_no_warning():
    assert_array_equal(shrunken_means(np.arange(12) % 3, np.full((12, 1), 7.0), np.ones(12), 3), 0)


@pytest.mark.parametrize("shift", [1e6, 1e9, 1e12])
def test_a_target_far_from_zero_is_shrunken_alike(shift):
    """Sums of squares had lost all digits: variance within levels came out as zero or as huge."""
    generator = np.random.default_rng(0)
    ids, part = generator.integers(0, 30, 600), generator.integers(0, 5, 600)
    target = np.round(8 * generator.normal(size=(600, 1)) + ids[:, None] / 3) / 8
    for work in (
        lambda y: shrunken_means(ids, y, np.ones(600), 30),
        lambda y: crossfitted_means(ids, y, np.ones(600), part, 30),
    ):
        assert_allclose(work(target + shift), work(target), atol=1e-3 * shift / 1e12 + 1e-9)


@pytest.mark.parametrize("scale", [1e-120, 1e120])
def test_units_of_the_target_do_not_matter(scale):
    generator = np.random.default_rng(0)
    ids, target = generator.integers(0, 5, 60), generator.normal(size=(60, 1))
    one = shrunken_means(ids, target + ids[:, None], np.ones(60), 5)
    other = shrunken_means(ids, scale * (target + ids[:, None]), np.ones(60), 5)
    assert_allclose(other, scale * one, rtol=1e-9)


def test_sums_without_some_rows_are_sums_of_the_others():
    generator = np.random.default_rng(0)
    ids, target = generator.integers(0, 5, 60), generator.normal(size=(60, 2))
    weight, some = generator.random(60), np.arange(60) % 3 == 0
    whole = LevelSums.of(ids, target, weight, 5)
    part, rest = (LevelSums.of(ids[rows], target[rows], weight[rows], 5) for rows in (some, ~some))
    left = whole.without(part)
    for name in ("weight", "total", "square"):
        assert_allclose(getattr(left, name), getattr(rest, name), atol=1e-12)
