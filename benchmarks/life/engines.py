"""Engines for the elastic net on correlated hinges: `python -m benchmarks.life.engines`.

Each engine follows the same falling penalties, from one fit to the next by its own warm start, in
a process of its own that is ended at a time cap. Seconds are the processor's, on one thread, for
the fits alone, Gram matrices included; the cap is on the clock. Objectives
are computed here, for all engines alike, at every penalty.
"""

from __future__ import annotations

import csv
import importlib.metadata
import importlib.util
import multiprocessing
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.bars import RESULTS
from lifenet._threads import one_blas_thread
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.losses import Logistic, Loss, SquaredError
from lifenet.neurons.features import Activations
from lifenet.neurons.layer import Layer
from lifenet.output.elastic_net import make_paths
from lifenet.output.sparse_path import Units

N_ROWS, N_INPUTS, N_HINGES = 36_000, 10, 1_500
N_PENALTIES, LEAST_SHARE, L1_RATIO = 20, 1e-3, 0.5
CAP_SECONDS = 30.0
PACKAGES = ("lifenet", "scikit-learn", "glum", "skglm", "celer", "numpy", "scipy")

Model = tuple[np.ndarray, float]  # coefficients of the standardised hinges, and the intercept


@dataclass(frozen=True)
class Task:
    """Hinges of correlated inputs, and a target that no few of them make exactly.

    Attributes
    ----------
    X : (n_rows, n_inputs)
    theta : (n_hinges, n_inputs + 1), of hinges with mean-square deviation one
    features : (n_rows, n_hinges), for the libraries, which all want the whole matrix
    y : (n_rows,)
    penalties : (n_penalties,), falling
    """

    loss: Loss
    X: np.ndarray
    theta: np.ndarray
    features: np.ndarray
    y: np.ndarray
    penalties: np.ndarray


def make_task(loss: Loss, n_rows: int = N_ROWS, n_hinges: int = N_HINGES) -> Task:
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, N_INPUTS)) + 0.7 * generator.normal(size=(n_rows, 1))
    theta = generator.normal(size=(n_hinges, N_INPUTS + 1))
    features = np.asfortranarray(np.maximum(X @ theta[:, :-1].T + theta[:, -1], 0.0))
    spread = features.std(axis=0)
    theta, features = theta / spread[:, None], features / spread
    features -= features.mean(axis=0)
    signal = np.abs(X[:, 0]) + X[:, 1] * X[:, 2] + np.sin(2 * X[:, 3]) + X[:, 4] - 1.0
    if isinstance(loss, SquaredError):
        y = signal + generator.normal(size=n_rows)
    else:
        y = (signal + generator.logistic(size=n_rows) > 0).astype(float)
    largest = np.abs(features.T @ (y - y.mean())).max() / n_rows / L1_RATIO
    penalties = np.geomspace(largest, LEAST_SHARE * largest, N_PENALTIES)
    return Task(loss, X, theta, features, y, penalties)


def objective(task: Task, penalty: float, model: Model) -> float:
    b, intercept = model
    size = L1_RATIO * np.abs(b).sum() + (1 - L1_RATIO) / 2 * np.sum(b**2)
    score = task.features @ b + intercept
    return float(task.loss.value(task.y, score[:, None]).mean() + penalty * size)


# Each engine yields a model for every penalty


def lifenet(task: Task) -> Iterator[Model]:
    layer = Layer.of(Activations(task.theta[:, :-1], task.theta[:, -1]), np.ones(len(task.theta)))
    problem = Problem(ArrayRows.of(task.X, task.y), task.loss)
    units = Units.measure(problem, layer)
    path = make_paths(problem, units, L1_RATIO, np.zeros(len(task.y), int), 1).whole
    for penalty in task.penalties:
        model = path.advance(float(penalty), 1e-4)[:, 0]
        yield model[:-1], float(model[-1])


