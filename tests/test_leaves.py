"""Leaf neurons: neurons against leaves, and what the codes of the columns say of both."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from coded_tables import SQUARED, Coded, few_valued, grow, inside, target_of
from lifenet.data.coded_rows import CodedRows
from lifenet.data.codes import QuantileCoding
from lifenet.data.columns import CodedColumns, coded_columns
from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.run import Run
from lifenet.losses import Multinomial
from lifenet.neurons.hierarchy import Hierarchy, successful
from lifenet.neurons.layer import Layer
from lifenet.neurons.leaves import Leaves, _spans, leaf_layer, sample_of
from lifenet.neurons.sampling import NeuronProjection
from lifenet.neurons.trees import LeafBounds, TreeSettings, grow_trees
from lifenet.solvers.lla import LLA
from oracles import stored, theta_of

BENT, BINARY, CONSTANT = (0, 1, 2), (3, 4), 5


def activations(layer, inputs):
    return np.maximum(inputs @ theta_of(layer).T, 0.0)


def trainable(layer):
    return stored(layer.neurons.weights)


@pytest.fixture(scope="module")
def few():
    return Coded.of(few_valued())


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
        tolerance = 1e-12  # few integers are exact in single precision, and codes are in double
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

    @pytest.mark.parametrize("column", [*BENT, *BINARY])
    def test_what_trees_see_of_a_row_on_a_knot_is_that_knot(self, few, column):
        seen = sample_of(few.problem(np.zeros(400)), few.columns).values[:, column]
        assert np.isin(seen, few.columns.knots[column]).all()

    def test_bins_are_half_open_and_the_outer_ones_endless(self):
        columns = one_column(4)
        heights = np.array([-9.0, 0.0, 0.5, 1.0, 1.5, 2.999, 3.0, 3.5, 4.0, 99.0])
        assert columns.bins(0, heights).tolist() == [0, 0, 0, 1, 1, 2, 3, 3, 3, 3]

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    @pytest.mark.parametrize("seed", [0, 1])
    def test_a_threshold_at_a_frequent_value_is_told_from_the_next(self, dtype, seed):
        # Trees split at a value itself where it fills a bin of theirs, not half-way to the next.
        rng = np.random.default_rng(seed)
        x = rng.normal(size=1000)
        x[::2] = often = 0.3 * rng.normal()
        coded = Coded.of(x[:, None], dtype=dtype)
        values = coded.values()
        settings = {"max_leaf_nodes": 2, "max_features": 1.0}
        leaves, _ = grow(values, (x > often).astype(float), n_trees=1, **settings).leaves()
        assert often in x
        assert leaves.upper.min() == values[0, 0]
        layer = leaf_layer(leaves, coded.columns)
        below, above = activations(layer, coded.inputs()[:1])[0]
        assert (below, above) == pytest.approx((1.0, 0.0), abs=1e-6)


# ---------------------------------------------------------------------- neurons


def one_column(n_bins):
    """A column whose knots are 0, 1, ..., coded by its value and its ramps unchanged."""
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


def leaves_by_hand(few):
    """Leaves with a lower end, an upper one, both, and in several columns, ends half-way."""
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
    return LeafBounds(lower, upper)


class TestLeafLayer:
    def test_leaves_by_hand_are_indicators(self, few):
        leaves = leaves_by_hand(few)
        for k in range(len(leaves)):
            one = LeafBounds(leaves.lower[k : k + 1], leaves.upper[k : k + 1])
            layer = leaf_layer(one, few.columns)
            held = inside(one, few.values())[0]
            assert 0 < held.sum() < len(held)
            found = activations(layer, few.inputs())[:, 0]
            np.testing.assert_allclose(found, held, atol=1e-12)

    @pytest.mark.parametrize("dtype", [np.float64, np.float32])
    def test_leaves_of_trees_are_indicators_and_different_ones_come_once(self, dtype):
        few = Coded.of(few_valued(seed=5), dtype=dtype)
        leaves, _ = grow(few.values(), target_of(few.X), n_trees=30).leaves()
        layer = leaf_layer(leaves, few.columns)
        held = inside(leaves, few.values())
        different = {(*low, *high) for low, high in zip(leaves.lower, leaves.upper, strict=True)}
        assert layer.n_features == len(different) < len(leaves)
        found = activations(layer, few.inputs()).T
        np.testing.assert_allclose(found, np.round(found), atol=1e-9)
        mine = {row.tobytes() for row in np.round(found).astype(bool)}
        assert mine == {row.tobytes() for row in held}

    def test_heights_of_equal_leaves_add_up_to_the_trees(self, few):
        """The layer's neurons, each with what all leaves that it stands for add, are the trees."""
        values, target = few.values(), target_of(few.X)
        trees = grow(values, target, n_trees=40)
        leaves, height = trees.leaves()
        layer = leaf_layer(leaves, few.columns)
        beta = np.zeros(layer.n_features)
        for k in range(len(leaves)):
            one = LeafBounds(leaves.lower[k : k + 1], leaves.upper[k : k + 1])
            alone = leaf_layer(one, few.columns)
            (index,) = np.flatnonzero((theta_of(layer) == theta_of(alone)).all(axis=1))
            beta[index] += height[k, 0]
        found = activations(layer, few.inputs()) @ beta + trees.intercept()
        np.testing.assert_allclose(found, trees.model.predict(values), atol=1e-9)

    def test_between_the_knots_they_rise_and_fall_without_a_jump(self, few):
        layer = leaf_layer(
            grow(few.values(), target_of(few.X), n_trees=30).leaves()[0], few.columns
        )
        low, high = few.X.min(axis=0), few.X.max(axis=0)
        gaps = np.array([np.diff(np.unique(column)).min(initial=8.0) for column in few.X.T])
        rng = np.random.default_rng(2)
        between = 0
        for _ in range(5):
            start, end = rng.uniform(low, high, size=(2, 6))
            way = start + np.linspace(0, 1, 200)[:, None] * (end - start)
            found = activations(layer, few.inputs(way))
            assert found.min() >= 0
            assert found.max() <= 1 + 1e-12
            most = (np.abs(end - start) / 199 / gaps).sum()  # no ramp is steeper than its gap
            assert np.abs(np.diff(found, axis=0)).max() <= most + 1e-12
            between += np.sum((found > 0.01) & (found < 0.99))
        assert between > 100

    def test_weights_are_stored_at_the_ends_of_the_leaf(self, few):
        leaves = leaves_by_hand(few)
        columns = few.columns
        for low, high in zip(leaves.lower, leaves.upper, strict=True):
            (stands,) = trainable(leaf_layer(LeafBounds(low[None], high[None]), columns))
            for column, ramps in enumerate(columns.ramps):
                n_ends = int(np.isfinite(low[column])) + int(np.isfinite(high[column]))
                assert np.count_nonzero(stands[ramps]) == min(n_ends, len(ramps))

    def test_all_other_weights_are_zero(self, few):
        layer = leaf_layer(grow(few.values(), target_of(few.X)).leaves()[0], few.columns)
        weights = theta_of(layer)[:, :-1]
        assert not weights[~trainable(layer)].any()
        assert (weights != 0).any(axis=1).all()

    @pytest.mark.parametrize("n_bins", [2, 3, 5])
    def test_both_ends_in_one_bin_leave_one_knot(self, n_bins):
        columns = one_column(n_bins)
        for b in range(n_bins):
            layer = leaf_layer(LeafBounds(np.array([[b + 0.2]]), np.array([[b + 0.6]])), columns)
            found = activations(layer, at(columns, np.arange(n_bins + 1)))[:, 0]
            peak = b + 1 if b + 1 < n_bins else b  # in the last bin the lower end moves back
            np.testing.assert_allclose(found, np.arange(n_bins + 1) == peak, atol=1e-12)
            assert np.count_nonzero(trainable(layer)[0]) == 2

    def test_a_single_bin_keeps_the_upper_end(self):
        columns = one_column(1)
        layer = leaf_layer(LeafBounds(np.array([[0.2]]), np.array([[0.6]])), columns)
        found = activations(layer, at(columns, [0.0, 0.25, 1.0]))[:, 0]
        np.testing.assert_allclose(found, [1.0, 0.75, 0.0], atol=1e-12)

    def test_leaves_in_the_same_bins_are_one(self):
        columns = one_column(4)
        leaves = LeafBounds(np.array([[0.2], [0.7], [0.7]]), np.array([[2.1], [2.9], [3.1]]))
        layer = leaf_layer(leaves, columns)
        assert layer.n_features == 2
        found = activations(layer, at(columns, np.arange(5.0))).T
        assert sorted(found.round(9).tolist()) == [[0, 1, 1, 0, 0], [0, 1, 1, 1, 0]]

    def test_they_are_leaves_of_unit_scale_without_a_score(self, few):
        layer = leaf_layer(leaves_by_hand(few), few.columns)
        assert layer.leaf_mask.all()
        assert layer.n_members == 1
        assert not layer.beta.any()
        np.testing.assert_array_equal(layer.scale, 1.0)


