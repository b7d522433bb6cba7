import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet import FeatureSchema
from lifenet.schema import ColumnValues, check_finite
from strategies import floats, invariant

X = np.array([[1.0, 5.0], [3.0, 4.0]])


def test_ranges_names_and_groups_are_read_from_a_table():
    schema = FeatureSchema.of(X, ["age", "income"])
    assert schema.names == ("age", "income")
    assert schema.lower == (1.0, 4.0)
    assert schema.upper == (3.0, 5.0)
    assert schema.groups == (("age", (0,)), ("income", (1,)))
    assert FeatureSchema.of(X).names == ("x0", "x1")


def test_dummies_can_share_a_group():
    schema = FeatureSchema.of(X, ["sex=F", "sex=M"], [("sex", [0, 1])])
    assert schema.groups == (("sex", (0, 1)),)


def test_cells_outside_the_training_range_are_flagged():
    outside = FeatureSchema.of(X).outside(np.array([[0.9, 4.5], [3.0, 5.1]]))
    assert outside.tolist() == [[True, False], [False, True]]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"names": ["a", "a"]}, "a came twice"),
        ({"names": ["a"]}, "1 entries for 2 columns"),
        ({"groups": [("a", ["z"])]}, "'a' has a column 'z'; there are x0, x1"),
        ({"groups": [("a", [2])]}, "'a' has a column 2; there are x0, x1"),
        ({"groups": [("a", [])]}, "'a' has no columns"),
        ({"groups": [("a", [0, 1]), ("b", [1])]}, "hold columns \\[0, 1, 1\\]"),
    ],
)
def test_parts_that_disagree_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        FeatureSchema.of(X, **settings)


def test_nan_and_shapes_are_seen_when_asking_what_lies_outside():
    schema = FeatureSchema.of(X, ["age", "income"])
    assert schema.outside([[np.nan, 4.5]]).tolist() == [[True, False]]
    with pytest.raises(ValueError, match=r"2 columns \(age, income\); it has shape \(1, 1\)"):
        schema.outside([[1.0]])


def test_names_come_with_a_frame_and_the_value_can_be_hashed():
    schema = FeatureSchema.of(pd.DataFrame(X, columns=["age", "income"]))
    assert schema.names == ("age", "income")
    assert hash(schema) == hash(FeatureSchema.of(X, ["age", "income"]))


@pytest.mark.parametrize(
    ("value", "kind", "remedy"),
    [
        (np.nan, "NaN", "SimpleImputer"),
        (-np.inf, "infinity", "Replace it"),
        (1e200, r"a value too large \(1e\+200\)", "Rescale the column"),
    ],
)
def test_the_first_bad_cell_is_named(value, kind, remedy):
    table = np.zeros((70_000, 3))  # not in the first block of rows
    table[69_000, 1] = value
    table[69_500, 0] = value
    with pytest.raises(ValueError, match=f"{kind}: column 'b' .*row 69000.*{remedy}"):
        check_finite(table, ["a", "b", "c"])
    with pytest.raises(ValueError, match="column 'x1'"):
        check_finite(table)


def test_groups_name_columns_or_number_them_and_leave_the_rest_alone():
    X = np.zeros((3, 4))
    names = ["age", "job=A", "job=B", "income"]
    plain = FeatureSchema.of(X, names)
    expected = (("age", (0,)), ("job", (1, 2)), ("income", (3,)))
    assert FeatureSchema.of(X, names, [("job", ["job=A", "job=B"])]).groups == expected
    assert plain.grouped({"job": [1, 2]}).groups == expected
    turned = {"income": [3], "job": [1, 2], "age": [0]}
    assert [name for name, _ in plain.grouped(turned).groups] == ["income", "job", "age"]
    assert plain.grouped({"job": ["job=A", 2]}).grouped({}).groups == plain.groups
    with pytest.raises(ValueError, match="exactly one group"):
        plain.grouped({"job": [1, 2], "work": [2]})


