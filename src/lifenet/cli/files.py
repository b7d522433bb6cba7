"""Tables from files and to files: CSV, Parquet and Arrow, by their first bytes or their ending."""

from __future__ import annotations

import gzip
import io
import re
import sys
import zlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.csv_text import CsvText, arrow, is_date, is_number, names_checked, shown
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.outputs import STANDARD

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy.typing as npt

    from lifenet._typing import Integers
    from lifenet.cli.csv_text import CsvFormat

__all__ = ["FORMATS", "Source", "format_of", "read_source", "table_bytes"]

#: Formats by the ending of a name.
FORMATS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_GZIP, _PARQUET, _ARROW, _STREAM = b"\x1f\x8b", b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
#: Columns in which pandas keeps row labels.
_INDEX = re.compile(r"__index_level_\d+__")
#: Share of cells above which text among numbers or dates is taken for a slip; chosen by hand.
_MOSTLY = 0.5


@dataclass(frozen=True, eq=False)
class Source:
    """A table, and where its rows are in the file that it came from.

    Attributes
    ----------
    name : of the file, for messages
    table : of pyarrow
    rows : (n_rows,), the number of each row in the file, from 0
    text : of a CSV file; None of any other
    notes : what was done in reading it, in sentences
    """

    name: str
    table: Any
    rows: Integers
    text: CsvText | None = None
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.table.column_names)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.table.num_rows)

    def place(self, row: int) -> str:
        """Where a row of the table is in the file: a line, or a row counted from 1."""
        number = int(self.rows[row]) if row < len(self.rows) else row
        return f"row {number + 1}" if self.text is None else self.text.line_of(number)

    def located(self, message: str) -> str:
        """A message about rows of the table, with places in the file."""
        return re.sub(r"\brow (\d+)\b", lambda found: self.place(int(found[1])), message)

    def explained(self, error: Exception) -> CommandError:
        """An error of the library about these rows, with the file and places in it."""
        return CommandError(f"{self.name}: {self.located(str(error))}")

    def take(self, rows: npt.NDArray[Any]) -> Source:
        """Some rows, by their indices or by a mask."""
        index = np.flatnonzero(rows) if rows.dtype == bool else rows
        return replace(self, table=self.table.take(arrow().array(index)), rows=self.rows[index])

    def select(self, names: Sequence[str]) -> Source:
        """Some columns."""
        return replace(self, table=self.table.select(list(names)))

    def without(self, names: Iterable[str]) -> Source:
        """All columns but some."""
        gone = set(names)
        return self.select([name for name in self.names if name not in gone])

    def require(self, names: Iterable[str], what: str) -> None:
        """Raise where columns are missing."""
        known = self.names
        missing = [name for name in names if name not in known]
        if not missing:
            return
        hint = ""
        if self.text is not None and len(known) == 1:
            delimiters = {";": "';'", "\t": "tab", "|": "'|'", ",": "','"}
            found = [word for mark, word in delimiters.items() if mark in known[0]]
            hint = f" Its only column may be several: pass --delimiter {found[0]}." if found else ""
        listed = ", ".join(known[:20]) + (f" and {len(known) - 20} more" if len(known) > 20 else "")
        raise CommandError(
            f"{self.name} has no column {', '.join(map(repr, missing))}, which {what}. It has "
            f"{listed}.{hint}"
        )


def format_of(name: str, default: str = "csv") -> str:
    """The format that the ending of a name says."""
    return FORMATS.get(Path(name).suffix.lower(), default)


def read_source(
    name: str, how: CsvFormat, types: Mapping[str, Any] | None = None, *, told: bool = False
) -> Source:
    """Read a table.

    Parameters
    ----------
    name : of a file, or "-" for standard input
    how : how a CSV file is written
    types : of columns of a CSV file that are not to be inferred
    told : whether text in columns that mostly hold numbers or dates is noted
    """
    data = _bytes_of(name)
    label = "standard input" if name == STANDARD else name
    if not data:
        raise CommandError(f"{label} is empty. Give a file with a line of names and rows.")
    kind = _kind_of(data, name)
    text = None
    if kind in ("csv", "tsv"):
        if kind == "tsv" and how.delimiter == ",":
            how = replace(how, delimiter="\t")
        text = CsvText.of(label, data, how)
        names_checked(label, text.names)
        table = text.table(types or {})
    else:
        table = _read_binary(label, data, kind)
        names_checked(label, table.column_names)
    if not table.num_rows:
        raise CommandError(f"{label} has names of columns and no rows.")
    table, notes = _without_unnamed(label, table)
    source = Source(label, table, np.arange(table.num_rows), text, tuple(notes))
    return replace(source, notes=(*notes, *_slips(source))) if told else source


