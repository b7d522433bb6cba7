"""Neurons and the columns behind them: figures `neuron_imp` and `heatmap_imp` of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain.importance import feature_importance
from lifenet.explain.neurons import neuron_contributions, neuron_importance
from lifenet.plots._display import ResultDisplay
from lifenet.plots._style import BLUE, DIVERGING, GREY, INK, fold, make_axes, tidy
from lifenet.plots.coefficients import folded

if TYPE_CHECKING:
    from typing import Self

    from lifenet._typing import Floats, Integers
    from lifenet.explain.importance import FeatureImportance
    from lifenet.explain.neurons import NeuronContributions, NeuronImportance

__all__ = ["FeatureImportanceDisplay", "NeuronContributionDisplay", "NeuronImportanceDisplay"]

#: Neurons below this share of the largest importance are shown in the first bar.
_FAINT = 1e-4
#: Bars a power of ten.
_BARS = 8


class NeuronImportanceDisplay(ResultDisplay):
    """Histogram of the neurons by importance, on a logarithmic scale.

    A line marks a share of the largest importance; the neurons above it are coloured and counted.

    Parameters
    ----------
    result : NeuronImportance
    """

    _explain = staticmethod(neuron_importance)
    result: NeuronImportance

    def plot(self, ax: Any = None, *, share: float = 0.02) -> Self:
        """Draw the histogram.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        share : float, default=0.02
            Of the largest importance; where the line stands.

        Returns
        -------
        self
        """
        if not 10 * _FAINT <= share < 1:
            raise ValueError(f"share must lie between {10 * _FAINT:g} and 1; it is {share}.")
        self.figure_, self.ax_ = make_axes(ax, (5.6, 3.4))
        importance = self.result.importance
        largest = float(importance.max(initial=0.0)) or 1.0
        ratio = importance / largest
        edges = _edges(share, float(ratio.min(initial=1.0)))
        above = ratio > share
        for some, colour in ((above, BLUE), (~above, GREY)):
            counts, _ = np.histogram(np.clip(ratio[some], edges[0], 1.0), edges)
            self.ax_.bar(
                edges[:-1] * largest,
                counts,
                np.diff(edges) * largest,
                align="edge",
                color=colour,
                edgecolor="white",
                linewidth=0.6,
            )
        self.ax_.axvline(share * largest, color=INK, linewidth=0.9, linestyle=(0, (4, 2)))
        self.ax_.set_xscale("log")
        self.ax_.set_xlim(edges[0] * largest, 1.05 * largest)
        self._label(share, largest)
        return self

    def _label(self, share: float, largest: float) -> None:
        ax, importance = self.ax_, self.result.importance
        ax.set(xlabel="importance: sd of the neuron's part / sd of the score", ylabel="neurons")
        ax.yaxis.get_major_locator().set_params(integer=True)
        n_faint = int(np.sum(importance < _FAINT * largest))
        lines = [f"{self.result.n_above(share):,} of {len(importance):,} neurons exceed "]
        lines[0] += f"{100 * share:g} % of the largest (blue)"
        if n_faint:
            lines.append(f"{n_faint:,} below {100 * _FAINT:g} % are in the first bar")
        if self.result.linear:
            lines.append(f"linear part: {self.result.linear:.2g}")
        ax.set_title("\n".join(lines), loc="left", fontsize=9, color=INK)
        tidy(ax)


def _edges(share: float, smallest: float) -> Floats:
    """Bars of equal width on the logarithmic scale, on either side of the line."""
    least = min(max(smallest, _FAINT), 0.4 * share)
    below = max(1, round(_BARS * np.log10(share / least)))
    above = max(1, round(-_BARS * np.log10(share)))
    edges = [np.geomspace(least, share, below + 1), np.geomspace(share, 1.0, above + 1)[1:]]
    return np.concatenate(edges)


class NeuronContributionDisplay(ResultDisplay):
    """Heat map of columns by neurons, the most important of both first.

    Purple where the score rises with the column through the neuron, orange where it falls. The
    linear part, where there is one, stands apart at the right.

    Parameters
    ----------
    result : NeuronContributions
    """

    _explain = staticmethod(neuron_contributions)
    result: NeuronContributions

    def plot(self, ax: Any = None, *, max_neurons: int = 25, max_columns: int = 20) -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_neurons, max_columns : int
            How many to show at most; the title says how many are left out.

        Returns
        -------
        self
        """
        for name, value in (("max_neurons", max_neurons), ("max_columns", max_columns)):
            if value < 1:
                raise ValueError(f"{name} must be at least 1; it is {value}.")
        neurons, columns = self._chosen(max_neurons, max_columns)
        values = self.result.contribution[neurons].T[columns]
        labels = [str(neuron) for neuron in neurons]
        if self.result.has_linear:
            gap = np.full(len(columns), np.nan)
            values = np.column_stack([values, gap, self.result.linear[columns]])
            labels += ["", "linear"]
        elif not labels:
            values, labels = np.zeros((len(columns), 1)), ["none"]
        size = (1.9 + 0.27 * max(len(labels), 8), 1.0 + 0.24 * max(len(columns), 5))
        self.figure_, self.ax_ = make_axes(ax, size)
        self._draw(values)
        names = fold([self.result.schema.names[column] for column in columns], 24)
        self._label(labels, names)
        return self

    def _chosen(self, max_neurons: int, max_columns: int) -> tuple[Integers, Integers]:
        every = np.vstack([self.result.contribution, self.result.linear])
        columns = np.argsort(-np.abs(every).sum(axis=0), kind="stable")
        return self.result.order[:max_neurons], columns[:max_columns]

    def _draw(self, values: Floats) -> None:
        shown = np.nan_to_num(np.abs(values))
        reach = float(shown.max(initial=0.0)) or 1.0
        image = self.ax_.imshow(
            np.ma.masked_invalid(values),
            cmap=DIVERGING,
            vmin=-reach,
            vmax=reach,
            aspect="auto",
            interpolation="nearest",
        )
        # White lines between the cells, so that pale ones can be told apart.
        for place in range(1, values.shape[0]):
            self.ax_.axhline(place - 0.5, color="white", linewidth=0.8)
        for place in range(1, values.shape[1]):
            self.ax_.axvline(place - 0.5, color="white", linewidth=0.8)
        bar = self.figure_.colorbar(image, ax=self.ax_, fraction=0.05, pad=0.02)
        bar.outline.set_visible(False)
        bar.ax.tick_params(labelsize=7, length=2, color=GREY, labelcolor=INK)
        bar.set_label("contribution to the\nneuron's importance", fontsize=8, color=INK)

    def _label(self, labels: list[str], names: list[str]) -> None:
        ax, result = self.ax_, self.result
        tidy(ax)
        places = [place for place, label in enumerate(labels) if label]
        crowded = len(labels) > 12 or result.has_linear
        ax.set_xticks(places, [labels[place] for place in places], rotation=90 if crowded else 0)
        ax.set_yticks(range(len(names)), names)
        ax.tick_params(length=0)
        for side in ("left", "bottom"):
            ax.spines[side].set_visible(False)
        ax.set_xlabel("neuron, the most important first")
        n_neurons = sum(label.isdigit() for label in labels)
        ax.set_title(
            f"{_some(n_neurons, len(result.contribution), 'neurons')}, "
            f"{_some(len(names), result.schema.n_features, 'columns')}",
            loc="left",
            fontsize=9,
            color=INK,
        )