class TestLeaves:
    def fold(self, few, loss=SQUARED, key=()):
        return Fold.whole(few.problem(target_of(few.X, loss), loss), few.columns, key)

    @pytest.mark.parametrize("loss", [SQUARED, Multinomial(3)], ids=["one", "classes"])
    def test_they_are_those_of_trees_of_the_training_rows(self, few, loss):
        fold, run = self.fold(few, loss), Run(5)
        source = Leaves(9, 6, learning_rate=0.3, min_samples_leaf=8, max_features=0.5, ramp_share=0)
        grown = source.grow(fold, run)
        sample = sample_of(fold.train, few.columns)
        np.testing.assert_allclose(sample.values, few.values(), atol=1e-12)
        # The seed of the leaves of a fold is keyed by the fold and its purpose.
        seed = np.random.SeedSequence(5, spawn_key=(1,))
        state = int(seed.generate_state(1)[0] % 2**31)
        trees = grow(sample.values, sample.target, loss)
        model = clone(trees.model).set_params(random_state=state)
        model.fit(sample.values, sample.target)
        expected = leaf_layer(
            type(trees)(model, trees.n_columns, trees.n_outputs).leaves()[0], few.columns
        )
        np.testing.assert_array_equal(theta_of(grown.layer), theta_of(expected))
        np.testing.assert_array_equal(trainable(grown.layer), trainable(expected))
        assert grown.stages == ()

    def test_folds_have_trees_of_their_own(self, few):
        source = Leaves(9, max_leaf_nodes=6, min_samples_leaf=8, max_features=0.5, ramp_share=0.1)
        one, again, other = (
            theta_of(source.grow(self.fold(few, key=key), Run(0)).layer)
            for key in ((0,), (0,), (1,))
        )
        np.testing.assert_array_equal(one, again)
        assert one.shape != other.shape or not np.array_equal(one, other)

    def test_small_trees_come_first(self, few):
        """The first leaves are those of the small trees alone; larger trees go on from them."""
        sample = sample_of(self.fold(few).train, few.columns)
        seed = np.random.SeedSequence(0)
        small, large = TreeSettings(3, 8, 0.3, 1.0), TreeSettings(6, 8, 0.3, 1.0)
        alone = grow_trees(sample, SQUARED, small, 4, seed)
        both = grow_trees(sample, SQUARED, large, 5, seed, first=[(4, {"max_leaf_nodes": 3})])
        assert both.n_rounds == 9
        for name in ("lower", "upper"):
            np.testing.assert_array_equal(
                getattr(both.leaves(4)[0], name), getattr(alone.leaves()[0], name)
            )
        sizes = [sum(one["is_leaf"] for one in trees[0].nodes) for trees in both.model._predictors]
        assert max(sizes[:4]) == 3
        assert max(sizes[4:]) > 3

    def test_splits_are_those_of_the_nodes(self, few):
        trees = grow(few.values(), target_of(few.X))
        found, expected = trees.splits(), []
        for ((tree,),) in zip(trees.model._predictors, strict=True):
            expected += [
                (node["feature_idx"], node["num_threshold"], node["gain"])
                for node in tree.nodes
                if not node["is_leaf"]
            ]
        np.testing.assert_array_equal(np.column_stack(found), np.array(expected))
        assert (found.gain > 0).all()

    def test_ramps_are_narrow_at_jumps_and_wide_where_a_function_is_smooth(self):
        rng = np.random.default_rng(3)
        X = rng.random((3_000, 2))
        y = 4.0 * (X[:, 0] > 0.4) + 6.0 * X[:, 1] + 0.3 * rng.normal(size=3_000)
        rows = CodedRows.of(X, QuantileCoding("full", max_bins=50).learn(X), y).standardised()
        columns = coded_columns(rows)
        fold = Fold.whole(Problem(rows, SQUARED), columns)
        source = Leaves(40, 4, min_samples_leaf=20, max_features=1.0, ramp_share=0.1)
        stands = trainable(source.grow(fold, Run(0)).layer)
        jump, smooth = (stands[:, columns.ramps[column]] for column in range(2))
        at = columns.bins(0, np.array([(0.4 - rows.values[:, 0].mean()) / rows.values[:, 0].std()]))
        # The most frequent end in the first column is one bin wide, at the jump.
        sets, count = np.unique(jump[jump.any(axis=1)], axis=0, return_counts=True)
        assert np.flatnonzero(sets[count.argmax()]).tolist() == at.tolist()
        assert np.median(smooth[smooth.any(axis=1)].sum(axis=1)) >= 4

    @given(
        weight=st.lists(st.integers(0, 9), min_size=1, max_size=20),
        enough=st.floats(0.5, 30.0),
    )
    def test_spans_hold_enough_and_no_narrower_one_does(self, weight, enough):
        weight = np.array(weight, dtype=np.float64)
        n = len(weight)
        for bin_, span in enumerate(_spans(weight, enough)):
            held = [weight[max(bin_ - r, 0) : bin_ + r + 1].sum() for r in range(n)]
            reach = next((r for r in range(n) if held[r] >= enough), n)
            assert span == min(2 * reach + 1, n)

    def test_columns_without_a_say_leave_the_ramps_of_others_as_wide(self):
        """By a plain mean over columns, ramps would be a fourth as wide beside 30 of noise."""
        rng = np.random.default_rng(8)
        noise = rng.random((3_000, 30))
        x = rng.random((3_000, 2))
        y = 6.0 * x.sum(axis=1) + 0.3 * rng.normal(size=3_000)
        source, widths = Leaves(40, 4, min_samples_leaf=20, max_features=1.0, ramp_share=0.1), []
        for X in (x, np.hstack([x, noise])):
            coding = QuantileCoding("full", max_bins=50).learn(X)
            rows = CodedRows.of(X, coding, y).standardised()
            columns = coded_columns(rows)
            grown = source.grow(Fold.whole(Problem(rows, SQUARED), columns), Run(0))
            own = trainable(grown.layer)[:, columns.ramps[0]]
            widths.append(own[own.any(axis=1)].sum(axis=1).mean())
        assert widths[1] > 0.7 * widths[0]

    def test_columns_that_hardly_matter_have_wider_ramps(self):
        rng = np.random.default_rng(4)
        X = rng.random((3_000, 2))
        y = 6.0 * X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=3_000)
        rows = CodedRows.of(X, QuantileCoding("full", max_bins=50).learn(X), y).standardised()
        columns = coded_columns(rows)
        fold = Fold.whole(Problem(rows, SQUARED), columns)
        stands = trainable(
            Leaves(40, 4, min_samples_leaf=20, max_features=1.0, ramp_share=0.1)
            .grow(fold, Run(0))
            .layer
        )
        much, little = (
            np.median(own[own.any(axis=1)].sum(axis=1))
            for own in (stands[:, ramps] for ramps in columns.ramps)
        )
        assert little > 2 * much

    def test_numbers_and_sizes_of_trees_belong_together(self):
        Leaves((3, 4), (2, 8)).check()
        with pytest.raises(ValueError, match="n_trees has 2 numbers and max_leaf_nodes has 1"):
            Leaves((3, 4), 8).check()
        with pytest.raises(ValueError, match="max_leaf_nodes must be integers from 2 on; 1 is"):
            Leaves((3, 4), (1, 8)).check()
        with pytest.raises(ValueError, match="n_trees must be integers from 1 on; there are none"):
            Leaves((), 8).check()

    @pytest.mark.parametrize(
        "wrong",
        [
            {"n_trees": 0},
            {"max_leaf_nodes": 1},
            {"max_leaf_nodes": "many"},
            {"min_samples_leaf": 0},
            {"learning_rate": 0.0},
            {"max_features": 1.5},
        ],
        ids=str,
    )
    def test_bad_settings_are_named(self, wrong):
        Leaves().check()
        (name,) = wrong
        with pytest.raises(ValueError, match=f"The '{name}' parameter of Leaves"):
            Leaves(**wrong).check()


