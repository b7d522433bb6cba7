"""Varying coefficients: exact slopes and contrasts, known main effects, two stages by hand."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from lifenet.explain.rows import explain_row
from lifenet.explain.varying import varying_coefficients
from lifenet.kernels.smoothing import smooth
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from planted_interactions import PLANTED
from strategies import equivalents, invariant, networks_and_rows


def random_network(n_features, n_neurons=30, seed=0, n_outputs=1):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)) / n_neurons,
        np.zeros(n_outputs),
        generator.normal(size=(n_features, n_outputs)),
    )


def hinges(*terms, linear):
    """The network with neurons (weights, bias, beta) and a linear part."""
    weights, bias, beta = zip(*terms, strict=True)
    return ReluNetwork(
        np.array(weights, dtype=float),
        np.array(bias, dtype=float),
        np.array(beta, dtype=float)[:, None],
        np.zeros(1),
        np.array(linear, dtype=float)[:, None],
    )


def table_with_category(n=600, seed=0):
    """Two numbers and a category of three levels, coded by three dummies."""
    generator = np.random.default_rng(seed)
    level = generator.choice(3, size=n, p=[0.2, 0.5, 0.3])
    X = np.c_[generator.normal(size=(n, 2)), np.eye(3)[level]]
    groups = [("a", (0,)), ("b", (1,)), ("sky", (2, 3, 4))]
    names = ["a", "b", "sky_clear", "sky_rain", "sky_snow"]
    return X, level, FeatureSchema.of(X, names, groups)


# Slopes and contrasts.


def test_coefficients_are_the_slopes_of_the_rows():
    network = random_network(3)
    X = np.random.default_rng(1).normal(size=(200, 3))
    found = varying_coefficients(network, X, reach=0)
    np.testing.assert_allclose(found.alpha, network.gradient(X)[:, :, 0])
    np.testing.assert_array_equal(found.places, X)
    assert found.names == found.features == ("x0", "x1", "x2")
    assert found.reach == 0


@pytest.mark.parametrize("reach", [None, 0.2])
def test_coefficients_over_a_reach_are_those_of_the_rows_explained_one_by_one(reach):
    network = random_network(3)
    X = np.random.default_rng(1).normal(size=(200, 3))
    asked = {} if reach is None else {"reach": reach}
    found = varying_coefficients(network, X, **asked)
    assert found.reach == (0.05 if reach is None else reach)
    n_read = 0
    for row in range(0, 200, 9):
        own = explain_row(network, X[row], X=X, **asked)
        read = np.isfinite(own.window[:, 0])
        n_read += read.sum()
        np.testing.assert_allclose(found.alpha[row, read], own.slopes[read], rtol=1e-9)
    assert n_read > 60
    assert np.abs(found.alpha - network.gradient(X)[:, :, 0]).max() > 0.01


def test_a_value_that_is_alone_in_its_reach_has_the_step_between_its_neighbours():
    network = random_network(1, seed=6)
    X = np.concatenate([np.linspace(-1, 1, 100), [9.0, 12.0]])[:, None]
    found = varying_coefficients(network, X)
    low, high = network.score([[1.0], [12.0]])[:, 0]
    assert found.alpha[100, 0] == pytest.approx((high - low) / 11, abs=1e-12)
    low, high = network.score([[9.0], [12.0]])[:, 0]
    assert found.alpha[101, 0] == pytest.approx((high - low) / 3, abs=1e-12)


@pytest.mark.parametrize(
    ("reach", "error"), [(-0.1, ValueError), (1.5, ValueError), ("5 %", TypeError)]
)
def test_a_wrong_reach_is_refused(reach, error):
    with pytest.raises(error, match="reach must be"):
        varying_coefficients(random_network(1), np.zeros((3, 1)), reach=reach)


def test_a_category_has_contrasts_to_its_most_frequent_level():
    X, level, schema = table_with_category()
    network = random_network(5, seed=3)
    found = varying_coefficients(network, X, schema=schema)
    assert found.names[:2] == ("a", "b")
    labels = found.axes[2].labels
    assert set(labels) == {"clear", "rain", "snow"}
    for place, name in enumerate(found.names[2:], start=2):
        one, reference = name.removeprefix("sky: ").split(" - ")
        assert reference == "rain"
        for row in range(0, 600, 97):
            there, usual = X[[row]].copy(), X[[row]].copy()
            there[:, 2:] = np.eye(3)[["clear", "rain", "snow"].index(one)]
            usual[:, 2:] = [0, 1, 0]
            wanted = (network.score(there) - network.score(usual)).item()
            assert found.alpha[row, place] == pytest.approx(wanted, abs=1e-12)
    shown = [labels[int(place)] for place in found.places[:, 2]]
    assert shown == [["clear", "rain", "snow"][one] for one in level]


def test_strength_of_a_category_does_not_depend_on_the_level_compared_with():
    """Rows of another most frequent level change the contrasts, but not what they say."""
    X, level, schema = table_with_category(3000)
    network = random_network(5, seed=3)
    weight = np.where(level == 0, 2.5 - 1e-9, 1.0)
    more = np.where(level == 0, 2.5 + 1e-9, 1.0)
    share = [weight[level == one].sum() for one in range(3)]
    weight[level == 1] *= share[0] / share[1]
    more[level == 1] *= share[0] / share[1]
    one = varying_coefficients(network, X, schema=schema, sample_weight=weight)
    other = varying_coefficients(network, X, schema=schema, sample_weight=more)
    assert one.names != other.names
    np.testing.assert_allclose(one.linear, other.linear, rtol=1e-6)
    np.testing.assert_allclose(one.strength, other.strength, rtol=0.02, atol=1e-4)


def test_two_levels_count_as_a_binary_column_does():
    """The same function of a 0/1 column and of the dummies of its two levels."""
    generator = np.random.default_rng(0)
    X = np.c_[generator.normal(size=2000), generator.integers(2, size=2000)]
    plain = random_network(2, seed=8)
    as_column = varying_coefficients(plain, X)
    # f(x, s) = g(x, on) where on = s and off = 1 - s has no say.
    weights = np.insert(plain.weights, 1, 0.0, axis=1)
    linear = np.insert(plain.linear, 1, 0.0, axis=0)
    dummies = ReluNetwork(weights, plain.bias, plain.beta, plain.intercept, linear)
    coded = np.c_[X[:, 0], 1 - X[:, 1], X[:, 1]]
    schema = FeatureSchema.of(coded, ["x0", "off", "on"], [("x0", (0,)), ("x1", (1, 2))])
    as_category = varying_coefficients(dummies, coded, schema=schema)
    np.testing.assert_allclose(as_category.strength, as_column.strength, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(as_category.linear, as_column.linear, rtol=1e-9)
    np.testing.assert_allclose(as_category.nonlinear, as_column.nonlinear, rtol=1e-9)
    assert as_column.nonlinear[1] == 0


def test_a_column_of_few_values_has_steps_between_them():
    """What the network does between the values of a column is of no concern."""
    generator = np.random.default_rng(0)
    X = np.c_[generator.normal(size=200), generator.choice([0.0, 1.0, 4.0], size=200)]
    network = random_network(2, seed=4)
    found = varying_coefficients(network, X, reach=0)
    ends = {0.0: (0.0, 1.0), 1.0: (0.0, 4.0), 4.0: (1.0, 4.0)}
    for row in range(0, 200, 13):
        low, high = ends[X[row, 1]]
        x = X[row, 0]
        rise = network.score([[x, high]]) - network.score([[x, low]])
        assert found.alpha[row, 1] == pytest.approx(rise.item() / (high - low), abs=1e-10)
    np.testing.assert_allclose(found.alpha[:, 0], network.gradient(X)[:, 0, 0])
    over_windows = varying_coefficients(network, X, reach=0.3)
    np.testing.assert_allclose(over_windows.alpha[:, 1], found.alpha[:, 1], atol=1e-12)


# The two stages.


def test_both_stages_by_hand():
    network = random_network(3, seed=5)
    X = np.random.default_rng(2).normal(size=(500, 3))
    X[:, 2] = np.rint(X[:, 2])
    found = varying_coefficients(network, X)
    slopes = found.alpha
    for m in range(3):
        main = smooth(X[:, m], slopes[:, [m]])
        left = slopes[:, m] - main(X[:, m])[:, 0]
        np.testing.assert_allclose(found.residual[:, m], left, atol=1e-12)
        grid = found.axes[m].grid
        np.testing.assert_allclose(found.curves[m][:, m], main(grid)[:, 0], atol=1e-10)
        spread = X[:, m].std()
        assert found.nonlinear[m] == pytest.approx(main(X[:, m]).std() * spread)
        assert found.linear[m] == pytest.approx(abs(slopes[:, m].mean()) * spread)
        error = slopes[:, m].std() / np.sqrt(500)
        assert found.t[m] == pytest.approx(slopes[:, m].mean() / error)
        for k in {0, 1, 2} - {m}:
            curve = smooth(X[:, k], left[:, None])
            wanted = curve(X[:, k]).std() * spread
            assert found.strength[m, k] == pytest.approx(wanted, rel=1e-6, abs=1e-12)
            np.testing.assert_allclose(
                found.curves[k][:, m], curve(found.axes[k].grid)[:, 0], atol=1e-8
            )
    assert [axis.by_level for axis in found.axes] == [False, False, True]
    np.testing.assert_array_equal(np.diag(found.strength), 0)


def test_the_example_of_the_paper():
    """alpha_1 = theta_0 + theta_1 x_1 + theta_2 x_2: both parts of it come back."""
    products = PLANTED[0]
    X, _ = products.draw(4000, 0.0, 0)
    found = varying_coefficients(products, X, max_points=100)
    assert dict(zip(found.features, found.verdict, strict=True)) == {
        "x0": "none",
        "x1": "none",
        "x2": "none",
        "x3": "none",
        "x4": "nonlinear",
        "x5": "linear",
        "x6": "linear and nonlinear",
        "x7": "none",
    }
    grid, curve = found.axes[1].grid, found.curves[1][:, 0]
    inside = np.abs(grid) < 2
    np.testing.assert_allclose(curve[inside], grid[inside], atol=0.1)
    assert found.strength[0, 1] == pytest.approx(1, abs=0.05)
    assert found.t[5] == np.inf
    assert len(found.alpha) == 100


def test_an_additive_network_has_next_to_no_interactions():
    """What is left is the steps of slopes that the spline of their own column cannot follow."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(4000, 4)) + generator.normal(size=(4000, 1))
    weights = np.eye(4)[generator.integers(4, size=40)]
    network = ReluNetwork(
        weights, generator.normal(size=40), generator.normal(size=(40, 1)), np.zeros(1)
    )
    found = varying_coefficients(network, X)
    assert found.strength.max() < 0.02 * found.score_deviation


