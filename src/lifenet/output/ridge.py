"""The ridge output layer, its penalty chosen from one eigendecomposition.

For squared error the whole path of penalties follows from the features' covariance matrix. Other
losses with one output follow a path of fits that validation rows choose from, or, without such
rows, a quadratic like the loss near the current fit. Several outputs choose by least squares of
their responses, which are class indicators.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.kernels.lstsq import solve_positive
from lifenet.kernels.spectrum import Spectrum, least_gcv_penalty
from lifenet.kernels.unimodal import find_valley
from lifenet.losses import SquaredError
from lifenet.neurons.features import span_of_rows
from lifenet.output.discounts import (
    choose_scale,
    discounted_scales,
    lay_out,
    mean_loss_of,
)
from lifenet.output.moments import gather_moments, quadratic_model
from lifenet.output.newton import Curvature, fit_coefficients, hold_features, spreads

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.folds import Fold
    from lifenet.data.problem import Problem
    from lifenet.data.rows import Block
    from lifenet.losses import Loss
    from lifenet.neurons.features import Features
    from lifenet.neurons.layer import Layer
    from lifenet.output.moments import Moments

__all__ = ["Penalised", "RidgeOutput"]

_BLOCK_ROWS = 1024
# Rounds of the performance iteration, and the relative change of the penalty that ends it.
_ROUNDS, _SETTLED = 8, 0.3
_HALVINGS = 8
# The path of fits: two penalties a decade, each fitted so closely.
_LEAST_SHARE, _PATH_STEPS, _ON_THE_WAY = 1e-8, 17, 1e-4
_LEAST_CURVATURE = 0.1
# Share of the degrees of freedom that an estimate of the dispersion takes for left, at least.
_LEAST_LEFT = 0.05
# Factors between class indicators and scores that are compared, and the steps of Newton's method
# that follow for several outputs: where fine-tuning comes after, the last digits are worth little.
_FACTORS, _FEW_STEPS = (2.0, 4.0, 8.0, 16.0, 32.0), 6
# Base learners from which on fewer of them are tried. Chosen by hand.
_MANY_MEMBERS = 8
# Where a penalty of zero is asked for, this much keeps the fit of separable rows finite.
_WHISPER = 1e-10


class Penalised(NamedTuple):
    """Coefficients, and the penalty under which they are the best.

    Attributes
    ----------
    coefficients : (n_features + 1, n_outputs), the intercepts last
    penalty : (n_features,), half of which falls on each coefficient squared
    moments : of the features on the rows of the fit, where they are at hand
    """

    coefficients: Floats
    penalty: Floats
    moments: Moments | None = None

    @classmethod
    def of(cls, layer: Layer, penalty: float, coefficients: Floats) -> Penalised:
        """Of features whose coefficients are measured in the scale of their layer."""
        return cls(coefficients, penalty * np.square(layer.scale))


@dataclass(repr=False)
class RidgeOutput(Settings):
    """Output layer of least loss with a ridge penalty: least squares, logistic, multinomial.

    The penalty falls on coefficients times the length of their neuron's weights (on standardised
    columns), so that it bounds slopes, also where a neuron was hardly ever active in training.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        "auto" chooses it: on validation rows where the fit has any, otherwise by generalised
        cross-validation with N the sum of weights (for losses that are not quadratic and have one
        output, the unbiased risk estimate). 0 is the unpenalised output layer, of minimum norm on
        features of unit deviation where it is not unique.
    inflation : float, default=1.4
        Factor on the degrees of freedom in generalised cross-validation. Above one, since the
        neurons were fitted to the same rows and the output layer's freedom is not all there is.
    discounts : sequence of float, default=()
        Penalty discounts tried for the neurons of base learners relative to leaf neurons of equal
        standard deviation; chosen on the validation rows. Without leaf neurons all neurons are
        penalised alike; without discounts by the lengths of their weights.
    shares : sequence of float, default=(0.125, 0.25, 0.5, 1.0)
        Shares of the base learners, drawn at random, that are tried where there are no discounts;
        chosen on the validation rows. More base learners than the rows can tell apart overfit
        under any penalty. (1.0,) takes all.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "penalty": [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})],
        "inflation": [Interval(Real, 0, None, closed="neither")],
        "discounts": ["array-like"],
        "shares": ["array-like"],
    }

    weighs_members: ClassVar[bool] = False

    penalty: float | str = "auto"
    inflation: float = 1.4
    discounts: Sequence[float] = ()
    shares: Sequence[float] = (0.125, 0.25, 0.5, 1.0)

    def check(self) -> None:
        """Refuse settings out of their range."""
        super().check()
        given: Sequence[object] = self.discounts
        wrong = [one for one in given if not (isinstance(one, Real) and float(one) > 0)]
        if wrong:
            raise ValueError(f"discounts must be numbers above 0; {wrong[0]!r} is among them.")
        shares: Sequence[object] = self.shares
        right = [one for one in shares if isinstance(one, Real) and 0 < float(one) <= 1]
        if len(right) < max(len(shares), 1):
            raise ValueError(
                f"shares must be numbers above 0 and at most 1, at least one; got {shares!r}."
            )

    def fit(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Floats:
        """Coefficients, (n_features + 1, n_outputs)."""
        return self.solve(layer, fold, generator).coefficients

    def solve(self, layer: Layer, fold: Fold, generator: np.random.Generator) -> Penalised:
        """Coefficients, and the penalty under which they are the best."""
        if len(self.discounts):
            return self._fit_discounted(layer, fold)
        numbers = self._numbers(layer)
        if fold.validation is None or not isinstance(self.penalty, str) or len(numbers) == 1:
            return self._fit(layer, fold)
        chosen = layer.features_of(self._choose_members(layer, fold, numbers, generator))
        inside = self._fit(layer.pick(chosen), fold)
        coefficients = np.zeros((layer.n_features + 1, fold.fit.loss.n_outputs))
        coefficients[np.append(chosen, -1)] = inside.coefficients
        penalty = np.zeros(layer.n_features)
        penalty[chosen] = inside.penalty
        return Penalised(coefficients, penalty)

    def _numbers(self, layer: Layer) -> list[int]:
        """How many base learners are tried, rising; only all where they are few."""
        n = layer.n_members
        if n < _MANY_MEMBERS:
            return [n]
        return sorted({max(1, round(float(share) * n)) for share in self.shares})

    def _choose_members(
        self, layer: Layer, fold: Fold, numbers: Sequence[int], generator: np.random.Generator
    ) -> Integers:
        """The base learners whose least-squares fit is best on the validation rows.

        Those of each number are among those of the next. Losses of classes choose by squared error
        of their indicators: one matrix of moments then serves all.
        """
        assert fold.validation is not None
        order = generator.permutation(layer.n_members)
        moments = gather_moments(fold.train, layer.features, layer.scale)
        losses = []
        for number in numbers:
            index = layer.features_of(order[:number])
            fewer, some = layer.pick(index), moments.of(index)
            spectrum = Spectrum.of(*some.centred)
            losses.append(_validated(fold.validation, fewer, some, spectrum, SquaredError())[0])
        return np.sort(order[: numbers[int(np.argmin(losses))]])

    def _fit_discounted(self, layer: Layer, fold: Fold) -> Penalised:
        """Coefficients under the discount that the validation rows choose; the middle without any.

        Where all rows are the training rows, fits of the choice are exact enough to begin
        fine-tuning from.
        """
        layer, fold = lay_out(layer, fold)
        fitted = gather_moments(fold.train, layer.features, np.ones(layer.n_features))
        scales = discounted_scales(layer.leaf_mask, fitted, self.discounts)
        validation = fold.validation
        if validation is None or not isinstance(self.penalty, str):
            return self._fit(replace(layer, scale=scales[len(scales) // 2]), fold)
        index, coefficients, penalty = choose_scale(fitted, validation, layer.features, scales)
        layer, loss = replace(layer, scale=scales[index]), fold.fit.loss
        if fold.refits:
            return self._fit(layer, fold)
        if loss.quadratic:
            return Penalised.of(layer, penalty, coefficients)._replace(moments=fitted)
        penalty *= _mean_curvature(fold.train)
        if loss.n_outputs == 1:
            found = _follow_path(fold.train, validation, layer, Curvature(), penalty)
            return Penalised.of(layer, *found)
        start = _calibrated(validation, layer.features, coefficients)
        coefficients = fit_coefficients(
            *(fold.train, layer.features, layer.scale, penalty, start, _ON_THE_WAY),
            max_iter=_FEW_STEPS,
        )
        return Penalised.of(layer, penalty, coefficients)

    def _fit(self, layer: Layer, fold: Fold) -> Penalised:
        problem = fold.fit
        spanned = span_of_rows(layer.features, layer.scale, problem.rows)
        if spanned is not None and self.penalty != 0:
            fewer = replace(layer, features=spanned, scale=np.ones(spanned.n_features))
            inside = self._fit(fewer, fold)
            coefficients = np.vstack(
                [spanned.basis @ inside.coefficients[:-1], inside.coefficients[-1:]]
            )
            return Penalised.of(layer, float(inside.penalty[0]), coefficients)
        penalty, start, near = self.penalty, None, Curvature()
        if isinstance(penalty, str):
            penalty, start = self._choose(layer, fold, near)
        if problem.loss.quadratic:
            moments = gather_moments(problem, layer.features, layer.scale)
            fit = _unscaled(_solve(moments, penalty), layer.scale)
            return Penalised.of(layer, penalty, fit)
        penalty = max(penalty, _WHISPER)
        fit = fit_coefficients(problem, layer.features, layer.scale, penalty, start, near=near)
        return Penalised.of(layer, penalty, fit)

    def _choose(self, layer: Layer, fold: Fold, near: Curvature) -> tuple[float, Floats | None]:
        """The penalty, and coefficients near those that go with it where they are at hand."""
        validation, loss = fold.validation, fold.fit.loss
        if loss.n_outputs == 1 and not loss.quadratic:
            if validation is not None:
                return _follow_path(fold.train, validation, layer, near)
            return _settle(fold.fit, layer, self.inflation)
        problem = fold.fit if validation is None else fold.train
        moments = gather_moments(problem, layer.features, layer.scale)
        spectrum = Spectrum.of(*moments.centred)
        if validation is not None:
            # Several outputs are compared as they are fitted, by least squares.
            measure = loss if loss.n_outputs == 1 else SquaredError()
            penalty = _validated(validation, layer, moments, spectrum, measure)[1]
        else:
            penalty = least_gcv_penalty(spectrum, moments.total, self.inflation)
        return penalty * _mean_curvature(problem), None


def _validated(
    validation: Problem, layer: Layer, moments: Moments, spectrum: Spectrum, loss: Loss
) -> tuple[float, float]:
    """The least loss of the validation rows over the penalties of a quadratic, and its penalty."""
    penalties = spectrum.penalties()
    fits = [moments.with_intercept(spectrum.coefficients(float(one))) for one in penalties]
    losses = _losses(validation, layer, np.stack(fits, axis=2), loss)
    best = int(np.argmin(losses))
    return float(losses[best]), float(penalties[best])


def _follow_path(
    train: Problem,
    validation: Problem,
    layer: Layer,
    near: Curvature,
    guess: float | None = None,
) -> tuple[float, Floats]:
    """One output: the penalty whose fit has the least loss on the validation rows.

    From the guess, or the middle of a path of penalties, in steps of two, down the slope of that
    loss; then the neighbours of the best. `near` is left with a Hessian from close by.
    """
    validation = _softened(validation)
    variances = np.square(spreads(train, layer.features) / layer.scale)
    largest = float(variances.sum()) * _mean_curvature(train)
    penalties = largest * np.geomspace(1.0, _LEAST_SHARE, _PATH_STEPS)
    spanned = span_of_rows(layer.features, layer.scale, train.rows)
    features: Features = layer.features if spanned is None else spanned
    scale = layer.scale if spanned is None else np.ones(features.n_features)
    # A Hessian of fewer features is of no use outside.
    kept = near if spanned is None else Curvature()
    train, held = hold_features(train, features)
    fits: dict[int, Floats] = {}

    def loss_at(index: int) -> float:
        start = fits[min(fits, key=lambda known: abs(known - index))] if fits else None
        fits[index] = fit_coefficients(
            train, held, scale, float(penalties[index]), start, _ON_THE_WAY, kept
        )
        return mean_loss_of(validation, layer.features, outside(fits[index]))

    def outside(fit: Floats) -> Floats:
        """Coefficients of the layer's own features."""
        return fit if spanned is None else np.vstack([spanned.basis @ fit[:-1], fit[-1:]])

    middle = _PATH_STEPS // 2
    if guess is not None:
        middle = int(np.argmin(np.abs(np.log(penalties / guess))))
    best = find_valley(loss_at, _PATH_STEPS, middle)
    return float(penalties[best]), outside(fits[best])


def _calibrated(validation: Problem, features: Features, fit: Floats) -> Floats:
    """A least-squares fit of class indicators as scores: times the factor with the least loss."""
    level = validation.loss.null_score(validation.rows.target, validation.rows.weight)
    scaled = []
    for factor in _FACTORS:
        trial = factor * fit
        trial[-1] += level - factor * fit[-1].mean()
        scaled.append((mean_loss_of(validation, features, trial), trial))
    return min(scaled, key=lambda one: one[0])[1]


def _softened(validation: Problem) -> Problem:
    """The validation rows with targets that ask for no unbounded scores."""
    target = validation.loss.soften(validation.rows.target, validation.rows.total_weight)
    return replace(validation, rows=validation.rows.with_target(target))


def _losses(validation: Problem, layer: Layer, path: Floats, loss: Loss) -> Floats:
    """Loss of each fit of a path (n_features + 1, n_outputs, n_fits), summed over the rows.

    Parameters
    ----------
    loss : of one output, summed over the responses
    """

    def sums(block: Block) -> tuple[Floats]:
        columns = layer.features.of(block) / layer.scale[:, None]
        responses = validation.loss.responses(block.target).T
        total = np.zeros(path.shape[2])
        for response, fits in zip(responses, np.moveaxis(path, 1, 0), strict=True):
            scores = columns.T @ fits[:-1] + fits[-1]
            total += block.weight @ loss.value(response[:, None], scores[..., None])
        return (total,)

    return validation.rows.sum(sums, _BLOCK_ROWS)[0]


def _settle(problem: Problem, layer: Layer, inflation: float) -> tuple[float, Floats]:
    """One output without validation rows: the penalty with the least unbiased risk estimate.

    Where the dispersion is known to be one, as for classes, a degree of freedom has a known cost.
    (Generalised cross-validation divides by deviations that a strong signal has made vanish, and
    runs away.) Otherwise the dispersion is estimated from the quadratic. The penalty is chosen for
    the quadratic near the fit, the fit is moved, and so on, until the penalty settles. Where it
    does not, the best of the later ones is kept: early fits are far from where their penalty leads.
    """
    fit: Floats = np.zeros((layer.n_features + 1, 1))
    fit[-1] = problem.loss.null_score(problem.rows.target, problem.rows.weight)
    penalty, visited = 0.0, []
    for _ in range(_ROUNDS):
        moments = quadratic_model(problem, layer.features, layer.scale, fit)
        spectrum = Spectrum.of(*moments.centred)
        cost = inflation * _dispersion(problem, spectrum) / problem.rows.total_weight
        before, penalty = penalty, _least_risk(spectrum, cost)
        target = moments.with_intercept(spectrum.coefficients(penalty))
        fit = _shortened(problem, layer, fit, target, penalty)
        risk = _mean_loss(problem, layer, fit) + cost * spectrum.freedom(penalty)
        visited.append((risk, penalty))
        if abs(penalty - before) <= _SETTLED * before:
            return penalty, _unscaled(fit, layer.scale)
    return min(visited[_ROUNDS // 2 :])[1], _unscaled(fit, layer.scale)


def _dispersion(problem: Problem, spectrum: Spectrum) -> float:
    """Variance of a working response about its expectation, over that a unit curvature stands for.

    Estimated, where it is unknown, by the residuals of the fit that generalised cross-validation
    chooses, over the degrees of freedom that this fit leaves.
    """
    if problem.loss.dispersion_known:
        return 1.0
    total = problem.rows.total_weight
    penalty = least_gcv_penalty(spectrum, total)
    left = max(1.0 - spectrum.freedom(penalty) / total, _LEAST_LEFT)
    return spectrum.residual_variance(penalty) / left


def _least_risk(spectrum: Spectrum, cost: float) -> float:
    penalties = spectrum.penalties()
    risks = [
        0.5 * spectrum.residual_variance(float(one)) + cost * spectrum.freedom(float(one))
        for one in penalties
    ]
    return float(penalties[int(np.argmin(risks))])


def _shortened(
    problem: Problem, layer: Layer, fit: Floats, target: Floats, penalty: float
) -> Floats:
    """The step towards a quadratic's minimum, halved until it does not raise the objective."""

    def objective(at: Floats) -> float:
        return _mean_loss(problem, layer, at) + 0.5 * penalty * float(np.square(at[:-1]).sum())

    now = objective(fit)
    for halving in range(_HALVINGS):
        trial = fit + 0.5**halving * (target - fit)
        if objective(trial) <= now:
            return trial
    return fit


def _mean_loss(problem: Problem, layer: Layer, fit: Floats) -> float:
    losses = _losses(problem, layer, fit[:, :, None], problem.loss)
    return float(losses[0]) / problem.rows.total_weight


def _mean_curvature(problem: Problem) -> float:
    """Mean curvature of the loss at its best constant: one for squared error.

    It turns a penalty on a least-squares fit of the responses into one on the scores. Where a class
    has nearly all of the weight, hardly any penalty would be left.
    """
    rows, loss = problem.rows, problem.loss
    null = loss.null_score(rows.target, rows.weight)
    score = np.broadcast_to(null, (rows.n_rows, loss.n_outputs))
    curvature = loss.curvature(rows.target, score).mean(axis=1)
    # Written so that no rounding is added where all rows have the same curvature.
    beyond = rows.weight @ (curvature - curvature[0]) / rows.total_weight
    return max(float(curvature[0] + beyond), _LEAST_CURVATURE)


def _solve(moments: Moments, penalty: float) -> Floats:
    covariance, cross, _ = moments.centred
    return moments.with_intercept(solve_positive(covariance, cross, penalty))


def _unscaled(coefficients: Floats, scale: Floats) -> Floats:
    """From coefficients of scaled features to those of the features."""
    return np.asarray(coefficients / np.append(scale, 1.0)[:, None])
