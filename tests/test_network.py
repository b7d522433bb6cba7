"""The network as a value and as a function, against plain loops and the models it adopts."""

from __future__ import annotations

import copy
import itertools
import pickle
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import FrozenInstanceError
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet._typing import Floats
from lifenet.kernels import row_blocks
from lifenet.network import PiecewiseLinear, ReluNetwork, ReluRestriction, Restriction
from strategies import eighths, equivalents, floats, invariant, networks, networks_and_rows, rows

ARRAYS = ("weights", "bias", "beta", "intercept", "linear")


def random_network(m: int, p: int, q: int = 1, seed: int = 0, dtype: Any = float) -> ReluNetwork:
    rng = np.random.default_rng(seed)
    shapes = (m, p), (m,), (m, q), (q,), (p, q)
    return ReluNetwork(*(rng.normal(size=shape).astype(dtype) for shape in shapes))


def random_rows(n: int, p: int, seed: int = 1, dtype: Any = float) -> Floats:
    return np.random.default_rng(seed).normal(size=(n, p)).astype(dtype)


def arrays_of(network: ReluNetwork) -> list[Floats]:
    return [getattr(network, name) for name in ARRAYS]


def assert_same_network(left: ReluNetwork, right: ReluNetwork) -> None:
    for name in ARRAYS:
        assert_allclose(getattr(left, name), getattr(right, name), rtol=1e-8, atol=1e-8)


# ---------------------------------------------------------------------- plain loops


def loop_preactivation(network: ReluNetwork, x: Floats, k: int) -> float:
    total = float(network.bias[k])
    for j in range(network.n_features):
        total += float(network.weights[k, j]) * float(x[j])
    return total


def loop_score(network: ReluNetwork, x: Floats) -> list[float]:
    scores = []
    for o in range(network.n_outputs):
        total = float(network.intercept[o])
        for j in range(network.n_features):
            total += float(network.linear[j, o]) * float(x[j])
        for k in range(network.n_neurons):
            z = loop_preactivation(network, x, k)
            if z > 0:
                total += float(network.beta[k, o]) * z
        scores.append(total)
    return scores


def loop_gradient(network: ReluNetwork, x: Floats) -> list[list[float]]:
    slopes = [[float(value) for value in line] for line in network.linear]
    for k in range(network.n_neurons):
        if loop_preactivation(network, x, k) > 0:
            for j in range(network.n_features):
                for o in range(network.n_outputs):
                    slopes[j][o] += float(network.weights[k, j]) * float(network.beta[k, o])
    return slopes


def loop_segment(network: ReluNetwork, start: Floats, end: Floats) -> Floats:
    """Quadrature of the gradient, exact because its nodes lie between the kinks."""
    cuts = {0.0, 1.0}
    for k in range(network.n_neurons):
        z0, z1 = (loop_preactivation(network, x, k) for x in (start, end))
        if z0 * z1 < 0:
            cuts.add(z0 / (z0 - z1))
    ordered = sorted(cuts)
    integral = np.zeros((network.n_features, network.n_outputs))
    for left, right in itertools.pairwise(ordered):
        middle = start + (left + right) / 2 * (end - start)
        integral += (right - left) * np.array(loop_gradient(network, middle))
    return integral * (end - start)[:, None]


def with_column(X: Floats, column: int, value: Any) -> Floats:
    moved = X.copy()
    moved[:, column] = value
    return moved


# ---------------------------------------------------------------------- the function


@invariant
@given(networks_and_rows(min_rows=0))
def test_hidden_layer_is_that_of_a_loop(case: tuple[ReluNetwork, Floats]) -> None:
    network, X = case
    z = [[loop_preactivation(network, x, k) for k in range(network.n_neurons)] for x in X]
    expected = np.reshape(z, (len(X), network.n_neurons))
    assert_allclose(network.preactivations(X), expected, rtol=0, atol=1e-12)
    assert_allclose(network.hidden(X), np.maximum(expected, 0), rtol=0, atol=1e-12)
    assert_array_equal(network.active(X), expected > 0)
    assert network.active(X).dtype == np.bool_


@invariant
@given(networks_and_rows(min_rows=0))
def test_score_gradient_and_contributions_are_those_of_a_loop(
    case: tuple[ReluNetwork, Floats],
) -> None:
    network, X = case
    n, p, q = len(X), network.n_features, network.n_outputs
    score = np.reshape([loop_score(network, x) for x in X], (n, q))
    gradient = np.reshape([loop_gradient(network, x) for x in X], (n, p, q))
    assert_allclose(network.score(X), score, rtol=1e-13, atol=1e-12)
    assert_allclose(network.gradient(X), gradient, rtol=1e-13, atol=1e-12)
    assert_allclose(network.contributions(X), gradient * X[:, :, None], rtol=1e-13, atol=1e-12)
    constant = score - (gradient * X[:, :, None]).sum(axis=1)
    assert_allclose(network.local_intercept(X), constant, rtol=1e-12, atol=1e-11)


def test_contributions_and_local_intercept_sum_to_the_score() -> None:
    network, X = random_network(40, 6, 3), random_rows(300, 6)
    total = network.local_intercept(X) + network.contributions(X).sum(axis=1)
    assert_allclose(total, network.score(X), rtol=0, atol=1e-12)
    # The constant moves from row to row: it is not the intercept.
    assert np.ptp(network.local_intercept(X), axis=0).min() > 1


def test_slopes_and_constant_are_one_reading() -> None:
    network, X = random_network(40, 6, 3), random_rows(300, 6)
    slopes, constant = network.equation(X)
    assert_array_equal(slopes, network.gradient(X))
    assert_array_equal(constant, network.local_intercept(X))
    total = (slopes * X[:, :, None]).sum(axis=1) + constant
    assert_allclose(total, network.score(X), rtol=0, atol=1e-12)


def test_gradient_is_the_limit_of_differences() -> None:
    network, X, h = random_network(30, 4, 2), random_rows(200, 4), 1e-6
    reach = h * np.abs(network.weights).max()
    X = X[np.abs(network.preactivations(X)).min(axis=1) > reach]
    assert len(X) > 150
    for j in range(4):
        step = h * np.eye(4)[j]
        slope = (network.score(X + step) - network.score(X - step)) / (2 * h)
        assert_allclose(network.gradient(X)[:, j], slope, rtol=0, atol=1e-7)


def test_a_row_on_a_kink_is_inactive() -> None:
    network = ReluNetwork([[2.0, -1.0]], [1.0], [3.0], 0.5)
    on_kink = [[0.0, 1.0]]
    assert network.preactivations(on_kink).item() == 0
    assert not network.active(on_kink).item()
    assert network.region_keys(on_kink).item() == 0
    assert_array_equal(network.gradient(on_kink), np.zeros((1, 2, 1)))


