import numpy as np
import pytest

from lifenet.blocks import ArrayRows


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
