"""From the table of a dataset to arrays: the same few rules for every set.

- String columns are categorical; numeric columns stay numeric, also where integers are codes
  (months, education levels, -999, -9 and 96 for "not defined").
- A categorical column with k levels becomes k - 1 dummies. The first level in sorted order is the
  baseline, so that no column's dummies add up to an intercept. (Dummies of different columns may
  still be collinear: the 95 of mushroom together with an intercept have rank 86.)
- Missing categories become a level "missing", placed last. Missing numbers stay NaN.
- In two-class sets code 1 is the event.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers

__all__ = ["Dataset", "Recipe", "prepare"]

#: For each predictor its name and the design columns that code it.
Groups: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]

_MISSING = "missing"


@dataclass(frozen=True, eq=False)
class Dataset:
    """A prepared dataset.

    Attributes
    ----------
    name : str
        The name it was loaded by.
    task : str
        "regression" or "classification".
    X : array of shape (n_samples, n_columns)
        Predictors after dummy coding; float64, but float32 for the MNIST images, which would take
        376 MB otherwise. NaN where a number is missing.
    y : array of shape (n_samples,)
        float64 response, or integer class codes 0, ..., n_classes - 1.
    feature_names : tuple of str
        One name a column of `X`; a dummy is called ``Sex=M``.
    groups : tuple of (str, tuple of int)
        For each predictor of `frame`, its name and the columns of `X` that code it.
    target : str
        Name of the response.
    classes : tuple or None
        The original labels in the order of their codes; None in regression.
    frame : pandas.DataFrame
        The predictors before dummy coding, categories as category dtype.
    citation : str
        Whom to cite.
    """

    name: str
    task: str
    X: Floats
    y: Floats | Integers
    feature_names: tuple[str, ...]
    groups: Groups
    target: str
    classes: tuple[Any, ...] | None
    frame: pd.DataFrame
    citation: str


@dataclass(frozen=True)
class Recipe:
    """How one table becomes a `Dataset`."""

    #: Name of the parquet file, without its ending.
    file: str
    target: str
    citation: str
    task: str = "regression"
    #: Label of the event, coded last. None leaves the labels in sorted order.
    positive: object = None
    #: Columns that are no predictors: identifiers, constants, and what leaks the response.
    drop: tuple[str, ...] = ()
    #: Mask of the rows to keep, from the predictors.
    keep: Callable[[pd.DataFrame], Bools] | None = None
    #: The response is divided by this.
    unit: float = 1.0
    dtype: str = "float64"


def prepare(name: str, recipe: Recipe, table: pd.DataFrame) -> Dataset:
    """Make the arrays of one dataset from its table, which holds predictors and response."""
    # A downloaded table has only what is used; the local file may hold what the recipe drops.
    unused = [column for column in recipe.drop if column in table]
    predictors = table.drop(columns=[recipe.target, *unused])
    response = table[recipe.target]
    if recipe.keep is not None:
        kept = recipe.keep(predictors)
        predictors, response = predictors[kept].reset_index(drop=True), response[kept]
    y, classes = _code_response(response, recipe)
    frame = _mark_categories(predictors)
    names, groups = _lay_out(frame)
    coded = (_fill(frame, groups, recipe.dtype), y, names, groups)
    return Dataset(name, recipe.task, *coded, recipe.target, classes, frame, recipe.citation)


def _code_response(
    response: pd.Series[Any], recipe: Recipe
) -> tuple[Floats | Integers, tuple[Any, ...] | None]:
    """Return the response in its unit, or class codes with the labels they stand for."""
    if recipe.task == "regression":
        return response.to_numpy(dtype=np.float64) / recipe.unit, None
    classes = sorted(response.unique().tolist(), key=lambda x: (x == recipe.positive, x))
    codes = {label: code for code, label in enumerate(classes)}
    return response.map(codes).to_numpy(dtype=np.int64), tuple(classes)


def _mark_categories(predictors: pd.DataFrame) -> pd.DataFrame:
    """Give every column that is not numeric a category dtype with sorted levels."""
    strings = predictors.select_dtypes(exclude=["number", "bool"])
    return predictors.assign(**{str(name): _categorise(column) for name, column in strings.items()})


def _categorise(column: pd.Series[Any]) -> pd.Series[Any]:
    coded = column.astype("category")
    if coded.isna().any():
        coded = coded.cat.add_categories(_MISSING).fillna(_MISSING)
    return coded


def _lay_out(frame: pd.DataFrame) -> tuple[tuple[str, ...], Groups]:
    """Name the columns of the design, and say which of them code each predictor."""
    names: list[str] = []
    groups = []
    for name, column in frame.items():
        coded = [str(name)]
        if column.dtype == "category":
            coded = [f"{name}={level}" for level in column.cat.categories[1:]]
        groups.append((str(name), tuple(range(len(names), len(names) + len(coded)))))
        names.extend(coded)
    return tuple(names), tuple(groups)


def _fill(frame: pd.DataFrame, groups: Groups, dtype: str) -> Floats:
    """Write the design matrix, predictor by predictor."""
    X = np.empty((len(frame), sum(len(indices) for _, indices in groups)), dtype=dtype)
    for name, indices in groups:
        column = frame[name]
        if column.dtype == "category":
            codes = column.cat.codes.to_numpy()
            X[:, indices] = codes[:, None] == np.arange(1, len(indices) + 1)
        else:
            X[:, indices[0]] = column.to_numpy()
    return X