class TestBaseLearnersOnCodes:
    """Base learners see the codes that bend little; their neurons stand on all codes."""

    hierarchy = Hierarchy(NeuronProjection((4,), max_networks=3), LLA(2, max_iter=5))

    def test_their_neurons_are_those_of_networks_on_the_smooth_codes(self, few):
        problem, smooth = few.problem(target_of(few.X)), few.columns.smooth
        grown = self.hierarchy.grow(Fold.whole(problem, few.columns), Run(0))
        narrow = Problem(problem.rows.with_columns(smooth), problem.loss)
        stages = self.hierarchy.grow(Fold.whole(narrow), Run(0)).stages
        networks = [one.network for one in successful(stages[-1].trained)]
        assert len(networks) == grown.layer.n_members == 3
        inner = narrow.rows.collect(lambda block: block.inputs[:-1].copy()).T
        expected = np.hstack([network.hidden(inner) for network in networks])
        found = activations(grown.layer, few.inputs())
        np.testing.assert_allclose(found, expected, atol=1e-12)
        moved = np.zeros(few.columns.n_codes, dtype=bool)
        moved[smooth] = True
        np.testing.assert_array_equal(trainable(grown.layer), np.tile(moved, (6, 1)))
        assert not grown.layer.leaf_mask.any()
        np.testing.assert_array_equal(grown.inputs, smooth)
        for narrower, one in zip(successful(grown.stages[-1].trained), networks, strict=True):
            assert narrower.network == one

    def test_no_networks_make_no_neurons_and_join_others(self, few):
        fold = Fold.whole(few.problem(target_of(few.X)), few.columns)
        nothing = Hierarchy(n_networks=0).grow(fold, Run(0))
        assert nothing.layer.n_features == nothing.layer.n_members == 0
        assert nothing.stages == ()
        leaves = leaf_layer(leaves_by_hand(few), few.columns)
        some = self.hierarchy.grow(fold, Run(0)).layer
        joined = Layer.join([leaves, nothing.layer, some])
        assert joined.n_features == leaves.n_features + some.n_features
        np.testing.assert_array_equal(
            theta_of(joined), np.vstack([theta_of(leaves), theta_of(some)])
        )
        np.testing.assert_array_equal(
            trainable(joined), np.vstack([trainable(leaves), trainable(some)])
        )
