"""A file is the old one or the new one at any moment, also where its writer is killed."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lifenet.archive.atomic import write_atomically


def test_killed_writers_leave_a_whole_file():
    command = [sys.executable, "-m", "benchmarks.files.kill_archive", "40"]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["killed"] == 40
    assert found["halves"] == 0
    assert found["first"] + found["second"] == 40
    assert found["second"] > 0, "writers were killed after they had begun"


def test_writers_that_fail_leave_the_old_file(tmp_path):
    path = tmp_path / "m.life"
    path.write_bytes(b"old")

    def fail(file):
        file.write(b"half")
        raise RuntimeError

    for overwrite in (True, False):
        with pytest.raises((RuntimeError, FileExistsError)):
            write_atomically(path, fail, overwrite=overwrite)
        assert path.read_bytes() == b"old"
        assert [one.name for one in tmp_path.iterdir()] == ["m.life"]


def test_of_two_writers_the_second_is_told(tmp_path):
    path = tmp_path / "m.life"

    def meanwhile(file):
        file.write(b"second")
        path.write_bytes(b"first")

    with pytest.raises(FileExistsError, match="overwrite"):
        write_atomically(path, meanwhile, overwrite=False)
    assert path.read_bytes() == b"first"
    assert [one.name for one in tmp_path.iterdir()] == ["m.life"]


def test_file_systems_without_links_do(tmp_path, monkeypatch):
    def refuse(*args):
        raise OSError("no links here")

    monkeypatch.setattr("os.link", refuse)
    write_atomically(tmp_path / "m.life", lambda file: file.write(b"x"), overwrite=False)
    assert (tmp_path / "m.life").read_bytes() == b"x"
