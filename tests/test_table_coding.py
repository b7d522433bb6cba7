"""Codes of columns against what Python and counting by hand say of them."""

import datetime as dt
import pickle
from collections import Counter

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from lifenet.tables import Targets, learn_coding, read_table
from strategies import invariant
from test_shrinkage import exact


def learnt(frame, y=None, weight=None, categorical=None, undated=()):
    """A coding, and the table it was learnt from."""
    table = read_table(frame, undated=undated)
    y = np.arange(table.n_rows, dtype=float) if y is None else np.asarray(y, dtype=float)
    weight = np.ones(table.n_rows) if weight is None else np.asarray(weight, dtype=float)
    chosen = None if categorical is None else np.array(categorical, dtype=np.intp)
    named = hasattr(frame, "columns")
    return learn_coding(table, chosen, weight, Targets(y[:, None], ("target",)), named=named), table


def coded(frame, **settings):
    """Columns of numbers by name."""
    coding, table = learnt(frame, **settings)
    return dict(zip(coding.columns, coding.encode(table).T.tolist(), strict=True))


def column(*values, dtype=object):
    return pd.DataFrame({"a": pd.Series(values, dtype=dtype)})


# ---------------------------------------------------------------------- numbers


def test_plain_numbers_are_left_alone():
    X = np.random.default_rng(0).normal(size=(9, 3))
    coding, table = learnt(X)
    assert coding.is_plain
    assert coding.columns == ("x0", "x1", "x2")
    assert coding.encode(table) is table.matrix
    assert [one.neutral for one in coding.codes] == np.sort(X, axis=0)[4].tolist()


def test_a_gap_is_the_median_and_an_indicator():
    found = coded(column(5, None, 0, 1, 9, 9, 0))
    assert found == {"a": [5, 1, 0, 1, 9, 9, 0], "a is missing": [0, 1, 0, 0, 0, 0, 0]}


def test_a_gap_that_training_did_not_have_is_the_median():
    coding, _ = learnt(column(5, 0, 1, 9, 9))
    assert coding.transform(column(None, 7)).tolist() == [[5], [7]]
    assert coding.transform([[np.nan], [7.0]]).tolist() == [[5], [7]]


@pytest.mark.parametrize(
    "nothing",
    [
        column(None, None),
        column(np.nan, np.nan, dtype=float),
        column(pd.NaT, pd.NaT, dtype="datetime64[ns]"),
        column(None, None, dtype="category"),
        column(None, None, dtype="string"),
        pl.DataFrame({"a": [None, None]}),
        pl.DataFrame({"a": [None, None]}, schema={"a": pl.Categorical}),
    ],
)
@pytest.mark.parametrize(
    "training",
    [
        column(1.0, 2.0, 4.0),
        column("u", "v", "v"),
        column(dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.date(2020, 1, 3)),
        column(dt.timedelta(1), dt.timedelta(2), dt.timedelta(3)),
        column(True, False, True),
    ],
)
def test_new_rows_without_any_value_are_gaps_whatever_holds_them(training, nothing):
    """An empty categorical column where numbers had been ended in an index error."""
    coding, _ = learnt(training)
    found = coding.transform(nothing)
    assert found.shape == (2, len(coding.columns))
    assert np.isfinite(found).all()
    assert_array_equal(found[0], found[1])


def test_truth_values_are_zero_and_one():
    assert coded(column(True, None, False, False)) == {
        "a": [1, 0, 0, 0],
        "a is missing": [0, 1, 0, 0],
    }


# ---------------------------------------------------------------------- times


