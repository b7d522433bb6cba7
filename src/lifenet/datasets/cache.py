"""The cache: downloaded tables as parquet files, each written whole or not at all."""

from __future__ import annotations

import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lifenet._extras import require

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cache_folder", "read_table", "write_table"]

CACHE_VARIABLE = "LIFENET_CACHE"


def cache_folder(cache_dir: str | Path | None = None) -> Path:
    """Say where downloads are kept; the folder need not exist yet.

    In this order: `cache_dir`; the environment variable ``LIFENET_CACHE``; ``lifenet`` in the
    user's cache folder, which is ``%LOCALAPPDATA%`` on Windows, ``~/Library/Caches`` on macOS, and
    ``$XDG_CACHE_HOME`` or ``~/.cache`` elsewhere.
    """
    named = cache_dir if cache_dir is not None else os.environ.get(CACHE_VARIABLE)
    if named:
        return Path(named).expanduser()
    return _user_cache() / "lifenet"


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def read_table(path: Path) -> pd.DataFrame:
    """Read one parquet file."""
    pandas = require("pandas", extra="data", purpose="Loading a dataset")
    require("pyarrow", extra="data", purpose="Reading a parquet file")
    table: pd.DataFrame = pandas.read_parquet(path)
    return table


def write_table(table: pd.DataFrame, path: Path) -> None:
    """Write one parquet file, so that whoever reads `path` finds it whole or not at all.

    The table goes to a temporary name in the same folder, which is then renamed. Several writers
    may do so at once: each has a temporary name of its own, and the last to finish stays.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.stem}-", suffix=".part", dir=path.parent)
    os.close(handle)
    try:
        table.to_parquet(name, index=False)
        os.replace(name, path)
    finally:
        with suppress(FileNotFoundError):  # renamed, unless something went wrong
            os.unlink(name)
