"""Codes of columns, and a network of codes read in raw columns, against plain loops."""

from __future__ import annotations

import copy
import itertools
import pickle
import tracemalloc
from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet import explain
from lifenet.kernels import row_blocks
from lifenet.losses import SquaredError
from lifenet.network import (
    CodedNetwork,
    ColumnCoding,
    PiecewiseLinear,
    ReluNetwork,
    Restriction,
)
from lifenet.network.tables import ColumnTables
from strategies import eighths, floats, networks

if TYPE_CHECKING:
    from lifenet._typing import Floats

# ---------------------------------------------------------------------- cases


def random_coding(seed: int = 0) -> ColumnCoding:
    """Four columns: monotone, unchanged, of two codes, and of three codes that go up and down."""
    generator = np.random.default_rng(seed)
    knots = [np.sort(generator.normal(size=size)) for size in (9, 0, 7, 5)]
    rising = np.sort(generator.normal(size=9))
    values = [rising, None, generator.normal(size=(7, 2)), generator.normal(size=(5, 3))]
    return ColumnCoding(knots, values, ["age", "flag", "income", "score"])


def random_coded(m: int = 30, q: int = 2, seed: int = 0) -> CodedNetwork:
    coding, generator = random_coding(seed), np.random.default_rng([seed, 1])
    p = coding.n_codes
    shapes = (m, p), (m,), (m, q), (q,), (p, q)
    return CodedNetwork(coding, ReluNetwork(*(generator.normal(size=shape) for shape in shapes)))


def random_rows(n: int, seed: int = 1, p: int = 4) -> Floats:
    return np.random.default_rng(seed).normal(scale=1.5, size=(n, p))


#: Fewer examples than elsewhere: each draws a coding, a network and rows.
invariant = settings(max_examples=30, deadline=None)


@st.composite
def codings(draw: st.DrawFn) -> ColumnCoding:
    """Up to three columns, each unchanged or with up to four knots and up to two codes."""
    knots, values = [], []
    for _ in range(draw(st.integers(1, 3))):
        places = sorted(draw(st.sets(eighths(-2, 2), max_size=4)))
        width = draw(st.integers(1, 2))
        knots.append(places or None)
        values.append(draw(floats(len(places), width)) if places else None)
    return ColumnCoding(knots, values)


@st.composite
def coded_networks(draw: st.DrawFn) -> CodedNetwork:
    coding = draw(codings())
    return CodedNetwork(coding, draw(networks(n_features=coding.n_codes)))


@st.composite
def coded_and_rows(draw: st.DrawFn) -> tuple[CodedNetwork, Floats]:
    model = draw(coded_networks())
    n = draw(st.integers(1, 6))
    return model, draw(floats(n, model.n_features))


# ---------------------------------------------------------------------- plain loops


def loop_encode(coding: ColumnCoding, X: Floats) -> Floats:
    columns = []
    for j, (knots, values) in enumerate(zip(coding.knots, coding.values, strict=True)):
        if len(knots):
            columns += [np.interp(X[:, j], knots, code) for code in values.T]
        else:
            columns.append(X[:, j])
    return np.column_stack(columns)


def loop_score(model: CodedNetwork, X: Floats) -> Floats:
    network = model.network
    scores = []
    for codes in loop_encode(model.coding, X):
        score = network.intercept + codes @ network.linear
        for k in range(network.n_neurons):
            score = score + max(0.0, network.weights[k] @ codes + network.bias[k]) * network.beta[k]
        scores.append(score)
    return np.reshape(scores, (len(X), network.n_outputs))


def with_column(X: Floats, column: int, value: Any) -> Floats:
    moved = X.copy()
    moved[:, column] = value
    return moved


def away_from_bends(model: CodedNetwork, X: Floats, margin: float) -> Floats:
    """Rows whose region is that of their neighbours on either side in every column."""
    keys = model.region_keys(X)
    kept = np.ones(len(X), dtype=bool)
    for step in np.vstack([np.eye(X.shape[1]), -np.eye(X.shape[1])]) * margin:
        kept &= model.region_keys(X + step) == keys
    return X[kept]


# ---------------------------------------------------------------------- the coding


@invariant
@given(codings(), st.data())
def test_codes_are_interpolated_between_knots(coding: ColumnCoding, data: st.DataObject) -> None:
    X = data.draw(floats(data.draw(st.integers(0, 6)), coding.n_features))
    codes = coding.encode(X)
    assert codes.shape == (len(X), coding.n_codes)
    assert_allclose(codes, loop_encode(coding, X), rtol=0, atol=1e-14)
    straight = coding.intercepts(X) + coding.slopes(X) * X[:, coding.column_of_code]
    assert_allclose(straight, codes, rtol=0, atol=1e-12)


def test_slopes_are_those_above_a_knot() -> None:
    coding = ColumnCoding([[0.0, 1.0, 4.0], None], [[0.0, 2.0, 3.0], None])
    X = np.column_stack([[-1.0, 0.0, 0.5, 1.0, 4.0, 9.0], np.zeros(6)])
    # The last knot's is that below it: rows at the highest value of a column are no outsiders.
    assert_allclose(coding.slopes(X)[:, 0], [0, 2, 2, 1 / 3, 1 / 3, 0], rtol=1e-15)
    assert_array_equal(coding.slopes(X)[:, 1], np.ones(6))
    assert coding.segments(X).T.tolist() == [[0, 1, 1, 2, 2, 3], [0] * 6]
    h = np.full((6, 1), 1e-7)
    h[4] *= -1
    differences = (loop_encode(coding, X + h) - loop_encode(coding, X)) / h
    assert_allclose(coding.slopes(X), differences, rtol=0, atol=1e-6)


