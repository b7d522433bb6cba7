"""``lifenet explain``: what a model does, as lines, tables and pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.arguments import add_reading, csv_format, new_command, positive_integer
from lifenet.cli.console import as_json
from lifenet.cli.csv_text import arrow
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.files import table_bytes
from lifenet.cli.models import load_model, read_for
from lifenet.cli.outputs import Output, new_folder
from lifenet.cli.readings import READINGS, Asked
from lifenet.cli.subjects import Subject

if TYPE_CHECKING:
    import argparse
    from pathlib import Path

    from lifenet._typing import Integers
    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console
    from lifenet.cli.files import Source
    from lifenet.cli.readings import Reading

__all__ = ["add", "run"]

_WHAT = (
    "Explain a model on the rows of a table. rows: why each has its prediction; effects: what each "
    "feature does; importance: which features matter; interactions: which act together; equations: "
    "the linear equation of each row."
)
_EXAMPLE = """lifenet explain loans.life new.csv rows --row 3
lifenet explain loans.life new.csv effects importance --output report --format png csv"""
_TABLES, _PICTURES = ("csv", "json", "parquet"), ("png", "svg", "pdf")
#: Rows whose waterfalls are shown where none are named.
_FIRST_ROWS = 5


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "explain", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    parser.add_argument("data", help="CSV, Parquet or Arrow file; '-' is standard input")
    parser.add_argument("what", nargs="+", choices=tuple(READINGS), help="what is to be explained")
    parser.add_argument(
        "--row",
        nargs="+",
        action="extend",
        type=positive_integer,
        default=[],
        metavar="N",
        help="rows of the table, from 1; without it the first 5, of equations all",
    )
    parser.add_argument(
        "--class", dest="label", metavar="LABEL", help="of more than two classes, the one explained"
    )
    parser.add_argument("--output", metavar="FOLDER", help="where files go, one for each answer")
    parser.add_argument(
        "--format",
        nargs="+",
        action="extend",
        choices=(*_TABLES, *_PICTURES),
        default=[],
        help="of the files; csv without it",
    )
    parser.add_argument("--force", action="store_true", help="replace files that exist")
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    formats = list(dict.fromkeys(args.format)) or ["csv"]
    _check(args, formats)
    model = load_model(args.model)
    source = read_for(model, args.data, csv_format(args))
    subject = Subject.of(model, source)
    output, score_name = subject.score_of(args.label)
    chosen = {what: _rows(args.row, source, what) for what in args.what}
    folder = None if args.output is None else new_folder(args.output)
    wanted = list(dict.fromkeys(args.what))
    if folder is not None:
        _refuse_existing(folder, wanted, formats, chosen, force=args.force)
    report: dict[str, Any] = {"score": score_name}
    files: list[str] = []
    for what in wanted:
        rows = chosen[what]
        places = tuple(source.place(int(row)) for row in rows)
        asked = Asked(subject, output, score_name, rows, places)
        reading = _read(what, asked, source, console)
        if folder is not None:
            files += _written(folder, what, reading, formats, force=args.force)
        else:
            report[what] = _records(reading.table()) if args.json else None
            for line in [*([f"{what}:"] if len(wanted) > 1 else []), *reading.lines()]:
                console.say(line)
    for name in files:
        console.say(f"Written: {name}.")
    console.result({**report, "files": files} if folder is not None else report)


def _check(args: argparse.Namespace, formats: list[str]) -> None:
    if args.format and args.output is None:
        raise UsageError("--format is of files; pass --output FOLDER as well.")
    pictures = [one for one in formats if one in _PICTURES]
    if "equations" in args.what and pictures:
        raise UsageError(
            f"Equations have no picture, so that --format {pictures[0]} has nothing to draw. Ask "
            "for rows, or pass --format csv."
        )
    if args.row and not {"rows", "equations"} & set(args.what):
        raise UsageError("--row is of rows and equations, which are not asked for.")


def _rows(given: list[int], source: Source, what: str) -> Integers:
    """Indices of rows that are explained."""
    beyond = [number for number in given if number > source.n_rows]
    if beyond:
        raise CommandError(f"{source.name} has {source.n_rows:,} rows; --row names {beyond[0]:,}.")
    if given:
        return np.array(given) - 1
    return np.arange(min(_FIRST_ROWS, source.n_rows) if what == "rows" else source.n_rows)


def _read(what: str, asked: Asked, source: Source, console: Console) -> Reading:
    try:
        with console.progress(f"Explain {what}"):
            return READINGS[what](asked)
    except (ValueError, TypeError) as error:
        raise source.explained(error) from error


def _refuse_existing(
    folder: Path,
    wanted: list[str],
    formats: list[str],
    chosen: dict[str, Integers],
    *,
    force: bool,
) -> None:
    """Check every name before anything is computed."""
    for what in wanted:
        for kind in formats:
            ends = [""]
            if what == "rows" and kind in _PICTURES:
                ends = [f"-{row + 1}" for row in chosen[what]]
            for end in ends:
                Output.checked(str(folder / f"{what}{end}.{kind}"), force=force)


def _written(
    folder: Path, what: str, reading: Reading, formats: list[str], *, force: bool
) -> list[str]:
    files: dict[str, bytes] = {}
    for kind in formats:
        if kind in _PICTURES:
            drawn = reading.pictures(kind)
            files |= {f"{what}{end}.{kind}": data for end, data in drawn.items()}
        elif kind == "json":
            files[f"{what}.json"] = as_json(_records(reading.table())).encode() + b"\n"
        else:
            columns = {name: list(values) for name, values in reading.table().items()}
            files[f"{what}.{kind}"] = table_bytes(arrow().table(columns), kind)
    for name, data in files.items():
        Output(str(folder / name), force).write(data)
    return [str(folder / name) for name in files]


def _records(table: dict[str, Any]) -> list[dict[str, Any]]:
    """A table as JSON has it: an object a row."""
    return [dict(zip(table, row, strict=True)) for row in zip(*table.values(), strict=True)]