def test_a_linear_network_has_only_linear_effects():
    network = hinges(([0, 0], 1, 0), linear=[2, 0])
    X = np.random.default_rng(0).normal(size=(50, 2))
    found = varying_coefficients(network, X)
    assert found.verdict == ("linear", "none")
    np.testing.assert_allclose(found.linear, [2 * X[:, 0].std(), 0])
    np.testing.assert_allclose(found.strength, 0, atol=1e-12)
    assert found.t.tolist() == [np.inf, 0]


# Promises.


@invariant
@given(st.data(), networks_and_rows(min_rows=4))
def test_equal_functions_are_read_alike(data, case):
    network, X = case
    # Away from kinks, where networks of one function may differ in the side they take.
    X = X + np.sqrt(2) / 97 * (1 + np.arange(len(X))[:, None])
    same = data.draw(equivalents(network))
    output = network.n_outputs - 1
    assume(np.allclose(network.gradient(X), same.gradient(X), atol=1e-9))
    one = varying_coefficients(network, X, output=output)
    other = varying_coefficients(same, X, output=output)
    np.testing.assert_allclose(one.strength, other.strength, atol=1e-7)
    np.testing.assert_allclose(one.linear, other.linear, atol=1e-7)


def test_integer_weights_are_repeated_rows_and_zero_is_absence():
    X, _, schema = table_with_category(400)
    network = random_network(5, seed=1)
    weight = np.random.default_rng(2).integers(0, 4, size=400)
    one = varying_coefficients(network, X, schema=schema, sample_weight=weight)
    many = varying_coefficients(network, np.repeat(X, weight, axis=0), schema=schema)
    for name in ("mean", "linear", "nonlinear", "strength", "edf", "t"):
        np.testing.assert_allclose(getattr(one, name), getattr(many, name), rtol=1e-6, atol=1e-9)
    assert one.verdict == many.verdict


