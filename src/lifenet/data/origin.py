"""What a fit was of: its rows, its seed, and the versions of what computed it."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from hashlib import sha256
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from lifenet._shown import shown
from lifenet.kernels.hashing import hash_rows

if TYPE_CHECKING:
    from lifenet.data.inputs import Inputs

__all__ = ["Origin"]

_PACKAGES = ("lifenet", "numpy", "scipy", "scikit-learn")


@shown
@dataclass(frozen=True)
class Origin:
    """What a fit was of.

    Attributes
    ----------
    rows : that had weight
    columns : of the user's table
    data : SHA-256 of the rows, their targets and weights, whatever their order
    seed : of everything random
    versions : pairs of a package, or Python, and its version
    """

    rows: int
    columns: int
    data: str
    seed: int
    versions: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, data: Inputs, seed: int) -> Origin:
        """Of data that were fitted."""
        rows, target = data.rows, data.target
        if target is None:
            target = rows.target
        elif rows.index is not None:
            target = target[rows.index]
        table = np.column_stack([hash_rows(data.identity, 0), target, rows.weight])
        digest = sha256(np.sort(hash_rows(table, 0)).astype("<f8").tobytes()).hexdigest()
        versions = [("python", platform.python_version())]
        versions += [(name, version(name)) for name in _PACKAGES]
        return cls(rows.n_rows, data.n_columns, digest, seed, tuple(versions))
