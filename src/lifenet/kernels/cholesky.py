"""Cholesky's factor by LAPACK, while other threads go on.

scipy's wrappers of LAPACK hold the interpreter's lock, and numpy's factor takes three to six times
as long (copies in another order). So LAPACK is called by ctypes, at the address that scipy keeps
for compiled code. Where scipy keeps another signature there, its wrapper is used.
"""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.linalg import cython_lapack, lapack

if TYPE_CHECKING:
    from lifenet._typing import Floats

__all__ = ["factor_in_place"]

# LAPACK's names by precision.
_ROUTINES = {np.dtype(np.float32): "spotrf", np.dtype(np.float64): "dpotrf"}


def factor_in_place(matrix: Floats) -> bool:
    """Replace the lower triangle of a symmetric matrix by its factor L, with ``L L' = matrix``.

    What stands above the diagonal afterwards means nothing.

    Parameters
    ----------
    matrix : (m, m), of single or double precision, row after row in memory

    Returns
    -------
    bool
        Whether the matrix is positive definite; where it is not, the triangle is not a factor.
    """
    call = _CALLS[matrix.dtype]
    if call is None or not matrix.flags.c_contiguous:
        return _by_wrapper(matrix)
    # Rows in memory are LAPACK's columns: its upper triangle is our lower one.
    size, info = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    call(b"U", ctypes.byref(size), matrix.ctypes.data, ctypes.byref(size), ctypes.byref(info))
    return info.value == 0


def _by_wrapper(matrix: Floats) -> bool:
    potrf = getattr(lapack, _ROUTINES[matrix.dtype])
    factor, info = potrf(matrix.T, lower=False, clean=False)
    matrix[:] = factor.T
    return bool(info == 0)


def _callable(name: str) -> Any:
    """LAPACK's routine, or None where its arguments are not those expected."""
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = ctypes.c_void_p
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = api.PyCapsule_GetName(capsule)
    kinds = [one.strip() for one in signature.decode().partition("(")[2].rstrip(")").split(",")]
    if len(kinds) != 5 or [kinds[k] for k in (0, 1, 3, 4)] != ["char *", "int *", "int *", "int *"]:
        return None
    pointer = ctypes.c_void_p
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, *(pointer,) * 4)
    return prototype(api.PyCapsule_GetPointer(capsule, signature))


_CALLS = {kind: _callable(name) for kind, name in _ROUTINES.items()}
