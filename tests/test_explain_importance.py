"""Importance of features: against a loop over pairs of rows, known effects and permutations."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr
from sklearn.inspection import permutation_importance
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifenet import CrossFit, LIFERegressor, LLARegressor, MiniBatch, preset
from lifenet.explain import feature_importance, interaction_strength
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork
from lifenet.schema import FeatureSchema
from planted_interactions import PLANTED
from strategies import equivalents, invariant, networks_and_rows


def random_network(n_features=4, n_outputs=1, seed=0):
    generator = np.random.default_rng(seed)
    shapes = (12, n_features), (12,), (12, n_outputs), (n_outputs,), (n_features, n_outputs)
    return ReluNetwork(*(generator.normal(size=shape) for shape in shapes))


def coded_network():
    """A step code and a bent one, and two dummies as they are."""
    generator = np.random.default_rng(1)
    coding = ColumnCoding(
        [[-1.0, 0.0, 1.0], [-0.5, 0.5], None, None],
        [generator.normal(size=(3, 2)), generator.normal(size=(2, 1)), None, None],
    )
    return CodedNetwork(coding, random_network(coding.n_codes, n_outputs=2))


def table(n=80, seed=3):
    """Two numbers and the dummies of two of three levels."""
    generator = np.random.default_rng(seed)
    return np.c_[generator.normal(size=(n, 2)), np.eye(3)[generator.integers(3, size=n), 1:]]


def linear(*slopes):
    n = len(slopes)
    return ReluNetwork(np.zeros((0, n)), [], np.zeros((0, 1)), 1.0, list(slopes))


def by_loop(network, X, weight, groups, output, n_pairs, random_state):
    """Rows of a table in which each is repeated by its weight, exchanged one pair at a time."""
    ends = np.cumsum(weight)
    draws = np.random.default_rng(random_state).random((2, n_pairs)) * ends[-1]
    squares = np.zeros((n_pairs, len(groups)))
    for place, (one, other) in enumerate(draws.T):
        x, z = X[int(np.sum(ends <= one))], X[int(np.sum(ends <= other))]
        for at, columns in enumerate(groups):
            mixed = np.array([z[c] if c in columns else x[c] for c in range(len(x))])
            rise = network.score(mixed[None]) - network.score(x[None])
            squares[place, at] = rise[0, output] ** 2
    return np.sqrt(squares.mean(axis=0) / 2)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "network", [random_network(n_outputs=2), coded_network()], ids=["plain", "coded"]
)
def test_it_is_that_of_a_loop_over_its_pairs_of_rows(network, grouped):
    X, weight = table(), np.random.default_rng(4).integers(0, 3, size=80)
    groups = [(2, 3), (0,), (1,)] if grouped else [(0,), (1,), (2,), (3,)]
    schema = FeatureSchema.of(X, groups=[(f"f{at}", one) for at, one in enumerate(groups)])
    found = feature_importance(
        network, X, schema=schema, sample_weight=weight, output=1, n_pairs=60, random_state=8
    )
    wanted = by_loop(network, X, weight, groups, 1, 60, 8)
    assert found.features == tuple(name for name, _ in schema.groups)
    np.testing.assert_allclose(found.importance, wanted, rtol=1e-10)
    whole = np.repeat(network.score(X)[:, 1], weight).std()
    assert found.score_deviation == pytest.approx(whole)
    np.testing.assert_allclose(found.relative, wanted / whole)


def test_of_a_linear_network_it_is_the_slope_times_the_deviation():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(5000, 4)) * [1, 10, 0.1, 3] + [0, 50, 0, -7]
    X[:, 3] = generator.exponential(size=5000)
    slopes = np.array([2.0, -0.3, 5.0, 0.0])
    found = feature_importance(linear(*slopes), X, n_pairs=20_000)
    # Standard errors are about a hundredth.
    np.testing.assert_allclose(found.importance, np.abs(slopes) * X.std(axis=0), rtol=0.03)
    assert found.importance[3] == 0
    assert np.sum(found.relative**2) == pytest.approx(1, abs=0.04)


def test_features_that_act_together_share_variance():
    """Of x0 x1 with independent columns all variance is in both."""
    product = PLANTED[0]
    X, _ = product.draw(5000, 0.0, 0)
    kept = np.zeros_like(X)
    kept[:, :2] = X[:, :2]
    found = feature_importance(product, kept, n_pairs=20_000)
    np.testing.assert_allclose(found.relative[:2], 1, rtol=0.05)
    assert not found.importance[2:].any()


def test_no_pair_is_stronger_than_either_of_its_features():
    network, X = random_network(), np.random.default_rng(0).normal(size=(500, 4))
    single = feature_importance(network, X, n_pairs=5000).importance
    pair = interaction_strength(network, X, n_pairs=5000).pair
    assert (pair <= 1.05 * np.minimum.outer(single, single)).all()


def test_it_ranks_features_as_permutation_importance_does():
    generator = np.random.default_rng(0)

    def draw():
        X = generator.normal(size=(400, 7))
        X[:, 5] = generator.integers(0, 4, 400)
        shape = 3 * np.abs(X[:, 0]) + 2 * X[:, 1] * (X[:, 2] > 0) + X[:, 3] - 0.6 * X[:, 5]
        return X, shape + 0.3 * generator.normal(size=400)

    model = LIFERegressor(random_state=0).fit(*draw())
    X, y = draw()
    found = feature_importance(model, X)
    permuted = permutation_importance(
        model, X, y, scoring="neg_mean_squared_error", n_repeats=5, random_state=0
    ).importances_mean
    assert spearmanr(found.importance, permuted).statistic > 0.9
    # A feature of another row adds twice the squared importance to the squared error.
    clear = [0, 1, 2, 3, 5]
    np.testing.assert_allclose(found.importance[clear], np.sqrt(permuted[clear] / 2), rtol=0.15)


def test_columns_that_matter_come_first_in_a_coded_model():
    rng = np.random.default_rng(5)
    X = rng.uniform(size=(300, 4))
    y = np.sin(6 * X[:, 2]) + 0.5 * X[:, 0]
    fast = preset("fast")
    fast.neurons[0].set_params(n_trees=10)
    fast.neurons[1].set_params(n_networks=2)
    recipe = fast.set_params(finetune=MiniBatch(n_steps=20), resampling=CrossFit(2))
    model = LIFERegressor(preset=recipe, random_state=0).fit(X, y)
    found = feature_importance(model.network_, X, schema=model.schema_)
    assert found.order[:2].tolist() == [2, 0]
    assert found.relative[[1, 3]].max() < 0.2


def test_dummies_of_a_category_are_exchanged_together():
    """Taken one by one, rows of no level and of two levels would be asked about."""
    X = table(500)
    network = ReluNetwork([[0, 0, 1.0, 1.0]], [-1.0], [100.0], 0.0, [1.0, 0, 0, 0])
    schema = FeatureSchema.of(X, ["a", "b", "k=1", "k=2"], [("k", (2, 3))])
    found = feature_importance(network, X, schema=schema)
    assert dict(zip(found.features, found.importance > 0, strict=True)) == {
        "a": True,
        "b": False,
        "k": False,
    }
    assert (feature_importance(network, X).importance[2:] > 10).all()


def test_integer_weights_are_repeated_rows_and_zero_is_absence():
    network, X = random_network(), table()
    weight = np.random.default_rng(2).integers(0, 4, size=80)
    one = feature_importance(network, X, sample_weight=weight)
    many = feature_importance(network, np.repeat(X, weight, axis=0))
    np.testing.assert_allclose(one.importance, many.importance, rtol=1e-9)
    assert one.score_deviation == pytest.approx(many.score_deviation)
    far = np.vstack([X, X + 1e3])
    absent = feature_importance(network, far, sample_weight=np.repeat([1.0, 0.0], 80))
    np.testing.assert_array_equal(absent.importance, feature_importance(network, X).importance)


@invariant
@given(st.data(), networks_and_rows())
def test_it_is_that_of_the_function_not_of_its_neurons(data, case):
    network, X = case
    same = data.draw(equivalents(network))
    output = network.n_outputs - 1
    one, other = (feature_importance(net, X, output=output, n_pairs=20) for net in (network, same))
    np.testing.assert_allclose(one.importance, other.importance, atol=1e-8)


def test_units_of_columns_and_of_the_score_do_not_change_what_matters():
    network, X = random_network(), table()
    unit = np.array([1e3, 1e-3, 1.0, 5.0])
    one = feature_importance(network, X)
    other = feature_importance(network.fold_scaling(3.0, unit), X * unit + 3.0)
    np.testing.assert_allclose(one.importance, other.importance, rtol=1e-8)
    larger = feature_importance(network.fold_scaling(0.0, 1.0, 7.0, 1e6), X)
    np.testing.assert_allclose(1e6 * one.importance, larger.importance, rtol=1e-9)
    np.testing.assert_allclose(one.relative, larger.relative, rtol=1e-9)


def test_a_model_a_pipeline_and_a_frame_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    X = table(200) * [1, 10, 1, 1]
    frame = pandas.DataFrame(X, columns=["age", "income", "a", "b"])
    model = LLARegressor(n_neurons=3, max_iter=5, random_state=0)
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), model)
    pipeline.fit(frame, X[:, 0] * X[:, 1])
    scaled = pipeline[0].transform(frame)
    wanted = feature_importance(pipeline[-1].network_, scaled.to_numpy()).importance
    turned = scaled[["b", "income", "age", "a"]]
    for found in (feature_importance(pipeline, frame), feature_importance(pipeline[-1], turned)):
        assert found.features == ("age", "income", "a", "b")
        np.testing.assert_allclose(found.importance, wanted, rtol=1e-9)


def test_the_table_has_the_most_important_feature_first():
    pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(300, 4))
    found = feature_importance(linear(1, 0, -3, 0), X, schema=list("abcd"))
    assert found.order.tolist() == [2, 0, 1, 3]
    frame = found.to_frame()
    assert frame.columns.tolist() == ["feature", "importance", "relative"]
    assert frame["feature"].tolist() == list("cabd")
    np.testing.assert_array_equal(frame["importance"], found.importance[found.order])
    np.testing.assert_allclose(frame["relative"], frame["importance"] / found.score_deviation)


def test_a_score_that_is_constant_has_no_importance_and_no_shares():
    found = feature_importance(linear(0, 0), np.eye(2))
    assert not found.importance.any()
    assert np.isnan(found.relative).all()
    single = feature_importance(random_network(), table(1))
    assert not single.importance.any()
    constant = table()
    constant[:, 1] = 1 / 3
    assert feature_importance(random_network(), constant).importance[1] == 0


def test_draws_are_those_of_the_seed():
    network, X = random_network(), table()
    one, same = (feature_importance(network, X, n_pairs=50, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.importance, same.importance)
    generator = np.random.default_rng(3)
    passed = feature_importance(network, X, n_pairs=50, random_state=generator)
    np.testing.assert_array_equal(one.importance, passed.importance)
    other = feature_importance(network, X, n_pairs=50, random_state=4)
    assert (one.importance != other.importance).all()


@pytest.mark.parametrize(("value", "error"), [(0, ValueError), (2.5, TypeError), (True, TypeError)])
def test_a_wrong_number_of_pairs_is_refused(value, error):
    with pytest.raises(error, match="n_pairs"):
        feature_importance(linear(1, 2), np.zeros((3, 2)), n_pairs=value)


def test_several_scores_need_a_choice():
    network, X = random_network(n_outputs=2), table()
    with pytest.raises(ValueError, match="choose output=0 to output=1"):
        feature_importance(network, X)
