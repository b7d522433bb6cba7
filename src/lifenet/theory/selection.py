"""What base learner selection costs: accuracy against neurons (the paper's figure `base`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers

__all__ = ["SelectionCurve", "selection_curve"]


@shown
@dataclass(frozen=True, eq=False)
class SelectionCurve:
    """R² of models with fewer and fewer members.

    Attributes
    ----------
    n_neurons : ndarray of shape (n_points,), rising
    r_squared : ndarray of shape (n_points,)
    keep : ndarray of shape (n_points,), share of the members kept, or None
    all_members : (neurons, R²) of the model with all members, or None
    """

    n_neurons: Integers
    r_squared: Floats
    keep: Floats | None = None
    all_members: tuple[int, float] | None = None

    @property
    def best(self) -> int:
        """The place of the highest R²."""
        return int(np.argmax(self.r_squared))

    def fewest(self, slack: float = 0.01) -> int:
        """The first place whose R² is at most so far below the highest one."""
        if not slack >= 0:
            raise ValueError(f"slack must not be negative; it is {slack}.")
        return int(np.flatnonzero(self.r_squared >= self.r_squared.max() - slack)[0])

    def to_frame(self) -> pd.DataFrame:
        """One row a model: n_neurons, r_squared, keep (NaN where unknown), selected.

        The model with all members, where there is one, comes last, with `selected` False.
        """
        pandas = require("pandas", extra="data", purpose="A data frame")
        keep = np.full(len(self.n_neurons), np.nan) if self.keep is None else self.keep
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "n_neurons": self.n_neurons,
                "r_squared": self.r_squared,
                "keep": keep,
                "selected": True,
            }
        )
        if self.all_members is not None:
            frame.loc[len(frame)] = [*self.all_members, 1.0, False]
        return frame


def selection_curve(
    n_neurons: npt.ArrayLike,
    r_squared: npt.ArrayLike,
    *,
    keep: npt.ArrayLike | None = None,
    all_members: tuple[int, float] | None = None,
) -> SelectionCurve:
    """R² against neurons, for models that base learner selection (Algorithm 3) left smaller.

    Parameters
    ----------
    n_neurons, r_squared : array-like of shape (n_points,), in any order
        Of models with several values of `BaseLearnerSelection.keep`.
    keep : array-like of shape (n_points,) or None, default=None
        Those values.
    all_members : (int, float) or None, default=None
        Neurons and R² of the model without selection.
    """
    neurons, found = np.asarray(n_neurons), np.asarray(r_squared, dtype=np.float64)
    if neurons.ndim != 1 or not len(neurons) or neurons.dtype.kind not in "iu":
        raise ValueError("n_neurons must be a list of whole numbers, at least one.")
    shares = None if keep is None else np.asarray(keep, dtype=np.float64)
    for name, values in (("r_squared", found), ("keep", shares)):
        if values is not None and values.shape != neurons.shape:
            raise ValueError(f"{name} has shape {values.shape}; expected {neurons.shape}.")
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"r_squared must be finite; model {bad[0]} has {found[bad[0]]}.")
    places = np.argsort(neurons, kind="stable")
    return SelectionCurve(
        neurons[places],
        found[places],
        None if shares is None else shares[places],
        None if all_members is None else (int(all_members[0]), float(all_members[1])),
    )