def _some(shown: int, every: int, what: str) -> str:
    return f"{every:,} {what}" if shown == every else f"{shown:,} of {every:,} {what}"


class FeatureImportanceDisplay(ResultDisplay):
    """Features by how much the score changes when their value is taken from another row, as bars.

    Parameters
    ----------
    result : FeatureImportance
    """

    _explain = staticmethod(feature_importance)
    result: FeatureImportance

    def plot(self, ax: Any = None, *, max_features: int = 20) -> Self:
        """Draw the bars, the most important feature at the top.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
        max_features : int, default=20
            How many to show at most; the largest of the others is written below.

        Returns
        -------
        self
        """
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1; it is {max_features}.")
        order, importance = self.result.order, np.nan_to_num(self.result.relative)
        names = fold([self.result.features[place] for place in order[:max_features]], 24)
        sizes = importance[order[:max_features]]
        rest = importance[order[max_features:]]
        self.figure_, self.ax_ = make_axes(ax, (5.4, 0.9 + 0.24 * max(len(sizes) + 1, 3)))
        self.ax_.barh(range(len(sizes)), sizes, color=BLUE, height=0.7)
        reach = float(sizes.max()) or 1.0
        for place, size in enumerate(sizes):
            self._write(size + 0.01 * reach, place, size, INK)
        if len(rest):
            # Without a bar, which would dwarf the others.
            names.append(f"others ({len(rest)})")
            self._write(0.01 * reach, len(sizes), float(rest.max()), GREY, "at most ")
        self._label(names, reach)
        return self

    def _write(self, x: float, y: float, size: float, colour: str, before: str = "") -> None:
        text = f"{before}{size:.2f}" if size >= 0.005 or not size else "< 0.01"
        self.ax_.text(x, y, text, va="center", fontsize=7.5, color=colour)

    def _label(self, names: list[str], reach: float) -> None:
        ax = self.ax_
        ax.set_yticks(range(len(names)), names)
        ax.set(ylim=(len(names) - 0.4, -0.6), xlim=(0, 1.14 * reach))
        label = f"change of the {self.score_name} when the value is another row's, "
        label += "in its standard deviations"
        tidy(ax)
        ax.set_xlabel(folded(ax, label, 11))
        ax.tick_params(axis="y", length=0)
