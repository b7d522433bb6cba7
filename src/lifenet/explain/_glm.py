"""What local equations are measured against, and linear equations fitted to it with Wald errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from lifenet.explain._separation import row_space, separated_rows
from lifenet.losses import Logistic, Loss, Multinomial, SquaredError

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from lifenet._typing import Bools, Floats
    from lifenet.explain._sample import Sample

__all__ = [
    "Equation",
    "Target",
    "fit_equation",
    "target_of",
    "wald_p_values",
    "wald_quantile",
    "wald_ratio",
]

#: A coefficient is told from others if no direction without data moves it by more than this share.
_NULL_SHARE = 1e-8
#: Curvatures below this share of the largest are rounding.
_NULL_BEND = 1e-14
_MAX_ITER = 100
_TOLERANCE = 1e-9


@dataclass(frozen=True, eq=False)
class Target:
    """What scores are compared with, and how.

    Attributes
    ----------
    values : ndarray of shape (n_samples,)
        The response of each row that counts, or the network's score where none was given.
    loss : Loss
    given : bool
        Whether there was a response.
    """

    values: Floats
    loss: Loss
    given: bool

    @property
    def measure(self) -> str:
        """Name of what `summary` gives."""
        return self.loss.measure

    def columns(self, output: int) -> list[int] | slice:
        """Which scores the loss reads: the one explained, or all where classes compete."""
        return [output] if self.loss.n_outputs == 1 else slice(None)

    def losses(self, values: Floats, score: Floats) -> Floats:
        """Loss of each row, (n,), from scores of shape (n, loss.n_outputs)."""
        return self.loss.value(values, score)

    def summary(self, mean_loss: Floats) -> Floats:
        """Mean losses in usual terms: root mean squared error, else the mean itself."""
        return self.loss.summary(mean_loss)


def target_of(
    sample: Sample, n_given: int, y: npt.ArrayLike | None, loss: Loss | None = None
) -> Target:
    """Check the response and find the loss that fits it.

    Parameters
    ----------
    n_given : rows of the table before those of weight zero were left out
    y : array-like of shape (n_given,) or None
        None takes the network's own score.
    loss : None takes `Logistic` where `y` holds both 0 and 1 and nothing else, `Multinomial`
        where the network has several scores and `y` holds their numbers, else `SquaredError`.
    """
    if y is None:
        if loss is not None:
            raise ValueError("loss compares the score with y: give y too, or leave loss out.")
        return Target(sample.score, SquaredError(), given=False)
    if sample.classes is not None and (loss is None or not loss.quadratic):
        y = _codes_of(np.asarray(y), n_given, sample)
        loss = loss or _loss_of_classes(sample.network.n_outputs)
    values = _check_response(y, n_given, sample)
    n_outputs = sample.network.n_outputs
    chosen = _usual_loss(values, n_outputs) if loss is None else _check_loss(loss, n_outputs)
    _refuse(~chosen.accepts(values), values, sample, chosen.accepted)
    return Target(values, chosen, given=True)


def _check_response(y: npt.ArrayLike, n_given: int, sample: Sample) -> Floats:
    values = np.asarray(y)
    if values.dtype.kind not in "fiub":
        raise ValueError(
            f"y must hold numbers; its dtype is {values.dtype}. Code two classes as 0 and 1, "
            "several as 0, 1, ... in the order of the network's scores."
        )
    if values.shape == (n_given, 1):
        values = values[:, 0]
    if values.shape != (n_given,):
        raise ValueError(f"y has shape {values.shape}; expected ({n_given},), one a row of X.")
    values = values[sample.rows].astype(np.float64)
    _refuse(~np.isfinite(values), values, sample, "finite; drop the row from X and y")
    return values


def _codes_of(y: npt.NDArray[Any], n_given: int, sample: Sample) -> npt.NDArray[Any]:
    """Labels of a classifier as 0, 1, ..."""
    if y.shape != (n_given,):
        return y
    classes: list[Any] = [] if sample.classes is None else sample.classes.tolist()
    code = {label: place for place, label in enumerate(classes)}
    labels = y.tolist()
    codes = np.array([code.get(label, -1) for label in labels])
    wrong = sample.rows[codes[sample.rows] < 0]
    if len(wrong):
        raise ValueError(
            f"y holds {labels[wrong[0]]!r} in row {wrong[0]}, which is none of the model's "
            f"classes {classes}."
        )
    return codes


def _usual_loss(values: Floats, n_outputs: int) -> Loss:
    found = np.unique(values)
    if len(found) > 1:
        codes = max(n_outputs, 2)
        if np.isin(values, np.arange(codes)).all():
            return _loss_of_classes(n_outputs)
    if len(found) == 2:
        raise ValueError(
            f"y has two values, {found[0]:g} and {found[1]:g}. If they are classes, pass the "
            "fitted classifier instead of its network_, or code them as 0 and 1; if they are "
            "numbers, pass loss=SquaredError()."
        )
    return SquaredError()


def _loss_of_classes(n_outputs: int) -> Loss:
    return Logistic() if n_outputs == 1 else Multinomial(n_outputs)


def _check_loss(loss: Loss, n_outputs: int) -> Loss:
    if not isinstance(loss, Loss):
        raise TypeError(
            f"loss must be one of lifenet.losses, such as SquaredError() or Logistic(); it is "
            f"{loss!r}."
        )
    if loss.n_outputs not in (1, n_outputs):
        raise ValueError(
            f"loss reads {loss.n_outputs} scores; the network has {n_outputs}. Give a loss of one "
            f"score, or Multinomial({n_outputs}) for classes."
        )
    return loss


def _refuse(bad: Bools, values: Floats, sample: Sample, rule: str) -> None:
    if bad.any():
        place = int(np.argmax(bad))
        raise ValueError(f"y must be {rule}; row {sample.rows[place]} has {values[place]:g}.")


# ------------------------------------------------------------------ fitting


@dataclass(frozen=True, eq=False)
class Equation:
    """A fitted linear equation of p columns, with Wald standard errors.

    Attributes
    ----------
    coefficients : ndarray of shape (1 + p,), the intercept first
    errors : ndarray of shape (1 + p,)
        Standard errors; NaN where the rows do not determine the coefficient (also because it
        separates some of them by their class without error), or have no degree of freedom left.
    freedom : float
        Degrees of freedom of the t distribution; infinite where the dispersion is known (normal).
    """

    coefficients: Floats
    errors: Floats
    freedom: float


def fit_equation(X: Floats, target: Floats, weight: Floats, loss: Loss) -> Equation:
    """Linear equation of least mean loss, with errors from the inverse information.

    A weight counts as that many rows. Columns that are constant in these rows get the coefficient
    zero; of the equations that fit equally well where columns depend on each other, the one of
    smallest standardised slopes is taken. Under a separable loss there may be directions along
    which the loss falls for ever, because they separate some rows by their class and leave the
    others where they are. Coefficients that these directions move have no best value, and no
    error: a ridge of one on the standardised slopes and the intercept keeps them finite. The others
    are those that the rows which are not separated give alone.

    Parameters
    ----------
    X : (n, p)
    target, weight : (n,), weights positive
    loss : of one score
    """
    design, back, constant = _standardise(X, weight)
    best = _optimum(design, target, weight, loss)
    slopes = best.point
    far = np.zeros(len(design), dtype=bool)
    if loss.separable:
        far = separated_rows(design, loss.side(target)[:, 0], weight, slopes)
    if far.any():
        best = _optimum(design[~far], target[~far], weight[~far], loss)
        slopes = best.point + _bounded_part(design[far], target[far], weight[far], loss, best)
    freedom, dispersion = _dispersion(design @ slopes, target, weight, loss, best.steep.shape[1])
    errors = np.sqrt(dispersion * np.square(back @ best.steep).sum(axis=1))
    loose = np.hstack([best.null, best.flat / np.linalg.norm(best.flat, axis=0)])
    moved = np.abs(back @ loose).max(axis=1, initial=0.0)
    errors[constant | (moved > _NULL_SHARE * np.abs(back).max(axis=1))] = np.nan
    if not best.settled:
        errors[:] = np.nan
    return Equation(back @ slopes, errors, freedom)


def _standardise(X: Floats, weight: Floats) -> tuple[Floats, Floats, Bools]:
    """Design of a one and standardised columns, and the way back to the columns' own units.

    Returns
    -------
    design (n, 1 + p), zero for constant columns; back (1 + p, 1 + p); constant (1 + p,)
    """
    total = weight.sum()
    middle = weight @ X / total
    design = np.ones((len(X), 1 + X.shape[1]))
    np.subtract(X, middle, out=design[:, 1:])
    spread = np.sqrt(weight @ np.square(design[:, 1:]) / total)
    constant = spread <= 1e-12 * np.abs(X).max(axis=0)
    per_unit = np.zeros(len(spread))
    np.divide(1.0, spread, out=per_unit, where=~constant)
    design[:, 1:] *= per_unit
    back = np.diag(np.append(1.0, per_unit))
    back[0, 1:] = -middle * per_unit
    return design, back, np.append(False, constant)


@dataclass(frozen=True, eq=False)
class _Optimum:
    """Slopes of least loss, and how the loss bends there.

    Attributes
    ----------
    point : (c,), the smallest of those that do equally well
    steep : (c, r), whose product with its transpose is the inverse information
    null : (c, k), orthonormal directions along which the loss does not change
    flat : (c, c - r - k), directions along which the change drowns in rounding
    settled : bool, whether the steps of Newton's method died out
    """

    point: Floats
    steep: Floats
    null: Floats
    flat: Floats
    settled: bool


def _optimum(design: Floats, target: Floats, weight: Floats, loss: Loss) -> _Optimum:
    basis, null = row_space(design, weight)
    point, bends, directions, settled = _newton(design @ basis, target, weight, loss)
    outer, kept = basis @ directions, bends > 0
    steep, flat = outer[:, kept] / np.sqrt(bends[kept]), outer[:, ~kept]
    return _Optimum(basis @ point, steep, null, flat, settled)


def _newton(
    design: Floats,
    target: Floats,
    weight: Floats,
    loss: Loss,
    *,
    offset: Floats | float = 0.0,
    ridge: float = 0.0,
) -> tuple[Floats, Floats, Floats, bool]:
    """Minimise ``sum_i weight_i loss_i + ridge |point|² / 2`` from zero, by Newton's method.

    The score is ``offset + design point``. Where there is no minimum, rows are taken further by
    about one each time, until the loss bends too little to tell.

    Returns
    -------
    point (r,); bends (r,) and directions (r, r), eigenvalues of the information there, zero where
    they are only rounding, and eigenvectors; and whether the steps died out
    """

    def objective(at: Floats) -> float:
        value = weight @ loss.value(target, (offset + design @ at)[:, None])
        return float(value + 0.5 * ridge * at @ at)

    def eigen(score: Floats) -> tuple[Floats, Floats]:
        bend = weight * loss.curvature(target, score[:, None])[:, 0]
        matrix = (design * bend[:, None]).T @ design + ridge * np.eye(design.shape[1])
        values, vectors = np.linalg.eigh(matrix)  # scipy 1.11 refuses an empty one
        return np.where(values > _NULL_BEND * values.max(initial=0.0), values, 0.0), vectors

    point, settled = np.zeros(design.shape[1]), False
    start = objective(point)
    bends, directions = eigen(offset + design @ point)
    for _ in range(_MAX_ITER):
        score = offset + design @ point
        slope = design.T @ (weight * loss.gradient(target, score[:, None])[:, 0])
        along = directions.T @ (slope + ridge * point)
        step = np.divide(-along, bends, out=np.zeros_like(along), where=bends > 0)
        point = point + _shorten(objective, point, directions @ step)
        # Twice what the step should gain, which is its squared length in standard errors.
        settled = bool(-along @ step <= _TOLERANCE**2 * start)
        bends, directions = eigen(offset + design @ point)
        if settled:
            break
    return point, bends, directions, settled


def _bounded_part(
    design: Floats, target: Floats, weight: Floats, loss: Loss, best: _Optimum
) -> Floats:
    """Slopes (c,) along the null directions of the optimum, by a ridge on the separated rows."""
    part = _newton(design @ best.null, target, weight, loss, offset=design @ best.point, ridge=1.0)
    return np.asarray(best.null @ part[0])


def _shorten(objective: Callable[[Floats], float], point: Floats, step: Floats) -> Floats:
    """The step, halved until it does not raise the objective beyond rounding."""
    start = objective(point)
    for _ in range(_MAX_ITER):
        if objective(point + step) <= start + 1e-12 * abs(start):
            break
        step = 0.5 * step
    return step


def _dispersion(
    score: Floats, target: Floats, weight: Floats, loss: Loss, rank: int
) -> tuple[float, float]:
    """Degrees of freedom and dispersion; (inf, 1) where the dispersion is known.

    Otherwise it is what the squared gradient has over the curvature, which a likelihood expects to
    be equal: for squared error, the variance of the response about the equation.
    """
    if loss.dispersion_known:
        return np.inf, 1.0
    freedom = float(weight.sum()) - rank
    if freedom <= 1e-9 * rank:
        return freedom, np.nan
    gradient, curvature = (
        of(target, score[:, None])[:, 0] for of in (loss.gradient, loss.curvature)
    )
    bend = float(weight @ curvature) / float(weight.sum())
    return freedom, float(weight @ np.square(gradient)) / bend / freedom


# ------------------------------------------------------------------ Wald's tests


def wald_ratio(coefficients: Floats, errors: Floats) -> Floats:
    """Coefficients over their standard errors; NaN without one, infinite for an error of zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(coefficients / errors)


def wald_p_values(ratio: Floats, freedom: Floats) -> Floats:
    """Two-sided p values: Student's t with finite degrees of freedom, else normal."""
    tail = -np.abs(ratio)
    student = special.stdtr(np.where(freedom > 0, freedom, np.nan), tail)
    return np.asarray(2.0 * np.where(np.isinf(freedom), special.ndtr(tail), student))


def wald_quantile(level: float, freedom: Floats) -> Floats:
    """How many standard errors reach to a level of the distribution."""
    known = np.isinf(freedom) | ~(freedom > 0)
    student = special.stdtrit(np.where(known, 1.0, freedom), level)
    return np.asarray(np.where(known, special.ndtri(level), student))
