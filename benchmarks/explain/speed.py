"""How long readings take, against one prediction pass and against the usual tools.

All ratios are of times measured in turn in one run, with one thread.
"""

from __future__ import annotations

import contextlib
import io
import logging
import time
import tracemalloc
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from threadpoolctl import threadpool_limits

from lifenet.explain import accumulated_effects
from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bars import Bars

N_FEATURES = 20


def run(bars: Bars) -> None:
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the other tools
        equations(bars)
        effects(bars)
        attributions(bars)


def _network(n_neurons: int) -> ReluNetwork:
    generator = np.random.default_rng(0)
    weights = generator.normal(size=(n_neurons, N_FEATURES))
    bias, beta = generator.normal(size=n_neurons), generator.normal(size=n_neurons)
    return ReluNetwork(weights, bias, beta, 0.0)


def _rows(n_rows: int) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n_rows, N_FEATURES))


def _seconds(work: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _medians(*works: Callable[[], Any], repeats: int = 3) -> list[float]:
    """Median seconds of each, taken in turn."""
    found = [[_seconds(work) for work in works] for _ in range(repeats)]
    return np.median(found, axis=0).tolist()


def equations(bars: Bars) -> None:
    """All local equations of a million rows: slopes and constants."""
    network, X = _network(500), _rows(1_000_000)
    predict, slopes = _medians(lambda: network.score(X), lambda: network.equation(X))
    bars.at_most(
        "local equations of 1,000,000 rows x 20 at m = 500 over one prediction pass",
        slopes / predict, 30.0, ".2f",
    )  # fmt: skip
    tracemalloc.start()
    result = network.gradient(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    bars.at_most("their memory beyond the result, MB", (peak - result.nbytes) / 1e6, 100, ".0f")


def effects(bars: Bars) -> None:
    """Exact ALE of all columns against binned ALE with 100 bins through `predict`."""
    import effector
    import pandas as pd
    from PyALE import ale

    network, X = _network(1_000), _rows(100_000)
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(N_FEATURES)])

    class Model:
        def predict(self, rows: Any) -> np.ndarray:
            return network.score(np.asarray(rows)).ravel()

    def by_pyale() -> None:
        logging.disable(logging.CRITICAL)
        with contextlib.redirect_stdout(io.StringIO()):
            for name in frame.columns:
                ale(frame, Model(), [name], feature_type="continuous", grid_size=100,
                    include_CI=False, plot=False)  # fmt: skip
        logging.disable(logging.NOTSET)

    def by_effector() -> None:
        method = effector.ALE(X, Model().predict, nof_instances="all")
        bins = effector.axis_partitioning.Fixed(nof_bins=100, min_points_per_bin=0)
        for column in range(N_FEATURES):
            method.fit(features=column, binning_method=bins)

    ours, pyale, other = _medians(lambda: accumulated_effects(network, X), by_pyale, by_effector)
    note = f"seconds: lifenet {ours:.2f}, PyALE {pyale:.2f}, effector {other:.2f}"
    bars.note(f"ALE of 20 columns, n = 100,000, m = 1,000; {note}")
    for name, theirs in (("PyALE", pyale), ("effector", other)):
        bars.at_least(
            f"binned ALE by {name} (100 bins) over exact ALE, time", theirs / ours, 10.0, ".1f"
        )


def attributions(bars: Bars) -> None:
    """Exact contributions of 10,000 rows against SHAP, 100 background rows."""
    import shap
    import torch

    network, X = _network(500), _rows(10_000)
    background = X[:100]
    module = _torch(network)
    tensor = torch.tensor(X)

    def by_deep() -> None:
        explainer = shap.DeepExplainer(module, torch.tensor(background))
        explainer.shap_values(tensor, check_additivity=False)

    some = 100

    def by_permutation() -> None:
        explainer = shap.PermutationExplainer(lambda rows: network.score(rows).ravel(), background)
        explainer(X[:some], silent=True)

    def by_contributions() -> None:
        network.contributions(X)
        network.local_intercept(X)

    reference = background.mean(axis=0)
    own, path, deep, permutation = _medians(
        by_contributions, lambda: network.segment(reference, X), by_deep, by_permutation
    )
    permutation *= len(X) / some
    quicker = min(deep, permutation)
    bars.note(
        f"10,000 rows, m = 500; seconds: contributions {own:.3f}, waterfall from the mean "
        f"{path:.3f}, DeepExplainer {deep:.2f}, PermutationExplainer {permutation:.2f} "
        f"({some} rows, scaled up); 100 background rows"
    )
    for name, ours in (("contributions", own), ("waterfall from a reference", path)):
        bars.at_least(f"the quicker of SHAP's over exact {name}, time", quicker / ours, 10.0, ".1f")


def _torch(network: ReluNetwork) -> Any:
    import torch

    hidden = torch.nn.Linear(network.n_features, network.n_neurons, dtype=torch.float64)
    readout = torch.nn.Linear(network.n_neurons, 1, dtype=torch.float64)
    with torch.no_grad():
        hidden.weight[:] = torch.tensor(network.weights)
        hidden.bias[:] = torch.tensor(network.bias)
        readout.weight[:] = torch.tensor(network.beta.T)
        readout.bias[:] = torch.tensor(network.intercept)
    return torch.nn.Sequential(hidden, torch.nn.ReLU(), readout)
