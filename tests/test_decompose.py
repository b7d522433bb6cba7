"""Functional ANOVA: parts are means over the full product of the columns' own values."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lifenet import LIFEClassifier, LIFERegressor, LLARegressor
from lifenet.explain import decompose
from lifenet.network import CodedNetwork, FeatureNeurons, ReluNetwork
from lifenet.schema import ColumnValues, FeatureSchema
from pairwise_networks import coded_pairwise, plain_pairwise
from planted_interactions import Planted

NETWORKS = {
    "plain": plain_pairwise(n_outputs=2),
    "sparse": ReluNetwork(
        sparse.csr_array(plain_pairwise(seed=1).weights),
        plain_pairwise(seed=1).bias,
        np.repeat(plain_pairwise(seed=1).beta, 2, axis=1),
        np.ones(2),
    ),
    "coded": coded_pairwise(n_outputs=2),
}
GROUPS = {"alone": ((0,), (1,), (2,), (3,)), "grouped": ((0,), (1, 3), (2,))}
every_network = pytest.mark.parametrize("name", NETWORKS)
every_grouping = pytest.mark.parametrize("groups", GROUPS.values(), ids=GROUPS)


def few_values(n=60, seed=0):
    """Columns of 5, 2, 4 and 3 values, not equally frequent, and dependent on each other."""
    generator = np.random.default_rng(seed)
    X = np.column_stack([generator.choice(generator.normal(size=m), n) for m in (5, 2, 4, 3)])
    X[:, 2] = np.where(X[:, 0] > 0, X[0, 2], X[:, 2])
    return X


def schema_of(X, groups):
    return FeatureSchema.of(X, groups=[(f"f{at}", one) for at, one in enumerate(groups)])


class Product:
    """The full product of the features' own distributions, point by point."""

    def __init__(self, network, X, weight, groups, output):
        self.network, self.groups, self.output = network, groups, output
        self.patterns = []
        for columns in groups:
            points, place = np.unique(X[:, columns], axis=0, return_inverse=True)
            mass = np.bincount(place.ravel(), weight, len(points)) / weight.sum()
            self.patterns.append([(p, m) for p, m in zip(points, mass, strict=True) if m])

    def mean(self, fixed, x):
        """Mean score with some features as in x, over the product of all others."""
        rows, masses = [], []
        others = [
            [(x[list(columns)], 1.0)] if feature in fixed else self.patterns[feature]
            for feature, columns in enumerate(self.groups)
        ]
        for points in itertools.product(*others):
            row = np.empty(len(x))
            for columns, (point, _) in zip(self.groups, points, strict=True):
                row[list(columns)] = point
            rows.append(row)
            masses.append(np.prod([mass for _, mass in points]))
        return np.array(masses) @ self.network.score(np.array(rows))[:, self.output]

    def main(self, j, x):
        return self.mean({j}, x) - self.mean(set(), x)

    def pair(self, i, j, x):
        alone = self.mean({i}, x) + self.mean({j}, x)
        return self.mean({i, j}, x) - alone + self.mean(set(), x)


@every_grouping
@every_network
def test_parts_are_those_of_the_full_product(name, groups):
    network, X = NETWORKS[name], few_values()
    weight = np.random.default_rng(1).integers(0, 3, len(X)).astype(float)
    found = decompose(network, X, schema=schema_of(X, groups), sample_weight=weight, output=1)
    truth = Product(network, X, weight, groups, 1)
    generator = np.random.default_rng(2)
    near, far = generator.normal(size=(6, 4)), 1e4 * generator.normal(size=(4, 4))
    rows = np.vstack([X[:4], near, far])
    assert found.exact
    assert found.intercept == pytest.approx(truth.mean(set(), X[0]), rel=1e-10)
    size = 1 + np.abs(network.score(rows)[:, 1])
    main, pairs = found.main(rows), found.pairs(rows)
    for at, x in enumerate(rows):
        wanted = [truth.main(j, x) for j in range(len(groups))]
        np.testing.assert_allclose(main[at], wanted, atol=1e-11 * size[at])
    numbers = {name: at for at, name in enumerate(found.features)}
    held = {tuple(numbers[one] for one in pair.features) for pair in found.surfaces}
    for place, (i, j) in enumerate(sorted(held)):
        wanted = [truth.pair(i, j, x) for x in rows]
        assert (np.abs(pairs[:, place] - wanted) <= 1e-11 * size).all()
    for i, j in set(itertools.combinations(range(len(groups)), 2)) - held:
        assert abs(truth.pair(i, j, rows[5])) < 1e-12


