"""The file itself: a zip of a JSON header and `.npy` members, read without trust.

Nothing of a file is believed before it is checked: names and sizes of members before they are
read, the header before memory for an array is taken, the array before anything is made of it.
"""

from __future__ import annotations

import json
import os
import re
import struct
import zipfile
import zlib
from hashlib import sha256
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from lifenet.archive.arrays import DTYPES
from lifenet.archive.errors import (
    ArchiveError,
    DamagedArchiveError,
    NotAnArchiveError,
    TooLargeError,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["read_arrays", "read_header", "write_zip"]

_HEADER = "header.json"
_MEMBER = re.compile(r"arrays/([A-Za-z0-9_.-]{1,120})\.npy")
# Bytes that a header may have, and marks in it that begin or part values: one takes about a
# hundred bytes once read. Chosen by hand, for tables with tens of thousands of columns.
_MOST_HEADER, _MOST_MARKS = 32 * 2**20, 2_000_000
_MOST_MEMBERS = 60_000
# Bytes of an .npy header, and the most that deflate makes of one byte.
_MOST_NPY_HEADER, _DEFLATE = 1_024, 1_032
_NPY_HEADER = re.compile(
    rb"\{'descr': '([<|][a-z]\d)', 'fortran_order': False, 'shape': \((\d{1,15}),\), \} *\n"
)
_DIGEST = re.compile(r"[0-9a-f]{64}")
#: What zipfile and zlib raise on files that are damaged.
_BROKEN = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError),
    *(RuntimeError, ValueError, OverflowError, IndexError, KeyError, TypeError, struct.error),
    OSError,  # places before the file's beginning
)


def write_zip(
    file: IO[bytes], header: Mapping[str, Any], members: Mapping[str, npt.NDArray[Any]]
) -> None:
    """Write a header, to which what is known of the arrays is added, and the arrays.

    The same content gives the same bytes: no member has a date.
    """
    known = {
        name: {"dtype": one.dtype.str, "length": len(one), "sha256": _digest(one)}
        for name, one in members.items()
    }
    text = json.dumps({**header, "arrays": known}, allow_nan=False, separators=(",", ":"))
    if len(text) > _MOST_HEADER or _marks(text.encode()) > _MOST_MARKS:
        raise TooLargeError(f"the header has {len(text):,} bytes, more than can be read again")
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open(_info(_HEADER), "w") as member:
            member.write(text.encode())
        for name, one in members.items():
            large = one.nbytes > 2**30
            with archive.open(_info(f"arrays/{name}.npy"), "w", force_zip64=large) as member:
                np.lib.format.write_array(member, one, version=(1, 0), allow_pickle=False)


