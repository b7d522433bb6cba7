"""Names for the arrays that pass through the library."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Bools", "Floats", "Integers", "Weights"]

#: A floating-point array. Training is in float64; networks and inputs may be float32.
Floats: TypeAlias = npt.NDArray[np.floating]
Bools: TypeAlias = npt.NDArray[np.bool_]
Integers: TypeAlias = npt.NDArray[np.integer]
#: Weights of a layer: an array, or a CSR array of SciPy where most are zero. The stubs of the two
#: have no operation in common.
Weights: TypeAlias = Any
