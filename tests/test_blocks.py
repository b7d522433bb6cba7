import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifenet.data.rows import ArrayRows, HeldRows
from strategies import invariant


@pytest.fixture
def table():
    generator = np.random.default_rng(0)
    return generator.normal(3, 2, size=(53, 4)), generator.normal(size=53)


@pytest.mark.parametrize("block_rows", [1, 7, 53, 500])
def test_sums_over_blocks_are_sums_over_rows(table, block_rows):
    X, y = table
    weight = np.arange(1.0, 54.0)
    rows = ArrayRows.of(X, y, weight)
    total, count = rows.sum(
        lambda block: (block.inputs @ (block.weight * block.target), float(len(block.target))),
        block_rows,
    )
    np.testing.assert_allclose(total, np.append(X.T @ (weight * y), weight @ y))
    assert count == 53


def test_collect_keeps_the_order_of_rows(table):
    X, y = table
    big = np.tile(X, (200, 1))
    rows = ArrayRows.of(big, np.tile(y, 200))
    np.testing.assert_array_equal(rows.collect(lambda block: block.inputs[2].copy()), big[:, 2])


def test_reduce_combines_first_to_last(table):
    X, y = table
    joined = ArrayRows.of(X, y).reduce(
        lambda block: list(block.target), lambda first, second: first + second, 10
    )
    assert joined == list(y)


def test_standardised_columns_have_weighted_mean_zero_and_deviation_one(table):
    X, y = table
    weight = np.random.default_rng(1).uniform(0.1, 3, 53)
    rows = ArrayRows.of(X, y, weight).standardised()
    first, second = rows.sum(
        lambda block: (block.inputs[:-1] @ block.weight, block.inputs[:-1] ** 2 @ block.weight), 10
    )
    np.testing.assert_allclose(first, 0, atol=1e-10)
    np.testing.assert_allclose(second, weight.sum())


def test_rows_of_weight_zero_are_absent(table):
    X, y = table
    weight = np.where(np.arange(53) % 3 == 0, 0.0, 2.0)
    X = X.copy()
    X[weight == 0] = 1e30  # would swamp every sum
    rows = ArrayRows.of(X, y, weight).standardised()
    kept = ArrayRows.of(X[weight > 0], y[weight > 0], weight[weight > 0]).standardised()
    assert rows.n_rows == kept.n_rows
    np.testing.assert_array_equal(rows.scaling.center, kept.scaling.center)
    np.testing.assert_array_equal(
        rows.collect(lambda block: block.inputs[0].copy()),
        kept.collect(lambda block: block.inputs[0].copy()),
    )


def test_constant_columns_become_zero_not_noise():
    """1e8 + 0.1 in every row has a spread that is only rounding."""
    X = np.column_stack([np.full(100, 1e8 + 0.1), np.zeros(100), np.arange(100.0)])
    rows = ArrayRows.of(X, np.zeros(100)).standardised()
    np.testing.assert_array_equal(rows.scaling.scale[:2], 1.0)
    values = rows.collect(lambda block: block.inputs[0].copy())
    np.testing.assert_allclose(values, 0, atol=1e-6)


def test_float32_tables_are_read_without_a_copy_and_summed_in_float64():
    X = np.full((10, 2), 0.1, dtype=np.float32)
    rows = ArrayRows.of(X, np.zeros(10))
    assert rows.X is X
    (dtype,) = {rows.reduce(lambda block: block.inputs.dtype, lambda a, b: a, 4)}
    assert dtype == np.float64


def test_lengths_that_disagree_are_refused(table):
    X, y = table
    with pytest.raises(ValueError, match=r"shape \(53,\).*got \(52,\)"):
        ArrayRows.of(X, y[:-1])


def contents(rows):
    """All that can be read of rows: inputs, targets and weights."""
    inputs = rows.collect(lambda block: block.inputs.copy())
    target = rows.collect(lambda block: block.target.copy())
    return np.vstack([inputs, target, rows.collect(lambda block: block.weight.copy())])


@pytest.fixture
def scaled(table):
    """Standardised rows, some of weight zero."""
    X, y = table
    weight = np.where(np.arange(53) % 5 == 0, 0.0, np.arange(53.0))
    return ArrayRows.of(X, y, weight).standardised()


