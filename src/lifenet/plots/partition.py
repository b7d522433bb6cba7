"""How the neurons of a level divide the rows: the figures `part1` and `part2` of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.neurons.subset import Fate, Subset
from lifenet.plots._display import names_of_members, rows_of_members
from lifenet.plots._edges import FATE_WORDS, percent
from lifenet.plots._style import COLOURS, INK, make_panels, matplotlib
from lifenet.schema import default_names

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    import pandas as pd

    from lifenet._typing import Bools, Floats
    from lifenet.neurons.subset import Split
    from lifenet.recipe.record import HierarchyRecord, Level

__all__ = ["PartitionDisplay", "region_polygon", "regions_of"]

_POINT_COLOUR = "#555555"
_PANEL = (2.45, 2.25)


def regions_of(
    hierarchy: HierarchyRecord, level: int, cutoff: float | None = None
) -> tuple[tuple[Split, Subset], ...]:
    """Each neuron of a level with the subset that it made, or would have made.

    Parameters
    ----------
    level : from 1; the last level has none
    cutoff : of the subsets; None reads it from the subsets in the hierarchy, 0 where there are none
    """
    at = hierarchy.levels[level - 1]
    known = [
        subset
        for subset in chain.from_iterable(one.subsets for one in hierarchy.levels)
        if len(subset.bias) and subset.parent is not None
    ]
    if cutoff is None:
        cutoff = known[0].cutoff if known else 0.0
    nested = any(len(subset.bias) > 1 for subset in known)
    return tuple((split, _region(at, split, cutoff, nested)) for split in at.splits)


def _region(level: Level, split: Split, cutoff: float, nested: bool) -> Subset:
    network = level.networks[split.network]
    weights, bias = network.weights[[split.neuron]], network.bias[[split.neuron]]
    if nested:
        of = level.subsets[split.network]
        weights, bias = np.vstack([of.weights, weights]), np.append(of.bias, bias)
    parent = (split.network, split.neuron)
    return Subset(weights, bias, cutoff, split.share, parent=parent)


def region_polygon(
    subset: Subset, lower: tuple[float, float], upper: tuple[float, float]
) -> Floats:
    """Corners of the part of a rectangle where all conditions hold: (n_corners, 2), maybe none.

    The rectangle is cut by one line after the other (Sutherland and Hodgman).
    """
    corners: Floats = np.array([lower, (upper[0], lower[1]), upper, (lower[0], upper[1])])
    for weights, bias in zip(subset.weights, subset.bias, strict=True):
        corners = _cut(corners, corners @ weights + bias - subset.cutoff)
    return corners


def _cut(corners: Floats, height: Floats) -> Floats:
    """The part of a convex polygon where the height is positive, given that of its corners."""
    kept: list[Floats] = []
    for place in range(len(corners)):
        here, there = height[place - 1], height[place]
        if (here > 0) != (there > 0):
            share = here / (here - there)
            kept.append(corners[place - 1] + share * (corners[place] - corners[place - 1]))
        if there > 0:
            kept.append(corners[place])
    return np.array(kept).reshape(-1, 2)


def _holds(subset: Subset, X: Floats) -> Bools:
    inside = X @ subset.weights.T + subset.bias > subset.cutoff
    return np.asarray(inside.all(axis=1))


@dataclass(frozen=True)
class _Panel:
    split: Split
    region: Subset
    colour: str

    @property
    def kept(self) -> bool:
        return self.split.fate is Fate.KEPT


class PartitionDisplay:
    """How the neurons of one level divide the rows, for models of two columns.

    A panel for each neuron: the side of its line where it is active is shaded, the rows in it are
    its subset. Subsets that were dropped are hatched. The last panel shows all that were kept, and
    how many of the rows `X` lie in at least one of them. Networks and neurons are numbered as in
    `to_frame`.

    Parameters
    ----------
    hierarchy : HierarchyRecord
        `hierarchy_` of a fitted model of two columns.
    X : array-like of shape (n_samples, 2)
        Rows to show, in the units of the training data.
    level : int, default=1
        Whose neurons; from 1 to the last but one.
    names : sequence of str or None, default=None
        Names of the two columns; None takes those of a data frame, or x0 and x1.
    cutoff : float or None, default=None
        Of the subsets, as the sampler had it. None reads it from the hierarchy.

    Attributes
    ----------
    axes_ : list of matplotlib Axes, one a panel
    ax_ : matplotlib Axes that was given, or that of the last panel
    figure_ : matplotlib Figure
    """

    axes_: list[Any]
    ax_: Any
    figure_: Any

    def __init__(
        self,
        hierarchy: HierarchyRecord,
        X: Any,
        level: int = 1,
        names: Sequence[str] | None = None,
        *,
        cutoff: float | None = None,
    ) -> None:
        columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        names = columns if names is None else names
        if columns is not None and names is not None and columns != list(names):
            raise ValueError(f"X has the columns {columns}; the model knows {list(names)}.")
        table = np.asarray(X, dtype=np.float64)
        _check(hierarchy, table, level)
        self.hierarchy, self.X, self.level, self.cutoff = hierarchy, table, level, cutoff
        self.names = default_names(2) if names is None else tuple(names)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, level: int = 1, ax: Any = None, **options: Any
    ) -> Self:
        """Draw a fitted model's `hierarchy_` on the rows `X`; `options` are those of `plot`."""
        cutoff = getattr(getattr(estimator, "sampler", None), "cutoff", None)
        rows, names = rows_of_members(estimator, X), names_of_members(estimator)
        return cls(estimator.hierarchy_, rows, level, names, cutoff=cutoff).plot(ax, **options)

    def to_frame(self) -> pd.DataFrame:
        """The numbers behind it, one row a neuron of the level.

        Columns: level, network, neuron, share (in training), fate, share_here (of the rows `X`),
        and of its line ``bias + weights'x > cutoff`` the bias, the cutoff and a weight a column.
        """
        frame = self.hierarchy.to_frame()
        frame = frame[frame["level"] == self.level].reset_index(drop=True)
        regions = [region for _, region in self._regions()]
        frame["share_here"] = [float(_holds(region, self.X).mean()) for region in regions]
        frame["bias"] = [float(region.bias[-1]) for region in regions]
        frame["cutoff"] = [region.cutoff for region in regions]
        for column, name in enumerate(self.names):
            frame[f"weight of {name}"] = [float(region.weights[-1, column]) for region in regions]
        return frame

    @property
    def coverage(self) -> float:
        """Share of the rows `X` that lie in at least one subset that was kept."""
        inside = np.zeros(len(self.X), dtype=bool)
        for split, region in self._regions():
            if split.fate is Fate.KEPT:
                inside |= _holds(region, self.X)
        return float(inside.mean())

    def _regions(self) -> tuple[tuple[Split, Subset], ...]:
        return regions_of(self.hierarchy, self.level, self.cutoff)

    def plot(self, ax: Any = None, *, max_panels: int = 24, max_points: int = 3000) -> Self:
        """Draw the panels.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Place of all panels; it must be one of a grid, as `plt.subplots` makes. None makes a
            figure of a fitting size.
        max_panels : int, default=24
            Most panels, the last one included; a title says how many neurons are left out.
        max_points : int, default=3000
            Most rows drawn, evenly spaced; shares are of all.

        Returns
        -------
        self
        """
        if max_panels < 2:
            raise ValueError(f"max_panels must be at least 2; got {max_panels}.")
        panels = [
            _Panel(split, region, COLOURS[place % len(COLOURS)])
            for place, (split, region) in enumerate(self._regions())
        ]
        shown = panels[: max_panels - 1]
        places = _places([panel.split for panel in shown])
        n_rows, n_columns = (1 + max(one) for one in zip(*places, strict=True))
        figure, grid = make_panels(ax, n_rows, n_columns, _PANEL, hspace=0.45)
        self.axes_ = [figure.add_subplot(grid[place]) for place in places]
        self.figure_ = figure if ax is None else ax.figure
        self.ax_ = self.axes_[-1] if ax is None else ax
        lower, upper = _frame(self.X)
        step = np.unique(np.linspace(0, len(self.X) - 1, min(max_points, len(self.X))).astype(int))
        for panel_ax, (row, column) in zip(self.axes_, places, strict=True):
            panel_ax.scatter(
                *self.X[step].T, s=3, color=_POINT_COLOUR, alpha=0.45, lw=0, rasterized=True
            )
            lowest = (row + 1, column) not in places
            panel_ax.set(xlim=(lower[0], upper[0]), ylim=(lower[1], upper[1]))
            panel_ax.tick_params(labelsize=7, labelleft=column == 0, labelbottom=lowest)
            panel_ax.set_xlabel(self.names[0] if lowest else "")
            panel_ax.set_ylabel(self.names[1] if column == 0 else "")
        for panel_ax, panel in zip(self.axes_[:-1], shown, strict=True):
            _shade(panel_ax, panel, lower, upper)
            panel_ax.set_title(self._panel_title(panel), fontsize=8.5, color=INK)
        kept = [panel for panel in panels if panel.kept]
        for panel in kept:
            _shade(self.axes_[-1], panel, lower, upper, n_layers=len(kept))
        titles = [f"the {len(kept)} kept together", f"{percent(self.coverage)} of the rows"]
        left_out = len(panels) - len(shown)
        note = f"{left_out:,} of {len(panels):,} neurons are not shown" if left_out else ""
        text = f"Level {self.level}: the rows on the active side of each neuron"
        figure.suptitle(f"{text} ({note})" if note else text, fontsize=10)
        self.axes_[-1].set_title("\n".join(titles), fontsize=8.5, color=INK)
        return self

    def _panel_title(self, panel: _Panel) -> str:
        split = panel.split
        one = len(self.hierarchy.levels[self.level - 1].networks) == 1
        name = (
            f"neuron {split.neuron}" if one else f"network {split.network}, neuron {split.neuron}"
        )
        verdict = "kept" if panel.kept else f"dropped: {FATE_WORDS[split.fate]}"
        return f"{name}\n{percent(split.share)}, {verdict}"


