"""Progress of a fit: to scikit-learn's callbacks where it has them, and in plain lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet._clock import now

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
    verbose : whether to print a line for each part of the work, and for each fold
    """

    def __init__(self, estimator: Any, verbose: int) -> None:
        self._estimator = estimator
        self._print: Callable[[str], None] = print if verbose else _say_nothing
        self._begun = now()
        self._task: Any = None
        self._done = self._total = 0
        self._what: str | None = None
        self._root = None
        if hasattr(estimator, "_init_callback_context"):
            self._root = estimator._init_callback_context(max_subtasks=None)
            self._root.call_on_fit_task_begin(estimator=estimator)

    def __call__(self, what: str, done: int, total: int) -> None:
        """What is being done, and how much of it is done."""
        if what != self._what:
            self.close()
            self._open(what, total)
        for number in range(self._done, done):
            self._advance()
            if what == "fold":
                self._say(f"fold {number + 1} of {total} done")
        self._done = done
        if done == total:
            self.close()

    def finish(self) -> None:
        """The fit is done; a part that is not, ended with its time."""
        self.close()
        if self._root is not None:
            self._root.call_on_fit_task_end(estimator=self._estimator)

    def _say(self, what: str) -> None:
        self._print(f"{what}, {now() - self._begun:.1f} s")

    def _open(self, what: str, total: int) -> None:
        self._what, self._total, self._done = what, total, 0
        if self._root is not None:
            self._task = self._root.subcontext(task_name=what, max_subtasks=total)
            self._task.call_on_fit_task_begin(estimator=self._estimator)

    def _advance(self) -> None:
        if self._task is not None:
            part = self._task.subcontext(task_name="network")
            part.call_on_fit_task_begin(estimator=self._estimator)
            part.call_on_fit_task_end(estimator=self._estimator)

    def close(self) -> None:
        """End the part of the work that is open."""
        if self._what is None:
            return
        if self._task is not None:
            self._task.call_on_fit_task_end(estimator=self._estimator)
            self._task = None
        counted = f"{self._done}" if self._done == self._total else f"{self._done} of {self._total}"
        if self._what.startswith("level"):
            self._say(f"{self._what}: {counted} networks done")
        elif self._what == "fold":
            self._say(f"{counted} folds done")
        else:
            self._say(f"{self._what}: done")
        self._what = None


def _say_nothing(line: str) -> None:
    """Quiet."""
