"""Rows whose inputs are codes, held as columns: the same as rows of the codes themselves."""

import gc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import lifenet.data.coded_rows as module
from lifenet import QuantileCoding, ReluNetwork
from lifenet.data import budgets
from lifenet.data.coded_rows import CodedBlock, CodedRows
from lifenet.data.rows import ArrayRows, HeldRows
from lifenet.neurons.features import Activations
from oracles import store

KINDS = ["full", "both", "piecewise", "quantile"]
N = 90


def random_table(n=N, seed=0):
    """Columns of many values, of few, of two, and one that does not vary."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(size=n),
            np.exp(rng.normal(size=n)),
            rng.integers(0, 5, n),
            rng.choice([-3.0, 5.0], n),
            np.full(n, 7.0),
        ]
    )


def coding_of(kind, X=None, weight=None):
    codes = QuantileCoding(kind, max_bins=5, n_knots=6, min_values=3)
    return codes.learn(random_table() if X is None else X, weight)


def weight_of(kind, n=N):
    """None, weights of all rows, or of some rows only."""
    rng = np.random.default_rng(8)
    if kind == "none":
        return None
    weight = rng.uniform(0.2, 3.0, n)
    return weight if kind == "all" else weight * rng.integers(0, 2, n)


@pytest.fixture(params=KINDS)
def coding(request):
    return coding_of(request.param)


@pytest.fixture(params=["none", "all", "some"])
def pair(request, coding):
    """Rows as columns, and rows of their codes; both standardised."""
    X, weight = random_table(), weight_of(request.param)
    target = np.random.default_rng(3).normal(size=N)
    rows = CodedRows.of(X, coding, target, weight).standardised()
    plain = ArrayRows.of(coding.encode(X), target, weight).standardised()
    return rows, plain


def inputs_of(rows):
    """All inputs, constant one last, (n_codes + 1, n_rows)."""
    return rows.collect(lambda block: block.inputs.copy())


def assert_same_rows(found, expected, atol=1e-10):
    assert found.n_rows == expected.n_rows
    assert found.n_features == expected.n_features
    assert_array_equal(found.target, expected.target)
    assert_array_equal(found.weight, expected.weight)
    assert_allclose(inputs_of(found), inputs_of(expected), atol=atol)


class TestStandardised:
    def test_means_and_deviations_are_those_of_the_codes(self, pair):
        rows, plain = pair
        assert_array_equal(rows.scaling.constant, plain.scaling.constant)
        assert_allclose(rows.scaling.center, plain.scaling.center, rtol=1e-12, atol=1e-12)
        assert_allclose(rows.scaling.scale, plain.scaling.scale, rtol=1e-10)
        assert rows.scaling.constant[rows.coding.codes_of(4)].all()  # the column of one value

    def test_inputs_have_mean_zero_and_deviation_one(self, pair):
        rows, _ = pair
        inputs, share = inputs_of(rows)[:-1], rows.weight / rows.total_weight
        varies = ~rows.scaling.constant
        assert_allclose(inputs @ share, 0.0, atol=1e-12)
        assert_allclose(np.square(inputs[varies]) @ share, 1.0, rtol=1e-10)
        assert not inputs[~varies].any()

    def test_all_inputs_are_those_of_the_codes(self, pair):
        assert_same_rows(*pair)

    def test_many_rows_are_measured_some_at_a_time(self, pair, monkeypatch):
        rows, _ = pair
        monkeypatch.setattr(module, "_SOME_ROWS", 7)
        again = replace(rows, scaling=None).standardised().scaling
        assert_array_equal(again.constant, rows.scaling.constant)
        assert_allclose(again.center, rows.scaling.center, rtol=1e-12, atol=1e-12)
        assert_allclose(again.scale, rows.scaling.scale, rtol=1e-10)

    def test_standardising_twice_is_doing_it_once(self, pair):
        rows, _ = pair
        again = rows.standardised()
        for name in ("center", "scale", "constant"):
            assert_array_equal(getattr(again.scaling, name), getattr(rows.scaling, name))

    @pytest.mark.parametrize("kind", KINDS)
    def test_codes_that_do_not_vary_over_these_rows_are_constant(self, kind):
        """Rows of one bin only, and on a knot: ramps are 0 or 1 everywhere."""
        coding = coding_of(kind)
        knots = coding.knots[0]
        for value in (knots[2], knots[0] - 1, knots[-1] + 1, (knots[1] + knots[2]) / 2):
            X = random_table()
            X[:, 0] = value
            rows = CodedRows.of(X, coding, np.zeros(N)).standardised()
            plain = ArrayRows.of(coding.encode(X), np.zeros(N)).standardised()
            assert_array_equal(rows.scaling.constant, plain.scaling.constant)
            assert_allclose(rows.scaling.center, plain.scaling.center, rtol=1e-12, atol=1e-12)
            assert_allclose(rows.scaling.scale, plain.scaling.scale, rtol=1e-10)
            assert rows.scaling.constant[coding.codes_of(0)].all()

    def test_codes_that_vary_in_few_rows_are_not_constant(self):
        """A ramp that one row alone is on: its deviation is small, not rounding."""
        X = np.random.default_rng(0).normal(size=(20_000, 1))
        coding = coding_of("full", X)
        few = X[(X[:, 0] < coding.knots[0][2]) | (X[:, 0] == X.max())]
        rows = CodedRows.of(few, coding, np.zeros(len(few))).standardised()
        plain = ArrayRows.of(coding.encode(few), np.zeros(len(few))).standardised()
        assert_array_equal(rows.scaling.constant, plain.scaling.constant)
        assert_allclose(rows.scaling.scale, plain.scaling.scale, rtol=1e-8)
        assert_allclose(rows.scaling.center, plain.scaling.center, rtol=1e-10, atol=1e-12)


class TestRows:
    def test_rows_of_weight_zero_are_left_out(self, coding):
        X, target = random_table(), np.arange(N, dtype=float)
        weight = np.arange(N) % 3.0
        rows = CodedRows.of(X, coding, target, weight)
        kept = np.flatnonzero(weight)
        assert rows.n_rows == len(kept)
        assert_array_equal(rows.index, kept)
        assert_array_equal(rows.values, X[kept])
        assert_array_equal(rows.target, target[kept])
        assert rows.total_weight == weight.sum()
        assert CodedRows.of(X, coding, target, weight + 1).index is None

    def test_without_weights_all_count_once(self, coding):
        rows = CodedRows.of(random_table(), coding, np.zeros(N))
        assert_array_equal(rows.weight, np.ones(N))
        assert rows.scaling is None
        assert_allclose(inputs_of(rows)[:-1].T, coding.encode(random_table()), atol=1e-12)
        assert_array_equal(inputs_of(rows)[-1], 1.0)

    def test_codes_of_any_rows_are_in_the_units_of_these(self, pair):
        rows, plain = pair
        X = random_table(40, seed=5) * 3
        expected = (rows.coding.encode(X) - plain.scaling.center) / plain.scaling.scale
        found = rows.codes_of(X)
        assert found.shape == (rows.n_features + 1, 40)
        assert_allclose(found[:-1].T, expected, atol=1e-9)
        assert_array_equal(found[-1], 1.0)

    @pytest.mark.parametrize("counted", [False, True])
    def test_some_rows_are_those_rows(self, pair, counted):
        rows, plain = pair
        rng = np.random.default_rng(4)
        index = rng.permutation(rows.n_rows)[: rows.n_rows // 2]
        counts = rng.integers(1, 4, len(index)).astype(float) if counted else None
        some, expected = rows.take(index, counts), plain.take(index, counts)
        assert_same_rows(some, expected)
        assert some.X is rows.X  # not copied
        again = np.arange(0, some.n_rows, 2)
        assert_same_rows(some.take(again), expected.take(again))
        assert_array_equal(some.values, rows.values[index])

    def test_other_targets_leave_all_else(self, pair):
        rows, plain = pair
        target = np.arange(rows.n_rows, dtype=float)
        assert_same_rows(rows.with_target(target), plain.with_target(target))

    def test_held_rows_are_the_same(self, pair, monkeypatch):
        rows, plain = pair
        held = rows.held()
        assert isinstance(held, HeldRows)
        assert_same_rows(held, plain)
        monkeypatch.setattr(budgets, "HELD_ROWS", 8)
        assert rows.held() is rows

    def test_single_precision_columns_are_coded_in_double(self):
        X = random_table().astype(np.float32)
        coding = coding_of("full", X)
        rows = CodedRows.of(X, coding, np.zeros(N)).standardised()
        plain = ArrayRows.of(coding.encode(X), np.zeros(N)).standardised()
        assert_same_rows(rows, plain)


class TestWithColumns:
    def choices(self, coding):
        plain, every = coding.plain_codes, np.arange(coding.n_codes)
        ramps = np.setdiff1d(every, plain)
        yield every
        yield plain
        yield plain[::-1]
        yield np.concatenate([ramps, plain])[::2]
        yield ramps
        yield every[:0]

    def test_they_are_those_of_the_codes_in_the_order_asked_for(self, pair):
        rows, plain = pair
        for chosen in self.choices(rows.coding):
            found = rows.with_columns(chosen)
            expected = plain.with_columns(chosen)
            assert_same_rows(found, expected)
            assert_array_equal(found.scaling.constant, expected.scaling.constant)
            assert_allclose(found.scaling.scale, expected.scaling.scale, rtol=1e-10)

    def test_without_scaling_they_are_the_codes(self, coding):
        X = random_table()
        rows = CodedRows.of(X, coding, np.zeros(N))
        for chosen in self.choices(coding):
            found = rows.with_columns(chosen)
            assert found.scaling is None
            assert_allclose(inputs_of(found)[:-1].T, coding.encode(X)[:, chosen], atol=1e-12)

    def test_some_rows_have_the_columns_of_those_rows(self, pair):
        rows, plain = pair
        index = np.arange(0, rows.n_rows, 3)
        for chosen in self.choices(rows.coding):
            found = rows.take(index).with_columns(chosen)
            assert_same_rows(found, plain.take(index).with_columns(chosen))


class TestBlocks:
    @pytest.mark.parametrize("size", [1, 7, 10_000])
    def test_they_are_the_rows_in_their_order(self, pair, size):
        rows, plain = pair
        blocks = list(rows._blocks(size))
        assert all(isinstance(block, CodedBlock) for block in blocks)
        assert all(1 <= len(block.target) <= size for block in blocks)
        for name in ("target", "weight", "values"):
            whole = np.concatenate([getattr(block, name) for block in blocks])
            assert_array_equal(whole, getattr(rows, name))
        inputs = np.hstack([block.inputs for block in blocks])  # they share no buffer
        assert_allclose(inputs, inputs_of(plain), atol=1e-10)

    def test_sums_do_not_depend_on_the_blocks(self, pair):
        rows, plain = pair
        sums = [
            one.sum(lambda block: (block.inputs @ block.weight,), size)[0]
            for one in (rows, plain)
            for size in (5, 1000)
        ]
        for one in sums[1:]:
            assert_allclose(one, sums[0], atol=1e-9)

    def test_inputs_and_cells_are_made_when_asked_for_and_once(self, pair, monkeypatch):
        rows, _ = pair
        made = []
        codes_of = CodedRows.codes_of
        monkeypatch.setattr(
            CodedRows, "codes_of", lambda self, values: made.append(1) or codes_of(self, values)
        )
        (block,) = rows._blocks(1000)
        assert made == []
        assert block.inputs is block.inputs
        assert block.cells is block.cells
        assert made == [1]
        located = rows.coding.grid.locate(rows.values)
        assert_array_equal(block.cells.point, located.point)
        assert_array_equal(block.cells.share, located.share)


def neurons_of(n_inputs, n_neurons=12, seed=2):
    rng = np.random.default_rng(seed)
    where = rng.random((n_neurons, n_inputs)) < 0.4
    weights = np.where(where, rng.normal(size=where.shape), 0.0)
    return weights, where, rng.normal(size=n_neurons)


class TestNetworks:
    def test_a_network_of_the_inputs_is_one_of_the_columns(self, pair):
        rows, plain = pair
        weights, where, bias = neurons_of(rows.n_features)
        rng = np.random.default_rng(6)
        read_out = rng.normal(size=(12, 2)), rng.normal(size=2)
        linear = rng.normal(size=(rows.n_features, 2))
        expected = ReluNetwork(weights, bias, *read_out, linear).score(inputs_of(plain)[:-1].T)
        for held in (weights, store(weights, where)):
            network = rows.of_columns(ReluNetwork(held, bias, *read_out, linear))
            assert network.coding is rows.coding
            assert_allclose(network.score(rows.values), expected, rtol=1e-9, atol=1e-9)

    def test_without_scaling_inputs_are_codes(self, coding):
        weights, _, bias = neurons_of(coding.n_codes)
        rows = CodedRows.of(random_table(), coding, np.zeros(N))
        network = ReluNetwork(weights, bias, np.ones(12), 0.5)
        assert rows.of_columns(network).network == network

    def test_tables_are_the_layer_in_either_precision(self, pair):
        rows, plain = pair
        weights, where, bias = neurons_of(rows.n_features)
        inputs = inputs_of(plain)[:-1]
        expected = weights @ inputs + bias[:, None]
        size = np.abs(weights) @ np.abs(inputs) + np.abs(bias)[:, None] + 1
        for dtype, share in ((np.float32, 1e-5), (np.float64, 1e-12)):
            tables = rows.tables(store(weights, where), bias, dtype)
            for neurons, heights in tables.heights(rows.coding.grid.locate(rows.values)):
                assert heights.dtype == dtype
                limit = share * size[neurons]
                assert (np.abs(heights.T - expected[neurons]) <= limit).all()

    def test_activations_are_those_of_the_inputs_in_either_precision(self, pair):
        rows, plain = pair
        weights, where, bias = neurons_of(rows.n_features)
        expected = np.maximum(weights @ inputs_of(plain)[:-1] + bias[:, None], 0.0)
        some = np.array([7, 0, 3])
        for held in (weights, store(weights, where)):
            double = Activations(held, bias)
            for features, limit in ((double, 1e-10), (double.single(), 2e-5)):
                found = rows.collect(features.of)
                assert found.dtype == features.dtype
                assert_allclose(found, expected, atol=limit)
                picked = rows.collect(features.select(some).of)
                assert_allclose(picked, expected[some], atol=limit)

    @pytest.mark.parametrize("kind", ["full", "both"])
    @pytest.mark.parametrize(
        ("shift", "unit"), [(2e3, 1.0), (1e6, 1.0), (1e9, 1.0), (0.0, 1e45), (0.0, 1e-45)]
    )
    def test_activations_do_not_depend_on_the_units_of_columns(self, kind, shift, unit):
        """Years, amounts and tiny units: only what single precision has of standardised inputs."""
        X = random_table() * unit + shift
        rows = CodedRows.of(X, coding_of(kind, X), np.zeros(N)).standardised()
        weights, where, bias = neurons_of(rows.n_features)
        inputs = inputs_of(rows)[:-1]  # in double precision
        expected = np.maximum(weights @ inputs + bias[:, None], 0.0)
        found = rows.collect(Activations(store(weights, where), bias).of)
        assert_allclose(found, expected, atol=5e-5)

    def test_activations_know_rows_of_other_units_apart(self):
        """Whatever became of rows that they were computed for before."""
        coding, X = coding_of("full"), random_table()
        weights, where, bias = neurons_of(coding.n_codes)
        features = Activations(store(weights, where), bias)
        for number in range(50):
            rows = CodedRows.of(X[number % 7 :: 7], coding, np.zeros(len(X[number % 7 :: 7])))
            rows = rows.standardised()
            expected = np.maximum(weights @ inputs_of(rows)[:-1] + bias[:, None], 0.0)
            assert_allclose(rows.collect(features.of), expected, atol=1e-4)
            del rows
            gc.collect()
