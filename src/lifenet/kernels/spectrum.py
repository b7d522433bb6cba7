"""Ridge regression for every penalty at once, from one eigendecomposition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["Spectrum", "least_gcv_penalty"]

# Eigenvalues below this share of the largest are rounding of the covariance matrix.
_NULL = 1e-13
# Penalties that are tried, as shares of the eigenvalues' sum: ten a decade.
_LEAST, _MOST, _STEPS = 1e-9, 10.0, 101
# What no penalty leaves unexplained is at least this share of the responses' variance: less is
# rounding, and a score that divides rounding by rounding would choose by accident.
_UNEXPLAINED = 1e-10
# Where a fit takes up nearly all of the rows, its score is no guide.
_LEAST_LEFT = 0.05
# The first two decades of penalties, up to 1e-7, are not chosen without validation rows: features
# are networks' activations, whose own rounding these would blow up into the seventh digit.
_WITH_ROWS_ONLY = 20


@dataclass(frozen=True)
class Spectrum:
    """Centred moments of a regression, rotated to where the features are uncorrelated.

    Attributes
    ----------
    values : (m,), eigenvalues of the features' covariance, rising
    vectors : (m, m), its eigenvectors in columns
    rotated : (m, k), the features' covariance with k responses, in the eigenvectors' coordinates
    variance : of the responses, added up
    """

    values: Floats
    vectors: Floats
    rotated: Floats
    variance: float

    @classmethod
    def of(cls, covariance: Floats, cross: Floats, variance: float) -> Spectrum:
        """Decompose (m, m) covariance of the features and (m, k) covariance with the responses."""
        values, vectors = np.linalg.eigh(covariance)
        floor = _NULL * len(values) * max(float(values[-1]), 0.0) if len(values) else 0.0
        real = values > floor
        return cls(
            np.where(real, values, 0.0),
            vectors,
            np.where(real[:, None], vectors.T @ cross, 0.0),
            float(variance),
        )

    def coefficients(self, penalty: float) -> Floats:
        """Minimiser of ``b'Cb/2 - q'b + penalty |b|²/2``, (m, k); minimum norm at penalty zero."""
        return np.asarray(self.vectors @ (self.rotated * self._inverse(penalty)[:, None]))

    def freedom(self, penalty: float) -> float:
        """Effective degrees of freedom for each response, the constant included."""
        return 1.0 + float(self.values @ self._inverse(penalty))

    def residual_variance(self, penalty: float) -> float:
        """Mean squared residual of the fit with this penalty, added up over the responses."""
        real = self.values > 0
        power = np.square(self.rotated[real]).sum(axis=1) / self.values[real]
        unexplained = max(self.variance - float(power.sum()), _UNEXPLAINED * self.variance)
        return unexplained + float(power @ np.square(penalty / (self.values[real] + penalty)))

    def penalties(self) -> Floats:
        """Penalties from hardly any to one that leaves almost nothing, rising."""
        total = float(self.values.sum())
        return np.asarray((total if total > 0 else 1.0) * np.geomspace(_LEAST, _MOST, _STEPS))

    def _inverse(self, penalty: float) -> Floats:
        """``1 / (values + penalty)``, zero where both are."""
        shrunk = self.values + penalty
        return np.asarray(np.divide(1.0, shrunk, out=np.zeros_like(shrunk), where=shrunk > 0))


def least_gcv_penalty(spectrum: Spectrum, total: float, inflation: float = 1.0) -> float:
    """The penalty with the least generalised cross-validation score.

    ``residual variance / (1 - inflation * freedom / total)²`` with `total` the sum of weights, so
    that a weight of two counts like a repeated row. Penalties that leave hardly any freedom to the
    residuals are not considered, nor those that would fit rounding.
    """
    penalties = spectrum.penalties()[_WITH_ROWS_ONLY:]
    scores = [_gcv(spectrum, total, inflation, float(penalty)) for penalty in penalties]
    best = int(np.argmin(scores)) if np.isfinite(scores).any() else -1
    return float(penalties[best])


def _gcv(spectrum: Spectrum, total: float, inflation: float, penalty: float) -> float:
    left = 1.0 - inflation * spectrum.freedom(penalty) / total
    return spectrum.residual_variance(penalty) / left**2 if left > _LEAST_LEFT else np.inf
