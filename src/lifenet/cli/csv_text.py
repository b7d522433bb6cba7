"""Reading CSV: types are inferred or forced, and whatever is wrong is told with its line."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet.cli.errors import CommandError
from lifenet.kernels.numbers import LARGEST
from lifenet.tables.times import iso_days

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from lifenet._typing import Integers

__all__ = ["MISSING", "CsvFormat", "CsvText", "arrow"]

#: What stands for a missing cell, unless it is in quotation marks.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "NaT")
#: Bytes that are parsed at once: a row must fit in.
_SMALLEST_BLOCK, _LARGEST_BLOCK = 1 << 16, 1 << 28
_MARKS = ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))
#: Longest cell that an error shows.
_SHOWN = 40


def arrow(module: str = "") -> Any:
    """pyarrow, or a module of it."""
    name = f"pyarrow.{module}" if module else "pyarrow"
    return require(name, extra="cli", purpose="Reading and writing tables at the command line")


@dataclass(frozen=True)
class CsvFormat:
    """How a CSV file is written.

    Attributes
    ----------
    delimiter : between cells
    decimal : before the fraction of a number
    encoding : of the characters
    missing : what stands for a missing cell, beside `MISSING`
    text : columns that hold text, whatever it looks like
    """

    delimiter: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    missing: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class CsvText:
    """The text of a CSV file.

    Attributes
    ----------
    name : of the file, for messages
    data : UTF-8, checked
    how : how it is written
    """

    name: str
    data: bytes
    how: CsvFormat

    @classmethod
    def of(cls, name: str, data: bytes, how: CsvFormat) -> CsvText:
        """Text of bytes in any encoding."""
        encoding = next((known for mark, known in _MARKS if data.startswith(mark)), how.encoding)
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            wrong = data[error.start : error.start + 1].hex()
            raise CommandError(
                f"{name}, line {line}: the byte 0x{wrong} is no {encoding} text. Pass --encoding "
                "with the encoding of the file, such as --encoding latin-1."
            ) from error
        if "\0" in text:
            line = text.count("\n", 0, text.index("\0")) + 1
            raise CommandError(
                f"{name}, line {line}: a byte is zero, which no CSV file has. Give a CSV, Parquet "
                "or Arrow file, or pass the --encoding of the file, such as utf-16."
            )
        text = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")
        return cls(name, text.encode(), how)

    # ------------------------------------------------------------------ as a table

    def table(self, types: Mapping[str, Any]) -> Any:
        """A pyarrow table.

        Parameters
        ----------
        types : of columns that are not to be inferred
        """
        names = self.names
        text = arrow().string()
        forced = {name: type_ for name, type_ in types.items() if name in names}
        forced |= {name: text for name in self.how.text if name in names}
        reader = arrow("csv")
        read = reader.ReadOptions(
            block_size=min(max(len(self.data) + 1, _SMALLEST_BLOCK), _LARGEST_BLOCK)
        )
        parse = reader.ParseOptions(delimiter=self.how.delimiter, newlines_in_values=True)
        convert = reader.ConvertOptions(
            null_values=[*MISSING, *self.how.missing],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            decimal_point=self.how.decimal,
            column_types=forced,
        )
        try:
            table = reader.read_csv(arrow().BufferReader(self.data), read, parse, convert)
        except arrow().ArrowException as error:
            raise self._explained(error, forced) from error
        if table.num_columns != len(names):
            raise CommandError(f"{self.name}: the names in its first line cannot be read.")
        return table

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        header = next(self._records(), None)
        if header is None:
            raise CommandError(f"{self.name} is empty. Give a file with a line of names and rows.")
        return header[1]

    # ------------------------------------------------------------------ where things are

    @cached_property
    def lines(self) -> Integers:
        """The line on which each row begins, (n_rows,)."""
        return np.array([line for line, _ in self._records()][1:], dtype=np.intp)

    def line_of(self, row: int) -> str:
        """Where a row is, in words."""
        return f"line {self.lines[row]}" if row < len(self.lines) else f"row {row + 1}"

    def _records(self) -> Iterator[tuple[int, list[str]]]:
        """The first line and the cells of each record, the names first; empty lines are none."""
        csv.field_size_limit(2**31 - 1)
        reader = csv.reader(
            io.StringIO(self.data.decode(), newline=""), delimiter=self.how.delimiter
        )
        while True:
            line = reader.line_num + 1
            try:
                cells = next(reader)
            except StopIteration:
                return
            except csv.Error as error:
                raise CommandError(f"{self.name}, line {line}: {error}.") from error
            if cells:
                yield line, cells

    # ------------------------------------------------------------------ what is wrong

    def _explained(self, error: Exception, forced: Mapping[str, Any]) -> CommandError:
        """The error of pyarrow with line, column and remedy."""
        records = self._records()
        _, names = next(records)
        checks = [(at, _CHECKS.get(str(forced.get(name)))) for at, name in enumerate(names)]
        n_rows = 0
        for line, cells in records:
            n_rows += 1
            if len(cells) != len(names):
                return self._ragged(line, len(cells), len(names))
            for at, check in checks:
                if (
                    check
                    and not self.is_missing(cells[at])
                    and not check(self.as_number(cells[at]))
                ):
                    return CommandError(
                        f"{self.name}, line {line}, column {names[at]!r}: {shown(cells[at])} is "
                        f"no {_WORDS[str(forced[names[at]])]}, which the model has there. Mend "
                        "the cell; if it stands for a missing value, pass it to --missing."
                    )
        if not n_rows:
            return CommandError(f"{self.name} has names of columns and no rows.")
        return CommandError(f"{self.name} cannot be read as CSV: {str(error).rstrip('.')}.")

    def _ragged(self, line: int, found: int, wanted: int) -> CommandError:
        cells = "cell" if found == 1 else "cells"
        columns = "column" if wanted == 1 else "columns"
        return CommandError(
            f"{self.name}, line {line}: {found} {cells} in a table of {wanted} {columns}. Mend the "
            "line. A cell that holds the delimiter or a line break must be in quotation marks; "
            "--delimiter says what the delimiter is."
        )

    def is_missing(self, cell: str) -> bool:
        """Whether a cell is empty, or holds what stands for that."""
        return cell in MISSING or cell in self.how.missing

    def as_number(self, cell: str) -> str:
        """A cell with the point that Python reads."""
        return cell if self.how.decimal == "." else cell.replace(self.how.decimal, ".")


def is_number(cell: str) -> bool:
    """Whether a cell reads as a number."""
    try:
        return bool(abs(float(cell)) <= LARGEST)
    except ValueError:
        return False


def is_date(cell: str) -> bool:
    """Whether a cell reads as a date."""
    return iso_days([cell]) is not None


def shown(cell: str) -> str:
    """A cell in a message."""
    return repr(cell if len(cell) <= _SHOWN else f"{cell[:_SHOWN]}...")


def names_checked(name: str, names: Sequence[str]) -> None:
    """Raise where two columns have one name."""
    twice = sorted({one for one in names if one and list(names).count(one) > 1})
    if twice:
        raise CommandError(
            f"{name}: several columns are called {', '.join(map(repr, twice[:8]))}. Rename them, "
            "so that each name is one column's."
        )


_CHECKS: dict[str, Callable[[str], bool]] = {
    "double": is_number,
    "date32[day]": is_date,
    "timestamp[us]": is_date,
}
_WORDS = {"double": "number", "date32[day]": "date", "timestamp[us]": "date"}