def test_names_alone_know_no_ranges_and_no_values():
    schema = FeatureSchema.named(["age", "income"])
    assert schema.names == ("age", "income")
    assert schema.groups == (("age", (0,)), ("income", (1,)))
    assert schema.values == ()
    assert not schema.outside([[1e300, -np.inf]]).any()
    with pytest.raises(ValueError, match="a came twice"):
        FeatureSchema.named(["a", "a"])


def test_values_stay_with_the_columns_and_do_not_tell_schemas_apart():
    schema = FeatureSchema.of(X, ["age", "income"])
    assert [one.values.tolist() for one in schema.values] == [[1.0, 3.0], [4.0, 5.0]]
    assert schema.grouped({"both": [0, 1]}).values is schema.values
    weighed = FeatureSchema.of(X, ["age", "income"], weight=np.array([2.0, 5.0]))
    assert [one.counts.tolist() for one in weighed.values] == [[2.0, 5.0], [5.0, 2.0]]
    assert weighed == schema
    assert "counts" not in repr(weighed)
    with pytest.raises(ValueError, match="values has 1 entries for 2 columns"):
        FeatureSchema(schema.names, schema.lower, schema.upper, schema.groups, schema.values[:1])


# ------------------------------------------------------------------ values of a column

#: The most that is kept: 80 parts of the span and 120 of each tail, and where they meet.
MOST = 325


def drawn(kind, n=20_000):
    """Columns of many values, with tails of all lengths."""
    rng = np.random.default_rng(0)
    if kind == "mostly zero":  # its span is zero
        return np.where(rng.uniform(size=n) < 0.97, 0.0, rng.standard_cauchy(n))
    if kind == "one far out":
        return np.append(rng.uniform(size=n - 1), 1e12)
    draw = {
        "normal": rng.standard_normal,
        "cauchy": rng.standard_cauchy,
        "even": rng.uniform,
        "integers": lambda size: rng.integers(0, 3_000, size).astype(float),
        "amounts": lambda size: np.round(np.exp(3 * rng.normal(size=size)), 2),
    }[kind]
    return draw(size=n)


MANY = ["normal", "cauchy", "even", "integers", "amounts", "mostly zero", "one far out"]


def same(one, other):
    assert_array_equal(one.values, other.values)
    assert_allclose(one.counts, other.counts, rtol=1e-12)
    assert one.span == other.span


@invariant
@given(st.integers(1, 100).flatmap(lambda n: floats(n)))
def test_few_values_are_all_kept_with_exact_counts(column):
    found = ColumnValues.of(column)
    values, counts = np.unique(column, return_counts=True)
    assert_array_equal(found.values, values)
    assert_array_equal(found.counts, counts)


def test_up_to_128_values_are_few():
    column = np.repeat(np.arange(129.0), 3)
    assert_array_equal(ColumnValues.of(column[:-3]).values, np.arange(128.0))
    assert len(ColumnValues.of(column).values) < 129


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("kind", MANY)
def test_of_many_values_some_stand_for_the_rows_next_to_them(kind, weighed):
    """Each is a weighted median of the rows between its neighbours' rows, by counting."""
    column = drawn(kind)
    weight = np.random.default_rng(1).integers(0, 4, len(column)) if weighed else None
    found = ColumnValues.of(column, None if weight is None else weight.astype(float))
    rows = np.sort(column if weight is None else np.repeat(column, weight))
    assert 10 < len(found.values) <= MOST
    assert (np.diff(found.values) > 0).all()
    assert np.isin(found.values, rows).all()
    assert (found.counts > 0).all()
    assert found.counts.sum() == len(rows)
    before = np.cumsum(found.counts) - found.counts
    below = np.searchsorted(rows, found.values, side="left") - before
    up_to = np.searchsorted(rows, found.values, side="right") - before
    half = found.counts / 2
    assert (below < half).all()
    assert (up_to >= half).all()


@pytest.mark.parametrize("kind", ["normal", "cauchy", "even"])
def test_a_window_of_a_twentieth_to_either_side_keeps_eight_values(kind):
    column = drawn(kind)
    found = ColumnValues.of(column)
    low, high = found.windows(np.quantile(column, np.linspace(0.2, 0.8, 50)), 0.05)
    assert (high - low >= 7).all()