def test_a_coding_says_what_it_is() -> None:
    coding = random_coding()
    assert (coding.n_features, coding.n_codes) == (4, 7)
    assert coding.column_of_code.tolist() == [0, 1, 2, 2, 3, 3, 3]
    assert [coding.codes_of(j) for j in range(4)] == [
        slice(0, 1), slice(1, 2), slice(2, 4), slice(4, 7)
    ]  # fmt: skip
    assert repr(coding) == "ColumnCoding(n_features=4, n_codes=7)"
    assert_array_equal(coding.kinks(2), coding.knots[2])
    assert len(coding.kinks(1)) == 0
    straight = ColumnCoding([[0.0, 1.0, 2.0]], [[1.0, 2.0, 3.0]])
    assert straight.kinks(0).tolist() == [0.0, 2.0]


def test_a_single_knot_makes_a_constant() -> None:
    coding = ColumnCoding([[3.0]], [[5.0]])
    assert coding.encode([[-9.0], [3.0], [9.0]]).ravel().tolist() == [5.0] * 3
    assert not coding.slopes([[-9.0], [3.0]]).any()


def test_far_away_values_are_cut() -> None:
    coding = random_coding()
    far = coding.encode(np.full((1, 4), 1e130))
    near = coding.encode(np.full((1, 4), 50.0))
    coded = coding.column_of_code != 1
    assert_array_equal(far[:, coded], near[:, coded])


def test_arrays_are_copies_and_read_only() -> None:
    knots = np.arange(3.0)
    coding = ColumnCoding([knots], [knots])
    knots[0] = -9
    assert coding.knots[0].tolist() == [0.0, 1.0, 2.0]
    for array in (*coding.knots, *coding.values, coding.column_of_code):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    with pytest.raises(FrozenInstanceError):
        coding.names = ()  # type: ignore[misc]


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]
)
def test_copies_are_equal_and_read_only(duplicate: Any) -> None:
    model = random_coded()
    twin = duplicate(model)
    assert twin == model
    assert twin is not model
    assert twin.coding.names == ("age", "flag", "income", "score")
    arrays = (*twin.coding.knots, *twin.coding.values, twin.coding.column_of_code)
    for array in (*arrays, twin.network.weights):
        assert not array.flags.writeable
    assert_array_equal(twin.score(random_rows(5)), model.score(random_rows(5)))


def test_codings_compare_by_their_parts() -> None:
    coding = ColumnCoding([[0.0, 1.0], None], [[0.0, 1.0], None])
    assert coding == ColumnCoding([[0.0, 1.0], []], [[[0.0], [1.0]], []])
    assert coding != ColumnCoding([[0.0, 2.0], None], [[0.0, 1.0], None])
    assert coding != ColumnCoding([[0.0, 1.0], None], [[0.0, 2.0], None])
    assert coding != ColumnCoding(coding.knots, coding.values, ["a", "b"])
    assert coding != ColumnCoding([[0.0, 1.0]], [[0.0, 1.0]])
    assert coding != "coding"
    with pytest.raises(TypeError, match="unhashable"):
        hash(coding)


