"""Rows of one replication: the 80/20 split of a real set, or a new sample of a simulation."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import train_test_split

from lifenet.datasets import load, simulate

if TYPE_CHECKING:
    from benchmarks.paper.experiments import Data

TEST_SHARE = 0.2


@dataclass(frozen=True, eq=False)
class Sample:
    """Training and test part, and what is known of the truth of the test part.

    Attributes
    ----------
    X, y : training part
    X_test, y_test : test part
    split : hash of the rows of the test part, of a simulation hash of all arrays
    oracle : of a simulation, f(x) in regression, sigma(f(x) + eps) in classification, (n_test,)
    attainable : of a simulation in classification, P(y = 1 | x), (n_test,)
    """

    X: Any
    y: Any
    X_test: Any
    y_test: Any
    split: str
    oracle: Any = None
    attainable: Any = None


def draw_sample(data: Data, seed: int, max_rows: int | None = None) -> Sample:
    """The replication of a seed.

    Parameters
    ----------
    data : of a table
    seed : of the split, and of a simulation
    max_rows : of training and test part together; None takes all
    """
    n_rows = data.n_rows if max_rows is None else min(data.n_rows, max_rows)
    if data.simulated:
        return _simulated(data, n_rows, seed)
    known = load(data.source, standardise_response=data.standardised)
    rows = np.arange(len(known.y))
    if n_rows < len(rows):
        classes = known.y if known.classes else None
        rows, _ = train_test_split(rows, train_size=n_rows, random_state=0, stratify=classes)
    train, test = _split(rows, known.y[rows] if known.classes else None, seed)
    X, X_test = fill_gaps(np.asarray(known.X[train], float), np.asarray(known.X[test], float))
    return Sample(X, known.y[train], X_test, known.y[test], _hash(test))


def _simulated(data: Data, n_rows: int, seed: int) -> Sample:
    known = simulate.make(
        data.source, n_samples=n_rows, task=data.task, predictors=data.predictors, random_state=seed
    )
    classes = data.task == "classification"
    train, test = _split(np.arange(n_rows), known.y if classes else None, seed)
    parts = (known.X[train], known.y[train], known.X[test], known.y[test])
    if not classes:
        return Sample(*parts, _hash(*parts), known.truth[test])
    truths = (known.oracle_probability, known.attainable_probability)
    return Sample(*parts, _hash(*parts), *(truth[test] for truth in truths if truth is not None))


def _split(rows: Any, classes: Any, seed: int) -> tuple[Any, Any]:
    train, test = train_test_split(rows, test_size=TEST_SHARE, random_state=seed, stratify=classes)
    return train, test


def fill_gaps(X: Any, X_test: Any) -> tuple[Any, Any]:
    """Give what is missing the training part's median, and add a column that says so.

    Three sets have gaps (give_me_some_credit, hmeq, lending_club). All models get the same columns,
    those too that could deal with gaps. In tuning, the medians are of the inner split's both parts.
    """
    gaps = np.isnan(X).any(axis=0)
    if not (gaps.any() or np.isnan(X_test).any()):
        return X, X_test
    seen = ~np.isnan(X).all(axis=0)
    medians = np.zeros(X.shape[1])
    medians[seen] = np.nanmedian(X[:, seen], axis=0)
    return _fill(X, medians, gaps), _fill(X_test, medians, gaps)


def _fill(X: Any, medians: Any, gaps: Any) -> Any:
    missing = np.isnan(X)
    return np.hstack([np.where(missing, medians, X), missing[:, gaps].astype(float)])


def _hash(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        kind = "<i8" if np.issubdtype(array.dtype, np.integer) else "<f8"
        digest.update(np.ascontiguousarray(array, dtype=kind).tobytes())
    return digest.hexdigest()[:16]
