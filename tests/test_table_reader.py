"""One table in every library gives the same columns, bit for bit; faults are named."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse

from lifenet.tables import Labels, Numbers, Targets, Times, learn_coding, read_table
from lifenet.tables.reader import frame_of, names_of
from strategies import invariant

BERLIN = "Europe/Berlin"


def encoded(X):
    """The columns of numbers that a table becomes, and their names."""
    table = read_table(X)
    targets = Targets(np.arange(table.n_rows, dtype=float)[:, None], ("target",))
    coding = learn_coding(table, None, np.ones(table.n_rows), targets, named=True)
    return coding.columns, np.asarray(coding.encode(table), dtype=np.float64)


def same(tables):
    """Whether all tables become the same columns."""
    (names, first), *rest = [encoded(one) for one in tables]
    for other_names, other in rest:
        assert other_names == names
        assert_array_equal(other, first)


def moments(n=6):
    start = dt.datetime(1969, 12, 30, 13, 5, 7, 123457)
    return [None, *(start + k * dt.timedelta(days=41, hours=5, microseconds=3) for k in range(n))]


def in_pandas(**columns):
    return pd.DataFrame({"a": pd.Series(**columns)})


def test_whole_numbers_with_gaps():
    values = [3, None, -7, 2**53 + 2, 0]
    same(
        [
            in_pandas(data=values, dtype="Int64"),
            in_pandas(data=values, dtype="int64[pyarrow]"),
            in_pandas(data=values, dtype=object),
            in_pandas(data=[np.nan if one is None else one for one in values]),
            in_pandas(data=[Fraction(one) if one else one for one in values], dtype=object),
            in_pandas(data=[pd.NA if one is None else Decimal(one) for one in values]),
            pl.DataFrame({"a": values}),
            pa.table({"a": values}),
            nw.from_native(pl.DataFrame({"a": values})),
        ]
    )


def test_floats_with_gaps():
    values = [0.1, None, 1e-300, -1e100, 0.0]
    plain = [np.nan if one is None else one for one in values]
    same(
        [
            in_pandas(data=plain),
            in_pandas(data=pd.array(values, "Float64")),
            in_pandas(data=values, dtype="double[pyarrow]"),
            in_pandas(data=values, dtype=object),
            in_pandas(data=pd.arrays.SparseArray(plain)),
            pl.DataFrame({"a": values}),
            pl.DataFrame({"a": plain}),
            pa.table({"a": values}),
            pa.table({"a": plain}),
        ]
    )


def test_single_precision_is_kept():
    values = np.array([0.1, 2.5, np.nan], dtype=np.float32)
    same(
        [
            pd.DataFrame({"a": values}),
            pl.DataFrame({"a": values}),
            pa.table({"a": values}),
            pd.DataFrame({"a": list(values)}, dtype=object),
            pd.DataFrame({"a": values.astype(np.float64)}),
        ]
    )


@invariant
@given(
    st.lists(
        st.decimals(-(10**9), 10**9, places=7, allow_nan=False), min_size=2, max_size=9, unique=True
    )
)
def test_decimals_are_as_python_rounds_them(values):
    """pyarrow's own cast of 0.3 and the like is another float in the last digit."""
    values = [*values, None]
    exact = [np.nan if one is None else float(one) for one in values]
    kind = pa.decimal128(20, 7)
    for frame in (
        in_pandas(data=values, dtype=object),
        pa.table({"a": pa.array(values, kind)}),
        pl.DataFrame({"a": values}, schema={"a": pl.Decimal(20, 7)}),
        pd.DataFrame({"a": pd.array(values, pd.ArrowDtype(kind))}),
    ):
        assert_array_equal(read_table(frame)[0].values, exact)


def test_integers_beyond_the_digits_of_a_float_are_rounded_everywhere():
    """pyarrow refuses to cast them."""
    values = [2**53 + 1, 2**64 - 1, None]
    for frame in (
        pa.table({"a": pa.array(values, pa.uint64())}),
        pl.DataFrame({"a": values}, schema={"a": pl.UInt64}),
        in_pandas(data=values, dtype="UInt64"),
        in_pandas(data=values, dtype="uint64[pyarrow]"),
        in_pandas(data=values, dtype=object),
    ):
        assert_array_equal(read_table(frame)[0].values, [2.0**53, 2.0**64, np.nan])


def test_truth_values_with_gaps():
    values = [True, None, False, True]
    tables = [
        in_pandas(data=values, dtype="boolean"),
        in_pandas(data=values, dtype="bool[pyarrow]"),
        in_pandas(data=values, dtype=object),
        pl.DataFrame({"a": values}),
        pa.table({"a": values}),
    ]
    same(tables)
    assert all(read_table(one)[0].boolean for one in tables)


