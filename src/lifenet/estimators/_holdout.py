"""Rows that no member sees, on which the read-out's penalty is chosen."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.kernels.hashing import hash_rows
from lifenet.mixture import Fold
from lifenet.readouts.design import HeldOut
from lifenet.solvers.base import Problem

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.blocks import ArrayRows
    from lifenet.estimators._base import Prepared

__all__ = ["fingerprint", "first_fold", "hold_out", "make_folds"]

# "auto" holds out this much weight, but never more or less than these shares.
_WEIGHT, _LEAST_SHARE, _MOST_SHARE = 2000, 0.1, 0.2
# With less weight held out, or fewer distinct rows in all, they say too little;
# generalised cross-validation serves then.
_LEAST_WEIGHT, _FEWEST_DISTINCT = 20, 100


def hold_out(
    prepared: Prepared, validation: Any, X: Any, y: Any, groups: Any, seed: int
) -> HeldOut | None:
    """Set rows apart as asked: by share, or by the last split of a splitter; None for no rows.

    A share is drawn by a hash of the rows' values: equal rows are held out together, so that
    weights equal repeated rows, and their order does not matter.
    """
    rows = prepared.rows
    if validation is None:
        return None
    if isinstance(validation, str):
        share = float(np.clip(_WEIGHT / rows.total_weight, _LEAST_SHARE, _MOST_SHARE))
        hashes = _hashes(rows, seed)
        judge = hashes < share
        if not _serves(prepared, hashes, judge):
            return None
        learn = ~judge
    elif isinstance(validation, Real):
        judge = _hashes(rows, seed) < float(validation)
        learn = ~judge
    else:
        learn, judge = _last_split(validation, X, y, groups, rows)
    _check(prepared, learn, judge, validation)
    return HeldOut(_part(prepared, learn), _part(prepared, judge))


def make_folds(
    prepared: Prepared,
    validation: Any,
    X: Any,
    y: Any,
    groups: Any,
    seed: int,
    n_folds: int,
    *,
    once_more: bool = False,
) -> list[Fold] | None:
    """Folds, each with the rows to learn from; None where rows or classes are too few for them.

    By "auto" a fold is drawn by a hash of the rows' values, as `hold_out` does; a share is one
    fold of that size, a splitter has its own, and None is no fold at all.

    Parameters
    ----------
    n_folds : by "auto"; fewer where rows are too few for so many
    once_more : whether "auto" has one fold more, which shares rows with the others: there, two
        networks have not seen the same rows
    """
    rows, problem = prepared.rows, prepared.problem
    if validation is None:
        return [Fold(problem, None)]
    if isinstance(validation, str):
        drawn = _draw_folds(prepared, seed, n_folds, once_more=once_more)
        if drawn is None:
            return None
        parts = drawn
    elif isinstance(validation, Real):
        judge = _hashes(rows, seed) < float(validation)
        parts = [(~judge, judge)]
    else:
        parts = [_inside(rows, one) for one in validation.split(X, y, groups)]
    for learn, judge in parts:
        _check(prepared, learn, judge, validation)
    return [
        Fold(_part(prepared, learn), _part(prepared, judge), np.flatnonzero(judge))
        for learn, judge in parts
    ]


def _draw_folds(
    prepared: Prepared, seed: int, n_folds: int, *, once_more: bool
) -> list[tuple[Bools, Bools]] | None:
    """Rows to learn from and rows apart of as many folds as the rows allow for."""
    rows = prepared.rows
    hashes = _hashes(rows, seed)
    again = _hashes(rows, seed + 1) if once_more else None
    for n in range(n_folds, 1, -1):
        number = _fold_of(hashes, n)
        judges = [number == one for one in range(n)]
        if again is not None:
            judges.append(_fold_of(again, n) == 0)
        judges = [_leave_classes(prepared, judge) for judge in judges]
        if all(_serves(prepared, hashes, judge) for judge in judges):
            return [(~judge, judge) for judge in judges]
    return None


def _leave_classes(prepared: Prepared, judge: Bools) -> Bools:
    """Rows apart without those of classes of which none would be left to learn from."""
    missing = _missing_classes(prepared, ~judge)
    return judge & ~np.isin(prepared.rows.target, missing) if missing else judge


def first_fold(prepared: Prepared, seed: int, n_folds: int) -> HeldOut | None:
    """The first of such folds, of rows that need not be those of the fit; None as above."""
    hashes = _hashes(prepared.rows, seed)
    judge = _leave_classes(prepared, _fold_of(hashes, n_folds) == 0)
    if not _serves(prepared, hashes, judge):
        return None
    return HeldOut(_part(prepared, ~judge), _part(prepared, judge))


def fingerprint(prepared: Prepared) -> float:
    """A number that tells these rows from others, whatever their order."""
    return float(np.sort(_hashes(prepared.rows, 0)).sum())


def _fold_of(hashes: Floats, n_folds: int) -> Integers:
    """Number of each row's fold."""
    return np.minimum((hashes * n_folds).astype(np.intp), n_folds - 1)


def _part(prepared: Prepared, inside: Bools) -> Problem:
    return Problem(prepared.rows.take(np.flatnonzero(inside)), prepared.problem.loss)


def _hashes(rows: ArrayRows, seed: int) -> Any:
    return hash_rows(rows.X if rows.index is None else rows.X[rows.index], seed)


def _last_split(splitter: Any, X: Any, y: Any, groups: Any, rows: ArrayRows) -> tuple[Bools, Bools]:
    """Rows to learn from and rows to judge by. Of time, the last split sees most of the past."""
    *_, last = splitter.split(X, y, groups)
    return _inside(rows, last)


def _inside(rows: ArrayRows, split: Any) -> tuple[Bools, Bools]:
    """Which rows are in each part of a split, of those that have weight."""
    parts = []
    for places in split:
        inside = np.zeros(len(rows.X), dtype=bool)
        inside[places] = True
        parts.append(inside if rows.index is None else inside[rows.index])
    return parts[0], parts[1]


def _serves(prepared: Prepared, hashes: Any, judge: Bools) -> bool:
    """Whether both parts can do their work: enough rows, distinct ones, and all classes."""
    weight = prepared.rows.weight
    if min(weight[judge].sum(), weight[~judge].sum()) < _LEAST_WEIGHT:
        return False
    if len(np.unique(hashes)) < _FEWEST_DISTINCT:
        return False
    return not _missing_classes(prepared, ~judge)


def _missing_classes(prepared: Prepared, learn: Bools) -> list[int]:
    """Codes of classes of which nothing is left to learn from."""
    if prepared.classes is None:
        return []
    target = prepared.rows.target
    return sorted({int(code) for code in target} - {int(code) for code in target[learn]})


def _check(prepared: Prepared, learn: Bools, judge: Bools, validation: Any) -> None:
    if not judge.any() or learn.sum() < 2:
        raise ValueError(
            f"validation={validation!r} holds out {int(judge.sum())} of {len(judge)} rows and "
            f"leaves {int(learn.sum())}; at least one must be held out and two be left. "
            "Use another share or splitter, or None."
        )
    missing = _missing_classes(prepared, learn)
    if missing:
        assert prepared.classes is not None
        raise ValueError(
            f"validation={validation!r} holds out all rows of the classes "
            f"{prepared.classes[missing].tolist()}; nothing is left to learn them from. "
            "Use another splitter, or None."
        )
