"""Training time at equal width: LIFE and its base, with as many neurons in all.

Not a figure of the paper, which states times of tuned models; those have 11 to 1,500 neurons here.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.paper.experiments import TABLES
from benchmarks.paper.samples import draw_sample
from lifenet import LLA, Adam, AdamRegressor, LIFERegressor, LLARegressor, NeuronProjection
from lifenet.plots._style import BLUE, COLOURS, INK, tidy

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from benchmarks.paper.figures_data import Store

FILE = "equal_width.csv"
#: Neurons in all, and those of a base learner.
WIDTH, MEMBER = 300, 10
SMALL_ROWS, SMALL_WIDTH = 300, 20
SOLVERS = ("LLA", "Adam")
SETS = tuple(one for one in TABLES["real_reg"].present if one.in_paper)


def draw_equal_width(store: Store) -> Figure:
    """CPU seconds of LIFE and of a single network of as many neurons, set by set."""
    sets = SETS[:2] if store.small else SETS
    for data in sets:
        for solver in SOLVERS:
            _measure(data, solver, store)
    table = store.read(FILE)
    figure, ax = plt.subplots(figsize=(6.6, 3.4), layout="constrained")
    names = [one.title for one in sets]
    for number, solver in enumerate(SOLVERS):
        for place, data in enumerate(sets):
            row = table[(table["data"] == data.name) & (table["solver"] == solver)].iloc[0]
            at = place + 0.16 * (2 * number - 1)
            colour = (BLUE, COLOURS[1])[number]
            ax.plot([at, at], [row["base_seconds"], row["life_seconds"]], color=colour, lw=1)
            ax.plot(at, row["base_seconds"], "o", color="white", mec=colour, ms=5)
            ax.plot(at, row["life_seconds"], "o", color=colour, ms=5)
    for number, solver in enumerate(SOLVERS):
        colour = (BLUE, COLOURS[1])[number]
        ax.plot([], [], "o", color=colour, label=f"LIFE({solver})")
        ax.plot([], [], "o", color="white", mec=colour, label=solver)
    ax.set_yscale("log")
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    ax.set_ylabel("CPU seconds of a fit")
    width = SMALL_WIDTH if store.small else WIDTH
    ax.set_title(f"Training time with {width} neurons in all", loc="left", color=INK)
    ax.legend(fontsize=8, frameon=False, ncols=2)
    tidy(ax)
    return figure


def _measure(data: Any, solver: str, store: Store) -> None:
    """Fit both once, unless that is kept."""
    table = store.read(FILE)
    if len(table) and ((table["data"] == data.name) & (table["solver"] == solver)).any():
        return
    store.refuse("equal_width", f"times of {solver} on {data.name} are")
    print(f"  equal_width: {solver} on {data.name}", flush=True)
    sample = draw_sample(data, 0, SMALL_ROWS if store.small else None)
    width = SMALL_WIDTH if store.small else WIDTH
    sampler = NeuronProjection(max_networks=width // MEMBER)
    members = LLA(MEMBER, ridge=1e-5, max_iter=20, tol=5e-3) if solver == "LLA" else Adam(MEMBER)
    life = LIFERegressor(sampler, members, random_state=0)
    base = (LLARegressor if solver == "LLA" else AdamRegressor)(width, random_state=0)
    row: dict[str, Any] = {"data": data.name, "solver": solver, "neurons": width}
    for name, model in (("life", life), ("base", base)):
        with threadpool_limits(1):
            begun = time.process_time()
            model.fit(sample.X, sample.y)
            row[f"{name}_seconds"] = time.process_time() - begun
        left = np.square(model.predict(sample.X_test) - sample.y_test).mean()
        row[f"{name}_error"] = float(np.sqrt(left))
    store.add(FILE, [row], ("data", "solver"))
