"""Rows of two classes that a linear score separates without error, after Albert and Anderson."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg, optimize, sparse

from lifenet.kernels.lstsq import triangle

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats

__all__ = ["row_space", "separated_rows"]

#: Singular values of standardised columns below this share of the largest count as none.
_NULL_SINGULAR = 1e-9
#: Log-odds on its own side beyond which a row may be one that can be separated.
_FAR = 8.0
#: Moves of a row by less than this are rounding.
_NO_MOVE = 1e-8


def row_space(design: Floats, weight: Floats) -> tuple[Floats, Floats]:
    """Directions in which the rows differ, scaled so that the design is orthonormal in them.

    Returns
    -------
    basis (c, rank) with ``basis' design' W design basis = 1``; null (c, c - rank), orthonormal,
    which the design maps to zero
    """
    if not len(design):
        return np.empty((design.shape[1], 0)), np.eye(design.shape[1])
    factor = triangle(np.sqrt(weight)[:, None] * design)
    _, singular, directions = linalg.svd(factor, check_finite=False)
    rank = int((singular > _NULL_SINGULAR * singular[0]).sum())
    return directions[:rank].T / singular[:rank], directions[rank:].T


def separated_rows(design: Floats, side: Floats, weight: Floats, point: Floats) -> Bools:
    """Rows that some direction moves to their side while it moves none away from it.

    Along it the likelihood rises for ever; the other rows, which it does not move, have a best
    equation. Newton's method has taken all such rows far, but not only such rows.

    Parameters
    ----------
    side : (n,), the sign of the score along which a row's loss falls for ever, or zero
    point : (c,), where the method ended
    """
    far = side * (design @ point) > _FAR
    _, null = row_space(design[~far], weight[~far])
    moves = side[:, None] * (design @ null)
    places = np.flatnonzero(np.abs(moves).max(axis=1, initial=0.0) > _NO_MOVE)
    places = places[far[places]]
    moves = moves[places]
    if not (moves @ (null.T @ point) > _NO_MOVE).all():
        places = places[_movable(moves)]
    separated = np.zeros(len(design), dtype=bool)
    separated[places] = True
    return separated


def _movable(moves: Floats) -> Bools:
    """Which rows have ``moves z > 0`` for some z with ``moves z >= 0`` in all, (n,).

    The sum of two such z is another, so one linear programme, ``max sum_i t_i`` over ``0 <= t_i <=
    1`` and ``t <= moves z``, finds them all (Konis, 2007).
    """
    n, k = moves.shape
    found = optimize.linprog(
        np.append(np.zeros(k), -np.ones(n)),
        A_ub=sparse.hstack([sparse.csr_matrix(-moves), sparse.identity(n)], format="csr"),
        b_ub=np.zeros(n),
        bounds=[(None, None)] * k + [(0, 1)] * n,
    )
    # Without a solution none is taken for separated: the fit will not settle, and say so.
    return np.zeros(n, dtype=bool) if found.x is None else np.asarray(found.x[k:] > 0.5)
