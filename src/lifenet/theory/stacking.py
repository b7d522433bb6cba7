"""Two-stage stacking: members' predictions mixed with weights that sum to one (section 2.3)."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.theory._simplex import minimise_on_simplex
from lifenet.theory._table import Table, check_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats
    from lifenet.theory._spaces import SpaceName

__all__ = [
    "SettingsLine",
    "compare_settings",
    "fit_simplex",
    "optimality_gap",
    "simplex_weights",
]

_NEWTON_STEPS, _HALVINGS = 100, 40
# The gap to the least loss, as a share of the loss, at which steps end; and beyond which, if no
# step helps any more, the caller is told.
_TOLERANCE, _DOUBTFUL = 1e-13, 1e-6
# Added to the curvature in each step, as a share of it: members that say the same have no unique
# weights. It acts on the step, not on the weights, so it moves nothing where steps end.
_DAMPING = 1e-9
# A step must bring this share of the fall that its slope promises.
_SUFFICIENT = 1e-4


def simplex_weights(
    predictions: Any,
    target: Any,
    *,
    space: SpaceName = "squared",
    sample_weight: npt.ArrayLike | None = None,
) -> Floats:
    """The weights beta >= 0 with sum one whose mixture has the least mean loss.

    The mixture is ``f = sum_j beta_j f_j``. The problem is convex; it is solved by Newton's method,
    each step a quadratic over the simplex solved exactly by an active set. Members without use get
    weight zero. Where members say the same, weights are not unique; the mixture's loss is.

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Scores, or where ``space="probability"`` probabilities of the class coded 1.
    target : array-like of shape (n_samples,)
        Response; 0, 1 or shares between them but for squared error.
    space : {"squared", "log-odds", "probability"}, default="squared"
        The loss, and where predictions are mixed.
    sample_weight : array-like of shape (n_samples,) or None, default=None

    Returns
    -------
    ndarray of shape (n_members,)

    Examples
    --------
    >>> import numpy as np
    >>> from lifenet.theory import simplex_weights
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> simplex_weights(np.column_stack([y - 1, y + 3, -y]), y).round(6)
    array([0.75, 0.25, 0.  ])
    """
    return fit_simplex(Table.of(space, predictions, target, sample_weight))


def optimality_gap(
    predictions: Any,
    target: Any,
    weights: npt.ArrayLike,
    *,
    space: SpaceName = "squared",
    sample_weight: npt.ArrayLike | None = None,
) -> float:
    """How far above the least loss on the simplex the loss of some weights can be at most.

    With g the gradient of the mean loss in the weights, ``g' beta - min_j g_j``: by convexity not
    less than the loss at beta minus the least one, and zero only where the Kuhn-Tucker conditions
    hold (all members with a weight have the least slope).

    Parameters
    ----------
    predictions, target, space, sample_weight : as in `simplex_weights`
    weights : array-like of shape (n_members,)
        On the simplex.
    """
    table = Table.of(space, predictions, target, sample_weight)
    beta = check_weights(weights, table.n_members)
    pull = table.weight * table.space.gradient(table.target, table.predictions @ beta)
    base = table.predictions[:, int(np.argmax(beta))]
    return _gap((table.predictions - base[:, None]).T @ pull, beta)


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights, their mixture, its mean loss, and the loss's slope in the weights."""

    beta: Floats
    mixture: Floats
    value: float
    slope: Floats

    @property
    def gap(self) -> float:
        return _gap(self.slope, self.beta)


def fit_simplex(table: Table) -> Floats:
    """`simplex_weights` of predictions that have been checked."""
    # Seen from the best member: weights sum to one, so only differences between members count.
    best = int(np.argmin(table.member_loss()))
    base = table.predictions[:, best]
    shifts = table.predictions - base[:, None]

    def at(beta: Floats) -> _Point:
        mixture = base + shifts @ beta
        pull = table.weight * table.space.gradient(table.target, mixture)
        return _Point(beta, mixture, _loss(table, mixture), shifts.T @ pull)

    now = start = at(np.eye(1, table.n_members, best)[0])
    curvature = None
    for _ in range(_NEWTON_STEPS):
        if now.gap <= _TOLERANCE * now.value:
            break
        if curvature is None or not table.space.constant_curvature:
            curvature = _damped_curvature(table, shifts, now.mixture)
        wanted = minimise_on_simplex(curvature, now.slope - curvature @ now.beta, now.beta)
        change = wanted - now.beta
        step = _search(table, now, shifts @ change, float(now.slope @ change))
        after = at(now.beta + step * change if 0 < step < 1 else wanted)
        # Near the end the loss cannot tell points apart any more, while the slope still can.
        if step == 0 and after.gap > now.gap / 2:
            break
        now = after
    if now.gap > _DOUBTFUL * start.value + _rounding(table, shifts, now.mixture):
        warnings.warn(
            f"The weights' loss may be {now.gap:.2g} above the least one, and no step lowers it "
            "further. Look for members whose predictions are of very different size.",
            RuntimeWarning,
            stacklevel=3,
        )
    return now.beta


