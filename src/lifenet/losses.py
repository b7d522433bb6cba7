"""Losses: a link, value, gradient and curvature of each row, and what algorithms ask of a loss.

A loss knows nothing of networks, weights of rows or penalties. The outputs of a score are its last
axis, also where there is one: targets are ``(...,)`` and scores ``(..., n_outputs)``.

To add a loss (Huber, say), derive a frozen class from `Loss` and write `value`, `gradient`,
`curvature` and `null_score`. Nothing else needs to know the class: algorithms ask the loss and
never test its type. `LIFERegressor` takes losses with the identity link, on the standardised
target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from scipy import special

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers

__all__ = ["Logistic", "Loss", "Multinomial", "SquaredError"]

# A class share is kept this far from 0 and 1 in a constant model, so that its score is finite.
_SHARE_MARGIN = 1e-12


class Loss(ABC):
    """A loss of a target and n_outputs scores; the defaults suit a loss with the identity link.

    Attributes
    ----------
    n_outputs : number of scores of a row
    quadratic : whether the curvature is one everywhere, so that least squares is the fit
    separable : whether rows may ask for scores without bound, as classes that can be told apart do
    dispersion_known : whether the loss is a negative log-likelihood up to a constant, and not up to
        an unknown factor: then a degree of freedom has a known cost
    relative : whether only differences between the scores of a row matter
    tree_loss : scikit-learn's name of the loss that boosted trees are grown with
    measure : what `summary` reports the mean loss as
    """

    n_outputs: int = 1
    quadratic: ClassVar[bool] = False
    separable: ClassVar[bool] = False
    dispersion_known: ClassVar[bool] = False
    relative: ClassVar[bool] = False
    tree_loss: ClassVar[str] = "squared_error"
    measure: ClassVar[str] = "mean loss"

    @abstractmethod
    def value(self, target: Floats, score: Floats) -> Floats:
        """Loss of each row, (...,)."""

    @abstractmethod
    def gradient(self, target: Floats, score: Floats) -> Floats:
        """Derivative of each row's loss with respect to its scores, (..., n_outputs)."""

    @abstractmethod
    def curvature(self, target: Floats, score: Floats) -> Floats:
        """Second derivative of each row's loss in each score, (..., n_outputs), not negative.

        Where the loss is not convex, not twice differentiable, or straight, its expectation or a
        majoriser serves: it shapes the step, while `gradient` alone decides where the steps end. It
        should be positive where the gradient is not zero.
        """

    @abstractmethod
    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """The best constant score of weighted rows, (n_outputs,)."""

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """Second derivative of each row's loss times a change of its scores, (..., n_outputs).

        The default holds for one output. With more, it also holds how the scores interact.
        """
        return self.curvature(target, score) * change

    def mean(self, score: Floats) -> Floats:
        """Expected `responses` (inverse link), (..., n_outputs): the score itself."""
        return score

    def responses(self, target: Floats) -> Floats:
        """Targets as least squares sees them, (..., n_outputs)."""
        target = np.asarray(target)
        return np.broadcast_to(target[..., None], (*target.shape, self.n_outputs))

    def against_rest(self, output: int) -> Loss:
        """The loss of one output alone, whose target is that output's response."""
        if self.n_outputs == 1:
            return self
        raise NotImplementedError(
            f"{type(self).__name__} has {self.n_outputs} outputs and does not say which loss of "
            "one output each of them has alone; write its method against_rest."
        )

    def soften(self, target: Floats, total_weight: float) -> Floats:
        """Validation targets, (...,), as if one more row had either label: the target itself."""
        return target

    def side(self, target: Floats) -> Floats:
        """Sign of the score along which each row's loss falls for ever, (..., n_outputs), or 0."""
        return np.zeros((*np.shape(target), self.n_outputs))

    def accepts(self, target: Floats) -> Bools:
        """Whether each target has a value that the loss is defined for, (...,)."""
        return np.isfinite(target)

    @property
    def accepted(self) -> str:
        """The values that `accepts` lets pass, in words that follow "y must be"."""
        return "finite"

    def summary(self, mean_loss: float | Floats, spread: float = 1.0) -> Floats:
        """Mean losses in the terms that `measure` names: unchanged.

        Parameters
        ----------
        spread : units of the target in one unit of the rows that the losses are of
        """
        return np.asarray(mean_loss)

    def summary_slope(self, mean_loss: float | Floats) -> Floats:
        """Derivative of `summary` at a spread of one, which turns standard errors into its terms.

        One, where `summary` leaves mean losses unchanged.
        """
        return np.ones(np.shape(mean_loss))


@dataclass(frozen=True)
class SquaredError(Loss):
    """Half the squared error, identity link."""

    quadratic: ClassVar[bool] = True
    measure: ClassVar[str] = "RMSE"

    def value(self, target: Floats, score: Floats) -> Floats:
        """``(y - f)² / 2``."""
        return 0.5 * np.square(score[..., 0] - target)

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``f - y``."""
        return np.asarray(score - target[..., None])

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """One."""
        return np.ones_like(score)

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """The weighted mean."""
        return np.atleast_1d(weight @ target / weight.sum())

    def summary(self, mean_loss: float | Floats, spread: float = 1.0) -> Floats:
        """``sqrt(2 L)``, the root mean squared error, in the units of the target."""
        return np.asarray(spread * np.sqrt(2.0 * mean_loss))

    def summary_slope(self, mean_loss: float | Floats) -> Floats:
        """``1 / sqrt(2 L)``; infinite where the loss is zero."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / np.sqrt(2.0 * mean_loss))


