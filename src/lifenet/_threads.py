"""One BLAS thread while a network is trained, whoever else trains at the same time."""

from __future__ import annotations

from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

import threadpoolctl

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["one_blas_thread"]

_lock = Lock()
_inside = 0
_limits: Any = None


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
            _limits = threadpoolctl.threadpool_limits(limits=1, user_api="blas")
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limits.restore_original_limits()
                _limits = None
