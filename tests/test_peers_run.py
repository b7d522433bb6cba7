"""`scripts/bench peers` from tuning to page, on few rows and with cheap models."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("fcntl", reason="records are locked by it")
pytest.importorskip("optuna")
pytest.importorskip("pyarrow", reason="real data is in parquet files")

from benchmarks.paper import records
from benchmarks.paper.runner import missing, plan
from benchmarks.peers import __main__ as command
from benchmarks.peers.experiments import FILE, TABLES

from made_up import REAL

ROOT = Path(__file__).resolve().parents[1]
CHOSEN = (["airfoil", "german_credit"], ["linear", "RandomForest"], 1)


@pytest.fixture(scope="module", params=["made-up", REAL])
def folder(request, home_of, tmp_path_factory) -> Path:
    """Results of a small part of everything."""
    folder = tmp_path_factory.mktemp("peers")
    sets, models, _ = CHOSEN
    options = ["--data", *sets, "--model", *models, "--rows", "100", "--trials", "2", "--seeds"]
    subprocess.run(
        [sys.executable, "-m", "benchmarks.peers", "--folder", folder, *options, "1"],
        cwd=ROOT,
        env={**os.environ, "LIFENET_DATA": str(home_of(request.param))},
        check=True,
        capture_output=True,
    )
    return folder


def test_all_that_was_asked_for_is_recorded(folder):
    known = records.read(folder / FILE)
    assert not [one for one in known if "failed" in one]
    assert {records.key(one) for one in known} == {
        *(("fit", "default", data, "linear", 0) for data in CHOSEN[0]),
        *(("tuning", "tuned", data, "RandomForest", None) for data in CHOSEN[0]),
        *(("fit", "tuned", data, "RandomForest", 0) for data in CHOSEN[0]),
    }
    for one in known:
        assert {"seconds", "cpu", "memory_mb", "split", "versions", "date", "params"} <= {*one}
    assert all(one["trials"] == 2 for one in known if one["kind"] == "tuning")
    assert missing(plan(TABLES, *CHOSEN, TABLES), folder / FILE) == []
    splits = {(one["data"], one["split"]) for one in known}
    assert len(splits) == 2


def test_the_null_model_knows_the_training_mean_only(folder):
    for one in records.read(folder / FILE):
        if one["kind"] == "fit" and one["data"] == "german_credit":
            assert one["null"] == pytest.approx(0.61, abs=0.01)  # the entropy of a share of 0.3


def test_page_and_bars_are_made_of_what_is_kept(folder, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["peers", "--kept", "--folder", str(folder)])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 1
    printed = capsys.readouterr().out
    assert "bar default: cells run of those planned (0 failed): 2 (limit >= 704) short" in printed
    assert "note not run: default, LIFE: all 20 sets" in printed
    assert "1 of 5 seeds" in (folder / "peers.md").read_text()
    text = (folder / "docs" / "peers.md").read_text()
    assert "no set has been run with all of them yet" in text
    assert "| not run |" in text
    assert len((folder / "peers.csv").read_text().splitlines()) == 1 + 20 * (8 + 7) + 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "LIFE(LLA)"], "--model: LIFE\\(LLA\\) unknown; there are LIFE, LIFE small"),
        (["--data", "iris"], "--data: iris unknown; there are "),
    ],
)
def test_unknown_names_are_refused(options, message, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["peers", *options])
    with pytest.raises(SystemExit, match=message):
        command.main()
