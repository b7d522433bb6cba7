"""Models from files, and tables read as a model needs them."""

from __future__ import annotations

import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.archive import ArchiveError, NotAnArchiveError
from lifenet.cli.csv_text import arrow, is_date, is_number, shown
from lifenet.cli.errors import CommandError
from lifenet.cli.files import FORMATS, Source, read_source
from lifenet.estimators import load
from lifenet.tables import CategoryCode, NumberCode, TimeCode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools
    from lifenet.cli.csv_text import CsvFormat
    from lifenet.cli.outputs import Output

__all__ = ["columns_of", "is_classifier", "load_model", "outside", "read_for", "save_model"]


def load_model(name: str) -> Any:
    """The model in a file."""
    path = Path(name)
    if path.is_dir():
        raise CommandError(f"{name} is a folder. Give the file of a model.")
    try:
        return load(path)
    except FileNotFoundError:
        raise CommandError(f"There is no file {name}.") from None
    except NotAnArchiveError as error:
        swapped = path.suffix.lower() in FORMATS
        hint = "The model comes first, then the table." if swapped else ""
        raise CommandError(
            f"{name} is no model. Give a file that lifenet fit wrote. {hint}".rstrip()
        ) from error
    except ArchiveError as error:
        raise CommandError(str(error)) from error
    except OSError as error:
        raise CommandError(f"{name} cannot be read: {error.strerror or error}.") from error


def save_model(model: Any, output: Output) -> None:
    """Write a model whole or not at all."""
    if output.special:
        raise CommandError(f"{output.name} is no plain file. Give the name of a file.")
    with output.refusing_existing():
        model.save(output.path, overwrite=output.force)


def is_classifier(model: Any) -> bool:
    """Whether a model predicts classes."""
    return hasattr(model, "classes_")


def columns_of(model: Any) -> list[str]:
    """Names of the columns that a model reads."""
    return list(model.table_.names)


def types_of(model: Any) -> dict[str, Any]:
    """Types of columns of a CSV file that follow from what the model has there."""
    pa, types = arrow(), {}
    for code in model.table_.codes:
        if not isinstance(code, CategoryCode):
            continue
        kinds = {type(level) for level in code.levels}
        if code.has_text:
            types[code.name] = pa.string()
        elif kinds <= {int, float}:
            types[code.name] = pa.float64()
        elif kinds == {datetime.date}:
            types[code.name] = pa.date32()
        elif datetime.datetime in kinds:
            types[code.name] = pa.timestamp("us")
    return types


def read_for(
    model: Any, name: str, how: CsvFormat, *, further: Sequence[str] = (), why: str = ""
) -> Source:
    """A table with the columns of a model, and the others of the file.

    Parameters
    ----------
    further : columns that must be there, too
    why : such a column is needed, in words
    """
    source = read_source(name, how, types_of(model))
    source.require(columns_of(model), "the model reads")
    source.require(further, why)
    check_cells(model, source)
    return source


def check_cells(model: Any, source: Source) -> None:
    """Raise where text stands in a column that has numbers or dates in the model."""
    for code in model.table_.codes:
        if not isinstance(code, NumberCode | TimeCode):
            continue
        column = source.table.column(code.name)
        if "string" not in str(column.type):
            continue
        timed = isinstance(code, TimeCode)
        for row, cell in enumerate(column.to_pylist()):
            number = cell if source.text is None else source.text.as_number(cell or "")
            if cell is None or (is_date(cell) if timed else is_number(number)):
                continue
            raise CommandError(
                f"{source.name}, {source.place(row)}, column {code.name!r}: {shown(cell)} is no "
                f"{'date' if timed else 'number'}, which the model has there. Mend the cell; if it "
                "stands for a missing value, pass it to --missing."
            )


def outside(model: Any, source: Source) -> list[str]:
    """What lies outside the training data, a sentence for each column."""
    rows = source.select(columns_of(model)).table
    coding, schema = model.table_, model.schema_
    try:
        table = coding.read(rows)
        if schema.table is None:
            beyond, unknown = schema.outside(coding.encode(table)), None
        else:
            beyond, unknown = schema.outside(rows), coding.unknown(table)
    except ValueError as error:
        raise source.explained(error) from error
    found = []
    for number, code in enumerate(coding.codes):
        if not beyond[:, number].any():
            continue
        new = np.zeros(len(beyond), bool) if unknown is None else unknown[:, number]
        gone = table[number].missing & beyond[:, number]
        far = beyond[:, number] & ~new & ~gone
        for mask, what in (
            (new, "a level that training did not have"),
            (gone, "no value, where training had one in every row"),
            (far, f"a value outside the range of training{_range(schema, coding, number)}"),
        ):
            if mask.any():
                found.append(_counted(source, code.name, mask, what))
    return found


def _range(schema: Any, coding: Any, number: int) -> str:
    code, column = coding.codes[number], coding.columns_of[number][0]
    if not isinstance(code, NumberCode) or code.kind != "number":
        return ""
    return f" ({schema.lower[column]:g} to {schema.upper[column]:g})"


def _counted(source: Source, name: str, mask: Bools, what: str) -> str:
    count, first = int(mask.sum()), source.place(int(np.flatnonzero(mask)[0]))
    where = f"on {first}" if count == 1 else f"the first on {first}"
    return f"Column {name!r}, {count:,} of {source.n_rows:,} rows: {what}, {where}."
