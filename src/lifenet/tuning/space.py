"""A search space, as a value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

__all__ = ["Space", "Trial"]


class Trial(Protocol):
    """What a space asks of a trial: optuna's trials have it, and so may a test's."""

    def suggest_int(self, name: str, low: int, high: int, *, log: bool = False) -> int:
        """A whole number from low to high."""

    def suggest_float(self, name: str, low: float, high: float, *, log: bool = False) -> float:
        """A number from low to high."""

    def suggest_categorical(self, name: str, choices: Any) -> Any:
        """One of the choices."""


Suggest = Callable[[Trial, int, int], dict[str, Any]]
Start = Callable[[int, int], dict[str, Any]]


@dataclass(frozen=True)
class Space:
    """A search space of one estimator.

    Attributes
    ----------
    name : str
        Kept in the journal, so that a search is not continued over another space.
    suggest : callable
        ``(trial, n_samples, n_features) -> parameters`` for the estimator's `set_params`.
    start : callable or None
        ``(n_samples, n_features) -> values`` by the names that `suggest` asks for: a trial to
        begin with.
    starts_at_default : bool
        Whether these values are the estimator's own defaults, so that they need no trial beside
        the estimator's as it is given.

    Examples
    --------
    >>> from lifenet.tuning import Space
    >>> def suggest(trial, n_samples, n_features):
    ...     return {"alpha": trial.suggest_float("alpha", 1e-3, 1e3, log=True)}
    >>> space = Space("ridge", suggest)
    """

    name: str
    suggest: Suggest
    start: Start | None = None
    starts_at_default: bool = False

    def prefixed(self, step: str) -> Space:
        """The same space for a step of a pipeline: its parameters are `step`__name."""
        return replace(self, name=f"{step}__{self.name}", suggest=partial(_prefix, self, step))


def _prefix(
    space: Space, step: str, trial: Trial, n_samples: int, n_features: int
) -> dict[str, Any]:
    parameters = space.suggest(trial, n_samples, n_features)
    return {f"{step}__{name}": value for name, value in parameters.items()}