def test_weights_of_sum_one_are_not_one_row():
    X = np.random.default_rng(0).normal(size=(300, 2))
    network = random_network(2)
    equal = varying_coefficients(network, X, sample_weight=np.full(300, 1 / 300))
    np.testing.assert_allclose(equal.edf, varying_coefficients(network, X).edf, rtol=1e-9)


def test_each_score_of_several_is_read_by_itself():
    network = random_network(3, n_outputs=2)
    X = np.random.default_rng(0).normal(size=(60, 3))
    found = varying_coefficients(network, X, output=1, reach=0)
    np.testing.assert_allclose(found.alpha, network.gradient(X)[:, :, 1])
    over_windows = varying_coefficients(network, X, output=1)
    alone = ReluNetwork(
        network.weights, network.bias, network.beta[:, 1:], np.zeros(1), network.linear[:, 1:]
    )
    np.testing.assert_allclose(over_windows.alpha, varying_coefficients(alone, X).alpha)


def test_one_column_a_constant_column_and_a_level_that_never_changes():
    X = np.random.default_rng(0).normal(size=(30, 1))
    alone = varying_coefficients(random_network(1), X)
    assert alone.strength.tolist() == [[0]]
    assert alone.to_frame()["varies_most_with"].tolist() == [""]
    table = np.c_[X, np.full(30, 4.0), np.ones(30), np.zeros(30)]
    schema = FeatureSchema.of(
        table, ["a", "b", "c0", "c1"], [("a", [0]), ("b", [1]), ("c", [2, 3])]
    )
    found = varying_coefficients(random_network(4), table, schema=schema)
    assert found.names == ("a", "b")
    assert found.linear[1:].tolist() == [0, 0]
    assert found.verdict[1:] == ("none", "none")
    assert found.strength.shape == (3, 3)


