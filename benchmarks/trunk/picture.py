"""Draws docs/images/lla-race.png from results/trunk-race.csv: python -m benchmarks.trunk.picture"""

from __future__ import annotations

import csv
from collections import defaultdict
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt  # after the backend is chosen

from benchmarks.bars import RESULTS

PICTURE = Path(__file__).parents[2] / "docs" / "images" / "lla-race.png"
TITLES = {
    "casp": "CASP: 45,730 rows, 9 columns",
    "electrical_grid": "Electrical grid: 10,000 rows, 11 columns",
}
# Okabe and Ito's palette, told apart also by the colour-blind; markers differ as well.
LLA, PEERS = "#0072B2", {"MLP lbfgs": ("#D55E00", "o"), "MLP adam": ("#009E73", "^")}


def main() -> None:
    curves: dict[tuple[str, str, str], list[tuple[float, float]]] = defaultdict(list)
    with (RESULTS / "trunk-race.csv").open() as file:
        for row in csv.DictReader(file):
            key = (row["dataset"], row["method"], row["seed"])
            curves[key].append((float(row["seconds"]), float(row["training_loss"])))
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
    for axis, (dataset, title) in zip(axes, TITLES.items(), strict=True):
        draw(axis, {key[1:]: points for key, points in curves.items() if key[0] == dataset})
        axis.set_title(title, fontsize=10)
    axes[0].set_ylabel("training loss (half the squared error,\nstandardised target)", fontsize=9)
    axes[0].legend(fontsize=8, frameon=False)
    figure.savefig(PICTURE, dpi=160)


def draw(axis: plt.Axes, curves: dict[tuple[str, str], list[tuple[float, float]]]) -> None:
    ends = [points[-1][1] for (method, _), points in curves.items() if method != "LLA"]
    labelled = set()
    for (method, _), points in curves.items():
        label = None if method in labelled else method
        labelled.add(method)
        seconds, loss = zip(*points, strict=True)
        if method == "LLA":
            name = None if label is None else "LLA, 10 seeds, start to end"
            axis.plot(seconds, loss, color=LLA, lw=1, alpha=0.7, label=name)
        else:
            colour, marker = PEERS[method]
            name = None if label is None else f"{method}, where it ends"
            axis.plot(seconds, loss, marker, color=colour, ms=5, mfc="none", label=name, zorder=3)
    lowest = min(points[-1][1] for points in curves.values())
    axis.set_ylim(0.97 * lowest, 1.25 * max(ends))
    axis.set_xlim(left=0)
    axis.set_xlabel("seconds, one thread", fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