def _rounding(table: Table, shifts: Floats, mixture: Floats) -> float:
    """What rounding of targets and predictions may do to a slope."""
    y = table.target
    size = np.abs(table.space.gradient(y, mixture))
    size += table.space.curvature(y, mixture) * (np.abs(mixture) + np.abs(y))
    return float(16 * np.finfo(np.float64).eps * (np.abs(shifts).T @ (table.weight * size)).max())


def _gap(slope: Floats, beta: Floats) -> float:
    return max(float(beta @ slope - slope.min()), 0.0)


def _loss(table: Table, mixture: Floats) -> float:
    return float(table.weight @ table.space.value(table.target, mixture))


def _damped_curvature(table: Table, shifts: Floats, mixture: Floats) -> Floats:
    """Second derivative of the mean loss in the weights, made positive definite."""
    size = shifts.shape[1]
    matrix = np.zeros((size, size))
    for block in table.blocks():
        curvature = table.space.curvature(table.target[block], mixture[block])
        rows = shifts[block] * np.sqrt(table.weight[block] * curvature)[:, None]
        matrix += rows.T @ rows
    diagonal = np.diag(matrix)
    typical = float(np.median(diagonal[diagonal > 0])) if diagonal.any() else 1.0
    return matrix + np.diag(_DAMPING * (diagonal + typical))


def _search(table: Table, now: _Point, change: Floats, fall: float) -> float:
    """The longest of 1, 1/2, 1/4, ... times a change that lowers the loss enough; 0 if none."""
    step = 1.0
    for _ in range(_HALVINGS):
        if _loss(table, now.mixture + step * change) < now.value + _SUFFICIENT * step * fall:
            return step
        step /= 2
    return 0.0


@shown
@dataclass(frozen=True, eq=False)
class SettingsLine:
    """LIFE's loss against two-stage stacking's over settings, and the least-squares line.

    Attributes
    ----------
    stacking, life : ndarray of shape (n_settings,), losses
    settings : what each setting is called
    slope, intercept : of ``life ~ intercept + slope * stacking``
    r_squared : share of the variance of LIFE's losses that the line explains
    """

    stacking: Floats
    life: Floats
    settings: tuple[str, ...]
    slope: float
    intercept: float
    r_squared: float

    @property
    def n_better(self) -> int:
        """In how many settings LIFE's loss is below stacking's."""
        return int(np.sum(self.life < self.stacking))

    def to_frame(self) -> pd.DataFrame:
        """One row a setting: setting, stacking, life, fitted, ratio of LIFE's to stacking's."""
        pandas = require("pandas", extra="data", purpose="A data frame")
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "setting": self.settings,
                "stacking": self.stacking,
                "life": self.life,
                "fitted": self.intercept + self.slope * self.stacking,
                "ratio": self.life / np.where(self.stacking == 0, np.nan, self.stacking),
            }
        )
        return frame


def compare_settings(
    stacking: npt.ArrayLike, life: npt.ArrayLike, settings: Sequence[object] | None = None
) -> SettingsLine:
    """LIFE's loss against two-stage stacking's with the same members, over many settings.

    The paper's figures `stack_life_reg` and `stack_life_cal`. A mixture of members is one of the
    read-outs of their neurons, so an unpenalised LIFE cannot have the higher loss on the rows of
    training; on other rows, or with a penalty, it is a question that the figure answers.

    Parameters
    ----------
    stacking, life : array-like of shape (n_settings,)
        Mean losses on the same rows, at least three.
    settings : sequence or None, default=None
        What to call each setting; None counts from 0.
    """
    x, y = _losses("stacking", stacking), _losses("life", life)
    if x.shape != y.shape:
        raise ValueError(f"stacking has {len(x)} losses and life {len(y)}; give one a setting.")
    if len(x) < 3:
        raise ValueError(f"A line needs at least three settings; there are {len(x)}.")
    names = range(len(x)) if settings is None else settings
    if len(names) != len(x):
        raise ValueError(f"settings names {len(names)} settings; there are {len(x)} losses.")
    spread = float(np.square(x - x.mean()).sum())
    if not spread > 0:
        raise ValueError("stacking has the same loss in every setting: no line is determined.")
    slope = float((x - x.mean()) @ (y - y.mean())) / spread
    intercept = float(y.mean() - slope * x.mean())
    whole = float(np.square(y - y.mean()).sum())
    left = float(np.square(y - intercept - slope * x).sum())
    r_squared = 1.0 - left / whole if whole > 0 else 1.0
    return SettingsLine(x, y, tuple(str(one) for one in names), slope, intercept, r_squared)


def _losses(name: str, values: npt.ArrayLike) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.ndim != 1:
        raise ValueError(f"{name} must be a list of losses; it has shape {found.shape}.")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"{name} must be finite; setting {bad[0]} has {found[bad[0]]}.")
    return found
