"""The paper's figures by its labels: data computed once and kept, then drawn as SVG and PNG.

Delete a file of the data folder, or lines of it, to compute them anew.
"""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator
from PIL import Image

from benchmarks.paper import figures_bike, figures_theory, figures_time, records
from benchmarks.paper.experiments import RESNETS
from benchmarks.paper.figures_data import NothingToDraw, Store
from lifenet.plots._style import BLUE, COLOURS, INK, ORANGE, VERMILION, tidy

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from matplotlib.figure import Figure

#: Dots an inch: of the picture, and of clouds of points in the drawing.
DPI, CLOUD_DPI = 150, 60
#: The colours of the paper's figure, where LIFE is orange.
_COLOURS = dict(zip(RESNETS, (BLUE, ORANGE, COLOURS[2], VERMILION), strict=True))
_TABLE = "MNIST_ResNet18"


def draw(
    name: str, *, folder: Path, data_folder: Path, kept: bool = False, small: bool = False
) -> tuple[Path, ...]:
    """Draw a figure; returns the files, none where there is nothing to draw (a line says why).

    Parameters
    ----------
    name : one of `NAMES`
    folder : where NAME.svg and NAME.png go
    data_folder : where the data are kept; the records of tables are looked for beside it
    kept : whether to draw only from what is kept, and compute nothing
    small : whether tiny data and few settings will do
    """
    if name not in _FIGURES:
        raise ValueError(f"There is no figure {name!r}; there are {', '.join(NAMES)}.")
    try:
        figure = _FIGURES[name](Store(data_folder, kept, small))
    except NothingToDraw as reason:
        print(reason, flush=True)
        return ()
    return _save(figure, name, folder)


def _save(figure: Figure, name: str, folder: Path) -> tuple[Path, ...]:
    folder.mkdir(parents=True, exist_ok=True)
    drawing, picture = folder / f"{name}.svg", folder / f"{name}.png"
    # The same drawing is the same file: no date, and names of parts that do not change.
    with mpl.rc_context({"svg.hashsalt": name}):
        figure.savefig(drawing, dpi=CLOUD_DPI, metadata={"Date": None})
    with io.BytesIO() as buffer:
        figure.savefig(buffer, format="png", dpi=DPI)
        plt.close(figure)
        # 256 colours are enough, and a third of the size.
        few = Image.open(buffer).convert("RGB").quantize(256, dither=Image.Dither.NONE)
    few.save(picture, optimize=True, dpi=(DPI, DPI))
    return drawing, picture


def draw_resnet(store: Store) -> Figure:
    """AUC and log-loss of ResNet18 and of the models on its features, seed by seed."""
    runs = [
        one
        for one in records.read(store.folder.parent / records.FILE)
        if one["kind"] == records.FIT and one["table"] == _TABLE and "failed" not in one
    ]
    if not runs:
        raise NothingToDraw(
            f"ResNet18_LIFE: no fits of table {_TABLE} are kept; run scripts/bench paper "
            f"--table {_TABLE} first."
        )
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.6), layout="constrained")
    for ax, field, label in zip(axes, ("second", "error"), ("AUC", "log-loss"), strict=True):
        for model in RESNETS:
            points = sorted((one["seed"], one[field]) for one in runs if one["model"] == model)
            if points:
                look = {"color": _COLOURS[model], "lw": 1.4, "ms": 4}
                ax.plot(*zip(*points, strict=True), "-o", label=model.replace("_", " + "), **look)
        ax.set(xlabel="seed", ylabel=f"{label}, test rows")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        tidy(ax)
    handles, labels = axes[0].get_legend_handles_labels()
    place = {"loc": "outside upper center", "ncols": len(labels)}
    figure.legend(handles, labels, fontsize=8, frameon=False, labelcolor=INK, **place)
    return figure


_FIGURES: dict[str, Callable[[Store], Figure]] = {
    "stack_life_reg": partial(figures_theory.draw_comparisons, figures_theory.REGRESSIONS),
    "stack_life_cal": partial(figures_theory.draw_comparisons, figures_theory.CLASSES),
    "loss_dec": partial(figures_theory.draw_decompositions, figures_theory.REGRESSIONS),
    "loss_dec_cla": partial(figures_theory.draw_decompositions, figures_theory.CLASSES),
    "ResNet18_LIFE": draw_resnet,
    **{name: partial(figures_bike.draw_reading, name) for name in figures_bike.READINGS},
    "base": figures_theory.draw_selection,
    "equal_width": figures_time.draw_equal_width,
}
#: The paper's labels of its figures that show results, and one that it does not have.
NAMES = tuple(_FIGURES)
