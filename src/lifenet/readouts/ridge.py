"""The ridge read-out, its penalty chosen from one eigendecomposition.

For squared error the whole path of penalties follows from the features' covariance matrix. Two
classes follow a path of fits that rows held out judge, or, without such rows, a quadratic like the
loss near the current fit. Several classes choose by least squares of their indicators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.kernels.lstsq import solve_positive
from lifenet.kernels.spectrum import Spectrum, least_gcv_penalty
from lifenet.losses import Logistic, SquaredError
from lifenet.readouts.moments import gather_moments, quadratic_model, responses_of
from lifenet.readouts.walking import walk_down
from lifenet.solvers.features import span_of_rows
from lifenet.solvers.readout import Curvature, fit_coefficients, spreads

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.blocks import Block
    from lifenet.losses import Loss
    from lifenet.readouts.design import Design, HeldOut
    from lifenet.readouts.moments import Moments
    from lifenet.solvers.base import Problem

__all__ = ["Ridge", "follow_path"]

_BLOCK_ROWS = 1024
# Rounds of the performance iteration, and the relative change of the penalty that ends it.
_ROUNDS, _SETTLED = 8, 0.3
_HALVINGS = 8
# The path of two classes: two penalties a decade, each fitted so closely.
_LEAST_SHARE, _PATH_STEPS, _ON_THE_WAY = 1e-8, 17, 1e-4
_LEAST_CURVATURE = 0.1
# Where a penalty of zero is asked for, this much keeps a logistic fit of separable rows finite.
_WHISPER = 1e-10


@dataclass(repr=False)
class Ridge(Settings):
    """Least squares, logistic or multinomial read-out with a ridge penalty.

    The penalty falls on coefficients times the length of their neuron's weights (on standardised
    columns), so that it bounds slopes, also where a neuron was hardly ever active in training.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        "auto" chooses it: on held-out rows where the fit has any, otherwise by generalised
        cross-validation with N the sum of weights (for two classes, whose dispersion is known, the
        unbiased risk estimate). 0 is the unpenalised read-out, of minimum norm on features of unit
        deviation where it is not unique.
    inflation : float, default=1.4
        Factor on the degrees of freedom in generalised cross-validation. Above one, since the
        neurons were fitted to the same rows and the read-out's freedom is not all there is.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "inflation": [Interval(Real, 0, None, closed="neither")],
    }

    penalty: float | str = "auto"
    inflation: float = 1.4

    def fit(
        self,
        problem: Problem,
        design: Design,
        held_out: HeldOut | None,
        generator: np.random.Generator,
    ) -> Floats:
        """Coefficients, (n_features + 1, n_outputs)."""
        spanned = span_of_rows(design.features, design.scale, problem.rows)
        if spanned is not None and self.penalty != 0:
            fewer = replace(design, features=spanned, scale=np.ones(spanned.n_features))
            inside = self.fit(problem, fewer, held_out, generator)
            return np.vstack([spanned.basis @ inside[:-1], inside[-1:]])
        penalty, start, near = self.penalty, None, Curvature()
        if isinstance(penalty, str):
            penalty, start = self._choose(problem, design, held_out, near)
        if isinstance(problem.loss, SquaredError):
            moments = gather_moments(problem, design.features, design.scale)
            return _unscaled(_solve(moments, penalty), design.scale)
        penalty = max(penalty, _WHISPER)
        return fit_coefficients(problem, design.features, design.scale, penalty, start, near=near)

    def _choose(
        self, problem: Problem, design: Design, held_out: HeldOut | None, near: Curvature
    ) -> tuple[float, Floats | None]:
        """The penalty, and coefficients near those that go with it where they are at hand."""
        logistic = isinstance(problem.loss, Logistic)
        if logistic and held_out is not None:
            return follow_path(held_out, design, near)
        if logistic:
            return _settle(problem, design, self.inflation)
        if held_out is not None:
            problem = held_out.learn
        moments = gather_moments(problem, design.features, design.scale)
        spectrum = Spectrum.of(*moments.centred())
        if held_out is not None:
            penalty = _least_judged(held_out.judge, design, moments, spectrum)
        else:
            penalty = least_gcv_penalty(spectrum, moments.total, self.inflation)
        return penalty * _mean_curvature(problem), None


def _least_judged(judge: Problem, design: Design, moments: Moments, spectrum: Spectrum) -> float:
    """The penalty of the quadratic whose fit has the least loss on rows that no member has seen."""
    penalties = spectrum.penalties()
    fits = [moments.with_intercept(spectrum.coefficients(float(one))) for one in penalties]
    return float(penalties[int(np.argmin(_judged(judge, design, np.stack(fits, axis=2))))])