def test_without_neurons_the_network_is_linear() -> None:
    network = ReluNetwork(np.empty((0, 2)), [], [], 1.0, [[2.0], [3.0]])
    X = np.array([[1.0, 1.0], [0.0, -1.0]])
    assert network.n_neurons == 0
    assert_array_equal(network.score(X), [[6.0], [-2.0]])
    assert_array_equal(network.gradient(X)[:, :, 0], [[2.0, 3.0]] * 2)
    assert_array_equal(network.region_keys(X), [0, 0])
    assert_array_equal(network.segment(X[0], X[1])[0, :, 0], [-2.0, -6.0])
    along = network.along(X, 0)
    assert_array_equal(along.increment(0, [1, 2]), [[2.0], [4.0]])
    assert_array_equal(along.mean([0.0, 1.0]), [[1.0], [3.0]])
    assert list(along.kinks()) == []
    assert network.canonical() == network.merge_parallel() == network


def test_tables_of_integers_booleans_and_lists_are_read_as_numbers() -> None:
    network = random_network(5, 2)
    expected = network.score(np.array([[1.0, 0.0], [0.0, 1.0]]))
    for table in ([[1, 0], [0, 1]], np.eye(2, dtype=np.int8), np.eye(2, dtype=bool)):
        assert_array_equal(network.score(table), expected)


# ---------------------------------------------------------------------- regions


@pytest.mark.parametrize("m", [1, 7, 63, 64])
def test_region_keys_are_the_packed_patterns(m: int) -> None:
    network, X = random_network(m, 3), random_rows(300, 3)
    spelled = [sum(1 << k for k in range(m) if row[k]) for row in network.active(X).tolist()]
    assert network.region_keys(X).dtype == np.uint64
    assert network.region_keys(X).tolist() == spelled


def test_region_keys_of_a_wide_network_tell_patterns_apart() -> None:
    network = random_network(200, 3)
    X = np.vstack([random_rows(3000, 3)] * 2)
    _, by_pattern = np.unique(network.active(X), axis=0, return_inverse=True)
    _, by_key = np.unique(network.region_keys(X), return_inverse=True)
    pairs = set(zip(by_pattern.ravel().tolist(), by_key.tolist(), strict=True))
    assert len(pairs) == by_pattern.max() + 1 == by_key.max() + 1
    assert len(pairs) > 1000


# ---------------------------------------------------------------------- segments


@invariant
@given(st.data())
def test_segment_is_the_integral_of_the_gradient(data: st.DataObject) -> None:
    network = data.draw(networks())
    n = data.draw(st.integers(1, 5))
    start, end = (data.draw(floats(n, network.n_features)) for _ in range(2))
    integral = network.segment(start, end)
    expected = [loop_segment(network, a, b) for a, b in zip(start, end, strict=True)]
    assert_allclose(integral, np.array(expected), rtol=0, atol=1e-10)
    difference = network.score(end) - network.score(start)
    assert_allclose(integral.sum(axis=1), difference, rtol=0, atol=1e-10)
    assert_allclose(network.segment(end, start), -integral, rtol=0, atol=1e-12)


def test_segment_from_or_to_a_single_row() -> None:
    network, X = random_network(20, 3, 2), random_rows(50, 3)
    reference = np.array([0.3, -0.2, 0.1])
    expected = network.segment(np.tile(reference, (50, 1)), X)
    assert expected.shape == (50, 3, 2)
    for single in (reference, reference[None], reference.tolist()):
        assert_allclose(network.segment(single, X), expected, rtol=0, atol=1e-12)
        assert_allclose(network.segment(X, single), -expected, rtol=0, atol=1e-12)
    assert_allclose(network.segment(reference, X[3]), expected[3:4], rtol=0, atol=1e-12)


def test_segment_that_stays_on_a_kink_follows_the_inactive_side() -> None:
    network = ReluNetwork([[1.0, -1.0]], [0.0], [5.0], 0.0, [[1.0], [2.0]])
    parts = network.segment([0.0, 0.0], [1.0, 1.0])
    assert_array_equal(parts[0, :, 0], [1.0, 2.0])


# ---------------------------------------------------------------------- along a column


@st.composite
def restrictions(draw: st.DrawFn) -> tuple[ReluNetwork, Floats, int]:
    network, X = draw(networks_and_rows())
    return network, X, draw(st.integers(0, network.n_features - 1))


@invariant
@given(restrictions(), st.data())
def test_increment_is_the_difference_of_scores(
    case: tuple[ReluNetwork, Floats, int], data: st.DataObject
) -> None:
    network, X, j = case
    low = data.draw(st.one_of(eighths(), floats(len(X))))
    high = data.draw(st.one_of(eighths(), floats(len(X))))
    expected = [
        np.subtract(loop_score(network, b), loop_score(network, a))
        for a, b in zip(with_column(X, j, low), with_column(X, j, high), strict=True)
    ]
    increment = network.along(X, j).increment(low, high)
    assert increment.shape == (len(X), network.n_outputs)
    assert_allclose(increment, np.array(expected), rtol=0, atol=1e-11)


def test_increment_over_a_small_step_keeps_its_digits() -> None:
    # The difference of two scores near 1e8 would keep six digits of a change near 1e-2.
    network = ReluNetwork([[0.1, 1.0]], [0.3], [1.7], 0.0)
    low, high = 1e3, 1e3 + 0.1
    increment = network.along([[0.0, 1e8]], 0).increment(low, high).item()
    step = Fraction(high) - Fraction(low)
    exact = Fraction(1.7) * Fraction(0.1) * step
    assert increment == pytest.approx(float(exact), rel=1e-14)


@invariant
@given(restrictions(), st.data())
def test_mean_is_the_average_of_predictions(
    case: tuple[ReluNetwork, Floats, int], data: st.DataObject
) -> None:
    network, X, j = case
    grid = data.draw(st.integers(0, 5).flatmap(floats))
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    weight[data.draw(st.integers(0, len(X) - 1))] += 1
    predictions = np.array(
        [[loop_score(network, x) for x in with_column(X, j, t)] for t in grid]
    ).reshape(len(grid), len(X), network.n_outputs)
    along = network.along(X, j)
    assert_allclose(along.mean(grid), predictions.mean(axis=1), rtol=0, atol=1e-11)
    average = np.average(predictions, axis=1, weights=weight)
    assert_allclose(along.mean(grid, weight), average, rtol=0, atol=1e-11)
    repeated = network.along(np.repeat(X, weight, axis=0), j)
    assert_allclose(along.mean(grid, weight), repeated.mean(grid), rtol=0, atol=1e-11)


