"""Names for the arrays that pass through the library."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Integers"]

#: A floating-point array. Training is in float64; networks and inputs may be float32.
Floats: TypeAlias = npt.NDArray[np.floating]
Bools: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.integer]