def _info(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system, info.external_attr = 3, 0o644 << 16
    return info


def _digest(array: npt.NDArray[Any]) -> str:
    return sha256(np.ascontiguousarray(array).data).hexdigest()


def _marks(content: bytes) -> int:
    return sum(content.count(mark) for mark in (b",", b"[", b"{"))


def open_zip(file: IO[bytes]) -> zipfile.ZipFile:
    """The zip in a file, its members' names checked."""
    try:
        archive = zipfile.ZipFile(file)
        infos = archive.infolist()
    except _BROKEN as error:
        file.seek(0)
        if file.read(2) != b"PK":
            raise NotAnArchiveError("this is no zip file") from error
        raise DamagedArchiveError(f"the zip file is broken or cut off: {error}") from error
    n_bytes = file.seek(0, os.SEEK_END)
    names = [one.filename for one in infos]
    if _HEADER not in names:
        raise NotAnArchiveError(f"the zip file has no {_HEADER}")
    if len(set(names)) < len(names) or len(names) > _MOST_MEMBERS:
        raise DamagedArchiveError(f"a member comes twice, or there are over {_MOST_MEMBERS:,}")
    for one in infos:
        if one.filename != _HEADER and not _MEMBER.fullmatch(one.filename):
            raise DamagedArchiveError(f"the member {one.filename!r:.100} does not belong there")
        if one.compress_size > n_bytes:
            raise DamagedArchiveError(f"the member {one.filename} is larger than the whole file")
        if one.flag_bits & 1 or one.compress_type not in (zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED):
            raise DamagedArchiveError(f"the member {one.filename} is encrypted or oddly packed")
    return archive


def read_header(file: IO[bytes]) -> dict[str, Any]:
    """The header of an archive."""
    archive = open_zip(file)
    size = archive.getinfo(_HEADER).file_size
    if size > _MOST_HEADER:
        raise TooLargeError(f"{_HEADER} has {size:,} bytes; {_MOST_HEADER:,} are allowed")
    content = _read(archive, _HEADER, size)
    if _marks(content) > _MOST_MARKS:
        raise TooLargeError(f"{_HEADER} has more than {_MOST_MARKS:,} values")
    try:
        header = json.loads(content, object_pairs_hook=_each_once, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise DamagedArchiveError(f"{_HEADER} is no JSON of an archive: {error}") from error
    if not isinstance(header, dict):
        raise DamagedArchiveError(f"{_HEADER} holds no object")
    return header


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name comes twice in one object")
    return found


def _no_constant(text: str) -> None:
    raise ValueError(f"{text} is no JSON")


def _read(archive: zipfile.ZipFile, name: str, size: int) -> bytes:
    """A member of a known size."""
    try:
        with archive.open(name) as member:
            content = member.read(size)
            beyond = member.read(1)
    except _BROKEN as error:
        raise DamagedArchiveError(f"the member {name} cannot be read: {error}") from error
    if len(content) != size or beyond:
        raise DamagedArchiveError(f"the member {name} does not have the {size:,} bytes it claims")
    return content


def read_arrays(file: IO[bytes], known: object, max_bytes: int) -> dict[str, npt.NDArray[Any]]:
    """All arrays that a header knows of, each checked against it."""
    archive = open_zip(file)
    sizes = _sizes(known)
    assert isinstance(known, dict)
    total = sum(sizes.values())
    if total > max_bytes:
        raise TooLargeError(f"the arrays take {total:,} bytes; max_bytes is {max_bytes:,}")
    wanted = {_HEADER, *(f"arrays/{name}.npy" for name in known)}
    if wanted != set(archive.namelist()):
        odd = sorted(wanted ^ set(archive.namelist()))
        raise DamagedArchiveError(f"header and members differ, such as in {odd[0]}")
    for name, size in sizes.items():
        info = archive.getinfo(f"arrays/{name}.npy")
        if not size < info.file_size <= size + _MOST_NPY_HEADER:
            raise DamagedArchiveError(
                f"the member {info.filename} has {info.file_size:,} bytes, which are not the "
                f"{size:,} of its array and a header"
            )
        if size > _DEFLATE * (info.compress_size + 1):
            raise DamagedArchiveError(f"the member {info.filename} cannot be as large as it claims")
    return {name: _read_array(archive, name, known[name]) for name in known}


def _sizes(known: object) -> dict[str, int]:
    """Bytes of each array, as the header has them."""
    if not isinstance(known, dict):
        raise DamagedArchiveError("the header tells of no arrays")
    for name, one in known.items():
        fits = isinstance(one, dict) and set(one) == {"dtype", "length", "sha256"}
        fits = fits and isinstance(one["dtype"], str) and one["dtype"] in DTYPES
        fits = fits and type(one["length"]) is int and 0 <= one["length"] < 2**48
        fits = fits and isinstance(one["sha256"], str) and bool(_DIGEST.fullmatch(one["sha256"]))
        if not fits:
            raise DamagedArchiveError(f"the header is wrong about the array {name!r:.100}")
    return {name: one["length"] * np.dtype(one["dtype"]).itemsize for name, one in known.items()}


def _read_array(archive: zipfile.ZipFile, name: str, known: Mapping[str, Any]) -> npt.NDArray[Any]:
    """One array, whose dtype, length and digest are those of the header."""
    path, dtype, length = f"arrays/{name}.npy", np.dtype(known["dtype"]), known["length"]
    try:
        with archive.open(path) as member:
            found = _npy_header(member)
            if found != (dtype.str, length):
                raise DamagedArchiveError(
                    f"the member {path} has dtype and length {found}; the header says "
                    f"{(dtype.str, length)}"
                )
            array = np.empty(length, dtype=dtype)
            n_read = _fill(member, array)
            beyond = member.read(1)
    except _BROKEN as error:
        if isinstance(error, ArchiveError):
            raise
        raise DamagedArchiveError(f"the member {path} cannot be read: {error}") from error
    if n_read != array.nbytes or beyond:
        raise DamagedArchiveError(
            f"the member {path} does not have the {length:,} numbers it claims"
        )
    if _digest(array) != known["sha256"]:
        raise DamagedArchiveError(f"the member {path} was changed: its SHA-256 is another")
    if dtype.kind == "b" and length and array.view("u1").max() > 1:
        raise DamagedArchiveError(f"the member {path} holds what is no truth value")
    return array


def _npy_header(member: IO[bytes]) -> tuple[str, int]:
    """Dtype and length of an `.npy` file of one axis and version 1.0.

    It is read strictly, as numpy writes it: numpy's own reader evaluates what it does not know.
    """
    start = member.read(10)
    size = int.from_bytes(start[8:], "little")
    if start[:8] != b"\x93NUMPY\1\0" or size > _MOST_NPY_HEADER:
        raise DamagedArchiveError("an array is no .npy file of version 1.0")
    found = _NPY_HEADER.fullmatch(member.read(size))
    if found is None:
        raise DamagedArchiveError("an array is not one of numbers and of one axis")
    return found[1].decode(), int(found[2])


def _fill(member: IO[bytes], array: npt.NDArray[Any]) -> int:
    """Read into an array; how many bytes there were."""
    into, done = array.view("|u1").data, 0
    while done < len(into):
        piece = member.read(min(len(into) - done, 2**24))
        if not piece:
            break
        into[done : done + len(piece)] = piece
        done += len(piece)
    return done
