"""Fine-tuning as a recipe sees it: one result, and how training and validation rows are used."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from lifenet._clock import NEVER, Deadline
from lifenet.solvers.base import Status

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np

    from lifenet._typing import Bools
    from lifenet.data.folds import Fold
    from lifenet.data.moves import Smoothing
    from lifenet.data.problem import Problem
    from lifenet.network import ReluNetwork

__all__ = ["FineTuned", "FineTuning", "fine_tune"]


@dataclass(frozen=True)
class FineTuned:
    """A fine-tuned network and how it came about.

    Attributes
    ----------
    network : in the units of the problem's rows
    status : why it ended
    n_iterations : iterations or steps until that network
    objectives : after each iteration, the start first; empty where only validation is measured
    validation_losses : mean loss of the validation rows at each reading, the start first; empty
        without such rows
    seconds : taken in all
    """

    network: ReluNetwork
    status: Status
    n_iterations: int
    objectives: tuple[float, ...]
    validation_losses: tuple[float, ...]
    seconds: float

    @property
    def validation_loss(self) -> float:
        """Least loss of the validation rows; no number without such rows."""
        return min(self.validation_losses, default=float("nan"))


class FineTuning(Protocol):
    """Settings: how all neurons and the output layer are refined together."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def refine(
        self,
        problem: Problem,
        network: ReluNetwork,
        *,
        validation: Problem | None = None,
        seed: np.random.SeedSequence | None = None,
        deadline: Deadline = NEVER,
        n_iterations: int | None = None,
        smoothing: Smoothing | None = None,
        movable: Bools | None = None,
    ) -> FineTuned:
        """Refine a network on the rows of a problem.

        Parameters
        ----------
        network : in the units of the rows, without a linear part; of sparse weights only those
            that are stored may move
        validation : the network with the least loss on these rows is kept
        seed : of what is random
        n_iterations : exactly this many, where a rehearsal has found them; needs no validation rows
        smoothing : a penalty on how far the function is from straight lines; None without
        movable : (n_neurons, n_inputs), which of dense weights move; asked for where networks with
            `interaction_cst` are distilled only
        """


def fine_tune(
    settings: FineTuning,
    network: ReluNetwork,
    fold: Fold,
    rehearse: Callable[[], ReluNetwork],
    seed: np.random.SeedSequence,
    deadline: Deadline,
) -> FineTuned | None:
    """Refine the network of a fold as far as its validation rows gain; None without such rows.

    Where coefficients are fitted to all rows, the number of iterations is the one that does best
    on the validation rows in a rehearsal on the training rows; then all rows are refined for as
    many.

    Parameters
    ----------
    network : its output layer is fitted to `fold.fit`
    rehearse : gives the network whose output layer is fitted to the training rows only
    """
    if fold.validation is None or not network.n_neurons:
        return None
    if not fold.refits:
        return settings.refine(
            fold.train,
            network,
            validation=fold.validation,
            seed=seed,
            deadline=deadline,
            smoothing=fold.smoothing,
        )
    start = rehearse()
    rehearsed = settings.refine(
        fold.train,
        start,
        validation=fold.validation,
        seed=seed,
        deadline=deadline,
        smoothing=fold.smoothing,
    )
    if rehearsed.n_iterations == 0:
        return replace(rehearsed, network=network)
    tuned = settings.refine(
        fold.fit,
        network,
        seed=seed,
        deadline=deadline,
        n_iterations=rehearsed.n_iterations,
        smoothing=fold.smoothing,
    )
    # Why it is as long as it is was decided on the validation rows.
    status = rehearsed.status if tuned.status is Status.MAX_ITER else tuned.status
    return replace(
        tuned,
        status=status,
        validation_losses=rehearsed.validation_losses,
        seconds=rehearsed.seconds + tuned.seconds,
    )