def follow_path(held_out: HeldOut, design: Design, near: Curvature) -> tuple[float, Floats]:
    """Two classes: the penalty whose fit has the least loss on rows that no member has seen.

    From the middle of a path of penalties in steps of two, down the slope of that loss; then the
    neighbours of the best. `near` is left with a Hessian from close by.
    """
    learn, judge = held_out.learn, _doubted(held_out.judge)
    variances = np.square(spreads(learn, design.features) / design.scale)
    largest = float(variances.sum()) * _mean_curvature(learn)
    penalties = largest * np.geomspace(1.0, _LEAST_SHARE, _PATH_STEPS)
    spanned = span_of_rows(design.features, design.scale, learn.rows)
    inside, kept = design, near
    if spanned is not None:  # a Hessian of that many features is of no use outside
        inside = replace(design, features=spanned, scale=np.ones(spanned.n_features))
        kept = Curvature()
    fits: dict[int, Floats] = {}

    def loss_at(place: int) -> float:
        start = fits[min(fits, key=lambda known: abs(known - place))] if fits else None
        fits[place] = fit_coefficients(
            learn, inside.features, inside.scale, float(penalties[place]), start, _ON_THE_WAY, kept
        )
        return _mean_loss(judge, inside, fits[place] * np.append(inside.scale, 1.0)[:, None])

    best = walk_down(loss_at, _PATH_STEPS, _PATH_STEPS // 2)
    fit = fits[best]
    if spanned is not None:
        fit = np.vstack([spanned.basis @ fit[:-1], fit[-1:]])
    return float(penalties[best]), fit


def _doubted(judge: Problem) -> Problem:
    """Two classes as if one row more had either label.

    n rows cannot vouch for log-odds far beyond log n, and where they happen to be told apart
    without error would ask for them.
    """
    doubt = 1.0 / (judge.rows.total_weight + 2.0)
    target = np.clip(judge.rows.target, doubt, 1 - doubt)
    return replace(judge, rows=judge.rows.with_target(target))


def _judged(judge: Problem, design: Design, path: Floats) -> Floats:
    """Loss of each fit of a path (n_features + 1, n_outputs, n_fits), summed over the rows.

    Several classes are judged by squared error of their indicators, as they were fitted.
    """
    loss: Loss = judge.loss if judge.loss.n_outputs == 1 else SquaredError()

    def sums(block: Block) -> tuple[Floats]:
        columns = design.features.of(block) / design.scale[:, None]
        responses = responses_of(judge.loss, block.target)
        total = np.zeros(path.shape[2])
        for response, fits in zip(responses, np.moveaxis(path, 1, 0), strict=True):
            scores = columns.T @ fits[:-1] + fits[-1]
            total += block.weight @ loss.value(response[:, None], scores)
        return (total,)

    return judge.rows.sum(sums, _BLOCK_ROWS)[0]


def _settle(problem: Problem, design: Design, inflation: float) -> tuple[float, Floats]:
    """Two classes without held-out rows: the penalty with the least unbiased risk estimate.

    The dispersion is known to be one, so freedom has a known price. (Generalised cross-validation
    divides by deviations that a strong signal has made vanish, and runs away.) The penalty is
    chosen for the quadratic near the fit, the fit moved, and so on, until it stands. Where it does
    not, the best of the later ones is kept: early fits are far from where their penalty leads.
    """
    fit: Floats = np.zeros((design.n_features + 1, 1))
    fit[-1] = problem.loss.null_score(problem.rows.target, problem.rows.weight)
    penalty, visited, price = 0.0, [], inflation / problem.rows.total_weight
    for _ in range(_ROUNDS):
        moments = quadratic_model(problem, design.features, design.scale, fit)
        spectrum = Spectrum.of(*moments.centred())
        before, penalty = penalty, _least_risk(spectrum, price)
        target = moments.with_intercept(spectrum.coefficients(penalty))
        fit = _shortened(problem, design, fit, target, penalty)
        risk = _mean_loss(problem, design, fit) + price * spectrum.freedom(penalty)
        visited.append((risk, penalty))
        if abs(penalty - before) <= _SETTLED * before:
            return penalty, _unscaled(fit, design.scale)
    return min(visited[_ROUNDS // 2 :])[1], _unscaled(fit, design.scale)


def _least_risk(spectrum: Spectrum, price: float) -> float:
    penalties = spectrum.penalties()
    risks = [
        0.5 * spectrum.residual_variance(float(one)) + price * spectrum.freedom(float(one))
        for one in penalties
    ]
    return float(penalties[int(np.argmin(risks))])


def _shortened(
    problem: Problem, design: Design, fit: Floats, target: Floats, penalty: float
) -> Floats:
    """The step towards a quadratic's minimum, halved until it does not raise the objective."""

    def objective(at: Floats) -> float:
        return _mean_loss(problem, design, at) + 0.5 * penalty * float(np.square(at[:-1]).sum())

    now = objective(fit)
    for halving in range(_HALVINGS):
        trial = fit + 0.5**halving * (target - fit)
        if objective(trial) <= now:
            return trial
    return fit


def _mean_loss(problem: Problem, design: Design, fit: Floats) -> float:
    return float(_judged(problem, design, fit[:, :, None])[0]) / problem.rows.total_weight


def _mean_curvature(problem: Problem) -> float:
    """Curvature of the loss at its best constant: one for squared error.

    It turns a penalty on a least-squares fit of class indicators into one on multinomial scores.
    Where a class has nearly all of the weight, hardly any penalty would be left.
    """
    rows, loss = problem.rows, problem.loss
    null = np.broadcast_to(loss.null_score(rows.target, rows.weight), (1, loss.n_outputs))
    score = null if loss.n_outputs > 1 else null[0]
    return max(float(np.mean(loss.curvature(rows.target[:1], score))), _LEAST_CURVATURE)


def _solve(moments: Moments, penalty: float) -> Floats:
    covariance, cross, _ = moments.centred()
    return moments.with_intercept(solve_positive(covariance, cross, penalty))


def _unscaled(coefficients: Floats, scale: Floats) -> Floats:
    """From coefficients of scaled features to those of the features."""
    return np.asarray(coefficients / np.append(scale, 1.0)[:, None])
