"""Weights in CSR arrays, against the same weights in plain arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from lifenet.kernels.weights import (
    dense_of,
    equal_weights,
    is_sparse,
    lengths_of,
    multiply_columns,
    multiply_rows,
    pack_csr,
    read_only_csr,
    single_weights,
    stack_weights,
    stored_columns,
    unpack_csr,
)
from oracles import store, stored
from strategies import floats, invariant


@st.composite
def weights_and_pattern(draw, max_inputs=5):
    """Weights, and which of them are stored: some of these are zero."""
    m, p = draw(st.integers(0, 5)), draw(st.integers(1, max_inputs))
    where = draw(hnp.arrays(np.bool_, (m, p)))
    return np.where(where, draw(floats(m, p)), 0.0), where


def random_weights(seed=0, shape=(7, 5)):
    rng = np.random.default_rng(seed)
    where = rng.random(shape) < 0.5
    where[2] = False  # a neuron that reads nothing
    weights = np.where(where, rng.normal(size=shape), 0.0)
    row, column = np.argwhere(where)[3]
    weights[row, column] = 0.0  # a stored zero
    return weights, where


def test_only_sparse_arrays_are_sparse():
    assert is_sparse(sparse.csr_array((2, 3)))
    assert not is_sparse(np.zeros((2, 3)))
    assert not is_sparse([[0.0]])


@invariant
@given(weights_and_pattern())
def test_an_array_of_them_is_the_same_numbers(case):
    weights, where = case
    np.testing.assert_array_equal(dense_of(store(weights, where)), weights)
    assert dense_of(weights) is weights


@invariant
@given(weights_and_pattern(), st.data())
def test_factors_of_columns_and_rows_are_those_of_an_array(case, data):
    weights, where = case
    m, p = weights.shape
    columns, rows = data.draw(floats(p)), data.draw(floats(m))
    held = store(weights, where)
    for function, factors, expected in (
        (multiply_columns, columns, weights * columns),
        (multiply_rows, rows, weights * rows[:, None]),
    ):
        found = function(held, factors)
        assert is_sparse(found)
        np.testing.assert_array_equal(found.toarray(), expected)
        np.testing.assert_array_equal(stored(found), where)  # zeros stay stored
        np.testing.assert_array_equal(function(weights, factors), expected)
    np.testing.assert_array_equal(held.toarray(), weights)  # what is given is not changed


@invariant
@given(weights_and_pattern())
def test_lengths_are_those_of_an_array(case):
    weights, where = case
    expected = [np.sqrt(sum(value**2 for value in row)) for row in weights]
    for given_weights in (weights, store(weights, where)):
        found = lengths_of(given_weights)
        assert found.shape == (len(weights),)
        np.testing.assert_allclose(found, expected, rtol=1e-14)


def test_lengths_of_single_precision_are_summed_in_double():
    held = sparse.csr_array(np.array([[3e30, 4e30], [3e-30, 4e-30]], dtype=np.float32))
    np.testing.assert_allclose(lengths_of(held), [5e30, 5e-30], rtol=1e-6)


class TestStack:
    def test_arrays_make_an_array(self):
        one, two = random_weights(1)[0], random_weights(2)[0]
        found = stack_weights([one, two], 5)
        assert not is_sparse(found)
        np.testing.assert_array_equal(found, np.vstack([one, two]))

    def test_sparse_parts_keep_what_they_store(self):
        parts = [random_weights(seed) for seed in (1, 2, 3)]
        found = stack_weights([store(*one) for one in parts], 5)
        assert is_sparse(found)
        np.testing.assert_array_equal(found.toarray(), np.vstack([one for one, _ in parts]))
        np.testing.assert_array_equal(stored(found), np.vstack([where for _, where in parts]))

    @pytest.mark.parametrize("first", [True, False])
    def test_one_sparse_part_makes_all_sparse(self, first):
        parts = [store(*random_weights(1)), random_weights(2)[0]][:: 1 if first else -1]
        found = stack_weights(parts, 5)
        assert is_sparse(found)
        expected = [dense_of(part) for part in parts]
        np.testing.assert_array_equal(found.toarray(), np.vstack(expected))

    def test_an_array_beside_sparse_parts_stores_all_of_its_weights(self):
        """All weights of an array may move, zeros among them: they still may."""
        (weights, where), plain = random_weights(1), random_weights(2)[0]
        assert not plain.all()
        found = stack_weights([store(weights, where), plain], 5)
        np.testing.assert_array_equal(stored(found), np.vstack([where, np.ones_like(where)]))

    def test_parts_without_neurons_add_nothing(self):
        weights, where = random_weights()
        nothing = np.zeros((0, 5))
        found = stack_weights([nothing, store(weights, where), nothing], 5)
        np.testing.assert_array_equal(found.toarray(), weights)
        assert not is_sparse(stack_weights([weights, sparse.csr_array((0, 5))], 5))
        for parts in ([], [nothing], [sparse.csr_array((0, 5)), nothing]):
            assert stack_weights(parts, 5).shape == (0, 5)


@invariant
@given(weights_and_pattern(max_inputs=6), st.data())
def test_columns_read_are_those_of_the_inputs_that_are_stored(case, data):
    weights, where = case
    m, p = weights.shape
    column_of = np.sort(data.draw(hnp.arrays(np.intp, p, elements=st.integers(0, 3))))
    for given_weights, pattern in ((store(weights, where), where), (weights, weights != 0)):
        expected = np.zeros((m, 4), dtype=int)
        for row, code in np.argwhere(pattern):
            expected[row, column_of[code]] = 1
        found = stored_columns(given_weights, column_of, 4)
        assert found.shape == (m, 4)
        np.testing.assert_array_equal(found.toarray(), expected)


class TestReadOnly:
    def test_it_is_a_sorted_copy_that_cannot_be_written_to(self):
        data, columns = np.array([1.0, 2.0, 0.0, 3.0]), np.array([4, 1, 3, 2])
        given_weights = sparse.csr_array((data, columns, np.array([0, 3, 4])), shape=(2, 5))
        found = read_only_csr(given_weights, np.dtype(np.float64))
        np.testing.assert_array_equal(found.indices, [1, 3, 4, 2])
        np.testing.assert_array_equal(found.data, [2.0, 0.0, 1.0, 3.0])
        data[:], columns[:] = 9.0, 0
        np.testing.assert_array_equal(found.toarray(), [[0, 2, 0, 0, 1], [0, 0, 3, 0, 0]])
        for array in (found.data, found.indices, found.indptr):
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 0

    def test_duplicates_are_summed(self):
        index = (np.array([0, 0, 1]), np.array([1, 1, 0]))
        given_weights = sparse.coo_array((np.array([1.0, 2.0, 4.0]), index), shape=(2, 2))
        found = read_only_csr(given_weights, np.dtype(np.float64))
        assert found.nnz == 2
        np.testing.assert_array_equal(found.toarray(), [[0, 3], [4, 0]])

    @pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok"])
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_any_format_is_read_in_the_dtype_asked_for(self, kind, dtype):
        weights, _ = random_weights()
        found = read_only_csr(sparse.csr_array(weights).asformat(kind), np.dtype(dtype))
        assert found.format == "csr"
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.toarray(), weights.astype(dtype))


class TestEqual:
    @invariant
    @given(weights_and_pattern(), st.data())
    def test_it_is_equality_of_the_numbers_however_they_are_held(self, case, data):
        weights, where = case
        other = weights.copy()
        if weights.size and data.draw(st.booleans()):
            other[data.draw(st.integers(0, len(other) - 1)), 0] += data.draw(st.integers(0, 1))
        same = np.array_equal(weights, other)
        everywhere = np.ones_like(where)
        for one in (weights, store(weights, where), store(weights, everywhere)):
            for two in (other, store(other, everywhere)):
                assert equal_weights(one, two) == equal_weights(two, one) == same

    def test_other_shapes_are_never_equal(self):
        assert not equal_weights(np.zeros((2, 3)), sparse.csr_array((3, 2)))
        assert not equal_weights(sparse.csr_array((2, 3)), sparse.csr_array((2, 4)))


class TestSmaller:
    def test_single_weights_are_rounded_and_hold_no_zeros(self):
        weights, where = random_weights()
        held = store(weights, where)
        found = single_weights(held)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found.toarray(), weights.astype(np.float32))
        np.testing.assert_array_equal(stored(found), weights != 0)
        np.testing.assert_array_equal(stored(held), where)  # what is given is not changed

    @invariant
    @given(weights_and_pattern(max_inputs=6))
    def test_what_is_packed_is_unpacked_unchanged(self, case):
        held = store(*case)
        found = unpack_csr(pack_csr(held))
        assert found.shape == held.shape
        assert found.dtype == held.dtype
        for name in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(found, name), getattr(held, name))

    @pytest.mark.parametrize(
        ("n_inputs", "dtype"),
        [(1, np.uint8), (256, np.uint8), (257, np.uint16), (65537, np.uint32)],
    )
    def test_numbers_of_columns_take_as_few_bytes_as_they_need(self, n_inputs, dtype):
        last = sparse.csr_array(([1.5, 2.5], ([0, 2], [0, n_inputs - 1])), shape=(3, n_inputs))
        packed = pack_csr(last)
        assert packed[1].dtype == dtype
        np.testing.assert_array_equal(unpack_csr(packed).toarray(), last.toarray())

    def test_long_rows_are_counted_right(self):
        weights = np.arange(1.0, 2401.0).reshape(2, 1200)
        weights[0, 300:] = 0.0
        held = sparse.csr_array(weights)
        np.testing.assert_array_equal(unpack_csr(pack_csr(held)).toarray(), weights)
