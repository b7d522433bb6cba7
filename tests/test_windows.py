"""Lines over the values near a row: double loops, scikit-learn, and functions that are known."""

import dataclasses
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LinearRegression

import crossfitted
from lifenet import LIFERegressor
from lifenet.data.codes import QuantileCoding
from lifenet.explain import _windows
from lifenet.explain._windows import share_explained, window_lines
from lifenet.explain.one_row import MINUS, number_text
from lifenet.explain.rows import explain_row, explain_rows
from lifenet.network import CodedNetwork, ReluNetwork
from lifenet.schema import FeatureSchema
from strategies import equivalents, floats, invariant, networks


def table(n=300, seed=0):
    """A normal column, few integers, an even one of two decimals, and one with heavy tails."""
    rng = np.random.default_rng(seed)
    return np.column_stack(
        [
            rng.normal(size=n),
            rng.integers(0, 5, n),
            np.round(rng.uniform(-1, 1, n), 2),
            rng.standard_t(3, n) * 100,
        ]
    )


def random_network(p, k, seed=1, m=15, scale=1.0):
    rng = np.random.default_rng(seed)
    return ReluNetwork(
        rng.normal(size=(m, p)) / scale,
        rng.normal(size=m),
        rng.normal(size=(m, k)),
        rng.normal(size=k),
        rng.normal(size=(p, k)) / np.reshape(scale, (-1, 1)),
    )


@cache
def subject(kind):
    """A network, its training rows and its schema."""
    X = table()
    signal = np.abs(X[:, 0]) + X[:, 1] * (X[:, 2] > 0) + X[:, 3] / 200
    y = signal + 0.1 * np.random.default_rng(2).normal(size=len(X))
    if kind == "plain":
        network, schema = random_network(4, 2, scale=X.std(axis=0)), FeatureSchema.of(X)
    elif kind == "coded":
        coding = QuantileCoding("both", max_bins=6).learn(X, None)
        network = CodedNetwork(coding, random_network(coding.n_codes, 2))
        schema = FeatureSchema.of(X)
    elif kind == "regressor":
        model = LIFERegressor(random_state=0).fit(X, y)
        network, schema = model.network_, model.schema_
    else:
        model = crossfitted.classifier().fit(X, np.digitize(y, [1.0, 3.0]))
        network, schema = model.network_, model.schema_
    return network, X, schema


KINDS = ["plain", "coded", "regressor", "classifier"]


def rows_of(X):
    """Rows of the table, others between them, and some outside of it."""
    rng = np.random.default_rng(3)
    between = X[:4] + (X[4:8] - X[:4]) * rng.uniform(size=(4, 1))
    return np.vstack([X[8:16], between, X.max(axis=0) * 1.01, X.min(axis=0) - 1e4])


def near(x, known, reach):
    """The kept values within reach of x but for x itself, each with its count."""
    return [
        (value, count)
        for value, count in zip(known.values, known.counts, strict=True)
        if abs(value - x) <= reach * known.span * (1 + 1e-9) and value != x
    ]


def by_loops(network, row, schema, reach):
    """Slopes, totals and rests (p, k), and whether there is a window (p,), of one row."""
    p, k = len(row), network.n_outputs
    slopes, total, left, known = (np.zeros(shape) for shape in [(p, k)] * 3 + [(p,)])
    base = network.score(row[None])[0]
    for column in range(p):
        moves = []
        for value, count in near(row[column], schema.values[column], reach):
            there = row.copy()
            there[column] = value
            moves.append((value - row[column], count, network.score(there[None])[0] - base))
        for output in range(k):
            if not moves:
                continue
            known[column] = True
            weight = sum(count for _, count, _ in moves)
            above = sum(count * step * change[output] for step, count, change in moves)
            slope = above / sum(count * step**2 for step, count, _ in moves)
            slopes[column, output] = slope
            for step, count, change in moves:
                total[column, output] += count * change[output] ** 2 / weight
                left[column, output] += count * (change[output] - step * slope) ** 2 / weight
    return slopes, total, left, known


