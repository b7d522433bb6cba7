"""SQL says what the model says, in SQLite and DuckDB."""

import datetime as dt
import sqlite3

import numpy as np
import pandas as pd
import pytest
from benchmarks.files import databases
from benchmarks.files.databases import in_sqlite, run

from exported_models import INJECTED, LEVELS, NAMES, QUOTED, as_frame, case, close, default, table
from lifenet import LLAClassifier, LLARegressor
from lifenet.export import to_sql
from lifenet.export.sql_dialects import DIALECTS

SETTINGS = [
    (dialect, layout) for dialect in ("sqlite", "duckdb") for layout in ("select", "tables")
]
both = pytest.mark.parametrize(("dialect", "layout"), SETTINGS)


def in_duckdb(frame, name="t"):
    pytest.importorskip("duckdb")
    return databases.in_duckdb(frame, name)


BASES = {"sqlite": in_sqlite, "duckdb": in_duckdb}


def check(one, dialect, layout):
    rows = as_frame(one).copy()
    rows.insert(0, "the key", np.arange(len(rows))[::-1])
    export = to_sql(one.model, "t", dialect, keep=["the key"], layout=layout)
    found = run(BASES[dialect](rows), export)
    assert found["the key"].tolist() == rows["the key"].tolist()
    if not hasattr(one.model, "classes_"):
        close(found["prediction"], one.predictions)
        return
    labels = one.model.classes_.tolist()
    assert found["prediction"].tolist() == one.predictions.tolist()
    if len(labels) == 2:
        close(found["score"], one.scores[:, 0])
        close(found["probability"], one.probabilities[:, 1])
        return
    close(found[[f"score {label}" for label in labels]], one.scores)
    close(found[[f"probability {label}" for label in labels]], one.probabilities)


@both
@pytest.mark.parametrize("name", NAMES)
def test_predictions_are_those_of_the_model(name, dialect, layout):
    check(case(name), dialect, layout)


@pytest.mark.parametrize("classes", [False, True])
@pytest.mark.parametrize("dialect", ["sqlite", "duckdb"])
def test_a_default_model_is_tables_that_are_joined(classes, dialect):
    one = default(classes)
    assert to_sql(one.model, dialect=dialect).setup
    check(one, dialect, "auto")


def test_a_small_network_is_one_statement():
    export = to_sql(case("single").model)
    assert export.setup == export.teardown == ()
    assert str(export) == export.select + ";\n"


def test_the_script_runs_as_one_twice_and_can_be_taken_away():
    one = case("quick")
    base = in_sqlite(as_frame(one))
    export = to_sql(one.model, layout="tables", prefix='a"b')
    base.executescript(str(export))
    base.executescript(str(export))
    made = {name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert made == {"t", 'a"b_pieces', 'a"b_weights', 'a"b_neurons'}
    for statement in export.teardown:
        base.execute(statement)
    left = base.execute("SELECT name FROM sqlite_master").fetchall()
    assert left == [("t",)]


@both
def test_names_and_levels_are_quoted(dialect, layout):
    """Names of tables, columns and classes that end a literal do no harm, and levels do none."""
    frame = table(80)[[QUOTED, INJECTED]]
    y = np.where(frame[INJECTED] == LEVELS[2], "'); DROP TABLE t; --", 'it"s')
    model = LLAClassifier(2, max_iter=3, random_state=0).fit(frame, y)
    name = "t'; DROP TABLE x; \"--"
    base = BASES["sqlite"](frame, name) if dialect == "sqlite" else None
    if base is None:
        base = in_duckdb(frame, "x")
        base.execute('ALTER TABLE x RENAME TO "' + name.replace('"', '""') + '"')
    export = to_sql(model, name, dialect, keep=[INJECTED], layout=layout)
    found = run(base, export)
    assert found["prediction"].tolist() == model.predict(frame).tolist()
    assert len(set(found["prediction"])) == 2
    assert found[INJECTED].tolist() == frame[INJECTED].tolist()


@pytest.mark.parametrize("layout", ["select", "tables"])
def test_a_column_that_the_table_lacks_is_an_error_and_no_text(layout):
    """SQLite takes an unknown name in double quotes for text, and would predict for the text."""
    one = case("plain")
    base = in_sqlite(as_frame(one).drop(columns="x2"))
    with pytest.raises(sqlite3.OperationalError, match="x2"):
        run(base, to_sql(one.model, layout=layout))


def test_a_column_that_compares_without_case_keeps_levels_apart():
    frame = pd.DataFrame({"a": ["x", "X", "y"] * 20})
    model = LLARegressor(1, max_iter=3, random_state=0).fit(frame, [0.0, 1.0, 5.0] * 20)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (a TEXT COLLATE NOCASE)")
    base.executemany("INSERT INTO t VALUES (?)", [("x",), ("X",), ("Y",)])
    asked = pd.DataFrame({"a": ["x", "X", "Y"]})
    close(run(base, to_sql(model))["prediction"], model.predict(asked))
    assert model.predict(asked)[0] != model.predict(asked)[1]


def test_a_category_of_dates_is_matched_by_its_day():
    days = [dt.date(2024, 2, 28), dt.date(1960, 1, 1), dt.date(2024, 3, 1)]
    frame = pd.DataFrame({"d": pd.Categorical(days * 20), "x": np.arange(60.0)})
    model = LLARegressor(1, max_iter=3, random_state=0).fit(frame, [0.0, 1.0, 5.0] * 20)
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE t (d TEXT, x REAL)")
    rows = [(one.isoformat(), float(x)) for x, one in enumerate(days)]
    base.executemany("INSERT INTO t VALUES (?, ?)", rows)
    close(run(base, to_sql(model))["prediction"], model.predict(frame[:3]))


def test_sums_are_nested_no_deeper_than_sqlite_allows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1_200))
    model = LLARegressor(2, max_iter=2, random_state=0).fit(X, X[:, 0])
    frame = pd.DataFrame(X[:3], columns=model.schema_.names)
    found = run(in_sqlite(frame), to_sql(model, layout="select"))
    close(found["prediction"], model.predict(X[:3]))


