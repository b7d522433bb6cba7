"""Figures of section 2.3 and of base learner selection: `stack_life`, `loss_dec`, `base`.

A setting is one fit of LIFE. For the decomposition, its members are stacked with weights on the
simplex fitted to the training rows; the loss of that weighted mean is decomposed on the test rows.
For the comparison with stacking, settings are drawn at random, and both output layers are what the
paper has: least squares, or the largest likelihood, without a penalty or a constraint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import expit
from sklearn.linear_model import LinearRegression, LogisticRegression

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
    from collections.abc import Callable

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
#: Settings of the comparison with stacking, drawn at random.
N_RANDOM = 40
_TINY = {"levels": (3,), "networks": 3, "neurons": 2}
SMALL_CUTOFFS = tuple(Setting(f"cutoff {cut:g}", cut, **_TINY) for cut in (-0.5, 0.0))
SMALL_RANDOM = tuple(Setting(f"random {n}", **{**_TINY, "neurons": n}) for n in (2, 3, 4))

KEEP = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
SELECTION = Setting("base learner selection", networks=60, neurons=8, lower=0.1, upper=0.9)
SELECTED = tuple(TABLES["sim_reg1"].find(name) for name in ("GAM", "MIM"))


def random_settings(n: int = N_RANDOM) -> tuple[Setting, ...]:
    """Settings of all of LIFE's parameters, drawn at random; the same every time."""
    generator = np.random.default_rng(0)
    found = []
    for number in range(n):
        n_levels = int(generator.integers(1, 3))
        found.append(
            Setting(
                f"random {number}",
                cutoff=round(float(generator.uniform(-1.0, 0.5)), 3),
                levels=tuple(int(one) for one in generator.integers(4, 16, n_levels)),
                networks=int(generator.integers(10, 61)),
                neurons=int(generator.integers(2, 11)),
                lower=round(float(generator.uniform(0.02, 0.2)), 3),
                upper=round(float(generator.uniform(0.8, 0.99)), 3),
            )
        )
    return tuple(found)


def draw_decompositions(pair: Pair, store: Store) -> Figure:
    """Accuracy and diversity, and the loss that they leave, against the average subset size."""
    settings = SMALL_CUTOFFS if store.small else CUTOFFS
    _complete(pair, settings, store, pair.decomposition, measure)
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
    settings = SMALL_RANDOM if store.small else random_settings()
    _complete(pair, settings, store, pair.comparison, compare)
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


def _complete(
    pair: Pair,
    settings: tuple[Setting, ...],
    store: Store,
    figure: str,
    measured: Callable[[Pair, Data, Sample, Setting], list[dict[str, Any]]],
) -> None:
    """Measure the settings that are not kept, one by one, each written when it is done."""
    for data in pair.data:
        kept = store.read(f"{figure}.csv")
        done = set() if kept.empty else set(kept.loc[kept["data"] == data.name, "setting"])
        missing = [one for one in settings if one.name not in done]
        if not missing:
            continue
        store.refuse(figure, f"{len(missing)} of {len(settings)} settings of {data.name} are")
        sample = draw_sample(data, 0, SMALL_ROWS if store.small else None)
        for setting in missing:
            print(f"  {figure}: {data.name}, {setting.name}", flush=True)
            about = {"data": data.name, "setting": setting.name}
            rows = [{**about, **row} for row in measured(pair, data, sample, setting)]
            own = "space" if measured is measure else "part"
            store.add(f"{figure}.csv", rows, ("data", "setting", own))


def measure(pair: Pair, data: Data, sample: Sample, setting: Setting) -> list[dict[str, Any]]:
    """The decomposition of the mixture's loss, a row a space."""
    model = _fit(data, sample, setting)
    members = [_scores(model, X) for X in (sample.X, sample.X_test)]
    terms = []
    for space in pair.spaces:
        parts = [_in_space(scores, space) for scores in members]
        weights = simplex_weights(parts[0], sample.y, space=space)
        train, test = (
            decompose(part, y, weights, space=space)
            for part, y in zip(parts, (sample.y, sample.y_test), strict=True)
        )
        terms.append(
            {
                "space": space, "cutoff": setting.cutoff,
                "subset_share": float(np.mean([one.subset.share for one in model.members_])),
                "loss": test.loss, "accuracy": test.accuracy, "diversity": test.diversity,
                "train_loss": train.loss, "train_accuracy": train.accuracy,
                "train_diversity": train.diversity,
                "n_members": len(model.members_), "n_used": int(np.count_nonzero(weights)),
            }
        )  # fmt: skip
    return terms


def compare(pair: Pair, data: Data, sample: Sample, setting: Setting) -> list[dict[str, Any]]:
    """Losses of LIFE and of stacking the same members, both without a penalty, a row a part."""
    model = _fit(data, sample, setting, readout="linear")
    parts = {"train": (sample.X, sample.y), "test": (sample.X_test, sample.y_test)}
    members = {part: _scores(model, X) for part, (X, _) in parts.items()}
    stacked = stack(members["train"], sample.y, data.task)
    return [
        {
            "part": part,
            "stacking": mean_loss(stacked(members[part]), y, data.task),
            "life": mean_loss(model.network_.score(X)[:, 0], y, data.task),
            "neurons": model.network_.n_neurons,
        }
        for part, (X, y) in parts.items()
    ]


def stack(scores: Any, y: Any, task: str) -> Callable[[Any], Any]:
    """A linear model of the members' scores, by least squares or the largest likelihood."""
    center, scale = scores.mean(axis=0), scores.std(axis=0)
    scale = np.where(scale > 0, scale, 1.0)
    if task == REGRESSION:
        fitted: Any = LinearRegression().fit((scores - center) / scale, y)
        return lambda other: fitted.predict((other - center) / scale)
    # Hardly a penalty: without any, members that tell classes apart would never end it.
    fitted = LogisticRegression(C=1e6, max_iter=2_000).fit((scores - center) / scale, y)
    return lambda other: fitted.decision_function((other - center) / scale)


def mean_loss(scores: Any, y: Any, task: str) -> float:
    """Mean squared error, or log-loss of log-odds."""
    if task == REGRESSION:
        return float(np.mean(np.square(scores - y)))
    return float(np.mean(np.logaddexp(0.0, scores) - y * scores))


def _fit(data: Data, sample: Sample, setting: Setting, readout: Any = None) -> Any:
    sampler = NeuronProjection(
        levels=setting.levels,
        lower=setting.lower,
        upper=setting.upper,
        cutoff=setting.cutoff,
        max_networks=setting.networks,
    )
    kind = LIFERegressor if data.task == REGRESSION else LIFEClassifier
    model = kind(sampler, LLA(setting.neurons), readout, random_state=0)
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