def sklearn_squared(task: Task) -> Iterator[Model]:
    """Coordinate descent on the Gram matrix."""
    from sklearn.linear_model import enet_path

    mean = task.y.mean()
    gram, cross = task.features.T @ task.features, task.features.T @ (task.y - mean)
    b = np.zeros(len(cross))
    for penalty in task.penalties:
        b = enet_path(
            task.features,
            task.y - mean,
            l1_ratio=L1_RATIO,
            alphas=[penalty],
            precompute=gram,
            Xy=cross,
            coef_init=b,
            check_input=False,
            max_iter=100_000,
        )[1][:, 0]
        yield b, mean


def sklearn_logistic(task: Task) -> Iterator[Model]:
    from sklearn.linear_model import LogisticRegression

    peer = LogisticRegression(l1_ratio=L1_RATIO, solver="saga", warm_start=True, max_iter=10_000)
    for penalty in task.penalties:
        peer.set_params(C=1 / (penalty * len(task.y))).fit(task.features, task.y)
        yield peer.coef_[0].copy(), float(peer.intercept_[0])


def glum(task: Task) -> Iterator[Model]:
    from glum import GeneralizedLinearRegressor

    family = "normal" if isinstance(task.loss, SquaredError) else "binomial"
    peer = GeneralizedLinearRegressor(
        family=family, l1_ratio=L1_RATIO, warm_start=True, max_iter=1000, copy_X=False
    )
    for penalty in task.penalties:
        peer.set_params(alpha=penalty).fit(task.features, task.y)
        yield peer.coef_.copy(), float(peer.intercept_)


def skglm_squared(task: Task) -> Iterator[Model]:
    from skglm import ElasticNet

    peer = ElasticNet(l1_ratio=L1_RATIO, warm_start=True)
    for penalty in task.penalties:
        peer.set_params(alpha=penalty).fit(task.features, task.y)
        yield peer.coef_.copy(), float(np.ravel(peer.intercept_)[0])


def skglm_logistic(task: Task) -> Iterator[Model]:
    from skglm import GeneralizedLinearEstimator
    from skglm.datafits import Logistic as Datafit
    from skglm.penalties import L1_plus_L2
    from skglm.solvers import ProxNewton

    start, intercept = np.zeros(task.features.shape[1]), 0.0
    for penalty in task.penalties:
        solver = ProxNewton(warm_start=True, fit_intercept=True)
        peer = GeneralizedLinearEstimator(Datafit(), L1_plus_L2(penalty, L1_RATIO), solver)
        peer.coef_, peer.intercept_ = start[None, :], np.array([intercept])
        peer.fit(task.features, task.y)
        start, intercept = np.ravel(peer.coef_).copy(), float(np.ravel(peer.intercept_)[0])
        yield start, intercept


def celer_squared(task: Task) -> Iterator[Model]:
    from celer import ElasticNet

    peer = ElasticNet(l1_ratio=L1_RATIO, warm_start=True)
    for penalty in task.penalties:
        peer.set_params(alpha=penalty).fit(task.features, task.y)
        yield peer.coef_.copy(), float(peer.intercept_)


Engine = Callable[[Task], Iterator[Model]]
ENGINES: list[tuple[str, str, Loss, Engine | None]] = [
    ("lifenet", "lifenet", SquaredError(), lifenet),
    ("scikit-learn enet_path", "sklearn", SquaredError(), sklearn_squared),
    ("glum", "glum", SquaredError(), glum),
    ("skglm", "skglm", SquaredError(), skglm_squared),
    ("celer", "celer", SquaredError(), celer_squared),
    ("lifenet", "lifenet", Logistic(), lifenet),
    ("scikit-learn saga", "sklearn", Logistic(), sklearn_logistic),
    ("glum", "glum", Logistic(), glum),
    ("skglm", "skglm", Logistic(), skglm_logistic),
    ("celer", "celer", Logistic(), None),  # its logistic regression has no l2 part, no intercept
]


