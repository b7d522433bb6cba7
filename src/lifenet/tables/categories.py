"""Learning how categories are coded: which levels have an indicator, and what is expected there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.shrinkage import crossfitted_means, shrunken_means
from lifenet.tables.codes import CategoryCode
from lifenet.tables.columns import text_of_level
from lifenet.tables.texts import OTHER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.tables.columns import Labels

__all__ = ["CrossFitted", "Targets", "category_code"]

#: Up to so many levels each has an indicator and none is expected anything (Zhu et al. 2024 and
#: RealMLP draw the line near there, too). Of more, the most frequent ones, so many at most.
FEW_LEVELS = 10
#: A level has an indicator from this weight on; those with less share one.
RARE = 5.0
#: Of many levels, those with this share of the rows have an indicator. Chosen by hand.
_FREQUENT = 0.01


@dataclass(frozen=True, eq=False)
class Targets:
    """What is expected at levels: the target, or for classes the indicators of all but the first.

    Attributes
    ----------
    values : (n, m)
    names : one each
    """

    values: Floats
    names: tuple[str, ...]


def category_code(name: str, labels: Labels, weight: Floats, targets: Targets) -> CategoryCode:
    """Of rows with positive weights."""
    counts: Floats = np.bincount(
        np.where(labels.codes < 0, len(labels.labels), labels.codes),
        weight,
        len(labels.labels) + 1,
    ).astype(np.float64)
    gone, counts = float(counts[-1]), counts[:-1]
    texts = [text_of_level(label) for label in labels.labels]
    order = [one for one in _order(counts, texts) if counts[one] > 0]
    mass = counts[order]
    many = len(order) > FEW_LEVELS
    least = max(RARE, _FREQUENT * weight.sum()) if many else RARE
    frequent = mass >= least
    frequent[FEW_LEVELS:] = False
    if not many and not frequent.any():
        frequent[:] = True
    if len(order) == 2 and frequent.all() and not gone:
        frequent[0] = False  # what one indicator says of two levels, a second need not
    pooled = not many and len(order) > 2 and not frequent.all()
    own, said = _indicators(name, [texts[one] for one in order], frequent, pooled)
    missing = len(said) if gone else -1
    said = (*said, f"{name} is missing") if gone else said
    used = targets if many else Targets(targets.values[:, :0], ())
    code = CategoryCode(
        name=name,
        levels=tuple(labels.labels[one] for one in order),
        own=own,
        indicators=said,
        unseen=len(said) - 1 - bool(gone) if pooled else (-1 if many else int(own[0])),
        missing=missing,
        expected=np.zeros((len(order), len(used.names))),
        expected_missing=np.zeros(len(used.names)),
        targets=_names(used.names),
        share=np.append(mass, gone) / weight.sum(),
    )
    return _with_expected(code, labels, weight, used) if many else code


def _order(counts: Floats, texts: Sequence[str]) -> list[int]:
    """The most frequent level first; of equally frequent ones the first in the alphabet."""
    return sorted(range(len(counts)), key=lambda one: (-counts[one], texts[one]))


def _indicators(
    name: str, texts: Sequence[str], frequent: Bools, pooled: bool
) -> tuple[Integers, tuple[str, ...]]:
    """The indicator of each level, and what they are called."""
    own = np.where(frequent, np.cumsum(frequent) - 1, -1)
    said = [f"{name} = {text}" for text, one in zip(texts, frequent, strict=True) if one]
    if pooled:
        own[~frequent] = len(said)
        said.append(f"{name} = {OTHER}")
    return own, tuple(said)


def _names(targets: Sequence[str]) -> tuple[str, ...]:
    return tuple(f"expected {target}" for target in targets)


def _with_expected(
    code: CategoryCode, labels: Labels, weight: Floats, targets: Targets
) -> CategoryCode:
    ids, n = code.ids(labels), len(code.levels)
    found = shrunken_means(ids, targets.values, weight, n + 2)
    return CategoryCode(
        code.name,
        code.levels,
        code.own,
        code.indicators,
        code.unseen,
        code.missing,
        found[:n],
        found[n + 1],
        code.targets,
        code.share,
    )


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Codes of what is expected at levels, for rows that took part in the expectation.

    A row must not see its own target in its code. In training the code of a rare level is the
    shrunken mean over the training rows of other parts. A level with an indicator has one code,
    the mean over all training rows: it has so many rows that its own says nothing, and codes that
    differ by part would tell the part. A validation row has the mean over all training rows, too.

    Attributes
    ----------
    ids : one an expected column's category, (n_rows,) each
    frequent : of each, which levels have an indicator, (n_levels,), unseen and missing ones last
    places : of the expected columns of each category in the table, (m,) each
    values : (n_rows, m), the targets
    weight : (n_rows,); 0 for rows that do not count
    part : (n_rows,), of which part each row is
    """

    ids: tuple[Integers, ...]
    frequent: tuple[Bools, ...]
    places: tuple[Integers, ...]
    values: Floats
    weight: Floats
    part: Integers

    def table(self, X: Floats, train: Integers | None = None) -> Floats:
        """A copy of the table with codes that only training rows take part in, (n_rows, p).

        Parameters
        ----------
        train : indices of the training rows; None for all
        """
        table = np.array(X, dtype=np.float64)
        inside = np.zeros(len(table), dtype=bool)
        inside[slice(None) if train is None else train] = True
        inside &= self.weight > 0
        for ids, frequent, places in zip(self.ids, self.frequent, self.places, strict=True):
            n_levels = len(frequent)
            seen = (ids[inside], self.values[inside], self.weight[inside])
            codes = shrunken_means(*seen, n_levels)[ids]
            apart = crossfitted_means(*seen, self.part[inside], n_levels)
            codes[inside] = np.where(frequent[ids[inside], None], codes[inside], apart)
            codes[ids == n_levels - 2] = 0.0  # unseen
            table[:, places] = codes
        return table
