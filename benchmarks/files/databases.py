"""Tables in databases, and models in SQL that predict them there."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING, Any

import pandas as pd

if TYPE_CHECKING:
    from lifenet.export import SqlExport


def held(frame: pd.DataFrame) -> pd.DataFrame:
    """A frame whose columns databases have: durations as days, categories as their levels."""
    found = frame.copy()
    for name in found:
        column = found[name]
        if column.dtype.kind == "m":
            found[name] = column / pd.Timedelta(days=1)
        elif isinstance(column.dtype, pd.CategoricalDtype):
            found[name] = column.astype(column.cat.categories.dtype)
        elif column.dtype == object and all(isinstance(one, bool) for one in column.dropna()):
            found[name] = pd.array(column.where(column.notna(), None), dtype="boolean")
    return found


def in_sqlite(frame: pd.DataFrame, name: str = "t") -> Any:
    """A database with the table, whose dates are text."""
    base = sqlite3.connect(":memory:")
    found = held(frame)
    for column in found:
        if found[column].dtype.kind == "M":
            texts = [None if one is pd.NaT else one.isoformat(" ") for one in found[column]]
            found[column] = pd.Series(texts, index=found.index, dtype=object)
    found.to_sql(name, base, index=False)
    return base


def in_duckdb(frame: pd.DataFrame, name: str = "t") -> Any:
    """A database with the table."""
    import duckdb

    base = duckdb.connect()
    base.register("given", held(frame))
    quoted = name.replace('"', '""')
    base.execute(f'CREATE TABLE "{quoted}" AS SELECT * FROM given')
    return base


def run(base: Any, export: SqlExport) -> pd.DataFrame:
    """The result of all statements of a model."""
    for statement in export.setup:
        base.execute(statement)
    return pd.DataFrame(base.execute(export.select).fetchall(), columns=list(export.columns))