@every_grouping
@every_network
def test_parts_sum_to_the_score_however_far(name, groups):
    network, X = NETWORKS[name], few_values()
    found = decompose(network, X, schema=schema_of(X, groups), output=0)
    for scale in (1, 1e3, 1e9):
        rows = scale * np.random.default_rng(3).normal(size=(300, 4))
        score = network.score(rows)[:, 0]
        np.testing.assert_allclose(found.parts(rows).sum(axis=1), score, rtol=1e-9, atol=1e-9)
    assert found.parts(rows).shape == (300, len(found.names))
    assert found.left_over == 0


def product_of(found, X, weight, i, j):
    """Rows of all pairs of values of two columns, and the columns' masses."""
    one, other = (ColumnValues.of(X[:, column], weight) for column in (i, j))
    rows = np.tile(X.mean(axis=0), (len(one.values) * len(other.values), 1))
    rows[:, i] = np.repeat(one.values, len(other.values))
    rows[:, j] = np.tile(other.values, len(one.values))
    return rows, one.counts / one.counts.sum(), other.counts / other.counts.sum()


@every_network
def test_no_effect_of_a_column_hides_in_a_pair(name):
    network = NETWORKS[name]
    generator = np.random.default_rng(5)
    X = generator.normal(size=(700, 4)) @ generator.normal(size=(4, 4))
    weight = generator.random(700)
    found = decompose(network, X, sample_weight=weight, output=0)
    for place, surface in enumerate(found.surfaces):
        i, j = (int(one[1]) for one in surface.features)
        rows, first, second = product_of(found, X, weight, i, j)
        table = found.pairs(rows)[:, place].reshape(len(first), len(second))
        assert np.abs(table @ second).max() < 1e-9
        assert np.abs(first @ table).max() < 1e-9
        assert surface.strength == pytest.approx(np.sqrt(first @ table**2 @ second), rel=1e-9)
        main = found.main(rows)
        assert abs(np.outer(first, second).ravel() @ main[:, i]) < 1e-9
        assert abs(np.outer(first, second).ravel() @ main[:, j]) < 1e-9
    for curve in found.curves:
        assert abs(curve.mass @ curve.effect) < 1e-9
        assert curve.mass.sum() == pytest.approx(1)


def test_curves_and_surfaces_are_the_parts_on_grids():
    network = NETWORKS["coded"]
    X = np.random.default_rng(5).normal(size=(300, 4))
    found = decompose(network, X, output=0)
    for column, curve in enumerate(found.curves):
        rows = np.zeros((len(curve.values), 4))
        rows[:, column] = curve.values
        np.testing.assert_allclose(found.main(rows)[:, column], curve.effect, atol=1e-12)
        knots = network.coding.kinks(column)
        inside = knots[(knots > X[:, column].min()) & (knots < X[:, column].max())]
        assert np.isin(inside, curve.values).all()
    surface = found.surfaces[0]
    i, j = (int(one[1]) for one in surface.features)
    rows = np.zeros((surface.effect.size, 4))
    rows[:, [i, j]] = list(itertools.product(*surface.values))
    np.testing.assert_allclose(found.pairs(rows)[:, 0], surface.effect.ravel(), atol=1e-12)
    assert surface.mass.sum() == pytest.approx(1)
    assert surface.mass.shape == tuple(len(one) - 1 for one in surface.values)


def test_neurons_may_stand_in_any_order_and_scale():
    network, X = plain_pairwise(), few_values()
    generator = np.random.default_rng(7)
    order, scale = generator.permutation(40), generator.uniform(0.01, 100, 40)
    same = ReluNetwork(
        (network.weights * scale[:, None])[order],
        (network.bias * scale)[order],
        (network.beta / scale[:, None])[order],
        network.intercept,
        network.linear,
    )
    rows = generator.normal(size=(50, 4))
    one, other = decompose(network, X), decompose(same, X)
    np.testing.assert_allclose(one.parts(rows), other.parts(rows), rtol=1e-9, atol=1e-10)


