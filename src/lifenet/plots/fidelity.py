"""How far equations hold: fidelity against reach."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.fidelity import EquationFidelity, Roughness, equation_fidelity
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import COLOURS, GREY, INK, make_axes, matplotlib, tidy

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

__all__ = ["FidelityDisplay"]

#: Below this the equations mislead; how much hardly matters.
_LOWEST = -0.5
_DASHES = (0, (4, 2))


class FidelityDisplay(ResultDisplay):
    """Share of what a model does near its rows that equations explain, against how near.

    A solid line has columns moved one at a time, a dashed one all columns at once. At 1 equations
    are perfect, at 0 no better than "nothing changes"; below they mislead. Of a `Roughness`, one
    less it is drawn: what the best lines explain, for any model.

    Parameters
    ----------
    result : EquationFidelity or Roughness
    """

    _explain = staticmethod(equation_fidelity)
    result: EquationFidelity | Roughness

    def __init__(self, result: EquationFidelity | Roughness) -> None:
        super().__init__(result)
        _check(result)

    def plot(
        self,
        ax: Any = None,
        *,
        name: str = "model",
        beside: Mapping[str, EquationFidelity | Roughness] | None = None,
        together: bool = True,
    ) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        name : str, default="model"
            What the result is called in the legend.
        beside : mapping from names to further results, or None
            Of other models, in the same picture.
        together : bool, default=True
            Whether the dashed lines are drawn.

        Returns
        -------
        self
        """
        self.figure_, self.ax_ = make_axes(ax, (5.6, 3.6))
        if beside is not None and not hasattr(beside, "items"):
            raise TypeError('beside must map names to results, such as {"trees": roughness(...)}.')
        several = {name: self.result, **(beside or {})}
        for one in several.values():
            _check(one)
        lowest = 0.0
        for number, (label, one) in enumerate(several.items()):
            lowest = min(lowest, self._draw(label, one, COLOURS[number % len(COLOURS)], together))
        self._label(len(several), max(1.15 * lowest, _LOWEST) if lowest < 0 else -0.03, together)
        return self

    def _draw(
        self, label: str, one: EquationFidelity | Roughness, colour: str, together: bool
    ) -> float:
        """Draw a result; returns its lowest value."""
        alone, all_of_them = one.one, one.together
        if isinstance(one, Roughness):
            alone, all_of_them = 1.0 - alone, 1.0 - all_of_them
        order = np.argsort(one.reach)
        reach = 100 * one.reach[order]
        self.ax_.plot(reach, alone[order], color=colour, lw=1.8, marker="o", ms=3.5, label=label)
        drawn = [alone]
        if together:
            style = {"lw": 1.2, "ls": _DASHES, "marker": "o", "ms": 2.5}
            self.ax_.plot(reach, all_of_them[order], color=colour, **style)
            drawn.append(all_of_them)
        found = np.concatenate(drawn)
        return float(np.nanmin(found)) if np.isfinite(found).any() else 0.0

    def _label(self, n_results: int, low: float, together: bool) -> None:
        ax = self.ax_
        ax.axhline(0, color=GREY, lw=0.6)
        ax.set_ylim(low, 1.03)
        ax.set_xscale("log")
        ticks = np.unique(100 * np.round(self.result.reach, 6))
        ax.set_xticks(ticks, [f"{tick:g} %" for tick in ticks])
        ax.minorticks_off()
        counted = self.result.n_columns
        few = (
            f"{counted.min()}"
            if counted.min() == counted.max()
            else f"{counted.min()} to {counted.max()}"
        )
        n = self.result.schema.n_features
        ax.set_xlabel(
            f"reach, as a share of each column's span\n({few} of {n} columns have values in reach)"
        )
        ax.set_ylabel("share explained by a line")
        ax.set_title("How far lines through a row hold", loc="left", color=INK)
        handles = list(ax.get_legend_handles_labels()[0]) if n_results > 1 else []
        if together:
            line, colour = matplotlib("lines").Line2D, GREY if n_results > 1 else COLOURS[0]
            handles += [
                line([], [], color=colour, lw=1.8, label="one column at a time"),
                line([], [], color=colour, lw=1.2, ls=_DASHES, label="all columns at once"),
            ]
        if handles:
            ax.legend(handles=handles, fontsize=8, frameon=False)
        tidy(ax)


def _check(result: object) -> None:
    if not isinstance(result, EquationFidelity | Roughness):
        raise TypeError(
            "FidelityDisplay draws what equation_fidelity or roughness returns, and others by "
            f"plot(beside={{name: result}}); it got a {type(result).__name__}."
        )
