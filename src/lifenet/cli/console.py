"""What a command says: results on standard output, all else on standard error."""

from __future__ import annotations

import contextlib
import json
import math
import sys
import warnings
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from lifenet._clock import now
from lifenet.cli.errors import with_options

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Console", "Progress", "as_json", "few"]

#: Characters of a bar, and seconds from one drawing to the next.
_WIDTH, _PACE = 24, 0.5


@dataclass(frozen=True)
class Console:
    """Where messages go.

    Attributes
    ----------
    quiet : whether progress and notes are left out
    json : whether results and errors are JSON
    data_on_output : whether standard output is taken by a table, so that results go elsewhere
    """

    quiet: bool = False
    json: bool = False
    data_on_output: bool = False

    def say(self, text: str) -> None:
        """A line for people; left out where machines read."""
        if not self.json:
            print(text, file=sys.stderr if self.data_on_output else sys.stdout)

    def result(self, values: dict[str, Any]) -> None:
        """What was done, for machines; left out where people read."""
        if self.json:
            print(as_json(values))

    def note(self, text: str) -> None:
        """A line beside the results."""
        if not self.quiet:
            print(f"Note: {with_options(text)}", file=sys.stderr)

    def error(self, text: str, exit_code: int) -> None:
        """Why the command ends early."""
        text = with_options(text)
        told = as_json({"error": text, "exit_code": exit_code}) if self.json else f"Error: {text}"
        print(told, file=sys.stderr)

    @contextlib.contextmanager
    def warnings_as_notes(self) -> Iterator[None]:
        """Warnings of the library as notes, each once; those of other packages are left out."""
        told: set[str] = set()

        def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
            text = str(message)
            if category is UserWarning and text not in told:
                told.add(text)
                self.note(text)

        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = show  # type: ignore[assignment]
            yield

    def progress(self, what: str) -> Progress:
        """A part of the work whose progress is shown."""
        return Progress(what, shown=not self.quiet)


class Progress:
    """A bar on a terminal, a line for each finished part elsewhere.

    scikit-learn calls it as a callback of `fit`; other work calls `begin` and `advance`.

    Parameters
    ----------
    what : is being done, such as "Fit to 800 rows"
    shown : whether anything is written
    """

    def __init__(self, what: str, *, shown: bool = True) -> None:
        self._what, self.shown = what, shown
        self._terminal = shown and sys.stderr.isatty()
        self._part, self._done, self._total = "", 0, 0
        self._begun = now()
        self._lock, self._over = Lock(), Event()
        self._clock: Thread | None = None

    def __enter__(self) -> Self:
        if self._terminal:
            self._clock = Thread(target=self._tick, daemon=True)
            self._clock.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._over.set()
        if self._clock is not None:
            self._clock.join()
            self._write("\r\x1b[K")

    def begin(self, part: str, total: int) -> None:
        """A part of the work begins, of so many steps."""
        with self._lock:
            self._part, self._done, self._total = part, 0, total
        self._draw()

    def advance(self, steps: int = 1) -> None:
        """Some steps are done."""
        with self._lock:
            self._done += steps
        self._draw()

    def end(self) -> None:
        """The part is done."""
        if self.shown and not self._terminal:
            part = f", {self._part}" if self._part else ""
            count = f" {self._done} of {self._total}" if self._total > 1 else ""
            self._write(f"{self._what}{part}{count}: done, {self._seconds:.1f} s\n")

    @property
    def _seconds(self) -> float:
        return now() - self._begun

    def _tick(self) -> None:
        while not self._over.wait(_PACE):
            self._draw()

    def _draw(self) -> None:
        if not self._terminal or self._over.is_set():
            return
        with self._lock:
            share = self._done / self._total if self._total else 0.0
            full = round(_WIDTH * min(share, 1.0))
            count = f" {self._done} of {self._total}" if self._total > 1 else ""
            part = f", {self._part}" if self._part else ""
            bar = f" [{'#' * full + '.' * (_WIDTH - full)}]" if self._total else ""
            self._write(f"\r\x1b[K{self._what}{part}{count}{bar} {self._seconds:.0f} s")

    def _write(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    # ------------------------------------------------------------------ as scikit-learn's callback

    def setup(self, estimator: Any, context: Any) -> None:
        """A fit begins."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """A fit is over."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """A part of the fit begins."""
        if _depth(context) == 1:
            self.begin(_WORDS.get(context.task_name, context.task_name), context.max_subtasks or 0)

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        """A part of the fit, or a step of one, is done."""
        depth = _depth(context)
        if depth == 1:
            self.end()
        elif depth == 2:
            self.advance()


#: Names of parts of a fit in the words of a bar.
_WORDS = {"fold": "folds"}


def _depth(context: Any) -> int:
    depth = 0
    while context.parent is not None:
        context, depth = context.parent, depth + 1
    return depth


def as_json(values: Any) -> str:
    """JSON of what commands report; numbers that JSON does not have are null."""
    return json.dumps(_plain(values), ensure_ascii=False, indent=2)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, dict):
        return {str(key): _plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set):
        return [_plain(one) for one in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int):
        return value
    return str(value)


def few(names: list[str], most: int = 8) -> str:
    """Some names in a sentence; the others are counted."""
    text = ", ".join(map(repr, names[:most]))
    return f"{text} and {len(names) - most} more" if len(names) > most else text
