"""Settings: what solvers, samplers and output layers are made of."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.base import BaseEstimator

__all__ = ["Settings"]


class Settings(BaseEstimator):  # type: ignore[misc]  # scikit-learn has no types
    """Named settings that fitting never changes.

    Being scikit-learn parameters, they can be cloned, shown, and tuned from outside as
    ``solver__ridge`` or ``sampler__levels``. Subclasses are dataclasses that declare what each
    setting may be in `_parameter_constraints`; `check` is called once, at the border.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {}

    def check(self) -> None:
        """Refuse a setting that is out of its range, naming it."""
        self._validate_params()
