"""Figures of section 2.3 and of base learner selection: `stack_life`, `loss_dec`, `base`.

A setting is one fit of LIFE. Its members are stacked too, with weights on the simplex fitted to the
training rows; the loss of that weighted mean is decomposed on the test rows, and stands beside
LIFE's own. Cutoffs of step 1 are settings like others, so that both figures share their fits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit

from benchmarks.paper.experiments import REGRESSION, TABLES
from benchmarks.paper.samples import draw_sample
from lifenet import (
    LLA,
    BaseLearnerSelection,
    LIFEClassifier,
    LIFERegressor,
    NeuronProjection,
    RidgeOutput,
)
from lifenet.plots import DecompositionDisplay, SelectionDisplay, StackingLineDisplay
from lifenet.plots._style import INK, VERMILION, tidy
from lifenet.theory import (
    DecompositionCurve,
    compare_settings,
    decompose,
    selection_curve,
    simplex_weights,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from benchmarks.paper.experiments import Data
    from benchmarks.paper.figures_data import Store
    from benchmarks.paper.samples import Sample

SMALL_ROWS = 400
#: Probabilities are kept so far from 0 and 1, where a loss would be infinite.
_MARGIN = 1e-6
_PARTS = {"train": "training rows", "test": "test rows"}


@dataclass(frozen=True)
class Setting:
    """Parameters of one fit; the name says what is unlike the others."""

    name: str
    cutoff: float = -0.3
    levels: tuple[int, ...] = (8, 8)
    networks: int = 40
    neurons: int = 6
    lower: float = 0.02
    upper: float = 0.995


@dataclass(frozen=True)
class Pair:
    """Two data sets of one task, and the names of the two figures that show them."""

    data: tuple[Data, Data]
    spaces: tuple[str, ...]
    decomposition: str
    comparison: str


REGRESSIONS = Pair(
    (TABLES["sim_reg1"].find("MIM"), TABLES["real_reg"].find("california_housing")),
    ("squared",),
    "loss_dec",
    "stack_life_reg",
)
CLASSES = Pair(
    (TABLES["sim_cal1"].find("MIM"), TABLES["real_cla"].find("magic")),
    ("probability", "log-odds"),
    "loss_dec_cla",
    "stack_life_cal",
)
_CUTOFFS = (-1.2, -0.8, -0.5, -0.3, -0.15, 0.0, 0.15, 0.4, 0.7)
CUTOFFS = tuple(Setting(f"cutoff {cutoff:g}", cutoff) for cutoff in _CUTOFFS)
OTHERS = (
    Setting("3 neurons", neurons=3),
    Setting("4 neurons", neurons=4),
    Setting("10 neurons", neurons=10),
    Setting("10 networks", networks=10),
    Setting("20 networks", networks=20),
    Setting("one level of 20", levels=(20,)),
    Setting("shares of 0.3 to 0.7", lower=0.3, upper=0.7),
)
_TINY = {"levels": (3,), "networks": 3, "neurons": 2}
SMALL_CUTOFFS = tuple(Setting(f"cutoff {cut:g}", cut, **_TINY) for cut in (-0.5, 0.0))
SMALL_OTHERS = (Setting("4 neurons", **{**_TINY, "neurons": 4}),)

KEEP = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SELECTION = Setting("base learner selection", networks=60, neurons=8, lower=0.1, upper=0.9)
SELECTED = tuple(TABLES["sim_reg1"].find(name) for name in ("GAM", "MIM"))


def draw_decompositions(pair: Pair, store: Store) -> Figure:
    """Accuracy and diversity, and the loss that they leave, against the average subset size."""
    _complete(pair, _cutoffs(store), store, pair.decomposition)
    table = store.read(f"{pair.decomposition}.csv")
    figure, axes = plt.subplots(2, 1, figsize=(8.6, 7.0), layout="constrained")
    for ax, data in zip(axes, pair.data, strict=True):
        rows = table[(table["data"] == data.name) & (table["space"] == pair.spaces[0])]
        _draw_decomposition(ax, data, rows.sort_values("subset_share"))
    return figure


def _draw_decomposition(ax: Any, data: Data, rows: pd.DataFrame) -> None:
    label = "average subset size (share of the training rows)"
    terms = {name: rows[name].to_numpy() for name in ("loss", "accuracy", "diversity", "n_used")}
    curve = DecompositionCurve(label, rows["subset_share"].to_numpy(), **terms)
    _, right = DecompositionDisplay(curve).plot(ax).axes_
    loss = "mean squared error" if data.task == REGRESSION else "cross-entropy"
    right.set_ylabel(f"{loss} of the mixture")
    beside = right.twinx()
    beside.plot(curve.x, curve.accuracy, "-o", ms=3.5, lw=1.4, color=VERMILION, alpha=0.6)
    beside.set_ylabel("accuracy: members' loss")
    tidy(beside)
    beside.spines["right"].set(visible=True, color=VERMILION, linewidth=0.6)
    beside.tick_params(axis="y", colors=VERMILION)
    beside.yaxis.label.set_color(VERMILION)
    right.figure.suptitle(f"{data.title}, test rows", fontsize=11, x=0.01, ha="left")


def draw_comparisons(pair: Pair, store: Store) -> Figure:
    """LIFE's loss against that of stacking the same members, on training and on test rows."""
    settings = (*_cutoffs(store), *(SMALL_OTHERS if store.small else OTHERS))
    _complete(pair, settings, store, pair.comparison)
    table = store.read(f"{pair.comparison}.csv")
    figure, axes = plt.subplots(2, 2, figsize=(8.2, 8.4), layout="constrained")
    for row, data in zip(axes, pair.data, strict=True):
        for ax, (part, words) in zip(row, _PARTS.items(), strict=True):
            shown = table[(table["data"] == data.name) & (table["part"] == part)]
            line = compare_settings(shown["stacking"], shown["life"], list(shown["setting"]))
            StackingLineDisplay(line).plot(ax)
            ax.locator_params(nbins=5)
            _name(ax, f"{data.title}, {words}")
    return figure


