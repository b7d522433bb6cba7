"""Hidden layers: joining, picking and base learners' own scores, against plain loops."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from lifenet import ReluNetwork
from lifenet.data.rows import ArrayRows
from lifenet.neurons.features import Activations, GivenColumns
from lifenet.neurons.layer import Layer, lengths
from oracles import store, stored, theta_of

WIDTHS, OUTPUTS, N_INPUTS = (3, 1, 2), (0, 2, 0), 4


def members(seed=0, widths=WIDTHS, outputs=OUTPUTS):
    rng = np.random.default_rng(seed)
    return [
        (
            ReluNetwork(
                rng.normal(size=(width, N_INPUTS)),
                rng.normal(size=width),
                rng.normal(size=width),
                rng.normal(),
            ),
            output,
        )
        for width, output in zip(widths, outputs, strict=True)
    ]


def free_neurons(n=2, seed=5):
    """Neurons that belong to no base learner."""
    theta = np.random.default_rng(seed).normal(size=(n, N_INPUTS + 1))
    leaf = np.ones(n, dtype=bool)
    return Layer.of(Activations(theta[:, :-1], theta[:, -1]), np.full(n, 2.0), leaf=leaf)


def storing(layer, movable):
    """A layer that stores the weights that may move only; None leaves an array of them."""
    if movable is None:
        return layer
    weights, bias = layer.neurons.weights, layer.neurons.bias
    dense = weights.toarray() if sparse.issparse(weights) else weights
    return replace(layer, features=Activations(store(dense, movable), bias))


def block_of(n_rows=7, seed=9):
    X = np.random.default_rng(seed).normal(size=(n_rows, N_INPUTS))
    return X, ArrayRows.of(X, np.zeros(n_rows)).held()


def activations(layer, block):
    """Neuron by neuron and row by row, (n_neurons, n_rows)."""
    return np.array(
        [
            [
                max(sum(w * v for w, v in zip(theta, row, strict=True)), 0.0)
                for row in block.inputs.T
            ]
            for theta in theta_of(layer)
        ]
    ).reshape(layer.n_features, block.inputs.shape[1])


def scores(layer, block):
    """Each base learner's own score, by a loop over its neurons."""
    hidden = activations(layer, block)
    found = np.repeat(layer.intercept[:, None], hidden.shape[1], axis=1)
    for index, member in enumerate(layer.member):
        found[member] += layer.beta[index] * hidden[index]
    return found


class TestOfMembers:
    def test_it_holds_their_neurons_in_order(self):
        some = members()
        layer = Layer.of_members(some, N_INPUTS)
        assert layer.n_features == 6
        assert layer.n_members == 3
        assert layer.member.tolist() == [0, 0, 0, 1, 2, 2]
        assert layer.output.tolist() == list(OUTPUTS)
        weights = np.vstack([one.weights for one, _ in some])
        bias = np.concatenate([one.bias for one, _ in some])
        np.testing.assert_array_equal(theta_of(layer), np.column_stack([weights, bias]))
        np.testing.assert_allclose(layer.scale, [np.sqrt(np.sum(w**2)) for w in weights])
        assert not layer.leaf_mask.any()
        assert not sparse.issparse(layer.neurons.weights)  # all may move
        assert layer.n_inputs == N_INPUTS

    def test_scores_are_those_of_the_networks(self):
        some = members()
        X, block = block_of()
        layer = Layer.of_members(some, N_INPUTS)
        found = layer.member_scores(block)
        np.testing.assert_allclose(found, scores(layer, block), atol=1e-12)
        for row, (network, _) in zip(found, some, strict=True):
            np.testing.assert_allclose(row, network.score(X)[:, 0], atol=1e-12)

    def test_members_of_some_inputs_stay_on_these(self):
        inputs = np.array([4, 0, 5, 2])
        X, _ = block_of()
        wide = np.full((len(X), 7), 77.0)
        wide[:, inputs] = X
        narrow, layer = (
            Layer.of_members(members(), N_INPUTS),
            Layer.of_members(members(), 7, inputs),
        )
        coefficients = np.random.default_rng(1).normal(size=(7, 2))
        expected = narrow.network(coefficients).score(X)
        np.testing.assert_allclose(layer.network(coefficients).score(wide), expected, atol=1e-12)
        np.testing.assert_allclose(layer.scale, narrow.scale)
        movable = np.isin(np.arange(7), inputs)
        assert sparse.issparse(layer.neurons.weights)
        np.testing.assert_array_equal(stored(layer.neurons.weights), np.tile(movable, (6, 1)))
        assert not theta_of(layer)[:, :-1][:, ~movable].any()

    def test_no_members_make_no_neurons(self):
        layer = Layer.of_members([], N_INPUTS, np.arange(2))
        assert layer.n_features == layer.n_members == 0
        assert theta_of(layer).shape == (0, N_INPUTS + 1)
        assert stored(layer.neurons.weights).shape == (0, N_INPUTS)
        _, block = block_of()
        assert layer.member_scores(block).shape == (0, 7)

    def test_a_neuron_without_weights_has_unit_scale(self):
        np.testing.assert_array_equal(lengths(np.array([[0.0, 0.0], [3.0, 4.0]])), [1.0, 5.0])