def _work(engine: Engine, task: Task, results: Any) -> None:
    """Run an engine, sending (seconds so far, objective, non-zero coefficients) a penalty."""
    warnings.simplefilter("ignore")
    try:
        list(engine(make_task(task.loss, 300, 20)))  # compile whatever is compiled at first use
        seconds, models = 0.0, engine(task)
        for penalty in task.penalties:
            begun = time.process_time()
            model = next(models)
            seconds += time.process_time() - begun
            results.send((seconds, objective(task, penalty, model), np.count_nonzero(model[0])))
    except Exception as error:
        results.send(repr(error)[:80])


def follow(engine: Engine, task: Task, cap: float) -> tuple[list[tuple[float, float, int]], str]:
    """What an engine reached at each penalty within the cap, and a remark."""
    context = multiprocessing.get_context("fork")  # the task is large: share it
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(engine, task, sender))
    process.start()
    deadline = time.perf_counter() + cap + 10.0  # compiling and computing objectives
    reached: list[tuple[float, float, int]] = []
    remark = ""
    while len(reached) < len(task.penalties) and not remark:
        if not receiver.poll(max(deadline - time.perf_counter(), 0.0)):
            remark = f">cap {cap:.0f} s"
        elif isinstance(message := receiver.recv(), str):
            remark = message
        else:
            reached.append(message)
    process.kill()
    process.join()
    return reached, remark


def measure(cap: float = CAP_SECONDS) -> list[dict[str, Any]]:
    """One row for each engine and loss."""
    runs: list[tuple[str, str, list[tuple[float, float, int]], str]] = []
    tasks: dict[str, Task] = {}
    for name, package, loss, engine in ENGINES:
        kind = type(loss).__name__
        if engine is None:
            runs.append((name, kind, [], "not offered"))
        elif importlib.util.find_spec(package) is None:
            runs.append((name, kind, [], "not installed"))
        else:
            if kind not in tasks:
                tasks = {kind: make_task(loss)}
            runs.append((name, kind, *follow(engine, tasks[kind], cap)))
        print(name, kind, len(runs[-1][2]), runs[-1][3], flush=True)
    return [_row(run, runs) for run in runs]


def _row(run: tuple[Any, ...], runs: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Excess: the largest relative distance from the least objective of all engines."""
    name, kind, reached, remark = run
    peers = [other[2] for other in runs if other[1] == kind]
    excess = [
        mine[1] / min(peer[index][1] for peer in peers if len(peer) > index) - 1
        for index, mine in enumerate(reached)
    ]
    half = reached[N_PENALTIES // 2][0] if len(reached) > N_PENALTIES // 2 else np.nan
    return {
        "loss": kind,
        "engine": name,
        "penalties_done": len(reached),
        "cpu_seconds": f"{reached[-1][0]:.2f}" if reached else "",
        "cpu_seconds_first_11": f"{half:.2f}",
        "last_objective": f"{reached[-1][1]:.9f}" if reached else "",
        "last_nonzero": reached[-1][2] if reached else "",
        "worst_excess": f"{max(excess):.1e}" if reached else "",
        "remark": remark,
    }


def versions() -> str:
    found = []
    for name in PACKAGES:
        try:
            found.append(f"{name} {importlib.metadata.version(name)}")
        except importlib.metadata.PackageNotFoundError:
            found.append(f"{name} absent")
    return f"# Python {platform.python_version()}, {', '.join(found)}; one thread"


def main() -> None:
    with one_blas_thread():
        rows = measure()
    for row in [dict.fromkeys(rows[0], ""), *rows]:
        cells = row.values() if any(row.values()) else row.keys()
        print("  ".join(f"{cell!s:>22.22}" for cell in cells))
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "life-engines.csv").open("w", newline="") as file:
        file.write(
            f"{versions()}; {N_ROWS} rows, {N_HINGES} hinges of {N_INPUTS} inputs, "
            f"{N_PENALTIES} penalties down to {LEAST_SHARE:g} of the largest\n"
        )
        writer = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


if __name__ == "__main__":
    main()
