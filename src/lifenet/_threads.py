"""Networks trained side by side in threads: one thread of BLAS and OpenMP each, quick turns."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

import joblib
import threadpoolctl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["one_blas_thread", "one_openmp_thread", "quick_turns", "side_by_side"]

T = TypeVar("T")

# Seconds after which a thread that runs Python hands over. Python's own 5 ms are as long as ten of
# the products that another thread waits to begin. Measured: 6.6 s instead of 7.2 s for two threads.
_TURN = 1e-3

_lock = Lock()
_inside = 0
_limits: Any = None
_turning = 0
_turn_before = 0.0


@cache
def _libraries() -> threadpoolctl.ThreadpoolController:
    """The libraries of the process: found once, as small fits would feel the milliseconds."""
    return threadpoolctl.ThreadpoolController()


@contextmanager
def one_openmp_thread() -> Iterator[None]:
    """Limit OpenMP to one thread, for this thread of Python: its limit is each thread's own."""
    with _libraries().limit(limits=1, user_api="openmp"):
        yield


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread until the last of all nested and concurrent users has left.

    Training multiplies blocks that fit the cache, on which more threads lose time, and with one
    thread no sum depends on the number of cores. The limit belongs to the whole process: were each
    user to restore what it found, the first to leave would lift the limit under the others.
    """
    global _inside, _limits
    with _lock:
        if _inside == 0:
            _limits = _libraries().limit(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
                _limits = None


def side_by_side(tasks: Sequence[Callable[[], T]], n_jobs: int | None) -> Iterator[T]:
    """Results of the tasks, in order; as many run at the same time as joblib makes of `n_jobs`.

    In threads: nearly all work is numpy's, which lets them run side by side, and processes would
    first have to start, import and be sent the rows. joblib's own threads are not taken, since it
    asks a hundred times a second whether they are done, and stops them each time: measured, 6.7 s
    instead of 6.5 s. Where a task fails, or the caller leaves, tasks that have not begun never do.
    """
    n_threads = min(joblib.effective_n_jobs(n_jobs), len(tasks))
    if n_threads <= 1:
        yield from (task() for task in tasks)
        return
    with quick_turns():
        pool = ThreadPoolExecutor(n_threads)
        try:
            for future in [pool.submit(task) for task in tasks]:
                yield future.result()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


@contextmanager
def quick_turns() -> Iterator[None]:
    """Let threads that run Python take shorter turns: most of their work is numpy's.

    Until the last of all concurrent users has left, as `one_blas_thread`.
    """
    global _turning, _turn_before
    with _lock:
        if _turning == 0:
            _turn_before = sys.getswitchinterval()
            sys.setswitchinterval(min(_turn_before, _TURN))
        _turning += 1
    try:
        yield
    finally:
        with _lock:
            _turning -= 1
            if _turning == 0:
                sys.setswitchinterval(_turn_before)