@pytest.mark.parametrize("reach", [0.05, 0.3])
@pytest.mark.parametrize("kind", KINDS)
def test_slopes_totals_and_rests_are_those_of_loops_over_columns_and_values(kind, reach):
    network, X, schema = subject(kind)
    rows = rows_of(X)
    lines = window_lines(network, rows, schema, reach)
    assert lines.slopes.shape == (len(rows), 4, network.n_outputs)
    for place, row in enumerate(rows):
        slopes, total, left, known = by_loops(network, row, schema, reach)
        assert_array_equal(lines.known[place], known)
        size = np.abs(slopes).max() + 1e-300
        assert_allclose(lines.slopes[place], slopes, rtol=1e-8, atol=1e-10 * size)
        assert_allclose(lines.total[place], total, rtol=1e-8, atol=1e-12 * total.max())
        assert_allclose(lines.left[place], left, rtol=1e-8, atol=1e-10 * total.max())
    assert lines.known.any()
    assert not lines.known.all()


def test_a_slope_is_that_of_least_squares_without_an_intercept():
    network, X, schema = subject("plain")
    row = X[20]
    lines = window_lines(network, row[None], schema, 0.2)
    values, counts = np.array(near(row[0], schema.values[0], 0.2)).T
    there = np.tile(row, (len(values), 1))
    there[:, 0] = values
    fitted = LinearRegression(fit_intercept=False).fit(
        (values - row[0])[:, None], network.score(there) - network.score(row[None]), counts
    )
    assert_allclose(lines.slopes[0, 0], fitted.coef_[:, 0], rtol=1e-9)


def test_a_window_ends_at_its_outermost_values():
    network, X, schema = subject("plain")
    rows = rows_of(X)
    lines = window_lines(network, rows, schema, 0.05)
    for place, row in enumerate(rows):
        for column, x in enumerate(row):
            values = [x, *(value for value, _ in near(x, schema.values[column], 0.05))]
            ends = lines.low[place, column], lines.high[place, column]
            assert ends == (min(values), max(values))


@pytest.mark.parametrize("kind", KINDS)
def test_without_another_value_in_reach_there_is_no_slope(kind):
    network, X, schema = subject(kind)
    rows = X[:10].copy()
    rows[:, 3] = 1e6  # far from all values
    lines = window_lines(network, rows, schema, 0.05)
    for column in (1, 3):  # integers from 0 to 4 are farther apart than 5 % of the span
        assert not lines.known[:, column].any()
        for part in (lines.slopes, lines.total, lines.left):
            assert not part[:, column].any()
        assert_array_equal(lines.low[:, column], rows[:, column])
        assert_array_equal(lines.high[:, column], rows[:, column])
    assert window_lines(network, X[:10], schema, 0.5).known[:, 1].all()


def test_a_column_of_one_value_has_no_slope_at_any_reach():
    schema = FeatureSchema.of(np.column_stack([np.full(50, 7.0), np.arange(50.0)]))
    lines = window_lines(random_network(2, 1), np.array([[7.0, 3.0], [8.0, 3.0]]), schema, 1.0)
    assert lines.known.tolist() == [[False, True], [False, True]]
    assert not lines.slopes[:, 0].any()


@invariant
@given(st.data())
def test_the_lines_are_those_of_the_function_however_it_is_written(data):
    """Order of the neurons, positive factors, halves, turned neurons and dead ones."""
    network = data.draw(networks(min_neurons=1))
    X = data.draw(floats(9, network.n_features))
    other = data.draw(equivalents(network))
    schema, reach = FeatureSchema.of(X), data.draw(st.sampled_from([0.1, 0.5, 1.0]))
    one, same = (window_lines(net, X[:3] + 0.125, schema, reach) for net in (network, other))
    for name in ("slopes", "total", "left"):
        found, expected = getattr(same, name), getattr(one, name)
        assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * (1 + np.abs(one.total).max()))
    assert_array_equal(one.known, same.known)


