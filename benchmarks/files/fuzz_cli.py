"""Commands with random arguments on random CSV bytes: each ends well, or in a named error.

`python -m benchmarks.files.fuzz_cli 100000` prints what became of the commands. Nothing is fitted:
`fit` runs dry, and the others have models of a few neurons.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from lifenet import LLAClassifier, LLARegressor
from lifenet.cli import main

_NAMES = ("a", "b", "c", "y", "A", "", " ", "a b", "é", '"a"', "prediction", "-", "--x", "0", "y;a")
_CELLS = (
    *(
        "0",
        "1",
        "2",
        "-1",
        "1.5",
        "1e400",
        "-inf",
        "nan",
        "NA",
        "",
        '""',
        '"NA"',
        "x",
        "é",
        "00123",
    ),
    *("2024-01-31", "2024-02-31", "2024-01-31T10:00", "12:30", "true", "False", "1,5", "1 000"),
    *("9" * 25, "-", "'", '"', '"a\nb"', '"a,b"', "\0", "\ufeff", "\r", "\u2028", " 1 ", "x" * 300),
)
_VALUES = (
    *("a", "y", "-1", "0", "1", "2.5", "nan", "1e999", "", "-", "auto", "none", "a,b;c", "time=a"),
    *(
        "group=b",
        "tab",
        ";",
        ",",
        "latin-1",
        "utf-16",
        "rot13",
        "é",
        "regression",
        "classification",
    ),
    *("png", "csv", "rows", "effects", "equations", "importance", "interactions", "sql", "json"),
)
_OPTIONS = {
    "fit": (
        *("--target", "--task", "--preset", "--smoothness", "--interactions", "--weight", "--seed"),
        *("--test-share", "--split-by", "--no-refit", "--drop-missing-target", "--time-limit"),
        *("--jobs", "--text", "--categories", "--drop"),
    ),
    "predict": ("--keep", "--contributions"),
    "explain": ("--row", "--class"),
    "export": ("--to", "--table", "--dialect", "--base-odds"),
    "compare": ("--target", "--drop-missing-target"),
    "simplify": ("--target", "--neurons"),
    "info": (),
}
_COMMON = ("--json", "--quiet", "--delimiter", "--decimal", "--encoding", "--missing", "--nope")


def fuzz(n: int, seed: int) -> Counter[str]:
    """Run `n` random commands, and count how they ended; "crash" must not be among it."""
    rng, ends = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write_models()
        for _ in range(n):
            data = _csv(rng)
            Path("t.csv").write_bytes(data)
            argv = _arguments(rng)
            end = _end_of(argv, data)
            ends[end] += 1
            if end == "crash":
                print(f"crash: {argv!r} on {data!r}", file=sys.stderr)
    return ends


def _write_models() -> None:
    """Models of numbers and of classes, of the columns a, b and c of a small table."""
    import pyarrow as pa

    rng = np.random.default_rng(0)
    table = pa.table({"a": rng.normal(size=40), "b": rng.choice(["x", "é"], 40), "c": range(40)})
    y = rng.normal(size=40)
    LLARegressor(n_neurons=2, max_iter=3, random_state=0).fit(table, y).save("numbers.life")
    labels = np.where(y > 0, "1", "x")
    LLAClassifier(n_neurons=2, max_iter=3, random_state=0).fit(table, labels).save("classes.life")


def _csv(rng: Any) -> bytes:
    """A table with odd cells, some of its bytes changed."""
    names = ["a", "b", "c", "y"] if rng.random() < 0.7 else _some(rng, _NAMES, 5)
    odd = rng.random() * rng.integers(0, 2)
    plain = [lambda row: f"{row / 3:.2f}", lambda row: "xé"[row % 2], str, lambda row: f"{row}.5"]
    lines = [",".join(names)]
    for row in range(int(rng.integers(0, 30))):
        cells = [
            str(rng.choice(_CELLS)) if rng.random() < odd / 5 else plain[at % 4](row)
            for at in range(len(names))
        ]
        lines.append(",".join(cells[: len(cells) - (rng.random() < odd / 20)]))
    data = bytearray(
        "\n".join(lines).encode(str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-16"])))
    )
    for _ in range(int(rng.integers(0, 4)) if rng.random() < 0.2 else 0):
        if data:
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(data)


def _model(rng: Any) -> str:
    names = ["numbers.life", "classes.life", "t.csv", "no.life"]
    return str(rng.choice(names, p=[0.4, 0.4, 0.1, 0.1]))


def _some(rng: Any, values: tuple[str, ...], most: int) -> list[str]:
    return [str(one) for one in rng.choice(values, int(rng.integers(1, most + 1)))]


def _arguments(rng: Any) -> list[str]:
    """A command with arguments that mostly belong to it."""
    command = str(rng.choice([*_OPTIONS, *_OPTIONS, "nope", "--help"]))
    table = str(rng.choice(["t.csv", "-", "no.csv", "."], p=[0.8, 0.1, 0.05, 0.05]))
    places = {
        "fit": [table, "--dry-run", "--target", "y"],
        "predict": [_model(rng), table],
        "explain": [
            _model(rng),
            table,
            str(rng.choice(["rows", "equations", "effects", "importance"])),
        ],
        "export": [_model(rng), "--to", "json", "-o", "-"],
        "compare": [_model(rng), _model(rng), table, "--target", "y"],
        # Never fewer neurons than there are, so that nothing is fitted.
        "simplify": [_model(rng), table, "--target", "y", "--neurons", "99", "-o", "s.life"],
        "info": [_model(rng)],
    }.get(command, [])
    argv = [command, *places]
    for _ in range(int(rng.integers(1, 4)) if rng.random() < 0.4 else 0):
        option = str(rng.choice([*_OPTIONS.get(command, ()), *_COMMON]))
        argv += [option, *(_some(rng, _VALUES, 2) if rng.random() < 0.8 else [])]
    if rng.random() < 0.1:
        argv.pop(int(rng.integers(len(argv))))
    if command == "simplify":
        argv += ["--neurons", "99"]
    return argv


class _Standard(io.TextIOWrapper):
    """Text in memory with bytes below it."""

    def __init__(self, data: bytes = b"") -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8", write_through=True)


def _end_of(argv: list[str], data: bytes) -> str:
    """How a command ended: "done", "refused" with a named error, or "crash"."""
    before = sys.stdin, sys.stdout, sys.stderr
    error = _Standard()
    sys.stdin, sys.stdout, sys.stderr = _Standard(data), _Standard(), error
    try:
        code = main(argv)
    except BaseException as raised:  # whatever it is, main must not raise it
        return f"crash: {raised!r}" if isinstance(raised, KeyboardInterrupt) else "crash"
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
    said = error.buffer.getvalue().decode()  # type: ignore[attr-defined]
    if code == 0:
        return "done"
    named = "Error: " in said or '"error": ' in said
    whole = "its own fault" not in said and "Traceback" not in said
    return f"refused ({code})" if named and whole and code in (1, 2) else "crash"


if __name__ == "__main__":
    begun = time.monotonic()
    os.environ.pop("LIFENET_DEBUG", None)
    found = fuzz(int(sys.argv[1]) if len(sys.argv) > 1 else 1000, seed=0)
    print(json.dumps({**found, "seconds": round(time.monotonic() - begun)}))