@pytest.mark.parametrize("kind", MANY)
def test_the_span_is_that_of_numpy_quantiles(kind):
    column = drawn(kind)
    low, high = np.quantile(column, [0.05, 0.95], method="inverted_cdf")
    assert ColumnValues.of(column).span == high - low


@invariant
@given(st.data())
def test_the_span_is_that_of_the_repeated_rows(data):
    column = data.draw(floats(9))
    weight = data.draw(st.lists(st.integers(0, 4), min_size=9, max_size=9).filter(any))
    rows = np.repeat(column, weight)
    low, high = np.quantile(rows, [0.05, 0.95], method="inverted_cdf")
    assert ColumnValues.of(column, np.array(weight, dtype=float)).span == high - low
    same(ColumnValues.of(column, np.array(weight, dtype=float)), ColumnValues.of(rows))


@pytest.mark.parametrize("kind", MANY)
def test_integer_weights_are_repeated_rows_and_zero_is_absence(kind):
    column = drawn(kind)
    weight = np.random.default_rng(2).integers(0, 4, len(column)).astype(float)
    found = ColumnValues.of(column, weight)
    same(found, ColumnValues.of(np.repeat(column, weight.astype(int))))
    present = weight > 0
    same(found, ColumnValues.of(column[present], weight[present]))
    shares = ColumnValues.of(column, weight / weight.sum())
    assert_array_equal(shares.values, found.values)
    assert_allclose(shares.counts * weight.sum(), found.counts)


@pytest.mark.parametrize("kind", MANY)
def test_the_order_of_the_rows_does_not_matter_and_units_scale(kind):
    column = drawn(kind)
    found = ColumnValues.of(column)
    same(found, ColumnValues.of(np.random.default_rng(3).permutation(column)))
    larger = ColumnValues.of(1024.0 * column)
    assert_array_equal(larger.values, 1024.0 * found.values)
    assert_array_equal(larger.counts, found.counts)
    assert larger.span == 1024.0 * found.span


@pytest.mark.parametrize("n", [1, 500])
def test_a_constant_column_has_one_value_and_no_span(n):
    found = ColumnValues.of(np.full(n, -7.5))
    assert (found.values.tolist(), found.counts.tolist(), found.span) == ([-7.5], [n], 0.0)
    low, high = found.windows(np.array([-7.5, 0.0, -8.0]), 1.0)
    assert low.tolist() == [0, 1, 0]
    assert high.tolist() == [1, 1, 0]


def test_single_precision_is_read_in_double():
    column = drawn("normal", 1_000).astype(np.float32)
    found = ColumnValues.of(column)
    assert found.values.dtype == found.counts.dtype == np.float64
    assert np.isin(found.values, column.astype(np.float64)).all()


@invariant
@given(st.data())
def test_windows_hold_the_values_within_reach(data):
    column, at = data.draw(floats(12)), data.draw(floats(5))
    found = ColumnValues.of(column)
    reach = data.draw(st.sampled_from([0.0, 0.05, 0.25, 0.5, 1.0]))
    for x, low, high in zip(at, *found.windows(at, reach), strict=True):
        wanted = [one for one in found.values if abs(one - x) <= reach * found.span * (1 + 1e-9)]
        assert found.values[low:high].tolist() == wanted


def test_a_value_at_the_end_of_a_window_is_inside_in_spite_of_rounding():
    found = ColumnValues.of(np.arange(11) / 10)
    low, high = found.windows(found.values, 0.3)
    n_inside = [min(10, place + 3) - max(0, place - 3) + 1 for place in range(11)]
    assert (high - low).tolist() == n_inside


def test_cells_outside_are_found_by_name():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0], "b": [10.0, 20.0, 30.0]})
    schema = FeatureSchema.of(frame)
    assert not schema.outside(frame[["b", "a"]]).any()
    assert schema.outside(frame.assign(b=99.0)[["b", "a"]]).tolist() == [[False, True]] * 3
    assert not schema.outside(frame.to_numpy()).any()
