"""Effects against brute force by their definition, additive truths and populations."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.explain import accumulated_effects, pair_effect, partial_dependence
from lifenet.network import ReluNetwork
from lifenet.schema import FeatureSchema
from strategies import equivalents, floats, invariant, networks


def random_network(seed=0, n_neurons=30, n_features=4, n_outputs=1):
    generator = np.random.default_rng(seed)
    return ReluNetwork(
        generator.normal(size=(n_neurons, n_features)),
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        generator.normal(size=n_outputs),
        generator.normal(size=(n_features, n_outputs)),
    )


def put(X, column, value):
    table = X.copy()
    table[:, column] = value
    return table


def ale_by_definition(network, X, column, weight, output=0):
    """The definition, loop by loop."""
    values = np.unique(X[:, column])
    effect = [0.0]
    for low, high in itertools.pairwise(values):
        ends = (X[:, column] == low) | (X[:, column] == high)
        rise = network.score(put(X[ends], column, high)) - network.score(put(X[ends], column, low))
        effect.append(effect[-1] + np.average(rise[:, output], weights=weight[ends]))
    place = np.searchsorted(values, X[:, column])
    return values, effect - np.average(np.array(effect)[place], weights=weight)


@pytest.mark.parametrize("discrete", [False, True])
def test_accumulated_effects_are_their_definition(discrete):
    generator = np.random.default_rng(1)
    network = random_network(n_outputs=2)
    X = generator.normal(size=(150, 4))
    if discrete:
        X = np.round(X, 0)
    weight = generator.integers(1, 4, size=150).astype(float)
    effects = accumulated_effects(network, X, sample_weight=weight, output=1)
    for column, curve in enumerate(effects.curves):
        values, expected = ale_by_definition(network, X, column, weight, output=1)
        np.testing.assert_array_equal(curve.values, values)
        np.testing.assert_allclose(curve.effect, expected, atol=1e-12 * np.abs(expected).max())
        assert curve.mass @ curve.effect == pytest.approx(0, abs=1e-12)
        assert curve.level == pytest.approx(np.average(network.score(X)[:, 1], weights=weight))


def test_an_additive_network_gives_its_terms():
    generator = np.random.default_rng(2)
    columns = np.repeat(np.arange(3), 5)
    weights = np.zeros((15, 3))
    weights[np.arange(15), columns] = generator.normal(size=15)
    network = ReluNetwork(weights, generator.normal(size=15), generator.normal(size=15), 1.0)
    X = generator.normal(size=(400, 3)) @ np.array([[1, 0.9, 0], [0, 0.5, 0], [0.3, 0, 1.0]])
    for column, curve in enumerate(accumulated_effects(network, X).curves):
        own = network.select(columns == column)
        term = own.score(put(np.zeros((400, 3)), column, curve.values))[:, 0]
        term -= curve.mass @ term
        scale = np.abs(term).max()
        np.testing.assert_allclose(curve.effect, term, atol=1e-12 * scale)


def test_weights_are_repeated_rows_and_zero_is_absence():
    generator = np.random.default_rng(3)
    network, X = random_network(), np.round(generator.normal(size=(60, 4)), 1)
    weight = generator.integers(0, 3, size=60)
    for explain in (accumulated_effects, partial_dependence):
        weighted = explain(network, X, sample_weight=weight)
        repeated = explain(network, np.repeat(X, weight, axis=0))
        for one, two in zip(weighted.curves, repeated.curves, strict=True):
            np.testing.assert_array_equal(one.values, two.values)
            np.testing.assert_allclose(one.effect, two.effect, atol=1e-12)


@invariant
@given(st.data())
def test_effects_belong_to_the_function_not_to_its_form(data):
    network = data.draw(networks(n_outputs=1, min_neurons=1))
    same = data.draw(equivalents(network))
    X = data.draw(floats(6, network.n_features))
    for explain in (accumulated_effects, partial_dependence):
        pairs = zip(explain(network, X).curves, explain(same, X).curves, strict=True)
        for one, two in pairs:
            np.testing.assert_allclose(one.effect, two.effect, atol=1e-6)


def test_it_comes_closer_to_the_population():
    """relu(x1 + x2), correlation 0.5: the effect of x1 rises by Phi(sqrt(3) x1)."""
    from scipy.stats import norm

    network = ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0)
    root = np.sqrt(3.0)

    def truth(x):  # integral of P(x1 + x2 > 0 | x1 = t) = Phi(1.5 t / sqrt(0.75))
        return x * norm.cdf(root * x) + norm.pdf(root * x) / root

    def distance(n, seed):
        generator = np.random.default_rng(seed)
        X = generator.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]], size=n)
        curve = accumulated_effects(network, X, features=["x0"]).curves[0]
        inner = np.abs(curve.values) < 2
        gap = (curve.effect - truth(curve.values))[inner]
        return np.sqrt(np.mean(np.square(gap - gap.mean())))

    few, many = (np.mean([distance(n, seed) for seed in range(20)]) for n in (200, 12_800))
    assert 5 < few / many < 13  # sqrt(64) = 8


def test_partial_dependence_is_brute_force():
    generator = np.random.default_rng(4)
    network, X = random_network(), generator.normal(size=(200, 4))
    weight = generator.uniform(size=200)
    grid = [-2.0, 0.1, 0.0, 3.0]
    for column, curve in enumerate(
        partial_dependence(network, X, grid=grid, sample_weight=weight).curves
    ):
        for value, effect in zip(curve.values, curve.effect, strict=True):
            score = network.score(put(X, column, value))[:, 0]
            expected = np.average(score, weights=weight)
            assert effect + curve.level == pytest.approx(expected, rel=1e-12, abs=1e-12)


def dummies(n=300, seed=5):
    generator = np.random.default_rng(seed)
    level = generator.integers(0, 3, size=n)
    X = np.column_stack([generator.normal(size=n), level == 0, level == 1, level == 2]) * 1.0
    schema = FeatureSchema.of(
        X, ["age", "sex_F", "sex_I", "sex_M"], [("age", (0,)), ("sex", (1, 2, 3))]
    )
    return X, schema, level


def test_dummies_of_one_category_are_one_feature():
    X, schema, level = dummies()
    network = random_network(6)
    curve = accumulated_effects(network, X, schema=schema)["sex"]
    assert curve.labels == ("F", "I", "M")  # in the order of the columns
    np.testing.assert_allclose(curve.mass, np.bincount(level) / len(X))
    assert curve.mass @ curve.effect == pytest.approx(0, abs=1e-12)
    dependence = partial_dependence(network, X, schema=schema)["sex"]
    table = X.copy()
    table[:, 1:] = [0, 1, 0]
    assert dependence.effect[1] + dependence.level == pytest.approx(network.score(table).mean())


def test_two_levels_have_the_effect_of_a_binary_column():
    generator = np.random.default_rng(7)
    binary = generator.integers(0, 2, size=200)
    two = np.column_stack([generator.normal(size=200), binary, 1 - binary]) * 1.0
    network = random_network(8, n_features=3)
    # The same function of one binary column b: the dummies are b and 1 - b.
    difference = network.weights[:, 1] - network.weights[:, 2]
    single = ReluNetwork(
        np.column_stack([network.weights[:, 0], difference]),
        network.bias + network.weights[:, 2],
        network.beta,
        network.intercept + network.linear[2],
        np.stack([network.linear[0], network.linear[1] - network.linear[2]]),
    )
    schema = FeatureSchema.of(two, ["a", "b1", "b0"], [("a", (0,)), ("b", (1, 2))])
    of_levels = accumulated_effects(network, two, schema=schema)["b"]
    of_column = accumulated_effects(single, two[:, :2], schema=["a", "b"])["b"]
    np.testing.assert_allclose(of_levels.effect[::-1], of_column.effect, atol=1e-12)


def test_an_additive_category_has_its_own_levels():
    X, schema, _ = dummies()
    network = ReluNetwork([[1.0, 0, 0, 0]], [0.0], [1.0], 0.0, [0.0, 1.0, 2.0, 4.0])
    curve = accumulated_effects(network, X, schema=schema)["sex"]
    np.testing.assert_allclose(np.diff(curve.effect), [1, 2], atol=1e-12)


def test_a_feature_unknown_or_a_table_unfit_is_named():
    network, X = random_network(), np.zeros((3, 4))
    with pytest.raises(ValueError, match=r"no feature 'age'; there are x0, x1, x2, x3"):
        accumulated_effects(network, X, features=["age"])
    with pytest.raises(ValueError, match=r"expected \(n_samples, 4\)"):
        accumulated_effects(network, X[:, :3])
    with pytest.raises(ValueError, match=r"column 'x1' .*, row 2"):
        accumulated_effects(network, np.where([[0], [0], [1]] * np.eye(4)[1] > 0, np.nan, X))
    with pytest.raises(ValueError, match="X has no rows"):
        accumulated_effects(network, X[:0])
    with pytest.raises(ValueError, match=r"X must hold numbers; .*'old'"):
        accumulated_effects(network, np.array([["old", 1, 2, 3]], dtype=object))
    with pytest.raises(ValueError, match="output=0 to output=1"):
        accumulated_effects(random_network(n_outputs=2), X)
    with pytest.raises(ValueError, match=r"sample_weight .* row 1 has -1"):
        accumulated_effects(network, X, sample_weight=[1, -1, 1])
    with pytest.raises(TypeError, match=r"not a Fitted.* Supported are .* their network_"):
        accumulated_effects(type("Fitted", (), {"network_": network})(), X)


# ------------------------------------------------------------------ pairs


def pair_by_definition(network, X, first, second):
    """Two columns, all values on the grid: loops over cells, corners and centring."""
    a, b = np.unique(X[:, first]), np.unique(X[:, second])
    steps, mass = np.zeros((len(a) - 1, len(b) - 1)), np.zeros((len(a) - 1, len(b) - 1))
    for i in range(len(a) - 1):
        for j in range(len(b) - 1):
            inside = np.isin(X[:, first], a[i : i + 2]) & np.isin(X[:, second], b[j : j + 2])
            mass[i, j] = inside.sum()
            corner = {
                (u, v): network.score(put(put(X[inside], first, a[i + u]), second, b[j + v]))
                for u in (0, 1)
                for v in (0, 1)
            }
            if inside.any():
                mixed = corner[1, 1] - corner[1, 0] - corner[0, 1] + corner[0, 0]
                steps[i, j] = mixed.mean()
    return a, steps, mass


def test_pair_effects_are_their_definition():
    generator = np.random.default_rng(9)
    network, X = random_network(10), np.round(generator.normal(size=(3_000, 4)) / 1.5)
    result = pair_effect(network, X, ("x0", "x2"))
    a, steps, mass = pair_by_definition(network, X, 0, 2)
    np.testing.assert_array_equal(result.values[0], a)
    np.testing.assert_allclose(result.mass, mass / mass.sum())
    mixed = np.diff(np.diff(result.effect, axis=0), axis=1)
    np.testing.assert_allclose(mixed[mass > 0], steps[mass > 0], atol=1e-12)
    # Centred: along either feature the rise is zero on the average over the rows.
    for effect, weight in ((result.effect, mass), (result.effect.T, mass.T)):
        rise = np.diff(effect, axis=0)
        own = (weight * (rise[:, 1:] + rise[:, :-1]) / 2).sum(axis=1)
        np.testing.assert_allclose(own, 0, atol=1e-9)
    turned = pair_effect(network, X, ("x2", "x0"))
    np.testing.assert_allclose(turned.effect, result.effect.T, atol=1e-12)


def test_an_additive_network_has_no_pair_effect():
    network = ReluNetwork([[1.0, 0.0], [0.0, 2.0]], [0.1, -0.2], [1.0, 3.0], 0.0)
    X = np.random.default_rng(11).normal(size=(500, 2))
    assert pair_effect(network, X, ("x0", "x1")).strength < 1e-13


def test_a_product_is_seen():
    """x y = ((x + y)² - (x - y)²) / 4, with squares of many hinges."""
    knots = np.linspace(-8, 8, 161)
    hinges = np.ones((len(knots), 1))
    weights = np.vstack([hinges * [1.0, 1.0], hinges * [1.0, -1.0]])
    beta = np.concatenate([np.full(len(knots), 0.05), np.full(len(knots), -0.05)])
    network = ReluNetwork(weights, -np.tile(knots, 2), beta, 0.0)
    X = np.random.default_rng(12).normal(size=(5_000, 2))
    result = pair_effect(network, X, ("x0", "x1"), grid=20)
    inner = slice(3, -3)
    expected = np.outer(*result.values)[inner, inner]
    found = result.effect[inner, inner]
    assert np.corrcoef(expected.ravel(), found.ravel())[0, 1] > 0.99
    assert result.strength == pytest.approx(1.0, rel=0.2)


def test_pairs_with_a_category():
    X, schema, _ = dummies()
    network = random_network(13)
    result = pair_effect(network, X, ("sex", "age"), schema=schema, grid=10)
    assert set(result.labels[0]) == {"F", "I", "M"}
    assert result.effect.shape == (3, 10)
    assert len(result.to_frame()) == 30
    own = accumulated_effects(network, X, schema=schema)["sex"]
    by_effect = [own.labels[place] for place in np.argsort(own.effect)]
    assert list(result.labels[0]) == by_effect


def test_pairs_are_two_different_features_with_values():
    network, X = random_network(), np.zeros((3, 4))
    with pytest.raises(ValueError, match="two different names"):
        pair_effect(network, X, ("x0", "x0"))
    with pytest.raises(ValueError, match="'x0' has only one value"):
        pair_effect(network, X, ("x0", "x1"))


def test_names_that_are_numbers_are_no_names():
    """As in scikit-learn, a frame with numbers for names is a table without names."""
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(14).normal(size=(20, 4))
    schema = FeatureSchema.of(X)
    found = accumulated_effects(random_network(), pandas.DataFrame(X), schema=schema)
    assert found.curves[0].feature == "x0"
    reordered = pandas.DataFrame(X, columns=schema.names)[["x1", "x0", "x2", "x3"]]
    again = accumulated_effects(random_network(), reordered, schema=schema)
    for one, other in zip(found.curves, again.curves, strict=True):
        assert one.feature == other.feature
        np.testing.assert_array_equal(one.effect, other.effect)
    unknown = reordered.rename(columns={"x3": "x4"})
    with pytest.raises(ValueError, match=r"Missing: .'x3'.. Unknown: .'x4'.; rename or drop them"):
        accumulated_effects(random_network(), unknown, schema=schema)
