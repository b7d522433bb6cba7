"""Real datasets by name: read from a folder, the cache or OpenML, checked, and prepared.

Each set is an entry of `RECIPES`; `lifenet.datasets.preparation` says how a recipe is applied. The
data is not part of the library. `load` looks for it in three places, in this order:

1. a folder of parquet files, found as `data_folder` says;
2. the cache, found as `cache_folder` says, where earlier downloads are;
3. OpenML, if a download is allowed and the set has an entry in `lifenet.datasets.sources`.

What comes from the cache or from OpenML must have the fingerprint of the original file.
"""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from lifenet.datasets.cache import CACHE_VARIABLE, cache_folder, read_table, write_table
from lifenet.datasets.fingerprints import differences, expected, fingerprint
from lifenet.datasets.openml import DownloadError, fetch_table
from lifenet.datasets.preparation import Dataset, Recipe, prepare
from lifenet.datasets.sources import SOURCES

if TYPE_CHECKING:
    import pandas as pd

    from lifenet._typing import Bools

__all__ = ["RECIPES", "Dataset", "Recipe", "available", "cache_folder", "data_folder", "load"]

_VARIABLE = "LIFENET_DATA"
_DOWNLOAD_VARIABLE = "LIFENET_DOWNLOAD"
_log = logging.getLogger("lifenet.datasets")


def available() -> list[str]:
    """Names of the datasets that `load` knows, whether or not their files are at hand."""
    return list(RECIPES)


def load(
    name: str,
    *,
    data_home: str | Path | None = None,
    cache_dir: str | Path | None = None,
    download: bool | None = None,
    verify: bool | None = None,
    standardise_response: bool = False,
) -> Dataset:
    """Find, check and prepare one dataset.

    Parameters
    ----------
    name : str
        One of `available()`.
    data_home : path, optional
        Folder of the parquet files, taken at its word: nothing else is tried. None looks for a
        folder as `data_folder` says, then in the cache, then on OpenML.
    cache_dir : path, optional
        Folder that keeps downloads; None takes the one that `cache_folder` says.
    download : bool, optional
        Whether OpenML may be asked for what is neither in the folder nor in the cache. None asks
        the environment variable ``LIFENET_DOWNLOAD``: "1" allows it; without it, nothing is
        downloaded.
    verify : bool, optional
        Whether the prepared arrays must have the stored fingerprint. None checks what comes from
        the cache or from OpenML, and trusts the folder; True checks the folder too; False checks
        nothing, and then a download that differs is not kept in the cache.
    standardise_response : bool
        Regression only: give the response mean 0 and standard deviation 1 (the one with
        denominator n). The paper's Airfoil errors are on this scale.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        If the data is in none of these places; says where it was looked for, and what to do.
    ValueError
        If the data is not what it should be; says how it differs.
    """
    recipe = _find_recipe(name)
    if standardise_response and recipe.task != "regression":
        raise ValueError(f"standardise_response=True is for regression sets; {name!r} has classes")
    path = _local_file(recipe, data_home)
    if path is not None:
        dataset = prepare(name, recipe, _read(path))
        if verify:
            _check(dataset, f"the file {path}", "Replace the file")
    else:
        cached = cache_folder(cache_dir) / f"{recipe.file}.parquet"
        dataset = _from_afar(name, recipe, cached, _may_download(download), verify is not False)
    if standardise_response:
        dataset = replace(dataset, y=(dataset.y - dataset.y.mean()) / dataset.y.std())
    return dataset


def data_folder(data_home: str | Path | None = None) -> Path:
    """Find the folder of the parquet files.

    In this order: `data_home`; the environment variable ``LIFENET_DATA``; ``shared/data`` beside
    the checkout that this module is part of; ``../shared/data`` from the working directory. The
    first two are taken at their word: if one is given and is no folder, nothing else is tried.
    """
    candidates = _candidates(data_home)
    for candidate in candidates:
        if candidate.is_dir():
            return candidate
    tried = ", ".join(str(candidate) for candidate in candidates)
    raise FileNotFoundError(
        f"No data folder found; tried: {tried}. Set the environment variable {_VARIABLE} to the "
        "folder that holds the parquet files, or pass it as data_home."
    )


def _candidates(data_home: str | Path | None) -> list[Path]:
    named = data_home if data_home is not None else os.environ.get(_VARIABLE)
    if named:
        return [Path(named).expanduser()]
    # parents[3] is the checkout; a slice, as an installed package may lie nearer to the root.
    parents = [*Path(__file__).resolve().parents[4:5], Path.cwd().parent]
    return list(dict.fromkeys(parent / "shared" / "data" for parent in parents))


