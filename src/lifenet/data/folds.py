"""Training and validation rows: a hold-out, or the folds of cross-fitting.

Rows are drawn by a hash of the user's own values: equal rows stay together, so that weights equal
repeated rows; the order of the rows does not matter; and no last digit of a code, which another
machine may round otherwise, decides which fold a row is in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet.data.problem import Problem
from lifenet.kernels.hashing import hash_rows

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.data.coded_rows import CodedRows
    from lifenet.data.columns import CodedColumns
    from lifenet.data.inputs import Inputs
    from lifenet.data.interactions import Interactions
    from lifenet.data.moves import Smoothing
    from lifenet.data.rows import ArrayRows

__all__ = ["CrossFit", "Fold", "Holdout", "TooFewRows", "fingerprint", "with_own_codes"]

# "auto" holds out this much weight, but never more or less than these shares.
_WEIGHT, _LEAST_SHARE, _MOST_SHARE = 2000, 0.1, 0.2
# A part of the rows, training or validation, of less weight says too little.
_LEAST_WEIGHT = 20


class TooFewRows(ValueError):
    """Too few rows differ, or a class has too few of them, for the folds that were asked for."""


@dataclass(frozen=True)
class Fold:
    """The parts of the rows that a network is made from.

    Attributes
    ----------
    train : neurons are trained on these rows
    validation : these rows choose penalties, weights and when to stop; None where there are none
    fit : the coefficients of the output layer are fitted to these rows: all of them, or `train`
    index : of the validation rows among those that have weight, where there are some
    key : what seeds of this fold are keyed by; nothing for the one fold of a hold-out
    columns : which codes belong to which column; None where the inputs are no "full" codes
    shared : validation rows, of several folds, on which the networks of all folds are compared
    smoothing : what a straighter function may cost; None where nothing is paid for it
    interactions : which columns a neuron may read together; None for all
    """

    train: Problem
    validation: Problem | None
    fit: Problem
    index: Integers | None = None
    key: tuple[int, ...] = ()
    columns: CodedColumns | None = None
    shared: tuple[Problem, ...] = ()
    smoothing: Smoothing | None = None
    interactions: Interactions | None = None

    @classmethod
    def whole(
        cls, problem: Problem, columns: CodedColumns | None = None, key: tuple[int, ...] = ()
    ) -> Fold:
        """All rows, without validation rows."""
        return cls(problem, None, problem, None, key, columns)

    def training_only(self) -> Fold:
        """The same fold, whose coefficients are fitted to the training rows."""
        return replace(self, fit=self.train)

    @property
    def refits(self) -> bool:
        """Whether coefficients are fitted to more rows than the neurons were trained on."""
        return self.fit is not self.train


@dataclass(repr=False)
class Holdout(Settings):
    """One fold: neurons see the training rows, the output layer is then fitted to all rows.

    Parameters
    ----------
    min_rows : int, default=100
        Fewest distinct rows for which some are held out; with fewer, generalised
        cross-validation chooses penalties on all rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "min_rows": [Interval(Integral, 2, None, closed="left")],
    }

    min_rows: int = 100

    def folds(self, data: Inputs, seed: int) -> list[Fold]:
        """The one fold. Of a splitter's splits it is the last, which has the longest past."""
        validation = data.validation
        if validation is None:
            return [Fold.whole(data.problem, data.columns)]
        if isinstance(validation, str):
            share = float(np.clip(_WEIGHT / data.rows.total_weight, _LEAST_SHARE, _MOST_SHARE))
            hashes = _hashes(data, seed)
            chosen = hashes < share
            if not _serves(data, hashes, chosen, self.min_rows):
                return [Fold.whole(data.problem, data.columns)]
        elif isinstance(validation, Real):
            chosen = _hashes(data, seed) < float(validation)
        else:
            return [_fold(data, *_splits(data)[-1], refit=True)]
        return [_fold(data, ~chosen, chosen, refit=True)]