def test_mean_of_a_wide_network_with_absent_weights() -> None:
    rng = np.random.default_rng(5)
    dense = random_network(80, 4, 2)
    weights = dense.weights * (rng.random((80, 4)) < 0.6)
    network = ReluNetwork(weights, dense.bias, dense.beta, dense.intercept, dense.linear)
    X, grid = random_rows(400, 4), rng.normal(size=15)
    weight = rng.exponential(size=400) * (rng.random(400) < 0.7)
    assert (weights[:, 2] == 0).any()
    assert (weights[:, 2] < 0).any()
    predictions = np.stack([network.score(with_column(X, 2, t)) for t in grid])
    expected = np.average(predictions, axis=1, weights=weight)
    assert_allclose(network.along(X, 2).mean(grid, weight), expected, rtol=0, atol=1e-12)


def test_rows_without_weight_are_as_good_as_absent() -> None:
    # A row far away must not even cost the others their digits.
    network, X = random_network(20, 3), random_rows(50, 3)
    weight, grid = np.linspace(1, 2, 51), np.linspace(-1, 1, 5)
    weight[50] = 0
    with_stray = network.along(np.vstack([X, [[1e12, 1e12, 1e12]]]), 1)
    expected = network.along(X, 1).mean(grid, weight[:50])
    assert_allclose(with_stray.mean(grid, weight), expected, rtol=0, atol=1e-13)


@invariant
@given(restrictions())
def test_kinks_are_where_rows_cross_hyperplanes(case: tuple[ReluNetwork, Floats, int]) -> None:
    network, X, j = case
    found = list(network.along(X, j).kinks())
    assert [k for k, _ in found] == [k for k in range(network.n_neurons) if network.weights[k, j]]
    for k, positions in found:
        assert type(k) is int
        assert positions.shape == (len(X),)
        for x in with_column(X, j, positions):
            assert loop_preactivation(network, x, k) == pytest.approx(0, abs=1e-10)


def test_kinks_too_far_away_are_infinite() -> None:
    network = ReluNetwork([[1e-200, 1.0]], [0.0], [1.0], 0.0)
    ((neuron, positions),) = network.along([[0.0, 1e200], [0.0, -1e200]], 0).kinks()
    assert neuron == 0
    assert positions.tolist() == [-np.inf, np.inf]


# ---------------------------------------------------------------------- blocks and memory


def joined(equation: tuple[Floats, Floats]) -> Floats:
    """Slopes and constant as one table."""
    return np.hstack([part.reshape(len(part), -1) for part in equation])


Reading = Callable[[ReluNetwork, Floats], Any]

READINGS: dict[str, Reading] = {
    "active": lambda network, X: network.active(X),
    "score": lambda network, X: network.score(X),
    "equation": lambda network, X: joined(network.equation(X)),
    "gradient": lambda network, X: network.gradient(X),
    "local_intercept": lambda network, X: network.local_intercept(X),
    "contributions": lambda network, X: network.contributions(X),
    "region_keys": lambda network, X: network.region_keys(X),
    "segment": lambda network, X: network.segment(X[0], X),
    "segment of pairs": lambda network, X: network.segment(X[::-1], X),
    "increment": lambda network, X: network.along(X, 1).increment(X[:, 0], 0.5),
    "mean": lambda network, X: network.along(X, 1).mean([-1.0, 0.0, 2.0], np.arange(len(X))),
    "kinks": lambda network, X: np.array([at for _, at in network.along(X, 1).kinks()]),
}


