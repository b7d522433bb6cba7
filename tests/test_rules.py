"""Rules as neurons: boxes against trees, neurons against boxes, and their joint refinement."""

import dataclasses

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

import lifenet.solvers.descent as module
from lifenet import ReluNetwork
from lifenet.blocks import ArrayRows
from lifenet.encoding import QuantileCoding
from lifenet.estimators._codes import coded_columns
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.rules import Boxes, CodedColumns, grow_boxes, rule_layer
from lifenet.rules.neurons import smooth_layer
from lifenet.solvers.base import Problem, Status
from lifenet.solvers.descent import Descent

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
named = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)

BENT, BINARY, CONSTANT = (0, 1, 2), (3, 4), 5


def few_valued(n=400, seed=0):
    """Three columns of few integers, unevenly apart, two of two values and a constant one."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.integers(0, 8, n),
            rng.choice([0.0, 1.0, 4.0, 9.0, 100.0], n),
            rng.integers(0, 3, n),
            rng.integers(0, 2, n),
            rng.choice([-3.0, 5.0], n),
            np.full(n, 7.0),
        ]
    ).astype(float)


def target_of(X, loss=LOSSES[0], seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X))
    score = X[:, 0] * (X[:, 1] > 2) - 4 * X[:, 3] + 2 * (X[:, 2] == 1) * (X[:, 4] > 0) + noise
    if isinstance(loss, SquaredError):
        return score
    edges = [0.0] if isinstance(loss, Logistic) else [-1.0, 2.0]
    return np.searchsorted(edges, score).astype(float)


def activations(theta, inputs):
    return np.maximum(inputs @ theta.T, 0.0)


@dataclasses.dataclass
class Coded:
    """A table, its codes, and what the codes say of it."""

    X: np.ndarray
    coding: object
    rows: ArrayRows
    columns: CodedColumns

    @classmethod
    def of(cls, X, weight=None, dtype=np.float64, n_bins=64):
        coding = QuantileCoding("full", n_bins=n_bins, min_values=2).learn(X, weight)
        codes = coding.encode(X).astype(dtype)
        rows = ArrayRows.of(codes, np.zeros(len(X)), weight).standardised()
        return cls(X, coding, rows, coded_columns(coding, rows))

    def inputs(self, X=None):
        """Standardised codes of any rows, and one."""
        codes = self.coding.encode(self.X if X is None else X).astype(self.rows.X.dtype)
        scaling = self.rows.scaling
        return np.column_stack([(codes - scaling.center) / scaling.scale, np.ones(len(codes))])

    def values(self):
        return self.inputs()[:, self.columns.value]


@pytest.fixture(scope="module")
def few():
    return Coded.of(few_valued())


# ---------------------------------------------------------------------- trees


SETTINGS = {"n_trees": 9, "n_leaves": 6, "learning_rate": 0.3, "min_leaf": 8}


def grow(values, target, loss=LOSSES[0], weight=None, columns=0.5, seed=3, **settings):
    weight = np.ones(len(values)) if weight is None else weight
    chosen = {**SETTINGS, "columns": columns, "seed": seed, **settings}
    return grow_boxes(values, target, weight, loss, **chosen)


def same_model(values, target, loss=LOSSES[0], n_rounds=9, columns=0.5, seed=3):
    """The trees that the boxes should come from."""
    kind = (
        HistGradientBoostingRegressor
        if isinstance(loss, SquaredError)
        else HistGradientBoostingClassifier
    )
    return kind(
        max_iter=n_rounds,
        learning_rate=0.3,
        max_leaf_nodes=6,
        min_samples_leaf=8,
        max_features=columns,
        early_stopping=False,
        random_state=seed,
    ).fit(values, target, np.ones(len(values)))


def leaves_of(nodes, number=0, path=()):
    """Leaf values of a tree with the tests on the way, each (column, threshold, is left)."""
    node = nodes[number]
    if node["is_leaf"]:
        return [(path, float(node["value"]))]
    column, threshold = int(node["feature_idx"]), float(node["num_threshold"])
    return [
        leaf
        for side, left in (("left", True), ("right", False))
        for leaf in leaves_of(nodes, int(node[side]), (*path, (column, threshold, left)))
    ]


def inside(boxes, values):
    """Which rows lie in which boxes."""
    return np.array(
        [
            np.all((low < values) & (values <= high), axis=1)
            for low, high in zip(boxes.lower, boxes.upper, strict=True)
        ]
    )


def reached(path, values):
    """Rows that take this way through a tree."""
    found = np.ones(len(values), dtype=bool)
    for column, threshold, left in path:
        found &= (values[:, column] <= threshold) == left
    return found


class TestBoxes:
    @named
    def test_they_are_the_leaves_and_every_row_is_in_one_of_each_tree(self, few, loss):
        values, target = few.values(), target_of(few.X, loss)
        n_rounds = 3 if loss.n_outputs == 3 else 9
        model = same_model(values, target, loss, n_rounds)
        trees = [leaves_of(tree.nodes) for stage in model._predictors for tree in stage]
        assert len(trees) == 9  # several classes share them
        trees = [leaves for leaves in trees if len(leaves) > 1]
        held = inside(grow(values, target, loss), values)
        np.testing.assert_array_equal(held.sum(axis=0), len(trees))
        ends = np.cumsum([len(leaves) for leaves in trees])
        assert len(held) == ends[-1]
        for leaves, part in zip(trees, np.split(held, ends[:-1]), strict=True):
            np.testing.assert_array_equal(part.sum(axis=0), 1)
            expected = {reached(path, values).tobytes() for path, _ in leaves}
            assert {row.tobytes() for row in part} == expected

    def test_they_follow_from_the_seed(self, few):
        values, target = few.values(), target_of(few.X)
        one, two, other = (grow(values, target, seed=seed) for seed in (3, 3, 4))
        np.testing.assert_array_equal(one.lower, two.lower)
        np.testing.assert_array_equal(one.upper, two.upper)
        assert one.lower.shape != other.lower.shape or not np.array_equal(one.lower, other.lower)

    def test_there_are_few_trees_but_one_at_least(self, few):
        boxes = grow(few.values(), target_of(few.X, LOSSES[2]), LOSSES[2], n_trees=2, n_leaves=2)
        assert len(boxes) == 6  # one round of three trees

    def test_rows_of_weight_zero_count_as_absent(self, few):
        values, target = few.values(), target_of(few.X)
        weight = (np.arange(len(values)) % 3 > 0).astype(float)
        counted = weight > 0
        strange = np.where(counted, target, 1e3)
        with_zeros = grow(values, strange, weight=weight, columns=1.0, min_leaf=1)
        without = grow(values[counted], target[counted], columns=1.0, min_leaf=1)
        np.testing.assert_array_equal(with_zeros.lower, without.lower)
        np.testing.assert_array_equal(with_zeros.upper, without.upper)
        plain = grow(values, target, columns=1.0, min_leaf=1)
        assert not np.array_equal(plain.lower, without.lower)

    def test_a_tree_that_could_not_split_has_none(self, few):
        values = few.values()
        for boxes in (
            grow(values, np.zeros(len(values))),
            grow(values, target_of(few.X), min_leaf=len(values)),
        ):
            assert len(boxes) == 0
            assert boxes.lower.shape == boxes.upper.shape == (0, 6)
            layer = rule_layer(boxes, few.columns)
            assert layer.n_neurons == 0
            assert layer.theta.shape == (0, few.columns.n_codes + 1)
            assert layer.free.shape == (0, few.columns.n_codes)
        # The first trees explain all to rounding; the others have nothing to split for.
        signs = np.repeat([-1.0, 1.0], 8)
        first = grow(signs[:, None], signs, columns=1.0, learning_rate=1.0)
        assert 2 <= len(first) < 2 * SETTINGS["n_trees"]


# ---------------------------------------------------------------------- codes


class TestCodedColumns:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_they_are_what_the_codes_say(self, dtype, weighted):
        X = few_valued()
        weight = np.arange(400) % 4 / 2.0 if weighted else None
        coded = Coded.of(X, weight, dtype)
        columns, codes = coded.columns, coded.coding.encode(X)
        mass = np.ones(400) if weight is None else weight
        mean = np.average(codes, axis=0, weights=mass)
        scale = np.sqrt(np.average((codes - mean) ** 2, axis=0, weights=mass))
        scale[scale == 0] = 1.0
        tolerance = 1e-12 if dtype is np.float64 else 1e-6
        assert columns.n_columns == 6
        assert columns.n_codes == codes.shape[1] == (2 + 7) + (2 + 4) + (2 + 2) + 1 + 1 + 1
        first = [0, 9, 15, 19, 20, 21]
        assert columns.value.tolist() == first
        assert columns.smooth.tolist() == [0, 1, 9, 10, 15, 16, 19, 20, 21]
        for j in (*BENT, *BINARY):
            levels = np.unique(X[:, j])
            rows = np.array([np.flatnonzero(X[:, j] == level)[0] for level in levels])
            heights = ((codes - mean) / scale)[np.ix_(rows, columns.ramps[j])]
            value = ((codes - mean) / scale)[rows, first[j]]
            np.testing.assert_allclose(columns.knots[j], value, atol=tolerance)
            assert len(columns.ramps[j]) == len(levels) - 1
            # Ramp r is low up to its knot and high from the next one on.
            low, high = columns.zero[columns.ramps[j]], columns.one[columns.ramps[j]]
            above = np.arange(len(levels))[:, None] > np.arange(len(levels) - 1)
            np.testing.assert_allclose(heights, np.where(above, high, low), atol=tolerance)
        for j in BENT:
            assert columns.ramps[j].tolist() == list(
                range(first[j] + 2, first[j] + 2 + len(columns.ramps[j]))
            )
        assert len(columns.ramps[CONSTANT]) == len(columns.knots[CONSTANT]) == 0
        assert columns.one[21] > columns.zero[21]
        # Every row's value is a knot, and no other number near it.
        for j in (*BENT, *BINARY):
            assert np.isin(coded.values()[:, j], columns.knots[j]).all()

    def test_bins_are_half_open_and_the_outer_ones_endless(self):
        columns = one_column(4)
        heights = np.array([-9.0, 0.0, 0.5, 1.0, 1.5, 2.999, 3.0, 3.5, 4.0, 99.0])
        assert columns.bins(0, heights).tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_threshold_at_a_frequent_value_is_told_apart(self, dtype, seed):
        # Trees split at a value itself where it fills a bin of theirs, not half-way to the next.
        rng = np.random.default_rng(seed)
        x = rng.normal(size=1000)
        x[::2] = often = 0.3 * rng.normal()
        coded = Coded.of(x[:, None], dtype=dtype)
        values = coded.values()
        boxes = grow(values, (x > often).astype(float), n_trees=1, n_leaves=2, columns=1.0)
        assert often in x
        assert boxes.upper.min() == values[0, 0]
        layer = rule_layer(boxes, coded.columns)
        below, above = activations(layer.theta, coded.inputs()[:1])[0]
        assert (below, above) == pytest.approx((1.0, 0.0), abs=1e-6)


# ---------------------------------------------------------------------- neurons


def one_column(n_bins):
    """A column whose knots are 0, 1, ..., coded by its value and its ramps as they are."""
    return CodedColumns(
        n_codes=n_bins + 1,
        value=np.array([0]),
        smooth=np.array([0]),
        ramps=(np.arange(1, n_bins + 1),),
        knots=(np.arange(n_bins + 1.0),),
        zero=np.zeros(n_bins + 1),
        one=np.ones(n_bins + 1),
    )


def at(columns, x):
    """Inputs of such a column."""
    x = np.asarray(x, dtype=float)
    ramps = np.clip(x[:, None] - np.arange(columns.n_codes - 1), 0, 1)
    return np.column_stack([x, ramps, np.ones(len(x))])


def boxes_by_hand(few):
    """Boxes with a lower end, an upper one, both, and in several columns, ends half-way."""
    half = [(knots[1:] + knots[:-1]) / 2 for knots in few.columns.knots]
    lower, upper = np.full((9, 6), -np.inf), np.full((9, 6), np.inf)
    lower[0, 0] = half[0][2]
    upper[1, 0] = half[0][5]
    lower[2, 0], upper[2, 0] = half[0][1], half[0][2]  # one value
    lower[3, 1], upper[3, 1], upper[3, 2] = half[1][0], half[1][3], half[2][0]
    lower[4, 3] = half[3][0]
    upper[5, 4] = half[4][0]
    lower[6, 3], upper[6, 4], lower[6, 0] = half[3][0], half[4][0], half[0][0]
    lower[7, 2], upper[7, 2] = half[2][0], half[2][1]
    lower[8, :5] = [one[0] for one in half[:5]]
    return Boxes(lower, upper)


class TestRuleLayer:
    def test_boxes_by_hand_are_indicators(self, few):
        boxes = boxes_by_hand(few)
        for k in range(len(boxes)):
            one = Boxes(boxes.lower[k : k + 1], boxes.upper[k : k + 1])
            layer = rule_layer(one, few.columns)
            held = inside(one, few.values())[0]
            assert 0 < held.sum() < len(held)
            found = activations(layer.theta, few.inputs())[:, 0]
            np.testing.assert_allclose(found, held, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_leaves_are_indicators_and_different_boxes_come_once(self, dtype):
        few = Coded.of(few_valued(seed=5), dtype=dtype)
        boxes = grow(few.values(), target_of(few.X), n_trees=30)
        layer = rule_layer(boxes, few.columns)
        held = inside(boxes, few.values())
        different = {(*low, *high) for low, high in zip(boxes.lower, boxes.upper, strict=True)}
        assert layer.n_neurons == len(different) < len(boxes)
        found = activations(layer.theta, few.inputs()).T
        np.testing.assert_allclose(found, np.round(found), atol=1e-9)
        mine = {row.tobytes() for row in np.round(found).astype(bool)}
        assert mine == {row.tobytes() for row in held}

    def test_boosted_trees_are_a_network(self, few):
        values, target = few.values(), target_of(few.X)
        model = same_model(values, target, n_rounds=40)
        leaves = [leaf for (tree,) in model._predictors for leaf in leaves_of(tree.nodes)]
        lower, upper = np.full((len(leaves), 6), -np.inf), np.full((len(leaves), 6), np.inf)
        for k, (path, _) in enumerate(leaves):
            for column, threshold, left in path:
                if left:
                    upper[k, column] = min(upper[k, column], threshold)
                else:
                    lower[k, column] = max(lower[k, column], threshold)
        layer = rule_layer(Boxes(lower, upper), few.columns)
        beta = np.zeros(layer.n_neurons)
        for k, (_, value) in enumerate(leaves):
            alone = rule_layer(Boxes(lower[k : k + 1], upper[k : k + 1]), few.columns)
            (place,) = np.flatnonzero((layer.theta == alone.theta).all(axis=1))
            beta[place] += value
        found = activations(layer.theta, few.inputs()) @ beta + model._baseline_prediction.item()
        np.testing.assert_allclose(found, model.predict(values), atol=1e-9)

    def test_between_the_knots_they_rise_and_fall_without_a_jump(self, few):
        layer = rule_layer(grow(few.values(), target_of(few.X), n_trees=30), few.columns)
        low, high = few.X.min(axis=0), few.X.max(axis=0)
        gaps = np.array([np.diff(np.unique(column)).min(initial=8.0) for column in few.X.T])
        rng = np.random.default_rng(2)
        between = 0
        for _ in range(5):
            start, end = rng.uniform(low, high, size=(2, 6))
            way = start + np.linspace(0, 1, 200)[:, None] * (end - start)
            found = activations(layer.theta, few.inputs(way))
            assert found.min() >= 0
            assert found.max() <= 1 + 1e-12
            most = (np.abs(end - start) / 199 / gaps).sum()  # no ramp is steeper than its gap
            assert np.abs(np.diff(found, axis=0)).max() <= most + 1e-12
            between += np.sum((found > 0.01) & (found < 0.99))
        assert between > 100

    def test_weights_are_free_in_the_ramps_of_the_columns_of_the_box(self, few):
        boxes = boxes_by_hand(few)
        columns = few.columns
        for low, high in zip(boxes.lower, boxes.upper, strict=True):
            (free,) = rule_layer(Boxes(low[None], high[None]), columns).free
            asked = np.flatnonzero(np.isfinite(low) | np.isfinite(high))
            expected = np.sort(np.concatenate([columns.ramps[j] for j in asked]))
            np.testing.assert_array_equal(np.flatnonzero(free), expected)

    def test_all_other_weights_are_zero(self, few):
        layer = rule_layer(grow(few.values(), target_of(few.X)), few.columns)
        assert not layer.theta[:, :-1][~layer.free].any()
        assert (layer.theta[:, :-1] != 0).any(axis=1).all()

    @pytest.mark.parametrize("n_bins", [2, 3, 5])
    def test_both_ends_in_one_bin_leave_one_knot(self, n_bins):
        columns = one_column(n_bins)
        for b in range(n_bins):
            layer = rule_layer(Boxes(np.array([[b + 0.2]]), np.array([[b + 0.6]])), columns)
            found = activations(layer.theta, at(columns, np.arange(n_bins + 1)))[:, 0]
            peak = b + 1 if b + 1 < n_bins else b  # in the last bin the lower end moves back
            np.testing.assert_allclose(found, np.arange(n_bins + 1) == peak, atol=1e-12)
            assert layer.free[0].tolist() == [False] + n_bins * [True]

    def test_a_single_bin_keeps_the_upper_end(self):
        columns = one_column(1)
        layer = rule_layer(Boxes(np.array([[0.2]]), np.array([[0.6]])), columns)
        found = activations(layer.theta, at(columns, [0.0, 0.25, 1.0]))[:, 0]
        np.testing.assert_allclose(found, [1.0, 0.75, 0.0], atol=1e-12)

    def test_boxes_in_the_same_bins_are_one(self):
        columns = one_column(4)
        boxes = Boxes(np.array([[0.2], [0.7], [0.7]]), np.array([[2.1], [2.9], [3.1]]))
        layer = rule_layer(boxes, columns)
        assert layer.n_neurons == 2
        found = activations(layer.theta, at(columns, np.arange(5.0))).T
        assert sorted(found.round(9).tolist()) == [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0]]


class TestSmoothLayer:
    def test_its_neurons_are_those_of_the_networks(self, few):
        rng = np.random.default_rng(0)
        n_smooth = len(few.columns.smooth)
        networks = [random_network(rng, n, n_smooth) for n in (3, 1, 4)]
        layer = smooth_layer(networks, few.columns)
        rows = few.rows.with_columns(few.columns.smooth)
        inner = rows.collect(lambda block: block.inputs[:-1].copy()).T
        expected = np.hstack([network.hidden(inner) for network in networks])
        found = activations(layer.theta, few.inputs())
        np.testing.assert_allclose(found, expected, atol=1e-12)
        moved = np.zeros(few.columns.n_codes, dtype=bool)
        moved[few.columns.smooth] = True
        np.testing.assert_array_equal(layer.free, np.tile(moved, (8, 1)))

    def test_no_networks_make_no_neurons_and_join_others(self, few):
        empty = smooth_layer([], few.columns)
        assert empty.n_neurons == 0
        rules = rule_layer(boxes_by_hand(few), few.columns)
        some = smooth_layer(
            [random_network(np.random.default_rng(0), 2, len(few.columns.smooth))], few.columns
        )
        joined = rules.joined(empty).joined(some)
        assert joined.n_neurons == rules.n_neurons + 2
        np.testing.assert_array_equal(joined.theta[:-2], rules.theta)
        np.testing.assert_array_equal(joined.theta[-2:], some.theta)
        np.testing.assert_array_equal(joined.free, np.vstack([rules.free, some.free]))


# ---------------------------------------------------------------------- descent


def random_network(rng, n_neurons=6, n_features=4, n_outputs=1):
    return ReluNetwork(
        rng.normal(size=(n_neurons, n_features)),
        rng.normal(size=n_neurons),
        rng.normal(size=(n_neurons, n_outputs)),
        rng.normal(size=n_outputs),
    )


def random_problem(rng, loss, n=150, weighted=False):
    X = rng.normal(size=(n, 4))
    if isinstance(loss, SquaredError):
        y = np.sin(X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + 0.1 * rng.normal(size=n)
    else:
        y = rng.integers(max(loss.n_outputs, 2), size=n).astype(float)
    weight = rng.uniform(0.2, 3.0, n) if weighted else None
    return Problem(ArrayRows.of(X, y, weight), loss)


def mean_loss(problem, network):
    score, loss = network.score(problem.rows.X), problem.loss
    values = loss.value(problem.rows.target, score[:, 0] if loss.n_outputs == 1 else score)
    return np.average(values, weights=problem.rows.weight)


def everything(network):
    return np.ones(network.weights.shape, dtype=bool)


def seeded(number=0):
    return np.random.SeedSequence(number)


def planted():
    """Rows of a network, other rows of it, and the same network disturbed."""
    rng = np.random.default_rng(11)
    truth = random_network(rng)
    learn, judge = (
        Problem(ArrayRows.of(X, truth.score(X)[:, 0]), SquaredError())
        for X in (rng.normal(size=(600, 4)), rng.normal(size=(300, 4)))
    )
    disturbed = ReluNetwork(
        truth.weights + 0.1 * rng.normal(size=truth.weights.shape),
        truth.bias + 0.1 * rng.normal(size=6),
        truth.beta,
        truth.intercept,
    )
    return learn, judge, disturbed


class TestDescent:
    @named
    @pytest.mark.parametrize("few", [1, 8])
    @pytest.mark.parametrize("weighted", [False, True])
    def test_gradient_is_that_of_differences(self, loss, weighted, few, monkeypatch):
        rng = np.random.default_rng(0)
        problem = random_problem(rng, loss, 60, weighted)
        network = random_network(rng, n_outputs=loss.n_outputs)
        # Codes 0 and 1 enter the same neurons, 2 and 3 others; two weights stand still.
        free = np.ones((6, 4), dtype=bool)
        free[:2, :2] = free[3:, 2] = False
        weights = np.where(free, network.weights, 0.0)
        weights[0, 0] = weights[4, 2] = 1.0
        network = ReluNetwork(weights, network.bias, network.beta, network.intercept)
        monkeypatch.setattr(module, "_FEW_CODES", few)
        parts = module._parts(weights, free)
        now = module._Parameters.of(network, parts)
        now.vector = now.vector.astype(np.float64)
        table = module._Table.of(problem, parts)
        table.inputs = tuple(problem.rows.X[:, part.codes] for part in parts)
        batch = rng.permutation(60)[:25]
        weight = problem.rows.weight / problem.rows.weight.mean()

        def value(vector):
            moved = dataclasses.replace(now, vector=vector).network()
            score = moved.score(problem.rows.X[batch])
            each = loss.value(
                problem.rows.target[batch], score[:, 0] if loss.n_outputs == 1 else score
            )
            return float(np.mean(weight[batch] * each))

        expected = approx_fprime(now.vector, value, 1e-7)
        start = 0
        for part in parts:  # of weights that may not move
            inside = slice(start, start + np.prod(part.shape))
            expected[inside] *= free[np.ix_(part.neurons, part.codes)].ravel()
            start = inside.stop
        found = module._gradient(now, table.take(batch), loss)
        np.testing.assert_allclose(found, expected, atol=5e-6)

    def test_neurons_without_weights_are_constants(self):
        learn, judge, start = planted()
        still = ReluNetwork(np.zeros((6, 4)), np.ones(6), start.beta, start.intercept)
        found = Descent(30, learning_rate=0.05).refine(
            learn, judge, still, np.zeros((6, 4), dtype=bool), seeded()
        )
        assert not found.network.weights.any()
        assert found.loss < found.history[0].loss

    def test_codes_of_the_same_neurons_are_one_part(self, monkeypatch):
        monkeypatch.setattr(module, "_FEW_CODES", 2)
        free = np.zeros((3, 6), dtype=bool)
        free[np.ix_([0, 2], [1, 4])] = True
        free[1, 0] = free[0, 5] = True
        weights = np.zeros((3, 6))
        weights[1, 0] = weights[1, 5] = 1.0
        many, few = module._parts(weights, free)
        np.testing.assert_array_equal(many.codes, [1, 4])
        np.testing.assert_array_equal(many.neurons, [0, 2])
        assert many.moves is None
        np.testing.assert_array_equal(few.codes, [0, 5])  # 2 and 3 enter none
        np.testing.assert_array_equal(few.moves, [[0, 1], [1, 0]])

    @named
    def test_balancing_changes_no_score(self, loss):
        rng = np.random.default_rng(1)
        network = random_network(rng, n_outputs=loss.n_outputs)
        weights, beta = network.weights.copy(), network.beta.copy()
        weights[0], beta[1] = 0.0, 0.0  # a constant, and a neuron without effect
        network = ReluNetwork(weights, network.bias, beta, network.intercept)
        X = rng.normal(size=(40, 4))
        parts = module._parts(weights, everything(network))
        again = module._Parameters.of(network, parts).network()
        np.testing.assert_allclose(again.score(X), network.score(X), atol=1e-5)

    @named
    def test_readings_are_the_loss_of_the_rows_apart(self, loss, monkeypatch):
        monkeypatch.setattr(module, "_CELLS", 1)  # several parts
        rng = np.random.default_rng(2)
        learn, judge = (random_problem(rng, loss, n, weighted=True) for n in (80, 150))
        start = random_network(rng, n_outputs=loss.n_outputs)
        found = Descent(40, learning_rate=0.02, batch_size=20).refine(
            learn, judge, start, everything(start), seeded()
        )
        losses = [row.loss for row in found.history]
        assert losses[0] == pytest.approx(mean_loss(judge, start), rel=1e-5)
        assert found.loss == min(losses)
        assert found.loss == pytest.approx(mean_loss(judge, found.network), rel=1e-5)
        assert [row.iteration for row in found.history] == list(range(0, 41, 5))
        assert found.status is Status.COMPLETED

    def test_it_finds_a_disturbed_network_again(self):
        learn, judge, start = planted()
        found = Descent(300, max_epochs=200, learning_rate=5e-3, batch_size=64).refine(
            learn, judge, start, everything(start), seeded()
        )
        assert found.history[-1].iteration == 300
        assert mean_loss(judge, found.network) < 0.1 * mean_loss(judge, start)

    def test_the_best_reading_is_kept_though_later_ones_are_worse(self):
        # The rows to learn from lie two above the network, the rows apart only one.
        rng = np.random.default_rng(4)
        start = random_network(rng)
        X = rng.normal(size=(200, 4))
        learn, judge = (
            Problem(ArrayRows.of(X, start.score(X)[:, 0] + above), SquaredError())
            for above in (2.0, 1.0)
        )
        found = Descent(100, learning_rate=0.05, n_readings=20).refine(
            learn, judge, start, everything(start), seeded()
        )
        losses = [row.loss for row in found.history]
        assert 0 < np.argmin(losses) < len(losses) - 1
        assert losses[-1] > 2 * min(losses)
        assert mean_loss(judge, found.network) == pytest.approx(min(losses), rel=1e-5)

    def test_weights_that_are_not_free_do_not_move(self):
        learn, judge, start = planted()
        rng = np.random.default_rng(5)
        free = rng.random(start.weights.shape) < 0.5
        free[0], free[1] = False, True
        weights = np.where(rng.random(free.shape) < 0.3, 0.0, start.weights)
        start = ReluNetwork(weights, start.bias, start.beta, start.intercept)
        found = Descent(60, learning_rate=5e-3, batch_size=64).refine(
            learn, judge, start, free, seeded()
        )
        assert found.network is not start
        after = found.network.weights
        assert not after[~free & (weights == 0)].any()
        assert after[free & (weights == 0)].all()
        for k in range(6):
            kept = ~free[k] & (weights[k] != 0)
            if kept.sum() > 1:  # the same up to the neuron's own unit
                ratio = after[k, kept] / weights[k, kept]
                assert ratio[0] > 0
                np.testing.assert_allclose(ratio, ratio[0], rtol=1e-6)
        moved = ~np.isclose(after / after[:, :1], weights / weights[:, :1], rtol=1e-4)
        assert moved[1, 1:].all()
        # Biases and coefficients always move.
        balanced = module._Parameters.of(start, module._parts(weights, free)).network()
        assert (found.network.bias != balanced.bias).all()
        assert (found.network.beta != balanced.beta).all()

    def test_no_steps_or_no_neurons_give_back_the_network(self):
        learn, judge, start = planted()
        none = Descent(0).refine(learn, judge, start, everything(start), seeded())
        empty = random_network(np.random.default_rng(0), n_neurons=0)
        nobody = Descent().refine(learn, judge, empty, everything(empty), seeded())
        for found, network in ((none, start), (nobody, empty)):
            assert found.network is network
            assert found.status is Status.COMPLETED
            assert len(found.history) == 1
            assert found.loss == pytest.approx(mean_loss(judge, network), rel=1e-5)

    @named
    def test_where_the_rows_apart_do_not_gain_nothing_changes(self, loss):
        rng = np.random.default_rng(6)
        learn, judge = (random_problem(rng, loss) for _ in range(2))
        start = random_network(rng, n_outputs=loss.n_outputs)
        if isinstance(loss, SquaredError):  # it fits already
            near = start.score(judge.rows.X)[:, 0] + 0.1 * rng.normal(size=150)
            judge = Problem(judge.rows.with_target(near), loss)
        found = Descent(100, learning_rate=100.0).refine(
            learn, judge, start, everything(start), seeded()
        )
        assert found.network is start
        assert len(found.history) > 2
        assert found.loss == found.history[0].loss

    def test_what_is_no_number_is_never_kept(self, monkeypatch):
        learn, judge, start = planted()
        readings = iter([1.0, np.nan, np.inf, 0.5, np.nan])
        monkeypatch.setattr(module, "_mean_loss", lambda *_: next(readings))
        found = Descent(4, n_readings=4).refine(learn, judge, start, everything(start), seeded())
        assert [row.loss for row in found.history] == [1.0, np.inf, np.inf, 0.5, np.inf]
        assert found.loss == 0.5
        assert found.network is not start

    def test_it_stops_in_time(self):
        learn, judge, start = planted()
        found = Descent().refine(learn, judge, start, everything(start), seeded(), deadline=0.0)
        assert found.status is Status.TIME_LIMIT
        assert [row.iteration for row in found.history] == [0, 1]

    def test_it_follows_from_the_seed(self):
        learn, judge, start = planted()
        one, two, other = (
            Descent(30, learning_rate=2e-3)
            .refine(learn, judge, start, everything(start), seeded(number))
            .network
            for number in (0, 0, 1)
        )
        for name in ("weights", "bias", "beta", "intercept"):
            np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
        assert not np.array_equal(one.weights, other.weights)

    def test_scaled_weights_change_nothing(self):
        rng = np.random.default_rng(7)
        problems = [random_problem(rng, Logistic(), weighted=True) for _ in range(2)]
        start = random_network(rng)
        heavy = [
            Problem(dataclasses.replace(one.rows, weight=8 * one.rows.weight), one.loss)
            for one in problems
        ]
        one, two = (
            Descent(50, learning_rate=5e-3).refine(*pair, start, everything(start), seeded())
            for pair in (problems, heavy)
        )
        np.testing.assert_array_equal(one.network.weights, two.network.weights)

    def test_each_pass_holds_every_row_once(self):
        batches = module._batches(103, 20, np.random.default_rng(0))
        passes = [np.concatenate([next(batches) for _ in range(5)]) for _ in range(2)]
        for rows in passes:
            np.testing.assert_array_equal(np.sort(rows), np.arange(103))
        assert not np.array_equal(*passes)
        assert len(next(module._batches(3, 20, np.random.default_rng(0)))) == 3

    def test_steps_are_enough_passes_within_bounds(self):
        descent = Descent(400, max_epochs=12, batch_size=100)
        assert descent.steps(2000) == 240
        assert descent.steps(10**6) == 400
        assert descent.steps(50) == 100
        assert Descent(30).steps(50) == 30
        assert Descent(0).steps(10**6) == 0

    def test_the_rate_rises_at_first_and_then_falls_to_nothing(self):
        descent = Descent(learning_rate=0.5)
        rates = np.array([descent.rate(step, 400) for step in range(400)])
        assert rates[0] == pytest.approx(0.5 / 50)
        assert rates.argmax() == 49
        assert np.all(np.diff(rates[:50]) > 0)
        assert np.all(np.diff(rates[49:]) < 0)
        assert rates[200] == pytest.approx(0.25)
        assert 0 < rates[-1] < 1e-4

    @pytest.mark.parametrize(
        "wrong",
        [
            {"n_steps": -1},
            {"n_steps": 1.5},
            {"max_epochs": 0},
            {"learning_rate": 0.0},
            {"batch_size": 0},
            {"n_readings": 0},
        ],
        ids=str,
    )
    def test_bad_settings_are_named(self, wrong):
        (name,) = wrong
        with pytest.raises(ValueError, match=f"The '{name}' parameter"):
            Descent(**wrong).check()

    def test_settings_are_cloned_and_good_ones_pass(self):
        Descent().check()
        assert clone(Descent(7)).set_params(batch_size=3) == Descent(7, batch_size=3)


def test_many_rows_get_more_steps_where_passes_are_asked_for():
    descent = Descent(n_steps=600, max_epochs=30, min_epochs=10)
    assert [descent.steps(n) for n in (100, 14_000, 40_000)] == [100, 600, 10 * round(40_000 / 256)]
    assert dataclasses.replace(descent, min_epochs=0).steps(40_000) == 600
    assert dataclasses.replace(descent, n_steps=0).steps(40_000) == 0
