"""Rows that no member sees, on which the read-out's penalty is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.kernels.hashing import hash_rows
from lifenet.readouts.design import HeldOut
from lifenet.solvers.base import Problem

if TYPE_CHECKING:
    from lifenet._typing import Bools
    from lifenet.blocks import ArrayRows
    from lifenet.estimators._base import Prepared

__all__ = ["hold_out"]

# "auto" holds out this many rows, but never more or less than these shares.
_ROWS, _LEAST_SHARE, _MOST_SHARE = 2000, 0.1, 0.2
# With fewer rows held out than this they say too little; generalised cross-validation serves then.
_FEWEST = 20


def hold_out(
    prepared: Prepared, validation: Any, X: Any, y: Any, groups: Any, seed: int
) -> HeldOut | None:
    """Set rows apart as asked: by share, or the first split of a splitter; None for no rows.

    A share is drawn by a hash of the rows' values: equal rows are held out together, so that
    weights equal repeated rows, and their order does not matter.
    """
    rows = prepared.rows
    if validation is None:
        return None
    if isinstance(validation, str | float):
        apart = _by_hash(rows, validation, seed)
    else:
        apart = _first_split(validation, X, y, groups, rows)
    if isinstance(validation, str) and not _serves(rows, apart):
        return None
    learn, judge = np.flatnonzero(~apart), np.flatnonzero(apart)
    if len(judge) == 0 or len(learn) < 2:
        raise ValueError(
            f"validation={validation!r} holds out {len(judge)} of {rows.n_rows} rows; "
            "at least one must be held out and two be left. Use another share, or None."
        )
    loss = prepared.problem.loss
    return HeldOut(Problem(rows.take(learn), loss), Problem(rows.take(judge), loss))


def _by_hash(rows: ArrayRows, validation: float | str, seed: int) -> Bools:
    if isinstance(validation, str):
        share = float(np.clip(_ROWS / rows.n_rows, _LEAST_SHARE, _MOST_SHARE))
    else:
        share = validation
    present = rows.X if rows.index is None else rows.X[rows.index]
    return hash_rows(present, seed) < share


def _first_split(splitter: Any, X: Any, y: Any, groups: Any, rows: ArrayRows) -> Bools:
    _, held = next(iter(splitter.split(X, y, groups)))
    apart = np.zeros(len(rows.X), dtype=bool)
    apart[held] = True
    return apart if rows.index is None else apart[rows.index]


def _serves(rows: ArrayRows, apart: Bools) -> bool:
    """Whether both parts can do their work: enough rows, and all classes to learn from."""
    if apart.sum() < _FEWEST or (~apart).sum() < _FEWEST:
        return False
    target = rows.target
    if target.dtype.kind == "f" and len(np.unique(target[:1000])) > 100:
        return True
    return set(np.unique(target[~apart])) == set(np.unique(target))
