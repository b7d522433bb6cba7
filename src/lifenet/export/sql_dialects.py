"""How databases write numbers, text, names and dates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["DIALECTS", "Dialect"]

#: Terms that stand side by side in a sum. SQLite nests a sum as deep as it is long, and 1,000 deep
#: at the most.
_SIDE_BY_SIDE = 32


@dataclass(frozen=True)
class Dialect:
    """One database's way to write expressions.

    Attributes
    ----------
    name : "sqlite", "duckdb" or "postgresql"
    suffix : what makes a decimal number one of double precision, unless it has an exponent
    typed : what does so always
    least, greatest : functions of two arguments
    number : a column as a number in double precision, NULL where it is missing
    truth : the same of a column that may hold truth values
    text : a column as text
    days : a column of dates as days since 1970
    floor : the whole number below a number, as an integer
    month : the month of whole days since 1970, as an integer
    """

    name: str
    suffix: str
    typed: str
    least: str
    greatest: str
    number: Callable[[str], str]
    truth: Callable[[str], str]
    text: Callable[[str], str]
    days: Callable[[str], str]
    floor: Callable[[str], str]
    month: Callable[[str], str]

    def literal(self, value: float) -> str:
        """A number in double precision with all its digits."""
        digits = repr(float(value))
        written = digits if "e" in digits else digits + self.suffix
        written += self.typed
        # Two minus signs in a row would begin a comment.
        return f"({written})" if written.startswith("-") else written

    def quoted(self, text: str) -> str:
        """Text as a literal."""
        _refuse_nul(text)
        return "'" + text.replace("'", "''") + "'"

    def named(self, *names: str) -> str:
        """A name, or names within one another, such as a schema and its table."""
        for name in names:
            _refuse_nul(name)
        return ".".join('"' + name.replace('"', '""') + '"' for name in names)

    def sum(self, terms: Sequence[str]) -> str:
        """A sum that is nested no deeper than it must be."""
        parts = list(terms) or [self.literal(0.0)]
        while len(parts) > _SIDE_BY_SIDE:
            starts = range(0, len(parts), _SIDE_BY_SIDE)
            parts = [f"({' + '.join(parts[at : at + _SIDE_BY_SIDE])})" for at in starts]
        return " + ".join(parts)

    def clipped(self, text: str) -> str:
        """What lies between 0 and 1 of an expression."""
        zero, one = self.literal(0.0), self.literal(1.0)
        return f"{self.least}({self.greatest}({text}, {zero}), {one})"


def _refuse_nul(text: str) -> None:
    if "\0" in text:
        raise ValueError(
            f"{text!r} has a NUL character, which SQL cannot hold. Rename it before fit."
        )


def _sqlite_days(column: str) -> str:
    """Of text as ISO 8601 writes it, to the microsecond."""
    second = f"CAST(strftime('%s', substr({column}, 1, 19)) AS INTEGER)"
    rest = f"CAST(round(CAST('0' || substr({column}, 20) AS REAL) * 1000000.0) AS INTEGER)"
    return f"({second} * 1000000 + {rest}) / 86400000000.0"


def _postgres_truth(column: str) -> str:
    text = f"CAST({column} AS text)"
    return (
        f"CASE {text} WHEN 'true' THEN 1.0::float8 WHEN 'false' THEN 0.0::float8 "
        f"ELSE NULLIF(CAST({text} AS float8), 'NaN'::float8) END"
    )


def _plain_number(column: str) -> str:
    return f"CAST({column} AS REAL)"


def _duckdb_number(column: str) -> str:
    return f"NULLIF(CAST({column} AS DOUBLE), CAST('NaN' AS DOUBLE))"


DIALECTS = {
    one.name: one
    for one in (
        Dialect(
            "sqlite",
            suffix="",
            typed="",
            least="min",
            greatest="max",
            number=_plain_number,
            truth=_plain_number,
            # An expression has no collation, under which "A" might equal "a".
            text=lambda column: f"({column} || '')",
            days=_sqlite_days,
            floor=lambda x: f"(CAST({x} AS INTEGER) - ({x} < CAST({x} AS INTEGER)))",
            month=lambda day: f"CAST(strftime('%m', {day} * 86400, 'unixepoch') AS INTEGER)",
        ),
        Dialect(
            "duckdb",
            suffix="e0",
            typed="",
            least="least",
            greatest="greatest",
            number=_duckdb_number,
            truth=_duckdb_number,
            text=lambda column: f"CAST({column} AS VARCHAR)",
            days=lambda column: f"epoch_us(CAST({column} AS TIMESTAMP)) / 86400000000e0",
            floor=lambda x: f"CAST(floor({x}) AS INTEGER)",
            month=lambda day: f"month(DATE '1970-01-01' + {day})",
        ),
        Dialect(
            "postgresql",
            suffix="",
            typed="::float8",
            least="LEAST",
            greatest="GREATEST",
            number=lambda column: f"NULLIF(CAST({column} AS float8), 'NaN'::float8)",
            truth=_postgres_truth,
            text=lambda column: f"CAST({column} AS text)",
            days=lambda column: (
                f"CAST(EXTRACT(EPOCH FROM CAST({column} AS timestamp)) * 1000000 AS float8)"
                " / 86400000000.0::float8"
            ),
            floor=lambda x: f"CAST(floor({x}) AS integer)",
            month=lambda day: f"CAST(EXTRACT(MONTH FROM DATE '1970-01-01' + {day}) AS integer)",
        ),
    )
}
