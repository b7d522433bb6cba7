"""A network of sparse weights: whatever is asked of it, it says what the dense one says."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lifenet import QuantileCoding, ReluNetwork
from lifenet.explain import explain_row, feature_importance
from lifenet.network import CodedNetwork
from oracles import store, stored
from strategies import floats, invariant, rows

PARTS = ("bias", "beta", "intercept", "linear")
close = {"rtol": 1e-12, "atol": 1e-12}


def parts_of(seed=0, shape=(9, 5), n_outputs=2):
    """Weights, some of which are stored, and all else of a network."""
    rng = np.random.default_rng(seed)
    where = rng.random(shape) < 0.5
    where[1] = False  # a neuron without weights
    weights = np.where(where, rng.normal(size=shape), 0.0)
    row, column = np.argwhere(where)[4]
    weights[row, column] = 0.0  # a stored zero
    m, p = shape
    rest = (rng.normal(size=m), rng.normal(size=(m, n_outputs)), rng.normal(size=n_outputs))
    return weights, where, (*rest, rng.normal(size=(p, n_outputs)))


def pair(seed=0, dtype=np.float64):
    """A network of sparse weights, and the same one of an array."""
    weights, where, rest = parts_of(seed)
    rest = [one.astype(dtype) for one in rest]
    weights = weights.astype(dtype)
    return ReluNetwork(store(weights, where), *rest), ReluNetwork(weights, *rest)


def table(n=40, seed=1, p=5):
    return np.random.default_rng(seed).normal(size=(n, p))


def assert_same_restriction(found, expected, grid, **tolerance):
    """Of one column: increments, means and kinks."""
    ends = grid[0], grid[-1]
    assert_allclose(found.increment(*ends), expected.increment(*ends), **tolerance)
    assert_allclose(found.mean(grid), expected.mean(grid), **tolerance)
    for mine, theirs in zip(found.kinks(), expected.kinks(), strict=True):
        assert mine[0] == theirs[0]
        assert_allclose(mine[1], theirs[1], **tolerance)


@st.composite
def pairs_and_rows(draw):
    """Both networks, of multiples of 1/8, and rows for them: many lie on kinks."""
    m, p, q = draw(st.integers(0, 6)), draw(st.integers(1, 4)), draw(st.integers(1, 3))
    where = draw(hnp.arrays(np.bool_, (m, p)))
    weights = np.where(where, draw(floats(m, p)), 0.0)
    rest = [draw(floats(*shape)) for shape in ((m,), (m, q), (q,), (p, q))]
    held, dense = ReluNetwork(store(weights, where), *rest), ReluNetwork(weights, *rest)
    return held, dense, draw(rows(p))


class TestValue:
    def test_it_knows_how_it_is_held(self):
        held, dense = pair()
        assert held.is_sparse
        assert not dense.is_sparse
        assert isinstance(held.weights, sparse.csr_array)
        for name in ("n_neurons", "n_features", "n_outputs", "dtype"):
            assert getattr(held, name) == getattr(dense, name)
        assert repr(held) == repr(dense)

    def test_the_dense_network_is_the_same_in_an_array(self):
        held, dense = pair()
        found = held.dense()
        assert not found.is_sparse
        assert isinstance(found.weights, np.ndarray)
        assert_array_equal(found.weights, dense.weights)
        for name in PARTS:
            assert_array_equal(getattr(found, name), getattr(dense, name))
        assert dense.dense() is dense

    def test_it_is_equal_where_the_numbers_are(self):
        held, dense = pair()
        assert held == dense
        assert dense == held
        weights, _, rest = parts_of()
        assert held == ReluNetwork(sparse.csr_array(weights), *rest)  # without stored zeros
        assert held != ReluNetwork(sparse.csr_array(2 * weights), *rest)
        assert held != held.with_readout(held.beta, held.intercept + 1)
        assert held != held.select([0, 1])
        assert held != "a network"

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr"])
    def test_any_sparse_format_is_read(self, kind):
        weights, _, rest = parts_of()
        found = ReluNetwork(sparse.csr_array(weights).asformat(kind), *rest)
        assert found.weights.format == "csr"
        assert_array_equal(found.weights.toarray(), weights)
        old = ReluNetwork(sparse.csr_matrix(weights), *rest)
        assert isinstance(old.weights, sparse.csr_array)
        assert old == found

    def test_it_holds_copies_that_cannot_be_written_to(self):
        weights, where, rest = parts_of()
        given_weights = store(weights, where)
        network = ReluNetwork(given_weights, *rest)
        given_weights.data[:] = 9.0
        assert_array_equal(network.weights.toarray(), weights)
        for array in (network.weights.data, network.weights.indices, network.bias):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    @pytest.mark.parametrize("again", [pickle.dumps, copy.copy, copy.deepcopy])
    def test_copies_and_pickles_are_the_same_and_read_only(self, again):
        held, _ = pair()
        found = again(held)
        if isinstance(found, bytes):
            found = pickle.loads(found)
        assert found.is_sparse
        assert found == held
        assert_array_equal(stored(found.weights), stored(held.weights))  # zeros are kept
        for name in ("data", "indices", "indptr"):
            mine, theirs = getattr(found.weights, name), getattr(held.weights, name)
            assert mine.dtype == theirs.dtype
            assert_array_equal(mine, theirs)
            assert not mine.flags.writeable
        assert found.dtype == held.dtype

    @invariant
    @given(pairs_and_rows())
    def test_pickles_of_all_networks_are_the_same(self, case):
        held, _, X = case
        found = pickle.loads(pickle.dumps(held))
        assert found == held
        assert_array_equal(found.score(X), held.score(X))

    def test_a_pickle_is_smaller_than_that_of_an_array(self):
        generator = np.random.default_rng(0)
        weights = sparse.csr_array(
            np.where(generator.random((200, 300)) < 0.02, generator.normal(size=(200, 300)), 0.0)
        )
        rest = np.ones(200), np.ones(200), 0.0
        sizes = [
            len(pickle.dumps(network))
            for network in (ReluNetwork(weights, *rest), ReluNetwork(weights.toarray(), *rest))
        ]
        assert sizes[0] < sizes[1] / 10

    def test_compact_is_the_same_to_single_precision_without_zeros(self):
        held, dense = pair()
        found = held.compact()
        assert found.is_sparse
        assert found.weights.dtype == np.float32
        assert found.dtype == np.float64
        assert_array_equal(found.weights.toarray(), dense.weights.astype(np.float32))
        assert_array_equal(stored(found.weights), dense.weights != 0)
        for name in PARTS:
            assert_array_equal(getattr(found, name), getattr(dense, name))
        assert dense.compact() is dense

    @pytest.mark.parametrize("size", [1e60, 1e-60])
    def test_compact_keeps_weights_that_single_precision_has_no_room_for(self, size):
        """Of a column in other units: no weight may vanish, or become infinite."""
        weights, where, rest = parts_of()
        weights = weights * np.array([1.0, size, 1.0, 1.0, 1.0])
        network = ReluNetwork(store(weights, where), *rest[:3])
        X = table() / np.array([1.0, size, 1.0, 1.0, 1.0])
        assert_allclose(network.compact().score(X), network.score(X), rtol=1e-5, atol=1e-5)


class TestReading:
    METHODS = (
        "preactivations",
        "hidden",
        "score",
        "gradient",
        "local_intercept",
        "contributions",
    )

    @pytest.mark.parametrize("method", METHODS)
    @pytest.mark.parametrize("n", [1, 40])
    def test_rows_are_read_alike(self, method, n):
        held, dense = pair()
        X = table(n)
        assert_allclose(getattr(held, method)(X), getattr(dense, method)(X), **close)

    @pytest.mark.parametrize("method", ["active", "region_keys"])
    def test_regions_are_the_same(self, method):
        held, dense = pair()
        found, expected = getattr(held, method)(table()), getattr(dense, method)(table())
        assert found.dtype == expected.dtype
        assert_array_equal(found, expected)

    def test_equations_are_the_same(self):
        held, dense = pair()
        for found, expected in zip(held.equation(table()), dense.equation(table()), strict=True):
            assert_allclose(found, expected, **close)

    @pytest.mark.parametrize("output", [0, 1])
    def test_limits_are_the_same(self, output):
        held, dense = pair()
        for x in table(5):
            assert_allclose(held.limits(x, output), dense.limits(x, output), **close)

    @pytest.mark.parametrize("column", range(5))
    def test_restrictions_are_the_same(self, column):
        held, dense = pair()
        found, expected = (one.along(table(6), column) for one in (held, dense))
        assert_same_restriction(found, expected, np.linspace(-3, 3, 11), **close)

    def test_moves_and_segments_are_the_same(self):
        held, dense = pair()
        X, targets = table(), np.random.default_rng(2).normal(size=(3, 40, 5))
        assert_allclose(held.moves(X, targets), dense.moves(X, targets), **close)
        found, expected = (one.segment(X, targets[0]) for one in (held, dense))
        assert_allclose(found, expected, **close)

    @invariant
    @given(pairs_and_rows())
    def test_all_of_it_holds_for_any_network_and_rows(self, case):
        held, dense, X = case
        for method in (*self.METHODS, "active", "region_keys"):
            found, expected = getattr(held, method)(X), getattr(dense, method)(X)
            assert_allclose(found, expected, **close)

    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    @pytest.mark.parametrize("of_table", [np.float32, np.float64])
    def test_results_have_the_dtype_of_the_dense_network(self, dtype, of_table):
        held, dense = pair(dtype=dtype)
        assert held.dtype == dense.dtype == dtype
        X = table().astype(of_table)
        for method in self.METHODS:
            found, expected = getattr(held, method)(X), getattr(dense, method)(X)
            assert found.dtype == expected.dtype
            assert_allclose(found, expected, rtol=1e-5, atol=1e-5)

    def test_sparse_weights_have_no_say_in_the_dtype(self):
        weights, where, rest = parts_of()
        single = [one.astype(np.float32) for one in rest]
        double = ReluNetwork(store(weights.astype(np.float32), where), *rest)
        assert (double.dtype, double.weights.dtype) == (np.float64, np.float32)
        both = ReluNetwork(store(weights, where), *single)
        assert (both.dtype, both.weights.dtype) == (np.float32, np.float64)
        assert double.score(table()).dtype == np.float64
        X = table().astype(np.float32)
        for method in self.METHODS:  # float32 where both the network and the table are
            assert getattr(both, method)(X).dtype == np.float32

    def test_many_rows_are_read_in_blocks(self):
        held, dense = pair()
        X = np.tile(table(), (800, 1))
        assert_allclose(held.score(X), dense.score(X), **close)

    def test_no_neurons_are_a_linear_function(self):
        rest = np.zeros(0), np.zeros((0, 2)), [1.0, 2.0], np.ones((5, 2))
        held = ReluNetwork(sparse.csr_array((0, 5)), *rest)
        expected = ReluNetwork(np.zeros((0, 5)), *rest)
        assert_allclose(held.score(table()), expected.score(table()), **close)
        assert held.n_neurons == 0
        assert held == expected


def test_importance_is_that_of_the_dense_network():
    X = table()
    found, expected = (feature_importance(one, X, output=0) for one in pair())
    assert_allclose(found.importance, expected.importance, **close)


def test_boundaries_are_those_of_the_dense_network():
    X = table()
    found, expected = (explain_row(one, X[0], X=X, output=0, reach=0) for one in pair())
    assert len(found.boundaries) == len(expected.boundaries) > 0
    for mine, theirs in zip(found.boundaries, expected.boundaries, strict=True):
        assert mine.neurons == theirs.neurons
        assert mine.distance == pytest.approx(theirs.distance)


class TestMaking:
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_another_dtype_is_that_of_all_arrays(self, dtype):
        held, dense = pair()
        found, expected = held.astype(dtype), dense.astype(dtype)
        assert found.is_sparse
        assert found.dtype == found.weights.dtype == dtype
        assert_array_equal(found.weights.toarray(), expected.weights)
        assert_array_equal(stored(found.weights), stored(held.weights))

    @pytest.mark.parametrize("neurons", [[3, 0, 3], [], np.arange(9) % 2 == 0], ids=str)
    def test_some_neurons_are_those_neurons(self, neurons):
        held, dense = pair()
        found, expected = held.select(neurons), dense.select(neurons)
        assert found.is_sparse
        assert found == expected
        where = stored(held.weights)[neurons if len(neurons) else np.zeros(0, dtype=int)]
        assert_array_equal(stored(found.weights), where)

    def test_another_read_out_leaves_the_neurons(self):
        held, dense = pair()
        beta = np.arange(9.0)
        found = held.with_readout(beta, 2.0, np.zeros(5))
        assert found == dense.with_readout(beta, 2.0, np.zeros(5))
        assert_array_equal(stored(found.weights), stored(held.weights))

    @pytest.mark.parametrize("kinds", [(0, 0), (0, 1), (1, 0)], ids=str)
    def test_sums_of_networks_are_sums(self, kinds):
        networks = [pair(seed)[kind] for seed, kind in zip((0, 5), kinds, strict=True)]
        dense = [one.dense() for one in networks]
        found = ReluNetwork.concatenate(networks, [0.25, -2.0])
        expected = ReluNetwork.concatenate(dense, [0.25, -2.0])
        assert found.is_sparse
        assert found == expected
        assert_allclose(found.score(table()), expected.score(table()), **close)

    def test_sums_keep_what_is_stored(self):
        networks = [pair(seed)[0] for seed in (0, 5)]
        found = ReluNetwork.concatenate(networks)
        where = np.vstack([stored(one.weights) for one in networks])
        assert_array_equal(stored(found.weights), where)

    def test_raw_units_are_those_of_the_dense_network(self):
        held, dense = pair()
        rng = np.random.default_rng(3)
        center, scale = rng.normal(size=5), rng.uniform(0.2, 3, 5)
        given_units = center, scale, [1.0, 2.0], [3.0, 0.5]
        found, expected = held.fold_scaling(*given_units), dense.fold_scaling(*given_units)
        assert found.is_sparse
        assert_array_equal(stored(found.weights), stored(held.weights))
        for name in PARTS:
            assert_allclose(getattr(found, name), getattr(expected, name), **close)
        assert_allclose(found.weights.toarray(), expected.weights, **close)
        scaled = dense.score((table() - center) / scale) * [3.0, 0.5] + [1.0, 2.0]
        assert_allclose(found.score(table()), scaled, rtol=1e-9, atol=1e-9)

    @pytest.mark.parametrize("method", ["merge_parallel", "canonical"])
    def test_simpler_forms_are_those_of_the_dense_network(self, method):
        weights, where, rest = parts_of()
        weights, where = np.vstack([weights, 2 * weights]), np.vstack([where, where])
        bias, beta = np.append(rest[0], 2 * rest[0]), np.vstack([rest[1], rest[1]])
        held = ReluNetwork(store(weights, where), bias, beta, *rest[2:])
        found, expected = (getattr(one, method)() for one in (held, held.dense()))
        assert found.n_neurons < held.n_neurons
        assert found == expected
        assert_allclose(found.score(table()), held.score(table()), rtol=1e-9, atol=1e-9)


class TestRefusals:
    def refused(self, error, message, weights=None, **changes):
        given_weights, where, rest = parts_of()
        given_parts = dict(zip(PARTS, rest, strict=True)) | changes
        with pytest.raises(error, match=message):
            ReluNetwork(store(given_weights, where) if weights is None else weights, **given_parts)

    @pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
    def test_what_is_not_finite_is_refused_by_name(self, bad):
        weights, where, rest = parts_of()
        weights[np.nonzero(where)[0][0], np.nonzero(where)[1][0]] = bad
        self.refused(ValueError, "weights must be finite", store(weights, where))
        for name, value in zip(PARTS, rest, strict=True):
            wrong = value.copy()
            wrong.flat[-1] = bad
            self.refused(ValueError, f"{name} must be finite", **{name: wrong})

    def test_numbers_that_are_not_real_are_refused(self):
        self.refused(TypeError, "weights must hold real numbers", sparse.csr_array([[1j]]))
        self.refused(TypeError, "bias must hold real numbers", bias=np.full(9, 1j))
        self.refused(TypeError, "linear must hold real numbers", linear=np.full((5, 2), "a"))

    @pytest.mark.parametrize(
        ("name", "shape"),
        [
            ("bias", (8,)),
            ("bias", (9, 1)),
            ("beta", (8, 2)),
            ("beta", (9, 0)),
            ("beta", (9, 2, 1)),
            ("intercept", (3,)),
            ("linear", (4, 2)),
            ("linear", (9, 2)),
            ("linear", (5, 1)),
            ("linear", (5, 3)),
            ("linear", (5,)),
            ("linear", ()),
            ("linear", (5, 2, 1)),
        ],
    )
    def test_a_wrong_shape_is_refused_by_name(self, name, shape):
        self.refused(ValueError, f"{name} has shape", **{name: np.ones(shape)})

    def test_no_columns_are_refused(self):
        self.refused(
            ValueError,
            "n_features >= 1",
            sparse.csr_array((9, 0)),
            linear=np.zeros((0, 2)),
        )

    def test_weights_of_other_rows_than_biases_are_refused(self):
        self.refused(ValueError, "bias has shape", sparse.csr_array((8, 5)))

    def test_whole_numbers_and_truths_are_weights(self):
        for dtype in (np.int64, np.bool_, np.uint8):
            weights = sparse.csr_array(np.eye(3, dtype=dtype))
            network = ReluNetwork(weights, np.zeros(3), np.ones(3), 0.0)
            assert network.weights.dtype == np.float64
            assert_array_equal(network.score([[1.0, -2.0, 3.0]]), [[4.0]])

    def test_tables_are_checked_as_ever(self):
        held, _ = pair()
        with pytest.raises(ValueError, match="X has 4 columns"):
            held.score(np.zeros((3, 4)))
        with pytest.raises(ValueError, match="X must be finite"):
            held.score(np.full((3, 5), np.nan))


@pytest.fixture(scope="module", params=["full", "both"])
def coded(request):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(200, 3)), rng.integers(0, 2, 200)])
    coding = QuantileCoding(request.param, max_bins=5, n_knots=6, min_values=3).learn(X)
    weights, where, rest = parts_of(shape=(30, coding.n_codes))
    networks = ReluNetwork(store(weights, where), *rest), ReluNetwork(weights, *rest)
    return X, *(CodedNetwork(coding, one) for one in networks)


class TestCoded:
    """A network of codes reads its columns alike, however its weights are held."""

    @pytest.mark.parametrize(
        "method", ["score", "hidden", "gradient", "local_intercept", "contributions"]
    )
    @pytest.mark.parametrize("n", [3, 200])
    def test_rows_are_read_alike(self, coded, method, n):
        X, held, dense = coded
        found, expected = (getattr(one, method)(X[:n]) for one in (held, dense))
        assert_allclose(found, expected, rtol=1e-10, atol=1e-10)

    def test_regions_moves_and_segments_are_the_same(self, coded):
        X, held, dense = coded
        assert_array_equal(held.active(X), dense.active(X))
        assert_array_equal(held.region_keys(X), dense.region_keys(X))
        targets = X[np.random.default_rng(1).permutation(200)][None]
        tolerance = {"rtol": 1e-9, "atol": 1e-9}
        assert_allclose(held.moves(X, targets), dense.moves(X, targets), **tolerance)
        assert_allclose(held.segment(X, targets[0]), dense.segment(X, targets[0]), **tolerance)
        for x in X[:4]:
            assert_allclose(held.limits(x), dense.limits(x), **tolerance)
        found, expected = (one.along(X[:5], 1) for one in (held, dense))
        assert_same_restriction(found, expected, np.linspace(-2, 2, 9), **tolerance)

    def test_pickles_are_the_same(self, coded):
        X, held, _ = coded
        found = pickle.loads(pickle.dumps(held))
        assert found.network.is_sparse
        assert_array_equal(found.score(X), held.score(X))