def test_texts_with_gaps():
    values = ["é", None, "", " a", "é", "日本"]
    tables = [
        in_pandas(data=values, dtype=object),
        in_pandas(data=values, dtype="string"),
        in_pandas(data=values, dtype="str"),
        in_pandas(data=values, dtype="string[pyarrow]"),
        in_pandas(data=values, dtype="category"),
        in_pandas(data=pd.Categorical(values, ordered=True)),
        pl.DataFrame({"a": values}),
        pl.DataFrame({"a": values}, schema={"a": pl.Categorical}),
        pl.DataFrame({"a": values}, schema={"a": pl.Enum(["日本", "é", "", " a", "never"])}),
        pa.table({"a": values}),
        pa.table({"a": pa.array(values, pa.large_string())}),
        pa.table({"a": pa.array(values).dictionary_encode()}),
    ]
    same(tables)
    assert all(isinstance(read_table(one)[0], Labels) for one in tables)


def test_categories_of_numbers_with_gaps():
    whole, halves = [3, None, 1, 3], [0.5, None, 1.0, 0.5]
    same(
        [
            in_pandas(data=pd.Categorical(whole)),
            in_pandas(data=pd.Categorical(whole, categories=[9, 3, 1])),
            in_pandas(data=pd.Categorical([3.0, np.nan, 1.0, 3.0])),
            pa.table({"a": pa.array(whole).dictionary_encode()}),
        ]
    )
    same([in_pandas(data=pd.Categorical(halves)), pa.table({"a": halves_of_pyarrow(halves)})])


def halves_of_pyarrow(values):
    return pa.array(values).dictionary_encode()


def test_categories_of_times_are_the_same_as_times_that_are_to_be_categories():
    times = pd.to_datetime(["2020-01-01 00:00", "2021-05-06 07:00", None])
    found = read_table(pd.DataFrame({"a": pd.Categorical(times)}))[0]
    assert found.labels == (dt.date(2020, 1, 1), dt.datetime(2021, 5, 6, 7))
    assert found.codes.tolist() == [0, 1, -1]


def test_moments_with_gaps():
    values = moments()
    tables = [
        in_pandas(data=values, dtype=object),
        *(in_pandas(data=values).astype(f"datetime64[{unit}]") for unit in ("us", "ns")),
        in_pandas(data=values, dtype="timestamp[us][pyarrow]"),
        in_pandas(data=[pd.NaT if one is None else pd.Timestamp(one) for one in values]),
        in_pandas(data=[one and one.isoformat() for one in values], dtype=object),
        in_pandas(data=[one and str(one) for one in values], dtype="string"),
        pl.DataFrame({"a": values}),
        *(pl.DataFrame({"a": values}, schema={"a": pl.Datetime(unit)}) for unit in ("us", "ns")),
        pl.DataFrame({"a": [one and one.isoformat() for one in values]}),
        *(pa.table({"a": pa.array(values, pa.timestamp(unit))}) for unit in ("us", "ns")),
    ]
    same(tables)
    assert all(isinstance(read_table(one)[0], Times) for one in tables)


def test_whole_seconds_in_every_unit():
    values = [None if one is None else one.replace(microsecond=0) for one in moments()]
    units = ("s", "ms", "us", "ns")
    array = np.array(values, dtype="M8[s]")
    same(
        [
            *(in_pandas(data=values).astype(f"datetime64[{unit}]") for unit in units),
            *(pa.table({"a": pa.array(values, pa.timestamp(unit))}) for unit in units),
            *(pl.DataFrame({"a": values}, schema={"a": pl.Datetime(unit)}) for unit in units[1:]),
            *(pd.DataFrame({"a": array.astype(f"M8[{unit}]")}) for unit in units),
        ]
    )
    for unit in units:
        found = read_table(array.astype(f"M8[{unit}]")[:, None])[0].values
        assert_array_equal(found, read_table(in_pandas(data=values))[0].values)


def test_moments_in_a_zone_are_read_by_its_clock():
    local = [one for one in moments() if one is not None]
    zoned = pd.Series(local).dt.tz_localize(BERLIN)
    tables = [
        pd.DataFrame({"a": zoned}),
        pd.DataFrame({"a": zoned.astype(object)}),
        pd.DataFrame({"a": [one.to_pydatetime() for one in zoned]}, dtype=object),
        pl.DataFrame({"a": local}).with_columns(pl.col("a").dt.replace_time_zone(BERLIN)),
        pa.table({"a": pa.array(list(zoned), pa.timestamp("us", BERLIN))}),
    ]
    plain = read_table(pd.DataFrame({"a": local}))[0].values
    for one in tables:
        assert_array_equal(read_table(one)[0].values, plain)


