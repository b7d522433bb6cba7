"""Several networks read alike: bands, agreement, and the paper's own main effects."""

import numpy as np
import pytest

from lifenet.explain import accumulated_effects, feature_importance, integrated_effects, stability
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema


def random_network(seed, n_features=4):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(20, n_features)),
        generator.normal(size=20),
        generator.normal(size=20),
        0.0,
    )


def rows(n=400, n_features=4, seed=0):
    return np.random.default_rng(seed).normal(size=(n, n_features))


def test_bands_hold_the_curves_of_the_networks():
    networks, X = [random_network(seed) for seed in range(5)], rows()
    result = stability(networks, X, schema=list("abcd"))
    curves = [accumulated_effects(network, X, schema=list("abcd"))["b"] for network in networks]
    stacked = np.stack([curve.effect for curve in curves])
    mean, low, high = result.band("b", level=1.0)
    np.testing.assert_allclose(mean.effect, stacked.mean(axis=0))
    np.testing.assert_array_equal(low, stacked.min(axis=0))
    np.testing.assert_array_equal(high, stacked.max(axis=0))
    _, inner_low, inner_high = result.band("b", level=0.5)
    assert (inner_low >= low).all()
    assert (inner_high <= high).all()
    assert result.importance.shape == (5, 4)
    np.testing.assert_allclose(result.importance[2], feature_importance(networks[2], X).importance)


def test_agreement_is_one_for_the_same_function():
    network, X = random_network(1), rows()
    scaled = network.with_readout(2 * network.beta, network.intercept)
    same = stability([network, scaled], X).agreement()
    assert all(value == pytest.approx(1) for value in same.values())


def test_agreement_is_the_mean_rank_correlation():
    from scipy.stats import spearmanr

    result = stability([random_network(seed) for seed in range(3)], rows())
    pairs = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([spearmanr(*result.importance[list(pair)]).statistic for pair in pairs])
    assert result.agreement()["importance"] == pytest.approx(expected)


def test_the_frame_names_features_and_pairs():
    pytest.importorskip("pandas")
    result = stability([random_network(0), random_network(1)], rows())
    frame = result.to_frame()
    assert frame["kind"].value_counts().to_dict() == {
        "importance": 4,
        "effect": 4,
        "interaction": 6,
    }
    pair = frame.query("feature == 'x1' and other == 'x3'").iloc[0]
    assert pair["lowest"] == result.interactions[:, 1, 3].min()
    assert pair["sd"] == pytest.approx(np.std(result.interactions[:, 1, 3], ddof=1))


def test_one_network_cannot_be_compared():
    with pytest.raises(ValueError, match="at least two"):
        stability([random_network(0)], rows())
    with pytest.raises(ValueError, match="at least two"):
        stability(random_network(0), rows())


# ------------------------------------------------------------------ integrals of smoothed slopes


def test_the_integral_of_a_smooth_slope_is_the_effect():
    """A dense additive network is nearly smooth; there both readings agree."""
    knots = np.linspace(-3, 3, 200)
    weights = np.zeros((200, 2))
    weights[:, 0] = 1.0
    network = ReluNetwork(weights, -knots, np.full(200, 0.06), 0.0, [1.0, 2.0])
    X = rows(3_000, 2)
    exact, paper = accumulated_effects(network, X), integrated_effects(network, X)
    for name in ("x0", "x1"):
        inner = np.abs(exact[name].values) < 2
        gap = (exact[name].effect - paper[name].effect)[inner]
        assert np.abs(gap).max() < 0.02 * np.abs(exact[name].effect[inner]).max()
    np.testing.assert_allclose(paper["x1"].effect, exact["x1"].effect, atol=1e-8)


def test_few_values_take_means_of_slopes_at_both_ends():
    network = ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0)
    X = np.array([[0.0, 1.0], [0.0, -1.0], [1.0, 1.0], [1.0, 3.0]])
    curve = integrated_effects(network, X)["x0"]
    # Slopes of x0: 1, 0 at 0 and 1, 1 at 1: the mean of 0.5 and 1.
    assert np.diff(curve.effect).item() == pytest.approx(0.75)


def test_a_category_has_level_effects():
    generator = np.random.default_rng(3)
    X = np.column_stack([generator.normal(size=60), np.eye(3)[generator.integers(0, 3, 60)]])
    schema = FeatureSchema.of(X, ["a", "b0", "b1", "b2"], [("a", (0,)), ("b", (1, 2, 3))])
    network = random_network(4)
    one = integrated_effects(network, X, schema=schema)["b"]
    two = accumulated_effects(network, X, schema=schema)["b"]
    np.testing.assert_array_equal(one.effect, two.effect)
    assert one.labels == two.labels


def test_weights_are_repeated_rows_in_the_smooth_too():
    generator = np.random.default_rng(5)
    X, weight = rows(200), generator.integers(0, 4, size=200)
    network = random_network(6)
    one = integrated_effects(network, X, sample_weight=weight)
    two = integrated_effects(network, np.repeat(X, weight, axis=0))
    for left, right in zip(one.curves, two.curves, strict=True):
        np.testing.assert_allclose(left.effect, right.effect, atol=1e-8)
