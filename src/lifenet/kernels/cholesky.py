"""Cholesky's factor, and solutions with it, by LAPACK, while other threads go on.

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

__all__ = ["factor_in_place", "solve_factored"]

# LAPACK's letters of precisions.
_KINDS = {np.dtype(np.float32): "s", np.dtype(np.float64): "d"}


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
    potrf, kind = _FACTOR[matrix.dtype], _KINDS[matrix.dtype]
    if potrf is None or not matrix.flags.c_contiguous:
        factor, info = getattr(lapack, f"{kind}potrf")(matrix.T, lower=False, clean=False)
        matrix[:] = factor.T
        return bool(info == 0)
    # Rows in memory are LAPACK's columns: its upper triangle is our lower one.
    size, info = ctypes.c_int(len(matrix)), ctypes.c_int(0)
    n, found = ctypes.byref(size), ctypes.byref(info)
    potrf(b"U", n, matrix.ctypes.data, n, found)
    return info.value == 0


def solve_factored(factor: Floats, right: Floats) -> Floats:
    """Solve ``L L' x = right``.

    Parameters
    ----------
    factor : (m, m), what `factor_in_place` left
    right : (m,) or (m, k), of the same precision
    """
    potrs, kind = _SOLVE[factor.dtype], _KINDS[factor.dtype]
    if potrs is None or not factor.flags.c_contiguous:
        return np.asarray(getattr(lapack, f"{kind}potrs")(factor.T, right, lower=False)[0])
    columns = np.array(right.T, order="C")
    n_right = 1 if right.ndim == 1 else right.shape[1]
    n, k, info = (ctypes.byref(ctypes.c_int(one)) for one in (len(factor), n_right, 0))
    potrs(b"U", n, k, factor.ctypes.data, n, columns.ctypes.data, n, info)
    return columns.T


def _routines(name: str, arguments: str) -> dict[Any, Any]:
    """LAPACK's routine for each precision, or None where its arguments are not those expected.

    Parameters
    ----------
    arguments : a letter each, c for a character, i for an integer, a for an array
    """
    return {dtype: _routine(f"{kind}{name}", arguments) for dtype, kind in _KINDS.items()}


def _routine(name: str, arguments: str) -> Any:
    pointer: Any = ctypes.c_void_p
    capsule = getattr(cython_lapack, "__pyx_capi__", {}).get(name)
    if capsule is None:
        return None
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype = ctypes.c_char_p
    api.PyCapsule_GetName.argtypes = [ctypes.py_object]
    api.PyCapsule_GetPointer.restype = pointer
    api.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
    signature = api.PyCapsule_GetName(capsule)
    kinds = [one.strip() for one in signature.decode().partition("(")[2].rstrip(")").split(",")]
    letters = {"char *": "c", "int *": "i"}
    if "".join(letters.get(one, "a") for one in kinds) != arguments:
        return None
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_char_p, *(pointer,) * (len(kinds) - 1))
    return prototype(api.PyCapsule_GetPointer(capsule, signature))


_FACTOR, _SOLVE = _routines("potrf", "ciaii"), _routines("potrs", "ciiaiaii")