@pytest.mark.parametrize("name", READINGS)
@pytest.mark.parametrize("n_bytes", [1, 1000])
def test_results_do_not_depend_on_the_block(
    name: str, n_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    network, X = random_network(23, 3, 2), random_rows(57, 3)
    whole = READINGS[name](network, X)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", n_bytes)
    assert len(list(row_blocks.row_blocks(57, 23, network.dtype))) > 10
    blocked = READINGS[name](network, X)
    assert blocked.shape == whole.shape
    assert blocked.dtype == whole.dtype
    assert_allclose(blocked, whole, rtol=1e-12, atol=1e-12)


def test_blocks_cover_all_rows_once() -> None:
    double = np.dtype(np.float64)
    blocks = list(row_blocks.row_blocks(1_000_000, 500, double))
    covered = np.concatenate([np.arange(b.start, b.stop) for b in blocks])
    assert_array_equal(covered, np.arange(1_000_000))
    assert max(b.stop - b.start for b in blocks) * 500 * 8 <= row_blocks.BLOCK_BYTES
    assert list(row_blocks.row_blocks(0, 500, double)) == []


def peak_beyond_result(read: Callable[[], Any]) -> float:
    """Megabytes held at the worst moment of `read`, less those of what it returns."""
    tracemalloc.start()
    try:
        result = read()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return (peak - result.nbytes) / 1e6


@pytest.mark.parametrize(
    "name", ["score", "gradient", "local_intercept", "contributions", "region_keys", "segment"]
)
def test_memory_is_bounded_by_the_block(name: str) -> None:
    # All preactivations at once would be 800 MB.
    network, X = random_network(500, 2), random_rows(200_000, 2)
    assert peak_beyond_result(lambda: READINGS[name](network, X)) < 60


def test_memory_along_a_column_is_bounded() -> None:
    network, X = random_network(500, 2), random_rows(200_000, 2)
    few, along = random_network(25, 2).along(X, 0), network.along(X, 0)
    assert peak_beyond_result(lambda: along.increment(-1.0, 1.0)) < 60
    assert peak_beyond_result(lambda: next(along.kinks())[1]) < 60
    # 200,000 rows by 1,000 values would be 1.6 GB.
    assert peak_beyond_result(lambda: few.mean(np.linspace(-1, 1, 1000))) < 60


def test_many_columns_and_few_neurons_are_bounded_too() -> None:
    # The temporary that matters is then the gradient of the block, 320 MB for all rows.
    network, X = random_network(1, 200), random_rows(100_000, 200, dtype=np.float32)
    network = network.astype(np.float32)
    assert peak_beyond_result(lambda: network.gradient(X)) < 40


# ---------------------------------------------------------------------- dtypes


@pytest.mark.parametrize(
    "name", [name for name in READINGS if name not in ("active", "region_keys")]
)
def test_results_are_float32_where_network_and_table_are(name: str) -> None:
    single, X32 = random_network(30, 4, 2, dtype=np.float32), random_rows(60, 4, dtype=np.float32)
    double, X64 = single.astype(np.float64), X32.astype(np.float64)
    read = READINGS[name]
    exact = read(double, X64)
    assert read(single, X32).dtype == np.float32
    for network, X in ((single, X64), (double, X32), (double, X64)):
        assert read(network, X).dtype == np.float64
        assert_allclose(read(network, X), exact, rtol=1e-9, atol=1e-9)
    assert_allclose(read(single, X32), exact, rtol=1e-3, atol=1e-4)


def test_hidden_layer_in_float32() -> None:
    network, X = random_network(6, 2, dtype=np.float32), random_rows(5, 2, dtype=np.float32)
    assert network.preactivations(X).dtype == network.hidden(X).dtype == np.float32
    assert network.preactivations(X.astype(np.float16)).dtype == np.float64
    assert network.preactivations(X.astype(int)).dtype == np.float64


def test_float32_step_is_taken_before_rounding() -> None:
    # 2000.1 and 2000.2 are 0.09997 apart once rounded to float32.
    network = ReluNetwork(*(np.ones(s, dtype=np.float32) for s in ((1, 1), (1,), (1,), (1,))))
    along = network.along(np.zeros((1, 1), dtype=np.float32), 0)
    assert along.increment(2000.1, 2000.2).item() == pytest.approx(0.1, rel=1e-6)


def test_network_is_float32_only_if_all_its_arrays_are() -> None:
    single = [np.ones(shape, dtype=np.float32) for shape in ((2, 3), (2,), (2, 1), (1,), (3, 1))]
    assert ReluNetwork(*single).dtype == np.float32
    assert ReluNetwork(*single[:3], 0.5).dtype == np.float32
    for place in range(5):
        mixed = [a.astype(float) if k == place else a for k, a in enumerate(single)]
        assert all(a.dtype == np.float64 for a in arrays_of(ReluNetwork(*mixed)))
    assert ReluNetwork(*single[:3], np.float64(0.5)).dtype == np.float64
    assert ReluNetwork(*(a.astype(int) for a in single)).dtype == np.float64
    assert ReluNetwork(*(a.astype(">f8") for a in single)).weights.dtype.isnative


def test_astype() -> None:
    network = random_network(4, 2)
    single = network.astype("float32")
    assert all(a.dtype == np.float32 for a in arrays_of(single))
    assert_array_equal(single.weights, network.weights.astype(np.float32))
    assert network.astype(np.float64) == network
    with pytest.raises(TypeError, match="dtype must be float32 or float64; it is int64"):
        network.astype(np.int64)
    with pytest.raises(ValueError, match="weights must be finite; it holds inf"):
        ReluNetwork([[1e60]], [0.0], [1.0], 0.0).astype(np.float32)


@pytest.mark.parametrize("method", ["merge_parallel", "canonical"])
def test_derived_networks_keep_float32(method: str) -> None:
    network = random_network(4, 2, dtype=np.float32)
    scaled = ReluNetwork(
        np.vstack([network.weights, network.weights * np.float32(1 / 3)]),
        np.concatenate([network.bias, network.bias * np.float32(1 / 3)]),
        np.vstack([network.beta, network.beta]),
        network.intercept,
    )
    merged = getattr(scaled, method)()
    assert merged.dtype == np.float32
    assert merged.n_neurons == 4  # a third is not exact in float32: the tolerance knows
    average = ReluNetwork.concatenate([network, network], [0.5, 0.5])
    assert average.dtype == network.fold_scaling(1.0, 2.0).dtype == np.float32
    assert ReluNetwork.concatenate([network, network.astype(float)]).dtype == np.float64


# ---------------------------------------------------------------------- the value


def test_arrays_are_copies_and_read_only() -> None:
    weights, bias = np.ones((2, 3)), np.zeros(2)
    network = ReluNetwork(weights, bias, np.ones((2, 1)), np.zeros(1), np.zeros((3, 1)))
    weights[0, 0] = bias[0] = 9.0
    assert network.weights[0, 0] == 1.0
    assert network.bias[0] == 0.0
    for array in arrays_of(network):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        network.bias = bias  # type: ignore[misc]


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy]
    + [
        lambda net, p=p: pickle.loads(pickle.dumps(net, p))
        for p in range(pickle.HIGHEST_PROTOCOL + 1)
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_copies_stay_read_only(duplicate: Callable[[ReluNetwork], ReluNetwork], dtype: Any) -> None:
    network = random_network(3, 2, 2, dtype=dtype)
    twin = duplicate(network)
    assert twin == network
    assert twin is not network
    assert twin.dtype == dtype
    for array in arrays_of(twin):
        assert not array.flags.writeable
        assert array.flags.owndata


def test_networks_compare_by_their_arrays() -> None:
    network = random_network(3, 2)
    assert network == ReluNetwork(*arrays_of(network))
    for name in ARRAYS:
        changed = {other: getattr(network, other) for other in ARRAYS}
        changed[name] = np.nextafter(changed[name], np.inf)
        assert network != ReluNetwork(**changed)
    assert network != network.select([0, 1])
    assert network != "network"
    with pytest.raises(TypeError, match="unhashable"):
        hash(network)


def test_short_forms_of_the_arguments() -> None:
    network = ReluNetwork([[1, 2], [3, 4]], [0, 0], [1, -1], 2, [5, 6])
    assert network.beta.shape == (2, 1)
    assert network.intercept.tolist() == [2.0]
    assert network.linear.tolist() == [[5.0], [6.0]]
    wide = ReluNetwork([[1, 2]], [0], [[1, 2, 3]], 4)
    assert wide.intercept.tolist() == [4.0] * 3
    assert_array_equal(wide.linear, np.zeros((2, 3)))
    assert (wide.n_neurons, wide.n_features, wide.n_outputs) == (1, 2, 3)


def test_representation() -> None:
    expected = "ReluNetwork(n_neurons=4, n_features=2, n_outputs=3, dtype=float32)"
    network = random_network(4, 2, 3, dtype=np.float32)
    assert repr(network) == expected
    along = network.along(np.zeros((7, 2)), 1)
    assert repr(along) == f"ReluRestriction(column=1, n_rows=7, of={expected})"


def test_reading_interface() -> None:
    network = random_network(2, 2)
    assert isinstance(network, PiecewiseLinear)
    assert isinstance(network.along([[0.0, 0.0]], 0), Restriction)
    assert isinstance(network.along([[0.0, 0.0]], 0).kinks(), Iterator)
    assert not isinstance(SimpleNamespace(score=None, n_features=2), PiecewiseLinear)


def network_arguments(**changed: Any) -> dict[str, Any]:
    plain = {"weights": np.ones((3, 2)), "bias": np.zeros(3), "beta": np.ones((3, 2))}
    return plain | {"intercept": np.zeros(2), "linear": np.zeros((2, 2))} | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"weights": np.ones(3)}, r"weights has shape \(3,\); expected \(n_neurons, n_features\)"),
        ({"weights": np.ones((3, 0))}, r"weights has shape \(3, 0\); .* n_features >= 1"),
        ({"bias": np.zeros(4)}, r"bias has shape \(4,\); expected \(3,\), one entry for each row"),
        ({"bias": 0.0}, r"bias has shape \(\); expected \(3,\)"),
        (
            {"beta": np.ones((2, 3))},
            r"beta has shape \(2, 3\); expected \(3,\) or \(3, n_outputs\)",
        ),
        ({"beta": np.ones((3, 0))}, r"beta has shape \(3, 0\); expected"),
        ({"beta": 1.0}, r"beta has shape \(\); expected"),
        ({"intercept": np.zeros(3)}, r"intercept has shape \(3,\); expected a number or \(2,\)"),
        ({"intercept": np.zeros(1)}, r"intercept has shape \(1,\); expected a number or \(2,\)"),
        ({"linear": np.zeros((3, 2))}, r"linear has shape \(3, 2\); expected \(2, 2\)"),
        ({"linear": np.zeros(2)}, r"linear has shape \(2,\); expected \(2, 2\)"),
        (
            {"weights": [[0, 1], [2, np.nan], [0, 0]]},
            "weights must be finite; it holds nan at row 1, column 1",
        ),
        ({"bias": [0, np.inf, 0]}, "bias must be finite; it holds inf at entry 1"),
        (
            {"beta": np.full((3, 2), -np.inf)},
            "beta must be finite; it holds -inf at row 0, column 0",
        ),
        ({"intercept": np.nan}, "intercept must be finite; it holds nan$"),
        ({"linear": np.full((2, 2), np.nan)}, "linear must be finite"),
        ({"weights": [[1, 2], [3]]}, "weights cannot be read as an array"),
    ],
)
def test_a_network_that_does_not_fit_together_is_refused(
    changed: dict[str, Any], message: str
) -> None:
    ReluNetwork(**network_arguments())
    with pytest.raises(ValueError, match=message):
        ReluNetwork(**network_arguments(**changed))


