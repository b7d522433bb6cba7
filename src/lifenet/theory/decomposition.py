"""The ambiguity decomposition of a mixture's loss (the paper's section 2.3 and appendix)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.theory._table import Table, check_weights
from lifenet.theory.stacking import fit_simplex

if TYPE_CHECKING:
    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.theory._spaces import SpaceName

__all__ = ["Decomposition", "decompose", "decompose_table", "weigh"]


@shown
@dataclass(frozen=True, eq=False)
class Decomposition:
    """A mixture's loss as its members' mean loss less their diversity.

    Attributes
    ----------
    space : str
    weights : ndarray of shape (n_members,), the beta_j
    loss : mean loss of the mixture
    member_loss : ndarray of shape (n_members,), mean of l(f_j)
    member_diversity : ndarray of shape (n_members,), mean of l(f_j) - l(f) - l'(f)(f_j - f)
    row_loss, row_accuracy, row_diversity : ndarray of shape (n_rows,), the three terms of each row
    rows : ndarray of shape (n_rows,), places of these rows in what was given: those with a weight
    """

    space: str
    weights: Floats
    loss: float
    member_loss: Floats
    member_diversity: Floats
    row_loss: Floats
    row_accuracy: Floats
    row_diversity: Floats
    rows: Integers

    @property
    def accuracy(self) -> float:
        """The paper's accuracy term, ``sum_j beta_j l(f_j)``: a loss, so low is good."""
        return float(self.weights @ self.member_loss)

    @property
    def diversity(self) -> float:
        """``sum_j beta_j [l(f_j) - l(f) - l'(f)(f_j - f)]``, not negative: high is good."""
        return float(self.weights @ self.member_diversity)

    @property
    def diversity_share(self) -> Floats:
        """Each member's part of the diversity, (n_members,), with sum one; NaN where none is."""
        return np.asarray(self.weights * self.member_diversity / (self.diversity or np.nan))

    def to_frame(self) -> pd.DataFrame:
        """One row a member.

        Columns: member, weight, its loss and diversity, and its part of either term of the
        mixture's loss (weight times that): accuracy_part, diversity_part.
        """
        pandas = require("pandas", extra="data", purpose="A data frame")
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "member": np.arange(len(self.weights)),
                "weight": self.weights,
                "loss": self.member_loss,
                "diversity": self.member_diversity,
                "accuracy_part": self.weights * self.member_loss,
                "diversity_part": self.weights * self.member_diversity,
            }
        )
        return frame

    def rows_to_frame(self) -> pd.DataFrame:
        """One row a row with a weight: row, loss, accuracy, diversity."""
        pandas = require("pandas", extra="data", purpose="A data frame")
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "row": self.rows,
                "loss": self.row_loss,
                "accuracy": self.row_accuracy,
                "diversity": self.row_diversity,
            }
        )
        return frame


def decompose(
    predictions: Any,
    target: Any,
    weights: npt.ArrayLike | str = "stacked",
    *,
    space: SpaceName = "squared",
    sample_weight: npt.ArrayLike | None = None,
) -> Decomposition:
    """Split the loss of a mixture of members into accuracy and diversity.

    With ``f = sum_j beta_j f_j``, beta on the simplex, and a convex loss l, each row has::

        l(f) = sum_j beta_j l(f_j)  -  sum_j beta_j [l(f_j) - l(f) - l'(f)(f_j - f)]
                    accuracy                         diversity

    since ``sum_j beta_j (f_j - f) = 0``. The bracket is Taylor's remainder,
    ``l''(f*) (f_j - f)² / 2`` for some f* between f and f_j (the paper's equation `dec`; the
    appendix leaves out the factor 1/2 for log-odds). All three terms are computed on their own:
    loss = accuracy - diversity is not used.

    | space | l(y, f) | bracket |
    |---|---|---|
    | "squared" | (y - f)² | (f_j - f)² |
    | "log-odds" | y log(1 + e^-f) + (1 - y) log(1 + e^f) | does not depend on y |
    | "probability" | -y log f - (1 - y) log(1 - f) | depends on y |

    Parameters
    ----------
    predictions : array-like of shape (n_samples, n_members)
        Scores, or where ``space="probability"`` probabilities of the class coded 1.
    target : array-like of shape (n_samples,)
        Response; 0, 1 or shares between them but for squared error.
    weights : "stacked", "equal" or array-like of shape (n_members,), default="stacked"
        The beta_j. "stacked" are those of `simplex_weights` on these very rows.
    space : {"squared", "log-odds", "probability"}, default="squared"
    sample_weight : array-like of shape (n_samples,) or None, default=None

    Examples
    --------
    >>> import numpy as np
    >>> from lifenet.theory import decompose
    >>> y = np.array([0.0, 1.0, 2.0, 3.0])
    >>> found = decompose(np.column_stack([y - 1, y + 2]), y, "equal")
    >>> found.loss, found.accuracy, found.diversity
    (0.25, 2.5, 2.25)
    """
    table = Table.of(space, predictions, target, sample_weight)
    return decompose_table(space, table, weigh(table, weights))


def weigh(table: Table, weights: npt.ArrayLike | str) -> Floats:
    """Weights of the members of a table, by name or given, (n_members,)."""
    if not isinstance(weights, str):
        return check_weights(weights, table.n_members)
    if weights == "equal":
        return np.full(table.n_members, 1.0 / table.n_members)
    if weights == "stacked":
        return fit_simplex(table)
    raise ValueError(f"weights must be 'stacked', 'equal' or an array; it is {weights!r}.")


def decompose_table(space: str, table: Table, beta: Floats) -> Decomposition:
    """`decompose` of predictions and weights that have been checked."""
    loss = table.space
    n_rows, n_members = table.predictions.shape
    of_members = np.zeros((2, n_members))
    of_rows = np.zeros((3, n_rows))
    for block in table.blocks():
        members, y = table.predictions[block], table.target[block]
        mixture = members @ beta
        losses = loss.value(y[:, None], members)
        excess = loss.excess(y[:, None], members, mixture[:, None])
        of_rows[:, block] = loss.value(y, mixture), losses @ beta, excess @ beta
        of_members += table.weight[block] @ losses, table.weight[block] @ excess
    return Decomposition(
        space=space,
        weights=beta,
        loss=float(table.weight @ of_rows[0]),
        member_loss=of_members[0],
        member_diversity=of_members[1],
        row_loss=of_rows[0],
        row_accuracy=of_rows[1],
        row_diversity=of_rows[2],
        rows=table.rows,
    )