def test_dates_with_gaps():
    values = [None if one is None else one.date() for one in moments()]
    same(
        [
            in_pandas(data=values, dtype=object),
            in_pandas(data=pd.to_datetime(pd.Series(values))),
            in_pandas(data=values, dtype="date32[pyarrow]"),
            in_pandas(data=[one and one.isoformat() for one in values], dtype=object),
            pl.DataFrame({"a": values}),
            pa.table({"a": pa.array(values, pa.date32())}),
            pa.table({"a": pa.array(values, pa.date64())}),
            pa.table({"a": [one and one.isoformat() for one in values]}),
        ]
    )
    found = read_table(np.array(values, dtype="M8[D]")[:, None])[0].values
    assert_array_equal(found, read_table(pl.DataFrame({"a": values}))[0].values)


def test_durations_with_gaps_of_either_sign():
    values = [None, *(dt.timedelta(days=-2, seconds=k, microseconds=7 * k) for k in range(5))]
    array = np.array(values, dtype="m8[us]")
    tables = [
        in_pandas(data=values, dtype=object),
        in_pandas(data=values),
        in_pandas(data=array.astype("m8[ns]")),
        in_pandas(data=values, dtype="duration[us][pyarrow]"),
        pl.DataFrame({"a": values}),
        pl.DataFrame({"a": values}, schema={"a": pl.Duration("ns")}),
        pa.table({"a": pa.array(values, pa.duration("us"))}),
    ]
    same(tables)
    assert all(read_table(one)[0].duration for one in tables)
    for one in (array, array.astype("m8[ns]"), array.astype(object)):
        found = read_table(one[:, None])[0].values
        assert_array_equal(found, read_table(tables[0])[0].values)


def test_durations_are_exact_in_every_library():
    """A sum of pandas' seconds and their fraction missed the last digit."""
    rng = np.random.default_rng(0)
    lengths = rng.integers(-(5 * 10**15), 5 * 10**15, 500).tolist()
    values = [dt.timedelta(microseconds=one) for one in lengths]
    exact = [one / 86_400e6 for one in lengths]
    for frame in (
        pd.DataFrame({"a": values}),
        pd.DataFrame({"a": values}, dtype="duration[us][pyarrow]"),
        pl.DataFrame({"a": values}),
        pa.table({"a": values}),
    ):
        assert_array_equal(read_table(frame)[0].values, exact)


@pytest.mark.parametrize("step", [1, 499, 500, 999])
def test_nanoseconds_are_left_out_alike_everywhere(step):
    """Numpy's were kept as a fraction, so that an array and a frame of it differed."""
    array = np.datetime64("1960-03-04T05:06:07.123456", "ns") + np.timedelta64(step, "ns")
    array = np.array([array, array + np.timedelta64(10**18, "ns")])
    expected = read_table(array.astype("M8[us]")[:, None])[0].values
    for X in (
        array[:, None],
        pd.DataFrame({"a": array}),
        pd.DataFrame({"a": list(pd.Series(array))}, dtype=object),
        pl.DataFrame({"a": array}),
        pa.table({"a": array}),
        np.array([[one] for one in array] + [[None]], dtype=object)[:2],
    ):
        assert_array_equal(read_table(X)[0].values, expected)


def test_times_of_day():
    values = [dt.time(13, 30), None, dt.time(1, 2, 3, 4)]
    same(
        [
            in_pandas(data=values, dtype=object),
            pl.DataFrame({"a": values}),
            pa.table({"a": pa.array(values, pa.time64("us"))}),
        ]
    )


def test_columns_without_any_value_are_missing_numbers():
    for frame in (
        in_pandas(data=[None, None], dtype=object),
        in_pandas(data=[np.nan, np.nan]),
        in_pandas(data=[pd.NA, pd.NA], dtype="Int64"),
        in_pandas(data=[None, None], dtype="string"),
        pl.DataFrame({"a": [None, None]}),
        pl.DataFrame({"a": [None, None]}, schema={"a": pl.String}),
        pa.table({"a": pa.nulls(2)}),
    ):
        column = read_table(frame)[0]
        assert isinstance(column, Numbers)
        assert column.missing.all()


def test_arrays_of_numbers_are_one_table_in_any_type():
    values = np.array([[0, 1, 0], [1, 0, 1], [0, 0, 1]])
    same(
        [
            *(values.astype(kind) for kind in (int, float, np.float32, np.uint8, bool, object)),
            np.asfortranarray(values),
            values.tolist(),
            tuple(map(tuple, values.tolist())),
        ]
    )


