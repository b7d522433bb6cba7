"""Interactions: mixed differences by a loop, and planted pairs that must come first."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifenet import LLARegressor
from lifenet.explain.interactions import (
    Interactions,
    interaction_strength,
    two_stage_strength,
)
from lifenet.explain.varying import varying_coefficients
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork
from lifenet.schema import FeatureSchema
from planted_interactions import BLIND, PLANTED, Planted, separation
from strategies import equivalents, invariant, networks_and_rows

CORRELATIONS = [0.0, 0.5]
by_name = {"ids": lambda planted: planted.name}


def fitted(planted, correlation, seed):
    X, y = planted.draw(5000, correlation, seed)
    return LLARegressor(n_neurons=10, random_state=seed).fit(X, y).network_, X


def random_network(n_features, seed=0, n_outputs=1):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(20, n_features)),
        generator.normal(size=20),
        generator.normal(size=(20, n_outputs)),
        np.zeros(n_outputs),
    )


# The planted functions themselves.


@pytest.mark.parametrize("planted", PLANTED + BLIND, **by_name)
def test_gradients_of_the_planted_functions_are_those_of_their_values(planted):
    X, _ = planted.draw(200, 0.5, 0)
    step = 1e-6 * np.eye(planted.n_features)
    wanted = [(planted.score(X + one) - planted.score(X - one)) / 2e-6 for one in step]
    found = planted.gradient(X)[:, :, 0]
    # A kink may lie between the two ends for a row or two.
    assert np.mean(np.abs(found - np.hstack(wanted)) > 1e-6) < 0.002


@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("planted", PLANTED, **by_name)
def test_planted_pairs_are_truly_twice_as_strong_as_any_other(planted, correlation):
    X, _ = planted.draw(5000, correlation, 0)
    assert separation(two_stage_strength(planted, X).pair, planted.pairs) >= 2


# What networks show.


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("correlation", CORRELATIONS)
@pytest.mark.parametrize("planted", PLANTED, **by_name)
def test_planted_pairs_come_first(planted, correlation, seed):
    network, X = fitted(planted, correlation, seed)
    assert separation(two_stage_strength(network, X).pair, planted.pairs) > 1
    second = interaction_strength(network, X, n_pairs=300)
    assert separation(second.pair, planted.pairs) > 1


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("planted", BLIND, **by_name)
def test_the_second_order_finds_what_two_stages_cannot(planted, seed):
    network, X = fitted(planted, 0.0, seed)
    second = interaction_strength(network, X, n_pairs=300)
    assert separation(second.pair, planted.pairs) > 2


@pytest.mark.parametrize("planted", BLIND, **by_name)
def test_what_two_stages_cannot_see(planted):
    X, _ = planted.draw(20_000, 0.0, 0)
    seen, there = two_stage_strength(planted, X), interaction_strength(planted, X)
    for pair in planted.pairs:
        assert seen.pair[pair] < 0.2 * there.pair[pair]


# The second-order measure.


def test_mixed_differences_by_a_loop():
    network = random_network(4)
    generator = np.random.default_rng(1)
    X = generator.normal(size=(50, 4))
    weight = generator.random(50)
    found = interaction_strength(network, X, sample_weight=weight, n_pairs=30, random_state=7)
    share = np.cumsum(weight / weight.sum())
    draws = np.random.default_rng(7).random((2, 30)) * share[-1]
    first, second = (X[[int((share <= one).sum()) for one in row]] for row in draws)

    def score(x, z, columns):
        mixed = [z[c] if c in columns else x[c] for c in range(4)]
        return network.score([mixed]).item()

    for j in range(4):
        for k in range(4):
            if j == k:
                assert found.pair[j, k] == 0
                continue
            parts = [
                score(x, z, ()) - score(x, z, (j,)) - score(x, z, (k,)) + score(x, z, (j, k))
                for x, z in zip(first, second, strict=True)
            ]
            wanted = np.sqrt(np.mean(np.square(parts))) / 2
            assert found.pair[j, k] == pytest.approx(wanted, rel=1e-9)
    assert found.measure == "second-order"
    assert found.score_deviation == pytest.approx(
        np.sqrt(np.cov(network.score(X)[:, 0], aweights=weight, ddof=0)), rel=1e-9
    )


def exchanged_score(network, x, z, columns):
    """Score of x with some columns of z, one row at a time."""
    mixed = [z[column] if column in columns else x[column] for column in range(len(x))]
    return network.score(np.array([mixed]))[0]


def pairs_of_rows(X, weight, n_pairs, random_state):
    """Rows of a repeated table, at the places where uniform draws fall."""
    ends = np.cumsum(weight)
    draws = np.random.default_rng(random_state).random((2, n_pairs)) * ends[-1]
    return ([X[int(np.sum(ends <= one))] for one in row] for row in draws)


def coded_network(seed=0):
    """A step code and a bent one, and two dummies as they are."""
    generator = np.random.default_rng(seed)
    coding = ColumnCoding(
        [[-1.0, 0.0, 1.0], [-0.5, 0.5], None, None],
        [generator.normal(size=(3, 2)), generator.normal(size=(2, 1)), None, None],
    )
    return CodedNetwork(coding, random_network(coding.n_codes, seed, n_outputs=2))


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "network", [random_network(4, n_outputs=2), coded_network()], ids=["plain", "coded"]
)
def test_moves_give_the_mixed_differences_of_the_scores(network, grouped):
    generator = np.random.default_rng(3)
    X = np.c_[generator.normal(size=(60, 2)), np.eye(3)[generator.integers(3, size=60), 1:]]
    weight = generator.integers(0, 3, size=60)
    groups = [(2, 3), (0,), (1,)] if grouped else [(0,), (1,), (2,), (3,)]
    schema = FeatureSchema.of(X, groups=[(f"f{at}", one) for at, one in enumerate(groups)])
    found = interaction_strength(
        network, X, schema=schema, sample_weight=weight, output=1, n_pairs=40, random_state=5
    )
    assert found.features == tuple(name for name, _ in schema.groups)
    first, second = pairs_of_rows(X, weight, 40, 5)
    for j, one in enumerate(groups):
        for k, other in enumerate(groups[:j]):
            parts = [
                exchanged_score(network, x, z, ())
                - exchanged_score(network, x, z, one)
                - exchanged_score(network, x, z, other)
                + exchanged_score(network, x, z, one + other)
                for x, z in zip(first, second, strict=True)
            ]
            wanted = np.sqrt(np.mean(np.square(parts), axis=0))[1] / 2
            assert found.pair[j, k] == pytest.approx(wanted, rel=1e-10, abs=1e-12)
            assert found.pair[k, j] == found.pair[j, k]
    assert found.pair[0, 1] > 0


@pytest.mark.parametrize(("n_features", "n_pairs"), [(2, 2000), (20, 2000), (40, 1000), (201, 200)])
def test_pairs_of_rows_are_fewer_where_features_are_many(n_features, n_pairs):
    generator = np.random.default_rng(0)
    network = ReluNetwork(generator.normal(size=(2, n_features)), np.zeros(2), np.ones(2), 0.0)
    X = generator.normal(size=(20, n_features))
    unasked = interaction_strength(network, X)
    assert np.array_equal(unasked.pair, interaction_strength(network, X, n_pairs=n_pairs).pair)


def test_a_fitted_model_and_a_pipeline_are_read_as_their_network():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 3)) * [1, 10, 100]
    model = LLARegressor(n_neurons=3, max_iter=5, random_state=0)
    pipeline = make_pipeline(StandardScaler(), model).fit(X, X[:, 0] * X[:, 1])
    inner, scaled = pipeline[-1].network_, pipeline[0].transform(X)
    for measure in (interaction_strength, two_stage_strength):
        wanted = measure(inner, scaled).pair
        np.testing.assert_allclose(measure(pipeline[-1], scaled).pair, wanted, rtol=1e-9)
        np.testing.assert_allclose(measure(pipeline, X).pair, wanted, rtol=1e-9)


def test_its_square_is_the_variance_of_a_product():
    """Of x0 x1 with independent columns the interaction is all there is."""
    planted = PLANTED[0]
    X, _ = planted.draw(20_000, 0.0, 0)
    found = interaction_strength(planted, X, n_pairs=20_000)
    assert found.pair[0, 1] == pytest.approx(1, rel=0.05)
    assert found.pair[0, 2] < 1e-12


@invariant
@given(networks_and_rows(), st.integers(0, 9))
def test_an_additive_network_has_none(case, seed):
    network, X = case
    alone = np.zeros_like(network.weights)
    for neuron, weights in enumerate(network.weights):
        alone[neuron, neuron % len(weights)] = weights[neuron % len(weights)]
    additive = ReluNetwork(alone, network.bias, network.beta, network.intercept, network.linear)
    found = interaction_strength(additive, X, output=0, n_pairs=20, random_state=seed)
    assert found.pair.max(initial=0) <= 1e-12 * (1 + np.abs(additive.score(X)).max())


@invariant
@given(st.data(), networks_and_rows())
def test_equal_functions_are_read_alike(data, case):
    network, X = case
    same = data.draw(equivalents(network))
    one = interaction_strength(network, X, output=0, n_pairs=20)
    other = interaction_strength(same, X, output=0, n_pairs=20)
    np.testing.assert_allclose(one.pair, other.pair, atol=1e-8)
    np.testing.assert_array_equal(one.pair, one.pair.T)


def test_blocks_of_rows_change_nothing(monkeypatch):
    network = random_network(3)
    X = np.random.default_rng(0).normal(size=(40, 3))
    whole = interaction_strength(network, X, n_pairs=100)
    monkeypatch.setattr("lifenet.explain.interactions._BLOCK_ROWS", 7)
    np.testing.assert_allclose(interaction_strength(network, X, n_pairs=100).pair, whole.pair)


def test_weights_are_repeated_rows_and_zero_is_absence():
    network = random_network(3)
    generator = np.random.default_rng(0)
    X, weight = generator.normal(size=(40, 3)), generator.integers(0, 4, size=40)
    for measure in (interaction_strength, two_stage_strength):
        one = measure(network, X, sample_weight=weight)
        many = measure(network, np.repeat(X, weight, axis=0))
        np.testing.assert_allclose(one.pair, many.pair, rtol=1e-6, atol=1e-9)


def test_dummies_move_together():
    generator = np.random.default_rng(0)
    X = np.c_[generator.normal(size=500), np.eye(3)[generator.integers(3, size=500)]]
    schema = FeatureSchema.of(X, ["x", "a", "b", "c"], [("x", [0]), ("level", [1, 2, 3])])
    network = random_network(4)
    found = interaction_strength(network, X, schema=schema, n_pairs=4000)
    assert found.features == ("x", "level")

    def value(coded):
        return network.score(np.c_[coded[:, 0], np.eye(3)[coded[:, 1].astype(int)]])[:, 0]

    coded = np.c_[X[:, 0], X[:, 1:].argmax(axis=1)]
    one_column = interaction_strength(Planted("coded", 2, (), value, dict), coded, n_pairs=4000)
    np.testing.assert_allclose(found.pair, one_column.pair)


# The result.


def test_two_stages_are_those_of_the_varying_coefficients():
    network = random_network(4)
    X = np.random.default_rng(3).normal(size=(300, 4))
    varying = varying_coefficients(network, X)
    found = two_stage_strength(network, X)
    np.testing.assert_array_equal(found.directed, varying.strength)
    np.testing.assert_allclose(found.pair, (varying.strength + varying.strength.T) / 2)
    assert found.measure == "two-stage"
    again = Interactions.from_varying(varying)
    np.testing.assert_array_equal(again.pair, found.pair)


def test_the_frame_lists_each_pair_once_the_strongest_first():
    network = random_network(4)
    X = np.random.default_rng(3).normal(size=(300, 4))
    found = two_stage_strength(network, X, schema=list("abcd"))
    frame = found.to_frame()
    assert len(frame) == 6
    assert (np.diff(frame["strength"]) <= 0).all()
    assert {frozenset(pair) for pair in zip(frame["first"], frame["second"], strict=True)} == {
        frozenset(pair) for pair in ("ab", "ac", "ad", "bc", "bd", "cd")
    }
    top = frame.iloc[0]
    j, k = "abcd".index(top["first"]), "abcd".index(top["second"])
    assert top["first_by_second"] == found.directed[j, k]
    assert top["second_by_first"] == found.directed[k, j]
    assert top["relative"] == pytest.approx(top["strength"] / found.score_deviation)
    second = interaction_strength(network, X).to_frame()
    assert list(second.columns) == ["first", "second", "strength", "relative"]


def test_one_feature_has_no_pairs():
    X = np.random.default_rng(3).normal(size=(30, 1))
    for measure in (interaction_strength, two_stage_strength):
        assert measure(random_network(1), X).to_frame().empty


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_wrong_number_of_pairs_is_refused(value, error):
    with pytest.raises(error, match="n_pairs"):
        interaction_strength(random_network(2), np.zeros((3, 2)), n_pairs=value)


def test_several_scores_need_a_choice():
    network = random_network(2, n_outputs=3)
    X = np.random.default_rng(3).normal(size=(30, 2))
    for measure in (interaction_strength, two_stage_strength):
        with pytest.raises(ValueError, match="output=0"):
            measure(network, X)
        assert measure(network, X, output=2).pair[0, 1] > 0