@invariant
@given(st.data())
def test_a_line_leaves_no_more_than_there_was_and_least_of_all_lines(data):
    network = data.draw(networks(n_features=2, n_outputs=1))
    X = data.draw(floats(8, 2))
    schema = FeatureSchema.of(X)
    lines = window_lines(network, X[:1], schema, 1.0)
    assert (lines.left >= 0).all()
    assert (lines.left <= lines.total * (1 + 1e-12)).all()
    other = lines.slopes[0, :, 0] + data.draw(floats(2))
    for column in range(2):
        values = near(X[0, column], schema.values[column], 1.0)
        rest = 0.0
        for value, count in values:
            there = X[:1].copy()
            there[:, column] = value
            change = (network.score(there) - network.score(X[:1])).item()
            rest += count * (change - (value - X[0, column]) * other[column]) ** 2
        if values:
            rest /= sum(count for _, count in values)
            assert lines.left[0, column, 0] <= rest + 1e-9 * (1 + rest)


@pytest.mark.parametrize("reach", [0.01, 0.05, 1.0])
def test_of_a_linear_function_the_slopes_are_its_gradient_at_any_reach(reach):
    rng = np.random.default_rng(4)
    X = np.column_stack(
        [rng.normal(size=2_000), rng.standard_cauchy(2_000), rng.uniform(size=2_000)]
    )
    slopes = np.array([[2.0, 0.0], [-3.0, 1.0], [0.5, 7.0]])
    network = ReluNetwork(np.zeros((0, 3)), [], np.zeros((0, 2)), [1.0, 2.0], slopes)
    schema = FeatureSchema.of(X)
    rows = np.array([one.values[len(one.values) // 2 :][:3] for one in schema.values]).T
    lines = window_lines(network, rows, schema, reach)
    where = lines.known
    assert where[:, [0, 2]].all() or reach == 0.01
    assert where.any()
    expected = np.broadcast_to(slopes, lines.slopes.shape)
    assert_allclose(lines.slopes[where], expected[where], rtol=1e-12)
    assert lines.left.max() < 1e-20 * lines.total.max()
    assert_allclose(lines.fidelity, 1.0, rtol=1e-12)


def test_a_reach_inside_the_linear_piece_gives_the_gradient():
    """|x| with its kink at 0: far from it the window does not see it."""
    network = ReluNetwork([[1.0], [-1.0]], [0.0, 0.0], [1.0, 1.0], 0.0)
    schema = FeatureSchema.of(np.linspace(-1, 1, 101)[:, None])
    rows = np.array([[0.5], [-0.5], [0.04]])
    slopes = window_lines(network, rows, schema, 0.05).slopes[:, 0, 0]
    assert_allclose(slopes[:2], network.gradient(rows)[:2, 0, 0], rtol=1e-12)
    assert 0 < slopes[2] < 1


@pytest.mark.parametrize("factor", [0.25, 1024.0])
def test_other_units_change_slopes_by_their_factor_and_nothing_else(factor):
    network, X, _ = subject("plain")
    scale = np.array([1.0, factor, 1.0, factor])
    other = dataclasses.replace(
        network, weights=network.weights / scale, linear=network.linear / scale[:, None]
    )
    rows = rows_of(X)
    here = window_lines(network, rows, FeatureSchema.of(X), 0.3)
    there = window_lines(other, rows * scale, FeatureSchema.of(X * scale), 0.3)
    assert_allclose(there.slopes * scale[:, None], here.slopes, rtol=1e-9, atol=1e-12)
    assert_allclose(there.left, here.left, rtol=1e-9, atol=1e-12 * here.total.max())
    assert_array_equal(there.known, here.known)


def test_integer_weights_are_repeated_rows():
    network, X, _ = subject("plain")
    weight = np.random.default_rng(5).integers(0, 4, size=len(X)).astype(float)
    weighed = window_lines(network, X[:6], FeatureSchema.of(X, weight=weight), 0.1)
    repeated = FeatureSchema.of(np.repeat(X, weight.astype(int), axis=0))
    expected = window_lines(network, X[:6], repeated, 0.1)
    for name in ("slopes", "total", "left", "known", "low", "high"):
        assert_allclose(getattr(weighed, name), getattr(expected, name), rtol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_several_blocks_are_what_each_is_by_itself(kind, monkeypatch):
    network, X, schema = subject(kind)
    rows = rows_of(X)
    whole = window_lines(network, rows, schema, 0.3)
    alone = [window_lines(network, row[None], schema, 0.3) for row in rows]
    monkeypatch.setattr(_windows, "_CELLS", 300)
    blocks = list(_windows._blocks(rows, schema.values, 0.3))
    assert len(blocks) > 1
    parts = window_lines(network, rows, schema, 0.3)
    for name in ("slopes", "total", "left", "known", "low", "high"):
        expected = getattr(whole, name)
        atol = 1e-11 * np.abs(expected).max()
        assert_allclose(getattr(parts, name), expected, rtol=1e-9, atol=atol)
        by_one = np.concatenate([getattr(one, name) for one in alone])
        assert_allclose(by_one, expected, rtol=1e-9, atol=atol)


def test_no_rows_have_no_lines():
    network, _, schema = subject("plain")
    lines = window_lines(network, np.zeros((0, 4)), schema, 0.05)
    assert lines.slopes.shape == (0, 4, 2)
    assert np.isnan(lines.fidelity).all()


def test_the_share_explained_is_unknown_where_nothing_changes():
    assert_array_equal(
        share_explained(np.array([4.0, 0.0, 2.0]), np.array([1.0, 0.0, 2.0])), [0.75, np.nan, 0.0]
    )


# ------------------------------------------------------------------ explanations of rows


@pytest.mark.parametrize("kind", KINDS)
def test_at_reach_zero_the_equation_is_that_of_the_row(kind):
    network, X, schema = subject(kind)
    output = network.n_outputs - 1
    for row in rows_of(X):
        found = explain_row(network, row, schema=schema, reach=0, output=output)
        assert_array_equal(found.slopes, network.gradient(row[None])[0, :, output])
        constant = network.score(row[None])[0, output] - found.slopes @ row
        assert found.intercept == pytest.approx(constant, rel=1e-9, abs=1e-9)
        assert np.isnan(found.window).all()
        assert np.isnan(found.fidelity).all()
        assert np.isnan(found.explained)


@pytest.mark.parametrize("reach", [None, 0.05, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_the_equation_gives_the_score_at_the_row(kind, reach):
    network, X, schema = subject(kind)
    for output in range(network.n_outputs):
        rows = rows_of(X)
        scores = network.score(rows)[:, output]
        found = explain_rows(network, rows, schema=schema, reach=reach, output=output)
        for row, one, score in zip(rows, found, scores, strict=True):
            assert one.reach == (0.05 if reach is None else reach)
            size = abs(score) + np.abs(one.slopes * row).sum()
            assert abs(one.intercept + one.slopes @ row - score) < 1e-12 * size
            assert abs(one.intercept + one.contributions.sum() - score) < 1e-12 * size


@pytest.mark.parametrize("kind", KINDS)
def test_an_explanation_has_the_lines_of_its_output(kind):
    network, X, schema = subject(kind)
    lines = window_lines(network, X[:5], schema, 0.1)
    for output in range(network.n_outputs):
        found = explain_rows(network, X[:5], schema=schema, reach=0.1, output=output)
        for place, one in enumerate(found):
            total, left = (part[place, :, output] for part in (lines.total, lines.left))
            assert_allclose(one.slopes, lines.slopes[place, :, output])
            assert one.explained == pytest.approx(1 - left.sum() / total.sum())
            known = lines.known[place]
            assert_allclose(one.fidelity[known], 1 - left[known] / total[known])
            assert np.isnan(one.fidelity[~known]).all()
            assert np.isnan(one.window[~known]).all()
            ends = np.stack([lines.low[place], lines.high[place]], axis=1)
            assert_array_equal(one.window[known], ends[known])


@pytest.mark.parametrize("kind", KINDS)
def test_the_nearest_values_change_the_score_by_what_they_say(kind):
    network, X, schema = subject(kind)
    for row in X[[np.argmin(X[:, 1]), np.argmax(X[:, 1]), 30, 31, 32]]:
        found = explain_row(network, row, schema=schema, output=0)
        for column in range(4):
            if not np.isnan(found.window[column, 0]):
                assert np.isnan(found.nearest[column]).all()
                assert np.isnan(found.nearest_change[column]).all()
                continue
            values = schema.values[column].values
            below, above = values[values < row[column]], values[values > row[column]]
            wanted = [below[-1] if len(below) else np.nan, above[0] if len(above) else np.nan]
            assert_array_equal(found.nearest[column], wanted)
            for value, change in zip(wanted, found.nearest_change[column], strict=True):
                if np.isnan(value):
                    assert np.isnan(change)
                    continue
                there = row.copy()
                there[column] = value
                scores = network.score(np.stack([row, there]))[:, 0]
                assert change == pytest.approx(scores[1] - scores[0], rel=1e-9, abs=1e-12)
        assert not np.isnan(found.nearest[1]).all()


def test_a_category_says_what_its_other_level_changes():
    """A column of 0 and 1 has nothing in reach, and no slope that would hold between them."""
    X = np.column_stack([np.linspace(0, 1, 40), [0.0, 1.0] * 20])
    network = ReluNetwork([[0.0, 1.0]], [-0.5], [4.0], 1.0)
    found = explain_row(network, X[0], X=X, schema=["size", "sex"])
    assert found.nearest.tolist()[1][1] == 1.0
    assert found.nearest_change.tolist()[1][1] == 2.0
    assert found.slopes[1] == 0.0
    frame = found.columns_to_frame()
    assert frame["above"].tolist()[1] == 1.0
    assert frame["change_above"].tolist()[1] == 2.0
    assert frame["below"].isna().all()


# ------------------------------------------------------------------ in words


def percent(share):
    """A share rounded down, but for rounding errors."""
    return f"{np.floor(100 * share + 1e-9):.0f} %" if share > 0 else "nothing"


@pytest.mark.parametrize("kind", KINDS)
def test_the_words_say_the_number(kind):
    network, X, schema = subject(kind)
    poorest = 1.0
    for reach in (0.05, 0.3):
        for one in explain_rows(network, X[:25], schema=schema, output=0, reach=reach):
            first, *others = one.worth
            assert f"Within {100 * reach:g} % of each column's span" in first
            assert f"explains {percent(one.explained)} of what the model does" in first
            poor_ones = " ".join(line for line in others if "less than half" in line)
            said = dict(re.findall(r"(x\d) \((nothing|\d+ %)\)", poor_ones))
            with np.errstate(invalid="ignore"):
                poor = np.flatnonzero(one.fidelity < 0.5) if one.explained >= 0.5 else []
            assert set(said) == {f"x{column}" for column in poor}
            for column in poor:
                assert said[f"x{column}"] == percent(one.fidelity[column])
            held = [f"x{column}" for column in np.flatnonzero(np.isnan(one.window[:, 0]))]
            jumps = [line for line in others if "exact changes" in line]
            assert len(jumps) == bool(held)
            told = re.findall(r"(x\d) \(", jumps[0]) if held else []
            assert set(told) <= set(held)
            assert len(told) == min(len(held), 5)
            poorest = min(poorest, one.explained)
    assert poorest < 0.95


def test_a_line_that_explains_nothing_says_so():
    """In the middle of |x| the best line is flat."""
    network = ReluNetwork([[1.0], [-1.0]], [0.0, 0.0], [1.0, 1.0], 0.0)
    X = np.arange(-8, 9)[:, None] / 8
    found = explain_row(network, [0.0], X=X, reach=0.3, schema=["temp"])
    assert found.explained == 0
    (said,) = found.worth
    window = f"With temp from {MINUS}0.5 to 0.5"
    assert said == f"{window} this equation explains nothing of what the model does."


def test_a_share_is_never_rounded_up():
    """99.9 % are not 100 %."""
    network = ReluNetwork([[1.0]], [-0.9], [1.0], 0.0, [10.0])
    found = explain_row(network, [0.5], X=np.linspace(0, 1, 101)[:, None], reach=0.5)
    assert 0.99 < found.explained < 1
    assert "explains 99 %" in found.worth[0]


def test_a_single_column_is_named_with_its_window():
    X = np.column_stack([np.linspace(0, 10, 101), [0.0, 1.0] * 50 + [0.0]])
    network = ReluNetwork(np.zeros((0, 2)), [], np.zeros((0, 1)), 0.0, [2.0, 1.0])
    first, second = explain_row(network, [5.0, 0.0], X=X, schema=["temp", "sex"]).worth
    assert first == "With temp from 4.6 to 5.4 this equation explains 100 % of what the model does."
    assert second == (
        "Columns without another value in reach have no slope; exact changes: sex (to 1: +1)."
    )


def test_where_there_is_nothing_to_say_the_words_say_that():
    network, X = random_network(2, 1), np.array([[0.0, 1.0], [4.0, 9.0]] * 10)
    one = explain_row(network, X[0], X=X)
    said, jumps = one.worth
    assert said == "No column has another training value in reach, so that there are no slopes."
    change = network.score([[4.0, 1.0]]) - network.score([[0.0, 1.0]])
    assert one.nearest_change[0, 1] == pytest.approx(change.item())
    assert f"x0 (to 4: {'+' if change > 0 else MINUS}{number_text(abs(change.item()), 3)})" in jumps
    (said,) = explain_row(network, X[0], X=X, reach=0).worth
    assert "that of the row itself" in said
    flat = ReluNetwork(np.zeros((0, 1)), [], np.zeros((0, 1)), 3.0, [0.0])
    (said,) = explain_row(flat, [0.5], X=np.linspace(0, 1, 99)[:, None]).worth
    assert said == "Nothing within reach changes the score."


# ------------------------------------------------------------------ what is asked


@pytest.mark.parametrize("reach", [-0.01, 1.01, np.nan, np.inf])
def test_a_reach_out_of_range_is_refused(reach):
    network, X, schema = subject("plain")
    with pytest.raises(
        ValueError, match=r"reach must be at least 0 and at most 1, a share of each"
    ):
        explain_row(network, X[0], schema=schema, reach=reach, output=0)


@pytest.mark.parametrize("reach", ["0.1", True, [0.1], 1j])
def test_a_reach_that_is_no_number_is_refused(reach):
    network, X, schema = subject("plain")
    with pytest.raises(TypeError, match="reach must be a share of each column's span; it is "):
        explain_row(network, X[0], schema=schema, reach=reach, output=0)


def test_a_reach_may_be_any_real_number():
    network, X, schema = subject("plain")
    for reach in (1, np.float32(0.25), np.int64(1), 0):
        found = explain_row(network, X[0], schema=schema, reach=reach, output=0)
        assert type(found.reach) is float
        assert found.reach == reach


@pytest.mark.parametrize("schema", [None, list("abcd"), FeatureSchema.named("abcd")])
def test_a_reach_without_training_values_says_where_they_come_from(schema):
    network, X, _ = subject("plain")
    remedy = r"Pass the fitted model, its schema_, or background rows X; or reach=0"
    for explain, rows in ((explain_row, X[0]), (explain_rows, X[:3])):
        with pytest.raises(ValueError, match=remedy):
            explain(network, rows, schema=schema, reach=0.05, output=0)
    found = explain_row(network, X[0], schema=schema, output=0)
    assert found.reach == 0
    assert explain_row(network, X[0], X=X, schema=schema, output=0).reach == 0.05


def test_rows_of_weight_zero_have_no_say_and_weights_count_rows():
    """Values of background rows came without their weights."""
    network, X, _ = subject("plain")
    weight = np.random.default_rng(6).integers(0, 3, size=len(X))
    known = {"reach": 0.2, "output": 0, "reference": "zero"}
    weighed = explain_row(network, X[0], X=X, sample_weight=weight, **known)
    repeated = explain_row(network, X[0], X=np.repeat(X, weight, axis=0), **known)
    assert_allclose(weighed.slopes, repeated.slopes, rtol=1e-10)
    assert_array_equal(weighed.window, repeated.window)
