"""Run what is missing of some tables: each tuning and each fit in a process of its own.

The parent decides and writes; children compute and die with it. A kill at any moment loses at most
the fit that was running, and of a tuning the trial that was running: the records are in one file,
finished trials of a tuning in a journal, which is removed once its record is written. Tunings and
fits that are recorded are never run again: remove their lines to measure anew.
"""

from __future__ import annotations

import datetime
import importlib
import importlib.metadata
import os
import platform
import re
import threading
import time
import traceback
from dataclasses import dataclass, field
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

from benchmarks.bars import commit
from benchmarks.paper import records
from benchmarks.paper.experiments import (
    ATTAINABLE,
    ORACLE,
    TABLES,
    Data,
    Table,
    needs_tuning,
    untuned,
)
from benchmarks.paper.protocol import PAPER, Protocol
from benchmarks.paper.records import FIT, TUNING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from multiprocessing.connection import Connection
    from pathlib import Path

    from benchmarks.paper.records import Key, Record

REPLICATE = "replicate"
IMAGES = "MNIST_ResNet18"
PACKAGES = ("lifenet", "numpy", "scipy", "scikit-learn", "optuna", "xgboost", "torch")
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """What one process computes: a tuning, a fit, or all models of one replication of images."""

    kind: str
    table: Table
    data: Data
    model: str
    seed: int | None = None

    @property
    def about(self) -> dict[str, str]:
        """How its records begin."""
        place = {"table": self.table.name, "data": self.data.name, "model": self.model}
        return {"kind": self.kind, **place}

    def gives(self) -> list[Key]:
        """What it records."""
        if self.kind == REPLICATE:
            place = (self.table.name, self.data.name)
            return [(FIT, *place, model, self.seed) for model in self.table.models]
        return [(self.kind, self.table.name, self.data.name, self.model, self.seed)]

    def needs(self) -> Key | None:
        """The tuning that has to be recorded first."""
        if self.kind != FIT or not needs_tuning(self.table, self.model):
            return None
        return (TUNING, self.table.name, self.data.name, self.model, None)

    def __str__(self) -> str:
        seed = "" if self.seed is None else f" seed {self.seed}"
        return " ".join(f"{' '.join(self.about.values())}{seed}".split())


@dataclass(frozen=True)
class Run:
    """Settings of a run.

    Attributes
    ----------
    path : file of the records
    scratch : folder of the journals
    protocol : how models are tuned
    n_jobs : processes at a time
    retry : whether what failed before is run again
    models : module whose `MODELS` makes the estimators, by their names in the tables
    packages : whose versions are recorded
    """

    path: Path
    scratch: Path
    protocol: Protocol = PAPER
    n_jobs: int = 1
    retry: bool = False
    models: str = "benchmarks.paper.models"
    packages: tuple[str, ...] = PACKAGES


def plan(
    tables: Iterable[str],
    data: Collection[str] = (),
    models: Collection[str] = (),
    n_seeds: int | None = None,
    known: Mapping[str, Table] = TABLES,
) -> list[Job]:
    """All jobs of some of the tables known, small data first, those of one data set together."""
    chosen = [
        (table, one)
        for table in (known[name] for name in tables)
        for one in table.present
        if not data or one.name in data
    ]
    jobs = []
    for table, one in sorted(chosen, key=lambda pair: pair[1].n_rows):
        seeds = list(table.seeds_of(one))[:n_seeds]
        if table.name == IMAGES:
            jobs += [Job(REPLICATE, table, one, "", seed) for seed in seeds]
            continue
        for model in table.models_of(one):
            if models and model not in models:
                continue
            if needs_tuning(table, model):
                jobs.append(Job(TUNING, table, one, model))
            jobs += [Job(FIT, table, one, model, seed) for seed in seeds]
    return jobs


def missing(jobs: Iterable[Job], path: Path, *, retry: bool = False) -> list[Job]:
    """Jobs of which something is not recorded; with `retry`, or failed."""
    known = {records.key(one) for one in records.read(path) if not (retry and "failed" in one)}
    return [job for job in jobs if not known.issuperset(job.gives())]


def run_missing(jobs: Iterable[Job], run: Run) -> list[Record]:
    """Run what is not recorded yet; returns what was recorded."""
    left = missing(jobs, run.path, retry=run.retry)
    return _Pool(run, left).work() if left else []