def test_held_rows_are_the_same_rows(scaled):
    held = scaled.held()
    assert isinstance(held, HeldRows)
    assert held.held() is held
    np.testing.assert_array_equal(contents(held), contents(scaled))
    assert (held.n_rows, held.n_features) == (scaled.n_rows, scaled.n_features)
    assert held.total_weight == scaled.total_weight
    np.testing.assert_array_equal(held.target, scaled.target)
    for block_rows in (1, 7, 500):
        first, second = (
            rows.sum(lambda block: (block.inputs @ (block.weight * block.target),), block_rows)[0]
            for rows in (held, scaled)
        )
        # Laid out in another way, a product may be summed in another order.
        np.testing.assert_allclose(first, second, rtol=1e-13)


def test_rows_that_take_much_memory_are_not_held(scaled, monkeypatch):
    monkeypatch.setattr("lifenet.data.budgets.HELD_ROWS", 8 * scaled.n_rows * 5 - 1)
    assert scaled.held() is scaled
    monkeypatch.setattr("lifenet.data.budgets.HELD_ROWS", 8 * scaled.n_rows * 5)
    assert isinstance(scaled.held(), HeldRows)


@pytest.mark.parametrize("hold", [False, True], ids=["array", "held"])
def test_taken_rows_keep_their_scaling_and_multiply_their_weight(scaled, hold):
    rows = scaled.held() if hold else scaled
    index, counts = np.array([3, 0, 11, 11]), np.array([2.0, 1.0, 5.0, 1.0])
    expected = contents(scaled)[:, index]
    np.testing.assert_array_equal(contents(rows.take(index)), expected)
    expected[-1] *= counts
    taken = rows.take(index, counts)
    np.testing.assert_array_equal(contents(taken), expected)
    assert taken.total_weight == expected[-1].sum()
    again = taken.take(np.array([2, 1]), np.array([1.0, 3.0]))
    expected = expected[:, [2, 1]]
    expected[-1] *= [1.0, 3.0]
    np.testing.assert_array_equal(contents(again), expected)


def test_taking_rows_does_not_copy_the_table(scaled):
    assert scaled.take(np.arange(5)).X is scaled.X


def test_held_rows_have_the_same_columns(scaled):
    few = scaled.held().with_columns(np.array([2, 0]))
    np.testing.assert_array_equal(contents(few), contents(scaled)[[2, 0, 4, 5, 6]])


def test_some_columns_keep_their_scaling_rows_and_weights(scaled, table):
    index = np.array([2, 0])
    few = scaled.with_columns(index)
    np.testing.assert_array_equal(contents(few), contents(scaled)[[2, 0, 4, 5, 6]])
    assert few.X.flags.c_contiguous
    assert not np.shares_memory(few.X, scaled.X)
    np.testing.assert_array_equal(few.scaling.constant, scaled.scaling.constant[index])
    X, y = table
    plain = ArrayRows.of(X, y).with_columns(index)
    assert plain.scaling is None
    np.testing.assert_array_equal(plain.X, X[:, index])


@pytest.mark.parametrize("hold", [False, True], ids=["array", "held"])
def test_other_targets_leave_the_rest_as_it_is(scaled, hold):
    rows = scaled.held() if hold else scaled
    target = np.arange(float(rows.n_rows))
    before = contents(rows)
    expected = before.copy()
    expected[-2] = target
    np.testing.assert_array_equal(contents(rows.with_target(target)), expected)
    np.testing.assert_array_equal(contents(rows), before)


@invariant
@given(st.lists(st.integers(0, 9), min_size=1, max_size=30), st.integers(1, 12))
def test_counts_are_repeated_rows(index, block_rows):
    """Drawing a row three times is taking it once with a count of three."""
    X = np.arange(20.0).reshape(10, 2)
    rows = ArrayRows.of(X, X[:, 0] - 3, np.arange(1.0, 11.0))
    once, counts = np.unique(index, return_counts=True)

    def sums(some):
        return some.sum(
            lambda block: (block.inputs @ block.weight, float(block.target @ block.weight)),
            block_rows,
        )

    heavy, long = sums(rows.take(once, counts.astype(float))), sums(rows.take(np.array(index)))
    np.testing.assert_allclose(heavy[0], long[0])
    assert heavy[1] == pytest.approx(long[1])
