"""How good predictions are: losses of rows, and measures of all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import roc_auc_score

if TYPE_CHECKING:
    import numpy.typing as npt

    from lifenet._typing import Floats

__all__ = ["loss_name", "losses_of", "measures_of", "told"]


def loss_name(model: Any) -> str:
    """What the loss of a row is called."""
    return "log-loss" if hasattr(model, "classes_") else "squared error"


def losses_of(model: Any, X: Any, y: npt.NDArray[Any]) -> Floats:
    """The loss of each row, (n_rows,); NaN where the model does not know the class."""
    if not hasattr(model, "classes_"):
        return np.asarray(np.square(model.predict(X) - y))
    place, known = _codes(model, y)
    losses = -np.asarray(model.predict_log_proba(X))[np.arange(len(y)), place]
    return np.where(known, losses, np.nan)


def measures_of(
    model: Any, X: Any, y: npt.NDArray[Any], weight: Floats | None = None
) -> dict[str, float]:
    """Measures of the predictions of rows.

    For numbers: "RMSE", "RMSE of the mean", "R²". For classes: "log-loss", "log-loss of class
    shares", "accuracy", of two "AUC", and "unknown", the rows of classes that the model does not
    know, which are left out of all others.
    """
    weight = np.ones(len(y)) if weight is None else weight
    losses = losses_of(model, X, y)
    known = ~np.isnan(losses) & (weight > 0)
    if not known.any():
        return {"unknown": float(len(y))}
    mass = weight[known]
    loss = float(np.average(losses[known], weights=mass))
    if not hasattr(model, "classes_"):
        spread = float(np.average(np.square(y - np.average(y, weights=weight)), weights=weight))
        explained = 1 - loss / spread if spread > 0 else float("nan")
        return {"RMSE": loss**0.5, "RMSE of the mean": spread**0.5, "R²": explained}
    place, _ = _codes(model, y)
    shares = np.bincount(place[known], mass, len(model.classes_)) / mass.sum()
    right = model.predict(X)[known] == y[known]
    found = {
        "log-loss": loss,
        "log-loss of class shares": float(-np.sum(shares[shares > 0] * np.log(shares[shares > 0]))),
        "accuracy": float(np.average(right, weights=mass)),
    }
    if len(model.classes_) == 2 and 0 < shares[0] < 1:
        score = model.decision_function(X)[known]
        found["AUC"] = float(roc_auc_score(place[known], score, sample_weight=mass))
    if not known.all():
        found["unknown"] = float(np.isnan(losses).sum())
    return found


def _codes(model: Any, y: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The number of each row's class, and whether the model knows it."""
    classes = np.asarray(model.classes_)
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    return place, classes[place] == y


def told(measures: dict[str, float]) -> str:
    """Measures in a line."""
    found = dict(measures)
    unknown = int(found.pop("unknown", 0))
    parts = []
    for name, base in (("RMSE", "RMSE of the mean"), ("log-loss", "log-loss of class shares")):
        if name in found:
            other = base.removeprefix(f"{name} of ")
            word = "the mean" if other == "the mean" else other
            parts.append(f"{name} {found.pop(name):.4g} ({word} alone: {found.pop(base):.4g})")
    parts += [f"{name} {value:.3f}" for name, value in found.items()]
    if unknown:
        parts.append(f"{unknown:,} rows of classes that the model does not know are left out")
    return ", ".join(parts)