def _name(ax: Any, name: str) -> None:
    """Put a line above what the title says, folded where it is long."""
    title = ax.get_title().replace("; ", ";\n")
    ax.set_title(f"{name}\n{title}", fontsize=9, color=INK)


def _cutoffs(store: Store) -> tuple[Setting, ...]:
    return SMALL_CUTOFFS if store.small else CUTOFFS


def _complete(pair: Pair, settings: tuple[Setting, ...], store: Store, figure: str) -> None:
    """Measure the settings that are not kept, one by one, each written when it is done."""
    for data in pair.data:
        kept = store.read(f"{pair.comparison}.csv")
        done = set() if kept.empty else set(kept.loc[kept["data"] == data.name, "setting"])
        missing = [one for one in settings if one.name not in done]
        if not missing:
            continue
        store.refuse(figure, f"{len(missing)} of {len(settings)} settings of {data.name} are")
        sample = draw_sample(data, 0, SMALL_ROWS if store.small else None)
        for setting in missing:
            print(f"  {figure}: {data.name}, {setting.name}", flush=True)
            terms, losses = measure(pair, data, sample, setting)
            if setting in _cutoffs(store):
                store.add(f"{pair.decomposition}.csv", terms, ("data", "space", "cutoff"))
            store.add(f"{pair.comparison}.csv", losses, ("data", "setting", "part"))


