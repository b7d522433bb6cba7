"""Boosted trees and the bounds of their leaves, against scikit-learn's nodes and predictions."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from coded_tables import N_TREES, SEED, SETTINGS, Coded, few_valued, grow, inside, target_of
from lifenet.losses import Logistic, Multinomial, SquaredError
from lifenet.neurons.leaves import leaf_layer, tree_network
from oracles import stored, theta_of

LOSSES = [SquaredError(), Logistic(), Multinomial(3)]
named = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)


@pytest.fixture(scope="module")
def few():
    return Coded.of(few_valued())


def same_model(values, target, loss, n_rounds=N_TREES):
    """The trees that the leaves should come from."""
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
        max_features=0.5,
        early_stopping=False,
        random_state=int(np.random.SeedSequence(SEED).generate_state(1)[0] % 2**31),
    ).fit(values, target, np.ones(len(values)))


def raw(model, values):
    predict = getattr(model, "decision_function", model.predict)
    return predict(values).reshape(len(values), -1)


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


def reached(path, values):
    """Rows that take this way through a tree."""
    found = np.ones(len(values), dtype=bool)
    for column, threshold, left in path:
        found &= (values[:, column] <= threshold) == left
    return found


class TestLeafBounds:
    @named
    def test_they_are_the_leaves_and_every_row_is_in_one_of_each_tree(self, few, loss):
        values, target = few.values(), target_of(few.X, loss)
        n_rounds = 3 if loss.n_outputs == 3 else 9
        model = same_model(values, target, loss, n_rounds)
        trees = [leaves_of(tree.nodes) for stage in model._predictors for tree in stage]
        assert len(trees) == 9  # several classes share them
        split = [(number, leaves) for number, leaves in enumerate(trees) if len(leaves) > 1]
        bounds, height = grow(values, target, loss).leaves()
        held = inside(bounds, values)
        np.testing.assert_array_equal(held.sum(axis=0), len(split))
        ends = np.cumsum([len(leaves) for _, leaves in split])
        assert len(held) == len(bounds) == len(height) == ends[-1]
        for (number, leaves), part, heights in zip(
            split, np.split(held, ends[:-1]), np.split(height, ends[:-1]), strict=True
        ):
            np.testing.assert_array_equal(part.sum(axis=0), 1)
            expected = {reached(path, values).tobytes(): value for path, value in leaves}
            assert {row.tobytes() for row in part} == set(expected)
            output = number % loss.n_outputs
            for row, one in zip(part, heights, strict=True):
                np.testing.assert_array_equal(
                    one, expected[row.tobytes()] * np.eye(loss.n_outputs)[output]
                )

    def test_they_follow_from_the_seed(self, few):
        values, target = few.values(), target_of(few.X)
        one, two, other = (grow(values, target, seed=seed).leaves()[0] for seed in (3, 3, 4))
        np.testing.assert_array_equal(one.lower, two.lower)
        np.testing.assert_array_equal(one.upper, two.upper)
        assert one.lower.shape != other.lower.shape or not np.array_equal(one.lower, other.lower)

    def test_there_are_few_trees_but_one_at_least(self, few):
        loss = LOSSES[2]
        trees = grow(few.values(), target_of(few.X, loss), loss, n_trees=2, max_leaf_nodes=2)
        assert trees.n_rounds == 1
        assert len(trees.leaves()[0]) == 6  # one round of three trees

    def test_rows_of_weight_zero_count_as_absent(self, few):
        values, target = few.values(), target_of(few.X)
        weight = (np.arange(len(values)) % 3 > 0).astype(float)
        counted = weight > 0
        strange = np.where(counted, target, 1e3)
        settings = {"max_features": 1.0, "min_samples_leaf": 1}
        with_zeros, _ = grow(values, strange, weight=weight, **settings).leaves()
        without, _ = grow(values[counted], target[counted], **settings).leaves()
        np.testing.assert_array_equal(with_zeros.lower, without.lower)
        np.testing.assert_array_equal(with_zeros.upper, without.upper)
        plain, _ = grow(values, target, **settings).leaves()
        assert not np.array_equal(plain.lower, without.lower)

    def test_a_tree_that_could_not_split_has_none(self, few):
        values = few.values()
        for trees in (
            grow(values, np.zeros(len(values))),
            grow(values, target_of(few.X), min_samples_leaf=len(values)),
        ):
            leaves, height = trees.leaves()
            assert len(leaves) == 0
            assert leaves.lower.shape == leaves.upper.shape == (0, 6)
            assert height.shape == (0, 1)
            layer = leaf_layer(leaves, few.columns)
            assert layer.n_features == 0
            assert theta_of(layer).shape == (0, few.columns.n_codes + 1)
            assert stored(layer.neurons.weights).shape == (0, few.columns.n_codes)
        # The first trees explain all to rounding; the others have nothing to split for.
        signs = np.repeat([-1.0, 1.0], 8)
        first, _ = grow(signs[:, None], signs, max_features=1.0, learning_rate=1.0).leaves()
        assert 2 <= len(first) < 2 * N_TREES


class TestTrees:
    @named
    def test_their_network_says_what_they_say(self, few, loss):
        inputs, values, target = few.inputs(), few.values(), target_of(few.X, loss)
        n_rounds = 6
        expected = raw(same_model(values, target, loss, n_rounds), values)
        trees = grow(values, target, loss, n_trees=n_rounds * loss.n_outputs)
        assert trees.n_rounds == n_rounds
        network = tree_network(*trees.leaves(), trees.intercept(), few.columns)
        np.testing.assert_allclose(network.score(inputs[:, :-1]), expected, atol=1e-9)
        # Equal leaves are one neuron.
        assert network.n_neurons < len(trees.leaves()[0])

    @named
    def test_fewer_rounds_are_those_of_fewer_trees(self, loss):
        X = few_valued()
        target = target_of(X, loss)
        trees = grow(X, target, loss, n_trees=6 * loss.n_outputs)
        for n_rounds, score in zip((2, 5), trees.scores(X, (2, 5)), strict=True):
            expected = raw(same_model(X, target, loss, n_rounds), X)
            np.testing.assert_allclose(score, expected, atol=1e-9)
            leaves, height = trees.leaves(n_rounds)
            found = trees.intercept(n_rounds) + inside(leaves, X).T @ height
            np.testing.assert_allclose(found, expected, atol=1e-6)

    def test_a_tree_without_a_split_is_part_of_the_intercept(self):
        X = few_valued(30)
        target = (np.arange(30) % 3 == 0).astype(float)
        trees = grow(X, target, Logistic(), n_trees=3, min_samples_leaf=30)
        assert len(trees.leaves()[0]) == 0
        (score,) = trees.scores(X, (3,))
        np.testing.assert_allclose(trees.intercept(), score[0], atol=1e-9)

    def test_settings_are_those_of_scikit_learn_by_name(self):
        X = few_valued(60)
        model = grow(X, target_of(X), n_trees=4).model
        assert {name: model.get_params()[name] for name in SETTINGS._fields} == SETTINGS._asdict()
        assert model.get_params()["max_iter"] == 4
