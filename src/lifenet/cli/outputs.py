"""Writing files: whole or not at all, and never over another file unless told to."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from lifenet.archive.atomic import write_atomically
from lifenet.cli.errors import CommandError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["STANDARD", "Output", "new_folder"]

#: The name of standard input and standard output.
STANDARD = "-"


@dataclass(frozen=True)
class Output:
    """A place to write to.

    Attributes
    ----------
    name : path as the user gave it, or "-" for standard output
    force : whether a file that exists may be replaced
    """

    name: str
    force: bool = False

    @classmethod
    def checked(cls, name: str, *, force: bool) -> Output:
        """A place that can be written to; checked before any long work."""
        output = cls(name, force)
        if output.standard:
            return output
        path = output.path
        if path.is_dir():
            raise UsageError(f"{name} is a folder. Give the name of a file in it.")
        if not path.parent.is_dir():
            raise UsageError(
                f"{name} cannot be written: there is no folder {path.parent}. Make it first."
            )
        if not os.access(path.parent, os.W_OK):
            raise UsageError(f"{name} cannot be written: no permission in {path.parent}.")
        output.refuse_existing()
        return output

    @property
    def standard(self) -> bool:
        """Whether it is standard output."""
        return self.name == STANDARD

    @property
    def path(self) -> Path:
        """The file itself; of a link, where it leads."""
        return Path(os.path.realpath(self.name))

    @property
    def special(self) -> bool:
        """Whether it is a device or a pipe, which is written to and not replaced."""
        return self.path.exists() and not self.path.is_file()

    def refuse_existing(self) -> None:
        """Raise where a file is there that must not be replaced."""
        if self.path.is_file() and not self.force:
            raise UsageError(
                f"{self.name} exists already. Pass --force to replace it, or another name."
            )

    def write(self, data: bytes) -> None:
        """Write all of it, or nothing."""
        if self.standard:
            _to_standard_output(data)
        elif self.special:
            self.path.write_bytes(data)
        else:
            with self.refusing_existing():
                write_atomically(self.path, lambda file: file.write(data), overwrite=self.force)

    @contextlib.contextmanager
    def refusing_existing(self) -> Iterator[None]:
        """Tell in the words of the command line that a file came to be there meanwhile."""
        try:
            yield
        except FileExistsError:
            raise CommandError(
                f"{self.name} came to be there while the command ran, and was left alone. Pass "
                "--force to replace it, or another name."
            ) from None


def new_folder(name: str) -> Path:
    """A folder for several files, made where there is none."""
    path = Path(name)
    if path.exists() and not path.is_dir():
        raise UsageError(f"{name} is a file. --output takes a folder here; give another name.")
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CommandError(f"The folder {name} cannot be made: {error.strerror}.") from error
    return path


def _to_standard_output(data: bytes) -> None:
    binary = getattr(sys.stdout, "buffer", None)
    if binary is None:
        sys.stdout.write(data.decode())
    else:
        sys.stdout.flush()
        binary.write(data)
        binary.flush()
