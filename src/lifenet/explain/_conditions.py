"""Conditions that bound a region, in the words of the user's table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.numbers import MINUS
from lifenet.tables import MISSING, TRUTHS, value_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet.explain._partition import Box
    from lifenet.schema import FeatureSchema
    from lifenet.tables import Feature

__all__ = ["conditions_of"]


def conditions_of(box: Box, schema: FeatureSchema, names: Sequence[str]) -> tuple[str, ...]:
    """The conditions of a region, each as text; none for all rows."""
    sides = {column: (low, high) for column, low, high in box.sides}
    features = {one.columns[0]: one for one in schema.features if one.kind != "category"}
    indicators, gaps, said = set(schema.indicators), schema.gaps, []
    for column, (low, _) in sides.items():
        kind = features[column].kind if column in features else "number"
        if column in indicators:
            said += _of_indicator(column, np.isfinite(low), names, gaps, sides)
        elif kind == "boolean":
            truth = TRUTHS[int(np.isfinite(low))]
            said.append(f"{names[column]} = {truth}")
        else:
            said += _of_number(column, sides, names, features.get(column), gaps)
    return tuple(said)


def _of_indicator(
    column: int,
    holds: bool,
    names: Sequence[str],
    gaps: dict[int, int],
    sides: dict[int, tuple[float, float]],
) -> list[str]:
    """That something is the case, or is not."""
    if holds:
        return [names[column]]
    values = [value for value, gone in gaps.items() if gone == column]
    if any(value in sides for value in values):
        return []  # the condition on the value says that there is one
    if " = " in names[column]:
        return [names[column].replace(" = ", " ≠ ", 1)]
    return [f"not: {names[column]}"]


def _of_number(
    column: int,
    sides: dict[int, tuple[float, float]],
    names: Sequence[str],
    feature: Feature | None,
    gaps: dict[int, int],
) -> list[str]:
    (low, high), kind = sides[column], "number" if feature is None else feature.kind
    below, above = _end(low, kind), _end(high, kind)
    if np.isfinite(low) and np.isfinite(high):
        text = f"{below} < {names[column]} <= {above}"
    else:
        text = f"{names[column]} > {below}" if np.isfinite(low) else f"{names[column]} <= {above}"
    if feature is None or feature.missing is None or column not in gaps:
        return [text]
    gone = sides.get(gaps[column])
    if gone is not None:
        # All are missing, or none is.
        return [] if np.isfinite(gone[0]) else [text]
    return [f"({text} or {MISSING})"] if low < feature.neutral <= high else [text]


def _end(value: float, kind: str) -> str:
    """An end of a range, so exact that it tells values apart."""
    if np.isfinite(value) and kind in ("date", "duration"):
        return value_text(value, kind, 12)
    text = f"{abs(value):.12g}"
    return MINUS + text if value < 0 else text
