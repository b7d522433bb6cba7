"""Features that are categories, as levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.explain._sample import sums_by
from lifenet.kernels.quantiles import weighted_quantiles
from lifenet.tables import MISSING, OTHER

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.explain._sample import Sample
    from lifenet.tables import CategoryCode

__all__ = ["BASE_LEVEL", "Levels", "coded_levels", "levels_of"]

#: More patterns than this are not the levels of a category.
MOST_LEVELS = 200
#: What the level without a dummy of its own is called.
BASE_LEVEL = "base level"
#: So many levels that are the same to a network are named; the others are counted.
_NAMED = 3


@dataclass(frozen=True, eq=False)
class Levels:
    """The levels of a category: the patterns that its columns have in the rows.

    Attributes
    ----------
    columns : of the feature
    patterns : ndarray of shape (n_levels, len(columns))
    labels : one a level
        Of a column of the user's table its own names, and "missing". Of dummies the name of the
        column that is set, or of all that are.
    of_row : ndarray of int, shape (n_samples,)
    share : ndarray of shape (n_levels,), weight of the rows at each level
    rest : the level that stands for all without an indicator; None where each has its own
    """

    columns: tuple[int, ...]
    patterns: Floats
    labels: tuple[str, ...]
    of_row: Integers
    share: Floats
    rest: int | None = None

    def put(self, X: Floats, level: int) -> Floats:
        """A copy of the table with every row at one level."""
        table = X.copy()
        table[:, list(self.columns)] = self.patterns[level]
        return table


def levels_of(sample: Sample, feature: int, most: int = MOST_LEVELS) -> Levels:
    """Read the levels of a feature from the rows.

    Of a category of the user's table with more than `most` patterns, levels without an indicator
    are one, "other levels", with the median of what is expected there.
    """
    columns, table = sample.groups[feature], sample.schema.table
    # Of the negative, so that dummies come in the order of their columns.
    turned, of_row = np.unique(-sample.X[:, list(columns)], axis=0, return_inverse=True)
    patterns, of_row = 0.0 - turned, of_row.ravel()
    share = sums_by(of_row, sample.weight, len(patterns))
    code = None if table is None else table.category_of(columns)
    if code is not None:
        found = Levels(columns, patterns, _names(code, patterns), of_row, share)
        if len(patterns) > most:
            found = _joined(code, found)
        return _in_order(code, found)
    if len(patterns) > MOST_LEVELS:
        raise ValueError(
            f"Feature {sample.features[feature]!r} has {len(columns)} columns with "
            f"{len(patterns)} different patterns: too many for the levels of a category. Give "
            "each of its columns a group of its own in the schema."
        )
    names = [sample.names[column] for column in columns]
    labels = tuple(_label(names, pattern, sample.features[feature]) for pattern in patterns)
    return Levels(columns, patterns, labels, of_row, share)


def coded_levels(code: CategoryCode) -> tuple[Floats, tuple[str, ...]]:
    """Patterns of all levels of training, the most frequent first, and missing; and their names."""
    n = len(code.levels)
    ids = np.append(np.arange(n), [n + 1] if code.knows_missing else []).astype(np.intp)
    patterns = code.patterns(ids)
    _, first = np.unique(patterns, axis=0, return_index=True)
    patterns = patterns[np.sort(first)]
    return patterns, _names(code, patterns)


def _names(code: CategoryCode, patterns: Floats) -> tuple[str, ...]:
    """What patterns are called: by the levels that have them."""
    n, texts = len(code.levels), code.level_names()
    known: dict[bytes, list[str]] = {}
    for pattern, text in zip(code.patterns(np.arange(n)), texts, strict=True):
        known.setdefault((0.0 + pattern).tobytes(), []).append(text)
    unseen, gone = (0.0 + one for one in code.patterns(np.array([n, n + 1])))
    if code.unseen >= 0 and code.unseen != code.own[0]:  # rare levels share an indicator
        known[unseen.tobytes()] = [OTHER]
    known.setdefault(unseen.tobytes(), ["unseen level"])
    if code.knows_missing:
        known[gone.tobytes()] = [MISSING]
    return tuple(_joint_name(known.get((0.0 + one).tobytes(), ["?"])) for one in patterns)


def _joint_name(names: list[str]) -> str:
    if len(names) <= _NAMED:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} more"


def _own(code: CategoryCode, patterns: Floats) -> Bools:
    """Which patterns have an indicator of their own."""
    return np.asarray(patterns[:, : len(code.indicators)].any(axis=1))


def _joined(code: CategoryCode, found: Levels) -> Levels:
    """Levels without an indicator as one."""
    own = _own(code, found.patterns)
    place = np.where(own, np.cumsum(own) - 1, own.sum())
    half, rest = np.array([0.5]), found.patterns[~own]
    middle = [weighted_quantiles(column, found.share[~own], half)[0] for column in rest.T]
    labels = (*(label for label, one in zip(found.labels, own, strict=True) if one), OTHER)
    patterns = np.vstack([found.patterns[own], middle])
    share = sums_by(place, found.share, len(patterns))
    return Levels(found.columns, patterns, labels, place[found.of_row], share, int(own.sum()))


def _in_order(code: CategoryCode, found: Levels) -> Levels:
    """As often as training had them; then levels without a name of their own, and missing."""
    _, names = coded_levels(code)
    rank = {name: number for number, name in enumerate(names)}
    last = {OTHER: len(rank) + 1, MISSING: len(rank) + 2}
    order = np.argsort([{**rank, **last}.get(one, len(rank)) for one in found.labels])
    return Levels(
        found.columns,
        found.patterns[order],
        tuple(found.labels[one] for one in order),
        np.argsort(order)[found.of_row],
        found.share[order],
        None if found.rest is None else int(np.argsort(order)[found.rest]),
    )


def _label(names: list[str], pattern: Floats, feature: str) -> str:
    """What a pattern is called: "A" for the dummy "sex_A" of "sex", "base level" for none set."""
    parts = []
    for name, value in zip(names, pattern, strict=True):
        if value:
            short = name.removeprefix(feature).lstrip("_=. ") or name
            parts.append(short if value == 1 else f"{short}={value:g}")
    return ", ".join(parts) or BASE_LEVEL
