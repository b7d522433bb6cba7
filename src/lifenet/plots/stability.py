"""How much readings move from network to network, as bands and whiskers."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.stability import stability
from lifenet.plots._display import ResultDisplay, choose_output, read_estimator
from lifenet.plots._style import (
    BLUE,
    GREY,
    INK,
    columns_for,
    fold,
    folded_to,
    make_axes,
    make_panels,
    put_legend,
    tidy,
)
from lifenet.plots.effects import draw_curve, line_handle, marks_of, panel_size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from lifenet._typing import Floats
    from lifenet.explain.stability import Stability

__all__ = ["StabilityDisplay"]

KINDS = ("effects", "importance", "interactions")


class StabilityDisplay(ResultDisplay):
    """Effects with bands, or importance or interactions with whiskers, over several networks.

    Parameters
    ----------
    result : Stability
    """

    result: Stability
    axes_: list[Any]
    _explain = staticmethod(stability)

    @classmethod
    def from_estimator(
        cls, estimator: Iterable[Any], *args: Any, ax: Any = None, **options: Any
    ) -> Self:
        """Compare several fitted models of the same columns, and draw.

        Parameters
        ----------
        estimator : iterable of fitted models
        *args, ax, **options : as in `from_network`
        """
        models = list(estimator)
        score_name = choose_output(models[0], options) if models else cls.score_name
        if all(hasattr(one, "network_") for one in models):
            # Explanations read these themselves, tables of any kind included.
            return cls._computed(models, args, options, score_name, ax)
        read = [read_estimator(one) for one in models]
        schema = next((known for _, known in read if known is not None), None)
        if schema is not None:
            options.setdefault("schema", schema)
        return cls._computed([network for network, _ in read], args, options, score_name, ax)

    def plot(
        self,
        ax: Any = None,
        *,
        kind: str = "effects",
        level: float = 0.9,
        max_features: int = 12,
    ) -> Self:
        """Draw one of the three views.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        kind : {"effects", "importance", "interactions"}, default="effects"
        level : float, default=0.9
            Share of the networks that a band holds at each value.
        max_features : int, default=12
            Most features, or pairs; the title says how many are left out.

        Returns
        -------
        self
        """
        if kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; it is {kind!r}.")
        if not 0 < level <= 1:
            raise ValueError(f"level must be above 0 and at most 1; it is {level}.")
        if kind == "effects":
            return self._plot_effects(ax, level, max_features)
        return self._plot_whiskers(ax, kind, max_features)

    def _plot_effects(self, ax: Any, level: float, max_features: int) -> Self:
        result = self.result
        order = np.argsort(-result.strength.mean(axis=0), kind="stable")[:max_features]
        n_columns = columns_for(len(order))
        n_rows = -(-len(order) // n_columns)
        space = {"hspace": 0.6, "wspace": 0.35, "bottom": 0.2}
        figure, grid = make_panels(ax, n_rows, n_columns, panel_size(len(order)), **space)
        bands = [result.band(result.features[place], level) for place in order]
        curves = [replace(mean, low=lower, high=upper) for mean, lower, upper in bands]
        low = min(float(one[1].min()) for one in bands)
        high = max(float(one[2].max()) for one in bands)
        room = 0.08 * (high - low) or 1.0
        self.figure_, self.axes_ = figure if ax is None else ax.figure, []
        for number, curve in enumerate(curves):
            panel = figure.add_subplot(grid[divmod(number, n_columns)])
            draw_curve(panel, curve, BLUE)
            for line in panel.lines[1:]:
                line.set(linewidth=0.8, markersize=1.6)  # so that narrow bands are seen
            panel.set_ylim(low - 2 * room, high + room)
            panel.set_title(fold([curve.feature], 30)[0])
            tidy(panel)
            self.axes_.append(panel)
        self.ax_ = self.axes_[0] if ax is None else ax
        title = (
            f"Accumulated local effect on the {self.score_name}: "
            f"mean and {level:.0%} band of {result.n_networks} networks"
        )
        title += _left_out(len(result.features) - len(order), "weaker not shown")
        figure.suptitle(folded_to(figure, title, 10), fontsize=10, color=INK)
        mean = line_handle(BLUE, "mean", thin=True)
        put_legend(figure, ax, [mean, *marks_of(curves, f"middle {level:.0%} of the networks")])
        return self

    def _plot_whiskers(self, ax: Any, kind: str, most: int) -> Self:
        names, figures = self._figures(kind)
        order = np.argsort(-figures.mean(axis=0), kind="stable")[:most]
        self.figure_, self.ax_ = make_axes(ax, (5.4, 1.3 + 0.26 * len(order)))
        self.axes_ = [self.ax_]
        places = np.arange(len(order))[::-1]
        chosen = figures[:, order]
        low, high = chosen.min(axis=0), chosen.max(axis=0)
        self.ax_.hlines(places, low, high, color=GREY, lw=1, label="from lowest to highest")
        for number, one in enumerate(chosen):
            label = "_" if number else "a network"
            self.ax_.plot(one, places, "o", ms=3, color=BLUE, alpha=0.45, mew=0, label=label)
        self.ax_.plot(chosen.mean(axis=0), places, "|", ms=11, mew=2, color=BLUE, label="mean")
        if ax is None:
            put_legend(self.figure_, ax, self.ax_.get_legend_handles_labels()[0])
        else:  # few have large figures at the foot
            self.ax_.legend(fontsize=7.5, frameon=False, labelcolor=INK, loc="lower right")
        self.ax_.set_yticks(places, fold([names[place] for place in order], 34))
        self.ax_.set_ylim(-0.7, len(order) - 0.3)
        self.ax_.set_xlim(left=0)
        unit = (
            f"change of the {self.score_name} when the value is another row's"
            if kind == "importance"
            else f"strength, in units of the {self.score_name}"
        )
        self.ax_.set_xlabel(unit)
        what = "Importance of features" if kind == "importance" else "Interactions of pairs"
        left_out = _left_out(len(names) - len(order), "not shown")
        agreement = self.result.agreement()[kind]
        title = (
            f"{what} in {self.result.n_networks} networks{left_out}\n"
            f"mean rank correlation between networks {agreement:.2f}"
        )
        tidy(self.ax_)
        if ax is None:
            self.figure_.suptitle(title, fontsize=9.5, color=INK)
        else:
            self.ax_.set_title(title)
        return self

    def _figures(self, kind: str) -> tuple[list[str], Floats]:
        """Names, and the figures of each network, (n_networks, n_names)."""
        features = self.result.features
        if kind == "importance":
            return list(features), self.result.importance
        one, other = np.triu_indices(len(features), 1)
        short = fold(features, 16)
        names = [f"{short[a]} x {short[b]}" for a, b in zip(one, other, strict=True)]
        return names, self.result.interactions[:, one, other]


def _left_out(number: int, words: str) -> str:
    return f" ({number} {words})" if number > 0 else ""
