"""What fit and predict take, and what they refuse: by name, and with the remedy."""

import datetime as dt

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from lifenet import LLAClassifier, LLARegressor

N = 60
GENERATOR = np.random.default_rng(0)
Y = GENERATOR.normal(size=N)
FRAME = pd.DataFrame({"n": GENERATOR.normal(size=N), "t": list("uvw") * (N // 3)})


def model(**settings):
    return LLARegressor(2, init="least-squares", max_iter=3, random_state=0, **settings)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(FRAME, Y)


# ---------------------------------------------------------------------- what is taken


def test_every_library_gives_the_same_predictions(fitted):
    expected = fitted.predict(FRAME)
    for frame in (pl.from_pandas(FRAME), pa.Table.from_pandas(FRAME), FRAME[["t", "n"]]):
        assert_array_equal(fitted.predict(frame), expected)
        assert_allclose(model().fit(frame, Y).predict(FRAME), expected, atol=1e-12)
    objects = FRAME.to_numpy()
    for X in (objects, objects.tolist()):
        assert_array_equal(model().fit(X, Y).predict(objects), expected)


@pytest.mark.parametrize(
    "y", [Y.tolist(), pd.Series(Y, index=range(5, N + 5)), pl.Series(Y), pa.array(Y)]
)
def test_targets_of_every_library_are_taken(fitted, y):
    assert_array_equal(model().fit(FRAME, y).predict(FRAME), fitted.predict(FRAME))


def test_sparse_matrices_are_tables_of_numbers():
    X = np.where(GENERATOR.random((N, 4)) < 0.3, GENERATOR.normal(size=(N, 4)), 0.0)
    dense = model().fit(X, Y).predict(X)
    for kind in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array, sparse.dok_array):
        assert_array_equal(model().fit(kind(X), Y).predict(kind(X)), dense)
    X[3, 1] = np.nan
    columns = model().fit(sparse.csr_array(X), Y).table_.columns
    assert columns == ("x0", "x1", "x1 is missing", "x2", "x3")


def test_a_masked_array_has_gaps_where_it_is_masked():
    """The mask was ignored, and what lay beneath it was taken for data."""
    X = GENERATOR.normal(size=(N, 2))
    gone = X > 1
    masked = np.ma.MaskedArray(np.where(gone, 1e6, X), gone)
    holed = np.where(gone, np.nan, X)
    one, other = model().fit(masked, Y), model().fit(holed, Y)
    assert one.table_.columns == ("x0", "x0 is missing", "x1", "x1 is missing")
    assert_array_equal(one.predict(masked), other.predict(holed))
    bare = np.ma.MaskedArray(X)
    assert_array_equal(model().fit(bare, Y).predict(bare), model().fit(X, Y).predict(X))


def test_arrays_of_text_are_categories():
    X = FRAME[["t"]].to_numpy().astype("U1")
    expected = model().fit(X, Y).predict(X)
    newer = [np.dtypes.StringDType()] if hasattr(np.dtypes, "StringDType") else []
    for kind in (object, *newer):
        assert_array_equal(model().fit(X.astype(kind), Y).predict(X), expected)


@pytest.mark.parametrize(
    ("given", "columns"),
    [
        ("from_dtype", ("n", "t = u", "t = v", "t = w", "k")),
        (["t", "k"], ("n", "t = u", "t = v", "t = w", "k = 0", "k = 1", "k = 2")),
        ([1, 2], ("n", "t = u", "t = v", "t = w", "k = 0", "k = 1", "k = 2")),
        ([False, True, True], ("n", "t = u", "t = v", "t = w", "k = 0", "k = 1", "k = 2")),
        (np.array(["t"]), ("n", "t = u", "t = v", "t = w", "k")),
        (("t", "t"), ("n", "t = u", "t = v", "t = w", "k")),
    ],
)
def test_the_user_says_which_columns_are_categories(given, columns):
    frame = FRAME.assign(k=np.arange(N) % 3)
    fitted = model(categorical_features=given).fit(frame, Y)
    assert fitted.table_.columns == columns


@pytest.mark.parametrize("nothing", [None, [], [False]])
def test_the_user_says_that_no_column_is_a_category(nothing):
    plain = FRAME[["n"]]
    assert model(categorical_features=nothing).fit(plain, Y).table_.columns == ("n",)
    mask = [False, False] if nothing == [False] else nothing
    with pytest.raises(ValueError, match=r"Column 't' .*holds 'u' in row 0, and is not among cat"):
        model(categorical_features=mask).fit(FRAME, Y)


@pytest.mark.parametrize("chosen", [["d"], [0], [True]])
@pytest.mark.parametrize("as_array", [False, True])
def test_text_that_reads_as_dates_stays_text_where_it_is_to_be_a_category(chosen, as_array):
    """By mask or index it was read as dates in fit, which predict then did not find again."""
    days = ["2020-01-01", "2020-01-02", "2020-02-01"] * (N // 3)
    X = pd.DataFrame({"d": days})
    if as_array:
        X, chosen = X.to_numpy(), [0] if chosen == ["d"] else chosen
    fitted = model(categorical_features=chosen).fit(X, Y)
    name = "x0" if as_array else "d"
    assert fitted.table_.columns == tuple(f"{name} = {day}" for day in days[:3])
    assert len(np.unique(fitted.predict(X).round(9))) == 3
    new = X[:1].copy()
    new[:] = "soon"
    assert np.isfinite(fitted.predict(new)).all()
    assert fitted.schema_.outside(new).tolist() == [[True]]


def test_numbers_as_text_are_categories_with_a_warning():
    frame = FRAME.assign(t=["1", "2", ""] * (N // 3))
    with pytest.warns(UserWarning, match="Column 't' holds text, and every cell .* number"):
        model().fit(frame, Y)
    model(categorical_features=["t"]).fit(frame, Y)


def test_columns_without_names_are_taken_in_their_order():
    frame = FRAME.set_axis([0, 1], axis=1)
    fitted = model().fit(frame, Y)
    assert not hasattr(fitted, "feature_names_in_")
    assert_array_equal(fitted.predict(frame), fitted.predict(FRAME.to_numpy()))
    with pytest.warns(UserWarning, match="fitted without feature names; its columns are taken in"):
        fitted.predict(FRAME)


# ---------------------------------------------------------------------- what is refused

TABLES = [
    (None, "X is a NoneType, which is no table. Give a data frame"),
    ("text", "X is a str, which is no table"),
    ({"n": [1.0]}, "X is a dict, which is no table"),
    ((row for row in [[1.0]]), "X is a generator, which is no table"),
    ([[1.0, 2.0], [3.0]] * (N // 2), r"Row 1 of X has 1 values, and row 0 has 2 values\. Give ev"),
    ([[1.0], 2.0] * (N // 2), "Row 1 of X has one value, and row 0 has 1 values"),
    (FRAME["n"], "2-dimensional container but got .*Series"),
    (Y, "Expected 2D array, got 1D array"),
    (np.zeros((N, 2, 2)), "Found array with dim 3"),
    (Y[:, None] * 1j, "X holds complex numbers. Give their real and imaginary parts"),
    (sparse.csr_array(Y[:, None] * 1j), "X holds complex numbers"),
    (FRAME.to_records(), r"array of records. Make a data frame of it: pandas.DataFrame\(X\)"),
    (pl.from_pandas(FRAME).lazy(), r"lazy frame.*X.collect\(\)"),
    (FRAME[:1], r"Found array with 1 sample\(s\)"),
    (FRAME[[]], r"Found array with 0 feature\(s\)"),
    (FRAME[:7], "X has 7 rows and y has 60: inconsistent numbers of samples. Give each row one"),
    (FRAME.to_numpy()[:7], "X has 7 rows and y has 60"),
    (FRAME.assign(n=np.nan), r"Column 'n' \(number 0\) is missing in every row; drop it"),
    (FRAME.set_axis(["a", "a"], axis=1), "several columns called 'a'. Rename them"),
    (np.array([[b"u"]] * N), r"Column 'x0' \(number 0\) holds bytes. Decode them"),
]


@pytest.mark.parametrize(("X", "message"), TABLES)
def test_what_is_no_table_is_refused(X, message):
    y = Y[:1] if "1 sample" in message else Y
    with pytest.raises(ValueError, match=message):
        model().fit(X, y)


def test_names_of_which_some_are_no_text_are_refused():
    with pytest.raises(TypeError, match=r"\['int', 'str'\].*Rename the columns"):
        model().fit(FRAME.set_axis([0, "a"], axis=1), Y)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([True], "categorical_features is a mask of 1 columns; X has 2. Give one truth value a"),
        ([5], "categorical_features holds column 5; X has 2 columns. Give numbers from 0 to 1"),
        ([-1], "categorical_features holds column -1"),
        (["q"], r"names \['q'\], which X does not have. Give names of its columns: 'n', 't'"),
        ("t", "The 'categorical_features' parameter of LLARegressor must be"),
        (1, "The 'categorical_features' parameter of LLARegressor must be"),
    ],
)
def test_categorical_features_that_are_no_columns_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        model(categorical_features=given).fit(FRAME, Y)


def test_names_of_categories_need_names_of_columns():
    with pytest.raises(
        ValueError, match="the columns of X have no names; give a data frame, a mask"
    ):
        model(categorical_features=["t"]).fit(FRAME.to_numpy(), Y)


@pytest.mark.parametrize(
    ("X", "message"),
    [
        (FRAME[:0], r"Found array with 0 sample\(s\).* Give X at least one row"),
        (FRAME[["n"]], r"in any order. Missing: \['t'\]"),
        (FRAME.assign(q=1), r"Unknown: \['q'\]; rename or drop them"),
        (FRAME.assign(t=1.0), r"Column 't' \(number 1\) holds 1 in row 0, number, and held 'u'"),
        (FRAME.assign(n="u"), r"Column 'n' \(number 0\) holds 'u' in row 0, and held numbers"),
        (FRAME.assign(n=np.inf), r"infinity: column 'n' \(number 0\), row 0"),
        (FRAME.assign(n=dt.date(2020, 1, 1)), "Column 'n' .*holds times, and held numbers"),
        (None, "X is a NoneType, which is no table"),
        ({"n": [1.0]}, "X is a dict, which is no table"),
    ],
)
def test_new_rows_that_do_not_fit_are_refused(fitted, X, message):
    with pytest.raises(ValueError, match=message):
        fitted.predict(X)


def test_a_fit_that_fails_leaves_the_model_as_it_was(fitted):
    before, table = fitted.predict(FRAME), fitted.table_
    with pytest.raises(ValueError, match="several columns"):
        fitted.fit(FRAME.set_axis(["a", "a"], axis=1), Y)
    with pytest.raises(ValueError, match="mixes"):
        fitted.fit(FRAME.assign(n=["u", 1] * (N // 2)), Y)
    assert fitted.table_ is table
    assert_array_equal(fitted.predict(FRAME), before)


def test_classes_of_every_library_are_taken():
    labels = np.where(Y > 0, "yes", "no")
    expected = LLAClassifier(2, max_iter=3, random_state=0).fit(FRAME, labels).predict(FRAME)
    for y in (pd.Series(labels, dtype="category"), pl.Series(labels), pd.array(labels, "string")):
        fitted = LLAClassifier(2, max_iter=3, random_state=0).fit(FRAME, y)
        assert_array_equal(fitted.predict(FRAME), expected)