@dataclass(frozen=True)
class Logistic(Loss):
    """Binary cross-entropy with the logit link; targets are 0, 1 or shares between them."""

    separable: ClassVar[bool] = True
    dispersion_known: ClassVar[bool] = True
    tree_loss: ClassVar[str] = "log_loss"
    measure: ClassVar[str] = "log-loss"

    def value(self, target: Floats, score: Floats) -> Floats:
        """``y log(1 + e^-f) + (1 - y) log(1 + e^f)``, without overflow or cancellation."""
        score = score[..., 0]
        return np.asarray(
            target * np.logaddexp(0.0, -score) + (1.0 - target) * np.logaddexp(0.0, score)
        )

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``sigma(f) - y``, accurate also where sigma(f) rounds to one."""
        target = target[..., None]
        return np.asarray((1.0 - target) * special.expit(score) - target * special.expit(-score))

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """``sigma(f) (1 - sigma(f))``."""
        return np.asarray(special.expit(score) * special.expit(-score))

    def mean(self, score: Floats) -> Floats:
        """Probability of the class coded 1."""
        return np.asarray(special.expit(score))

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Log-odds of the weighted share."""
        share = np.clip(weight @ target / weight.sum(), _SHARE_MARGIN, 1 - _SHARE_MARGIN)
        return np.atleast_1d(special.logit(share))

    def soften(self, target: Floats, total_weight: float) -> Floats:
        """Shares at least ``1 / (n + 2)`` from 0 and 1.

        n rows are no evidence for log-odds far beyond log n, yet ask for them where a fit tells
        them apart without error.
        """
        doubt = 1.0 / (total_weight + 2.0)
        return np.clip(target, doubt, 1 - doubt)

    def side(self, target: Floats) -> Floats:
        """1 and -1 for the labels 1 and 0; rows with shares between them have a best score."""
        return np.where(target == 1, 1.0, np.where(target == 0, -1.0, 0.0))[..., None]

    def accepts(self, target: Floats) -> Bools:
        """Whether each target is a label or a share."""
        return np.asarray((target >= 0) & (target <= 1))

    @property
    def accepted(self) -> str:
        """0 to 1."""
        return "between 0 and 1 for the logistic loss"


@dataclass(frozen=True)
class Multinomial(Loss):
    """Cross-entropy of several classes with the softmax link; targets are codes 0, 1, ..."""

    n_outputs: int = field()  # required: the default of one output is not for classes

    separable: ClassVar[bool] = True
    dispersion_known: ClassVar[bool] = True
    relative: ClassVar[bool] = True
    tree_loss: ClassVar[str] = "log_loss"
    measure: ClassVar[str] = "log-loss"

    def value(self, target: Floats, score: Floats) -> Floats:
        """``log sum_c e^f_c - f_y``."""
        log_share = special.log_softmax(score, axis=-1)
        return -np.take_along_axis(log_share, _codes(target)[..., None], axis=-1)[..., 0]

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``p_c - 1{c = y}``."""
        gradient = np.asarray(special.softmax(score, axis=-1))
        gradient -= self.responses(target)
        return gradient

    def curvature(self, target: Floats, score: Floats) -> Floats:
        """``p_c (1 - p_c)``."""
        share = special.softmax(score, axis=-1)
        return np.asarray(share * (1.0 - share))

    def curvature_product(self, target: Floats, score: Floats, change: Floats) -> Floats:
        """``(diag(p) - p p') change``."""
        share = special.softmax(score, axis=-1)
        return np.asarray(share * (change - np.sum(share * change, axis=-1, keepdims=True)))

    def mean(self, score: Floats) -> Floats:
        """Probability of each class."""
        return np.asarray(special.softmax(score, axis=-1))

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Centred log shares of the classes."""
        counts = np.bincount(_codes(target), weights=weight, minlength=self.n_outputs)
        log_share = np.log(np.clip(counts / counts.sum(), _SHARE_MARGIN, None))
        return np.asarray(log_share - log_share.mean())

    def responses(self, target: Floats) -> Floats:
        """Indicators of the classes."""
        indicators = _codes(target)[..., None] == np.arange(self.n_outputs)
        return np.asarray(indicators, dtype=np.float64)

    def against_rest(self, output: int) -> Loss:
        """Two classes: one, and all others."""
        return Logistic()

    def side(self, target: Floats) -> Floats:
        """1 for a row's own class, -1 for the others."""
        return 2.0 * self.responses(target) - 1.0

    def accepts(self, target: Floats) -> Bools:
        """Whether each target is the code of a class."""
        return np.isin(target, np.arange(self.n_outputs))

    @property
    def accepted(self) -> str:
        """The codes."""
        return f"a class number from 0 to {self.n_outputs - 1}"


def _codes(target: Floats) -> Integers:
    return np.asarray(target, dtype=np.intp)
