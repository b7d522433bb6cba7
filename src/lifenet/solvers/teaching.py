"""Problems whose targets are another network's expectations, so that it teaches what it learnt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from lifenet.losses import Multinomial
from lifenet.solvers.base import Problem

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.network import ReluNetwork

__all__ = ["taught_by"]


def taught_by(problem: Problem, teacher: ReluNetwork, share: float | Floats) -> Problem:
    """The problem with expectations in place of targets.

    ``share * E[y | teacher] + (1 - share) * y``; of several classes, shares of each class.

    Parameters
    ----------
    teacher : reads the problem's rows
    share : between 0 and 1, one for all rows or one a row, (n_rows,)
    """
    rows, loss = problem.rows, problem.loss
    expected = loss.mean(_scores(problem, teacher))
    if loss.n_outputs == 1:
        mixed = share * expected + (1.0 - share) * rows.target
        return Problem(rows.with_target(mixed), loss)
    expected *= np.reshape(share, (-1, 1))
    expected[np.arange(len(expected)), rows.target.astype(np.intp)] += 1.0 - np.asarray(share)
    numbers = np.arange(len(expected), dtype=np.float64)
    return Problem(rows.with_target(numbers), _Shares(loss.n_outputs, expected))


def _scores(problem: Problem, network: ReluNetwork) -> Floats:
    """Scores of all rows, in the shape that losses want: (n,) or (n, n_outputs)."""
    scores = problem.rows.collect(lambda block: network.score(block.inputs[:-1].T).T)
    return scores[0] if problem.loss.n_outputs == 1 else np.ascontiguousarray(scores.T)


@dataclass(frozen=True)
class _Shares(Multinomial):
    """Cross-entropy of several classes of which rows have shares; a row's target is its number.

    Attributes
    ----------
    shares : (n_rows, n_outputs), each row sums to one
    """

    shares: Floats

    def _of(self, target: Floats) -> Floats:
        return np.asarray(self.shares[target.astype(np.intp)])

    def value(self, target: Floats, score: Floats) -> Floats:
        """``-sum_c q_c log p_c``."""
        return np.asarray(-np.sum(self._of(target) * special.log_softmax(score, axis=1), axis=1))

    def gradient(self, target: Floats, score: Floats) -> Floats:
        """``p_c - q_c``."""
        return np.asarray(special.softmax(score, axis=1) - self._of(target))

    def null_score(self, target: Floats, weight: Floats) -> Floats:
        """Centred log shares of the classes."""
        log_share = np.log(np.maximum(weight @ self._of(target) / weight.sum(), 1e-12))
        return np.asarray(log_share - log_share.mean())
