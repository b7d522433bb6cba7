"""Codes learnt from rows: knots against their definition, and weights against repeated rows."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats
from sklearn.base import clone

from lifenet.data.codes import QuantileCoding
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork

KINDS = ("both", "quantile", "piecewise", "full")


def skewed(n, seed=0):
    """A normal, a heavy-tailed, a mostly zero, a coarse and a binary column."""
    generator = np.random.default_rng(seed)
    zeros = generator.exponential(size=n) * (generator.random(n) < 0.1)
    return np.column_stack(
        [
            generator.normal(size=n),
            generator.standard_cauchy(size=n) ** 3,
            zeros,
            generator.integers(0, 30, n),
            generator.integers(0, 2, n),
        ]
    )


# ---------------------------------------------------------------------- knots


def test_knots_are_quantiles():
    X = np.random.default_rng(0).permutation(np.arange(10_000.0))[:, None]
    (knots,) = QuantileCoding(kind="quantile", n_knots=5).learn(X).knots
    # 10 rows lie at or beyond each outer knot; between them, quarters of the rest.
    assert knots[[0, -1]].tolist() == [9.0, 9990.0]
    inside = np.sort(X[(X >= 9) & (X <= 9990)])
    expected = np.quantile(inside, [0, 0.25, 0.5, 0.75, 1], method="inverted_cdf")
    assert_array_equal(knots, expected)


def test_knots_are_values_of_the_column_and_no_more_than_asked():
    X = skewed(3000)
    for kind, most in (("quantile", 32), ("both", 32), ("piecewise", 13)):
        coding = QuantileCoding(kind=kind, margin=0.0).learn(X)
        for column, knots in zip(X.T, coding.knots, strict=True):
            assert np.isin(knots, column).all()
            assert len(knots) <= most
        assert len(coding.knots[0]) == most


def test_columns_with_few_values_are_coded_by_themselves():
    X = skewed(500)
    coding = QuantileCoding(kind="quantile").learn(X)
    assert [len(knots) > 2 for knots in coding.knots] == [True, True, True, True, False]
    coding = QuantileCoding(kind="quantile", min_values=30).learn(X)
    assert coding.knots[3].tolist() == [X[:, 3].min(), X[:, 3].max()]
    assert_allclose(coding.encode(X)[:, 3:], X[:, 3:], rtol=1e-14)


def test_the_outer_knots_leave_out_one_stray_row():
    X = np.append(np.arange(100.0), [1e12, -1e12])[:, None]
    (knots,) = QuantileCoding(margin=0.0).learn(X).knots
    assert knots[[0, -1]].tolist() == [0.0, 99.0]
    coding = QuantileCoding(clip=0.1, margin=0.0).learn(np.arange(1000.0)[:, None])
    assert coding.knots[0][[0, -1]].tolist() == [99.0, 900.0]


def test_codes_mirror_a_mirrored_column():
    X = np.random.default_rng(1).normal(size=(700, 1))
    one, other = (QuantileCoding(n_knots=2).learn(table) for table in (X, -X))
    assert_array_equal(other.knots[0], -one.knots[0][::-1])
    assert_allclose(other.encode(-X), -one.encode(X), atol=1e-12)


def test_a_frequent_value_is_a_knot_and_the_rest_keeps_its_knots():
    X = skewed(3000)[:, 2:3]
    assert np.mean(X == 0) > 0.85
    (knots,) = QuantileCoding(n_knots=20, margin=0.0).learn(X).knots
    assert knots[0] == 0
    assert len(knots) == 20  # plain quantiles would leave three


def test_a_rare_tail_is_not_lost():
    # Both outer quantiles are zero: the knots then go to the ends.
    X = np.append(np.zeros(100_000), np.arange(1.0, 21.0))[:, None]
    coding = QuantileCoding(kind="quantile").learn(X)
    assert coding.knots[0][[0, -1]].tolist() == [0.0, 20.0]
    assert coding.encode([[5.0]]).item() > coding.encode([[0.0]]).item()


def test_few_rows_get_few_knots():
    X = np.random.default_rng(0).normal(size=(100, 1))
    assert len(QuantileCoding(margin=0.0).learn(X).knots[0]) == 10
    assert len(QuantileCoding(margin=0.0).learn(X[:20]).knots[0]) == 4
    assert len(QuantileCoding(margin=0.0).learn(X, np.full(100, 1e-3)).knots[0]) == 10


def test_values_that_differ_by_rounding_share_a_knot():
    base = np.repeat(np.arange(20.0) + 1, 50)
    noise = 1 + 1e-15 * np.random.default_rng(0).integers(-2, 3, 1000)
    coding = QuantileCoding(n_knots=100).learn((base * noise)[:, None])
    assert np.diff(coding.knots[0]).min() > 0.9
    constant = QuantileCoding().learn((7.0 * noise * (1 + 1e-15 * np.arange(1000)))[:, None])
    assert constant.n_codes == 1
    assert len(constant.knots[0]) == 0


# ---------------------------------------------------------------------- codes


def test_scores_are_normal_scores_of_mid_ranks():
    X = skewed(2000)
    coding = QuantileCoding(kind="quantile").learn(X)
    for j in range(4):
        ranks = stats.rankdata(X[:, j])  # ties share their mean rank
        at = [ranks[X[:, j] == knot][0] for knot in coding.knots[j]]
        expected = stats.norm.ppf((np.array(at) - 0.5) / len(X))
        assert_allclose(coding.values[j][:, 0], expected, atol=1e-12)


def test_scores_of_a_continuous_column_are_nearly_normal():
    X = skewed(5000)
    codes = QuantileCoding(kind="quantile").learn(X).encode(X)[:, :2]
    assert_allclose(codes.mean(axis=0), 0, atol=0.05)
    assert_allclose(codes.std(axis=0), 1, atol=0.1)
    assert np.abs(codes).max() < 4


def test_both_holds_the_cut_value_standardised():
    X = skewed(2000)
    coding = QuantileCoding(margin=0.0).learn(X)
    codes, scores = coding.encode(X), QuantileCoding(kind="quantile").learn(X).encode(X)
    assert coding.column_of_code.tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4]
    for j in range(4):
        cut = np.clip(X[:, j], coding.knots[j][0], coding.knots[j][-1])
        expected = (cut - cut.mean()) / cut.std()
        assert_allclose(codes[:, 2 * j], expected, atol=1e-9)
        assert_allclose(codes[:, 2 * j + 1], scores[:, j], atol=1e-12)


def test_piecewise_codes_rise_over_their_bins():
    X = skewed(2000)[:, :1]
    coding = QuantileCoding(kind="piecewise", max_bins=6).learn(X)
    (knots,) = coding.knots
    assert coding.n_codes == 6
    rise = (X - knots[:-1]) / np.diff(knots)
    assert_allclose(coding.encode(X), np.clip(rise, 0, 1), atol=1e-12)


def test_full_holds_value_score_and_ramps_of_the_same_knots():
    X = skewed(2000)
    full = QuantileCoding(kind="full", max_bins=9, margin=0.0).learn(X)
    ramps = QuantileCoding(kind="piecewise", max_bins=9).learn(X)
    both = QuantileCoding(kind="both", n_knots=10, margin=0.0).learn(X)
    codes = full.encode(X)
    for j in range(4):
        assert_array_equal(full.knots[j], ramps.knots[j])
        mine = codes[:, full.codes_of(j)]
        assert mine.shape[1] == 2 + len(full.knots[j]) - 1
        assert_array_equal(mine[:, :2], both.encode(X)[:, both.codes_of(j)])
        assert_array_equal(mine[:, 2:], ramps.encode(X)[:, ramps.codes_of(j)])
    assert_array_equal(codes[:, full.codes_of(4)], X[:, 4:])


@pytest.mark.parametrize("kind", ["both", "full"])
@pytest.mark.parametrize("margin", [0.05, 0.25, 3.0])
def test_the_value_goes_on_beyond_the_outer_knots(kind, margin):
    """In a straight line, to the last row or by the margin; all other codes are constant there."""
    X = skewed(2000)
    short, long = (QuantileCoding(kind=kind, margin=one).learn(X) for one in (0.0, margin))
    far = np.vstack([X, X.min(axis=0) - 1e6, X.max(axis=0) + 1e6])
    codes, longer = short.encode(far), long.encode(far)
    assert_array_equal(long.column_of_code, short.column_of_code)
    for j in range(4):
        low, high = short.knots[j][[0, -1]]
        room = margin * (high - low)
        ends = max(low - room, X[:, j].min()), min(high + room, X[:, j].max())
        assert long.knots[j][[0, -1]].tolist() == pytest.approx(ends)
        cut = np.clip(X[:, j], low, high)
        expected = (np.clip(far[:, j], *ends) - cut.mean()) / cut.std()
        value, *others = np.arange(long.n_codes)[long.codes_of(j)]
        assert_allclose(longer[:, value], expected, rtol=1e-7, atol=1e-9)
        assert_allclose(longer[:, others], codes[:, others], atol=1e-12)


@pytest.mark.parametrize("kind", ["quantile", "piecewise"])
def test_without_a_value_code_nothing_goes_on(kind):
    X = skewed(2000)
    one, two = (QuantileCoding(kind=kind, margin=margin).learn(X) for margin in (0.0, 3.0))
    assert one == two


def test_full_knows_every_value_of_a_column_of_few():
    X = np.random.default_rng(0).choice([0.0, 1.0, 4.0, 9.0], size=(200, 1))
    coding = QuantileCoding(kind="full", min_values=2, max_bins=64).learn(X)
    assert coding.knots[0].tolist() == [0.0, 1.0, 4.0, 9.0]
    assert_array_equal(coding.encode(X)[:, 2:], np.array([0.0, 1.0, 4.0]) < X)


@pytest.mark.parametrize("kind", KINDS)
def test_codes_are_monotone_and_bounded(kind):
    X = skewed(2000)
    coding = QuantileCoding(kind=kind).learn(X)
    assert isinstance(coding, ColumnCoding)
    for values in coding.values:
        assert (np.diff(values, axis=0) >= 0).all()
    far = coding.encode(np.vstack([X.max(axis=0), np.append(X.max(axis=0)[:4] + 1e9, 1)]))
    assert_array_equal(far[0, :-1], far[1, :-1])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("scale", [1e-150, 1e130])
def test_tiny_and_huge_units_are_coded_alike(kind, scale):
    X = np.random.default_rng(0).normal(size=(300, 1))
    plain, scaled = (QuantileCoding(kind=kind).learn(table) for table in (X, X * scale))
    assert_allclose(scaled.encode(X * scale), plain.encode(X), atol=1e-9)


# ---------------------------------------------------------------------- weights


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(KINDS), st.integers(20, 120))
def test_integer_weights_equal_repeated_rows(seed, kind, n):
    generator = np.random.default_rng(seed)
    X = skewed(n, seed)
    weight = generator.integers(0, 4, n)
    weight[0] += 1
    settings = QuantileCoding(kind=kind, n_knots=6, max_bins=5)
    weighted, repeated = settings.learn(X, weight), settings.learn(np.repeat(X, weight, axis=0))
    for mine, theirs in zip(weighted.knots, repeated.knots, strict=True):
        assert_array_equal(mine, theirs)
    for mine, theirs in zip(weighted.values, repeated.values, strict=True):
        assert_allclose(mine, theirs, rtol=0, atol=1e-12)


def test_order_and_absent_rows_do_not_matter():
    X = skewed(400)
    order = np.random.default_rng(0).permutation(400)
    assert QuantileCoding(kind="quantile").learn(X) == QuantileCoding(kind="quantile").learn(
        X[order]
    )
    stray = np.vstack([X, np.full(5, 1e9)])
    weight = np.append(np.ones(400), 0.0)
    assert QuantileCoding().learn(stray, weight) == QuantileCoding().learn(X)


# ---------------------------------------------------------------------- settings and input


def test_a_frame_gives_the_names_and_the_coding_serves_a_network():
    frame = pd.DataFrame(skewed(300), columns=["a", "b", "c", "d", "e"])
    coding = QuantileCoding().learn(frame)
    assert coding.names == ("a", "b", "c", "d", "e")
    generator = np.random.default_rng(0)
    network = ReluNetwork(generator.normal(size=(5, coding.n_codes)), np.ones(5), np.ones(5), 0.0)
    model = CodedNetwork(coding, network)
    parts = model.segment(frame.to_numpy().mean(axis=0), frame)
    rise = model.score(frame) - model.score(frame.to_numpy().mean(axis=0)[None])
    assert_allclose(parts.sum(axis=1), rise, atol=1e-10)
    frame["b"] = "text"
    with pytest.raises(TypeError, match="'text' in column 'b'"):
        QuantileCoding().learn(frame)


def test_settings_can_be_cloned_and_are_checked():
    assert clone(QuantileCoding(n_knots=7)).n_knots == 7
    X = skewed(50)
    for wrong in (
        {"kind": "rank"},
        {"n_knots": 1},
        {"clip": 0.5},
        {"min_values": 0},
        {"margin": -0.1},
    ):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"The '{name}' parameter"):
            QuantileCoding(**wrong).learn(X)


def test_bad_rows_and_weights_are_refused():
    X = skewed(50)
    X[3, 1] = np.inf
    with pytest.raises(ValueError, match=r"infinity: column 'x1' \(number 1\), row 3. Replace"):
        QuantileCoding().learn(X)
    with pytest.raises(ValueError, match="column 'income'"):
        QuantileCoding().learn(X, names=["age", "income", "a", "b", "c"])
    X = skewed(50)
    with pytest.raises(ValueError, match="X must have rows and columns"):
        QuantileCoding().learn(X[:0])
    with pytest.raises(ValueError, match="sample_weight is negative in row 0"):
        QuantileCoding().learn(X, -np.ones(50))
    with pytest.raises(ValueError, match="names has 1 entries for 5 columns"):
        QuantileCoding().learn(X, names=["a"])


@pytest.mark.parametrize("kind", ["both", "quantile", "piecewise", "full"])
def test_columns_of_few_values_are_constant_beyond_their_ends(kind):
    X = np.column_stack([np.arange(40) % 2 + 3.0, np.arange(40.0), np.full(40, 7.0)])
    coding = QuantileCoding(kind, min_values=2).learn(X)
    far = np.array([[-100.0, 5.0, 7.0], [3.0, 5.0, 7.0], [4.0, 5.0, 7.0], [100.0, 5.0, 7.0]])
    codes = coding.encode(far)[:, coding.codes_of(0)]
    np.testing.assert_array_equal(codes[:, 0], [3.0, 3.0, 4.0, 4.0])