@invariant
@given(
    st.lists(
        st.one_of(st.none(), st.datetimes(dt.datetime(1800, 1, 1), dt.datetime(2140, 1, 1))),
        min_size=2,
        max_size=12,
    )
)
def test_calendar_parts_are_those_of_python(values):
    known = [one for one in values if one is not None]
    if not known:
        return
    found = coded(column(*values))
    parts = {
        "month": lambda one: one.month,
        "weekday": lambda one: one.isoweekday(),
        "hour": lambda one: (
            (one - dt.datetime.combine(one.date(), dt.time())) / dt.timedelta(hours=1)
        ),
    }
    for name, of in parts.items():
        expected = [of(one) for one in known]
        if f"a: {name}" not in found:
            assert np.ptp(expected) < 1e-6
            continue
        cells = found[f"a: {name}"]
        mine = [cell for cell, one in zip(cells, values, strict=True) if one is not None]
        assert_allclose(mine, expected, atol=1e-6)
        gone = {cell for cell, one in zip(cells, values, strict=True) if one is None}
        assert gone <= {sorted(mine)[(len(mine) - 1) // 2]}
    assert ("a is missing" in found) == (None in values)


def test_parts_that_do_not_vary_have_no_column():
    days = [dt.date(2020, 1, 6), dt.date(2020, 1, 13), dt.date(2020, 1, 20)]
    assert list(coded(column(*days))) == ["a"]
    assert list(coded(column(*days, dt.date(2020, 2, 3)))) == ["a", "a: month"]
    assert list(coded(column(*days, dt.date(2020, 1, 7)))) == ["a", "a: weekday"]
    moments = [dt.datetime(2020, 1, 6, hour) for hour in (1, 2)]
    assert coded(column(*moments))["a: hour"] == [1, 2]


def test_dates_in_text_are_dates_and_in_new_rows_too():
    coding, _ = learnt(column("2020-01-01", "2020-01-09", "2020-01-30"))
    assert coding.columns == ("a", "a: weekday")
    same = [
        column("2020-03-01"),
        column(dt.date(2020, 3, 1)),
        pd.DataFrame({"a": pd.to_datetime(["2020-03-01"])}),
        pl.DataFrame({"a": [dt.datetime(2020, 3, 1)]}),
    ]
    for frame in same:
        assert coding.transform(frame).tolist() == [[18322, 7]]
    with pytest.raises(ValueError, match=r"Column 'a' .* holds 'soon' in row 0, and held dates"):
        coding.transform(column("soon", "2020-03-01"))


# ---------------------------------------------------------------------- categories


def test_up_to_ten_levels_have_an_indicator_each():
    for n in range(3, 11):
        levels = [f"l{k}" for k in range(n)]
        found = coded(column(*levels * 6))
        assert list(found) == [f"a = {one}" for one in sorted(levels)]
        assert_array_equal(np.array(list(found.values())), np.tile(np.eye(n), 6))


def test_two_levels_have_one_indicator():
    assert list(coded(column(*"uuvuvvv" * 2))) == ["a = u"]
    assert list(coded(column(*"uuvuvvv" * 2, None))) == ["a = v", "a = u", "a is missing"]


def test_rare_levels_share_an_indicator_with_those_unseen():
    coding, table = learnt(column(*"u" * 9, *"v" * 6, *"wwww", "x"))
    assert coding.columns == ("a = u", "a = v", "a = other levels")
    assert coding.encode(table).sum(axis=0).tolist() == [9, 6, 5]
    assert coding.transform(column("w", "never", None)).tolist() == [[0, 0, 1]] * 3


def test_an_unseen_level_is_the_most_frequent_where_none_was_rare():
    coding, _ = learnt(column(*"u" * 6, *"v" * 8, *"w" * 7))
    assert coding.columns == ("a = v", "a = w", "a = u")
    assert coding.transform(column("never", "w")).tolist() == [[1, 0, 0], [0, 1, 0]]


def test_an_unseen_level_is_known_as_such():
    coding, table = learnt(column(*"u" * 6, *"v" * 8, *"w" * 7))
    assert not coding.unknown(table).any()
    assert coding.unknown(coding.read(column("never", "w", None))).tolist() == [[1], [0], [0]]


def many(n=900, n_levels=30, seed=0):
    generator = np.random.default_rng(seed)
    levels = np.minimum(generator.geometric(0.15, n), n_levels)
    y = np.sin(levels) + generator.normal(size=n)
    return column(*(f"l{one}" for one in levels)), levels, y


def test_many_levels_have_frequent_ones_and_what_is_expected():
    frame, levels, y = many()
    coding, table = learnt(frame, y)
    counts = Counter(frame["a"])
    frequent = sorted(counts, key=lambda one: (-counts[one], one))[:10]
    frequent = [one for one in frequent if counts[one] >= 9]
    assert coding.columns == (*(f"a = {one}" for one in frequent), "a [expected target]")
    encoded = coding.encode(table)
    for number, level in enumerate(frequent):
        assert_array_equal(encoded[:, number], frame["a"] == level)
    expected = exact(levels, y, np.ones(len(y)), 31)
    assert_allclose(encoded[:, -1], expected[levels], atol=1e-9)
    unseen = coding.transform(column("never", None))
    assert_array_equal(unseen, 0)


def test_gaps_among_many_levels_have_an_expectation_of_their_own():
    frame, levels, y = many()
    gone = np.arange(len(y)) % 7 == 0
    frame.loc[gone, "a"] = None
    y = y + 3 * gone
    coding, _ = learnt(frame, y)
    assert coding.columns[-2:] == ("a is missing", "a [expected target]")
    expected = exact(np.where(gone, 0, levels), y, np.ones(len(y)), 31)
    assert_allclose(coding.transform(column(None))[0, -2:], [1, expected[0]], atol=1e-9)
    assert expected[0] > 2


def test_codes_of_training_rows_are_crossfitted_but_those_of_frequent_levels():
    frame, levels, y = many()
    frame["n"] = np.arange(len(y)) % 97
    coding, table = learnt(frame, y)
    targets = Targets(y[:, None], ("target",))
    fitted = coding.crossfitted(table, targets, np.ones(len(y)))
    codes = fitted.table(coding.encode(table))[:, coding.columns.index("a [expected target]")]
    assert set(fitted.part) == set(range(5))
    whole = exact(levels, y, np.ones(len(y)), 31)[levels]
    said = {column.removeprefix("a = ") for column in coding.columns if " = " in column}
    frequent = frame["a"].isin(said).to_numpy()
    assert_allclose(codes[frequent], whole[frequent], atol=1e-9)
    for row in np.flatnonzero(~frequent)[::9]:
        others = fitted.part != fitted.part[row]
        expected = exact(levels[others], y[others], np.ones(others.sum()), 31)
        assert codes[row] == pytest.approx(expected[levels[row]], abs=1e-9)
    assert np.abs(codes - whole)[~frequent].max() > 0.1
    train = np.arange(len(y)) % 3 > 0
    codes = fitted.table(coding.encode(table), np.flatnonzero(train))
    expected = exact(levels[train], y[train], np.ones(train.sum()), 31)
    at = coding.columns.index("a [expected target]")
    assert_allclose(codes[~train, at], expected[levels[~train]], atol=1e-9)


def test_rows_of_one_table_are_in_one_part_in_any_order():
    frame, _, y = many()
    coding, table = learnt(frame, y)
    order = np.random.default_rng(1).permutation(len(y))
    turned = read_table(frame.iloc[order])
    one = coding.crossfitted(table, Targets(y[:, None], ("t",)), np.ones(len(y)))
    other = coding.crossfitted(turned, Targets(y[order, None], ("t",)), np.ones(len(y)))
    assert_array_equal(one.part[order], other.part)
    twice = {key: set(one.part[frame["a"] == key]) for key in set(frame["a"])}
    assert all(len(parts) == 1 for parts in twice.values())  # one column: equal rows, one part


def test_integer_weights_are_repeated_rows_and_zeros_are_absent():
    frame, _, y = many(300)
    frame["n"] = np.where(np.arange(300) % 5 == 0, np.nan, np.arange(300) % 17)
    times = np.random.default_rng(0).integers(0, 4, 300)
    times[frame["a"].isin(["l2", "l9"])] = 0
    repeated = frame.loc[np.repeat(np.arange(300), times)]
    one, _ = learnt(frame, y, times)
    other, _ = learnt(repeated, y.repeat(times))
    assert one.columns == other.columns
    assert one.codes[0].levels == other.codes[0].levels
    assert "l2" not in one.codes[0].levels
    assert_allclose(one.transform(frame), other.transform(frame), atol=1e-9)


def test_what_only_rows_of_weight_zero_hold_is_not_there():
    frame = column(*"uvw" * 6, None, "x")
    weight = [1.0] * 18 + [0.0, 0.0]
    coding, _ = learnt(frame, weight=weight)
    assert coding.columns == ("a = u", "a = v", "a = w")
    assert not coding.codes[0].knows_missing
    assert coding.unknown(coding.read(frame))[-2:].tolist() == [[False], [True]]
    with pytest.raises(ValueError, match="is missing in every row; drop it"):
        learnt(column(1.0, None, None), weight=[0, 1, 1])
    with pytest.raises(ValueError, match="holds 'u' in row 1, and is not among categorical_feat"):
        learnt(column(None, "u", "v"), weight=[1, 0, 1], categorical=[])


def test_gaps_zeros_and_empty_texts_have_columns_of_their_own():
    found = coded(column(*["", None, "0"] * 6))
    assert list(found) == ['a = ""', "a = 0", "a is missing"]
    assert_array_equal(np.array(list(found.values())), np.tile(np.eye(3)[[0, 2, 1]].T, 6))


def test_levels_of_numbers_match_whatever_holds_them():
    coding, _ = learnt(column(*[3, 1, 2, 3, 3, 2] * 5, dtype="category"))
    assert coding.columns == ("a = 3", "a = 2", "a = 1")
    for new in (column(1, 4), column(1.0, 4.0, dtype=float), column(1, 4, dtype="category")):
        assert coding.transform(new).tolist() == [[0, 0, 1], [1, 0, 0]]
        assert coding.unknown(coding.read(new)).tolist() == [[False], [True]]


def test_times_can_be_categories():
    days = [dt.date(2020, 1, 1), dt.date(2020, 1, 2), dt.datetime(2020, 1, 2, 12)] * 5
    coding, _ = learnt(column(*days), categorical=[0])
    assert coding.columns == ("a = 2020-01-01", "a = 2020-01-02", "a = 2020-01-02 12:00:00")
    for new in (
        pd.DataFrame({"a": pd.to_datetime(["2020-01-02 00:00", "2020-05-05 00:00"])}),
        column("2020-01-02", "2020-05-05"),
        column(dt.date(2020, 1, 2), dt.date(2020, 5, 5), dtype="category"),
    ):
        assert coding.unknown(coding.read(new)).tolist() == [[False], [True]]


@pytest.mark.parametrize(
    ("training", "new", "message"),
    [
        (column(*"uvw"), column(1.0), "holds 1 in row 0, number, and held 'u', text, in training"),
        (column(*"uvw"), column(dt.date(2020, 1, 1)), "time, and held 'u', text"),
        (column(1, 2, dtype="category"), column("1"), "'1' in row 0, text, and held 1, number"),
        (column(1.0, 2.0), column(None, "u"), "holds 'u' in row 1, and held numbers in training"),
        (column(1.0), column(dt.date(2020, 1, 1)), "holds times, and held numbers in training"),
        (column(1.0), column(dt.timedelta(1)), "holds durations, and held numbers"),
        (column(dt.timedelta(1)), column(1.0), "holds numbers, and held durations"),
        (column(dt.timedelta(1)), column(dt.date(2020, 1, 1)), "holds times, and held durations"),
        (column(dt.date(2020, 1, 1)), column(3.0), "holds numbers, and held dates"),
        (column(dt.date(2020, 1, 1)), column(dt.timedelta(1)), "holds durations, and held dates"),
        (column(dt.date(2020, 1, 1)), column("u"), "holds 'u' in row 0, and held dates"),
    ],
)
def test_another_kind_than_in_training_is_refused(training, new, message):
    """Numbers where durations had been were taken for days, and dates for unseen levels."""
    coding, _ = learnt(training)
    with pytest.raises(ValueError, match=rf"Column 'a' \(number 0\) .*{message}"):
        coding.transform(new)


def test_a_batch_of_texts_fits_categories_of_several_kinds():
    """It was refused where the batch happened to hold only text."""
    coding, _ = learnt(column("u", 1, "u", 2, 1, dtype="category"))
    assert coding.transform(column("u")).shape == (1, 3)
    assert not coding.unknown(coding.read(column("u"))).any()


def test_names_that_collide_are_told_apart():
    frame = pd.DataFrame({"a": [1.0, None, 2], "a is missing": [0.0, 1, 2]})
    coding, table = learnt(frame)
    assert coding.columns == ("a", "a is missing", "a is missing'")
    assert_array_equal(coding.encode(table)[:, 2], [0, 1, 2])


def test_a_level_called_as_the_rare_ones_is_told_apart():
    coding, _ = learnt(column(*["other levels"] * 6, *"u" * 7, "v"))
    assert coding.columns == ("a = u", "a = other levels", "a = other levels'")
    assert coding.transform(column("other levels", "v")).tolist() == [[0, 1, 0], [0, 0, 1]]


def test_half_a_character_is_a_level_like_any_other():
    """Its hash could not be made."""
    coding, table = learnt(column(*["\ud800", "u", "v"] * 6))
    assert len(set(coding.identity(table)[:, 0])) == 3


# ---------------------------------------------------------------------- tables


def test_columns_are_taken_by_name_in_any_order():
    frame = pd.DataFrame({"n": [1.0, 2], "t": ["u", "v"], "d": [3.0, None]})
    coding, table = learnt(frame)
    for other in (frame[["d", "t", "n"]], pl.from_pandas(frame)[["t", "d", "n"]]):
        assert_array_equal(coding.transform(other), coding.encode(table))


def test_columns_that_lack_or_are_further_are_named():
    coding, _ = learnt(pd.DataFrame({"n": [1.0, 2], "t": ["u", "v"]}))
    with pytest.raises(
        ValueError, match=r"in any order\. Missing: \['t'\]\. Unknown: \['q'\]; ren"
    ):
        coding.transform(pd.DataFrame({"n": [1.0], "q": ["u"]}))
    with pytest.raises(ValueError, match=r"Missing: \['n'\]\.$"):
        coding.transform(pd.DataFrame({"t": ["u"]}))
    with pytest.raises(ValueError, match="X has 3 columns, and should have 2: n, t"):
        coding.transform(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="two dimensions; it has 1"):
        coding.transform([1.0, 2.0])


def test_columns_of_the_coding_know_whose_they_are():
    frame = pd.DataFrame(
        {
            "n": [1.0, None, 2] * 4,
            "t": ["u", "v", "w"] * 4,
            "d": pd.to_datetime(["2020-01-01", "2020-02-03", None] * 4),
        }
    )
    coding, table = learnt(frame)
    assert coding.columns_of == ((0, 1), (2, 3, 4), (5, 6, 7, 8))
    names = [(one.name, one.kind, one.columns, one.missing) for one in coding.features]
    assert names == [
        ("n", "number", (0, 1), 1),
        ("t", "category", (2, 3, 4), None),
        ("d", "date", (5, 6), 6),
        ("d: month", "month", (7,), None),
        ("d: weekday", "weekday", (8,), None),
    ]
    assert not coding.is_plain
    again = pickle.loads(pickle.dumps(coding))
    assert_array_equal(again.encode(table), coding.encode(table))


def test_identity_depends_on_the_users_values_alone():
    frame = pd.DataFrame({"t": ["u", "v", None, "u"], "n": [1.0, None, 2, 1]})
    coding, table = learnt(frame)
    own = coding.identity(table)
    assert_array_equal(own[0], own[3])
    assert np.isnan(own[2, 0])
    assert np.isnan(own[1, 1])
    grown = pd.concat([frame, frame.assign(t="w")])
    more, longer = learnt(grown)
    assert_array_equal(more.identity(longer)[:4], own)
    assert ((own[:, 0] >= 0) & (own[:, 0] < 1) | np.isnan(own[:, 0])).all()


@pytest.mark.parametrize("frame", [column(None, None), pd.DataFrame({"a": [np.nan] * 3})])
def test_a_column_without_values_is_refused_with_the_remedy(frame):
    with pytest.raises(
        ValueError, match=r"Column 'a' \(number 0\) is missing in every row; drop it"
    ):
        learnt(frame)
