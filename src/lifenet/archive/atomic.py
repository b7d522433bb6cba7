"""Writing a file so that a reader sees the old one or the new one, and never a part."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["write_atomically"]


def write_atomically(
    path: str | os.PathLike[str], write: Callable[[IO[bytes]], object], *, overwrite: bool
) -> None:
    """Write a file beside its place, and move it there once all of it is on the disk.

    A process that is killed on the way leaves the old file, and maybe one whose name begins with a
    dot and ends in ``.tmp``.

    Raises
    ------
    FileExistsError
        Where there is a file already, and it is not to be replaced.
    """
    place = Path(os.path.realpath(path))
    if not overwrite and place.exists():
        raise _exists(path)
    beside = place.with_name(f".{place.name}.{secrets.token_hex(8)}.tmp")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, 0o666)
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        _move(beside, place, path, overwrite=overwrite)
    finally:
        with contextlib.suppress(FileNotFoundError):
            beside.unlink()
    _sync_folder(place.parent)


_BINARY = getattr(os, "O_BINARY", 0)


def _move(beside: Path, place: Path, path: str | os.PathLike[str], *, overwrite: bool) -> None:
    if overwrite:
        with contextlib.suppress(FileNotFoundError):
            shutil.copymode(place, beside)
        beside.replace(place)
        return
    try:
        # A link, unlike a move, fails where another process has written the file meanwhile.
        os.link(beside, place)
    except FileExistsError:
        raise _exists(path) from None
    except OSError:  # a file system without links
        if place.exists():
            raise _exists(path) from None
        beside.replace(place)


def _exists(path: str | os.PathLike[str]) -> FileExistsError:
    return FileExistsError(
        f"{os.fspath(path)} exists already. Give another name, or overwrite=True to replace it."
    )


def _sync_folder(folder: Path) -> None:
    """Have the name of the file on the disk too, where the system can do that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
