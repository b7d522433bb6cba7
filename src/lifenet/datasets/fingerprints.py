"""Fingerprints of prepared datasets: do two sources give the same arrays?

Hashed are X and y as little-endian float64, row by row, together with shape, names, target and
classes; one NaN stands for all, and -0 for 0. So the hash depends on neither the machine nor the
dtype, and on nothing that a model could not see. ``fingerprints.json`` holds, for each set, what
the files it was first prepared from gave.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lifenet._typing import Floats
    from lifenet.datasets.preparation import Dataset

__all__ = ["Fingerprint", "differences", "expected", "fingerprint"]

#: Rows hashed at a time, so that float32 images are not all copied to float64.
_BLOCK = 4096
#: Wider sets have no checksums of columns.
_WIDEST = 256


@dataclass(frozen=True)
class Fingerprint:
    """What identifies a prepared dataset.

    Attributes
    ----------
    shape : tuple of int
        Rows and columns of X.
    names : str
        SHA-256 of the names of the columns, the target and the classes.
    in_order : str
        SHA-256 of everything, in the order of the rows.
    any_order : str
        The same with the rows sorted by their own hash: equal for the same rows in another order.
    columns : tuple of str
        For each column of X, then for y, a CRC-32 of its sorted values: they tell which column
        differs. Empty where there are more than 256 columns.
    """

    shape: tuple[int, int]
    names: str
    in_order: str
    any_order: str
    columns: tuple[str, ...]


def fingerprint(dataset: Dataset) -> Fingerprint:
    """Hash the arrays and names of a dataset, before any scaling of its response."""
    n_samples, n_columns = dataset.X.shape
    labels = [dataset.task, dataset.target, dataset.feature_names, dataset.classes]
    names = hashlib.sha256(json.dumps(labels).encode()).hexdigest()
    head = f"{n_samples} {n_columns} {names} ".encode()
    rows = [
        hashlib.sha256(row.tobytes()).digest()
        for start in range(0, n_samples, _BLOCK)
        for row in _canonical(
            np.column_stack([dataset.X[start : start + _BLOCK], dataset.y[start : start + _BLOCK]])
        )
    ]
    in_order = hashlib.sha256(head + b"".join(rows)).hexdigest()
    any_order = hashlib.sha256(head + b"".join(sorted(rows))).hexdigest()
    columns = tuple(_checksums(dataset)) if n_columns <= _WIDEST else ()
    return Fingerprint((n_samples, n_columns), names, in_order, any_order, columns)


def expected(name: str) -> Fingerprint:
    """Return the stored fingerprint of the dataset `name`."""
    stored = _stored()[name]
    return Fingerprint(
        shape=(stored["shape"][0], stored["shape"][1]),
        names=stored["names"],
        in_order=stored["in_order"],
        any_order=stored["any_order"],
        columns=tuple(stored["columns"].split()),
    )


def differences(dataset: Dataset, found: Fingerprint, wanted: Fingerprint) -> str:
    """Say in a sentence how a dataset differs from what it should be; empty if it does not.

    The same rows in another order count as a difference here; compare `any_order` first.
    """
    if found == wanted:
        return ""
    if found.shape != wanted.shape:
        return "it has {} rows and {} columns, not {} and {}".format(*found.shape, *wanted.shape)
    if found.names != wanted.names:
        return "its columns, target or classes have other names or another order"
    if found.any_order == wanted.any_order:
        return "it has the same rows in another order"
    labels = [*dataset.feature_names, dataset.target]
    pairs = zip(labels, found.columns, wanted.columns, strict=False)  # wide sets have none
    changed = [label for label, mine, other in pairs if mine != other]
    if not changed:
        return "it has other values, in the same number of rows and columns"
    more = f" and {len(changed) - 5} more" if len(changed) > 5 else ""
    return f"it has other values in the columns {', '.join(changed[:5])}{more}"


@cache
def _stored() -> dict[str, dict[str, Any]]:
    text = (files("lifenet.datasets") / "fingerprints.json").read_text(encoding="utf-8")
    stored: dict[str, dict[str, Any]] = json.loads(text)
    return stored


def _canonical(values: Floats) -> Floats:
    """Return `values` as little-endian float64 in C order, with one kind of NaN and of zero."""
    plain = np.array(values, dtype="<f8", order="C")
    plain[np.isnan(plain)] = np.nan
    plain[plain == 0.0] = 0.0
    return plain


def _checksums(dataset: Dataset) -> Iterator[str]:
    for column in (*dataset.X.T, dataset.y):
        # Sorted first: some processors' sort gives NaNs of its own making.
        yield f"{zlib.crc32(_canonical(np.sort(column)).tobytes()):08x}"
