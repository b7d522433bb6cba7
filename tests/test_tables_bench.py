"""The benchmark of tables: its decoder sees what is wrong, and bad input is told by name."""

from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.tables import bad_input, fuzz
from benchmarks.tables.random_frames import BAD, GOOD, LIBRARIES, RandomColumn, draw_frame


def test_every_bad_input_is_named_with_the_remedy(tmp_path, monkeypatch):
    found = bad_input.bad_inputs()
    assert len({what for what, _ in found}) == len(found) >= 40
    monkeypatch.setattr(bad_input, "RESULTS", tmp_path)
    bad_input.write_table(found)
    lines = (tmp_path / "tables-bad-input.md").read_text().splitlines()
    assert len(lines) == len(found) + 4


def test_the_committed_table_is_what_is_said_today(tmp_path, monkeypatch):
    committed = (bad_input.RESULTS / "tables-bad-input.md").read_text()
    names = {line.split("|")[1].strip() for line in committed.splitlines()[4:]}
    assert names == {what for what, _ in bad_input.bad_inputs()}


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: None, "nothing was said"),
        (lambda: bool(np.ones(2)), "is not in"),
        (lambda: int("income"), "no remedy"),
    ],
)
def test_a_message_without_a_name_or_a_remedy_is_seen(work, message):
    with pytest.raises(AssertionError, match=message):
        bad_input._message(bad_input.Bad("a case", work, "income"))


def test_random_frames_are_of_every_library_and_kind():
    rng = np.random.default_rng(0)
    frames = [draw_frame(rng, bad=0.3) for _ in range(400)]
    assert {one.library for one in frames} == set(LIBRARIES)
    assert {column.kind for one in frames for column in one.columns} == {*GOOD, *BAD}


@pytest.mark.parametrize("seed", [1, 2])
def test_random_frames_decode_to_what_was_given(seed):
    found = fuzz.fuzz(300, seed)
    assert (found["frames"], found["wrong"], found["unnamed"]) == (300, 0, 0)
    assert 0 < found["refused"] < 150
    assert found["cells"] > 3000


def test_random_fits_are_those_of_plain_numbers():
    assert fuzz.fuzz_fits(8, 1) == {"fits": 8, "largest": 0.0}


@pytest.mark.parametrize(
    ("column", "own"),
    [
        (RandomColumn("a", "float", (1.0, 2.0, 3.0)), [[1.0], [2.5], [3.0]]),
        (RandomColumn("a", "float", (1.0, None, 3.0)), [[1.0, 0.0], [1.0, 0.0], [3.0, 0.0]]),
        (RandomColumn("a", "float", (1.0, None, 3.0)), [[1.0, 0.0], [2.0, 1.0], [3.0, 0.0]]),
        (RandomColumn("a", "iso", ("1970-01-01", "1970-01-02")), [[0.0, 4.0], [1.0, 4.0]]),
        (RandomColumn("a", "iso", ("1970-01-01", "1970-01-02")), [[0.0], [1.0]]),
    ],
)
def test_the_decoder_sees_wrong_numbers(column, own):
    assert list(fuzz.wrong_cells(column, SimpleNamespace(), np.array(own)))


@pytest.mark.parametrize(
    "row", [[0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0.5, 0, 0, 0]]
)
def test_the_decoder_sees_wrong_levels(row):
    column = RandomColumn("a", "text", ("u", "v", "w"))
    code = SimpleNamespace(indicators=("a = u", "a = v", "a = w", "a is missing"))
    right = np.eye(4)[:3]
    assert not list(fuzz.wrong_cells(column, code, right))
    wrong = np.vstack([[row], right[1:]])
    assert list(fuzz.wrong_cells(column, code, wrong)) == [0]
