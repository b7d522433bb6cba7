"""Losses: a link, and value, gradient and curvature row by row.

A loss knows nothing of networks, weights of rows or penalties. Scores are raw: ``(n,)`` for a loss
with one output, ``(n, n_outputs)`` otherwise. To add a loss (Poisson, Gamma, Tweedie, Huber,
quantile), write a frozen class with the members of `Loss`; nothing else needs to know it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["Logistic", "Loss", "Multinomial", "SquaredError"]

# A class share is kept this far from 0 and 1 in a constant model, so that its score is finite.
_SHARE_MARGIN = 1e-12


class Loss(Protocol):
    """What a solver asks of a loss."""

    @property
    def n_outputs(self) -> int:
        """Number of scores a row has."""

    def value(self, target: Floats, score: Floats) -> Floats:
        """Loss of each row, (n,)."""

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """Derivative of each row's loss with respect to its score, shaped like `score`."""

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """Second derivative of each row's loss in each score, shaped like `score`, not negative.

        Where the loss is not twice differentiable or not convex, its expectation or a majoriser
        serves: it shapes the step, while `gradient` alone decides where the steps end.
        """

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """Second derivative of each row's loss times a change of its scores, shaped like `score`.

        With one output this is ``curvature * change``; with more, it holds how the scores interact.
        """

    def mean(self, score: Floats) -> Floats:
        """Expected target (inverse link): the prediction in the target's own units."""

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """The best constant score, (n_outputs,), for weighted rows."""


@dataclass(frozen=True)
class SquaredError:
    """Half the squared error, identity link."""

    n_outputs: int = 1

    def value(self, target: Floats, score: Floats) -> Floats:
        """``(y - f)² / 2``."""
        return 0.5 * np.square(score - target)

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``f - y``."""
        return np.asarray(score - target)

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """One."""
        return np.ones_like(score)

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """The curvature times the change."""
        return self.curvature(target, score) * change

    def mean(self, score: Floats) -> Floats:
        """The score itself."""
        return score

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """The weighted mean."""
        return np.atleast_1d(weight @ target / weight.sum())


@dataclass(frozen=True)
class Logistic:
    """Binary cross-entropy with the logit link; targets are 0, 1 or shares between them."""

    n_outputs: int = 1

    def value(self, target: Floats, score: Floats) -> Floats:
        """``y log(1 + e^-f) + (1 - y) log(1 + e^f)``, without overflow or cancellation."""
        return np.asarray(
            target * np.logaddexp(0.0, -score) + (1.0 - target) * np.logaddexp(0.0, score)
        )

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``sigma(f) - y``, accurate also where sigma(f) rounds to one."""
        return np.asarray((1.0 - target) * special.expit(score) - target * special.expit(-score))

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """``sigma(f) (1 - sigma(f))``."""
        return np.asarray(special.expit(score) * special.expit(-score))

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """The curvature times the change."""
        return self.curvature(target, score) * change

    def mean(self, score: Floats) -> Floats:
        """Probability of the class coded 1."""
        return np.asarray(special.expit(score))

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Log-odds of the weighted share."""
        share = np.clip(weight @ target / weight.sum(), _SHARE_MARGIN, 1 - _SHARE_MARGIN)
        return np.atleast_1d(special.logit(share))


@dataclass(frozen=True)
class Multinomial:
    """Cross-entropy of several classes with the softmax link; targets are codes 0, 1, ..."""

    n_outputs: int

    def value(self, target: Floats, score: Floats) -> Floats:
        """``log sum_c e^f_c - f_y``."""
        return -self._pick(special.log_softmax(score, axis=1), target)

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``p_c - 1{c = y}``."""
        gradient = special.softmax(score, axis=1)
        gradient[np.arange(len(score)), _codes(target)] -= 1.0
        return np.asarray(gradient)

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """``p_c (1 - p_c)``."""
        share = special.softmax(score, axis=1)
        return np.asarray(share * (1.0 - share))

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """``(diag(p) - p p') change``."""
        share = special.softmax(score, axis=1)
        return np.asarray(share * (change - np.sum(share * change, axis=1, keepdims=True)))

    def mean(self, score: Floats) -> Floats:
        """Probability of each class."""
        return np.asarray(special.softmax(score, axis=1))

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Centred log shares of the classes."""
        counts = np.bincount(_codes(target), weights=weight, minlength=self.n_outputs)
        log_share = np.log(np.clip(counts / counts.sum(), _SHARE_MARGIN, None))
        return np.asarray(log_share - log_share.mean())

    @staticmethod
    def _pick(rows: Floats, target: Floats) -> Floats:
        return np.asarray(rows[np.arange(len(rows)), _codes(target)])


def _codes(target: Floats) -> Integers:
    return np.asarray(target, dtype=np.intp)