@pytest.mark.parametrize("bad", [["a", "b", "c"], [1j, 0, 0], np.array([None] * 3)])
def test_arrays_that_are_not_numbers_are_refused(bad: Any) -> None:
    with pytest.raises(TypeError, match="bias must hold real numbers; its dtype is"):
        ReluNetwork(**network_arguments(bias=bad))


METHODS = ["preactivations", "active", "hidden", "score", "equation", "gradient"]
METHODS += ["local_intercept", "contributions", "region_keys", "along"]


@pytest.mark.parametrize("method", METHODS)
def test_tables_that_do_not_fit_are_refused(method: str) -> None:
    network = random_network(3, 4)
    more = (0,) if method == "along" else ()

    def read(X: Any) -> None:
        getattr(network, method)(X, *more)

    read(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="X has 3 columns; the network reads n_features=4"):
        read(np.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"X must be two-dimensional.*shape \(4,\)"):
        read(np.zeros(4))
    with pytest.raises(TypeError, match="X must hold real numbers; its dtype is object"):
        read(np.full((2, 4), "1 m", dtype=object))
    read(np.zeros((2, 4), dtype=object))  # a frame of floats and booleans comes as objects
    with pytest.raises(ValueError, match="X must be finite; it holds nan at row 1, column 3"):
        read([[0, 0, 0, 0], [0, 0, 0, np.nan]])


def test_the_row_of_a_missing_value_is_named_in_long_tables() -> None:
    X = np.zeros((300_000, 4))
    X[250_001, 2] = np.inf
    with pytest.raises(ValueError, match="it holds inf at row 250001, column 2"):
        random_network(3, 4).score(X)


def test_segment_ends_that_do_not_fit_are_refused() -> None:
    network = random_network(3, 2)
    with pytest.raises(ValueError, match="start has 3 rows and end has 2"):
        network.segment(np.zeros((3, 2)), np.zeros((2, 2)))
    with pytest.raises(ValueError, match="end has 3 columns; the network reads n_features=2"):
        network.segment(np.zeros(2), np.zeros(3))
    with pytest.raises(ValueError, match="start must be finite; it holds nan at row 0, column 1"):
        network.segment([0, np.nan], np.zeros(2))


def test_bad_arguments_along_a_column_are_refused() -> None:
    network = random_network(3, 2)
    for column in (2, -1):
        with pytest.raises(IndexError, match=rf"column is {column}; .* columns 0 to 1"):
            network.along(np.zeros((2, 2)), column)
    with pytest.raises(TypeError, match="column must be an integer; it is 'age'"):
        network.along(np.zeros((2, 2)), "age")  # type: ignore[arg-type]
    along = network.along(np.zeros((2, 2)), np.int64(1))
    assert isinstance(along, ReluRestriction)
    with pytest.raises(ValueError, match=r"low has shape \(3,\); expected a number or \(2,\)"):
        along.increment(np.zeros(3), 0)
    with pytest.raises(ValueError, match="high must be finite; it holds nan"):
        along.increment(0, np.nan)
    with pytest.raises(ValueError, match=r"grid must be one-dimensional; it has shape \(\)"):
        along.mean(0.0)
    with pytest.raises(ValueError, match="grid must be finite; it holds inf at entry 1"):
        along.mean([0.0, np.inf])
    with pytest.raises(ValueError, match="X has no rows"):
        network.along(np.zeros((0, 2)), 0).mean([0.0])


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, 2, 3], r"weight has shape \(3,\); expected \(2,\), one a row of X"),
        (1.0, "weight must be one-dimensional"),
        ([1, -0.5], r"weight must not be negative; entry 1 is -0.5"),
        ([0, 0], "weight is zero everywhere"),
        ([1, np.nan], "weight must be finite; it holds nan at entry 1"),
    ],
)
def test_bad_weights_are_refused(weight: Any, message: str) -> None:
    along = random_network(3, 2).along(np.zeros((2, 2)), 0)
    with pytest.raises(ValueError, match=message):
        along.mean([0.0], weight)


# ---------------------------------------------------------------------- other networks of it


@invariant
@given(st.data())
def test_select_and_its_complement_add_up(data: st.DataObject) -> None:
    network, X = data.draw(networks_and_rows())
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=network.n_neurons, max_size=network.n_neurons)),
        dtype=bool,
    )
    # The linear part is in both, so it counts twice.
    linear = network.select([]).score(X)
    total = network.select(mask).score(X) + network.select(~mask).score(X) - linear
    assert_allclose(total, network.score(X), rtol=0, atol=1e-11)
    assert network.select(mask) == network.select(np.flatnonzero(mask))


def test_select_keeps_the_order_given() -> None:
    network = random_network(5, 2, 2)
    chosen = network.select([3, 0, 4])
    for name in ("weights", "bias", "beta"):
        assert_array_equal(getattr(chosen, name), getattr(network, name)[[3, 0, 4]])
    assert_array_equal(chosen.linear, network.linear)
    assert_array_equal(chosen.intercept, network.intercept)


