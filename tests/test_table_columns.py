"""Columns of Python objects against Python's own numbers and times."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from lifenet.tables import Labels, Numbers, Times, text_of_level
from lifenet.tables.columns import as_labels, coded_objects, is_missing, read_objects
from strategies import invariant

MISSING = [None, np.nan, float("nan"), pd.NA, pd.NaT, np.datetime64("NaT"), np.float32("nan")]
EPOCH = dt.datetime(1970, 1, 1)


def days(moment):
    """Days since 1970, of a whole number of microseconds as a float."""
    return length(moment - EPOCH)


def length(duration):
    return float(duration // dt.timedelta(microseconds=1)) / 86_400_000_000


@pytest.mark.parametrize("gone", [*MISSING, Decimal("NaN")])
def test_every_sign_of_a_gap_is_one(gone):
    assert is_missing(gone)
    column = read_objects([1.5, gone, 2])
    assert_array_equal(column.values, [1.5, np.nan, 2])


@pytest.mark.parametrize("value", ["", " ", "NaN", 0, False, "None", Decimal(0)])
def test_what_is_there_is_no_gap(value):
    assert not is_missing(value)


def test_gaps_zeros_and_empty_texts_are_apart():
    texts = read_objects(["", None, "0", "", np.nan])
    assert texts.codes.tolist() == [0, -1, 1, 0, -1]
    assert texts.labels == ("", "0")
    assert_array_equal(read_objects([0, None, 0.0]).values, [0, np.nan, 0])


@invariant
@given(
    st.lists(
        st.one_of(
            st.none(),
            st.integers(-(10**20), 10**20),
            st.floats(allow_nan=False, allow_infinity=False),
            st.decimals(allow_nan=False, allow_infinity=False, places=6),
            st.fractions(),
        ),
        min_size=1,
    )
)
def test_numbers_of_any_type_are_as_python_rounds_them(values):
    column = read_objects(values)
    assert isinstance(column, Numbers)
    assert_array_equal(column.values, [np.nan if one is None else float(one) for one in values])


@invariant
@given(st.lists(st.one_of(st.none(), st.datetimes()), min_size=1))
def test_moments_are_days_since_1970(values):
    column = read_objects(values)
    assert_array_equal(column.values, [np.nan if one is None else days(one) for one in values])
    known = [one for one in values if one is not None]
    assert isinstance(column, Times if known else Numbers)


@invariant
@given(st.lists(st.timedeltas(), min_size=1))
def test_durations_are_days(values):
    column = read_objects(values)
    assert column.duration
    assert_array_equal(column.values, [length(one) for one in values])


@invariant
@given(st.lists(st.datetimes(min_value=dt.datetime(1, 1, 1)), min_size=1))
def test_iso_text_is_the_moment_it_tells(values):
    column = read_objects([one.isoformat() for one in values])
    assert_array_equal(column.values, [days(one) for one in values])
    plain = read_objects([one.date().isoformat() for one in values])
    assert_array_equal(plain.values, [(one.date() - EPOCH.date()).days for one in values])


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2500-01-01T00:00:00.123456789", dt.datetime(2500, 1, 1, microsecond=123456)),
        ("1960-01-01 10:20", dt.datetime(1960, 1, 1, 10, 20)),
        ("2020-02-29", dt.datetime(2020, 2, 29)),
    ],
)
def test_iso_text_is_read_to_the_microsecond_in_every_century(text, moment):
    """Nanoseconds of the year 2500 left the range of 64 bits, and became another century."""
    assert read_objects([text]).values[0] == days(moment)


@pytest.mark.parametrize(
    "texts",
    [
        ["2020-01-01", "unknown"],
        ["2020-02-30"],
        ["2020-01-01 25:00"],
        ["2020-01-01", ""],
        ["01.02.2020"],
        ["\u0662\u0660\u0662\u0660-01-01"],
        ["2020-01-01 "],
        ["20200101"],
    ],
)
def test_text_that_is_not_a_date_in_every_row_stays_text(texts):
    assert isinstance(read_objects(texts), Labels)


@invariant
@given(st.datetimes(dt.datetime(1791, 1, 1), dt.datetime(2149, 1, 1)))
def test_no_microsecond_is_lost_within_65536_days_of_1970(moment):
    day = Fraction(read_objects([moment]).values[0])
    assert EPOCH + round(day * 86_400_000_000) * dt.timedelta(microseconds=1) == moment


def test_dates_stay_text_where_they_are_not_asked_for():
    assert isinstance(read_objects(["2020-01-01"], dates=False), Labels)


def test_moments_in_several_zones_are_read_by_their_own_clocks():
    """Moments of two zones that are one instant are equal in Python; the second was lost."""
    utc, other = dt.UTC, dt.timezone(dt.timedelta(hours=2))
    first = dt.datetime(2020, 1, 1, 10, tzinfo=utc)
    second = dt.datetime(2020, 1, 1, 12, tzinfo=other)
    assert first == second
    for values in ([first, second], [second, first]):
        expected = [days(one.replace(tzinfo=None)) for one in values]
        assert_array_equal(read_objects(values).values, expected)


def test_times_of_day_are_hours():
    column = read_objects([dt.time(13, 30), None, dt.time(0, 0, 36)])
    assert isinstance(column, Numbers)
    assert_array_equal(column.values, [13.5, np.nan, 0.01])


def test_truth_values_are_told_from_numbers_in_any_order_of_the_rows():
    """1 and True are equal in Python, so that the first of them said what the column holds."""
    assert read_objects([True, None, False]).boolean
    assert read_objects([np.True_, False]).boolean
    for values in ([1, True, 0], [True, 1, 0], [True, False, 1.0]):
        column = read_objects(values)
        assert not column.boolean
        assert_array_equal(column.values, [float(one) for one in values])


def test_numbers_that_python_cannot_compare_are_read_one_by_one():
    """A dictionary compares keys of one hash; some pairs of numpy and fractions raise there."""
    values = [*map(np.int8, range(-9, 9)), *map(np.float32, range(-9, 9))]
    values += [Fraction(k, 3) for k in range(-9, 9)] + [Decimal(k) / 8 for k in range(-9, 9)]
    values += [10**30 + k for k in range(-9, 9)]
    for seed in range(20):
        mixed = np.random.default_rng(seed).permutation(np.array(values, dtype=object)).tolist()
        assert_array_equal(read_objects(mixed).values, [float(one) for one in mixed])


def test_cells_that_cannot_be_compared_are_refused():
    class Odd:
        def __hash__(self):
            return 1

        def __eq__(self, other):
            raise TypeError

    with pytest.raises(ValueError, match=r"cannot be compared\. Make all of it one kind"):
        read_objects([Odd(), Odd()])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([1, "a"], r"mixes number \(row 0: 1\) with text \(row 1: 'a'\)\. Make all of it one kind"),
        ([None, 1.5, dt.date(2020, 1, 1)], r"mixes number \(row 1: 1.5\) with time \(row 2"),
        (["a", dt.timedelta(1)], r"mixes text \(row 0: 'a'\) with duration"),
        ([1.0, None, [2]], "holds a list in row 2. A cell must be a number"),
        ([1.0, b"a"], "holds a bytes in row 1. A cell must be a number"),
        ([1j], "holds a complex in row 0"),
        ([{}], "holds a dict in row 0"),
        ([object()], "holds a object in row 0"),
        ([pd.Period("2020")], "holds a Period in row 0"),
        ([Decimal("sNaN")], "holds a Decimal in row 0"),
        ([np.timedelta64(3, "Y")], "no fixed length"),
        ([np.datetime64("300000-01-01")], "too far off in row 0: 300000-01-01"),
    ],
)
def test_what_cannot_be_read_is_named_with_its_row(values, message):
    with pytest.raises(ValueError, match=message):
        read_objects(values)


def test_numbers_and_times_as_labels_have_each_value_once():
    found = as_labels(Numbers(np.array([2.0, np.nan, 0.5, 2.0, -0.0])))
    assert found.labels == (0, 0.5, 2)
    assert found.codes.tolist() == [2, -1, 1, 2, 0]
    moment = dt.datetime(2020, 1, 1, 6)
    found = as_labels(read_objects([moment, dt.date(2020, 1, 1), None]))
    assert found.labels == (dt.date(2020, 1, 1), moment)
    assert as_labels(read_objects([dt.timedelta(2)])).labels == (dt.timedelta(2),)


@invariant
@given(st.lists(st.one_of(st.none(), st.text(), st.integers(), st.booleans())))
def test_coded_objects_can_be_put_back(values):
    found = coded_objects(values)
    back = [None if code < 0 else found.labels[code] for code in found.codes]
    assert back == values
    assert len(set(found.labels)) == len(found.labels)


@pytest.mark.parametrize(
    ("level", "text"),
    [
        ("", '""'),
        ("a", "a"),
        (2.0, "2"),
        (0.5, "0.5"),
        (True, "True"),
        (1e300, "1e+300"),
        (dt.date(2020, 1, 1), "2020-01-01"),
    ],
)
def test_levels_are_written_as_people_read_them(level, text):
    assert text_of_level(level) == text