def _check(hierarchy: HierarchyRecord, X: Floats, level: int) -> None:
    widths = {one.n_features for each in hierarchy.levels for one in each.networks}
    n_features = next(iter(widths), 2)
    if n_features != 2:
        raise ValueError(
            f"PartitionDisplay draws models of two columns; this one has {n_features}. Fit a model "
            "to two columns to see its partition, or use HierarchyDisplay, which takes any number."
        )
    if X.ndim != 2 or X.shape[1] != 2 or len(X) == 0:
        raise ValueError(
            f"X must have the model's two columns and at least one row; it has shape {X.shape}."
        )
    if not np.isfinite(X).all():
        raise ValueError("X has values that are not finite. Drop those rows, or impute them.")
    with_splits = [number for number, one in enumerate(hierarchy.levels, 1) if one.splits]
    if level not in with_splits:
        have = f"levels {with_splits}" if with_splits else "no level"
        raise ValueError(
            f"Level {level} has no neurons that divide the rows; in this hierarchy {have} have "
            "some. The last level's networks are the members, and bootstrap draws or random "
            "projections use no neurons."
        )


def _places(splits: Sequence[Split]) -> list[tuple[int, int]]:
    """Row and column of each neuron's panel, and of the last panel.

    A row for each network where they are few and narrow, with the last panel in a column of its
    own; else one after the other.
    """
    numbers = sorted({split.network for split in splits})
    width = 1 + max((split.neuron for split in splits), default=0)
    if len(splits) == len(numbers) * width and width <= 5 and len(numbers) <= 5:
        rows = [(numbers.index(split.network), split.neuron) for split in splits]
        return [*rows, (len(numbers) - 1, width)]
    n_panels = len(splits) + 1
    n_columns = min((6, 5, 4), key=lambda columns: -n_panels % columns)
    return [divmod(place, n_columns) for place in range(n_panels)]


