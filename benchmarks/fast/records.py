"""Measurements: what is asked, and what is on record.

A record is one JSON object a line, appended and never changed, in a file of its part under
`benchmarks/results/fast`. A line is written at once and synced, under a lock, so that a kill at any
moment loses nothing that was measured, and two runs may share a file. A later record replaces an
earlier one of the same measurement.
"""

from __future__ import annotations

import fcntl
import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Record = dict[str, Any]

#: A fit that takes less than `LONG` CPU seconds is made so often, and the median taken.
N_REPEATS, LONG = 3, 60.0


@dataclass(frozen=True)
class Job:
    """One measurement, made in a process of its own.

    Attributes
    ----------
    part : name of the part of the benchmark
    about : names and values that say what is measured; `measure` of the part reads nothing else
    timeout : seconds of wall time after which the process is ended
    """

    part: str
    about: tuple[tuple[str, Any], ...]
    timeout: float = field(default=3600.0, compare=False)

    @classmethod
    def of(cls, part: str, timeout: float = 3600.0, **about: Any) -> Job:
        """A measurement by the names and values that it is about."""
        return cls(part, tuple(about.items()), timeout)

    @property
    def asked(self) -> dict[str, Any]:
        """What is measured, by name."""
        return dict(self.about)

    @property
    def key(self) -> str:
        """What tells it from others of its part, whatever the order of the names."""
        return key_of(self.asked)

    def __getitem__(self, name: str) -> Any:
        return self.asked[name]

    def but(self, **changed: Any) -> Job:
        """The same with other values."""
        return Job.of(self.part, self.timeout, **{**self.asked, **changed})

    def __str__(self) -> str:
        known = [(name, value) for name, value in self.about if value is not None]
        return ", ".join(_in_words(name, value) for name, value in known if name != "quick")


def _in_words(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{name} {value:,}"


@dataclass
class Known:
    """Records of one part, the latest of each measurement."""

    records: dict[str, Record] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Iterable[Record]) -> Known:
        """Of records in the order in which they were written."""
        known = cls()
        for one in records:
            known.add(one)
        return known

    def add(self, record: Record) -> None:
        """Take one more, in place of an earlier one."""
        self.records[key_of(record["about"])] = record

    def has(self, job: Job) -> bool:
        """Whether it is on record, failed or not."""
        return job.key in self.records

    def get(self, job: Job) -> Record | None:
        """Its record; None where there is none or it failed."""
        found = self.records.get(job.key)
        return None if found is None or "failed" in found else found

    def figure(self, job: Job, name: str) -> float:
        """One figure of its record; NaN where there is none or it failed."""
        found = self.get(job)
        return np.nan if found is None else float(found[name])

    def without_failures(self) -> Known:
        """Those that did not fail."""
        return Known({key: one for key, one in self.records.items() if "failed" not in one})

    def missing(self, jobs: Iterable[Job]) -> list[str]:
        """Those of some measurements without a figure, in words."""
        return [self._reason(job) for job in jobs if self.get(job) is None]

    def _reason(self, job: Job) -> str:
        found = self.records.get(job.key)
        return str(job) if found is None else f"{job} (failed: {found['failed']})"


def key_of(about: dict[str, Any]) -> str:
    """Names and values as a text."""
    return json.dumps(about, sort_keys=True)


def repeated(known: Known, firsts: list[Job], by: str = "repeat", n: int = N_REPEATS) -> list[Job]:
    """Each measurement, then once more and again those whose fit takes less than a minute.

    Parameters
    ----------
    known : records so far, which say how long the first of each takes
    firsts : measurements with 0 for `by`
    by : name of what counts the repeats: "repeat" of the same fit, or "seed" of another draw
    n : repeats of a short fit, the first included
    """
    short = [job for job in firsts if known.figure(job, "cpu") < LONG]
    return [*firsts, *(job.but(**{by: number}) for number in range(1, n) for job in short)]


def read(path: Path) -> list[Record]:
    """All records of a file in the order written; a half-written last line is left out."""
    content = path.read_bytes() if path.exists() else b""
    lines = content[: content.rfind(b"\n") + 1].splitlines()
    return [json.loads(line) for line in lines]


def append(path: Path, record: Record) -> None:
    """Write a record to the end of a file, after a half-written line was cut off."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        content = path.read_bytes()
        os.truncate(handle, content.rfind(b"\n") + 1)
        text = (json.dumps(record, allow_nan=False) + "\n").encode()
        while text:
            text = text[os.write(handle, text) :]
        os.fsync(handle)
    finally:
        os.close(handle)
