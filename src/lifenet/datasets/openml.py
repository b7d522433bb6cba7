"""Download from OpenML through scikit-learn, and bring what comes into the form of our files.

OpenML has other names, orders and codes for many columns; an `OpenMLSource` says, for one set, how
they translate. `lifenet.datasets.sources` lists them.
"""

from __future__ import annotations

import http.client
import tempfile
import zlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import unquote

from lifenet._extras import require

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

__all__ = ["DownloadError", "OpenMLSource", "fetch_table", "translate"]

# What a broken connection, an unknown id or a damaged answer raises in fetch_openml. HTTP and URL
# errors are OSErrors; OpenML's own errors, wrong checksums and unreadable tables are ValueErrors.
_FAILURES = (OSError, ValueError, KeyError, EOFError, zlib.error, http.client.HTTPException)


class DownloadError(OSError):
    """A dataset could not be had from OpenML, or did not have the columns it should have."""


@dataclass(frozen=True)
class OpenMLSource:
    """Where OpenML has a dataset, and how its table translates into ours.

    Attributes
    ----------
    data_id : int
        OpenML's number for it.
    columns : tuple of str
        Our names of the columns, the target among them.
    by_place : bool
        Whether OpenML's columns are taken in the order of `columns`, since it has other names for
        them. Otherwise they are found by name, without regard to case and punctuation.
    codes : mapping of str to (mapping of str to value)
        For a column of labels: our value for each label of OpenML.
    text : tuple of str
        Columns of labels that are kept as they are. All others are numbers.
    missing : mapping of str to str
        The label that stands for a missing value of a column of `text`, where we keep one.
    rows : (int or None, int or None)
        The rows that are ours, from (included) and to (excluded).
    adjust : callable, optional
        Changes the units of the translated table.
    """

    data_id: int
    columns: tuple[str, ...]
    by_place: bool = False
    codes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    text: tuple[str, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict)
    rows: tuple[int | None, int | None] = (None, None)
    adjust: Callable[[pd.DataFrame], pd.DataFrame] | None = None


def fetch_table(source: OpenMLSource) -> pd.DataFrame:
    """Download one table and translate it; what scikit-learn stores on the way is removed again.

    Raises
    ------
    DownloadError
        If there is no connection, or OpenML's answer cannot be used.
    """
    from sklearn.datasets import fetch_openml

    require("pandas", extra="data", purpose="Downloading a dataset")
    try:
        with tempfile.TemporaryDirectory(prefix="lifenet-") as folder:
            answer = fetch_openml(
                data_id=source.data_id,
                data_home=folder,
                as_frame=True,
                parser="pandas",
            )
    except _FAILURES as error:
        reason = f"{type(error).__name__}: {error}"
        if isinstance(error, HTTPError):
            error.close()  # it holds the connection
        raise DownloadError(f"OpenML data set {source.data_id} failed: {reason}") from error
    return translate(answer.frame, source)


def translate(frame: pd.DataFrame, source: OpenMLSource) -> pd.DataFrame:
    """Bring OpenML's table into the form of our file: columns, codes, units and rows."""
    pandas = require("pandas", extra="data", purpose="Downloading a dataset")
    theirs = _match_columns([str(name) for name in frame.columns], source)
    part = slice(*source.rows)
    columns = {}
    for ours, place in zip(source.columns, theirs, strict=True):
        column = frame.iloc[part, place].reset_index(drop=True)
        if ours in source.codes:
            columns[ours] = _recode(column, ours, source)
        elif ours in source.text:
            labels = column.astype(object)
            columns[ours] = labels.where(labels.notna(), source.missing.get(ours))
        else:
            columns[ours] = _to_numbers(column, ours, source)
    table: pd.DataFrame = pandas.DataFrame(columns)
    return table if source.adjust is None else source.adjust(table)


def _match_columns(names: list[str], source: OpenMLSource) -> list[int]:
    """Find the place of each of our columns among `names`."""
    if source.by_place:
        if len(names) == len(source.columns):
            return list(range(len(names)))
        wanted = f"{len(source.columns)} columns"
    else:
        places = {_plain(name): place for place, name in enumerate(names)}
        absent = [name for name in source.columns if _plain(name) not in places]
        if not absent:
            return [places[_plain(name)] for name in source.columns]
        wanted = f"columns named {', '.join(absent)}"
    raise DownloadError(
        f"OpenML data set {source.data_id} should have {wanted}, but has {len(names)} columns: "
        f"{', '.join(names[:40])}"
    )


def _plain(name: str) -> str:
    """Reduce a name to lower-case letters and digits; OpenML writes "?" as "%3F"."""
    return "".join(letter for letter in unquote(name).lower() if letter.isalnum())


def _recode(column: pd.Series[Any], name: str, source: OpenMLSource) -> pd.Series[Any]:
    labels = column.astype(str).str.strip("'\" ")
    unknown = sorted(set(labels) - set(source.codes[name]))
    if unknown:
        raise DownloadError(
            f"OpenML data set {source.data_id} has unknown labels in the column {name}: "
            f"{', '.join(unknown[:10])}"
        )
    return labels.map(dict(source.codes[name]))


def _to_numbers(column: pd.Series[Any], name: str, source: OpenMLSource) -> pd.Series[Any]:
    """Return int64 if every value is a whole number, else float64."""
    pandas = require("pandas", extra="data", purpose="Downloading a dataset")
    try:
        numbers: pd.Series[Any] = pandas.to_numeric(column.astype(object)).astype("float64")
    except (ValueError, TypeError) as error:
        raise DownloadError(
            f"OpenML data set {source.data_id} has no numbers in the column {name}: {error}"
        ) from error
    if (numbers % 1 == 0).all():  # not so where a value is missing
        return numbers.astype("int64")
    # Some versions of pandas read decimals with an error in the last place. No file has more than
    # 15 digits, so that these give back the number that was written.
    return numbers.map(lambda number: float(f"{number:.15g}"))
