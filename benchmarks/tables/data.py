"""Tables as they come: the raw files, split, and two made-up tables with many levels."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

if TYPE_CHECKING:
    from collections.abc import Callable

REGRESSION, CLASSIFICATION = "regression", "classification"
FOLDER = Path(os.environ.get("LIFENET_DATA", Path(__file__).parents[3] / "shared" / "data"))
TEST_SHARE = 0.2


@dataclass(frozen=True)
class Raw:
    """A raw file: its target, and the columns that its description says to drop.

    Attributes
    ----------
    file : without its ending
    target : of the columns
    task : "regression" or "classification"
    drop : what leaks the target, or numbers the rows
    positive : the event of two classes; None where labels are sorted
    """

    file: str
    target: str
    task: str
    drop: tuple[str, ...] = ()
    positive: Any = None


_LENDING = (
    *("grade", "sub_grade", "installment", "loan_status", "balance", "paid_total"),
    *("paid_principal", "paid_interest", "paid_late_fees"),
)
#: Every raw file but MNIST. Of Lending Club the free text of employers stays.
RAW = {
    one.file: one
    for one in (
        Raw("abalone", "Rings", REGRESSION),
        Raw("airfoil", "scaled-sound-pressure", REGRESSION),
        Raw("aquatic_toxicity", "LC50", REGRESSION),
        Raw("bank_marketing", "y", CLASSIFICATION, ("duration",), "yes"),
        Raw("bike_sharing_hour", "cnt", REGRESSION, ("instant", "casual", "registered")),
        Raw("breast_cancer_wisconsin", "Class", CLASSIFICATION, ("id",), 4),
        Raw("california_housing", "median_house_value", REGRESSION),
        Raw("casp", "RMSD", REGRESSION),
        Raw("electrical_grid", "stab", REGRESSION, ("p1", "stabf")),
        Raw("german_credit", "class", CLASSIFICATION, (), 2),
        Raw("give_me_some_credit", "SeriousDlqin2yrs", CLASSIFICATION, (), 1),
        Raw("heloc", "RiskPerformance", CLASSIFICATION, (), "Bad"),
        Raw(
            "higgs_atlas_10k",
            "Label",
            CLASSIFICATION,
            ("EventId", "Weight", "KaggleSet", "KaggleWeight"),
            "s",
        ),
        Raw("higgs_uci_35k", "class", CLASSIFICATION, (), 1),
        Raw("hmeq", "BAD", CLASSIFICATION, (), 1),
        Raw("lending_club_10k", "interest_rate", REGRESSION, _LENDING),
        Raw("magic", "class", CLASSIFICATION, (), "g"),
        Raw("mushroom", "class", CLASSIFICATION, (), "p"),
        Raw("ringnorm", "Class", CLASSIFICATION, (), 1),
        Raw("ringnorm_keel", "target", CLASSIFICATION, (), 1),
        Raw("taiwan_credit", "default_payment_next_month", CLASSIFICATION, (), 1),
    )
}


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test part of a table with columns of all kinds; classes as 0 and 1."""

    task: str
    X: pd.DataFrame
    y: Any
    X_test: pd.DataFrame
    y_test: Any

    @property
    def key(self) -> str:
        """Tells this split from others."""
        rows = np.asarray(self.X_test.index, dtype="<i8")
        return hashlib.sha256(rows.tobytes()).hexdigest()[:16]


def read_raw(name: str) -> tuple[pd.DataFrame, Any]:
    """All rows of a raw file, and its target."""
    raw = RAW[name]
    table = pd.read_parquet(FOLDER / f"{raw.file}.parquet")
    y = table[raw.target]
    X = table.drop(columns=[raw.target, *raw.drop])
    if raw.task == CLASSIFICATION:
        return X, np.asarray(y == raw.positive, dtype=np.int64)
    return X, np.asarray(y, dtype=np.float64)


def many_levels(n_rows: int, n_levels: int) -> Callable[[], tuple[pd.DataFrame, Any]]:
    """A table whose target depends on two numbers, and on a level by its height and its slope."""

    def make() -> tuple[pd.DataFrame, Any]:
        rng = np.random.default_rng(n_levels)
        # As in real life, a few levels have many rows and most have few.
        share = 1.0 / np.arange(1, n_levels + 1) ** 0.7
        level = rng.choice(n_levels, size=n_rows, p=share / share.sum())
        height, slope = rng.normal(size=(2, n_levels))
        x, z = rng.normal(size=(2, n_rows))
        y = height[level] + 0.5 * slope[level] * x + np.sin(2 * z) + rng.normal(size=n_rows)
        names = np.array([f"level {number:05d}" for number in rng.permutation(n_levels)])
        return pd.DataFrame({"x": x, "level": names[level], "z": z}), y

    return make


MADE_UP = {
    "500 levels": many_levels(10_000, 500),
    "20,000 levels": many_levels(60_000, 20_000),
}


def task_of(name: str) -> str:
    """Regression or classification."""
    return REGRESSION if name in MADE_UP else RAW[name].task


def split(name: str, seed: int) -> Split:
    """The 80/20 split of a seed."""
    X, y = MADE_UP[name]() if name in MADE_UP else read_raw(name)
    task = task_of(name)
    train, test = train_test_split(
        np.arange(len(y)),
        test_size=TEST_SHARE,
        random_state=seed,
        stratify=y if task == CLASSIFICATION else None,
    )
    return Split(task, X.iloc[train], y[train], X.iloc[test], y[test])
