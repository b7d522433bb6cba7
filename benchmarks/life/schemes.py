"""Sampling schemes against each other: the paper's table `data_sample`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from benchmarks.life import store
from benchmarks.life.paper import paper_figure
from benchmarks.life.tables import split, timed_fit
from lifenet import (
    Adam,
    AdamClassifier,
    Bootstrap,
    LIFEClassifier,
    LIFERegressor,
    LLARegressor,
    NeuronProjection,
    RandomProjection,
)
from lifenet.datasets import simulate

if TYPE_CHECKING:
    from benchmarks.bars import Bars

N_SEEDS, N_SUBSETS, WIDTH = 5, 60, 40
SETS = {
    "MIM (Regression)": ("RMSE", "R2"),
    "California Housing": ("RMSE", "R2"),
    "MIM (Classification)": ("logloss", "AUC"),
    "Gamma Telescope": ("logloss", "AUC"),
}
SCHEMES = {
    "NN projection": NeuronProjection(levels=(20, 20), max_networks=N_SUBSETS),
    "Random projection": RandomProjection(N_SUBSETS),
    "Bootstrapping": Bootstrap(N_SUBSETS),
}
SINGLE = "LLA or Adam"


def run(bars: Bars) -> None:
    jobs = [(name, seed) for name in SETS for seed in range(N_SEEDS)]
    store.run_missing("sampling", jobs, job)
    rows = store.read("sampling")
    lines = [
        f"{N_SUBSETS} members of 10 neurons; a single network of {WIDTH}. The paper's deviations "
        "in brackets.",
        "",
        "| data | scheme | error (sd) | R² or AUC | the paper: error | R² or AUC |",
        "|---|---|---|---|---|---|",
    ]
    for name, metrics in SETS.items():
        error = store.by_method(rows, name, "error")
        if not error:
            continue
        second = store.by_method(rows, name, "second")
        for scheme in (*SCHEMES, SINGLE):
            theirs = [paper_figure("data_sample", name, metric, scheme) for metric in metrics]
            lines.append(
                f"| {name} | {scheme} | {error[scheme].mean():.4f} "
                f"({error[scheme].std(ddof=1):.4f}) | {second[scheme].mean():.4f} "
                f"| {' | '.join(theirs)} |"
            )
        ratios = [
            f"{scheme} {float(np.mean(error['NN projection'] / error[scheme])):.3f}"
            for scheme in (*list(SCHEMES)[1:], SINGLE)
        ]
        bars.note(f"error of NN projection over the others, {name}: {', '.join(ratios)}")
    bars.files["life-sampling.md"] = "\n".join(lines) + "\n"


def job(name: str, seed: int) -> list[dict[str, Any]]:
    classes = SETS[name][0] == "logloss"
    X, X_test, y, y_test = _data(name, seed)
    if classes:
        models: dict[str, Any] = {
            scheme: LIFEClassifier(sampler, Adam(10)) for scheme, sampler in SCHEMES.items()
        }
        models[SINGLE] = AdamClassifier(WIDTH)
    else:
        models = {scheme: LIFERegressor(sampler) for scheme, sampler in SCHEMES.items()}
        models[SINGLE] = LLARegressor(WIDTH)
    rows = []
    for scheme, unfitted in models.items():
        model, seconds = timed_fit(unfitted.set_params(random_state=seed), X, y)
        if classes:
            share = model.predict_proba(X_test)[:, 1]
            error, second = log_loss(y_test, share), roc_auc_score(y_test, share)
        else:
            residual = float(np.mean(np.square(model.predict(X_test) - y_test)))
            error, second = residual**0.5, 1 - residual / float(np.var(y_test))
        rows.append(
            store.row(
                "sampling",
                name,
                seed,
                scheme,
                error=error,
                second=second,
                seconds=seconds,
                neurons=model.network_.n_neurons,
            )
        )
    return rows


def _data(name: str, seed: int) -> tuple[Any, ...]:
    if name == "California Housing":
        return split("california_housing", seed)
    if name == "Gamma Telescope":
        return split("magic", seed)
    task = "regression" if "Regression" in name else "classification"
    data = simulate.mim(20_000, task=task, predictors="laplace", scale=2.0, random_state=seed)
    return tuple(train_test_split(data.X, data.y, test_size=0.2, random_state=seed))
