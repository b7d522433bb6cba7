"""Which codes belong to which column, in the standardised units of training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.data.coded_rows import CodedRows
    from lifenet.data.rows import Scaling
    from lifenet.network import ColumnCoding

__all__ = ["CodedColumns", "code_groups", "coded_columns"]

# Codes of a bent column before its ramps: the value and the normal score.
_BEFORE_RAMPS = 2


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """The codes of each column: its value, its normal score and its ramps.

    A column without ramps does not vary.

    Attributes
    ----------
    n_codes : in all
    value : (n_columns,), the code that rises with each column
    smooth : codes that bend little: values, normal scores, and columns without knots
    ramps : for each column, its codes that rise over one bin, first to last, (r_j,)
    knots : for each column, heights of its value code where its ramps begin and end, (r_j + 1,)
    zero, one : (n_codes,), heights of a ramp's code below and above its bin
    """

    n_codes: int
    value: Integers
    smooth: Integers
    ramps: tuple[Integers, ...]
    knots: tuple[Floats, ...]
    zero: Floats
    one: Floats

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.value)

    def bins(self, column: int, heights: Floats) -> Integers:
        """The ramp of a column within which each height of its value code lies."""
        knots = self.knots[column]
        return np.clip(np.searchsorted(knots, heights, side="right") - 1, 0, len(knots) - 2)


def coded_columns(rows: CodedRows) -> CodedColumns:
    """Values, scores and ramps of a coding of the kind "full", on standardised rows."""
    assert rows.scaling is not None
    scaling, coding = rows.scaling, rows.coding
    zero, one = _heights(0.0, scaling), _heights(1.0, scaling)
    value, smooth, ramps, knots = [], [], [], []
    for column in range(coding.n_features):
        codes = np.arange(coding.n_codes)[coding.codes_of(column)]
        value.append(codes[0])
        smooth.append(codes[:_BEFORE_RAMPS])
        if len(codes) > 1:
            heights = _heights_of_ramps(coding.values_of(column))
            ramps.append(codes[_BEFORE_RAMPS:])
            knots.append((heights - scaling.center[codes[0]]) / scaling.scale[codes[0]])
        else:
            ends = _ends(rows, column, codes[0])
            ramps.append(codes if len(ends) else codes[:0])
            knots.append(ends)
            zero[codes[0]], one[codes[0]] = ends if len(ends) else (0.0, 1.0)
    return CodedColumns(
        coding.n_codes,
        np.asarray(value, dtype=np.intp),
        np.concatenate(smooth),
        tuple(ramps),
        tuple(knots),
        zero,
        one,
    )


def _heights_of_ramps(values: Floats) -> Floats:
    """Values of a column's value code where its ramps begin and end: not those beyond them."""
    risen = values[:, _BEFORE_RAMPS:].sum(axis=1)
    first = np.flatnonzero(risen == 0)[-1]
    last = np.flatnonzero(risen == values.shape[1] - _BEFORE_RAMPS)[0]
    return np.asarray(values[first : last + 1, 0])


def code_groups(coding: ColumnCoding | None) -> list[Integers] | None:
    """The codes of each column; None without codes."""
    if coding is None:
        return None
    return [np.arange(coding.n_codes)[coding.codes_of(j)] for j in range(coding.n_features)]


def _heights(value: float, scaling: Scaling) -> Floats:
    return np.asarray((value - scaling.center) / scaling.scale)


def _ends(rows: CodedRows, column: int, code: Integers) -> Floats:
    """Least and largest value of a column of two values, standardised; nothing where it is one."""
    assert rows.scaling is not None
    values = rows.coding.values_of(column)[:, 0]
    if rows.scaling.constant[code] or not len(values):
        return np.zeros(0)
    ends = values[[0, -1]]
    return np.asarray((ends - rows.scaling.center[code]) / rows.scaling.scale[code])
