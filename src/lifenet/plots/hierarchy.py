"""The tree of networks behind a LIFE model: the figure `tree` of the paper, from a real fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.plots._display import names_of_members
from lifenet.plots._edges import Edge, edges_of
from lifenet.plots._strokes import Drawing
from lifenet.plots._style import matplotlib
from lifenet.plots._tree import lay_out
from lifenet.schema import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, Self

    import pandas as pd

    from lifenet.recipe.record import HierarchyRecord

__all__ = ["Edge", "HierarchyDisplay", "edges_of"]


class HierarchyDisplay:
    """The hierarchy of networks of a LIFE model as a tree.

    A band for each level, a box for each network, a dot for each neuron: its colour says what
    became of its subset, its area grows with the subset's share of the rows. A line leads from a
    neuron to the network of the next level that was trained on its subset. The networks of the last
    level are the members; the output layer joins all their neurons in one layer.

    Parameters
    ----------
    hierarchy : HierarchyRecord
        `hierarchy_` of a fitted model. Of several folds the first is drawn; `hierarchy_.fold(2)`
        is the hierarchy of another one.
    names : sequence of str or None, default=None
        Names of the columns; None calls them x0, x1, ...

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> from lifenet import LLA, LIFERegressor, NeuronProjection
    >>> from lifenet.datasets import simulate
    >>> from lifenet.plots import HierarchyDisplay
    >>> data = simulate.aim(500, random_state=0)
    >>> model = LIFERegressor(NeuronProjection(levels=(3, 3)), LLA(2), random_state=0)
    >>> display = HierarchyDisplay(model.fit(data.X, data.y).hierarchy_, model.schema_.names)
    >>> list(display.to_frame())
    ['fold', 'level', 'network', 'neuron', 'share', 'fate']
    """

    ax_: Any
    figure_: Any

    def __init__(self, hierarchy: HierarchyRecord, names: Sequence[str] | None = None) -> None:
        self.hierarchy = hierarchy.fold(0)
        self.names = None if names is None else tuple(names)

    @classmethod
    def from_estimator(cls, estimator: Any, ax: Any = None, **options: Any) -> Self:
        """Draw a fitted model's `hierarchy_`; `options` are those of `plot`."""
        return cls(estimator.hierarchy_, names_of_members(estimator)).plot(ax, **options)

    def to_frame(self) -> pd.DataFrame:
        """The numbers behind it, one row a neuron: fold, level, network, share, fate."""
        return self.hierarchy.to_frame()

    def plot(
        self,
        ax: Any = None,
        *,
        labels: bool | Literal["auto"] = "auto",
        max_neurons: int = 2000,
    ) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            None makes a figure of a fitting size.
        labels : bool or "auto", default="auto"
            Whether to write each neuron's share and, with up to three columns, each network's
            subset in words. "auto" does where there is room.
        max_neurons : int, default=2000
            A level with more neurons is drawn as bars, one a network: how many of its neurons met
            each fate.

        Returns
        -------
        self
        """
        levels = self.hierarchy.levels
        layout = lay_out(levels, self._names(), labels, max_neurons)
        zoom = None if ax is not None else 1.0
        if ax is None:
            pyplot = matplotlib("pyplot")
            size = (layout.width, layout.height + 0.35)
            _, ax = pyplot.subplots(figsize=size, layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        Drawing(ax, layout, zoom).draw(self.hierarchy)
        return self

    def _names(self) -> tuple[str, ...]:
        networks = [one for level in self.hierarchy.levels for one in level.networks]
        return self.names or default_names(networks[0].n_features if networks else 0)
