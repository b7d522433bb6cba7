"""Decompositions along a line: average subset size, cutoff, or the number of members kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.theory._table import Table
from lifenet.theory.decomposition import decompose_table, weigh

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.theory._spaces import SpaceName
    from lifenet.theory.decomposition import Decomposition

__all__ = ["DecompositionCurve", "decompose_path"]


@shown
@dataclass(frozen=True, eq=False)
class DecompositionCurve:
    """Loss, accuracy and diversity of mixtures against something that was varied.

    Attributes
    ----------
    label : what was varied, as an axis calls it
    x : ndarray of shape (n_points,), rising
    loss, accuracy, diversity : ndarray of shape (n_points,), see `Decomposition`
    n_used : ndarray of shape (n_points,), members with a weight above zero
    order : ndarray of members in the order in which they were added, or None
    """

    label: str
    x: Floats
    loss: Floats
    accuracy: Floats
    diversity: Floats
    n_used: Integers
    order: Integers | None = None

    @classmethod
    def of(
        cls,
        x: npt.ArrayLike,
        decompositions: Sequence[Decomposition],
        label: str = "average subset size (share of the rows)",
    ) -> DecompositionCurve:
        """A curve through decompositions, one for each value that was tried.

        Parameters
        ----------
        x : array-like of shape (n_points,), in any order
            Such as the mean share of the members' subsets, for several cutoffs.
        decompositions : sequence of Decomposition
        label : str
            What x is.
        """
        values = np.asarray(x, dtype=np.float64)
        if values.shape != (len(decompositions),) or not len(values):
            raise ValueError(
                f"x has shape {values.shape}; expected ({len(decompositions)},), one value a "
                "decomposition, and at least one."
            )
        bad = np.flatnonzero(~np.isfinite(values))
        if len(bad):
            raise ValueError(f"x must be finite; value {bad[0]} is {values[bad[0]]}.")
        spaces = sorted({one.space for one in decompositions})
        if len(spaces) > 1:
            raise ValueError(f"decompositions are of several losses: {', '.join(spaces)}.")
        order = np.argsort(values, kind="stable")
        ordered = [decompositions[index] for index in order]
        return cls(
            label,
            values[order],
            np.array([one.loss for one in ordered]),
            np.array([one.accuracy for one in ordered]),
            np.array([one.diversity for one in ordered]),
            np.array([np.count_nonzero(one.weights) for one in ordered]),
        )

    @property
    def best(self) -> int:
        """The index of the least loss."""
        return int(np.argmin(self.loss))

    def fewest(self, slack: float = 0.01) -> int:
        """The first index whose loss is at most the least one and a share of it more.

        Parameters
        ----------
        slack : float, default=0.01
            The share; along `decompose_path` the cost of members that are left out.
        """
        if not slack >= 0:
            raise ValueError(f"slack must not be negative; it is {slack}.")
        return int(np.flatnonzero(self.loss <= (1.0 + slack) * self.loss.min())[0])

    def to_frame(self) -> pd.DataFrame:
        """One row a point: x, loss, accuracy, diversity, n_used, and the member added if any."""
        pandas = require("pandas", extra="data", purpose="A data frame")
        table = {
            "x": self.x,
            "loss": self.loss,
            "accuracy": self.accuracy,
            "diversity": self.diversity,
            "n_used": self.n_used,
        }
        if self.order is not None:
            table["member"] = self.order
        frame: pd.DataFrame = pandas.DataFrame(table)
        return frame


def decompose_path(
    predictions: Any,
    target: Any,
    *,
    order: str | npt.ArrayLike = "greedy",
    weights: str = "stacked",
    space: SpaceName = "squared",
    sample_weight: npt.ArrayLike | None = None,
    held_out: Sequence[Any] | None = None,
    max_members: int | None = None,
) -> DecompositionCurve:
    """The decomposition against the number of members: how many to keep.

    Members are added one at a time; each time the weights are fitted to the rows given, and the
    loss is decomposed on the held-out rows, or where there are none on the same. Stacked weights
    never lose by one member more on the rows they are fitted to, so that an optimum short of all
    members needs held-out rows.

    Parameters
    ----------
    predictions, target, space, sample_weight : as in `decompose`
    order : {"greedy", "loss", "given"} or array of member numbers, default="greedy"
        "greedy" adds the member that lowers the loss of the equally weighted mixture most (or
        raises it least), "loss" the one with the least loss of its own, "given" the next column.
    weights : {"stacked", "equal"}, default="stacked"
    held_out : (predictions, target) or (predictions, target, sample_weight), default=None
        Other rows of the same members.
    max_members : int or None, default=None
        Where the path ends; None takes all. With hundreds of members and stacked weights the
        work grows with its third power.
    """
    if weights not in ("stacked", "equal"):
        raise ValueError(f"weights must be 'stacked' or 'equal'; it is {weights!r}.")
    fit = Table.of(space, predictions, target, sample_weight)
    measured = fit if held_out is None else _held_out(space, held_out, fit.n_members)
    most = _check_most(max_members, fit.n_members)
    members = _order(fit, order, most)
    found = []
    for n_members in range(1, len(members) + 1):
        chosen = members[:n_members]
        beta = weigh(fit.select(chosen), weights)
        found.append(decompose_table(space, measured.select(chosen), beta))
    curve = DecompositionCurve.of(np.arange(1, len(members) + 1), found, "members")
    return DecompositionCurve(
        curve.label, curve.x, curve.loss, curve.accuracy, curve.diversity, curve.n_used, members
    )


def _held_out(space: str, held_out: Sequence[Any], n_members: int) -> Table:
    if len(held_out) not in (2, 3):
        raise ValueError(
            "held_out must be (predictions, target) or (predictions, target, sample_weight); it "
            f"has {len(held_out)} parts."
        )
    predictions, target, weight = (*held_out, None)[:3]
    table = Table.of(space, predictions, target, weight)
    if table.n_members != n_members:
        raise ValueError(
            f"held_out has predictions of {table.n_members} members; the others are of {n_members}."
        )
    return table


def _check_most(max_members: int | None, n_members: int) -> int:
    if max_members is None:
        return n_members
    if isinstance(max_members, bool) or not isinstance(max_members, (int, np.integer)):
        raise TypeError(f"max_members must be a whole number or None; it is {max_members!r}.")
    if max_members < 1:
        raise ValueError(f"max_members must be at least 1; it is {max_members}.")
    return min(int(max_members), n_members)


def _order(table: Table, order: str | npt.ArrayLike, most: int) -> Integers:
    """Members in the order in which they are added, at most so many."""
    if not isinstance(order, str):
        return _check_order(np.asarray(order), table.n_members)[:most]
    if order == "given":
        return np.arange(most)
    if order == "loss":
        return np.argsort(table.member_loss(), kind="stable")[:most]
    if order == "greedy":
        return _greedy(table, most)
    raise ValueError(f"order must be 'greedy', 'loss', 'given' or an array; it is {order!r}.")


def _check_order(order: npt.NDArray[Any], n_members: int) -> Integers:
    if order.ndim != 1 or not len(order) or order.dtype.kind not in "iu":
        raise ValueError("order must be a list of member numbers, at least one.")
    strange = order[(order < 0) | (order >= n_members)]
    if len(strange):
        raise ValueError(f"order names member {strange[0]}; members are 0 to {n_members - 1}.")
    numbers, counts = np.unique(order, return_counts=True)
    if (counts > 1).any():
        raise ValueError(f"order names member {numbers[counts > 1][0]} twice.")
    return order.astype(np.intp)


def _greedy(table: Table, most: int) -> Integers:
    left = np.arange(table.n_members)
    total = np.zeros(len(table.target))
    chosen: list[int] = []
    while len(chosen) < most:
        losses = np.zeros(len(left))
        for block in table.blocks():
            mixtures = total[block, None] + table.predictions[block][:, left]
            mixtures /= len(chosen) + 1
            losses += table.weight[block] @ table.space.value(table.target[block, None], mixtures)
        member = int(left[np.argmin(losses)])
        chosen.append(member)
        total += table.predictions[:, member]
        left = left[left != member]
    return np.array(chosen, dtype=np.intp)