def _bytes_of(name: str) -> bytes:
    try:
        data = sys.stdin.buffer.read() if name == STANDARD else Path(name).read_bytes()
        return gzip.decompress(data) if data.startswith(_GZIP) else data
    except FileNotFoundError:
        raise CommandError(f"There is no file {name}.") from None
    except IsADirectoryError:
        raise CommandError(f"{name} is a folder. Give a file.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise CommandError(f"{name} is a damaged gzip file: {error}.") from error
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # a name with a zero byte
        raise UsageError(f"{name!r} is no name of a file: {error}.") from error


def _kind_of(data: bytes, name: str) -> str:
    """The format, by the first bytes; CSV has none of its own."""
    for mark, kind in ((_PARQUET, "parquet"), (_ARROW, "arrow"), (_STREAM, "stream")):
        if data.startswith(mark):
            return kind
    by_name = format_of(name.removesuffix(".gz"))
    if by_name in ("parquet", "arrow"):
        raise CommandError(
            f"{name} is no {by_name.capitalize()} file, though its name says so. Give a file of "
            "that format, or end its name with .csv if it is CSV."
        )
    if data.startswith(b"PK\x03\x04"):
        raise CommandError(
            f"{name} is a zip file, such as a spreadsheet or a model. Give a CSV, Parquet or Arrow "
            "file here; of a spreadsheet, save a sheet as CSV."
        )
    return by_name


def _read_binary(name: str, data: bytes, kind: str) -> Any:
    buffer = arrow().BufferReader(data)
    try:
        if kind == "parquet":
            table = arrow("parquet").read_table(buffer)
        elif kind == "arrow":
            table = arrow("ipc").open_file(buffer).read_all()
        else:
            table = arrow("ipc").open_stream(buffer).read_all()
        table.validate(full=True)
    except (arrow().ArrowException, OSError, ValueError) as error:
        reason = str(error).splitlines()[0].rstrip(".")
        raise CommandError(f"{name} is a damaged {kind} file: {reason}. Write it anew.") from error
    return table


def _without_unnamed(name: str, table: Any) -> tuple[Any, list[str]]:
    """The table without columns that have no name, and without row labels of pandas."""
    names = table.column_names
    kept = [at for at, one in enumerate(names) if one.strip() and not _INDEX.fullmatch(one)]
    if len(kept) == len(names):
        return table, []
    numbers = [str(at + 1) for at in range(len(names)) if at not in kept]
    several = len(numbers) > 1
    what = f"Columns {', '.join(numbers)}" if several else f"Column {numbers[0]}"
    verb, pronoun = ("have", "are") if several else ("has", "is")
    note = f"{what} of {name} {verb} no name of {'their' if several else 'its'} own"
    return table.select(kept), [f"{note}, and {pronoun} left out."]


def _slips(source: Source) -> list[str]:
    """Columns that mostly hold numbers or dates, and some text, so that all of it is text."""
    if source.text is None:
        return []
    found = []
    for name in source.names:
        column = source.table.column(name)
        if str(column.type) != "string" or name in source.text.how.text:
            continue
        cells = column.to_pylist()
        for what, check in (("numbers", is_number), ("dates", is_date)):
            note = _slip(source, name, cells, what, check)
            found += [note] if note else []
    return found


def _slip(
    source: Source, name: str, cells: list[str | None], what: str, check: Callable[[str], bool]
) -> str:
    assert source.text is not None
    counts = Counter(cell for cell in cells if cell is not None)
    strange = {cell for cell in counts if not check(source.text.as_number(cell))}
    n_strange, n_known = sum(counts[cell] for cell in strange), counts.total()
    if not 0 < n_strange < _MOSTLY * n_known:
        return ""
    row = next(at for at, cell in enumerate(cells) if cell in strange)
    return (
        f"Column {name!r} is text: {n_known - n_strange:,} of its {n_known:,} cells are {what}, "
        f"and {n_strange:,} {'is' if n_strange == 1 else 'are'} not; the first is "
        f"{shown(str(cells[row]))} on {source.place(row)}. "
        "Mend them, or pass what stands for a missing value to --missing; pass the column to "
        "--text if it is text."
    )


def table_bytes(table: Any, kind: str) -> bytes:
    """A table as a file of a format."""
    if kind in ("csv", "tsv"):
        return _csv_bytes(table, "\t" if kind == "tsv" else ",")
    sink = io.BytesIO()
    if kind == "parquet":
        arrow("parquet").write_table(table, sink)
    else:
        with arrow("ipc").new_file(sink, table.schema) as writer:
            writer.write_table(table)
    return sink.getvalue()


def _csv_bytes(table: Any, delimiter: str) -> bytes:
    """CSV: text is in quotation marks, so that it is read again as text."""
    sink = io.BytesIO()
    options = arrow("csv").WriteOptions(include_header=False, delimiter=delimiter)
    arrow("csv").write_csv(_flat(table), sink, options)
    head = delimiter.join(_quoted(name, delimiter) for name in table.column_names)
    return head.encode() + b"\n" + sink.getvalue()


def _flat(table: Any) -> Any:
    """The table without dictionaries, which CSV has not."""
    types = arrow("types")
    for at, field in enumerate(table.schema):
        if types.is_dictionary(field.type):
            column = table.column(at).cast(field.type.value_type)
            table = table.set_column(at, field.name, column)
    return table


def _quoted(name: str, delimiter: str) -> str:
    plain = not any(mark in name for mark in (delimiter, '"', "\n", "\r"))
    return name if plain and name == name.strip() else '"' + name.replace('"', '""') + '"'