@pytest.mark.parametrize(
    ("neurons", "error", "message"),
    [
        ([True, False], ValueError, r"neurons has shape \(2,\) and dtype bool; .* \(3,\)"),
        (1, ValueError, r"neurons has shape \(\)"),
        ([[0, 1]], ValueError, r"neurons has shape \(1, 2\)"),
        ([0, 3], IndexError, "neurons holds 3; the network has n_neurons=3"),
        ([-1], IndexError, "neurons holds -1; the network has n_neurons=3"),
        ([0.0, 1.0], TypeError, "neurons must be integers or booleans; its dtype is float64"),
    ],
)
def test_bad_selections_are_refused(neurons: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        random_network(3, 2).select(neurons)


def test_with_readout() -> None:
    network = random_network(3, 2, 2)
    single = random_network(3, 2, 1, seed=8)
    kept = network.with_readout(2 * network.beta, 1.0)
    assert_array_equal(kept.linear, network.linear)
    assert_array_equal(kept.beta, 2 * network.beta)
    assert kept.intercept.tolist() == [1.0, 1.0]
    replaced = network.with_readout(single.beta, single.intercept, single.linear)
    assert_array_equal(replaced.weights, network.weights)
    assert_array_equal(replaced.linear, single.linear)
    with pytest.raises(ValueError, match=r"beta has shape \(4, 2\); expected \(3,\)"):
        network.with_readout(np.ones((4, 2)), 0.0)


@invariant
@given(st.data())
def test_concatenate_is_the_weighted_sum(data: st.DataObject) -> None:
    first = data.draw(networks())
    alike = networks(n_features=first.n_features, n_outputs=first.n_outputs)
    members = [first, *data.draw(st.lists(alike, max_size=3))]
    factors = data.draw(floats(len(members)))
    X = data.draw(rows(first.n_features))
    scores = [member.score(X) for member in members]
    plain = ReluNetwork.concatenate(iter(members))
    weighted = ReluNetwork.concatenate(members, factors)
    assert plain.n_neurons == sum(member.n_neurons for member in members)
    assert_allclose(plain.score(X), np.sum(scores, axis=0), rtol=0, atol=1e-10)
    expected = np.tensordot(factors, scores, axes=1)
    assert_allclose(weighted.score(X), expected, rtol=0, atol=1e-10)


def test_networks_that_cannot_be_added_are_refused() -> None:
    network = random_network(3, 2)
    with pytest.raises(ValueError, match="networks is empty"):
        ReluNetwork.concatenate([])
    with pytest.raises(ValueError, match=r"networks\[1\] has .* = \(3, 1\); expected \(2, 1\)"):
        ReluNetwork.concatenate([network, random_network(3, 3)])
    with pytest.raises(ValueError, match=r"networks\[2\] has .* = \(2, 2\); expected \(2, 1\)"):
        ReluNetwork.concatenate([network, network, random_network(3, 2, 2)])
    with pytest.raises(ValueError, match=r"coefficients has shape \(1,\); expected \(2,\)"):
        ReluNetwork.concatenate([network, network], [1.0])
    with pytest.raises(ValueError, match="coefficients must be finite; it holds nan at entry 0"):
        ReluNetwork.concatenate([network], [np.nan])


@invariant
@given(st.data())
def test_folded_scaling_reads_raw_units(data: st.DataObject) -> None:
    network, X = data.draw(networks_and_rows())
    positive = st.floats(0.1, 10)
    p, q = network.n_features, network.n_outputs
    center, output_center = data.draw(floats(p)), data.draw(floats(q))
    scale = data.draw(st.lists(positive, min_size=p, max_size=p))
    output_scale = data.draw(st.lists(positive, min_size=q, max_size=q))
    folded = network.fold_scaling(center, scale, output_center, output_scale)
    expected = network.score((X - center) / scale) * output_scale + output_center
    assert_allclose(folded.score(X), expected, rtol=1e-9, atol=1e-7)
    assert_allclose(
        network.fold_scaling(0.5, 2.0).score(X), network.score((X - 0.5) / 2), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 0, 0], 1.0), r"center has shape \(3,\); expected a number or \(2,\)"),
        ((0.0, [1, 0]), "scale must be positive; entry 1 is 0.0"),
        ((0.0, [-2, 1]), "scale must be positive; entry 0 is -2.0"),
        ((0.0, 1.0, [0, 0]), r"output_center has shape \(2,\); expected a number or \(1,\)"),
        ((0.0, 1.0, 0.0, 0.0), "output_scale must be positive; entry 0 is 0.0"),
        ((np.nan, 1.0), "center must be finite; it holds nan"),
    ],
)
def test_bad_scalings_are_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        random_network(3, 2).fold_scaling(*arguments)


# ---------------------------------------------------------------------- one form a function


@invariant
@given(st.data())
def test_equal_functions_have_equal_canonical_forms(data: st.DataObject) -> None:
    network = data.draw(networks())
    other = data.draw(equivalents(network))
    X = data.draw(rows(network.n_features))
    assert_allclose(other.score(X), network.score(X), rtol=0, atol=1e-9)
    assert_same_network(other.canonical(), network.canonical())


@invariant
@given(networks_and_rows())
def test_canonical_form_is_normal_and_computes_the_same(case: tuple[ReluNetwork, Floats]) -> None:
    network, X = case
    form = network.canonical()
    assert_allclose(form.score(X), network.score(X), rtol=0, atol=1e-10)
    assert_allclose(np.linalg.norm(form.weights, axis=1), 1, rtol=1e-14)
    assert all(next(w for w in line if w) > 0 for line in form.weights)
    assert (form.beta != 0).any(axis=1).all()
    lines = np.column_stack([form.weights, form.bias]).round(9).tolist()
    assert lines == sorted(lines)
    assert len({tuple(line) for line in lines}) == len(lines)
    assert_same_network(form.canonical(), form)


@invariant
@given(networks(min_neurons=1), st.data())
def test_different_functions_have_different_canonical_forms(
    network: ReluNetwork, data: st.DataObject
) -> None:
    form = network.canonical()
    place = data.draw(st.integers(0, network.n_features - 1))
    bent = np.eye(network.n_features)[[place]]
    extra = ReluNetwork(bent, [50.0], np.ones((1, network.n_outputs)), 0.0)
    other = ReluNetwork.concatenate([network, extra]).canonical()
    assert other.n_neurons == form.n_neurons + 1


