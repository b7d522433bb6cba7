"""The one clock, and deadlines on it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

__all__ = ["NEVER", "Deadline", "now"]


def now() -> float:
    """Seconds on the monotonic clock, which all processes of a machine share."""
    return time.monotonic()


@dataclass(frozen=True)
class Deadline:
    """A stretch of time: work that is not begun by its end is left out.

    Attributes
    ----------
    begun, end : readings of `now`; the end of a stretch without a limit is infinite
    """

    begun: float
    end: float = math.inf

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """That many seconds from now; None sets no limit."""
        begun = now()
        return cls(begun, math.inf if seconds is None else begun + seconds)

    @property
    def passed(self) -> bool:
        """Whether the end has been reached."""
        return now() >= self.end

    @property
    def limited(self) -> bool:
        """Whether there is an end."""
        return not math.isinf(self.end)

    @property
    def left(self) -> float:
        """Seconds until the end, zero after it."""
        return max(self.end - now(), 0.0)

    def at(self, share: float) -> Deadline:
        """The same stretch, ended after a share of it."""
        if math.isinf(self.end):
            return self
        return Deadline(self.begun, self.begun + share * (self.end - self.begun))

    def rest(self, share: float = 1.0) -> Deadline:
        """A share of the time that is left, from now on."""
        begun = now()
        if math.isinf(self.end):
            return Deadline(begun)
        return Deadline(begun, begun + share * max(self.end - begun, 0.0))


#: No limit.
NEVER = Deadline(0.0)