#: Text of any length came with numpy 2.
TEXTS = [np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else []


def test_arrays_of_text_and_of_objects_are_one_table():
    texts = [["a", "b"], ["", "b"], ["a", "c"]]
    same(
        [
            np.array(texts),
            np.array(texts, dtype=object),
            *(np.array(texts, dtype=kind) for kind in TEXTS),
        ]
    )
    mixed = [["a", 1.5, dt.date(2020, 1, 1)], [None, np.nan, dt.date(2021, 1, 1)]] * 2
    frame = pd.DataFrame(mixed, columns=["x0", "x1", "x2"])
    same(
        [
            np.array(mixed, dtype=object),
            frame,
            pl.DataFrame(mixed, ["x0", "x1", "x2"], orient="row"),
        ]
    )


def test_columns_stand_in_the_frames_order_with_their_names():
    frame = pd.DataFrame({"b": [1], "a": ["x"], "ä": [2.5]})
    for one in (frame, pl.from_pandas(frame), pa.Table.from_pandas(frame)):
        table = read_table(one)
        assert table.names == ("b", "a", "ä")
        assert table.n_columns == 3
        assert names_of(one) == ["b", "a", "ä"]
    assert names_of(pd.DataFrame([[1, 2]])) is None
    assert names_of(np.zeros((2, 2))) is None
    assert frame_of([[1.0]]) is None
    assert frame_of(sparse.eye(3)) is None


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[1, "1"]),
        pa.Table.from_arrays([pa.array([1])] * 2, names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused(frame):
    with pytest.raises(ValueError, match=r"several columns called '.'\. Rename them"):
        read_table(frame)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (pl.DataFrame({"a": [[1]]}), r"Column 'a' \(number 0\) holds List.* Give each a column"),
        (pl.DataFrame({"a": [{"b": 1}]}), "holds Struct.*Give each a column"),
        (pa.table({"a": [b"x"]}), "holds a bytes in row 0"),
        (
            pd.DataFrame({"a": pd.period_range("2020", periods=1, freq="D")}),
            "holds a Period in row 0",
        ),
        (pd.DataFrame({"a": [1j]}), "holds a complex in row 0"),
        (np.array([[1j]]), "holds complex numbers. Give their parts a column each"),
        (np.array([[b"x"]]), "holds bytes. Decode them to text first"),
        (np.array([[1]], dtype="m8[Y]"), "no fixed length. Give days"),
        (np.array([[1]], dtype="m8"), "no fixed length. Give days"),
        (np.array([["300000-01-01"]], dtype="M8[D]"), "too far off in row 0"),
        (np.array([[10**18]], dtype="m8[D]"), "holds a duration too far off in row 0"),
        (pd.DataFrame({"a": [1, "x"]}, dtype=object), r"mixes number \(row 0: 1\) with text"),
        (pd.DataFrame({"a": [1.0, np.inf]}), r"infinity: column 'a' \(number 0\), row 1. Replace"),
        (pl.DataFrame({"a": [1.0, -1e200]}), r"too large .*: column 'a' \(number 0\), row 1. Resc"),
        (np.array([[0.0, np.inf]]), r"infinity: column 'x1' \(number 1\), row 0"),
        (pd.DataFrame({"a": [Decimal("Infinity")]}), "infinity: column 'a'"),
        (pl.LazyFrame({"a": [1]}), r"lazy frame.* Pass X.collect\(\)"),
        ([1.0, 2.0], "X must be a table, a data frame or an array of two dimensions; it has 1"),
        (np.zeros((2, 2, 2)), "it has 3"),
        (pd.Series([1, 2]), "it has 1"),
    ],
)
def test_what_cannot_be_read_is_named_with_the_remedy(X, message):
    with pytest.raises(ValueError, match=message):
        read_table(X)


def test_one_error_names_all_columns_that_cannot_be_read():
    frame = pd.DataFrame({f"c{k}": [1, "x"] for k in range(30)}, dtype=object)
    with pytest.raises(ValueError, match="30 columns cannot be read") as found:
        read_table(frame)
    lines = str(found.value).splitlines()
    assert len(lines) == 22
    assert lines[-1] == "- and 10 more"
    assert lines[1].startswith("- Column 'c0' (number 0) mixes")


def test_rows_can_be_taken_of_every_kind_of_column():
    frame = pd.DataFrame(
        {
            "n": [1.0, 2, 3],
            "t": ["a", None, "b"],
            "d": pd.to_datetime(["2020-01-01"] * 3),
            "b": True,
        }
    )
    inside = np.array([True, False, True])
    taken, alone = read_table(frame).take(inside), read_table(frame[inside])
    assert taken.n_rows == 2
    for column in range(4):
        assert_array_equal(taken[column].missing, alone[column].missing)
        assert type(taken[column]) is type(alone[column])
    array = read_table(frame[["n"]].to_numpy())
    assert_array_equal(array.take(inside).numbers()[:, 0], [1, 3])
