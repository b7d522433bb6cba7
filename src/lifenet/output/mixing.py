"""Adaptive regression by mixing, with screening (Yang 2001; Yuan and Yang 2005)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import special
from sklearn.utils._param_validation import Interval

from lifenet._settings import Settings
from lifenet.data.problem import Problem
from lifenet.output.averaging import weigh_members

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.losses import Loss
    from lifenet.neurons.layer import Layer

__all__ = ["Mixing"]

# All members' scores of this many rows are held at once; where there are more rows, they are drawn.
_MOST_ROWS = 100_000
# Newton's steps of a calibration, and how often one is halved where it raises the loss.
_NEWTON_STEPS, _HALVINGS = 25, 10
# A score whose deviation is below this share of its mean does not vary but for rounding.
_CONSTANT = 1e-10


@dataclass(repr=False)
class Mixing(Settings):
    """Weights of the members from how likely each makes rows that it was not calibrated on.

    The rows are halved at random. On one half every member's score is calibrated by a straight line
    and the best are screened; on the other the likelihood of each one left becomes its weight.
    Weights are averaged over several halvings, the lines fitted anew to all rows.

    Parameters
    ----------
    n_splits : int, default=10
        Halvings to average over.
    n_screened : int, default=20
        Members that pass the screening of a halving. All have two coefficients to calibrate, so
        screening by an information criterion is screening by likelihood.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_splits": [Interval(Integral, 1, None, closed="left")],
        "n_screened": [Interval(Integral, 1, None, closed="left")],
    }

    weighs_members: ClassVar[bool] = True

    n_splits: int = 10
    n_screened: int = 20

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients, (n_features + 1, n_outputs)."""
        problem = fold.fit
        rows = problem.rows
        if rows.n_rows > _MOST_ROWS:
            drawn = np.sort(generator.choice(rows.n_rows, _MOST_ROWS, replace=False))
            rows = rows.take(drawn)
        scores = rows.collect(layer.member_scores)
        weight, shift = np.zeros(layer.n_members), np.zeros(layer.n_members)
        for output in np.unique(layer.output):
            of = np.flatnonzero(layer.output == output)
            one = Problem(rows, problem.loss).against_rest(int(output))
            weight[of], shift[of] = self._mix(
                one.loss, scores[of], one.rows.target, rows.weight, generator
            )
        return weigh_members(layer, weight, shift, problem.loss.n_outputs)

    def _mix(
        self,
        loss: Loss,
        scores: Floats,
        target: Floats,
        weight: Floats,
        generator: np.random.Generator,
    ) -> tuple[Floats, Floats]:
        """Factor and shift of each member's score, so that their sum is the mean."""
        share = np.mean(
            [
                self._weights(loss, scores, target, weight, generator.permutation(len(target)))
                for _ in range(self.n_splits)
            ],
            axis=0,
        )
        slope, constant = calibrate(loss, scores, target, weight)
        return share * slope, share * constant

    def _weights(
        self, loss: Loss, scores: Floats, target: Floats, weight: Floats, order: Integers
    ) -> Floats:
        """Weights of the members from one halving, (n_members,), summing to one."""
        one, other = order[: len(order) // 2], order[len(order) // 2 :]
        slope, constant = calibrate(loss, scores[:, one], target[one], weight[one])

        def losses(half: Integers) -> Floats:
            fitted = slope[:, None] * scores[:, half] + constant[:, None]
            return np.asarray(loss.value(target[half], fitted[..., None]) @ weight[half])

        deviation = losses(one) / weight[one].sum()
        screened = np.argsort(deviation, kind="stable")[: self.n_screened]
        likelihood = np.full(len(scores), -np.inf)
        likelihood[screened] = -_negative_log_likelihood(
            loss, losses(other)[screened], deviation[screened], float(weight[other].sum())
        )
        return np.asarray(special.softmax(likelihood))


def _negative_log_likelihood(loss: Loss, losses: Floats, deviation: Floats, n: float) -> Floats:
    """Of rows with these summed losses; an unknown dispersion is that of the other half."""
    if loss.dispersion_known:
        return losses
    variance = np.maximum(2 * deviation, 1e-300)  # the loss is half the square
    return np.asarray(losses / variance + 0.5 * n * np.log(variance))


def calibrate(loss: Loss, scores: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Slope and constant of ``target ~ slope * score + constant`` for every member, by Newton.

    A member whose score does not vary keeps slope zero.
    """
    center = scores @ weight / weight.sum()
    scale = np.sqrt(np.square(scores - center[:, None]) @ weight / weight.sum())
    varies = scale > _CONSTANT * np.abs(center)
    scale = np.where(varies, scale, 1.0)
    slope, constant = _newton(
        loss,
        np.where(varies[:, None], (scores - center[:, None]) / scale[:, None], 0),
        target,
        weight,
    )
    return slope / scale, constant - slope / scale * center


def _newton(loss: Loss, scores: Floats, target: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """The same for scores of mean zero and deviation one (or none)."""

    def losses(line: Floats) -> Floats:
        fitted = line[0, :, None] * scores + line[1, :, None]
        return np.asarray(loss.value(target, fitted[..., None]) @ weight)

    null = float(loss.null_score(target, weight)[0])
    line = np.stack([np.zeros(len(scores)), np.full(len(scores), null)])
    now = losses(line)
    for _ in range(_NEWTON_STEPS):
        step = _newton_step(loss, scores, target, weight, line)
        if np.abs(step).max() < 1e-8:
            return line[0] - step[0], line[1] - step[1]
        for _ in range(_HALVINGS):
            value = losses(line - step)
            worse = value > now
            if not worse.any():
                break
            step = np.where(worse, 0.5 * step, step)
        better = value <= now
        line, now = np.where(better, line - step, line), np.where(better, value, now)
    return line[0], line[1]


def _newton_step(
    loss: Loss, scores: Floats, target: Floats, weight: Floats, line: Floats
) -> Floats:
    """Slope's and constant's step for every member, (2, n_members); none where it is not told."""
    fitted = line[0, :, None] * scores + line[1, :, None]
    gradient = loss.gradient(target, fitted[..., None])[..., 0] * weight
    curvature = loss.curvature(target, fitted[..., None])[..., 0] * weight
    a, b = (curvature * scores * scores).sum(axis=1), (curvature * scores).sum(axis=1)
    c = curvature.sum(axis=1)
    g, h = (gradient * scores).sum(axis=1), gradient.sum(axis=1)
    determinant = a * c - b * b
    sound = determinant > 1e-12 * a * c
    down = np.where(sound, determinant, 1.0)
    return np.where(sound, np.stack([c * g - b * h, a * h - b * g]) / down, 0.0)