def test_frames():
    X, _, schema = table_with_category()
    found = varying_coefficients(random_network(5, seed=3), X, schema=schema)
    frame = found.to_frame()
    assert frame["feature"].tolist() == ["a", "b", "sky"]
    np.testing.assert_allclose(frame["mean_slope"], [*found.mean[:2], np.nan])
    np.testing.assert_allclose(frame["relative_linear"], found.linear / found.score_deviation)
    assert frame["interaction"].tolist() == found.strength.max(axis=1).tolist()
    assert frame["verdict"].tolist() == list(found.verdict)
    curves = found.curves_to_frame()
    assert len(curves) == sum(curve.size for curve in found.curves)
    one = curves[(curves["coefficient"] == "a") & (curves["over"] == "b")]
    np.testing.assert_array_equal(one["curve"], found.curves[1][:, 0])


@pytest.mark.parametrize(
    ("value", "error"), [(-1, ValueError), (2.5, TypeError), (True, TypeError)]
)
def test_a_wrong_number_of_points_is_refused(value, error):
    with pytest.raises(error, match="max_points"):
        varying_coefficients(random_network(2), np.zeros((3, 2)), max_points=value)


def test_a_group_of_numbers_is_no_category():
    X = np.random.default_rng(0).normal(size=(500, 3))
    schema = FeatureSchema.of(X, groups=[("x0", [0]), ("place", [1, 2])])
    with pytest.raises(ValueError, match=r"'place'.*500"):
        varying_coefficients(random_network(3), X, schema=schema)
