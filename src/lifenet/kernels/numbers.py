"""Numbers that can be used, what is wrong with those that cannot, and numbers as text."""

from __future__ import annotations

import numpy as np

__all__ = ["LARGEST", "MINUS", "describe_number", "number_text"]

MINUS = "\N{MINUS SIGN}"

#: Squares of larger numbers, summed over rows, leave the range of float64.
LARGEST = np.float64(1e140)  # as a float64, so that float32 tables are compared in float64


def describe_number(value: float) -> tuple[str, str]:
    """What is wrong with a number that is NaN, infinite or too large, and what to do about it."""
    if np.isnan(value):
        return "NaN", "Impute it, for example with sklearn.impute.SimpleImputer, or drop the row."
    if np.isinf(value):
        return "infinity", "Replace it by a number in the column's range, or drop the row."
    return f"a value too large ({value:g})", "Rescale the column, or mend the value."


def number_text(value: float, digits: int = 4) -> str:
    """A number with about `digits` digits, never fewer than its whole part, and a real minus."""
    size = abs(float(value))
    text = f"{size:.0f}" if 10 ** (digits - 1) <= size < 1e15 else f"{size:.{digits}g}"
    return MINUS + text if value < 0 else text
