"""Real datasets, read from a folder of parquet files and prepared for modelling.

Each set is an entry of `RECIPES`, applied by `load`. The same few rules prepare every set:

- String columns are categorical; numeric columns stay numeric, also where integers are codes
  (months, education levels, -999, -9 and 96 for "not defined").
- A categorical column with k levels becomes k - 1 dummies. The first level in sorted order is the
  baseline, so that no column's dummies add up to an intercept. (Dummies of different columns may
  still be collinear: the 95 of mushroom together with an intercept have rank 86.)
- Missing categories become a level "missing", placed last. Missing numbers stay NaN.
- In two-class sets code 1 is the event.

The files themselves are not part of the library; `data_folder` says where they are looked for.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from lifenet._typing import Bools, Floats, Integers

__all__ = ["RECIPES", "Dataset", "Recipe", "available", "data_folder", "load"]

#: For each predictor its name and the design columns that code it.
Groups: TypeAlias = tuple[tuple[str, tuple[int, ...]], ...]

_VARIABLE = "LIFENET_DATA"
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
    """How one parquet file becomes a `Dataset`."""

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


def available() -> list[str]:
    """Names of the datasets that `load` knows, whether or not their files are at hand."""
    return list(RECIPES)


def load(
    name: str, *, data_home: str | Path | None = None, standardise_response: bool = False
) -> Dataset:
    """Read and prepare one dataset.

    Parameters
    ----------
    name : str
        One of `available()`.
    data_home : path, optional
        Folder of the parquet files; None looks for it as `data_folder` says.
    standardise_response : bool
        Regression only: give the response mean 0 and standard deviation 1 (the one with
        denominator n). The paper's Airfoil errors are on this scale.

    Returns
    -------
    Dataset
    """
    recipe = _find_recipe(name)
    if standardise_response and recipe.task != "regression":
        raise ValueError(f"standardise_response=True is for regression sets; {name!r} has classes")
    table = _read(data_folder(data_home) / f"{recipe.file}.parquet")
    predictors = table.drop(columns=[recipe.target, *recipe.drop])
    response = table[recipe.target]
    if recipe.keep is not None:
        kept = recipe.keep(predictors)
        predictors, response = predictors[kept].reset_index(drop=True), response[kept]
    y, classes = _code_response(response, recipe)
    if standardise_response:
        y = (y - y.mean()) / y.std()
    frame = _mark_categories(predictors)
    names, groups = _lay_out(frame)
    coded = (_fill(frame, groups, recipe.dtype), y, names, groups)
    return Dataset(name, recipe.task, *coded, recipe.target, classes, frame, recipe.citation)


def data_folder(data_home: str | Path | None = None) -> Path:
    """Find the folder of the parquet files.

    In this order: `data_home`; the environment variable ``LIFENET_DATA``; ``shared/data`` beside
    the checkout that this module is part of; ``../shared/data`` from the working directory. The
    first two are taken at their word: if one is given and is no folder, nothing else is tried.
    """
    named = data_home if data_home is not None else os.environ.get(_VARIABLE)
    if named:
        candidates = [Path(named).expanduser()]
    else:
        # parents[3] is the checkout; a slice, as an installed package may lie nearer to the root.
        parents = [*Path(__file__).resolve().parents[4:5], Path.cwd().parent]
        candidates = [parent / "shared" / "data" for parent in parents]
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    tried = ", ".join(dict.fromkeys(str(candidate) for candidate in candidates))
    raise FileNotFoundError(
        f"No data folder found; tried: {tried}. Set the environment variable {_VARIABLE} to the "
        "folder that holds the parquet files, or pass it as data_home."
    )


def _find_recipe(name: str) -> Recipe:
    if name in RECIPES:
        return RECIPES[name]
    close = get_close_matches(str(name), RECIPES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"name={name!r} is not a known dataset.{hint} Known: {', '.join(RECIPES)}")


def _read(path: Path) -> pd.DataFrame:
    pandas = require("pandas", extra="data", purpose="Loading a dataset")
    require("pyarrow", extra="data", purpose="Reading a parquet file")
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is not in the data folder {path.parent}. Add it there, or name another "
            f"folder by data_home or the environment variable {_VARIABLE}."
        )
    table: pd.DataFrame = pandas.read_parquet(path)
    return table


def _complete(predictors: pd.DataFrame) -> Bools:
    return predictors.notna().all(axis=1).to_numpy()


def _has_record(predictors: pd.DataFrame) -> Bools:
    """Leave out applicants without a credit bureau record: all their predictors are -9."""
    return (predictors != -9).any(axis=1).to_numpy()


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


# The event, where the label does not say it: "g" in magic is gamma, the signal (h is hadron); 4 in
# breast_cancer is malignant; "Bad" in heloc and 2 in german_credit are bad risks; "p" in mushroom
# is poisonous; "s" in higgs_atlas_10k is signal. 1 is signal in higgs_uci_35k, the narrow class in
# ringnorm, and default or delinquency in the other credit sets. The paper's MNIST task is y == 1.
_CLASSES = "classification"
RECIPES = {
    "abalone": Recipe("abalone", "Rings", "Nash et al. (1994), Abalone, UCI"),
    "airfoil": Recipe(
        "airfoil", "scaled-sound-pressure", "Brooks, Pope, Marcolini (1989), Airfoil Self-Noise"
    ),
    "aquatic_toxicity": Recipe(
        "aquatic_toxicity", "LC50", "Cassotti et al. (2014), QSAR aquatic toxicity, UCI"
    ),
    "bike_sharing": Recipe(
        "bike_sharing_hour",
        "cnt",
        "Fanaee-T, Gama (2013), Bike Sharing, UCI",
        drop=("instant", "dteday", "casual", "registered"),
    ),
    "california_housing": Recipe(
        "california_housing", "median_house_value", "Pace, Barry (1997), houses, StatLib", unit=1e5
    ),
    "casp": Recipe("casp", "RMSD", "Rana (2013), Properties of Protein Tertiary Structure, UCI"),
    "electrical_grid": Recipe(
        "electrical_grid",
        "stab",
        "Arzamasov, Boehm, Jochem (2018), Electrical Grid Stability Simulated Data, UCI",
        drop=("p1", "stabf"),
    ),
    "bank_marketing": Recipe(
        "bank_marketing",
        "y",
        "Moro, Cortez, Rita (2014), Bank Marketing, UCI",
        _CLASSES,
        "yes",
        drop=("duration",),
    ),
    "breast_cancer": Recipe(
        "breast_cancer_wisconsin",
        "Class",
        "Wolberg, Mangasarian (1990), Breast Cancer Wisconsin (Original), UCI",
        _CLASSES,
        4,
        drop=("id",),
        keep=_complete,
    ),
    "magic": Recipe("magic", "class", "Bock (2004), MAGIC Gamma Telescope, UCI", _CLASSES, "g"),
    "mushroom": Recipe(
        "mushroom", "class", "Schlimmer (1987), Mushroom, UCI", _CLASSES, "p", drop=("veil-type",)
    ),
    "ringnorm": Recipe("ringnorm", "Class", "Breiman (1996), ringnorm, repaired", _CLASSES, 1),
    "ringnorm_keel": Recipe("ringnorm_keel", "target", "Breiman (1996), by KEEL", _CLASSES, 1),
    "higgs_atlas_10k": Recipe(
        "higgs_atlas_10k",
        "Label",
        "ATLAS collaboration (2014), doi:10.7483/OPENDATA.ATLAS.ZBP2.M5T8",
        _CLASSES,
        "s",
        drop=("EventId", "Weight", "KaggleSet", "KaggleWeight"),
    ),
    "higgs_uci_35k": Recipe(
        "higgs_uci_35k", "class", "Baldi, Sadowski, Whiteson (2014), HIGGS, UCI", _CLASSES, 1
    ),
    "mnist": Recipe(
        "mnist_train", "label", "LeCun, Cortes, Burges (1998), MNIST", _CLASSES, dtype="float32"
    ),
    "mnist_test": Recipe(
        "mnist_test", "label", "LeCun, Cortes, Burges (1998), MNIST", _CLASSES, dtype="float32"
    ),
    "give_me_some_credit": Recipe(
        "give_me_some_credit", "SeriousDlqin2yrs", "Kaggle (2011), Give Me Some Credit", _CLASSES, 1
    ),
    "taiwan_credit": Recipe(
        "taiwan_credit",
        "default_payment_next_month",
        "Yeh, Lien (2009), Default of Credit Card Clients, UCI",
        _CLASSES,
        1,
    ),
    "heloc": Recipe(
        "heloc",
        "RiskPerformance",
        "FICO (2018), Explainable Machine Learning Challenge, HELOC",
        _CLASSES,
        "Bad",
        keep=_has_record,
    ),
    "german_credit": Recipe(
        "german_credit", "class", "Hofmann (1994), Statlog (German Credit Data), UCI", _CLASSES, 2
    ),
    "hmeq": Recipe("hmeq", "BAD", "Baesens et al. (2016), Credit Risk Analytics", _CLASSES, 1),
    "lending_club": Recipe(
        "lending_club_10k",
        "interest_rate",
        "OpenIntro (2018), loans_full_schema (Lending Club)",
        drop=(
            *("grade", "sub_grade", "installment", "emp_title", "loan_status", "balance"),
            *("paid_total", "paid_principal", "paid_interest", "paid_late_fees"),
        ),
    ),
}
