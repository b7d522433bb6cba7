"""The interaction heat map of section 4.3 of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.interactions import (
    Interactions,
    interaction_strength,
    two_stage_strength,
)
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import GREY, INK, SEQUENTIAL, fold, make_axes, tidy

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.varying import VaryingCoefficients
    from lifenet.network import PiecewiseLinear

__all__ = ["InteractionDisplay"]

#: Most features for which each cell has its figure written in it.
_MOST_FIGURES = 12
_ROUNDING = 1e-9


def _measure(
    network: PiecewiseLinear, X: Any, *, measure: str = "second-order", **options: Any
) -> Interactions:
    """One of the two measures, by name; `options` are those of its function."""
    measures: dict[str, Callable[..., Interactions]] = {
        "two-stage": two_stage_strength,
        "second-order": interaction_strength,
    }
    if measure not in measures:
        raise ValueError(f"measure must be one of {', '.join(measures)}; it is {measure!r}.")
    return measures[measure](network, X, **options)


class InteractionDisplay(ResultDisplay):
    """Strength of the interactions of all pairs of features as a heat map.

    By the two-stage measure a cell says how much the coefficient of the row's feature varies
    with the column's; by the second-order measure, or where `symmetric` is asked for, how strongly
    the two act together. The features with the strongest interactions come first.

    ``from_estimator`` and ``from_network`` take ``measure="second-order"`` (the default) or
    ``"two-stage"``.

    Parameters
    ----------
    result : Interactions or VaryingCoefficients

    Attributes
    ----------
    shown_ : numbers of the features drawn, in order
    """

    _explain = staticmethod(_measure)
    result: Interactions
    shown_: list[int]

    def __init__(self, result: Interactions | VaryingCoefficients) -> None:
        known = result if isinstance(result, Interactions) else Interactions.from_varying(result)
        super().__init__(known)

    def plot(
        self,
        ax: Any = None,
        *,
        max_features: int = 20,
        symmetric: bool = False,
        relative: bool = True,
    ) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_features : int, default=20
            Most features; those with the strongest interactions are drawn.
        symmetric : bool, default=False
            Whether to draw the strength of pairs for the two-stage measure too.
        relative : bool, default=True
            Whether strengths are parts of the score's standard deviation; else in its units.
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        result = self.result
        self.shown_ = _strongest(result)[:max_features]
        directed = result.measure == "two-stage" and not symmetric
        values = (result.directed if directed else result.pair)[np.ix_(self.shown_, self.shown_)]
        relative = relative and result.score_deviation > 0
        values = values / result.score_deviation if relative else values
        # What is not above rounding is drawn as none.
        unit_size = 1.0 if relative else result.score_deviation
        size = len(self.shown_)
        side = max(1.6 + max(0.34, 0.52 - 0.012 * size) * size, 3.6)
        self.figure_, self.ax_ = make_axes(ax, (side + 0.9, side))
        values = np.where(np.abs(values) > _ROUNDING * unit_size, values, 0.0)
        image = _draw(self.ax_, values, fold([result.features[one] for one in self.shown_]))
        bar = self.figure_.colorbar(image, ax=self.ax_, shrink=0.8, aspect=25, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7.5, color=GREY, labelcolor=INK, width=0.6, length=3)
        name = self.score_name
        unit = f"standard deviations of the {name}" if relative else f"units of the {name}"
        bar.set_label(f"strength, in {unit}", fontsize=8.5, color=INK)
        self._describe(directed)
        return self

    def _describe(self, directed: bool) -> None:
        if directed:
            self.ax_.set_ylabel("coefficient of", fontsize=9, color=INK)
            self.ax_.set_xlabel("varies with", fontsize=9, color=INK)
        kind = "mixed differences" if self.result.measure == "second-order" else "two stages"
        text = f"Interactions ({kind})"
        left_out = len(self.result.features) - len(self.shown_)
        if left_out:
            text += f"\n{left_out} of {len(self.result.features)} features are weaker and left out"
        self.ax_.set_title(text, fontsize=9.5, color=INK)


def _strongest(result: Interactions) -> list[int]:
    """Features by their strongest interaction, and the sum of all where that is shared."""
    largest, whole = result.pair.max(axis=0), result.pair.sum(axis=0)
    return [int(place) for place in np.lexsort([-whole, -largest])]


def _draw(ax: Any, values: Floats, names: list[str]) -> Any:
    size = len(values)
    masked = np.ma.masked_array(values, mask=np.eye(size, dtype=bool))
    highest = float(masked.max()) if size > 1 else 0.0
    image = ax.imshow(masked, cmap=SEQUENTIAL, vmin=0, vmax=highest or 1.0, aspect="equal")
    ax.set_facecolor("#F0F0F0")
    tidy(ax)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)
    ax.set_xticks(range(size), names, rotation=90 if size > 4 or max(map(len, names)) > 8 else 0)
    ax.set_yticks(range(size), names)
    ax.tick_params(length=0)
    ax.set_xticks(np.arange(size - 1) + 0.5, minor=True)
    ax.set_yticks(np.arange(size - 1) + 0.5, minor=True)
    ax.tick_params(which="minor", length=0)
    ax.grid(which="minor", color="white", lw=1)
    if size <= _MOST_FIGURES:
        _write_figures(ax, values, highest)
    return image


def _write_figures(ax: Any, values: Floats, highest: float) -> None:
    for row, column in np.argwhere(~np.eye(len(values), dtype=bool)):
        value = values[row, column]
        dark = value > 0.55 * highest
        ax.text(
            column, row, _figure(value, highest), ha="center", va="center", fontsize=7,
            color="white" if dark else INK,
        )  # fmt: skip


def _figure(value: float, highest: float) -> str:
    """A number with as many decimals as the largest needs for two figures."""
    if highest <= 0:
        return "0"
    decimals = int(np.clip(1 - np.floor(np.log10(highest)), 0, 8))
    return f"{value:.{decimals}f}"
