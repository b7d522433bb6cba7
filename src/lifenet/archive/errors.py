"""What may be wrong with an archive::

    ArchiveError (a ValueError)
    ├── NotAnArchiveError     the file is something else
    ├── UnknownFormatError    a later lifenet wrote it
    ├── DamagedArchiveError   parts are missing, changed, or do not fit together
    ├── TooLargeError         it would take more memory than is allowed
    └── NotStorableError      at saving: a part of the model has no form in an archive

Errors of the file system (a file that is missing, or exists already) are Python's own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

__all__ = [
    "ArchiveError",
    "DamagedArchiveError",
    "NotAnArchiveError",
    "NotStorableError",
    "TooLargeError",
    "UnknownFormatError",
]


class ArchiveError(ValueError):
    """An archive cannot be written or read."""

    remedy = ""

    def about(self, path: str | os.PathLike[str]) -> ArchiveError:
        """The same error, naming the file and the remedy."""
        return type(self)(f"{path}: {self}. {self.remedy}".rstrip())


class NotAnArchiveError(ArchiveError):
    """The file is no archive of lifenet."""

    remedy = "Give a file that the method save of an estimator wrote."


class UnknownFormatError(ArchiveError):
    """The archive has a format that this lifenet does not know."""

    remedy = "Install the lifenet that wrote it, or a later one."


class DamagedArchiveError(ArchiveError):
    """Parts of the archive are missing, changed, or do not fit together."""

    remedy = "Get the file again from where it came from, or save the model anew."


class TooLargeError(ArchiveError):
    """The archive would take more memory than is allowed."""

    remedy = "If you trust the file, give load a larger max_bytes."


class NotStorableError(ArchiveError):
    """A part of the model has no form in an archive."""

    remedy = "Replace it before saving, or pickle the model."
