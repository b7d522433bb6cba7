"""Each raw file through the command line alone: fitted, predicted, saved, exported."""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import pandas as pd

from benchmarks.bars import RESULTS
from benchmarks.files.exports import compare
from benchmarks.runs import Runs
from benchmarks.tables.data import FOLDER, RAW, REGRESSION, read_raw

#: Rows on which exports are compared with `predict`.
_ROWS = 300
SETS = Runs(
    "files-sets.csv",
    ("seconds", "score", "megabytes", "archive", "exports", "contributions"),
    ("metric", "compared"),
)


def command(*arguments: str) -> dict[str, Any]:
    """What `lifenet ... --json` prints; raises where the exit code is not 0."""
    from lifenet.cli import main

    told, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(told), contextlib.redirect_stderr(said):
        code = main([*arguments, "--json"])
    if code != 0:
        raise RuntimeError(f"lifenet {' '.join(arguments)}: exit code {code}: {said.getvalue()}")
    text = told.getvalue().strip()
    return json.loads(text) if text else {}


def one_file(data: str, seed: int) -> list[dict[str, Any]]:
    """Seconds, held-out score, archive, and how far exports are from `predict`."""
    import lifenet

    raw, start = RAW[data], time.process_time()
    table = FOLDER / f"{raw.file}.parquet"
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "m.life", Path(folder) / "out.csv"
        drops = ["--drop", *raw.drop] if raw.drop else []
        task = ["--task", raw.task]
        found = command(
            *("fit", str(table), "--target", raw.target, *drops, *task),
            *("--test-share", "0.2", "--no-refit", "--seed", str(seed), "-o", str(path)),
        )
        command("predict", str(path), str(table), "-o", str(out))
        seconds = time.process_time() - start
        model = lifenet.load(path)
        X, _ = read_raw(data)
        predicted = pd.read_csv(out)
        assert len(predicted) == len(X)
        some = X.iloc[:: max(1, len(X) // _ROWS)]
        again = Path(folder) / "again.life"
        model.save(again)
        same = path.read_bytes() == again.read_bytes()
        gaps = compare(model, some)
        size = path.stat().st_size / 1e6
    metric = "R²" if raw.task == REGRESSION else "AUC"
    parts = {name: gap for name, gap in gaps.items() if "contributions" in name}
    rest = {name: gap for name, gap in gaps.items() if name not in parts}
    row = {"part": "sets", "data": data, "seed": seed, "metric": metric, "seconds": seconds}
    row |= {
        "score": float(found["held_out"][metric]),
        "megabytes": size,
        "archive": float(not same),
    }
    row |= {"exports": max(rest.values()), "contributions": max(parts.values())}
    return [row | {"compared": "; ".join(f"{name} {gap:.1e}" for name, gap in gaps.items())}]


def write_table() -> None:
    """The table of all files, as a page."""
    rows = {row["data"]: row for row in SETS.read("sets")}
    lines = [
        "# Every raw file by the command line alone",
        "",
        "`lifenet fit` and `lifenet predict` with `--target` and `--drop`: CPU seconds of both, "
        "the score of a fifth of the rows held out, and the archive's size.",
        "",
        "| file | seconds | score | archive, MB |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {name} | {row['seconds']:.1f} | {row['metric']} {row['score']:.4f} "
        f"| {row['megabytes']:.2f} |"
        for name, row in ((name, rows[name]) for name in RAW if name in rows)
    ]
    (RESULTS / "files-sets.md").write_text("\n".join(lines) + "\n")