def test_weights_are_repeated_rows_and_their_order_does_not_matter():
    generator = np.random.default_rng(0)
    X, weight = generator.normal(size=(200, 4)), generator.integers(0, 4, size=200)
    many = generator.permutation(np.repeat(X, weight, axis=0))
    # With a neuron that reads three columns there is a background.
    wide = ReluNetwork([[1.0, 1, 1, 0], [0, 1, 0, 1]], [0.2, 0], [1.0, 2.0], 0.0)
    for network in (plain_pairwise(), wide):
        one = decompose(network, X, sample_weight=weight)
        other = decompose(network, many)
        np.testing.assert_allclose(one.parts(X), other.parts(X), rtol=1e-9, atol=1e-10)
        assert one.left_over == pytest.approx(other.left_over, abs=1e-9)


def test_neurons_without_a_coefficient_do_not_count():
    network = ReluNetwork(
        [[1.0, 1.0, 1.0], [1.0, 1.0, 0.0]], [0.0, 0.0], [[0.0, 1.0], [1.0, 1.0]], [0.0, 0.0]
    )
    X = np.random.default_rng(0).normal(size=(50, 3))
    assert decompose(network, X, output=0).exact
    assert not decompose(network, X, output=1).exact


def test_blocks_of_rows_change_nothing(monkeypatch):
    network, X = coded_pairwise(), few_values(400)
    found = decompose(network, X)
    whole = found.parts(X)
    monkeypatch.setattr("lifenet.kernels.row_blocks.BLOCK_BYTES", 5_000)
    monkeypatch.setattr("lifenet.explain._exact_parts._BLOCK_ROWS", 7)
    np.testing.assert_allclose(found.parts(X), whole, rtol=1e-12, atol=1e-12)


# Fitted models.


def pairwise_part(model):
    """The network of a model, of the neurons that read two columns at most."""
    network = model.network_
    groups = [(column,) for column in range(network.n_features)]
    reads = FeatureNeurons.of(network, groups).reads
    return network.select(reads.sum(axis=1) <= 2)


def table(n=400, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * X[:, 3]


@pytest.fixture(scope="module")
def regressor():
    X, y = table()
    return LIFERegressor(random_state=0).fit(X, y)


def test_pairwise_neurons_of_a_fitted_model_are_exact(regressor):
    network = pairwise_part(regressor)
    assert isinstance(network, CodedNetwork)
    X, _ = table()
    found = decompose(network, X)
    assert found.exact
    rows = np.vstack([X, 100 * X])
    np.testing.assert_allclose(
        found.parts(rows).sum(axis=1), network.score(rows)[:, 0], rtol=1e-9, atol=1e-9
    )
    assert found.main_share.sum() + found.pair_share.sum() == pytest.approx(1)


@pytest.mark.parametrize("classes", [2, 3])
def test_classes(classes):
    X, score = table(160)
    y = np.array(["low", "mid", "top"][:classes])[
        np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    ]
    model = LIFEClassifier(random_state=0).fit(X, y)
    network = pairwise_part(model)
    outputs = range(network.n_outputs)
    assert len(outputs) == (1 if classes == 2 else 3)
    for output in outputs:
        found = decompose(network, X, output=output)
        total = found.parts(3 * X).sum(axis=1)
        np.testing.assert_allclose(total, network.score(3 * X)[:, output], rtol=1e-9, atol=1e-9)
        whole = decompose(model, X, output=output, max_pairs=2)
        assert not whole.exact
        assert 0 < whole.left_over < 0.5
    if classes == 3:
        with pytest.raises(ValueError, match="output=0 to output=2"):
            decompose(model, X)


def test_a_planted_pair_of_a_fitted_model_is_found(regressor):
    X, _ = table()
    found = decompose(regressor, X)
    frame = found.to_frame()
    assert not found.exact
    assert list(frame["part"][:2]) in (["x1 & x2", "x0"], ["x0", "x1 & x2"])
    assert frame["share"][:2].sum() > 0.8
    assert found.left_over < 0.05
    rows = X[:50]
    assert np.corrcoef(found.pairs(rows)[:, found.names.index("x1 & x2") - 5],
                       rows[:, 1] * rows[:, 2])[0, 1] > 0.9  # fmt: skip


def test_models_pipelines_and_frames_are_read_as_their_network():
    X, y = table()
    single = LLARegressor(n_neurons=4, max_iter=5, random_state=0)
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler(), single).fit(frame, y)
    found = decompose(pipeline, frame)
    assert found.features == ("a", "b", "c", "d")
    scaled = pipeline[0].transform(frame)
    wanted = decompose(pipeline[-1], scaled).parts(scaled)
    np.testing.assert_allclose(found.parts(frame[["d", "c", "b", "a"]]), wanted)
    alone = decompose(pipeline[-1].network_, scaled)
    np.testing.assert_array_equal(alone.parts(scaled), wanted)


