"""Numbers that can be used, and what is wrong with those that cannot."""

from __future__ import annotations

import numpy as np

__all__ = ["LARGEST", "describe_number"]

#: Squares of larger numbers, summed over rows, leave the range of float64.
LARGEST = np.float64(1e140)  # as a float64, so that float32 tables are compared in float64


def describe_number(value: float) -> tuple[str, str]:
    """What is wrong with a number that is NaN, infinite or too large, and what to do about it."""
    if np.isnan(value):
        return "NaN", "Impute it, for example with sklearn.impute.SimpleImputer, or drop the row."
    if np.isinf(value):
        return "infinity", "Replace it by a number in the column's range, or drop the row."
    return f"a value too large ({value:g})", "Rescale the column, or mend the value."