def measure(
    pair: Pair, data: Data, sample: Sample, setting: Setting
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of the two tables: decompositions a space, and losses of stacking and LIFE a part."""
    model = _fit(data, sample, setting)
    members = [_scores(model, X) for X in (sample.X, sample.X_test)]
    targets = (sample.y, sample.y_test)
    terms = []
    for space in pair.spaces:
        parts = [_in_space(scores, space) for scores in members]
        weights = simplex_weights(parts[0], sample.y, space=space)
        train, test = (
            decompose(part, y, weights, space=space) for part, y in zip(parts, targets, strict=True)
        )
        terms.append(
            {
                "data": data.name, "space": space, "cutoff": setting.cutoff,
                "subset_share": float(np.mean([one.subset.share for one in model.members_])),
                "loss": test.loss, "accuracy": test.accuracy, "diversity": test.diversity,
                "train_loss": train.loss, "train_accuracy": train.accuracy,
                "train_diversity": train.diversity,
                "n_members": len(model.members_), "n_used": int(np.count_nonzero(weights)),
            }
        )  # fmt: skip
    # The last space is the one in which a weighted mean of members is one of LIFE's output layers.
    losses = [
        {
            "data": data.name, "setting": setting.name, "part": part, "stacking": mixed.loss,
            "life": decompose(model.network_.score(X), y, "equal", space=space).loss,
        }
        for part, mixed, X, y in zip(
            _PARTS, (train, test), (sample.X, sample.X_test), targets, strict=True
        )
    ]  # fmt: skip
    return terms, losses


def _fit(data: Data, sample: Sample, setting: Setting) -> Any:
    sampler = NeuronProjection(
        levels=setting.levels,
        lower=setting.lower,
        upper=setting.upper,
        cutoff=setting.cutoff,
        max_networks=setting.networks,
    )
    kind = LIFERegressor if data.task == REGRESSION else LIFEClassifier
    model = kind(sampler, LLA(setting.neurons), random_state=0)
    return model.fit(sample.X, sample.y)


def _scores(model: Any, X: Any) -> Any:
    """Predictions or log-odds of all members, (n_samples, n_members)."""
    return np.column_stack([one.network.score(X)[:, 0] for one in model.members_])


def _in_space(scores: Any, space: str) -> Any:
    return np.clip(expit(scores), _MARGIN, 1 - _MARGIN) if space == "probability" else scores


def draw_selection(store: Store) -> Figure:
    """R² on test rows against neurons, by the share of members that selection keeps."""
    for data in SELECTED:
        _complete_selection(data, store)
    table = store.read("base.csv")
    figure, axes = plt.subplots(1, 2, figsize=(8.6, 3.8), layout="constrained")
    for ax, data in zip(axes, SELECTED, strict=True):
        rows = table[table["data"] == data.name]
        some, (whole,) = rows[rows["keep"] < 1], rows[rows["keep"] == 1].to_dict("records")
        curve = selection_curve(
            some["neurons"].to_numpy(),
            some["r_squared"].to_numpy(),
            keep=some["keep"].to_numpy(),
            all_members=(whole["neurons"], whole["r_squared"]),
        )
        SelectionDisplay(curve).plot(ax)
        ax.set(ylabel="R², test rows")
        _name(ax, data.title)
    return figure


def _complete_selection(data: Data, store: Store) -> None:
    """One fit of all members, of which ever fewer are in the output layer."""
    kept = store.read("base.csv")
    if not kept.empty and data.name in set(kept["data"]):
        return
    store.refuse("base", f"{data.name} is")
    print(f"  base: {data.name}", flush=True)
    sample = draw_sample(data, 0, SMALL_ROWS if store.small else None)
    setting = Setting("", **_TINY) if store.small else SELECTION
    model = _fit(data, sample, setting)
    rows = []
    for keep in (*((0.4, 0.7) if store.small else KEEP), 1.0):
        readout = "linear" if keep == 1 else BaseLearnerSelection(keep, RidgeOutput(penalty=0.0))
        model.set_params(readout=readout).refit_readout(sample.X, sample.y)
        rows.append(
            {
                "data": data.name, "keep": keep, "neurons": model.network_.n_neurons,
                "r_squared": model.score(sample.X_test, sample.y_test),
                "train_r_squared": model.score(sample.X, sample.y),
            }
        )  # fmt: skip
    store.add("base.csv", rows, ("data", "keep"))
