"""The user's columns as columns of numbers, in SQL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet._typing import Floats
    from lifenet.export.fields import Field
    from lifenet.export.sql_dialects import Dialect

__all__ = ["GIVEN", "Cells", "select_as"]

#: What statements call the user's table.
GIVEN = "given"


@dataclass(frozen=True, eq=False)
class Cells:
    """Table expressions that read a table, the last one with a column x0, x1, ... a number.

    Attributes
    ----------
    fields : columns of the table
    table : its name, or the names of its schema and its own
    keep : columns that the result keeps, here k0, k1, ...
    """

    fields: Sequence[Field]
    table: tuple[str, ...]
    keep: Sequence[str]
    dialect: Dialect

    @property
    def kept(self) -> list[str]:
        """The kept columns inside the statement, and the number of the row."""
        return ["life_row", *(f"k{number}" for number in range(len(self.keep)))]

    def expressions(self) -> Iterator[str]:
        """``cells AS (...)``, where each column is of one type, and ``numbers AS (...)``."""
        source = [f"{GIVEN}.{self.dialect.named(name)}" for name in self.keep]
        kept = ["ROW_NUMBER() OVER () AS life_row"]
        kept += [f"{column} AS k{number}" for number, column in enumerate(source)]
        cells = [f"{self._cell(one)} AS f{number}" for number, one in enumerate(self.fields)]
        yield select_as("cells", [*kept, *cells], f"{self.dialect.named(*self.table)} AS {GIVEN}")
        dates = [number for number, one in enumerate(self.fields) if one.parts]
        columns = [*self.kept, *(f"f{number}" for number in range(len(self.fields)))]
        days = [f"{self.dialect.floor(f'f{number}')} AS d{number}" for number in dates]
        yield select_as("days", [*columns, *days], "cells")
        numbers = [
            f"{text} AS x{column}"
            for number, one in enumerate(self.fields)
            for column, text in zip(one.columns, self._numbers(number, one), strict=True)
        ]
        yield select_as("numbers", [*self.kept, *numbers], "days", stored=True)

    def _cell(self, field: Field) -> str:
        """A column as text, days or a number, NULL where it is missing."""
        dialect = self.dialect
        column = f"{GIVEN}.{dialect.named(field.name)}"
        kind = field.level_kind or field.kind
        if kind == "text":
            return dialect.text(column)
        if kind == "date":
            return dialect.days(column)
        truths = kind == "boolean" or (field.levels and set(field.levels) <= {0.0, 1.0})
        return dialect.truth(column) if truths else dialect.number(column)

    def _numbers(self, number: int, field: Field) -> Iterator[str]:
        """Expressions of the columns of numbers of a field."""
        cell, literal = f"f{number}", self.dialect.literal
        if field.patterns is not None:
            for column in field.patterns.T:
                yield self._of_level(cell, field, column)
            return
        yield f"COALESCE({cell}, {literal(field.neutral)})"
        if field.gaps:
            yield f"CASE WHEN {cell} IS NULL THEN {literal(1.0)} ELSE {literal(0.0)} END"
        for part, neutral in field.parts:
            found = self._part(cell, f"d{number}", part)
            yield f"CASE WHEN {cell} IS NULL THEN {literal(neutral)} ELSE {found} END"

    def _of_level(self, cell: str, field: Field, column: Floats) -> str:
        """What one column holds at the level of a cell."""
        literal, values = self.dialect.literal, column.tolist()
        *known, unseen, missing = values
        by_value: dict[float, list[str]] = {}
        for level, value in zip(field.levels, known, strict=True):
            if value != unseen:
                text = self.dialect.quoted(level) if isinstance(level, str) else literal(level)
                by_value.setdefault(value, []).append(text)
        cases = [f"WHEN {cell} IS NULL THEN {literal(missing)}"]
        for value, levels in by_value.items():
            cases.append(f"WHEN {cell} IN ({', '.join(levels)}) THEN {literal(value)}")
        return f"CASE {' '.join(cases)} ELSE {literal(unseen)} END"

    def _part(self, days: str, whole: str, part: str) -> str:
        literal = self.dialect.literal
        if part == "month":
            return f"{self.dialect.month(whole)} * {literal(1.0)}"
        if part == "weekday":
            return f"((({whole} + 3) % 7 + 7) % 7 + 1) * {literal(1.0)}"
        hours = f"{literal(24.0)} * ({days} - {whole}) * {literal(1e6)}"
        return f"round({hours}) / {literal(1e6)}"


def select_as(name: str, columns: Sequence[str], source: str, *, stored: bool = False) -> str:
    """A table expression, on a line a column; stored ones are computed once."""
    listed = ",\n    ".join(columns)
    how = "AS MATERIALIZED" if stored else "AS"
    return f"{name} {how} (\n  SELECT\n    {listed}\n  FROM {source}\n)"
