"""What one process does: tune a model, or fit it to one replication."""

from __future__ import annotations

import resource
import sys
import time
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from optuna.trial import FixedTrial
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import (
    KFold,
    ShuffleSplit,
    StratifiedKFold,
    StratifiedShuffleSplit,
    train_test_split,
)

from benchmarks.paper.experiments import ORACLE, REGRESSION
from benchmarks.paper.models import readable
from benchmarks.paper.records import FIT
from benchmarks.paper.samples import TEST_SHARE, Sample, draw_sample
from lifenet.tuning import search

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.paper.models import Model
    from benchmarks.paper.protocol import Protocol
    from benchmarks.paper.records import Record
    from benchmarks.paper.runner import Job

# Parameters of LLA that had other names when the records were written, and what was not asked then.
_RENAMED = {"start": "init", "n_restarts": "n_init"}
_NOT_ASKED = {"penalty": "given"}
_SCORING = {REGRESSION: "neg_root_mean_squared_error", "classification": "neg_log_loss"}


def tune(job: Job, made: Model, protocol: Protocol, journal: Path) -> list[Record]:
    """Search a model's parameters on inner splits of the training part of seed 0."""
    task = job.data.task
    assert made.space is not None
    sample = draw_sample(job.data, 0, protocol.max_rows)
    X, y = _tuning_rows(sample, task, protocol)
    _make_ready(journal)
    cpu = time.process_time()
    found = search(
        made.build(task, 0),
        made.space(task),
        X,
        y,
        cv=_splits(task, protocol.n_splits(len(y))),
        scoring=_SCORING[task],
        budget_seconds=protocol.budget,
        clock=protocol.clock,
        min_trials=protocol.min_trials,
        max_trials=protocol.max_trials,
        trial_share=protocol.trial_share,
        journal=journal,
        random_state=0,
    )
    best = found.trials[found.best_number]
    # What the space is asked again for when models are fitted.
    values, parameters = (None if best.as_given else dict(best.values)), dict(found.best_params)
    confirmed: dict[str, float] = {}
    if values is not None and protocol.clear_gain is not None:
        confirmed = confirm(made, task, sample, parameters, protocol)
        if not confirmed["gain"] > protocol.clear_gain * confirmed["error"]:
            values, parameters = None, {}
    record = {
        **job.about,
        "params": readable(parameters),
        "score": found.best_score,
        "trials": len(found.trials),
        "endings": _endings(found.trials),
        "confirmed": confirmed,
        "seconds": round(found.seconds, 4),
        "cpu": round(time.process_time() - cpu, 4),
        "memory_mb": _peak_memory(),
        "split": sample.split,
        "budget": protocol.budget,
        "clock": protocol.clock,
        "trial": values,
        "shape": list(X.shape),
    }
    return [record]


def _splits(task: str, n: int) -> Any:
    """Inner splits, classes in proportion."""
    kind = ShuffleSplit if task == REGRESSION else StratifiedShuffleSplit
    return kind(n, test_size=TEST_SHARE, random_state=0)


def _tuning_rows(sample: Sample, task: str, protocol: Protocol) -> tuple[Any, Any]:
    """The rows of the training part that trials see."""
    most = protocol.tuning_rows
    if most is None or len(sample.y) <= most:
        return sample.X, sample.y
    classes = None if task == REGRESSION else sample.y
    X, _, y, _ = train_test_split(
        sample.X, sample.y, train_size=most, random_state=0, stratify=classes
    )
    return X, y


def confirm(
    made: Model, task: str, sample: Sample, parameters: dict[str, Any], protocol: Protocol
) -> dict[str, float]:
    """What the parameters found gain over the model as given, on rows that did not choose them.

    The rows are parts of a division in five that the search has not seen, of all training rows.
    """
    kind = KFold if task == REGRESSION else StratifiedKFold
    parts = kind(5, shuffle=True, random_state=1).split(sample.X, sample.y)
    gains = []
    for train, test in islice(parts, protocol.n_splits(len(sample.y))):
        losses = []
        for own in ({}, parameters):
            model = made.build(task, 0).set_params(**own).fit(sample.X[train], sample.y[train])
            losses.append(_losses(_output(model, sample.X[test], task), sample.y[test], task))
        gains.append(losses[0] - losses[1])
    gain = np.concatenate(gains)
    return {"gain": float(gain.mean()), "error": float(gain.std() / len(gain) ** 0.5)}