@dataclass
class _Pool:
    """The loop over jobs: begins those that can be, writes down those that end."""

    run: Run
    left: list[Job]
    running: dict[Connection, tuple[Job, Any, float]] = field(default_factory=dict)
    done: list[Record] = field(default_factory=list)

    def work(self) -> list[Record]:
        # Read by the libraries when the server of processes loads them.
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        self.context = get_context("forkserver")
        self.context.set_forkserver_preload(["benchmarks.paper.work", self.run.models])
        self.tunings = {
            records.key(one): one for one in records.read(self.run.path) if one["kind"] == TUNING
        }
        # What is committed while it runs was not measured.
        self.commit = commit()
        self.total, self.begun = len(self.left), time.monotonic()
        self.fits = {
            records.key(one): one for one in records.read(self.run.path) if one["kind"] == FIT
        }
        try:
            while self.left or self.running:
                self._begin_what_can_be()
                # None, where all that was left could not be begun: to wait for it would never end.
                for pipe in wait(list(self.running)) if self.running else ():
                    self._end(pipe)
        finally:
            for _, process, _ in self.running.values():
                process.kill()
        return self.done

    def _begin_what_can_be(self) -> None:
        for job in list(self.left):
            if len(self.running) >= self.run.n_jobs:
                return
            needed = job.needs()
            if needed is not None and self._to_come(needed):
                continue
            self.left.remove(job)
            tuning = None if needed is None else self.tunings.get(needed)
            if needed is not None and (tuning is None or "failed" in tuning):
                why = "there is none" if tuning is None else tuning["failed"]
                self._record(job, _failures(job, f"its tuning failed: {why}"), 0.0)
            elif (same := self._as_given(job, tuning)) is not None:
                self._record(job, [same], 0.0)
            else:
                self._begin(job, tuning)

    def _as_given(self, job: Job, tuning: Record | None) -> Record | None:
        """The fit of a model whose tuning found nothing better, where it is known."""
        if tuning is None or tuning["trial"] is not None:
            return None
        key = (FIT, job.table.name, job.data.name, untuned(job.model), job.seed)
        found = self.fits.get(key)
        if found is None or "failed" in found or found["commit"] != self.commit:
            return None
        return {**found, **job.about}

    def _to_come(self, needed: Key) -> bool:
        waiting = [*self.left, *(job for job, _, _ in self.running.values())]
        return any(needed in job.gives() for job in waiting)

    def _begin(self, job: Job, tuning: Record | None) -> None:
        ours, theirs = self.context.Pipe(duplex=False)
        process = self.context.Process(
            target=_child, args=(theirs, job, self.run, tuning), name=str(job), daemon=True
        )
        process.start()
        theirs.close()
        self.running[ours] = (job, process, time.monotonic())

    def _end(self, pipe: Connection) -> None:
        job, process, begun = self.running.pop(pipe)
        try:
            rows = pipe.recv()
        except EOFError:
            process.join()
            rows = _failures(job, f"its process ended with code {process.exitcode}")
        pipe.close()
        process.join()
        self._record(job, rows, time.monotonic() - begun)

    def _record(self, job: Job, rows: list[Record], seconds: float) -> None:
        stamp = {"versions": versions(self.run.packages), "commit": self.commit, "date": _now()}
        written = records.append(self.run.path, [{**stamp, **row, **stamp} for row in rows])
        self.done += written
        self.fits.update({records.key(row): row for row in written if row["kind"] == FIT})
        if job.kind == TUNING:
            self.tunings.update({records.key(row): row for row in rows})
            journal(self.run.scratch, job).unlink(missing_ok=True)
        n_left = len(self.left) + len(self.running)
        print(
            f"[{self.total - n_left}/{self.total}] {job}: {_outcome(rows)}, {seconds:.1f} s; "
            f"{n_left} left, {time.monotonic() - self.begun:.0f} s so far",
            flush=True,
        )


def journal(scratch: Path, job: Job) -> Path:
    """File that keeps the trials of a tuning."""
    name = re.sub(r"[^A-Za-z0-9]+", "-", f"{job.table.name}-{job.data.name}-{job.model}").strip("-")
    return scratch / f"{name}.log"


def versions(packages: Iterable[str] = PACKAGES) -> str:
    """Of Python and of what computes."""
    found = [f"Python {platform.python_version()}"]
    for name in packages:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return ", ".join(found)


def _child(pipe: Connection, job: Job, run: Run, tuning: Record | None) -> None:
    threading.Thread(target=_die_with_parent, daemon=True).start()
    try:
        rows = _compute(job, run, tuning)
    except Exception as error:  # whatever a model raises is its result, and is shown
        traceback.print_exc()
        rows = _failures(job, f"{type(error).__name__}: {error}")
    pipe.send(rows)
    pipe.close()


def _compute(job: Job, run: Run, tuning: Record | None) -> list[Record]:
    from benchmarks.paper import work

    if job.kind == REPLICATE:
        assert job.seed is not None
        return work.replicate(job.seed, small=run.protocol.max_rows is not None)
    models = importlib.import_module(run.models).MODELS
    if job.kind == TUNING:
        return work.tune(job, models[job.model], run.protocol, journal(run.scratch, job))
    made = None if job.model in (ORACLE, ATTAINABLE) else models[job.model]
    return work.fit(job, made, run.protocol.max_rows, tuning)


def _die_with_parent() -> None:
    """End at once when the parent does, however it did: nobody would read the result."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _failures(job: Job, message: str) -> list[Record]:
    names = ("kind", "table", "data", "model", "seed")
    keys = [dict(zip(names, one, strict=True)) for one in job.gives()]
    if job.kind == TUNING:
        keys = [{name: value for name, value in one.items() if name != "seed"} for one in keys]
    return [{**one, "failed": message} for one in keys]


def _outcome(rows: list[Record]) -> str:
    if "failed" in rows[0]:
        return f"failed, {rows[0]['failed']}"
    if rows[0]["kind"] == TUNING:
        return f"best {rows[0]['score']:.4g} of {rows[0]['trials']} trials"
    return ", ".join(f"{row['error']:.4g}" for row in rows)


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