@pytest.mark.parametrize(
    ("knots", "values", "message"),
    [
        (
            [[0.0, 0.0]],
            [[1.0, 2.0]],
            r"'x0' must increase strictly; entry 1 is 0.0 after 0.0.*uniq",
        ),
        ([[0.0, np.nan]], [[1.0, 2.0]], "knots of column 'x0' must be finite; it holds nan"),
        ([[[0.0]]], [[1.0]], "knots of column 'x0' must be one-dimensional"),
        ([[0.0, 1.0]], [[1.0]], r"values of column 'x0' has shape \(1,\); expected \(2,\) or"),
        ([[0.0, 1.0]], [[1.0, np.inf]], "values of column 'x0' must be finite; it holds inf"),
        ([None], [[1.0]], "column 'x0' has values but no knots; give both or neither"),
        ([[1.0]], [None], "column 'x0' has knots but no values; give both or neither"),
        ([[0.0, 5e-324]], [[0.0, 1.0]], "'x0' give no usable slope; leave one of them out"),
        ([[-1.7e308, 1.7e308]], [[0.0, 1.0]], "give no usable slope.*rescale the column"),
        ([None], [None, None], "knots has 1 entries and values has 2"),
        ([], [], "knots is empty"),
    ],
)
def test_bad_codings_are_refused_by_column(knots: Any, values: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        ColumnCoding(knots, values)


def test_bad_names_are_refused() -> None:
    with pytest.raises(ValueError, match="names has 1 entries for 2 columns"):
        ColumnCoding([None, None], [None, None], ["a"])
    with pytest.raises(ValueError, match="names must differ; a came twice"):
        ColumnCoding([None, None], [None, None], ["a", "a"])


# ---------------------------------------------------------------------- the function


def test_it_offers_the_reading_interface() -> None:
    model = random_coded()
    assert isinstance(model, PiecewiseLinear)
    assert isinstance(model.along(random_rows(2), 0), Restriction)
    assert (model.n_features, model.n_outputs, model.n_neurons) == (4, 2, 30)
    assert repr(model).startswith("CodedNetwork(ColumnCoding(n_features=4, n_codes=7), ReluN")
    assert repr(model.along(random_rows(2), 3)).startswith("CodedRestriction(column=3, n_rows=2")


@invariant
@given(coded_and_rows())
def test_score_is_the_networks_on_the_codes(case: tuple[CodedNetwork, Floats]) -> None:
    model, X = case
    assert_allclose(model.score(X), loop_score(model, X), rtol=0, atol=1e-11)
    of_codes = model.network.score(model.coding.encode(X))
    assert_allclose(model.score(X), of_codes, rtol=1e-12, atol=1e-11)


@invariant
@given(coded_and_rows())
def test_local_equations_give_the_score(case: tuple[CodedNetwork, Floats]) -> None:
    model, X = case
    total = model.local_intercept(X) + model.contributions(X).sum(axis=1)
    scale = 1 + np.abs(model.contributions(X)).max(initial=0)
    assert_allclose(total, model.score(X), rtol=0, atol=1e-13 * scale)
    assert_array_equal(model.contributions(X), X[:, :, None] * model.gradient(X))


def test_contributions_sum_to_the_score_closely() -> None:
    model, X = random_coded(), random_rows(500)
    total = model.local_intercept(X) + model.contributions(X).sum(axis=1)
    assert_allclose(total, model.score(X), rtol=1e-12, atol=1e-12)


def test_slopes_and_constant_are_one_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were two, each of which computed both and threw one away: six passes for one."""
    model, X = random_coded(), random_rows(40)
    slopes, constant = model.equation(X)
    assert_array_equal(slopes, model.gradient(X))
    assert_array_equal(constant, model.local_intercept(X))
    total = (slopes * X[:, :, None]).sum(axis=1) + constant
    assert_allclose(total, loop_score(model, X), rtol=0, atol=1e-11)
    passes = []
    whole = ColumnTables.heights
    monkeypatch.setattr(
        ColumnTables, "heights", lambda self, cells: passes.append(1) or whole(self, cells)
    )
    model.equation(X)
    assert len(passes) == 1


def test_equations_hold_beside_the_row() -> None:
    """All columns moved at once, by less than the way to the next bend: the score follows."""
    model, h = random_coded(), 1e-6
    X = away_from_bends(model, random_rows(400), 2 * h)
    slopes, constant = model.equation(X)
    beside = X + h * np.sign(random_rows(len(X), seed=7)) / 4
    expected = (slopes * beside[:, :, None]).sum(axis=1) + constant
    size = 1 + np.abs(slopes).max()
    assert_allclose(expected / size, loop_score(model, beside) / size, rtol=0, atol=1e-12)


def test_gradient_is_the_limit_of_differences() -> None:
    model, h = random_coded(), 1e-6
    X = away_from_bends(model, random_rows(400), 2 * h)
    assert len(X) > 300
    for j in range(4):
        step = h * np.eye(4)[j]
        slope = (loop_score(model, X + step) - loop_score(model, X - step)) / (2 * h)
        size = 1 + np.abs(slope)
        assert_allclose(model.gradient(X)[:, j] / size, slope / size, rtol=0, atol=1e-6)


def test_outside_the_knots_nothing_changes() -> None:
    model = random_coded()
    X = np.full((3, 4), 20.0)
    X[:, 1] = 0.3
    assert not model.gradient(X)[:, [0, 2, 3]].any()
    assert_array_equal(model.score(X), model.score(with_column(X, 0, 1e9)))


def test_rows_of_one_region_share_their_equation() -> None:
    model = random_coded(m=6)
    X = random_rows(4000) * [0.3, 1.0, 0.3, 0.3]
    keys, first, place = np.unique(model.region_keys(X), return_index=True, return_inverse=True)
    assert 50 < len(keys) < 3500
    slopes, constants = model.gradient(X), model.local_intercept(X)
    size = 1 + np.abs(slopes).max()
    assert_allclose(slopes, slopes[first][place], rtol=0, atol=1e-13 * size)
    assert_allclose(constants, constants[first][place], rtol=0, atol=1e-13 * size)
    # Keys are neither finer nor coarser than neurons and bins.
    parts = np.column_stack(
        [model.network.active(model.coding.encode(X)), model.coding.segments(X)]
    )
    assert len(np.unique(parts, axis=0)) == len(keys)


def test_without_knots_it_is_the_network_itself() -> None:
    network = random_coded().network
    bare = CodedNetwork(ColumnCoding([None] * 7, [None] * 7), network)
    X, targets = random_rows(40, p=7), np.stack([random_rows(40, p=7, seed=s) for s in (2, 3)])
    assert_array_equal(bare.region_keys(X), network.region_keys(X))
    for name in ("score", "gradient", "local_intercept", "contributions"):
        assert_allclose(getattr(bare, name)(X), getattr(network, name)(X), rtol=0, atol=1e-12)
    assert_allclose(bare.moves(X, targets), network.moves(X, targets), rtol=0, atol=1e-12)
    assert_allclose(bare.segment(X[0], X), network.segment(X[0], X), rtol=0, atol=1e-12)
    mine, theirs = list(bare.along(X, 4).kinks()), list(network.along(X, 4).kinks())
    assert [k for k, _ in mine] == [k for k, _ in theirs]
    for (_, here), (_, there) in zip(mine, theirs, strict=True):
        assert_allclose(here, there, rtol=1e-9)


def test_a_network_of_float32_is_read_in_float64() -> None:
    model, X = random_coded(), random_rows(30)
    single = CodedNetwork(model.coding, model.network.astype(np.float32))
    double = CodedNetwork(model.coding, single.network.astype(np.float64))
    for name, read in READINGS.items():
        found = read(single, X)
        assert found.dtype == np.uint64 if name == "region_keys" else found.dtype == np.float64
        assert_allclose(found, read(double, X), rtol=1e-12, atol=1e-10)
    assert_allclose(double.score(X.astype(np.float32)), double.score(X), rtol=0, atol=1e-4)


# ---------------------------------------------------------------------- segments


@invariant
@given(coded_networks(), st.data())
def test_segment_sums_to_the_difference(model: CodedNetwork, data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 4))
    start, end = (data.draw(floats(n, model.n_features)) for _ in range(2))
    parts = model.segment(start, end)
    assert parts.shape == (n, model.n_features, model.n_outputs)
    difference = loop_score(model, end) - loop_score(model, start)
    assert_allclose(parts.sum(axis=1), difference, rtol=0, atol=1e-10)
    assert_allclose(model.segment(end, start), -parts, rtol=0, atol=1e-10)
    assert not parts[start == end].any()


def loop_segment(model: CodedNetwork, start: Floats, end: Floats) -> Floats:
    """Quadrature of the gradient, exact because its nodes lie between all bends."""

    def at(share: float) -> Floats:
        return (start + share * (end - start))[None]

    def heights(share: float) -> Floats:
        return model.network.preactivations(loop_encode(model.coding, at(share)))[0]

    cuts = {0.0, 1.0}
    for j, knots in enumerate(model.coding.knots):
        cuts |= {float((knot - start[j]) / (end[j] - start[j])) for knot in knots}
    ordered = sorted(cut for cut in cuts if 0 <= cut <= 1)
    switches = set(ordered)
    for left, right in itertools.pairwise(ordered):
        for low, high in zip(heights(left), heights(right), strict=True):
            if low * high < 0:
                switches.add(float(left + (right - left) * low / (low - high)))
    integral = np.zeros((len(start), model.n_outputs))
    for left, right in itertools.pairwise(sorted(switches)):
        integral += (right - left) * model.gradient(at((left + right) / 2))[0]
    return integral * (end - start)[:, None]


def test_segment_is_the_integral_of_the_gradient() -> None:
    model = random_coded(m=8)
    ends = random_rows(20, seed=3)
    parts = model.segment(ends[:10], ends[10:])
    expected = [loop_segment(model, *pair) for pair in zip(ends[:10], ends[10:], strict=True)]
    assert_allclose(parts, np.array(expected), rtol=0, atol=1e-10)


def test_segment_is_the_limit_of_fine_sums() -> None:
    model, fine = random_coded(m=12), 20_001
    start, end = random_rows(2, seed=9)
    shares = (np.arange(fine) + 0.5)[:, None] / fine
    slopes = model.gradient(start + shares * (end - start)).mean(axis=0)
    expected = slopes * (end - start)[:, None]
    assert_allclose(model.segment(start, end)[0], expected, rtol=0, atol=0.02)


def test_segment_from_or_to_a_single_row() -> None:
    model, X = random_coded(), random_rows(30)
    expected = model.segment(np.tile(X[3], (30, 1)), X)
    for single in (X[3], X[3:4], X[3].tolist()):
        assert_allclose(model.segment(single, X), expected, rtol=0, atol=1e-12)
        assert_allclose(model.segment(X, single), -expected, rtol=0, atol=1e-10)
    assert model.segment(X[:0], X[3]).shape == (0, 4, 2)


# ---------------------------------------------------------------------- along a column, and moves


@invariant
@given(coded_and_rows(), st.data())
def test_increment_is_the_difference_of_scores(
    case: tuple[CodedNetwork, Floats], data: st.DataObject
) -> None:
    model, X = case
    j = data.draw(st.integers(0, model.n_features - 1))
    low, high = (data.draw(st.one_of(eighths(), floats(len(X)))) for _ in range(2))
    expected = loop_score(model, with_column(X, j, high)) - loop_score(
        model, with_column(X, j, low)
    )
    assert_allclose(model.along(X, j).increment(low, high), expected, rtol=0, atol=1e-10)


@invariant
@given(coded_and_rows(), st.data())
def test_mean_is_the_average_of_scores(
    case: tuple[CodedNetwork, Floats], data: st.DataObject
) -> None:
    model, X = case
    j = data.draw(st.integers(0, model.n_features - 1))
    grid = data.draw(st.integers(0, 5).flatmap(floats))
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    weight[0] += 1
    scores = np.array([loop_score(model, with_column(X, j, t)) for t in grid])
    scores = scores.reshape(len(grid), len(X), model.n_outputs)
    along = model.along(X, j)
    assert_allclose(along.mean(grid), scores.mean(axis=1), rtol=0, atol=1e-10)
    average = np.average(scores, axis=1, weights=weight)
    assert_allclose(along.mean(grid, weight), average, rtol=0, atol=1e-10)


@pytest.mark.parametrize("column", [0, 1, 2, 3])
def test_between_kinks_the_function_is_straight(column: int) -> None:
    model, X = random_coded(m=8, q=1), random_rows(20)
    found = list(model.along(X, column).kinks())
    positions = np.array([at for _, at in found])
    knots = model.coding.knots[column]
    assert [k for k, _ in found[: len(knots)]] == [-1] * len(knots)
    ascending = [k for k, _ in found[len(knots) :]]
    assert ascending == sorted(ascending)
    for row, kinks in zip(X, positions.T, strict=True):
        finite = np.sort(kinks[np.isfinite(kinks)])
        ends = np.concatenate([[finite[0] - 1], finite, [finite[-1] + 1]])
        for low, high in itertools.pairwise(ends):
            middle = np.array([low, (low + high) / 2, high])
            scores = loop_score(model, with_column(np.tile(row, (3, 1)), column, middle))[:, 0]
            assert abs(scores[0] - 2 * scores[1] + scores[2]) < 1e-10


@pytest.mark.parametrize("column", [0, 2, 3])
def test_neurons_switch_at_their_kinks(column: int) -> None:
    model, X = random_coded(m=8), random_rows(25)
    network, seen = model.network, np.zeros((25, 8), dtype=int)
    for neuron, positions in model.along(X, column).kinks():
        if neuron < 0:
            continue
        rows = np.isfinite(positions)
        there = with_column(X[rows], column, positions[rows])
        heights = network.preactivations(loop_encode(model.coding, there))[:, neuron]
        assert_allclose(heights, 0, atol=1e-10)
        seen[rows, neuron] += 1
    grid = np.linspace(-4, 4, 4001)
    for i, row in enumerate(X):
        table = with_column(np.tile(row, (len(grid), 1)), column, grid)
        active = network.active(loop_encode(model.coding, table))
        switches = (active[1:] != active[:-1]).sum(axis=0)
        assert (switches <= seen[i]).all()
        assert (switches < seen[i]).mean() < 0.3  # two crossings within a step of the grid
    assert seen.max() > 1 or column == 0


@invariant
@given(coded_and_rows(), st.data())
def test_moves_are_differences_of_scores(
    case: tuple[CodedNetwork, Floats], data: st.DataObject
) -> None:
    model, X = case
    targets = data.draw(floats(2, *X.shape))
    moved = model.moves(X, targets)
    assert moved.shape == (*targets.shape, model.n_outputs)
    for table, move in zip(targets, moved, strict=True):
        for j in range(model.n_features):
            there = with_column(X, j, table[:, j])
            expected = loop_score(model, there) - loop_score(model, X)
            assert_allclose(move[:, j], expected, rtol=0, atol=1e-10)
    assert model.moves(X, targets[:0]).shape == (0, *X.shape, model.n_outputs)


# ---------------------------------------------------------------------- bounds of an equation


def table_score(model: CodedNetwork, X: Floats, output: int) -> Floats:
    network, codes = model.network, loop_encode(model.coding, X)
    hidden = np.maximum(codes @ network.weights.T + network.bias, 0)
    score: Floats = (hidden @ network.beta + codes @ network.linear + network.intercept)[:, output]
    return score


def walk(model: CodedNetwork, x: Floats, column: int, way: int, output: int) -> float | None:
    """Where the score first rises at another rate as a column moves, in steps of 0.001 up to 6."""
    steps = way * np.r_[0.0, 1e-6, 1e-3 * np.arange(1, 6001)]
    path = np.tile(x, (len(steps), 1))
    path[:, column] += steps
    rates = np.diff(table_score(model, path, output)) / np.diff(path[:, column])
    other = np.flatnonzero(np.abs(rates - rates[0]) > 1e-6 * (1 + np.abs(rates[0])))
    return float(path[other[0], column]) if len(other) else None


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("output", [0, 1])
def test_bounds_are_where_a_walk_along_the_column_finds_other_slopes(
    seed: int, output: int
) -> None:
    model = random_coded(m=4, seed=seed)
    X = away_from_bends(model, random_rows(6, seed=seed) * [0.5, 1, 0.5, 0.5], 1e-5)
    X[-1, [0, 2]] = -7.0, 7.0  # outside the knots
    for x in X:
        found = {(one.column, one.upper): one for one in model.bounds(x, output)}
        limits = model.limits(x, output)
        for column, way in itertools.product(range(4), (-1, 1)):
            reached, one = walk(model, x, column, way, output), found.get((column, way > 0))
            assert limits[column, int(way > 0)] == (way * np.inf if one is None else one.value)
            if one is None or abs(one.value - x[column]) > 5.99:
                assert reached is None
                continue
            assert reached is not None
            assert -1e-3 < way * (reached - one.value) < 1e-6


@pytest.mark.parametrize("seed", range(5))
def test_bounds_say_what_happens_there(seed: int) -> None:
    model = random_coded(m=4, seed=seed)
    X = away_from_bends(model, random_rows(20, seed=seed) * [0.5, 1, 0.5, 0.5], 1e-5)
    kinds = set()
    for x in X:
        for one in model.bounds(x, 1):
            way = 1 if one.upper else -1
            before, beyond = (
                with_column(x[None], one.column, one.value + way * side * 1e-6) for side in (-1, 1)
            )
            assert_allclose(one.slopes, model.gradient(beyond)[0, :, 1], rtol=1e-9, atol=1e-9)
            codes = [loop_encode(model.coding, side) for side in (before, beyond)]
            active = [row @ model.network.weights.T + model.network.bias > 0 for row in codes]
            assert one.neurons == tuple(np.flatnonzero((active[0] != active[1])[0]))
            assert one.knot == (one.value in model.coding.knots[one.column])
            assert one.knot or one.neurons
            kinds.add((one.knot, bool(one.neurons)))
    assert kinds == {(True, False), (False, True)}


def bounds_of(
    x: float, knots: Any, values: Any, weights: Any, bias: Any, beta: Any, linear: float = 0.0
) -> list[tuple[bool, float, tuple[int, ...], bool, float]]:
    """Bounds of a network on one code of one column, as tuples."""
    network = ReluNetwork(np.reshape(weights, (-1, 1)), bias, beta, 0.0, [linear])
    model = CodedNetwork(ColumnCoding([knots], [values]), network)
    return [
        (one.upper, one.value, one.neurons, one.knot, one.slopes.item())
        for one in model.bounds([x])
    ]


def test_a_row_on_a_knot_has_its_bound_there() -> None:
    """Slopes at a knot are those above it, at the last knot those below."""
    coded = ([0.0, 1.0, 2.0], [0.0, 1.0, 3.0], np.empty(0), [], np.empty((0, 1)), 1.0)
    assert bounds_of(1.0, *coded) == [(False, 1.0, (), True, 1.0), (True, 2.0, (), True, 0.0)]
    assert bounds_of(2.0, *coded) == [(False, 1.0, (), True, 1.0), (True, 2.0, (), True, 0.0)]
    assert bounds_of(-5.0, *coded) == [(True, 0.0, (), True, 1.0)]
    assert bounds_of(5.0, *coded) == [(False, 2.0, (), True, 2.0)]


def test_a_neuron_on_its_kink_bounds_the_row_there() -> None:
    assert bounds_of(0.0, None, None, [2.0], [0.0], [3.0]) == [(True, 0.0, (0,), False, 6.0)]


def test_what_leaves_the_equation_unchanged_is_no_bound() -> None:
    straight = ([0.0, 1.0, 2.0, 3.0], [0.0, 0.1, 0.2, 0.3])  # up to rounding
    assert bounds_of(0.5, *straight, [1.0], [5.0], [1.0]) == [
        (False, 0.0, (), True, 0.0),
        (True, 3.0, (), True, 0.0),
    ]
    bent = ([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 3.0, 4.0])
    # The neuron sleeps until the code is 3.5; the knots before do not matter to it.
    assert bounds_of(0.5, *bent, [1.0], [-3.5], [1.0]) == [(True, 2.5, (0,), False, 1.0)]
    # relu(z) - relu(-z) is z, which does not bend; nor does what has no weight in the score.
    cancels = ([1.0, -1.0, 1.0], [-0.5, 0.5, -0.2], [1.0, -1.0, 0.0])
    assert bounds_of(0.3, None, None, *cancels) == []


def test_a_neuron_that_switches_at_a_knot_is_named_with_it() -> None:
    found = bounds_of(0.5, [0.0, 1.0, 2.0], [0.0, 1.0, 3.0], [1.0], [-1.0], [1.0], 1.0)
    assert found == [(False, 0.0, (), True, 0.0), (True, 1.0, (0,), True, 4.0)]


# ---------------------------------------------------------------------- blocks and memory


def joined(equation: tuple[Floats, Floats]) -> Floats:
    """Slopes and constant as one table."""
    return np.hstack([part.reshape(len(part), -1) for part in equation])


READINGS: dict[str, Any] = {
    "encode": lambda model, X: model.coding.encode(X),
    "score": lambda model, X: model.score(X),
    "equation": lambda model, X: joined(model.equation(X)),
    "gradient": lambda model, X: model.gradient(X),
    "local_intercept": lambda model, X: model.local_intercept(X),
    "region_keys": lambda model, X: model.region_keys(X),
    "segment": lambda model, X: model.segment(X[0], X),
    "moves": lambda model, X: model.moves(X, X[None, ::-1]),
    "increment": lambda model, X: model.along(X, 2).increment(X[:, 0], 0.5),
    "mean": lambda model, X: model.along(X, 2).mean([-1.0, 0.0, 2.0], np.arange(len(X))),
}


@pytest.mark.parametrize("name", READINGS)
def test_results_do_not_depend_on_the_block(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, X = random_coded(), random_rows(57)
    whole = READINGS[name](model, X)
    monkeypatch.setattr(row_blocks, "BLOCK_BYTES", 500)
    assert_allclose(READINGS[name](model, X), whole, rtol=1e-12, atol=1e-11)


@pytest.mark.parametrize(
    "name", ["score", "equation", "gradient", "region_keys", "increment", "moves"]
)
def test_memory_is_bounded_by_the_block(name: str) -> None:
    # All heights at once would be 100 MB.
    model, X = random_coded(m=1200, q=1), random_rows(10_000)
    tracemalloc.start()
    try:
        result = READINGS[name](model, X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (peak - result.nbytes) / 1e6 < 40


# ---------------------------------------------------------------------- networks of networks


def test_networks_with_one_coding_average_into_one() -> None:
    coding, X = random_coding(), random_rows(50)
    members = [CodedNetwork(coding, random_coded(m=m, seed=m).network) for m in (3, 7, 5)]
    average = CodedNetwork.average(members)
    expected = np.mean([member.score(X) for member in members], axis=0)
    assert average.n_neurons == 15
    assert_allclose(average.score(X), expected, rtol=0, atol=1e-12)
    total = CodedNetwork.concatenate(iter(members), [1.0, -2.0, 0.5])
    expected = members[0].score(X) - 2 * members[1].score(X) + 0.5 * members[2].score(X)
    assert_allclose(total.score(X), expected, rtol=0, atol=1e-12)


def test_networks_with_other_codings_do_not_mix() -> None:
    one, network = random_coding(), random_coded().network
    knots = [*one.knots[:2], one.knots[2] + 1, one.knots[3]]
    other = ColumnCoding(knots, one.values, one.names)
    mixed = [CodedNetwork(one, network), CodedNetwork(other, network)]
    with pytest.raises(ValueError, match=r"networks\[1\] codes column 'income' in another way.*on"):
        CodedNetwork.average(mixed)
    renamed = CodedNetwork(ColumnCoding(one.knots, one.values), network)
    with pytest.raises(ValueError, match=r"networks\[1\] has other columns"):
        CodedNetwork.average([mixed[0], renamed])
    with pytest.raises(ValueError, match="networks is empty"):
        CodedNetwork.average([])


def test_changes_of_neurons_pass_through() -> None:
    model, X = random_coded(), random_rows(20)
    codes = model.coding.encode(X)
    some = model.select([4, 2])
    of_codes = model.network.select([4, 2]).score(codes)
    assert_allclose(some.score(X), of_codes, rtol=0, atol=1e-12)
    zero = model.with_readout(np.zeros((30, 2)), [1.0, 2.0], np.zeros((7, 2)))
    assert_array_equal(zero.score(X), np.tile([1.0, 2.0], (20, 1)))
    assert zero.merge_parallel().n_neurons == 0
    double = CodedNetwork.concatenate([model, model])
    assert double.merge_parallel().n_neurons == 30
    assert_allclose(double.merge_parallel().score(X), 2 * model.score(X), rtol=0, atol=1e-11)


# ---------------------------------------------------------------------- bad input


def test_parts_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match=r"reads 2 columns and the coding gives 7 codes; train"):
        CodedNetwork(random_coding(), ReluNetwork([[1.0, 1.0]], [0.0], [1.0], 0.0))
    with pytest.raises(TypeError, match="network must be a ReluNetwork; it is 'net'"):
        CodedNetwork(random_coding(), "net")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="coding must be a ColumnCoding"):
        CodedNetwork(None, random_coded().network)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.nan, r"X contains NaN: column 'income' \(number 2\), row 1. Impute"),
        (-np.inf, r"X contains infinity: column 'income' \(number 2\), row 1. Replace"),
        (1e300, r"X contains a value too large.*column 'income' \(number 2\), row 1. Rescale"),
    ],
)
def test_unusable_cells_are_named(value: float, message: str) -> None:
    model, X = random_coded(), random_rows(3)
    X[1, 2] = value
    for read in (model.score, model.region_keys, model.coding.encode, lambda X: model.along(X, 0)):
        with pytest.raises(ValueError, match=message):
            read(X)
    with pytest.raises(ValueError, match=message.replace("X contains", "end contains", 1)):
        model.segment(np.zeros(4), X)
    with pytest.raises(ValueError, match=message.replace("X contains", r"targets\[0\] contains")):
        model.moves(np.zeros((3, 4)), X[None])


def test_other_bad_input_is_refused() -> None:
    model, X = random_coded(), random_rows(3)
    with pytest.raises(
        ValueError, match=r"X has shape \(3, 2\); expected \(n_rows, 4\).*age, flag"
    ):
        model.score(X[:, :2])
    with pytest.raises(TypeError, match=r"X must hold real numbers; its dtype is <U1. Code categ"):
        model.score([["a", "b", "c", "d"]])
    mixed = X.astype(object)
    mixed[2, 3] = "high"
    with pytest.raises(TypeError, match=r"'high' in column 'score'. Code categories as numbers"):
        model.score(mixed)
    assert_array_equal(model.score(X.astype(object)), model.score(X))
    with pytest.raises(IndexError, match="column is 4; the network reads columns 0 to 3"):
        model.along(X, 4)
    with pytest.raises(ValueError, match="start has 2 rows and end has 3"):
        model.segment(X[:2], X)
    with pytest.raises(ValueError, match=r"targets has shape \(3, 4\); expected \(s, 3, 4\)"):
        model.moves(X, X)
    with pytest.raises(ValueError, match="X has no rows"):
        model.along(X[:0], 0).mean([0.0])
    with pytest.raises(ValueError, match="weight is zero everywhere"):
        model.along(X, 0).mean([0.0], np.zeros(3))


# ---------------------------------------------------------------------- explanations


def definition_of_ale(model: CodedNetwork, X: Floats, column: int) -> tuple[Floats, Floats]:
    values, place = np.unique(X[:, column], return_inverse=True)
    heights = [0.0]
    for l in range(len(values) - 1):  # noqa: E741
        rows = X[(place == l) | (place == l + 1)]
        above = loop_score(model, with_column(rows, column, values[l + 1]))
        below = loop_score(model, with_column(rows, column, values[l]))
        heights.append(heights[-1] + float((above - below).mean()))
    effect = np.array(heights)
    return values, effect - effect[place].mean()


@pytest.mark.parametrize("column", range(4))
def test_accumulated_effects_are_those_of_the_definition(column: int) -> None:
    model, X = random_coded(m=10, q=1), np.round(random_rows(60), 1)
    curve = explain.accumulated_effects(model, X, schema=model.coding.names).curves[column]
    values, effect = definition_of_ale(model, X, column)
    assert_array_equal(curve.values, values)
    assert_allclose(curve.effect, effect, rtol=0, atol=1e-11)


def test_partial_dependence_is_the_mean_of_scores() -> None:
    model, X = random_coded(m=10, q=1), random_rows(60)
    grid = np.linspace(-2, 2, 7)
    effects = explain.partial_dependence(model, X, grid=grid)
    for j, curve in enumerate(effects.curves):
        expected = [loop_score(model, with_column(X, j, t)).mean() for t in grid]
        assert_allclose(curve.effect + curve.level, expected, rtol=0, atol=1e-11)


def test_a_row_is_explained_from_a_reference() -> None:
    model, X = random_coded(m=10, q=1), random_rows(60)
    score = model.score(X[5:6]).item()
    for reference, start in (
        ("mean", model.score(X.mean(axis=0)[None]).item()),
        ("mean score", model.score(X).mean()),
    ):
        found = explain.explain_row(
            model, X[5], X=X, schema=model.coding.names, reference=reference
        )
        assert found.slopes @ X[5] + found.intercept == pytest.approx(score, abs=1e-10)
        assert found.parts.sum() == pytest.approx(score - start, abs=1e-10)


def test_a_row_alone_is_explained_from_zero() -> None:
    model, x = random_coded(m=10, q=1), random_rows(60)[5]
    found = explain.explain_row(model, x)
    assert found.reference == "zero"
    zero = model.score(np.zeros((1, 4))).item()
    assert found.parts.sum() == pytest.approx(found.score - zero, abs=1e-10)
    assert len(found.boundaries) == np.isfinite(model.limits(x)).sum() > 0
    assert found.unknown


def test_boundaries_of_a_row_are_its_bounds_in_standard_deviations() -> None:
    """They were empty, as if the equation held everywhere."""
    model, X = random_coded(m=10, q=1), random_rows(60)
    found = explain.explain_row(model, X[5], X=X, schema=model.coding.names, reach=0)
    bounds = {(one.column, one.upper): one for one in model.bounds(X[5])}
    assert len(found.boundaries) == len(bounds) > 4
    for one in found.boundaries:
        bound = bounds[one.column, one.value > X[5, one.column]]
        assert (one.value, one.neurons, one.knot) == (bound.value, bound.neurons, bound.knot)
        assert one.kind == ("knot" if one.knot else "neuron")
        assert one.adjacent
        step = np.zeros(4)
        step[one.column] = one.value - X[5, one.column]
        assert_array_equal(one.change, step)
        assert one.distance == pytest.approx(np.abs(step).max() / X[:, one.column].std())
        assert_array_equal(one.slopes, bound.slopes)
    distances = [one.distance for one in found.boundaries]
    assert distances == sorted(distances)
    fewer = explain.explain_row(model, X[5], X=X, n_boundaries=3, reach=0).boundaries
    assert [one.distance for one in fewer] == distances[:3]
    frame = found.boundaries_to_frame()
    assert frame["column"].tolist() == [model.coding.names[b.column] for b in found.boundaries]
    assert set(frame["kind"]) <= {"knot", "neuron"}


def test_regions_carry_their_equations() -> None:
    model, X = random_coded(m=3, q=1), random_rows(200)
    y = model.score(X)[:, 0]
    regions = explain.local_regions(model, X, y, loss=SquaredError(), schema=model.coding.names)
    assert len(regions.to_frame())


READERS: dict[str, Any] = {
    "coefficient_signs": explain.coefficient_signs,
    "integrated_effects": explain.integrated_effects,
    "two_stage_strength": explain.two_stage_strength,
    "interaction_strength": explain.interaction_strength,
    "varying_coefficients": explain.varying_coefficients,
    "pair_effect": lambda model, X: explain.pair_effect(model, X, ("age", "income")),
    "merge_regions": lambda model, X: explain.merge_regions(model, X, n_regions=3),
    "neuron_importance": explain.neuron_importance,
    "neuron_contributions": explain.neuron_contributions,
    "feature_importance": explain.feature_importance,
    "stability": lambda model, X: explain.stability([model, model], X),
}


@pytest.mark.parametrize("name", READERS)
def test_explanations_read_it_through_the_interface(name: str) -> None:
    assert READERS[name](random_coded(m=10, q=1), random_rows(150)) is not None


def test_neurons_are_as_important_as_in_the_network_of_the_codes() -> None:
    model, X = random_coded(m=10, q=1), random_rows(50)
    ours = explain.neuron_importance(model, X)
    inner = explain.neuron_importance(model.network, model.coding.encode(X))
    np.testing.assert_allclose(ours.importance, inner.importance, rtol=1e-10)
    np.testing.assert_allclose(ours.active, inner.active)