def _find_recipe(name: str) -> Recipe:
    if name in RECIPES:
        return RECIPES[name]
    close = get_close_matches(str(name), RECIPES, n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise ValueError(f"name={name!r} is not a known dataset.{hint} Known: {', '.join(RECIPES)}")


def _local_file(recipe: Recipe, data_home: str | Path | None) -> Path | None:
    """Return the file in the folder, or None where the cache and OpenML are to be tried.

    A folder that was named, but is none, is an error; and one named by `data_home` is the only
    place to look, so that its file is returned even if it does not exist.
    """
    named = data_home is not None or bool(os.environ.get(_VARIABLE))
    if not named and not any(folder.is_dir() for folder in _candidates(None)):
        return None
    path = data_folder(data_home) / f"{recipe.file}.parquet"
    return path if path.is_file() or data_home is not None else None


def _read(path: Path) -> pd.DataFrame:
    if not path.is_file():
        raise FileNotFoundError(
            f"{path.name} is not in the data folder {path.parent}. Add it there, or name another "
            f"folder by data_home or the environment variable {_VARIABLE}."
        )
    return read_table(path)


def _may_download(download: bool | None) -> bool:
    if download is None:
        return os.environ.get(_DOWNLOAD_VARIABLE, "").strip().lower() in {"1", "true", "yes"}
    return download


def _from_afar(name: str, recipe: Recipe, cached: Path, download: bool, verify: bool) -> Dataset:
    """Take a dataset from the cache, or download it into the cache."""
    source = SOURCES.get(name)
    if cached.is_file():
        try:
            dataset = prepare(name, recipe, read_table(cached))
            if verify:
                remedy = "Delete the file, or fetch it anew with download=True"
                _check(dataset, f"the cached file {cached}", remedy)
        except (ValueError, KeyError, OSError) as error:
            # Damaged, or of another version: one that may be replaced is no reason to stop.
            if source is None or not download:
                raise
            _log.warning("Not used: the cached file %s (%s)", cached, error)
        else:
            return dataset
    if source is None or not download:
        raise FileNotFoundError(_not_found(name, recipe, cached))
    _log.warning("Downloading %r (OpenML data set %d) to %s", name, source.data_id, cached)
    try:
        table = fetch_table(source)
    except DownloadError as error:
        raise FileNotFoundError(_not_found(name, recipe, cached, error)) from error
    dataset = prepare(name, recipe, table)
    if verify:
        where = f"what OpenML has as data set {source.data_id}"
        _check(dataset, where, f"Use a local copy of {recipe.file}.parquet")
    if verify or fingerprint(dataset).any_order == expected(name).any_order:
        _keep(table, cached)
    return dataset


def _keep(table: pd.DataFrame, cached: Path) -> None:
    try:
        write_table(table, cached)
    except OSError as error:
        message = (
            f"The download could not be kept in {cached}: {error}. Name a folder that can be "
            f"written to by cache_dir or the environment variable {CACHE_VARIABLE}."
        )
        warnings.warn(message, stacklevel=4)


def _check(dataset: Dataset, where: str, remedy: str) -> None:
    """Compare with the stored fingerprint; rows in another order are worth a warning only."""
    found, wanted = fingerprint(dataset), expected(dataset.name)
    how = differences(dataset, found, wanted)
    if how and found.any_order == wanted.any_order:
        message = (
            f"{dataset.name!r}: {where} is the right data, but {how}: a split by row numbers or by "
            "a seed differs from that of the original file."
        )
        warnings.warn(message, stacklevel=4)
    elif how:
        raise ValueError(
            f"{dataset.name!r}: {where} is not the data that is known by this name: {how}. "
            f"{remedy}; or pass verify=False to use it as it is."
        )


def _not_found(
    name: str, recipe: Recipe, cached: Path, failure: DownloadError | None = None
) -> str:
    """Say where a dataset was looked for, why it was not downloaded, and what to do."""
    folders = ", ".join(str(folder) for folder in _candidates(None))
    local = (
        f"set the environment variable {_VARIABLE}, or pass data_home, to a folder that holds "
        f"{recipe.file}.parquet"
    )
    if name not in SOURCES:
        reason, remedy = "OpenML has no copy that is known to equal it", f"What to do: {local}."
    elif failure is not None:
        reason = f"the download failed ({failure})"
        remedy = f"What to do: try again with a network connection; or {local}."
    else:
        reason = f"downloads are not allowed (OpenML has it as data set {SOURCES[name].data_id})"
        allow = f"pass download=True, or set the environment variable {_DOWNLOAD_VARIABLE} to 1"
        remedy = f"What to do: {allow}; or {local}."
    return (
        f"The dataset {name!r} was not found. No {recipe.file}.parquet in the data folder; tried: "
        f"{folders}. Not in the cache: {cached}. Not downloaded: {reason}. {remedy}"
    )


def _complete(predictors: pd.DataFrame) -> Bools:
    return predictors.notna().all(axis=1).to_numpy()


def _has_record(predictors: pd.DataFrame) -> Bools:
    """Leave out applicants without a credit bureau record: all their predictors are -9."""
    return (predictors != -9).any(axis=1).to_numpy()


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