def test_rounding_does_not_decide_the_order_of_parallel_neurons() -> None:
    # Equal weights apart from the last digit: a plain sort would order these by that digit
    # instead of by the bias, and differently after every rescaling.
    rng = np.random.default_rng(6)
    weights, bias = np.tile([0.3, 0.7, -0.1], (30, 1)), np.linspace(-1, 1, 30)
    network = ReluNetwork(weights, bias, rng.normal(size=30), 0.0)
    factors, order = rng.uniform(0.1, 10, 30), rng.permutation(30)
    scaled = ReluNetwork(
        weights * factors[:, None], bias * factors, network.beta / factors[:, None], 0.0
    )
    assert len({tuple(line) for line in scaled.canonical().weights}) > 1
    assert_same_network(scaled.select(order).canonical(), network.canonical())
    assert (np.diff(scaled.canonical().bias) > 0).all()


def test_noise_in_a_first_weight_does_not_decide_the_orientation() -> None:
    noisy = ReluNetwork([[-1e-13, 2.0]], [1.0], [1.0], 0.0).canonical()
    assert noisy.weights[0, 1] == 1.0
    assert_array_equal(noisy.linear, np.zeros((2, 1)))
    turned = ReluNetwork([[-1e-3, 2.0]], [1.0], [1.0], 0.0).canonical()
    assert turned.weights[0, 1] < 0 < turned.weights[0, 0]


def test_turning_leaves_no_negative_zeros() -> None:
    form = ReluNetwork([[-1.0, 0.0]], [0.0], [1.0], 0.0).canonical()
    assert not np.signbit(form.weights).any()
    assert not np.signbit(form.bias).any()


def test_opposite_neurons_can_cancel_to_a_line() -> None:
    network = ReluNetwork([[3.0, -4.0], [-3.0, 4.0]], [5.0, -5.0], [1.0, -1.0], 0.5)
    form = network.canonical()
    assert form.n_neurons == 0
    assert_allclose(form.linear, [[3.0], [-4.0]])
    assert_allclose(form.intercept, [5.5])


@invariant
@given(networks_and_rows())
def test_merging_keeps_the_function_and_the_linear_part(case: tuple[ReluNetwork, Floats]) -> None:
    network, X = case
    doubled = ReluNetwork(
        np.vstack([network.weights, network.weights / 3]),
        np.concatenate([network.bias, network.bias / 3]),
        np.vstack([network.beta, network.beta]),
        network.intercept,
        network.linear,
    )
    merged = doubled.merge_parallel()
    assert merged.n_neurons == network.merge_parallel().n_neurons <= network.n_neurons
    assert_allclose(merged.score(X), doubled.score(X), rtol=0, atol=1e-10)
    assert_array_equal(merged.linear, network.linear)


def test_merging_by_hand() -> None:
    network = ReluNetwork(
        weights=[[1, 2], [0, 0], [-1, -2], [3, 6], [5, 1], [0, 0], [7, 7]],
        bias=[3, 4, -3, 9, 0, -4, 1],
        beta=[[1, 0], [10, 20], [1, 1], [2, 5], [0, 0], [3, 3], [0, 1]],
        intercept=[0.5, 0.25],
    )
    merged = network.merge_parallel()
    assert merged.weights.tolist() == [[1, 2], [-1, -2], [7, 7]]  # opposite ones stay apart
    assert merged.bias.tolist() == [3, -3, 1]
    assert_allclose(merged.beta, [[7, 15], [1, 1], [0, 1]], rtol=1e-15)
    assert merged.intercept.tolist() == [40.5, 80.25]  # relu(-4) adds nothing


def test_merging_leaves_different_neurons_exactly_as_they_are() -> None:
    network = random_network(50, 3, 2)
    assert network.merge_parallel() == network


@pytest.mark.parametrize("units", [1.0, 1e-8, 1e8])
def test_merging_compares_each_weight_with_its_own_size(units: float) -> None:
    # In a column measured in hundred millions, weights differ in the ninth digit of the norm.
    network = ReluNetwork([[1.0, units], [1.0, 1.001 * units]], [0.0, 0.0], [1.0, 1.0], 0.0)
    assert network.merge_parallel().n_neurons == 2
    assert network.merge_parallel(tolerance=1e-2).n_neurons == 1


def test_weights_at_the_ends_of_the_range_of_numbers() -> None:
    network = ReluNetwork(
        [[1e-200, 1e-200], [1e200, 1e200], [1e-310, 0.0]],
        [1e-200, 2e200, 5.0],
        [1e200, 1e-200, 2],
        0.0,
    )
    form = network.canonical()
    assert form.n_neurons == 2
    assert_allclose(form.bias, [np.sqrt(0.5), np.sqrt(2)])
    assert form.intercept.item() == 10.0  # bends further away than any number
    X = random_rows(20, 2)
    assert_allclose(form.score(X), network.score(X), rtol=1e-12)


