"""Verdicts on planted slopes, and shares and quantiles against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifenet.explain.importance import feature_importance
from lifenet.explain.rows import explain_row
from lifenet.explain.signs import coefficient_signs
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from strategies import equivalents, networks_and_rows

NAMES = ["up", "down", "bent", "small"]


def planted():
    """2 up - 3 down + |bent| + 0.01 small, with `down` in large units."""
    network = ReluNetwork(
        [[0, 0, 1, 0], [0, 0, -1, 0]], [0, 0], [1, 1], 0.0, [2.0, -0.03, 0.0, 0.01]
    )
    X = np.random.default_rng(0).normal(size=(400, 4)) * [1, 100, 1, 1]
    return network, X


@pytest.mark.parametrize("reach", [0, 0.05, 0.3])
def test_the_three_scenarios(reach):
    network, X = planted()
    found = coefficient_signs(network, X, schema=NAMES, reach=reach)
    assert found.verdict == ("positive", "negative", "changing sign", "near zero")
    np.testing.assert_allclose(found.positive[[0, 1, 3]], [1, 0, 1])
    assert found.positive[2] == pytest.approx((X[:, 2] > 0).mean(), abs=0 if reach == 0 else 0.05)
    assert found.reach == reach
    # What other rows bring changes a linear score by the slope times the deviation.
    deviations = [*X[:, :2].std(axis=0), np.abs(X[:, 2]).std(), X[:, 3].std()]
    np.testing.assert_allclose(found.size, [2, 0.03, 1, 0.01] * np.array(deviations), rtol=0.06)


def test_size_is_the_importance_of_the_column_alone():
    network, X, _ = random_problem()
    alone = feature_importance(network, X).importance
    np.testing.assert_allclose(coefficient_signs(network, X).size, alone, rtol=1e-9)
    schema = FeatureSchema.of(X, NAMES[:3], [("both", (0, 2))])
    np.testing.assert_allclose(coefficient_signs(network, X, schema=schema).size, alone)


def apart(n_below):
    """A column of 400 rows of which some lie below -0.5 and the others above 0.5."""
    size = np.linspace(0.5, 2, 40)[np.arange(400) % 40]
    return np.where(np.arange(400) < n_below, -size, size)


def test_agreement_is_the_share_of_the_changes():
    network, X = planted()
    X[:, 2] = apart(40)
    found = coefficient_signs(network, X, reach=0)
    assert found.positive[2] == pytest.approx(0.9)
    assert found.verdict[2] == "changing sign"
    assert coefficient_signs(network, X, agreement=0.9, reach=0).verdict[2] == "positive"
    assert coefficient_signs(network, -X, agreement=0.9, reach=0).verdict[2] == "negative"


def test_near_zero_is_relative_to_the_deviation_of_the_score():
    network, X = planted()
    ratio = coefficient_signs(network, X).size[3] / network.score(X).std()
    assert coefficient_signs(network, X, near_zero=ratio * 1.001).verdict[3] == "near zero"
    assert coefficient_signs(network, X, near_zero=ratio * 0.999).verdict[3] == "positive"


@pytest.mark.parametrize("reach", [0, 0.05])
def test_one_narrow_steep_bin_makes_no_other_column_near_zero(reach):
    """Sizes were mean slopes, so that a slope of 10,000 hid all others of the table."""
    network = ReluNetwork([[0, 1], [0, 1]], [0, -1e-4], [1e4, -1e4], 0, [1.0, 0])
    X = np.random.default_rng(0).normal(size=(2000, 2))
    X[:20, 1] = np.linspace(1e-6, 9e-5, 20)
    found = coefficient_signs(network, X, reach=reach)
    assert found.slopes[:, 1].max() > 5 * found.slopes[:, 0].max()
    assert found.verdict == ("positive", "positive")
    # The bin is a step of height one: half of the rows are below it.
    np.testing.assert_allclose(found.size, [X[:, 0].std(), 0.5], rtol=0.06)


def test_a_constant_score_has_nothing_but_zeros():
    network = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 1.0)
    found = coefficient_signs(network, np.eye(2), expected={"x0": 1})
    assert found.verdict == ("near zero", "near zero")
    assert np.isnan(found.positive).all()
    assert found.checks[0].agrees


def random_problem(n=200, q=1, seed=1):
    generator = np.random.default_rng(seed)
    network = ReluNetwork(
        generator.normal(size=(6, 3)),
        generator.normal(size=6),
        generator.normal(size=(6, q)),
        np.zeros(q),
    )
    return network, generator.normal(size=(n, 3)), generator


@pytest.mark.parametrize("output", [0, 1])
def test_moments_and_quantiles_are_those_of_the_slopes(output):
    network, X, _ = random_problem(q=2)
    found = coefficient_signs(network, X, output=output, reach=0)
    slopes = network.gradient(X)[:, :, output]
    np.testing.assert_allclose(found.mean, slopes.mean(axis=0))
    np.testing.assert_allclose(found.deviation, slopes.std(axis=0))
    truth = np.quantile(slopes, found.levels, axis=0, method="inverted_cdf").T
    np.testing.assert_allclose(found.quantiles, truth)
    above = np.where(slopes > 0, slopes, 0).sum(axis=0)
    np.testing.assert_allclose(found.positive, above / np.abs(slopes).sum(axis=0))
    np.testing.assert_allclose(found.slopes, slopes)


def test_slopes_over_a_reach_are_those_of_the_rows_explained_one_by_one():
    network, X, generator = random_problem(n=60, q=2)
    X = generator.uniform(-2, 2, size=X.shape)
    found = coefficient_signs(network, X, output=1, reach=0.2)
    rows = [explain_row(network, x, X=X, output=1, reach=0.2) for x in X]
    width = np.array([np.diff(row.window)[:, 0] for row in rows])
    assert np.isfinite(width).all()
    slopes = np.array([row.slopes for row in rows])
    np.testing.assert_allclose(found.slopes, slopes, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.mean, slopes.mean(axis=0))
    changes = slopes * width
    above = np.maximum(changes, 0).sum(axis=0)
    np.testing.assert_allclose(found.positive, above / np.abs(changes).sum(axis=0))


def test_slopes_of_a_column_of_codes_are_steps_between_neighbours():
    network, X, generator = random_problem(n=120)
    codes = np.array([0.0, 1.0, 2.0, 5.0])
    at = np.concatenate([np.arange(4), generator.integers(0, 4, size=116)])
    X[:, 1] = codes[at]
    low, high = codes[np.maximum(at - 1, 0)], codes[np.minimum(at + 1, 3)]
    ends = []
    for value in (low, high):
        moved = X.copy()
        moved[:, 1] = value
        ends.append(network.score(moved)[:, 0])
    found = coefficient_signs(network, X, expected={"x1": 1})
    changes = ends[1] - ends[0]
    np.testing.assert_allclose(found.slopes[:, 1], changes / (high - low), atol=1e-12)
    share = np.maximum(changes, 0).sum() / np.abs(changes).sum()
    assert found.positive[1] == pytest.approx(share)
    against = -changes > 0.05 * np.sqrt(np.mean(changes**2))
    assert found.checks[0].against == pytest.approx(against.mean())


def test_integer_weights_are_repeated_rows_and_zero_is_absence():
    network, X, generator = random_problem()
    weight = generator.integers(0, 4, size=200)
    expected = {"x0": 1, "x2": -1}
    one = coefficient_signs(network, X, sample_weight=weight, expected=expected)
    two = coefficient_signs(network, np.repeat(X, weight, axis=0), expected=expected)
    numbers = one.to_frame().select_dtypes("number")
    np.testing.assert_allclose(numbers, two.to_frame()[numbers.columns], rtol=1e-9)
    assert one.verdict == two.verdict
    assert (weight[one.rows] > 0).all()
    assert all((weight[check.rows] > 0).all() for check in one.checks)


@settings(max_examples=30, deadline=None)
@given(networks_and_rows(), st.data())
def test_the_verdict_is_on_the_function_not_on_its_neurons(drawn, data):
    network, X = drawn
    other = data.draw(equivalents(network))
    for each in (network, other):  # slopes on a kink are those of either side
        X = X[np.abs(each.preactivations(X)).min(axis=1, initial=1.0) > 1e-6]
    if not len(X):
        return
    one, two = (coefficient_signs(each, X, output=0) for each in (network, other))
    np.testing.assert_allclose(one.mean, two.mean, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.size, two.size, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.quantiles, two.quantiles, rtol=1e-9, atol=1e-9)


def test_units_change_no_verdict():
    network, X, _ = random_problem()
    unit = np.array([10.0, 0.01, 1.0])
    one = coefficient_signs(network, X)
    two = coefficient_signs(network.fold_scaling(0.0, unit), X * unit)
    assert one.verdict == two.verdict
    np.testing.assert_allclose(one.size, two.size)


# What the user expects.


def test_expected_signs_are_checked_row_by_row():
    network, X = planted()
    expected = {"bent": 1, "up": 1, "down": 1}
    found = coefficient_signs(network, X, schema=NAMES, expected=expected, reach=0)
    bent, up, down = found.checks
    assert (bent.name, bent.expected, bent.agrees) == ("bent", 1, False)
    assert bent.against == pytest.approx((X[:, 2] <= 0).mean())
    assert (X[bent.rows, 2] <= 0).all()
    assert bent.slopes.tolist() == [-1.0] * 10
    assert (up.against, up.agrees, len(up.rows)) == (0.0, True, 0)
    assert (down.against, down.agrees) == (pytest.approx(1.0), False)
    assert [check.name for check in found.violations] == ["bent", "down"]
    frame = found.to_frame()
    assert frame["expected"].tolist() == [1, 1, 1, 0]
    assert frame["agrees"].tolist() == [True, False, False, None]


def test_the_worst_rows_come_first_under_their_own_numbers():
    network, X, _ = random_problem()
    weight = np.ones(200)
    weight[:50] = 0
    found = coefficient_signs(
        network, X, expected={"x1": 1}, sample_weight=weight, near_zero=0, reach=0
    )
    slopes = network.gradient(X)[:, 1, 0]
    (check,) = found.checks
    np.testing.assert_allclose(check.slopes, slopes[check.rows])
    np.testing.assert_allclose(check.slopes, np.sort(slopes[50:])[:10])
    assert check.against == pytest.approx((slopes[50:] < 0).mean())


@pytest.mark.parametrize("reach", [0, 0.05])
def test_changes_that_are_small_beside_the_columns_others_contradict_nothing(reach):
    # Slopes of 1, and of -0.01 in the other half.
    network = ReluNetwork([[1.0], [-1.0]], [0, 0], [1.0, 0.01], 0)
    X = apart(200)[:, None]
    found = coefficient_signs(network, X, expected={"x0": 1}, reach=reach)
    assert (found.checks[0].agrees, found.checks[0].against) == (True, 0)
    strict = coefficient_signs(network, X, expected={"x0": 1}, near_zero=0.0, reach=reach)
    assert strict.checks[0].against == pytest.approx(0.5)


@pytest.mark.parametrize("reach", [0, 0.05])
def test_a_tenth_of_the_rows_is_enough_to_contradict_an_expected_sign(reach):
    """Slopes of a steep bin of another column, next to which these are nothing, hid them."""
    network = ReluNetwork([[1, 0], [-1, 0], [0, 1], [0, 1]], [0, 0, 0, -1e-4], [1, 1, 1e4, -1e4], 0)
    X = np.c_[apart(40), np.random.default_rng(0).normal(size=400)]
    X[50:60, 1] = np.linspace(1e-6, 9e-5, 10)
    (check,) = coefficient_signs(network, X, expected={"x0": 1}, reach=reach).checks
    assert not check.agrees
    assert check.against == pytest.approx(0.1)
    assert (X[check.rows, 0] < 0).all()
    assert len(check.rows) == 10
    (upheld,) = coefficient_signs(network, X, expected={"x0": 1}, reach=reach, agreement=0.9).checks
    assert upheld.agrees


@pytest.mark.parametrize("reach", [0, 0.05])
def test_few_rows_against_are_tolerated_up_to_the_agreement(reach):
    network, X = planted()
    X[:, 2] = apart(20)
    options = {"expected": {"x2": 1}, "reach": reach}
    (check,) = coefficient_signs(network, X, **options).checks
    assert (check.against, check.agrees) == (pytest.approx(0.05), True)
    assert not coefficient_signs(network, X, **options, agreement=0.96).checks[0].agrees


# Size, names and bad input.


def test_a_long_table_keeps_few_slopes():
    network = ReluNetwork([[1.0]], [0.0], [1.0], 0.0)
    X = np.linspace(-1, 1, 12_001)[:, None]
    found = coefficient_signs(network, X, reach=0)
    assert len(found.rows) == 5_000
    np.testing.assert_allclose(found.slopes, network.gradient(X[found.rows])[:, :, 0])
    assert found.mean[0] == pytest.approx(6000 / 12_001)
    # Windows reach a twentieth of nine tenths of the range beyond the kink, and half of them
    # is above it.
    over_windows = coefficient_signs(network, X)
    assert over_windows.mean[0] == pytest.approx(0.5, abs=0.01)


def test_the_table_tells_which_feature_a_dummy_belongs_to():
    network, X = planted()
    groups = [("up", (0,)), ("kind", (1, 2)), ("small", (3,))]
    schema = FeatureSchema.of(X, NAMES, groups)
    frame = coefficient_signs(network, X, schema=schema).to_frame()
    assert frame["feature"].tolist() == ["up", "kind", "kind", "small"]
    assert list(frame.index) == NAMES
    assert frame.loc["down", "q50"] == pytest.approx(-0.03)
    with pytest.raises(ValueError, match=r"'kind'.*name its columns \['down', 'bent'\]"):
        coefficient_signs(network, X, schema=schema, expected={"kind": 1})


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"expected": {"age": 1}}, ValueError, r"'age', which is not a column of X: known are"),
        ({"expected": {"x1": 2}}, ValueError, r"expected\['x1'\] must be \+1 or -1; it is 2"),
        ({"expected": ["x1"]}, TypeError, "must map names"),
        ({"near_zero": 1.0}, ValueError, "near_zero must be from 0 to below 1"),
        ({"near_zero": -0.1}, ValueError, "near_zero must be"),
        ({"agreement": 0.5}, ValueError, "agreement must be above 0.5"),
        ({"agreement": 1.1}, ValueError, "agreement must be above 0.5"),
        ({"reach": -0.1}, ValueError, "reach must be at least 0"),
        ({"reach": 2}, ValueError, "at most 1"),
    ],
)
def test_bad_input_is_named(change, error, words):
    network, X = planted()
    with pytest.raises(error, match=words):
        coefficient_signs(network, X, **change)