def test_the_network_is_the_neurons_under_the_coefficients():
    layer = Layer.of_members(members(), N_INPUTS)
    coefficients = np.random.default_rng(1).normal(size=(7, 3))
    X, block = block_of()
    expected = activations(layer, block).T @ coefficients[:-1] + coefficients[-1]
    np.testing.assert_allclose(layer.network(coefficients).score(X), expected, atol=1e-12)


class TestJoin:
    def tiled(self, movable, n_neurons):
        return None if movable is None else np.tile(movable, (n_neurons, 1))

    def parts(self, *trainable):
        return [
            storing(free_neurons(), self.tiled(trainable[0], 2)),
            storing(Layer.of_members(members(), N_INPUTS), self.tiled(trainable[1], 6)),
            Layer.of_members(members(3, (2,), (1,)), N_INPUTS),
        ]

    def test_neurons_follow_each_other_and_members_are_numbered_on(self):
        parts = self.parts(None, None)
        layer = Layer.join(parts)
        np.testing.assert_array_equal(theta_of(layer), np.vstack([theta_of(one) for one in parts]))
        assert layer.member.tolist() == [0, 0, 1, 1, 1, 2, 3, 3, 4, 4]
        assert layer.output.tolist() == [0, *OUTPUTS, 1]
        assert layer.leaf_mask.tolist() == 2 * [True] + 8 * [False]
        np.testing.assert_array_equal(layer.scale[:2], 2.0)
        _, block = block_of()
        together = np.vstack([one.member_scores(block) for one in parts])
        np.testing.assert_allclose(layer.member_scores(block), together, atol=1e-12)
        np.testing.assert_allclose(layer.member_scores(block), scores(layer, block), atol=1e-12)

    def test_one_layer_is_itself(self):
        (one, *_) = self.parts(None, None)
        assert Layer.join([one]) is one

    def test_all_may_move_where_none_says_otherwise(self):
        assert not sparse.issparse(Layer.join(self.parts(None, None)).neurons.weights)
        movable = np.array([True, False, False, True])
        found = stored(Layer.join(self.parts(None, movable)).neurons.weights)
        np.testing.assert_array_equal(found[:2], True)
        np.testing.assert_array_equal(found[2:8], np.tile(movable, (6, 1)))
        np.testing.assert_array_equal(found[8:], True)
        found = stored(Layer.join(self.parts(movable, None)).neurons.weights)
        np.testing.assert_array_equal(found, np.vstack([np.tile(movable, (2, 1)), found[2:]]))
        assert found[2:].all()

    def test_a_layer_without_neurons_adds_nothing(self):
        one, other, _ = self.parts(None, None)
        empty = Layer.of_members([], N_INPUTS)
        both, three = Layer.join([one, other]), Layer.join([one, empty, other])
        np.testing.assert_array_equal(theta_of(three), theta_of(both))
        np.testing.assert_array_equal(three.member, both.member)


class TestSome:
    movable = np.arange(24).reshape(6, 4) % 3 > 0

    @pytest.fixture
    def layer(self):
        return storing(Layer.of_members(members(), N_INPUTS, np.arange(N_INPUTS)), self.movable)

    @pytest.mark.parametrize("index", [[0, 1, 2, 3, 4, 5], [1, 3, 4], [5], []], ids=str)
    def test_picked_neurons_keep_all_that_belongs_to_them(self, layer, index):
        some = layer.pick(np.array(index, dtype=int))
        assert some.n_features == len(index)
        assert some.n_members == 3  # all base learners stay
        for new, old in enumerate(index):
            np.testing.assert_array_equal(theta_of(some)[new], theta_of(layer)[old])
            np.testing.assert_array_equal(stored(some.neurons.weights)[new], self.movable[old])
            assert some.scale[new] == layer.scale[old]
            assert some.beta[new] == layer.beta[old]
            assert some.member[new] == layer.member[old]
            assert some.leaf_mask[new] == layer.leaf_mask[old]
        np.testing.assert_array_equal(some.intercept, layer.intercept)
        _, block = block_of()
        np.testing.assert_allclose(some.member_scores(block), scores(some, block), atol=1e-12)

    @pytest.mark.parametrize("chosen", [[0, 1, 2], [2, 0], [1], []], ids=str)
    def test_selected_members_are_numbered_anew_in_their_order(self, layer, chosen):
        some = layer.select(np.array(chosen, dtype=int))
        kept = sorted(chosen)
        index = [k for k in range(6) if layer.member[k] in kept]
        np.testing.assert_array_equal(layer.features_of(np.array(chosen, dtype=int)), index)
        np.testing.assert_array_equal(theta_of(some), theta_of(layer)[index])
        np.testing.assert_array_equal(stored(some.neurons.weights), self.movable[index])
        assert some.member.tolist() == [kept.index(layer.member[k]) for k in index]
        assert some.output.tolist() == [OUTPUTS[k] for k in kept]
        _, block = block_of()
        np.testing.assert_allclose(
            some.member_scores(block), scores(layer, block)[kept], atol=1e-12
        )


def test_features_of_one_group_have_no_score():
    layer = Layer.of(GivenColumns(N_INPUTS), np.ones(N_INPUTS))
    X, block = block_of()
    np.testing.assert_array_equal(layer.features.of(block), X.T)
    np.testing.assert_array_equal(layer.member_scores(block), np.zeros((1, 7)))
    some = layer.pick(np.array([3, 1]))
    np.testing.assert_array_equal(some.features.of(block), X.T[[3, 1]])
    assert some.leaf is None
    assert not layer.leaf_mask.any()