# Networks whose neurons read more.


def with_a_wide_neuron(network):
    """The network and a neuron that reads all columns, linear wherever rows may be."""
    return ReluNetwork(
        np.vstack([network.weights, np.full(network.n_features, 0.1)]),
        np.append(network.bias, 1000.0),
        np.vstack([network.beta, np.ones((1, 1))]),
        network.intercept,
        network.linear,
    )


@every_grouping
def test_partial_dependence_finds_the_exact_parts(groups):
    """Pairs to rounding on their grid, and curves but for the draw of the background."""
    network, X = plain_pairwise(), few_values(200)
    linear = ReluNetwork(np.zeros((0, 4)), np.zeros(0), np.zeros((0, 1)), 1000.0, np.full(4, 0.1))
    schema = schema_of(X, groups)
    exact = decompose(ReluNetwork.concatenate([network, linear]), X, schema=schema)
    found = decompose(with_a_wide_neuron(network), X, schema=schema, n_background=2000)
    assert exact.exact
    assert not found.exact
    assert found.names == exact.names
    np.testing.assert_allclose(found.pairs(X), exact.pairs(X), atol=1e-9)
    np.testing.assert_allclose(found.main(X), exact.main(X), atol=0.05 * exact.deviation)
    assert found.intercept == pytest.approx(exact.intercept, abs=0.05 * exact.deviation)
    assert found.left_over < 1e-3
    np.testing.assert_allclose(found.main_share, exact.main_share, atol=0.05)


def test_an_additive_network_leaves_nothing_over():
    generator = np.random.default_rng(0)
    weights = np.zeros((30, 4))
    weights[np.arange(30), np.arange(30) % 4] = generator.normal(size=30)
    network = with_a_wide_neuron(
        ReluNetwork(weights, generator.normal(size=30), generator.normal(size=30), 0.0)
    )
    X = few_values(193)  # 4,000 draws have no value as often as it is
    found = decompose(network, X)
    assert not found.exact
    assert found.surfaces == ()
    assert found.left_over < 1e-12
    np.testing.assert_allclose(found.parts(X).sum(axis=1), network.score(X)[:, 0], rtol=1e-12)


def product_of_three():
    """2 x0 + x0 x1 x2 where all are -1 or 1: a broken line over the sum of the columns."""
    bends = [-3.0, -1.0, 1.0]
    return ReluNetwork(
        np.ones((3, 3)), [-bend for bend in bends], [1.0, -2.0, 2.0], -1.0, [2.0, 0.0, 0.0]
    )


def test_three_columns_acting_together_are_left_over():
    X = np.array(list(itertools.product([-1.0, 1.0], repeat=3)))
    network = product_of_three()
    np.testing.assert_allclose(network.score(X)[:, 0], 2 * X[:, 0] + X.prod(axis=1))
    found = decompose(network, X, n_background=2000)
    assert found.left_over == pytest.approx(0.2, abs=0.02)
    assert found.main_share[0] == pytest.approx(0.8, abs=0.02)
    assert max(*found.main_share[1:], *found.pair_share) < 0.01
    assert found.to_frame().iloc[-1]["part"] == "left over"
    assert found.to_frame().iloc[-1]["share"] == found.left_over


def test_any_piecewise_linear_function_is_read():
    planted = Planted(
        "planted",
        4,
        frozenset({(1, 2)}),
        lambda X: np.abs(X[:, 0]) + X[:, 1] * X[:, 2],
        lambda X: {},
    )
    X = np.random.default_rng(0).normal(size=(400, 4))
    found = decompose(planted, X, n_background=100, max_pairs=3)
    assert [surface.features for surface in found.surfaces] == [("x1", "x2")]
    assert found.left_over < 0.05
    rows = X[np.abs(X).max(axis=1) < 1.5][:50]
    centred = (rows[:, 1] - X[:, 1].mean()) * (rows[:, 2] - X[:, 2].mean())
    np.testing.assert_allclose(found.pairs(rows)[:, 0], centred, atol=0.1)
    assert np.ptp(found.curve("x3").effect) < 1e-9


