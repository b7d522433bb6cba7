"""docs/command.md is true: its examples run in their order, and it names every command."""

import re
import shlex
from pathlib import Path

import pytest

from cli_cases import loans, run, write
from lifenet.cli.application import parser
from lifenet.cli.csv_text import MISSING

PAGE = (Path(__file__).parents[1] / "docs" / "command.md").read_text()
EXAMPLES = [line.strip() for line in PAGE.splitlines() if re.match(r"    (lifenet|cat) ", line)]
HELP = [choice.epilog for action in parser()._actions for choice in (action.choices or {}).values()]


def carried_out(line):
    """Run a line of a shell with at most a file as input and one as output."""
    words = shlex.split(line)
    given, out = b"", None
    if words[0] == "cat":
        given, words = Path(words[1]).read_bytes(), words[3:]
    if ">" in words:
        out, words = words[-1], words[:-2]
    if words[1] == "fit":
        words += ["--preset", "paper"]  # the quickest
    ended = run(*words[1:], stdin=given)
    assert ended.code == 0, f"{line}: {ended.err}"
    if out is not None:
        Path(out).write_text(ended.out)
    return ended


def test_the_examples_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write("loans.csv", loans(80))
    write("new.csv", loans(40, seed=1))
    assert len(EXAMPLES) == 11
    for line in EXAMPLES:
        assert carried_out(line).out or ">" in line
        if "predictions.csv" in line:
            Path("predictions.csv").unlink()
    names = {path.name for path in Path().iterdir()}
    assert names >= {"loans.life", "amount.life", "small.life", "loans.py", "report"}
    assert (tmp_path / "report" / "effects.png").exists()


def test_every_command_has_an_example():
    commands = next(one.choices for one in parser()._actions if one.dest == "command")
    for name in commands:
        assert re.search(rf"lifenet {name}\b", PAGE), name
        assert f"| `{name}` |" in PAGE


def test_the_marks_of_missing_cells_are_there():
    for mark in ("NA", "N/A", "NaN", "null"):
        assert mark in MISSING
        assert f"`{mark}`" in PAGE


@pytest.mark.parametrize("text", HELP)
def test_examples_of_help_are_legal_arguments(text):
    lines = text.split("example:\n")[1].replace("\\\n", " ").splitlines()
    for line in lines:
        words = shlex.split(line.split(" > ")[0].split(" | ")[-1])
        assert words[0] == "lifenet"
        parser().parse_args(words[1:])
