"""Regions against a loop over patterns, their equations against the score."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neural_network import MLPClassifier

from lifenet.explain import regions
from lifenet.explain.regions import evenly_spaced, local_regions
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from strategies import equivalents, invariant, networks_and_rows


def problem(n=300, p=3, m=5, q=1, seed=0):
    generator = np.random.default_rng(seed)
    network = ReluNetwork(
        generator.normal(size=(m, p)),
        0.5 * generator.normal(size=m),
        generator.normal(size=(m, q)),
        generator.normal(size=q),
        generator.normal(size=(p, q)),
    )
    return network, generator.normal(size=(n, p)), generator


def by_loop(network, X, output=0):
    """Rows and equation of each pattern, the most frequent first."""
    found = {}
    for row, x in enumerate(X):
        pattern = tuple(network.weights @ x + network.bias > 0)
        found.setdefault(pattern, []).append(row)
    regions = []
    for pattern, rows in sorted(found.items(), key=lambda item: (-len(item[1]), item[1][0])):
        slopes, constant = network.linear[:, output].copy(), network.intercept[output]
        for neuron in np.flatnonzero(pattern):
            slopes += network.weights[neuron] * network.beta[neuron, output]
            constant += network.bias[neuron] * network.beta[neuron, output]
        regions.append((rows, slopes, constant))
    return regions


@pytest.mark.parametrize("output", [0, 1])
def test_regions_are_those_of_a_loop_over_patterns(output):
    network, X, _ = problem(q=2)
    found = local_regions(network, X, min_rows=4, output=output)
    truth = by_loop(network, X, output)
    large = [region for region in truth if len(region[0]) >= 4]
    assert found.n_total == len(truth)
    assert found.n_regions == len(large) < len(truth)
    for number, (rows, slopes, constant) in enumerate(large):
        assert np.flatnonzero(found.region == number).tolist() == rows
        assert found.count[number] == len(rows)
        np.testing.assert_allclose(found.coefficients[number], slopes, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.intercept[number], constant, rtol=1e-12, atol=1e-12)
    in_large = sum(len(rows) for rows, _, _ in large)
    assert found.coverage == pytest.approx(in_large / 300)
    assert (found.region == -1).sum() == 300 - in_large


@invariant
@given(networks_and_rows(), st.data())
def test_the_equation_of_a_rows_region_gives_its_score(drawn, data):
    network, X = drawn
    output = data.draw(st.integers(0, network.n_outputs - 1))
    found = local_regions(network, X, min_rows=1, output=output)
    assert found.coverage == pytest.approx(1.0)
    score = (found.coefficients[found.region] * X).sum(axis=1) + found.intercept[found.region]
    np.testing.assert_allclose(score, network.score(X)[:, output], rtol=1e-10, atol=1e-10)


@settings(max_examples=30, deadline=None)
@given(networks_and_rows(), st.data())
def test_equations_do_not_depend_on_how_the_network_is_written(drawn, data):
    network, X = drawn
    other = data.draw(equivalents(network))
    # Neurons that cancel may bend where those of the first do not.
    heights = np.hstack([each.preactivations(X) for each in (network, other)])
    off_kinks = np.abs(heights).min(axis=1, initial=1.0) > 1e-6
    if not off_kinks.any():
        return
    X = X[off_kinks]
    one, two = (local_regions(each, X, min_rows=1, output=0) for each in (network, other))
    np.testing.assert_allclose(
        one.coefficients[one.region], two.coefficients[two.region], rtol=1e-9, atol=1e-9
    )
    np.testing.assert_allclose(
        one.intercept[one.region], two.intercept[two.region], rtol=1e-9, atol=1e-9
    )


def test_order_and_scale_of_neurons_change_nothing():
    network, X, generator = problem()
    order, factor = generator.permutation(5), generator.uniform(0.5, 2, size=5)
    other = ReluNetwork(
        network.weights[order] * factor[:, None],
        network.bias[order] * factor,
        network.beta[order] / factor[:, None],
        network.intercept,
        network.linear,
    )
    one, two = local_regions(network, X), local_regions(other, X)
    np.testing.assert_array_equal(one.region, two.region)
    np.testing.assert_allclose(one.to_frame(), two.to_frame(), rtol=1e-9)


def test_integer_weights_are_repeated_rows_and_zero_is_absence():
    network, X, generator = problem()
    y, weight = generator.normal(size=300), generator.integers(0, 4, size=300)
    weighted = local_regions(network, X, y, sample_weight=weight, min_rows=5)
    repeated = local_regions(
        network, np.repeat(X, weight, axis=0), np.repeat(y, weight), min_rows=5
    )
    np.testing.assert_allclose(weighted.to_frame(), repeated.to_frame(), rtol=1e-9)
    np.testing.assert_allclose(weighted.standardized, repeated.standardized, rtol=1e-9)
    np.testing.assert_array_equal(np.repeat(weighted.region, weight), repeated.region)
    assert (weighted.region[weight == 0] == -1).all()


def log_loss(y, score):
    chance = 1 / (1 + np.exp(-score))
    return -np.mean(y * np.log(chance) + (1 - y) * np.log(1 - chance))


def rmse(y, score):
    return np.sqrt(np.mean((y - score) ** 2))


@pytest.mark.parametrize("classes", [False, True])
def test_scores_are_those_of_each_equation_on_its_own_and_on_all_rows(classes):
    network, X, generator = problem()
    y = generator.normal(size=300)
    y, measure = ((y > 0).astype(int), log_loss) if classes else (y, rmse)
    found = local_regions(network, X, y)
    assert found.measure == ("log-loss" if classes else "RMSE")
    assert found.target == "response"
    assert found.n_scored == 300
    assert found.n_regions > 5
    for number in range(found.n_regions):
        own = found.region == number
        score = X @ found.coefficients[number] + found.intercept[number]
        assert found.response_mean[number] == pytest.approx(y[own].mean())
        assert found.local_score[number] == pytest.approx(measure(y[own], score[own]))
        assert found.global_score[number] == pytest.approx(measure(y, score))


def test_classes_that_compete_are_scored_by_all_their_equations():
    network, X, generator = problem(q=3)
    y = generator.integers(0, 3, size=300)
    found = local_regions(network, X, y, output=1)
    assert found.measure == "log-loss"
    x = X[np.argmax(found.region == 0)][None]
    score = X @ network.gradient(x)[0] + network.local_intercept(x)
    chance = np.exp(score) / np.exp(score).sum(axis=1, keepdims=True)
    losses = -np.log(chance[np.arange(300), y])
    assert found.global_score[0] == pytest.approx(losses.mean())
    assert found.local_score[0] == pytest.approx(losses[found.region == 0].mean())
    alone = local_regions(network, X, y == 1, loss=Logistic(), output=1)
    assert alone.global_score[0] == pytest.approx(log_loss(y == 1, score[:, 1]))


def test_without_a_response_equations_are_compared_with_the_score():
    network, X, _ = problem()
    found = local_regions(network, X)
    assert (found.target, found.measure) == ("score", "RMSE")
    np.testing.assert_allclose(found.local_score, 0, atol=1e-12)
    score = network.score(X)[:, 0]
    line = X @ found.coefficients[0] + found.intercept[0]
    assert found.global_score[0] == pytest.approx(rmse(score, line))
    assert found.response_mean[0] == pytest.approx(score[found.region == 0].mean())


def test_global_scores_take_evenly_spaced_rows_of_long_tables(monkeypatch):
    monkeypatch.setattr(regions, "_SCORED_ROWS", 70)
    network, X, generator = problem()
    y = generator.normal(size=300)
    found = local_regions(network, X, y)
    rows = evenly_spaced(300, 70)
    assert found.n_scored == len(rows) == 70
    assert (rows[0], rows[-1]) == (0, 299)
    assert set(np.diff(rows)) == {4, 5}
    line = X[rows] @ found.coefficients[2] + found.intercept[2]
    assert found.global_score[2] == pytest.approx(rmse(y[rows], line))


def test_standardised_coefficients_do_not_depend_on_units():
    network, X, _ = problem()
    unit = np.array([10.0, 0.01, 1.0])
    other = network.fold_scaling(0.0, unit)
    one, two = local_regions(network, X), local_regions(other, X * unit)
    np.testing.assert_allclose(one.standardized, two.standardized, rtol=1e-9)
    np.testing.assert_allclose(one.standardized, one.coefficients * X.std(axis=0), rtol=1e-12)


def test_no_region_may_be_large_enough():
    network, X, _ = problem(n=40, m=30)
    found = local_regions(network, X, min_rows=41)
    assert found.n_regions == 0
    assert found.coverage == 0
    assert found.to_frame().shape == (0, 9)
    assert (found.region == -1).all()


def test_a_linear_network_has_one_region():
    network = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 1.0, [2.0, -1.0])
    found = local_regions(network, np.eye(2), min_rows=2)
    assert found.coefficients.tolist() == [[2.0, -1.0]]
    assert found.intercept.tolist() == [1.0]


def test_the_table_names_columns_and_keeps_the_groups():
    network, X, _ = problem()
    schema = FeatureSchema.of(X, ["count", "a", "b"], [("count", (0,)), ("kind", (1, 2))])
    found = local_regions(network, X, schema=schema)
    frame = found.to_frame()
    assert list(frame.columns) == [
        *["count", "share", "response_mean", "local_score", "global_score", "intercept"],
        *["coefficient of count", "coefficient of a", "coefficient of b"],
    ]
    assert frame.index.name == "region"
    assert (frame["count"].diff().dropna() <= 0).all()
    assert found.schema.groups == schema.groups


def test_a_network_of_scikit_learn_is_read_too():
    _, X, generator = problem()
    y = generator.integers(0, 3, size=300)
    model = MLPClassifier((4,), max_iter=5, random_state=0, tol=1.0, n_iter_no_change=1).fit(X, y)
    network = ReluNetwork.from_mlp(model)
    found = local_regions(network, X, y, min_rows=1, output=2)
    score = (found.coefficients[found.region] * X).sum(axis=1) + found.intercept[found.region]
    np.testing.assert_allclose(score, network.score(X)[:, 2], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("y", "n_outputs", "measure"),
    [
        ([0, 1, 1], 1, "log-loss"),
        ([0, 0, 0], 1, "RMSE"),
        ([0, 1, 2], 1, "RMSE"),
        ([0, 1, 2], 3, "log-loss"),
        ([0.5, 1, 2], 3, "RMSE"),
        ([True, False, True], 1, "log-loss"),
    ],
)
def test_the_loss_follows_from_the_response(y, n_outputs, measure):
    network, X, _ = problem(n=3, q=n_outputs)
    assert local_regions(network, X, y, min_rows=1, output=0).measure == measure


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"y": ["a", "b", "c"]}, ValueError, "Code two classes as 0 and 1"),
        ({"y": [1.0, 2.0]}, ValueError, r"y has shape \(2,\); expected \(3,\)"),
        ({"y": [1.0, 2.0, np.nan]}, ValueError, "row 2 has nan"),
        (
            {"y": [np.nan, 2.0, np.inf], "sample_weight": [0, 1, 1]},
            ValueError,
            "row 2 has inf",
        ),
        ({"y": [0, 1, 2], "loss": Logistic()}, ValueError, "between 0 and 1.*row 2 has 2"),
        ({"y": [0, 1, 1], "loss": Logistic}, TypeError, r"SquaredError\(\) or Logistic\(\)"),
        ({"y": [0, 1, 1], "loss": Multinomial(3)}, ValueError, "the network has 1"),
        ({"loss": SquaredError()}, ValueError, "give y too"),
        ({"min_rows": 0}, ValueError, "min_rows must be above 0"),
        ({"output": 1}, ValueError, "output must be from 0 to 0"),
    ],
)
def test_bad_input_is_named(change, error, words):
    network, X, _ = problem(n=3)
    with pytest.raises(error, match=words):
        local_regions(network, X, **change)


def test_class_numbers_must_be_those_of_the_scores():
    network, X, _ = problem(n=3, q=3)
    with pytest.raises(ValueError, match="class number from 0 to 2; row 1 has 3"):
        local_regions(network, X, [0, 3, 1], loss=Multinomial(3), output=0)