@pytest.mark.parametrize("method", ["merge_parallel", "canonical"])
@pytest.mark.parametrize("tolerance", [-1e-9, 1.0, np.nan])
def test_bad_tolerances_are_refused(method: str, tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance must be at least 0 and below 1; it is"):
        getattr(random_network(3, 2), method)(tolerance=tolerance)


# ---------------------------------------------------------------------- adopting others


def trained_mlp(kind: str, y: Floats, X: Floats, **settings: Any) -> Any:
    model = getattr(pytest.importorskip("sklearn.neural_network"), kind)(
        hidden_layer_sizes=(8,), random_state=0, learning_rate_init=0.05, **settings
    )
    classes = {"classes": np.unique(y)} if kind == "MLPClassifier" and y.ndim == 1 else {}
    for step in range(10):  # unlike fit, partial_fit does not warn that it has not converged
        model.partial_fit(X, y, **(classes if step == 0 else {}))
    return model


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_from_mlp_of_a_regressor(n_outputs: int) -> None:
    X = random_rows(80, 3)
    y = np.sin(X[:, :n_outputs]).squeeze()
    model = trained_mlp("MLPRegressor", y, X)
    network = ReluNetwork.from_mlp(model)
    assert (network.n_neurons, network.n_features, network.n_outputs) == (8, 3, n_outputs)
    assert_allclose(network.score(X).squeeze(), model.predict(X), rtol=1e-10, atol=1e-12)


def test_from_mlp_of_two_classes_gives_log_odds() -> None:
    X = random_rows(80, 3)
    model = trained_mlp("MLPClassifier", np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"), X)
    chance = model.predict_proba(X)[:, 1]
    score = ReluNetwork.from_mlp(model).score(X)
    assert_allclose(score[:, 0], np.log(chance / (1 - chance)), rtol=1e-8, atol=1e-8)


def test_from_mlp_of_more_classes_gives_log_probabilities_up_to_a_constant() -> None:
    X = random_rows(80, 3)
    model = trained_mlp("MLPClassifier", np.digitize(X[:, 0], [-0.5, 0.5]), X)
    score = ReluNetwork.from_mlp(model).score(X)
    difference = score - np.log(model.predict_proba(X))
    assert score.shape == (80, 3)
    assert_allclose(difference - difference[:, :1], 0, atol=1e-8)
    assert_array_equal(score.argmax(axis=1), model.predict(X))


def test_from_mlp_keeps_float32() -> None:
    X = random_rows(80, 3, dtype=np.float32)
    model = trained_mlp("MLPRegressor", X[:, 0], X)
    network = ReluNetwork.from_mlp(model)
    assert network.dtype == np.float32
    assert_allclose(network.score(X)[:, 0], model.predict(X), rtol=1e-4, atol=1e-5)


def fake_mlp(*sizes: int, activation: str = "relu", link: str = "identity") -> Any:
    pairs = list(itertools.pairwise(sizes))
    return SimpleNamespace(
        activation=activation,
        out_activation_=link,
        coefs_=[np.ones(pair) for pair in pairs],
        intercepts_=[np.zeros(size) for _, size in pairs],
    )


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (SimpleNamespace(activation="relu"), ValueError, "is not fitted: it has no coefs_"),
        (object(), TypeError, "model is a object; expected a fitted MLPRegressor"),
        (fake_mlp(2, 3, 1, activation="tanh"), ValueError, "activation='tanh'; expected 'relu'"),
        (fake_mlp(2, 3, 3, 1), ValueError, "model has 2 hidden layers; expected exactly one"),
        (fake_mlp(2, 1), ValueError, "model has 0 hidden layers; expected exactly one"),
        (fake_mlp(2, 3, 1, link="tanh"), ValueError, "out_activation_='tanh'; expected one of"),
    ],
)
def test_from_mlp_refuses_others(model: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ReluNetwork.from_mlp(model)


def test_from_mlp_refuses_a_real_unfitted_model() -> None:
    module = pytest.importorskip("sklearn.neural_network")
    with pytest.raises(ValueError, match="model, a MLPRegressor, is not fitted"):
        ReluNetwork.from_mlp(module.MLPRegressor())


class Tensor:
    """As much of a torch parameter as is asked of one."""

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values, dtype=np.float32)

    def detach(self) -> Tensor:
        return self

    cpu = detach

    def numpy(self) -> Floats:
        return self.values


class Module:
    """As much of a torch module as is asked of one."""

    def __init__(self, *inner: Module) -> None:
        self.inner = inner

    def children(self) -> Iterator[Module]:
        return iter(self.inner)

    def named_modules(self, prefix: str = "") -> Iterator[tuple[str, Module]]:
        yield prefix, self
        for place, module in enumerate(self.inner):
            yield from module.named_modules(f"{prefix}.{place}".lstrip("."))


class Linear(Module):
    def __init__(self, weight: Any, bias: Any = None) -> None:
        super().__init__()
        self.weight = Tensor(weight)
        self.bias = None if bias is None else Tensor(bias)


class ReLU(Module): ...


class Sigmoid(Module): ...


class Dropout(Module): ...


class Identity(Module): ...


FIRST = Linear([[1, 2, 3], [4, 5, 6]], [7, 8])
LAST = Linear([[9, -10]], [11])


@pytest.mark.parametrize(
    "module",
    [
        Module(FIRST, ReLU(), LAST),
        Module(Module(Identity(), FIRST), Module(ReLU(), Dropout()), Module(Module(LAST))),
    ],
)
def test_from_torch_reads_the_layers_by_name(module: Module) -> None:
    network = ReluNetwork.from_torch(module)
    assert network.dtype == np.float32
    assert network.weights.tolist() == [[1, 2, 3], [4, 5, 6]]
    assert network.bias.tolist() == [7, 8]
    assert network.beta.tolist() == [[9], [-10]]
    assert network.intercept.tolist() == [11]


def test_from_torch_without_biases() -> None:
    module = Module(Linear([[1, 2], [3, 4]]), ReLU(), Linear([[5, 6], [7, 8], [9, 10]]))
    network = ReluNetwork.from_torch(module)
    assert network.dtype == np.float32
    assert network.bias.tolist() == [0, 0]
    assert network.intercept.tolist() == [0, 0, 0]
    assert network.beta.tolist() == [[5, 7, 9], [6, 8, 10]]


@pytest.mark.parametrize(
    ("module", "error", "message"),
    [
        (Module(FIRST, Sigmoid(), LAST), ValueError, "layer '1' is a Sigmoid; expected ReLU"),
        (Module(Module(ReLU()), FIRST), ValueError, "layer '0.0' is a ReLU; expected Linear"),
        (
            Module(FIRST, ReLU(), Dropout(), LAST, Sigmoid()),
            ValueError,
            "layer '4' is a Sigmoid; expected nothing more",
        ),
        (Module(FIRST, ReLU(), FIRST, ReLU(), LAST), ValueError, "layer '3' is a ReLU"),
        (
            Module(FIRST, ReLU()),
            ValueError,
            "module has Linear, ReLU; expected Linear, ReLU, Linear",
        ),
        (Identity(), ValueError, "module has no layers; expected Linear, ReLU, Linear"),
        (FIRST, ValueError, "module has Linear; expected"),
        (fake_mlp(2, 3, 1), TypeError, "module is a SimpleNamespace; expected a torch.nn.Module"),
    ],
)
def test_from_torch_refuses_others(module: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        ReluNetwork.from_torch(module)


def test_from_torch_of_a_real_module() -> None:
    torch = pytest.importorskip("torch", reason="torch is optional; the fakes above stand in")
    torch.manual_seed(0)
    nn = torch.nn
    X = random_rows(40, 3, dtype=np.float32)
    plain = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    wrapped = nn.Sequential(
        nn.Sequential(nn.Identity(), nn.Linear(3, 8, bias=False), nn.ReLU()),
        nn.Dropout(0.5),
        nn.ModuleList([nn.Linear(8, 2)])[0],
    ).double()
    for module, table in ((plain, X), (wrapped.eval(), X.astype(np.float64))):
        network = ReluNetwork.from_torch(module)
        expected = module(torch.from_numpy(table)).detach().numpy()
        assert network.dtype == expected.dtype == network.score(table).dtype
        assert_allclose(network.score(table), expected, rtol=1e-5, atol=1e-5)
    with pytest.raises(ValueError, match="layer '1' is a Tanh; expected ReLU in its place"):
        ReluNetwork.from_torch(nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 2)))
    with pytest.raises(ValueError, match="layer '0' is a LazyLinear; expected Linear"):
        ReluNetwork.from_torch(nn.Sequential(nn.LazyLinear(8), nn.ReLU(), nn.Linear(8, 2)))
