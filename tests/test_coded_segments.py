"""Segments of networks of codes, by bends and by cuts, against a loop over all knots."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lifenet.kernels.row_blocks as blocks
from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork
from oracles import store
from strategies import invariant


def coding_of(n_wide=4, n_knots=9, seed=0, offset=0.0, scale=1.0):
    """Columns of ramps and a value, then two knots, one knot, none, and one code that zigzags."""
    rng = np.random.default_rng(seed)
    knots, values = [], []
    for _ in range(n_wide):
        places = offset + scale * np.sort(rng.normal(size=n_knots))
        knots.append(places)
        values.append(np.column_stack([places - offset, np.tri(n_knots, n_knots - 1, -1)]))
    knots += [[-0.5, 0.75], [0.25], None, [-1.0, 0.0, 0.5, 2.0]]
    values += [[1.0, -1.0], [3.0], None, [0.0, 2.0, -1.0, 1.0]]
    return ColumnCoding(knots, values)


def layer_of(coding, n_leaves=40, n_plain=6, n_dense=5, seed=1):
    """Neurons that read runs of ramps, no ramps, and everything; and which weights are stored."""
    rng = np.random.default_rng(seed)
    n_neurons = n_leaves + n_plain + n_dense
    weights = np.zeros((n_neurons, coding.n_codes))
    for leaf in range(n_leaves):
        for column in rng.choice(coding.n_features, rng.integers(1, 5), replace=False):
            codes = coding.codes_of(int(column))
            first = rng.integers(codes.start, codes.stop)
            run = slice(first, min(codes.stop, first + rng.integers(1, 3)))
            weights[leaf, run] = rng.normal(size=run.stop - run.start)
    plain = coding.plain_codes
    weights[n_leaves : n_leaves + n_plain, plain] = rng.normal(size=(n_plain, len(plain)))
    weights[n_leaves + n_plain :] = rng.normal(size=(n_dense, coding.n_codes))
    weights[0] = 0.0
    where = weights != 0
    where[1, :4] = True  # zeros that are stored
    return weights, where, rng.normal(size=n_neurons)


def network_of(coding, n_outputs=1, held=True, seed=1, **sizes):
    weights, where, bias = layer_of(coding, seed=seed, **sizes)
    rng = np.random.default_rng(seed + 100)
    beta = rng.normal(size=(len(bias), n_outputs))
    linear = rng.normal(size=(coding.n_codes, n_outputs)) * (rng.random((coding.n_codes, 1)) < 0.2)
    layer = store(weights, where) if held else weights
    network = ReluNetwork(layer, bias, beta, rng.normal(size=n_outputs), linear)
    return CodedNetwork(coding, network)


def rows_of(coding, n, seed=2, spread=1.5):
    """Rows within and beyond the knots; every third value is a knot."""
    rng = np.random.default_rng(seed)
    rows = np.empty((n, coding.n_features))
    for column, knots in enumerate(coding.knots):
        center, width = (knots.mean(), knots.std() + 0.1) if len(knots) else (0.0, 1.0)
        rows[:, column] = center + width * rng.normal(scale=spread, size=n)
        if len(knots):
            on = rng.random(n) < 1 / 3
            rows[on, column] = rng.choice(knots, on.sum())
    return rows


def functions_at(model, weights, x):
    """What each column gives to each of `weights` (m, n_codes), (p, m), code by code."""
    coding = model.coding
    found = np.zeros((coding.n_features, len(weights)))
    for column, (knots, values) in enumerate(zip(coding.knots, coding.values, strict=True)):
        for number, code in enumerate(range(*coding.codes_of(column).indices(coding.n_codes))):
            bare = not len(knots)
            value = x[column] if bare else np.interp(x[column], knots, values[:, number])
            found[column] += weights[:, code] * value
    return found


def loop_segment(model, start, end):
    """Cut at all knots of all columns; each neuron of each piece counts where it is active."""
    network = model.network
    weights = np.asarray(
        network.weights.todense() if hasattr(network.weights, "todense") else network.weights
    )
    cuts = {0.0, 1.0}
    for column, knots in enumerate(model.coding.knots):
        if start[column] != end[column]:
            cuts |= {(knot - start[column]) / (end[column] - start[column]) for knot in knots}
    ordered = sorted(cut for cut in cuts if 0 <= cut <= 1)
    at = [functions_at(model, weights, start * (1 - cut) + end * cut) for cut in ordered]
    parts = np.zeros((model.n_features, model.n_outputs))
    for left, right in itertools.pairwise(at):
        low, high = left.sum(axis=0) + network.bias, right.sum(axis=0) + network.bias
        for neuron in range(len(network.bias)):
            a, b = low[neuron], high[neuron]
            share = float(a + b > 0) if a * b >= 0 else max(a, b) / abs(a - b)
            parts += share * np.outer((right - left)[:, neuron], network.beta[neuron])
    straight = functions_at(model, network.linear.T, end)
    straight -= functions_at(model, network.linear.T, start)
    return parts + straight


def loop_segments(model, start, end):
    return np.array([loop_segment(model, *pair) for pair in zip(start, end, strict=True)])


@pytest.mark.parametrize("held", [True, False], ids=["sparse", "dense"])
@pytest.mark.parametrize("n_outputs", [1, 3])
def test_parts_are_those_of_a_loop_over_all_knots(n_outputs, held):
    coding = coding_of()
    model = network_of(coding, n_outputs, held)
    start, end = rows_of(coding, 12, seed=5), rows_of(coding, 12, seed=6)
    start[:, 1] = end[:, 1]
    expected = loop_segments(model, start, end)
    np.testing.assert_allclose(model.segment(start, end), expected, rtol=0, atol=1e-12)


def test_each_kind_of_neuron_is_integrated_in_its_own_way():
    layers = network_of(coding_of()).segment_layers
    assert len(layers.bends.neurons) > 20
    assert len(layers.plain_neurons) >= 6
    assert len(layers.other_neurons) >= 5
    seen = [*layers.bends.neurons, *layers.plain_neurons, *layers.other_neurons]
    assert len(seen) == len(set(seen))


@pytest.mark.parametrize("kind", ["n_leaves", "n_plain", "n_dense"])
def test_neurons_of_one_kind_alone(kind):
    coding = coding_of()
    sizes = {"n_leaves": 2, "n_plain": 0, "n_dense": 0, kind: 12}
    model = network_of(coding, 2, **sizes)
    start, end = rows_of(coding, 6, seed=5), rows_of(coding, 6, seed=6)
    expected = loop_segments(model, start, end)
    np.testing.assert_allclose(model.segment(start, end), expected, rtol=0, atol=1e-12)


@invariant
@given(st.integers(0, 10_000), st.integers(1, 2))
def test_parts_of_random_networks_are_those_of_a_loop(seed, n_outputs):
    coding = coding_of(3, 6, seed)
    model = network_of(coding, n_outputs, seed=seed, n_leaves=15, n_plain=2, n_dense=1)
    start, end = rows_of(coding, 2, seed), rows_of(coding, 2, seed + 1)
    expected = loop_segments(model, start, end)
    np.testing.assert_allclose(model.segment(start, end), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("size", [1, 5_000, 60_000])
def test_blocks_of_rows_do_not_matter(size, monkeypatch):
    coding = coding_of()
    model = network_of(coding, 2)
    start, end = rows_of(coding, 60, seed=5), rows_of(coding, 60, seed=6)
    expected = model.segment(start, end)
    monkeypatch.setattr(blocks, "BLOCK_BYTES", size)
    np.testing.assert_allclose(model.segment(start, end), expected, rtol=0, atol=1e-12)


def test_an_end_in_common_is_the_same_row_many_times():
    coding = coding_of()
    model, rows = network_of(coding, 2), rows_of(coding, 30)
    for one in (rows[3], rows[4:5]):
        many = np.tile(one, (30, 1))
        there, back = model.segment(one, rows), model.segment(rows, one)
        np.testing.assert_allclose(there, model.segment(many, rows), rtol=0, atol=1e-13)
        np.testing.assert_allclose(back, model.segment(rows, many), rtol=0, atol=1e-13)
        np.testing.assert_allclose(back, -there, rtol=0, atol=1e-12)
    assert not model.segment(rows[3], rows[3]).any()


def test_columns_that_stay_have_no_part():
    coding = coding_of()
    model = network_of(coding, 2)
    start, end = rows_of(coding, 40, seed=5), rows_of(coding, 40, seed=6)
    stays = np.random.default_rng(7).random(start.shape) < 0.5
    end[stays] = start[stays]
    assert not model.segment(start, end)[stays].any()


@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e6, 1e-3), (0.0, 1e9)])
def test_parts_sum_to_the_difference_wherever_the_knots_are(offset, scale):
    """Also where shares of the way are known to few digits: values at bends are exact."""
    coding = coding_of(offset=offset, scale=scale)
    model = network_of(coding, n_plain=0, n_dense=0)
    start, end = rows_of(coding, 50, seed=5), rows_of(coding, 50, seed=6)
    start[:10] -= 1e7 * scale
    end[:10] += 1e7 * scale
    found = model.segment(start, end)
    expected = model.score(end) - model.score(start)
    size = np.abs(found).sum(axis=1) + np.abs(expected)
    assert (np.abs(found.sum(axis=1) - expected) <= 1e-13 * (size + scale)).all()


def test_neurons_that_read_nothing_that_varies_have_no_part():
    coding = ColumnCoding([[0.0, 1.0, 2.0], [0.5]], [np.tri(3, 2, -1), [2.0]])
    weights = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, -1.0]])
    network = ReluNetwork(weights, [1.0, 1.0, 1.5], [3.0, 4.0, 5.0], 0.0)
    found = CodedNetwork(coding, network).segment([-1.0, 0.0], [5.0, 9.0])
    np.testing.assert_allclose(found[0, :, 0], [2.5, 0.0], rtol=0, atol=1e-15)