def test_many_levels_are_one_expression():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": [f"level {one}" for one in rng.integers(0, 3_000, 6_000)]})
    y = frame["a"].str[-1].astype(float)
    model = LLARegressor(1, max_iter=2, random_state=0).fit(frame, y)
    found = run(in_sqlite(frame[:200]), to_sql(model))
    close(found["prediction"], model.predict(frame[:200]))


@pytest.mark.parametrize(("dialect", "ulp"), [("sqlite", 1), ("duckdb", 0)])
def test_literals_are_numbers_to_the_last_bit(dialect, ulp):
    """SQLite reads 17 digits to one unit in the last place; that moves no prediction."""
    rng = np.random.default_rng(0)
    numbers = [0.1, -0.1, 1e-5, -1e300, 2.0**53 + 2, *(rng.normal(size=300) * 1e4).tolist()]
    if dialect == "duckdb":
        base = pytest.importorskip("duckdb").connect()
    else:
        base = sqlite3.connect(":memory:")
    way = DIALECTS[dialect]
    found = base.execute(f"SELECT {', '.join(f'0 -{way.literal(-x)}' for x in numbers)}").fetchone()
    np.testing.assert_array_max_ulp(np.array(found, dtype=float), np.array(numbers), maxulp=ulp)


def test_what_is_wrong_is_named():
    model = case("plain").model
    with pytest.raises(ValueError, match="dialect='oracle' is not known; it is one of sqlite"):
        to_sql(model, dialect="oracle")
    with pytest.raises(ValueError, match="layout='wide' is not known"):
        to_sql(model, layout="wide")
    with pytest.raises(TypeError, match=r"give \['id'\]"):
        to_sql(model, keep="id")
    with pytest.raises(ValueError, match=r"several columns called 'prediction'. Leave them out"):
        to_sql(model, keep=["x0", "prediction"])
    with pytest.raises(ValueError, match="NUL"):
        to_sql(model, "t\0")


def test_a_table_may_be_within_a_schema():
    duckdb = pytest.importorskip("duckdb")
    base = duckdb.connect()
    base.execute("CREATE SCHEMA s")
    one = case("plain paper")
    base.register("given", as_frame(one))
    base.execute("CREATE TABLE s.t AS SELECT * FROM given")
    close(run(base, to_sql(one.model, ("s", "t"), "duckdb"))["prediction"], one.predictions)


def test_postgresql_is_written_with_its_types():
    text = str(to_sql(case("quick").model, dialect="postgresql", layout="select"))
    assert "::float8" in text
    assert "GREATEST(" in text
    assert " REAL" not in text