def test_joint_means_are_means_of_scores():
    """Of the neurons that read both; what reads one of them does not depend on the other."""
    network = coded_pairwise(seed=3)
    generator = np.random.default_rng(0)
    codes = network.coding.n_codes
    wide = CodedNetwork(
        network.coding,
        ReluNetwork(generator.normal(size=(9, codes)), np.zeros(9), np.ones((9, 1)), 0.0),
    )
    rows, values = generator.normal(size=(20, 4)), generator.normal(size=(2, 3))
    neurons = FeatureNeurons.of(wide, [(0,), (1,), (2,), (3,)])
    found = neurons.joint_means(rows, (0, 2), values[0][:, None], values[1][:, None])
    for a, b in itertools.product(range(3), repeat=2):
        moved = rows.copy()
        moved[:, 0], moved[:, 2] = values[0][a], values[1][b]
        assert found[a, b] == pytest.approx(wide.score(moved).mean(), rel=1e-10)


# The result.


def test_frames():
    X = few_values()
    found = decompose(plain_pairwise(), X, schema=list("abcd"))
    frame = found.to_frame()
    assert list(frame.columns) == ["part", "first", "second", "deviation", "share"]
    assert frame["share"].sum() == pytest.approx(1)
    assert (np.diff(frame["share"][:-1]) <= 0).all()
    np.testing.assert_allclose(frame["deviation"] ** 2, frame["share"] * found.deviation**2)
    curve = found.curve_frame("b")
    assert list(curve.columns) == ["value", "label", "effect", "low", "high", "mass"]
    assert list(curve["value"]) == sorted(set(X[:, 1]))
    both = found.pair_frame("c", "a")
    assert set(both.columns) == {"a", "c", "effect"}
    assert found.surface("a", "c") is found.surface("c", "a")
    assert "Parts" not in repr(found)


def test_a_constant_score_has_no_parts_that_matter():
    network = ReluNetwork([[0.0, 0.0]], [3.0], [2.0], 1.0)
    found = decompose(network, np.random.default_rng(0).normal(size=(9, 2)))
    assert (found.intercept, found.deviation, found.left_over) == (7.0, 0.0, 0.0)
    assert not found.main_share.any()


def test_a_column_with_one_value_has_a_pair_of_no_strength():
    network = ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0)
    X = np.column_stack([np.arange(6.0), np.full(6, 2.0)])
    found = decompose(network, X)
    assert found.surfaces[0].strength == 0
    rows = np.array([[1.0, 5.0], [-4.0, 3.0]])
    np.testing.assert_allclose(found.parts(rows).sum(axis=1), [6.0, 0.0], atol=1e-12)


def test_one_column_has_no_pairs():
    found = decompose(ReluNetwork([[1.0]], [0.0], [1.0], 0.0), [[-1.0], [1.0]])
    assert found.names == ("intercept", "x0")
    assert found.pairs([[3.0]]).shape == (1, 0)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("max_pairs", -1, ValueError),
        ("max_pairs", 2.5, TypeError),
        ("max_pairs", True, TypeError),
        ("n_background", 0, ValueError),
        ("n_background", "many", TypeError),
    ],
)
def test_wrong_counts_are_refused(name, value, error):
    with pytest.raises(error, match=name):
        decompose(plain_pairwise(), few_values(), **{name: value})


def test_wrong_names_and_rows_are_refused():
    found = decompose(plain_pairwise(), few_values(), schema=list("abcd"))
    with pytest.raises(KeyError, match=r"no feature 'z'; there are a, b, c, d"):
        found.curve_frame("z")
    with pytest.raises(KeyError, match="max_pairs"):
        found.surface("a", "z")
    with pytest.raises(KeyError, match="max_pairs"):
        found.surface("a", "a")
    with pytest.raises(ValueError, match="shape"):
        found.main(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="NaN"):
        found.pairs([[0, 0, np.nan, 0]])
    with pytest.raises(TypeError, match="read a network"):
        decompose(StandardScaler(), few_values())
