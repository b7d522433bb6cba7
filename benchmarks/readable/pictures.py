"""The frontier of error and fidelity as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.readable.models import DEFAULT, PAPER, PRICES, TODAY, at_price
from benchmarks.readable.work import FITS

if TYPE_CHECKING:
    from collections.abc import Sequence

IMAGE = Path(__file__).parents[2] / "docs" / "images" / "smoothness.png"
_TITLES = {
    "airfoil": "Airfoil",
    "german_credit": "German credit",
    "heloc": "HELOC",
    "bike_sharing": "Bike sharing",
    "california_housing": "California",
}


def frontiers(sets: Sequence[str]) -> None:
    """Error over the roughest network's against fidelity, a panel for each set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    known = {
        (row["part"], row["data"]): row
        for label in (TODAY, DEFAULT, PAPER, *map(at_price, PRICES))
        for row in FITS.read(label)
        if row["seed"] == 0
    }
    figure, axes = plt.subplots(1, len(sets), figsize=(3 * len(sets), 3), layout="constrained")
    for ax, data in zip(axes, sets, strict=True):
        base = known[at_price(0.0), data]["error"]
        path = [known[at_price(price), data] for price in PRICES]
        x, y = [one["one"] for one in path], [one["error"] / base for one in path]
        ax.plot(
            x, y, color="C0", marker="o", markersize=3, linewidth=1.2, label="smoothness 0 to 30"
        )
        for label, marker, color in ((DEFAULT, "D", "C0"), (PAPER, "s", "C1")):
            one = known[label, data]
            name = f'preset "{label}"' if label == PAPER else 'smoothness "auto"'
            ax.plot(one["one"], one["error"] / base, marker, color=color, markersize=8, label=name)
        ax.axhline(1, color="0.8", linewidth=0.8, zorder=0)
        ax.set_title(_TITLES[data], fontsize=10)
        ax.set_xlabel("share of changes explained\nby equations, reach 5 %", fontsize=8)
        ax.tick_params(labelsize=8)
        ax.margins(0.08)
    axes[0].set_ylabel("test error over that of smoothness 0", fontsize=8)
    axes[0].legend(fontsize=7, frameon=False)
    figure.savefig(IMAGE, dpi=130)
    plt.close(figure)
