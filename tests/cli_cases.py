"""Running the command line in process, and small files to run it on."""

import io
import json
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lifenet.cli import main

FAST = ("--preset", "paper", "--quiet")


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)

    @property
    def error(self):
        """The error; nothing may stand beside it but notes."""
        assert "Traceback" not in self.err
        lines = [line for line in self.err.splitlines() if not line.startswith("Note: ")]
        if lines and lines[0] == "{":
            return json.loads("\n".join(lines))["error"]
        assert lines, "no error"
        assert lines[0].startswith("Error: "), self.err
        return "\n".join(lines).removeprefix("Error: ")


class _Standard(io.TextIOWrapper):
    """Text in memory that has bytes below it, as standard input and output have."""

    def __init__(self, data=b""):
        super().__init__(io.BytesIO(data), encoding="utf-8", newline="", write_through=True)

    @property
    def text(self):
        return self.buffer.getvalue().decode()


def run(*argv, stdin=b""):
    """Run a command in this process."""
    before = sys.stdin, sys.stdout, sys.stderr
    given, out, err = _Standard(stdin), _Standard(), _Standard()
    sys.stdin, sys.stdout, sys.stderr = given, out, err
    try:
        code = main([str(one) for one in argv])
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    return Ended(code, out.text, err.text)


def done(*argv, stdin=b""):
    """Run a command that must succeed."""
    ended = run(*argv, stdin=stdin)
    assert ended.code == 0, ended.err
    return ended


def loans(n=120, seed=0):
    """Rows of made-up loans as lines of CSV, the names first."""
    rng = np.random.default_rng(seed)
    lines = ["id,age,income,purpose,opened,zip,amount,default"]
    for number in range(n):
        age, income = int(rng.integers(20, 70)), round(float(rng.gamma(3, 10)), 2)
        purpose, code = rng.choice(["car", "house", "trip"]), rng.choice(["00123", "00456"])
        day = np.datetime64("2024-01-01") + int(rng.integers(0, 600))
        amount = round(5 + 0.1 * age + 0.5 * income + 3 * (purpose == "house") + rng.normal(), 3)
        default = "yes" if rng.random() < 1 / (1 + np.exp((30 - income) / 10)) else "no"
        known = income if number % 20 else ""
        lines.append(f"{number},{age},{known},{purpose},{day},{code},{amount},{default}")
    return lines


def write(path, lines):
    """Lines as a file."""
    Path(path).write_text("\n".join(lines) + "\n")
    return Path(path)


def changed(lines, line, column, cell):
    """Lines with another cell; lines count from 1, as messages count them."""
    at = lines[0].split(",").index(column)
    cells = lines[line - 1].split(",")
    cells[at] = cell
    return [*lines[: line - 1], ",".join(cells), *lines[line:]]
