"""What codes say of the columns that they were made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers

__all__ = ["CodedColumns"]


@dataclass(frozen=True, eq=False)
class CodedColumns:
    """Which codes belong to which column, all in the standardised units of training.

    A column without ramps does not vary.

    Attributes
    ----------
    n_codes : in all
    value : (n_columns,), the code that rises with each column
    smooth : codes that bend little: values and normal scores, and columns as they are
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