@dataclass(repr=False)
class CrossFit(Settings):
    """Several folds: each network is fitted to the rows outside its fold, and all are averaged.

    Parameters
    ----------
    n_folds : int, "auto" or "more", default="auto"
        Folds, and so networks that are averaged. "auto" takes 4, or 5 below 3,000 rows; "more" 7,
        or 5 from 20,000 rows on. Fewer where rows are too few.
    extra_fold : bool, default=False
        Whether there is one fold more, which shares validation rows with the others. There, two
        networks have not seen the same rows, so that the variance of a network can be estimated.
    min_rows : int, default=100
        Fewest distinct rows. With fewer, cross-fitting is refused.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_folds": [Interval(Integral, 2, None, closed="left"), StrOptions({"auto", "more"})],
        "extra_fold": ["boolean"],
        "min_rows": [Interval(Integral, 2, None, closed="left")],
    }

    n_folds: int | str = "auto"
    extra_fold: bool = False
    min_rows: int = 100

    def folds(self, data: Inputs, seed: int) -> list[Fold]:
        """All folds: drawn, those of a splitter, or a single one for a share of the rows.

        Raises
        ------
        TooFewRows
            Where rows or classes are too few.
        """
        if data.validation is None:
            return [Fold.whole(data.problem, data.columns, (0,))]
        if isinstance(data.validation, str):
            parts = self._draw(data, seed)
        elif isinstance(data.validation, Real):
            chosen = _hashes(data, seed) < float(data.validation)
            parts = [(~chosen, chosen)]
        else:
            parts = _splits(data)
        return [
            _fold(data, train, chosen, refit=False, key=(number,))
            for number, (train, chosen) in enumerate(parts)
        ]

    def first(self, data: Inputs, seed: int, n_folds: int) -> Fold | None:
        """The first of drawn folds, of rows that need not be those of the fit; None of too few."""
        hashes = _hashes(data, seed)
        chosen = _keep_classes(data, _fold_of(hashes, n_folds) == 0)
        if not _serves(data, hashes, chosen, self.min_rows):
            return None
        return _fold(data, ~chosen, chosen, refit=False)

    def _draw(self, data: Inputs, seed: int) -> list[tuple[Bools, Bools]]:
        """Training and validation rows of as many folds as the rows allow for."""
        hashes = _hashes(data, seed)
        again = _hashes(data, seed + 1) if self.extra_fold else None
        for n in range(int(self.n_folds), 1, -1):
            number = _fold_of(hashes, n)
            parts = [number == one for one in range(n)]
            if again is not None:
                parts.append(_fold_of(again, n) == 0)
            parts = [_keep_classes(data, chosen) for chosen in parts]
            if all(_serves(data, hashes, chosen, self.min_rows) for chosen in parts):
                return [(~chosen, chosen) for chosen in parts]
        raise TooFewRows(
            f"Too few of the {data.rows.n_rows} rows can be folds: cross-fitting takes "
            f"{self.min_rows} distinct rows or more, {_least(self.min_rows)} in each part, and "
            "some of every class in each training part."
        )


def with_own_codes(data: Inputs, folds: list[Fold]) -> list[Fold]:
    """Folds whose codes by the target were made from their training rows alone.

    A training row's code is made from other training rows, a validation row's from all of them: so
    no row is seen in a code before it is held out, nor its own target in its own code.
    """
    if data.crossfitted is None:
        return folds
    found = []
    for fold in folds:
        X = data.crossfitted.table(data.X, _index_of(fold.train))
        train = _on(fold.train, X)
        validation = None if fold.validation is None else _on(fold.validation, X)
        fit = _on(fold.fit, X) if fold.refits else train
        found.append(replace(fold, train=train, validation=validation, fit=fit))
    return found


def _index_of(problem: Problem) -> Integers | None:
    return cast("ArrayRows | CodedRows", problem.rows).index


def _on(problem: Problem, X: Floats) -> Problem:
    """The same rows of another table."""
    rows = replace(cast("ArrayRows | CodedRows", problem.rows), X=X)
    return replace(problem, rows=rows)


def fingerprint(data: Inputs) -> float:
    """A number that tells these rows from others, whatever their order."""
    return float(np.sort(_hashes(data, 0)).sum())


def _fold(
    data: Inputs, train: Bools, chosen: Bools, *, refit: bool, key: tuple[int, ...] = ()
) -> Fold:
    """A fold, after a check that both parts can do their work."""
    _check(data, train, chosen)
    training, validation = _part(data, train), _part(data, chosen)
    fit = data.problem if refit else training
    return Fold(training, validation, fit, np.flatnonzero(chosen), key, data.columns)


def _part(data: Inputs, inside: Bools) -> Problem:
    return Problem(data.rows.take(np.flatnonzero(inside)), data.problem.loss)


def _hashes(data: Inputs, seed: int) -> Floats:
    """A number of each row that depends on the user's own values and on nothing computed."""
    return hash_rows(data.identity, seed)


def _fold_of(hashes: Floats, n_folds: int) -> Integers:
    """Number of each row's fold."""
    return np.minimum((hashes * n_folds).astype(np.intp), n_folds - 1)


def _splits(data: Inputs) -> list[tuple[Bools, Bools]]:
    """Training and validation rows of a splitter's splits, of those that have weight."""
    return [
        (_inside(data.rows, train), _inside(data.rows, chosen))
        for train, chosen in data.validation.split(*data.given)
    ]


def _inside(rows: ArrayRows | CodedRows, index: Any) -> Bools:
    inside = np.zeros(len(rows.X), dtype=bool)
    inside[index] = True
    return inside if rows.index is None else inside[rows.index]


def _keep_classes(data: Inputs, chosen: Bools) -> Bools:
    """Validation rows without those of classes of which none would be left to train on."""
    missing = _missing_classes(data, ~chosen)
    return chosen & ~np.isin(data.rows.target, missing) if missing else chosen


def _serves(data: Inputs, hashes: Floats, chosen: Bools, min_rows: int) -> bool:
    """Whether both parts can do their work: enough rows, distinct ones, and all classes."""
    weight = data.rows.weight
    if min(weight[chosen].sum(), weight[~chosen].sum()) < _least(min_rows) or not chosen.any():
        return False
    if len(np.unique(hashes)) < min_rows:
        return False
    return not _missing_classes(data, ~chosen)


def _least(min_rows: int) -> int:
    """Least weight of each part: a fifth of the fewest rows, 20 at most."""
    return min(_LEAST_WEIGHT, min_rows // 5)


def _missing_classes(data: Inputs, train: Bools) -> list[int]:
    """Codes of classes of which no row is left to train on."""
    if data.classes is None:
        return []
    target = data.rows.target
    return sorted({int(code) for code in target} - {int(code) for code in target[train]})


def _check(data: Inputs, train: Bools, chosen: Bools) -> None:
    if not chosen.any() or train.sum() < 2:
        raise ValueError(
            f"validation={data.validation!r} holds out {int(chosen.sum())} of {len(chosen)} rows "
            f"and leaves {int(train.sum())}; at least one must be held out and two be left. "
            "Use another share or splitter, or None."
        )
    missing = _missing_classes(data, train)
    if missing:
        assert data.classes is not None
        raise ValueError(
            f"validation={data.validation!r} holds out all rows of the classes "
            f"{data.classes[missing].tolist()}; no training row of them is left. "
            "Use another splitter, or None."
        )
