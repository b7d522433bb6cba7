"""Progress of a fit: to scikit-learn's callbacks where it has them, and in plain lines."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        """Nothing to tear down."""
        return method


if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CallbackSupportMixin", "Reporter", "with_callbacks"]


class Reporter:
    """Receives the progress of a recipe and hands it on.

    Parameters
    ----------
    estimator : whose callbacks are called
    n_stages : levels, and the read-out
    verbose : whether to print a line a level
    each : what a network is called that has a line of its own; none has by default
    """

    def __init__(self, estimator: Any, n_stages: int, verbose: int, each: str = "") -> None:
        self._estimator = estimator
        self._print: Callable[[str], None] = print if verbose else _say_nothing
        self._begun = time.monotonic()
        self._level: Any = None
        self._done = self._total = 0
        self._number: int | None = None
        self._each = each
        self._root = None
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=n_stages)
            self._root.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, level: int, done: int, total: int) -> None:
        """Networks of a level that are done; level 0 is the read-out."""
        if done == 0:
            self._open(level, total)
        for number in range(self._done, done):
            self._advance()
            if self._each:
                self.say(f"{self._each} {number + 1} of {total} done")
        self._done = done
        if done == total:
            self._close(level, total)

    def say(self, what: str) -> None:
        """Something else is done."""
        self._print(f"{what}, {time.monotonic() - self._begun:.1f} s")

    def finish(self) -> None:
        """The fit is done; a level that is not, ended with its time."""
        if self._number is not None:
            self._close(self._number, self._total)
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator)

    def _open(self, level: int, total: int) -> None:
        self._number, self._total, self._done = level, total, 0
        if self._root is not None:
            name = f"level {level}" if level else "read-out"
            self._level = self._root.subcontext(task_name=name, max_subtasks=total)
            self._level.call_on_fit_task_begin(estimator=self._estimator)

    def _advance(self) -> None:
        if self._level is not None:
            network = self._level.subcontext(task_name="network")
            network.call_on_fit_task_begin(estimator=self._estimator)
            network.call_on_fit_task_end(estimator=self._estimator)

    def _close(self, level: int, total: int) -> None:
        if self._level is not None:
            self._level.call_on_fit_task_end(estimator=self._estimator)
            self._level = None
        of = "" if self._done == total else f" of {total}"
        self.say(f"level {level}: {self._done}{of} networks done" if level else "read-out done")
        self._number = None


def _say_nothing(line: str) -> None:
    """Quiet."""