def _frame(X: Floats) -> tuple[tuple[float, float], tuple[float, float]]:
    """A rectangle around the rows, with a margin."""
    low, high = X.min(axis=0), X.max(axis=0)
    margin = np.where(high > low, 0.04 * (high - low), 1.0)
    (x0, y0), (x1, y1) = (low - margin).tolist(), (high + margin).tolist()
    return (x0, y0), (x1, y1)


def _shade(
    ax: Any,
    panel: _Panel,
    lower: tuple[float, float],
    upper: tuple[float, float],
    n_layers: int = 1,
) -> None:
    # Somewhat beyond the frame, so that only the neuron's own line is seen as an edge.
    beyond = 0.02 * np.subtract(upper, lower)
    (x0, y0), (x1, y1) = (lower - beyond).tolist(), (upper + beyond).tolist()
    corners = region_polygon(panel.region, (x0, y0), (x1, y1))
    if len(corners) < 3:
        return
    patches, colors = matplotlib("patches"), matplotlib("colors")
    gid = f"{panel.split.fate.name.lower()}-{panel.split.network}-{panel.split.neuron}"
    face = colors.to_rgba(panel.colour, min(0.45, 0.6 / n_layers) if panel.kept else 0.1)
    edge = colors.to_rgba(panel.colour, 1.0 if panel.kept and n_layers <= 8 else 0.5)
    ax.add_patch(
        patches.Polygon(
            corners,
            closed=True,
            facecolor=face,
            edgecolor=edge,
            linewidth=1.2 if panel.kept and n_layers <= 8 else 0.6,
            hatch=None if panel.kept else "////",
            zorder=0.5,
            gid=gid,
        )
    )
