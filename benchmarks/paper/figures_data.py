"""What figures are drawn from: tables and arrays in one folder, each file written in one piece."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path


class NothingToDraw(Exception):
    """What a figure shows is not there; the message says what is missing, and the remedy."""


@dataclass(frozen=True)
class Store:
    """A folder of data of figures.

    Attributes
    ----------
    folder : where the files are
    kept : whether nothing may be computed
    small : whether tiny data and few settings will do
    """

    folder: Path
    kept: bool = False
    small: bool = False

    def read(self, file: str) -> pd.DataFrame:
        """A table, empty where there is none."""
        path = self.folder / file
        return pd.read_csv(path) if path.exists() else pd.DataFrame()

    def add(self, file: str, rows: Sequence[dict[str, Any]], keys: Sequence[str]) -> None:
        """Add rows to a table; those with the same keys are replaced."""
        old = self.read(file)
        new = pd.DataFrame(rows)
        both = new if old.empty else pd.concat([old, new])
        self.write(file, both.drop_duplicates(list(keys), keep="last"))

    def write(self, file: str, table: pd.DataFrame) -> None:
        """Write a table."""
        self._write(file, lambda path: table.to_csv(path, index=False, float_format="%.6g"))

    def read_arrays(self, file: str) -> dict[str, Any]:
        """Arrays by name, none where there is no such file."""
        path = self.folder / file
        if not path.exists():
            return {}
        with np.load(path) as arrays:
            return dict(arrays)

    def write_arrays(self, file: str, **arrays: Any) -> None:
        """Write arrays."""
        self._write(file, lambda path: np.savez_compressed(path, **arrays))

    def refuse(self, figure: str, what: str) -> None:
        """Say what is missing, where nothing may be computed."""
        if self.kept:
            raise NothingToDraw(f"{figure}: {what} not kept; draw it without --kept.")

    def _write(self, file: str, write: Callable[[str], object]) -> None:
        """Under another name first: a kill leaves the old file or the new one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=self.folder) as scratch:
            path = os.path.join(scratch, file)
            write(path)
            os.replace(path, self.folder / file)
