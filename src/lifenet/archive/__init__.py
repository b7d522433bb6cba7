"""Models as files that outlive their version: none holds code, and reading one runs none.

An archive is a zip of `header.json` and of arrays as `.npy` members.
`docs/files.md` has its format.
"""

from __future__ import annotations

from lifenet.archive.errors import (
    ArchiveError,
    DamagedArchiveError,
    NotAnArchiveError,
    NotStorableError,
    TooLargeError,
    UnknownFormatError,
)
from lifenet.archive.model import (
    FORMAT,
    MAX_BYTES,
    ModelParts,
    describe,
    read_model,
    write_model,
)

__all__ = [
    "FORMAT",
    "MAX_BYTES",
    "ArchiveError",
    "DamagedArchiveError",
    "ModelParts",
    "NotAnArchiveError",
    "NotStorableError",
    "TooLargeError",
    "UnknownFormatError",
    "describe",
    "read_model",
    "write_model",
]
