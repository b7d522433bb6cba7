"""CPU seconds, wall seconds and peak memory of a piece of work in this process."""

from __future__ import annotations

import gc
import re
import resource
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

_PROCESS = Path("/proc/self")
#: Written to `clear_refs`, this sets the peak of resident memory to what is resident now (proc(5)).
_RESET_PEAK = "5"


def cpu_seconds() -> float:
    """User and system seconds of this process, all threads included."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def seconds_of(work: Callable[[], Any]) -> float:
    """CPU seconds of one call."""
    begun = cpu_seconds()
    work()
    return cpu_seconds() - begun


def medians(*works: Callable[[], Any], repeats: int) -> list[float]:
    """Median CPU seconds of each, taken in turn; a first round warms up and does not count."""
    found = [[seconds_of(work) for work in works] for _ in range(repeats + 1)]
    return [float(one) for one in np.median(found[1:], axis=0)]


def measured(work: Callable[[], Any]) -> dict[str, float]:
    """CPU seconds, wall seconds and peak memory of one call above that just before, in MB."""
    gc.collect()
    before = _reset_peak()
    wall, cpu = time.perf_counter(), cpu_seconds()
    work()
    cpu, wall = cpu_seconds() - cpu, time.perf_counter() - wall
    return {
        "cpu": round(cpu, 4),
        "wall": round(wall, 4),
        "peak_mb": round((_peak() - before) / 1e6, 2),
    }


def _reset_peak() -> float:
    """Begin a new peak of resident memory; returns the bytes that it begins with."""
    try:
        (_PROCESS / "clear_refs").write_text(_RESET_PEAK)
    except OSError:
        # The peak of the whole process goes on: growth beyond it is a lower bound.
        return _peak()
    return _status("VmRSS")


def _peak() -> float:
    """Largest resident memory since the last reset, in bytes."""
    try:
        return _status("VmHWM")
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return float(peak if sys.platform == "darwin" else 1024 * peak)


def _status(name: str) -> float:
    found = re.search(rf"^{name}:\s+(\d+) kB$", (_PROCESS / "status").read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"The system does not tell {name}.")
    return 1024.0 * int(found[1])
