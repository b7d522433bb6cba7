"""docs/images/peers.png: LIFE's error over each peer's, set by set."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from benchmarks.paper.analysis import geometric
from benchmarks.peers.analysis import Column
from benchmarks.peers.experiments import BY_AUC, DATA, DEFAULT, TUNED
from benchmarks.peers.models import BEST, LIFE
from lifenet.plots._style import COLOURS, GREY, INK, PALE, tidy

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

    from benchmarks.paper.experiments import Data
    from benchmarks.peers.analysis import Results

PANELS = {
    Column(DEFAULT, LIFE): "LIFE's default over others\nwith default settings",
    Column(TUNED, BEST): 'LIFE "best" over others tuned\non each set (EBM as it comes)',
}
_PEERS = {
    "XGBoost": (COLOURS[0], "o"),
    "LightGBM": (COLOURS[2], "s"),
    "CatBoost": (COLOURS[1], "D"),
    "EBM": (COLOURS[4], "^"),
}
_MEAN = "geometric mean"
#: Ratios beyond are drawn at the edge, as arrows.
_LOWEST, _HIGHEST = 0.6, 1.1
_ARROWS = ("$\u2190$", "$\u2192$")
_TICKS = (0.6, 0.7, 0.8, 0.9, 1.0, 1.1)


def write(results: Results, path: Path) -> None:
    """Draw it to a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    draw(results).savefig(path, dpi=110)


def draw(results: Results) -> Figure:
    """A panel for each of LIFE's columns, a line for each set, the means below.

    Marks are hollow where not all seeds of the peer were run.
    """
    sets = _ordered(results)
    figure = Figure(figsize=(9.0, 1.6 + 0.27 * max(len(sets), 5)), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.1, h_pad=0.08)
    axes = figure.subplots(1, len(PANELS), sharey=True)
    for ax, (ours, title) in zip(axes, PANELS.items(), strict=True):
        _panel(ax, results, ours, sets)
        ax.set_title(title, fontsize=10, color=INK)
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(_PEERS), frameon=False)
    return figure


def _ordered(results: Results) -> list[Data]:
    """Sets with a ratio, those where "best" (or else the default) is furthest ahead first."""

    def lead(data: Data) -> float:
        found = [geometric(_ratios(results, ours, data)) for ours in reversed(PANELS)]
        return next((one for one in found if not np.isnan(one)), np.nan)

    leads = {data: lead(data) for data in DATA.values() if data.name not in BY_AUC}
    known = {data: one for data, one in leads.items() if not np.isnan(one)}
    return sorted(known, key=known.__getitem__)


def _ratios(results: Results, ours: Column, data: Data) -> list[float]:
    return [results.ratio(ours, Column(ours.table, peer), data) for peer in _PEERS]


def _panel(ax: Axes, results: Results, ours: Column, sets: list[Data]) -> None:
    places = np.append(np.arange(len(sets)), len(sets) + 0.4)
    ax.axvspan(1.0, 1.02 * _HIGHEST, color=PALE, alpha=0.35, lw=0)
    ax.axvline(1.0, color=GREY, lw=1)
    for peer, (colour, marker) in _PEERS.items():
        column = Column(ours.table, peer)
        ratios = np.array([results.ratio(ours, column, data) for data in sets])
        whole = np.array([results.whole(column, data) is not None for data in sets] + [True])
        ratios = np.append(ratios, geometric(ratios))
        inside = (ratios >= _LOWEST) & (ratios <= _HIGHEST)
        for some, look in (
            (inside & whole, {"mfc": colour, "mec": "white", "mew": 0.5, "label": peer}),
            (inside & ~whole, {"mfc": "white", "mec": colour, "mew": 1.2}),
        ):
            ax.plot(ratios[some], places[some], marker, ms=6, alpha=0.85, zorder=3, **look)
        for beyond, edge, arrow in (
            (ratios < _LOWEST, _LOWEST, _ARROWS[0]),
            (ratios > _HIGHEST, _HIGHEST, _ARROWS[1]),
        ):
            at_edge = np.full(beyond.sum(), edge)
            ax.plot(at_edge, places[beyond], marker=arrow, color=colour, ms=9, ls="", zorder=3)
    ax.hlines(places, 0, 1, PALE, lw=0.6, transform=ax.get_yaxis_transform(), zorder=0)
    ax.axhline(len(sets) - 0.3, color=GREY, lw=0.6)
    ax.set_yticks(places, [*(data.title for data in sets), _MEAN], fontsize=9)
    ax.set_ylim(len(sets) + 0.9, -0.7)
    ax.set_xscale("log")
    ax.set_xlim(0.98 * _LOWEST, 1.02 * _HIGHEST)
    ax.xaxis.set_major_locator(FixedLocator(_TICKS))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.1f}"))
    ax.set_xlabel("ratio of errors; left of 1 LIFE is better", fontsize=9, color=INK)
    ax.tick_params(axis="y", length=0)
    tidy(ax)
