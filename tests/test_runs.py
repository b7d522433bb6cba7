"""Kept runs name the commit that they were measured on."""

import csv

from benchmarks import runs
from benchmarks.bars import commit


def test_rows_are_kept_with_their_commit_and_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(runs, "RESULTS", tmp_path)
    known = runs.Runs("made-up.csv", ("error",), ("method",))
    known.add([{"part": "one", "data": "a", "seed": 3, "method": "LLA", "error": 0.25}])
    known.add([{"part": "two", "data": "a", "seed": 4, "method": "LLA", "error": 0.5}])
    (row,) = known.read("one")
    assert (row["seed"], row["error"], row["commit"]) == (3, 0.25, commit())
    with (tmp_path / "made-up.csv").open() as file:
        assert [one["commit"] for one in csv.DictReader(file)] == [commit()] * 2
