"""Models as archives: what estimators hand over, and what they are given back."""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifenet.archive.arrays import Sink, Source
from lifenet.archive.atomic import write_atomically
from lifenet.archive.container import read_arrays, read_header, write_zip
from lifenet.archive.errors import (
    ArchiveError,
    DamagedArchiveError,
    NotAnArchiveError,
    TooLargeError,
    UnknownFormatError,
)
from lifenet.archive.forms import damaged
from lifenet.archive.parameters import Parameters

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

    from lifenet.archive.forms import Form

__all__ = ["FORMAT", "MAX_BYTES", "ModelParts", "describe", "read_model", "write_model"]

#: Version of the format that is written; all up to it are read.
FORMAT = 1
#: Bytes that arrays of a model may take, where the user does not say: of models known to be large,
#: the largest takes a hundredth. Chosen by hand.
MAX_BYTES = 4 * 2**30
_KIND = "lifenet model"
_FIELDS = ("kind", "format", "lifenet", "estimator", "parameters", "fitted", "arrays")


@dataclass(frozen=True)
class ModelParts:
    """A fitted estimator by its parts.

    Attributes
    ----------
    estimator : name of its class
    parameters : by name
    fitted : attributes that fitting set
    """

    estimator: str
    parameters: Mapping[str, Any]
    fitted: Mapping[str, Any]


def write_model(
    path: str | os.PathLike[str], parts: ModelParts, forms: Mapping[str, Form], *, overwrite: bool
) -> None:
    """Write a model.

    Parameters
    ----------
    forms : of the attributes
    """
    sink = Sink()
    try:
        held = Parameters().write(parts.parameters, sink, "parameters")
        fitted = {
            name: forms[name].write(value, sink, name) for name, value in parts.fitted.items()
        }
        header = {
            "kind": _KIND,
            "format": FORMAT,
            "lifenet": version("lifenet"),
            "estimator": parts.estimator,
            "parameters": held,
            "fitted": fitted,
        }
        members = sink.members()
        write_atomically(path, lambda file: write_zip(file, header, members), overwrite=overwrite)
    except ArchiveError as error:
        raise error.about(path) from error.__cause__


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header of an archive as plain values; no array is read and nothing is built."""
    with Path(path).open("rb") as file:
        try:
            return _checked(read_header(file))
        except ArchiveError as error:
            raise error.about(path) from error.__cause__


def read_model(
    path: str | os.PathLike[str],
    known: Mapping[str, tuple[Mapping[str, Form], frozenset[str]]],
    max_bytes: int,
) -> ModelParts:
    """Read a model.

    Parameters
    ----------
    known : for each class of estimators the forms of its attributes, and which may be missing
    max_bytes : that the arrays may take, and the codes of all columns
    """
    with Path(path).open("rb") as file:
        try:
            return _read(file, known, max_bytes)
        except MemoryError as error:
            raise TooLargeError("the memory does not suffice").about(path) from error
        except ArchiveError as error:
            raise error.about(path) from error.__cause__


def _read(
    file: IO[bytes],
    known: Mapping[str, tuple[Mapping[str, Form], frozenset[str]]],
    max_bytes: int,
) -> ModelParts:
    file.seek(0, os.SEEK_END)
    if file.tell() > max_bytes:
        raise TooLargeError(f"the file has {file.tell():,} bytes; max_bytes is {max_bytes:,}")
    header = _checked(read_header(file))
    return _READERS[header["format"]](file, header, known, max_bytes)


def _checked(header: dict[str, Any]) -> dict[str, Any]:
    """A header of a format that is known."""
    if header.get("kind") != _KIND:
        raise NotAnArchiveError("the zip file holds no model of lifenet")
    found = header.get("format")
    if type(found) is not int or not isinstance(header.get("lifenet"), str):
        raise DamagedArchiveError("the header does not say which format it has")
    if found not in _READERS:
        raise UnknownFormatError(
            f"it has format {found}, written by lifenet {header['lifenet']:.40}; this lifenet, "
            f"{version('lifenet')}, reads formats {', '.join(map(str, _READERS))}"
        )
    return header


def _read_format_1(
    file: IO[bytes],
    header: dict[str, Any],
    known: Mapping[str, tuple[Mapping[str, Form], frozenset[str]]],
    max_bytes: int,
) -> ModelParts:
    if set(header) != set(_FIELDS):
        damaged("the top", f"the fields {', '.join(_FIELDS)}")
    name = header["estimator"]
    if not isinstance(name, str) or name not in known:
        raise UnknownFormatError(f"it holds a {name!r:.60}, which is no estimator of this lifenet")
    forms, optional = known[name]
    given = header["fitted"]
    if not isinstance(given, dict) or not forms.keys() - optional <= set(given) <= forms.keys():
        damaged("fitted", f"the attributes {', '.join(forms)}")
    source = Source(read_arrays(file, header["arrays"], max_bytes), max_bytes)
    parameters = Parameters().read(header["parameters"], source, "parameters")
    # In the order in which they were written: values are told by number once they were read.
    fitted = {name: forms[name].read(given[name], source, name) for name in forms if name in given}
    source.check_used()
    return ModelParts(name, parameters, fitted)


#: For each format what reads it; none is ever removed.
_READERS = {1: _read_format_1}