def _losses(output: Any, y: Any, task: str) -> Any:
    """Squared error, or minus the logarithm of the probability of the label, of each row."""
    if task == REGRESSION:
        return np.square(output - y)
    right = np.where(y == 1, output, 1.0 - output)
    return -np.log(np.maximum(right, np.finfo(np.float64).eps))


def fit(job: Job, made: Model | None, max_rows: int | None, tuning: Record | None) -> list[Record]:
    """Fit one cell with the parameters that its tuning found, and evaluate it on the test part.

    Without a model to make, the cell is the truth of a simulation.
    """
    task = job.data.task
    assert job.seed is not None
    sample = draw_sample(job.data, job.seed, max_rows)
    seconds = cpu = 0.0
    parameters: dict[str, Any] = {}
    neurons = None
    if made is None:
        output = sample.oracle if job.model == ORACLE else sample.attainable
    else:
        parameters = {} if tuning is None else chosen(made, task, tuning)
        model = made.build(task, job.seed).set_params(**parameters)
        begun, cpu_before = time.perf_counter(), time.process_time()
        model.fit(sample.X, sample.y)
        seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu_before
        neurons = getattr(getattr(model, "network_", None), "n_neurons", None)
        output = _output(model, sample.X_test, task)
    error, second = evaluate(sample, output, task)
    record = {
        **job.about,
        "seed": job.seed,
        "error": error,
        "second": second,
        "null": null_error(sample, task),
        "seconds": round(seconds, 4),
        "cpu": round(cpu, 4),
        "memory_mb": _peak_memory(),
        "neurons": None if neurons is None else int(neurons),
        "n_train": len(sample.y),
        "n_test": len(sample.y_test),
        "split": sample.split,
        "params": readable(parameters),
        "as_given": not parameters,
    }
    return [record]


def replicate(seed: int, *, small: bool) -> list[Record]:
    """One replication of the table with images: a record of each of its models."""
    from benchmarks.paper import resnet

    return [{"kind": FIT, **row} for row in resnet.replicate(seed, small=small)]


def chosen(made: Model, task: str, tuning: Record) -> dict[str, Any]:
    """The parameters of a tuning, from the values that its space was answered."""
    if tuning["trial"] is None or made.space is None:
        return {}
    values = {_RENAMED.get(name, name): value for name, value in tuning["trial"].items()}
    return made.space(task).suggest(FixedTrial({**_NOT_ASKED, **values}), *tuning["shape"])


def evaluate(sample: Sample, output: Any, task: str) -> tuple[float, float]:
    """RMSE and R², or log-loss and AUC."""
    y = sample.y_test
    if task == REGRESSION:
        error = float(np.mean(np.square(output - y)))
        figures = (error**0.5, 1 - error / float(np.var(y)))
    else:
        figures = (float(log_loss(y, output, labels=[0, 1])), float(roc_auc_score(y, output)))
    if not np.isfinite(figures).all():
        raise ValueError(f"The figures on the test part are {figures}.")
    return figures


def null_error(sample: Sample, task: str) -> float:
    """Error on the test part of the model without predictors: the training part's mean."""
    share = np.full(len(sample.y_test), np.mean(sample.y))
    return evaluate(sample, share, task)[0]


def _output(model: Any, X: Any, task: str) -> Any:
    return model.predict(X) if task == REGRESSION else model.predict_proba(X)[:, 1]


def _make_ready(journal: Path) -> None:
    """Make the folder, and remove the lock of a search that was killed while it wrote."""
    journal.parent.mkdir(parents=True, exist_ok=True)
    for lock in journal.parent.glob(f"{journal.name}.lock*"):
        lock.unlink()


def _endings(trials: Any) -> dict[str, int]:
    counts: dict[str, int] = {}
    for trial in trials:
        counts[trial.ending] = counts.get(trial.ending, 0) + 1
    return counts


def _peak_memory() -> float:
    """Most memory of this process, in MB, the loaded modules included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return round(peak / (2**20 if sys.platform == "darwin" else 2**10), 1)
