"""Verdicts on planted slopes, and shares and quantiles against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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


def test_the_three_scenarios():
    network, X = planted()
    found = coefficient_signs(network, X, schema=NAMES)
    assert found.verdict == ("positive", "negative", "changing sign", "near zero")
    np.testing.assert_allclose(found.positive[[0, 1, 3]], [1, 0, 1])
    assert found.positive[2] == pytest.approx((X[:, 2] > 0).mean())
    np.testing.assert_allclose(found.size, [2, 0.03, 1, 0.01] * X.std(axis=0))


def test_agreement_is_the_share_of_the_slopes_mass():
    network, X = planted()
    X[:, 2] = np.where(np.arange(400) < 360, 1.0, -1.0)
    assert coefficient_signs(network, X).verdict[2] == "changing sign"
    assert coefficient_signs(network, X, agreement=0.9).verdict[2] == "positive"
    assert coefficient_signs(network, -X, agreement=0.9).verdict[2] == "negative"


def test_near_zero_is_relative_to_the_largest_size():
    network, X = planted()
    size = coefficient_signs(network, X).size
    ratio = size[3] / size.max()
    assert coefficient_signs(network, X, near_zero=ratio * 1.001).verdict[3] == "near zero"
    assert coefficient_signs(network, X, near_zero=ratio * 0.999).verdict[3] == "positive"


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
    found = coefficient_signs(network, X, output=output)
    slopes = network.gradient(X)[:, :, output]
    np.testing.assert_allclose(found.mean, slopes.mean(axis=0))
    np.testing.assert_allclose(found.deviation, slopes.std(axis=0))
    truth = np.quantile(slopes, found.levels, axis=0, method="inverted_cdf").T
    np.testing.assert_allclose(found.quantiles, truth)
    above = np.where(slopes > 0, slopes, 0).sum(axis=0)
    np.testing.assert_allclose(found.positive, above / np.abs(slopes).sum(axis=0))
    np.testing.assert_allclose(found.slopes, slopes)


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
    found = coefficient_signs(network, X, schema=NAMES, expected={"bent": 1, "up": 1, "down": 1})
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
    found = coefficient_signs(network, X, expected={"x1": 1}, sample_weight=weight, near_zero=0)
    slopes = network.gradient(X)[:, 1, 0]
    (check,) = found.checks
    np.testing.assert_allclose(check.slopes, slopes[check.rows])
    np.testing.assert_allclose(check.slopes, np.sort(slopes[50:])[:10])
    assert check.against == pytest.approx((slopes[50:] < 0).mean())


def test_slopes_near_zero_contradict_nothing():
    network, X = planted()
    found = coefficient_signs(network, X, schema=NAMES, expected={"small": -1})
    assert found.checks[0].agrees
    strict = coefficient_signs(network, X, schema=NAMES, expected={"small": -1}, near_zero=0.0)
    assert not strict.checks[0].agrees


def test_few_rows_against_are_tolerated_up_to_the_agreement():
    network, X = planted()
    X[:, 2] = np.where(np.arange(400) < 380, 1.0, -1.0)
    expected = {"x2": 1}
    assert coefficient_signs(network, X, expected=expected).checks[0].agrees
    strict = coefficient_signs(network, X, expected=expected, agreement=0.96)
    assert not strict.checks[0].agrees


# Size, names and bad input.


def test_a_long_table_keeps_few_slopes():
    network = ReluNetwork([[1.0]], [0.0], [1.0], 0.0)
    X = np.linspace(-1, 1, 12_001)[:, None]
    found = coefficient_signs(network, X)
    assert len(found.rows) == 5_000
    np.testing.assert_allclose(found.slopes, network.gradient(X[found.rows])[:, :, 0])
    assert found.mean[0] == pytest.approx(6000 / 12_001)


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
    ],
)
def test_bad_input_is_named(change, error, words):
    network, X = planted()
    with pytest.raises(error, match=words):
        coefficient_signs(network, X, **change)
