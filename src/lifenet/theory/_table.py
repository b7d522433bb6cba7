"""Members' predictions with targets and weights, checked once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.theory._spaces import space_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

    from lifenet._typing import Floats, Integers
    from lifenet.theory._spaces import Space

__all__ = ["Table", "check_weights"]

# Rows whose losses are held at once, all members'.
_BLOCK_ROWS = 8192
# Weights may miss the sum one by this much, as printed ones do.
_SUM_SLACK = 1e-6


@dataclass(frozen=True, eq=False)
class Table:
    """Predictions of members; made by `of`, which checks.

    Rows of weight zero are left out, so that they count for nothing anywhere.

    Attributes
    ----------
    space : the loss
    predictions : (n_samples, n_members)
    target : (n_samples,)
    weight : (n_samples,), positive, with sum 1
    rows : (n_samples,), the place of each row in what was given
    """

    space: Space
    predictions: Floats
    target: Floats
    weight: Floats
    rows: Integers

    @classmethod
    def of(
        cls, space: str, predictions: Any, target: Any, sample_weight: npt.ArrayLike | None
    ) -> Table:
        """Check what a caller gave; errors name the row and the member, counted from 0."""
        loss = space_of(space)
        table = np.asarray(predictions, dtype=np.float64)
        if table.ndim != 2 or 0 in table.shape:
            raise ValueError(
                f"predictions must have shape (n_samples, n_members), one column a member; they "
                f"have shape {table.shape}."
            )
        y = _vector("target", target, len(table))
        weight = np.ones(len(table)) if sample_weight is None else _weights(sample_weight, table)
        rows = np.flatnonzero(weight > 0)
        if len(rows) < len(table):
            table, y, weight = table[rows], y[rows], weight[rows]
        found = cls(loss, table, y, weight / weight.sum(), rows)
        found._check_values(space)
        return found

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self.predictions.shape[1])

    def blocks(self) -> Iterator[slice]:
        """The rows, some thousands at a time."""
        for start in range(0, len(self.target), _BLOCK_ROWS):
            yield slice(start, start + _BLOCK_ROWS)

    def select(self, members: Integers) -> Table:
        """Some of the members, in an order."""
        chosen = self.predictions[:, members]
        return Table(self.space, chosen, self.target, self.weight, self.rows)

    def member_loss(self) -> Floats:
        """Mean loss of each member, (n_members,)."""
        total = np.zeros(self.n_members)
        for block in self.blocks():
            losses = self.space.value(self.target[block, None], self.predictions[block])
            total += self.weight[block] @ losses
        return total

    def _check_values(self, space: str) -> None:
        self._refuse(~np.isfinite(self.predictions), "is not finite; drop or mend such rows")
        if self.space.binary:
            self._check_shares(space)
        if space != "probability":
            return
        inside = (self.predictions >= 0) & (self.predictions <= 1)
        self._refuse(~inside, "is no probability; for log-odds, pass space='log-odds'")
        y = self.target[:, None]
        sure = ((self.predictions == 0) & (y > 0)) | ((self.predictions == 1) & (y < 1))
        self._refuse(
            sure,
            "rules out what came true, so that its loss is infinite; keep predictions away from "
            "0 and 1, as with np.clip(predictions, 1e-6, 1 - 1e-6)",
        )

    def _check_shares(self, space: str) -> None:
        bad = np.flatnonzero((self.target < 0) | (self.target > 1))
        if len(bad):
            raise ValueError(
                f"target must be 0, 1 or a share between them where space={space!r}; row "
                f"{self.rows[bad[0]]} has {self.target[bad[0]]:g}."
            )

    def _refuse(self, bad: npt.NDArray[np.bool_], why: str) -> None:
        if bad.any():
            row, member = np.argwhere(bad)[0]
            value = self.predictions[row, member]
            raise ValueError(
                f"predictions: {value:g} of member {member} in row {self.rows[row]} {why}."
            )


def check_weights(weights: npt.ArrayLike, n_members: int) -> Floats:
    """Weights on the simplex, (n_members,), with sum one to rounding."""
    found = np.asarray(weights, dtype=np.float64)
    if found.shape != (n_members,):
        raise ValueError(f"weights has shape {found.shape}; expected ({n_members},), one a member.")
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        raise ValueError(
            f"weights must be finite and not negative; member {bad[0]} has {found[bad[0]]:g}."
        )
    total = float(found.sum())
    if abs(total - 1.0) > _SUM_SLACK:
        raise ValueError(f"weights must sum to one; they sum to {total:g}. Divide them by that.")
    return np.asarray(found / total)


def _vector(name: str, values: Any, n_samples: int) -> Floats:
    found = np.asarray(values, dtype=np.float64)
    if found.shape != (n_samples,):
        raise ValueError(
            f"{name} has shape {found.shape}; expected ({n_samples},), one a row of predictions."
        )
    bad = np.flatnonzero(~np.isfinite(found))
    if len(bad):
        raise ValueError(f"{name} must be finite; row {bad[0]} has {found[bad[0]]}.")
    return found


def _weights(sample_weight: npt.ArrayLike, table: Floats) -> Floats:
    weight = _vector("sample_weight", sample_weight, len(table))
    bad = np.flatnonzero(weight < 0)
    if len(bad):
        raise ValueError(
            f"sample_weight must not be negative; row {bad[0]} has {weight[bad[0]]:g}."
        )
    if not weight.any():
        raise ValueError("sample_weight is zero for every row; at least one must count.")
    return weight
