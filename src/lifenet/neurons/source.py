"""What a recipe asks of a source of neurons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from lifenet._typing import Integers
    from lifenet.data.folds import Fold
    from lifenet.data.run import Run
    from lifenet.neurons.hierarchy import Stage
    from lifenet.neurons.layer import Layer

__all__ = ["Grown", "NeuronSource"]


@dataclass(frozen=True, eq=False)
class Grown:
    """Neurons that a source has grown, and the base learners that they came from.

    Attributes
    ----------
    layer : on all inputs of the rows
    stages : the levels of a hierarchy as they were trained; none without one
    inputs : indices of the inputs that its base learners read; None for all
    """

    layer: Layer
    stages: tuple[Stage, ...] = ()
    inputs: Integers | None = None


class NeuronSource(Protocol):
    """Settings of steps 1 and 2: where the neurons of the hidden layer come from.

    A new source is one class with these members; a recipe takes any number of sources.
    """

    @property
    def needs_ramps(self) -> bool:
        """Whether its neurons are made of ramps, so that the recipe needs codes of kind "full"."""

    @property
    def makes_members(self) -> bool:
        """Whether its neurons belong to base learners, which an output layer can weigh."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def grow(self, fold: Fold, run: Run) -> Grown:
        """Neurons trained on the training rows of a fold.

        Parameters
        ----------
        fold : its validation rows are never trained on
        run : seed, workers, deadline
        """
