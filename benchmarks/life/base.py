"""The base methods with all of LIFE's seconds: started again and again, the best kept.

LLA and Adam of `tables` stop when they have converged, which is often long before LIFE is done.
Here each goes on from other starts, at the width chosen there, until it has computed for as many
seconds as LIFE took on that very split; the network with the lowest training loss is
evaluated. Both make a bar: the single fit, and this one.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import log_loss, roc_auc_score

from benchmarks.life import store, tables
from lifenet import AdamClassifier, AdamRegressor, LLAClassifier, LLARegressor

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.bars import Bars

PART = "restarts"
BASES = {
    ("LLA", "regression"): LLARegressor,
    ("LLA", "classification"): LLAClassifier,
    ("Adam", "regression"): AdamRegressor,
    ("Adam", "classification"): AdamClassifier,
}


def run(bars: Bars) -> None:
    sets = {**tables.REGRESSION, **tables.CLASSIFICATION}
    jobs = [job for job in tables.jobs(sets) if job[0] != "mushroom"]
    store.run_missing(PART, jobs, restarts_job)
    rows = store.read(PART)
    for part, metric in (("regression", "RMSE"), ("classification", "log-loss")):
        of_part = store.read(part)
        for name in dict.fromkeys(row["data"] for row in of_part):
            base = store.by_method(rows, name, "error")
            life = store.by_method(of_part, name, "error")
            for solver in base:
                tables.bar_against_base(
                    bars, name, metric, solver, life[f"LIFE({solver})"], base[solver],
                    f"{solver} restarted for LIFE's seconds",
                )  # fmt: skip
    note_starts(bars)


def note_starts(bars: Bars) -> None:
    """Seconds spent over LIFE's, and how many starts that were."""
    rows = store.read(PART)
    for solver in ("LLA", "Adam"):
        parts = []
        for name in dict.fromkeys(row["data"] for row in rows):
            of_set = [one for one in rows if one["data"] == name and one["method"] == solver]
            shares = [row["seconds"] / _life_row(name, row["seed"], solver)[1] for row in of_set]
            starts = [int(_number("starts", row["setting"])) for row in of_set]
            parts.append(f"{name} {min(shares):.2f} ({int(np.median(starts))} starts)")
        bars.note(f"least share of LIFE's seconds that {solver} had (starts): {', '.join(parts)}")


def restarts_job(name: str, seed: int) -> list[dict[str, Any]]:
    """Both base methods on one split."""
    return [_restart(name, seed, solver) for solver in ("LLA", "Adam")]


def _restart(name: str, seed: int, solver: str) -> dict[str, Any]:
    X, X_test, y, y_test = tables.split(name, seed)
    task, seconds, setting = _life_row(name, seed, solver)
    regression = task == "regression"

    def make(start: int) -> Any:
        return BASES[solver, task](**_settings(setting), random_state=start)

    def predict(model: Any, X: Any) -> Any:
        return model.predict(X) if regression else model.predict_proba(X)[:, 1]

    def loss(y: Any, values: Any) -> float:
        return float(np.mean(np.square(values - y)) if regression else log_loss(y, values))

    begun = time.process_time()
    model, n_starts = best_of_starts(
        make, X, y, lambda model: loss(y, predict(model, X)), seconds, first=seed
    )
    spent = time.process_time() - begun
    values = predict(model, X_test)
    error = loss(y_test, values)
    return store.row(
        PART,
        name,
        seed,
        solver,
        error=error**0.5 if regression else error,
        second=1 - error / np.var(y_test) if regression else roc_auc_score(y_test, values),
        seconds=spent,
        neurons=model.network_.n_neurons,
        setting=f"{setting}, starts {n_starts}",
    )


def best_of_starts(
    make: Callable[[int], Any],
    X: Any,
    y: Any,
    training_loss: Callable[[Any], float],
    seconds: float,
    first: int,
) -> tuple[Any, int]:
    """Fit from one start after the other until the seconds are spent; the best, and how many.

    Seconds are of computing in this one thread: other work on the machine does not use them up.
    Every start runs until it has converged, the last one too.
    """
    best, least, n_starts, begun = None, np.inf, 0, time.process_time()
    while best is None or time.process_time() - begun < seconds:
        model = make(first + 1000 * n_starts).fit(X, y)
        n_starts += 1
        loss = training_loss(model)
        if loss < least:
            best, least = model, loss
    return best, n_starts


def _life_row(name: str, seed: int, solver: str) -> tuple[str, float, str]:
    """The task, LIFE's seconds on a split, and the setting that was chosen for its base."""
    task = "regression" if name in tables.REGRESSION else "classification"
    rows = [one for one in store.read(task) if one["data"] == name and one["seed"] == seed]
    seconds = next(one["seconds"] for one in rows if one["method"] == f"LIFE({solver})")
    setting = next(one["setting"] for one in rows if one["method"] == solver)
    return task, seconds, setting


def _settings(setting: str) -> dict[str, Any]:
    """Parameters from their description: "width 80, epochs 100" or "width 80"."""
    chosen: dict[str, Any] = {"n_neurons": int(_number("width", setting))}
    if "epochs" in setting:
        chosen["max_epochs"] = None if "epochs auto" in setting else int(_number("epochs", setting))
    return chosen


def _number(word: str, setting: str) -> str:
    found = re.search(rf"{word} (\d+)", setting)
    if found is None:
        raise ValueError(f"No number after {word!r} in {setting!r}.")
    return found.group(1)
