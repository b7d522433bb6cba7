"""Three losses of a mixture, each in the space where the mixing happens, row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from scipy import special

from lifenet.losses import Logistic

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["SPACES", "Space", "SpaceName", "space_of"]

SpaceName: TypeAlias = Literal["squared", "log-odds", "probability"]


class Space(Protocol):
    """A loss l(y, f) that is convex in f, where f is what members' predictions mix to.

    Targets and predictions broadcast: ``(n, 1)`` against ``(n, n_members)``.
    """

    @property
    def binary(self) -> bool:
        """Whether targets are 0, 1 or shares between them."""

    @property
    def constant_curvature(self) -> bool:
        """Whether the second derivative is the same everywhere."""

    def value(self, target: Floats, f: Floats) -> Floats:
        """The loss l(y, f)."""

    def gradient(self, target: Floats, f: Floats) -> Floats:
        """Its derivative l'(y, f) in f."""

    def curvature(self, target: Floats, f: Floats) -> Floats:
        """Its second derivative l''(y, f) in f."""

    def excess(self, target: Floats, member: Floats, f: Floats) -> Floats:
        """``l(f_j) - l(f) - l'(f) (f_j - f)``, what a member's loss has beyond the tangent at f.

        Terms that cancel are taken out, so that it stays accurate where f_j is close to f.
        """


class _Squared:
    """The squared error, not halved: as in the paper's section 2.3."""

    binary: ClassVar[bool] = False
    constant_curvature: ClassVar[bool] = True

    def value(self, target: Floats, f: Floats) -> Floats:
        return np.square(f - target)

    def gradient(self, target: Floats, f: Floats) -> Floats:
        return np.asarray(2.0 * (f - target))

    def curvature(self, target: Floats, f: Floats) -> Floats:
        return np.full(np.broadcast(target, f).shape, 2.0)

    def excess(self, target: Floats, member: Floats, f: Floats) -> Floats:
        """``(f_j - f)²``: the target drops out."""
        return np.square(member - f)


class _LogOdds:
    """Cross-entropy of log-odds."""

    binary: ClassVar[bool] = True
    constant_curvature: ClassVar[bool] = False
    _loss: ClassVar[Logistic] = Logistic()

    def value(self, target: Floats, f: Floats) -> Floats:
        return self._loss.value(target, np.asarray(f)[..., None])

    def gradient(self, target: Floats, f: Floats) -> Floats:
        return self._loss.gradient(np.asarray(target), np.asarray(f)[..., None])[..., 0]

    def curvature(self, target: Floats, f: Floats) -> Floats:
        return self._loss.curvature(target, np.asarray(f)[..., None])[..., 0]

    def excess(self, target: Floats, member: Floats, f: Floats) -> Floats:
        """The divergence of the member's Bernoulli distribution from the mixture's.

        The loss is ``log(1 + e^f) - y f``: what depends on the target is linear in f and drops
        out. So the target for which the loss at f is small is as good as the true one, and loses
        no digits to large log-odds.
        """
        side = np.asarray(f > 0, dtype=np.float64)
        tangent = self.value(side, f) + self.gradient(side, f) * (member - f)
        return np.maximum(self.value(side, member) - tangent, 0.0)


class _Probability:
    """Cross-entropy of probabilities."""

    binary: ClassVar[bool] = True
    constant_curvature: ClassVar[bool] = False

    def value(self, target: Floats, f: Floats) -> Floats:
        """``-y log f - (1 - y) log(1 - f)``; zero times the logarithm of zero is zero."""
        return np.asarray(-special.xlogy(target, f) - special.xlog1py(1.0 - target, -f))

    def gradient(self, target: Floats, f: Floats) -> Floats:
        """``(1 - y) / (1 - f) - y / f``."""
        return _ratio(1.0 - target, 1.0 - f) - _ratio(target, f)

    def curvature(self, target: Floats, f: Floats) -> Floats:
        """``y / f² + (1 - y) / (1 - f)²``."""
        return _ratio(target, np.square(f)) + _ratio(1.0 - target, np.square(1.0 - f))

    def excess(self, target: Floats, member: Floats, f: Floats) -> Floats:
        """``y [r - log(1 + r)] + (1 - y) [s - log(1 + s)]``.

        Here r = (f_j - f) / f and s = (f - f_j) / (1 - f).
        """
        r, s = _ratio(member - f, f), _ratio(f - member, 1.0 - f)
        other = 1.0 - target
        # Rounding may leave a ratio of -1 a little below it.
        r, s = np.maximum(r, -1.0), np.maximum(s, -1.0)
        found = target * r - special.xlog1py(target, r) + other * s - special.xlog1py(other, s)
        return np.maximum(found, 0.0)


def _ratio(above: Floats, below: Floats) -> Floats:
    """A quotient, zero where the divisor is: there the loss is finite only if it has no say."""
    shape = np.broadcast(above, below).shape
    return np.divide(above, below, out=np.zeros(shape), where=np.broadcast_to(below > 0, shape))


SPACES: dict[str, Space] = {
    "squared": _Squared(),
    "log-odds": _LogOdds(),
    "probability": _Probability(),
}


def space_of(name: str) -> Space:
    """The loss of a name."""
    if name not in SPACES:
        raise ValueError(f"space must be one of {', '.join(SPACES)}; it is {name!r}.")
    return SPACES[name]
