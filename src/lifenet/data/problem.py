"""What is to be fitted: a loss on weighted rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from lifenet.data.rows import Rows
    from lifenet.losses import Loss

__all__ = ["Problem"]


@dataclass(frozen=True)
class Problem:
    """What is to be fitted: a loss on weighted rows."""

    rows: Rows
    loss: Loss

    def against_rest(self, output: int) -> Problem:
        """The problem of one output alone: of a class, the binary one against all others."""
        if self.loss.n_outputs == 1:
            return self
        target = np.ascontiguousarray(self.loss.responses(self.rows.target)[:, output])
        return Problem(self.rows.with_target(target), self.loss.against_rest(output))

    def null_loss(self) -> float:
        """Weighted mean loss of the best constant score."""
        rows, loss = self.rows, self.loss
        null = loss.null_score(rows.target, rows.weight)
        score = np.broadcast_to(null, (*rows.target.shape, loss.n_outputs))
        return float(rows.weight @ loss.value(rows.target, score)) / rows.total_weight
