"""Make the measurements that are missing, one after the other, each in a process of its own."""

from __future__ import annotations

import datetime
import hashlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from benchmarks.bars import commit
from benchmarks.fast import records
from benchmarks.fast.figures import PACKAGES
from benchmarks.fast.records import Known
from benchmarks.paper.runner import versions

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Job, Record

ROOT = Path(__file__).resolve().parents[2]
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Part(Protocol):
    """A module of this package that has a part of the measurements."""

    def plan(self, known: Known, *, smoke: bool) -> list[Job]:
        """Measurements in their order; more may follow from what is known."""
        ...

    def measure(self, about: dict[str, Any]) -> Record:
        """Figures of one measurement."""
        ...

    def add_bars(self, bars: FastBars, known: Known, *, smoke: bool) -> None:
        """What the measurements say, each figure with its limit."""
        ...


@dataclass(frozen=True)
class Settings:
    """What of a plan is run, and where records are kept.

    Attributes
    ----------
    folder : of the records
    smoke : whether everything is shrunk
    again : whether measurements on record are made again
    retry : whether those that failed are
    only : names of what measurements are about, and the values that are wanted
    """

    folder: Path
    smoke: bool = False
    again: bool = False
    retry: bool = False
    only: Mapping[str, Collection[Any]] | None = None

    def path(self, part: str) -> Path:
        """File of a part."""
        return self.folder / f"{part}.jsonl"

    def known(self, part: str) -> Known:
        """All that is on record."""
        return Known.of(records.read(self.path(part)))

    def wants(self, job: Job) -> bool:
        """Whether a measurement is among those chosen; names that it lacks do not matter."""
        only = self.only or {}
        return all(value in only[name] for name, value in job.about if only.get(name))


def run_missing(name: str, part: Part, settings: Settings) -> None:
    """Make what is missing of a part, and record each measurement at once."""
    known = Known() if settings.again else settings.known(name)
    if settings.retry:
        known = known.without_failures()
    while True:
        # What is planned may depend on what was found: the next one is asked for every time.
        planned = part.plan(known, smoke=settings.smoke)
        left = [job for job in planned if settings.wants(job) and not known.has(job)]
        if not left:
            return
        record = run(left[0])
        records.append(settings.path(name), record)
        known.add(record)
        print(f"  {name}: {left[0]}: {_outcome(record)}; {len(left) - 1} planned", flush=True)


def run(job: Job) -> Record:
    """The record of a measurement, made now."""
    stamp = {
        "about": job.asked,
        "commit": commit(),
        "source": source(),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "versions": versions(PACKAGES),
        # Of the last minute: work of others shows in wall seconds.
        "load": round(os.getloadavg()[0], 2),
    }
    begun = time.monotonic()
    found = _in_process(job)
    return {**stamp, **found, "process_seconds": round(time.monotonic() - begun, 2)}


def source() -> str:
    """A hash of the package's files: what was measured between two commits, too."""
    digest = hashlib.sha256()
    for path in sorted((ROOT / "src").rglob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:8]


def _in_process(job: Job) -> Record:
    # Where jobs are compared, all fits may use two threads: one thread more in a prediction would
    # change its last bit, and be taken for another model.
    threads = "2" if "n_jobs" in job.asked else "1"
    command = [sys.executable, "-m", "benchmarks.fast.worker", job.part, json.dumps(job.asked)]
    with tempfile.TemporaryFile("w+") as said, tempfile.TemporaryFile("w+") as complained:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env={**os.environ, **dict.fromkeys(_THREADS, threads)},
            stdin=subprocess.PIPE,  # stays open as long as we live; see the worker
            stdout=said,
            stderr=complained,
            start_new_session=True,
        )
        try:
            process.wait(job.timeout)
        except subprocess.TimeoutExpired:
            return {"failed": f"no result after {job.timeout:g} s"}
        finally:
            _end(process)
        said.seek(0)
        complained.seek(0)
        return _read(process.returncode, said.read(), complained.read())


def _end(process: subprocess.Popen[Any]) -> None:
    """End a process and those that it started, if any is left."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    if process.stdin is not None:
        process.stdin.close()


def _read(code: int, said: str, complained: str) -> Record:
    """What a process found, or why it found nothing."""
    if code == 0:
        found: Record = json.loads(said.splitlines()[-1])
        return found
    if code < 0:
        return {"failed": f"its process was ended by {signal.Signals(-code).name}"}
    lines = [line for line in complained.splitlines() if line.strip()]
    return {"failed": lines[-1][:300] if lines else f"its process ended with code {code}"}


def _outcome(record: Record) -> str:
    if "failed" in record:
        return f"failed, {record['failed']}"
    shown = ("cpu", "wall", "error", "ratio")
    parts = [f"{name} {record[name]:.4g}" for name in shown if name in record]
    return ", ".join(parts) or "done"
