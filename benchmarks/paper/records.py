"""What was measured: one JSON object a line, appended and never changed.

A line is written at once and synced, under a lock, so that a kill at any moment loses nothing that
was reported and two runs may share the file. A last line that a kill left half-written is ignored
when reading and cut off before appending.
"""

from __future__ import annotations

import fcntl
import json
import os
from typing import TYPE_CHECKING, Any

from benchmarks.bars import RESULTS

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FILE = "paper-records.jsonl"
PATH = RESULTS / FILE
TUNING, FIT = "tuning", "fit"

Record = dict[str, Any]
#: Kind, table, data, model, seed (None of a tuning).
Key = tuple[str, str, str, str, int | None]


def key(record: Record) -> Key:
    """What a record is about."""
    about = (record["kind"], record["table"], record["data"], record["model"])
    return (*about, record.get("seed"))


def read(path: Path = PATH) -> list[Record]:
    """One record of each tuning and each cell, in the order written; a later one replaces it."""
    content = path.read_bytes() if path.exists() else b""
    return list(_latest(_parse(content, path)).values())


def append(path: Path, records: Iterable[Record]) -> list[Record]:
    """Write what is not there yet, or failed before, in one piece; returns what was written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = path.read_bytes()
        whole = content.rfind(b"\n") + 1
        if whole < len(content):
            os.truncate(handle, whole)
        known = _latest(_parse(content, path))
        fresh = [one for one in records if key(one) not in known or "failed" in known[key(one)]]
        text = "".join(json.dumps(one, allow_nan=False) + "\n" for one in fresh).encode()
        while text:
            text = text[os.write(handle, text) :]
        os.fsync(handle)
    finally:
        os.close(handle)
    return fresh


def _parse(content: bytes, path: Path) -> list[Record]:
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    records = []
    for number, line in enumerate(lines, 1):
        try:
            records.append(json.loads(line))
        except ValueError as error:
            raise ValueError(
                f"Line {number} of {path.name} is no record ({error}); remove the line."
            ) from error
    return records


def _latest(records: list[Record]) -> dict[Key, Record]:
    return {key(one): one for one in records}
