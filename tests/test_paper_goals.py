"""Bars of the printed figures and of tuning, on made-up cells."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

pytest.importorskip("fcntl", reason="records are locked by it")

from benchmarks.bars import Bars
from benchmarks.paper import goals, summary
from benchmarks.paper.experiments import TABLES


def cells(errors):
    """Summaries of models on every set, with the same mean error each."""
    return {
        (table.name, data.name, model): SimpleNamespace(n=2, error=SimpleNamespace(mean=error))
        for table in TABLES.values()
        if table.tuned
        for data in table.present
        for model, error in errors.items()
    }


@pytest.fixture
def printed(monkeypatch):
    """Every cell of the paper prints 1.00 (0.10)."""
    monkeypatch.setattr(summary, "paper_figure", lambda *place: "1.00 (0.10)")


def lines(summaries, reason=""):
    bars = Bars("paper")
    goals.add_bars(bars, summaries, lambda *place: reason)
    return bars.lines


def line(found, words):
    (one,) = (text for text in found if words in text)
    return one


def test_sets_within_the_printed_deviations_are_counted(printed):
    good = lines(cells({"LIFE(LLA)": 1.09, "LLA": 1.25}))
    assert line(good, "LIFE(LLA): sets").endswith(": 24 (limit >= 18) ok")
    assert line(good, "bar LLA: sets").endswith(": 0 (limit >= 20) short")
    assert "Airfoil +2.5" in line(good, "note LLA, deviations")
    # What was not run does not keep to anything.
    assert line(good, "LIFE(Adam): sets").endswith(": 0 (limit >= 18) short")


def test_a_peer_above_the_printed_error_needs_a_reason(printed):
    worse = cells({"XGBoost": 1.1, "RandomForest": 1.004, "FFNN": 0.9})
    found = lines(worse)
    assert line(found, "XGBoost: sets").endswith(": 24 (limit <= 0) short")
    assert line(found, "RandomForest: sets").endswith(": 0 (limit <= 0) ok")  # rounding
    assert line(found, "FFNN: sets").endswith(": 0 (limit <= 0) ok")
    assert line(lines(worse, "looked at"), "XGBoost: sets").endswith(": 0 (limit <= 0) ok")


def test_tuning_must_not_make_worse(printed):
    found = lines(cells({"LLA": 1.02, "LLA untuned": 1.0, "Adam": 0.9, "Adam untuned": 1.0}))
    assert line(found, "LLA: largest error tuned").endswith("1.020 (limit <= 1.010) short")
    assert line(found, "bar Adam: largest error tuned").endswith("0.900 (limit <= 1.010) ok")
    assert line(found, "LIFE(LLA): largest error tuned").endswith("nan (limit <= 1.010) short")


def test_models_as_given_are_compared_on_the_real_sets(printed):
    found = lines(cells({"LIFE(LLA) untuned": 0.9, "XGBoost untuned": 1.0}))
    n_real = sum(len(TABLES[name].present) for name in ("real_reg", "real_cla"))
    assert f"geometric mean of {n_real} of {n_real} real sets: 0.900" in line(found, "over XGBoost")
