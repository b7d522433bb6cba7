"""Options that commands share, and a parser whose errors are sentences."""

from __future__ import annotations

import argparse
import codecs
import difflib
import math
import re
from typing import TYPE_CHECKING, Any, NoReturn

from lifenet.cli.csv_text import CsvFormat
from lifenet.cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet.cli.console import Console

    Command = Callable[[argparse.Namespace, Console], None]

__all__ = [
    "Parser",
    "add_general",
    "add_output",
    "add_reading",
    "csv_format",
    "new_command",
    "non_negative",
    "positive",
    "positive_integer",
    "share",
]


class Parser(argparse.ArgumentParser):
    """argparse, whose errors are raised, in plain words and with a remedy."""

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong with the arguments."""
        options = [one for action in self._actions for one in action.option_strings]
        raise UsageError(f"{_plain(message, options)} See {self.prog} --help.")


def new_command(commands: Any, name: str, run: Command, what: str, example: str) -> Parser:
    """A command of `lifenet`.

    Parameters
    ----------
    commands : where it is added
    run : carries it out
    what : it does, in a sentence or more; the first is shown in the list of commands
    example : of its use, one or more lines
    """
    lines = "\n".join(f"  {line}" for line in example.splitlines())
    parser: Parser = commands.add_parser(
        name,
        help=what.split(". ")[0].rstrip("."),
        description=what,
        epilog=f"example:\n{lines}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def add_general(parser: Parser) -> None:
    """Options of every command."""
    group = parser.add_argument_group("messages")
    group.add_argument("--json", action="store_true", help="results and errors as JSON")
    group.add_argument("--quiet", action="store_true", help="no progress and no notes")


def add_reading(parser: Parser, *, training: bool = False) -> None:
    """Options that say how a table is read."""
    group = parser.add_argument_group("reading the table")
    group.add_argument(
        "--delimiter", type=_delimiter, default=",", metavar="MARK", help="of CSV cells; or 'tab'"
    )
    group.add_argument(
        "--decimal",
        choices=(".", ","),
        default=".",
        metavar="MARK",
        help="mark before the fraction of a number",
    )
    group.add_argument(
        "--encoding", type=_encoding, default="utf-8", help="of a CSV file, such as latin-1"
    )
    _add_names(group, "--missing", "TEXT", "what stands for a missing cell, beside NA, NaN, null")
    if training:
        _add_names(group, "--text", "COL", "columns that are text, whatever they look like")
        _add_names(group, "--categories", "COL", "columns that are categories, whatever they hold")
        _add_names(group, "--drop", "COL", "columns that the model is not to see")


def _add_names(group: Any, option: str, metavar: str, text: str) -> None:
    group.add_argument(option, nargs="+", action="extend", default=[], metavar=metavar, help=text)


def add_output(parser: Parser, what: str, *, required: bool = False) -> None:
    """The option that says where the result goes."""
    parser.add_argument("-o", "--output", required=required, metavar="FILE", help=what)
    parser.add_argument("--force", action="store_true", help="replace the output where it exists")


def csv_format(args: argparse.Namespace) -> CsvFormat:
    """How a CSV file is written, as the options say."""
    if args.delimiter == args.decimal:
        raise UsageError(
            f"The delimiter and the decimal mark are both {args.decimal!r}. With a decimal comma, "
            "pass the delimiter as well, such as --delimiter ';'."
        )
    return CsvFormat(
        args.delimiter,
        args.decimal,
        args.encoding,
        tuple(args.missing),
        tuple(getattr(args, "text", ())),
    )


# ------------------------------------------------------------------ kinds of values


def positive(text: str) -> float:
    """A number above zero."""
    value = _number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"must be above 0; it is {text}.")
    return value


def non_negative(text: str) -> float:
    """A number that is not below zero."""
    value = _number(text)
    if not value >= 0:
        raise argparse.ArgumentTypeError(f"must not be below 0; it is {text}.")
    return value


def share(text: str) -> float:
    """A share, from zero to below one."""
    value = _number(text)
    if not 0 <= value < 1:
        raise argparse.ArgumentTypeError(
            f"must be a share of the rows, from 0 to below 1; it is {text}."
        )
    return value


def positive_integer(text: str) -> int:
    """A whole number above zero."""
    try:
        value = int(text)
    except ValueError:
        value = 0
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number above 0; it is {text!r}.")
    return value


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"must be a number; it is {text!r}.")
    return value


def _delimiter(text: str) -> str:
    mark = {"tab": "\t", "\\t": "\t"}.get(text, text)
    if len(mark) != 1 or not mark.isascii() or mark in '"\r\n\0' or mark.isalnum():
        raise argparse.ArgumentTypeError(
            f"must be one mark, such as ';', or 'tab'; it is {text!r}."
        )
    return mark


def _encoding(text: str) -> str:
    try:
        known = codecs.lookup(text)
        "a".encode(text)
    except (LookupError, UnicodeError, ValueError):
        known = None
    if known is None:
        raise argparse.ArgumentTypeError(
            f"is no encoding that is known: {text!r}. Common ones are utf-8, latin-1 and cp1252."
        )
    return text


# ------------------------------------------------------------------ errors in plain words


def _plain(message: str, options: list[str]) -> str:
    """Argparse's error as a sentence."""
    found = re.fullmatch(r"argument ([^:]*): (.*)", message, re.DOTALL)
    if found:
        option = found[1].split("/")[-1]
        text = found[2]
        text = re.sub(
            r"^invalid choice: (.*) \(choose from (.*)\)$", r"cannot be \1; it may be \2", text
        )
        text = re.sub(r"^expected (one|at least one) argument$", r"needs a value", text)
        return f"{option} {text}".rstrip(".") + "."
    found = re.fullmatch(r"the following arguments are required: (.*)", message)
    if found:
        several = "," in found[1]
        return f"{found[1]} {'are' if several else 'is'} missing."
    found = re.fullmatch(r"unrecognized arguments: (.*)", message, re.DOTALL)
    if found:
        return _unknown(found[1], options)
    return f"{message[:1].upper()}{message[1:]}".rstrip(".") + "."


def _unknown(given: str, options: list[str]) -> str:
    first = given.split(" ")[0]
    if not first.startswith("-"):
        return f"{given} is one argument too many. Put names with blanks in quotation marks."
    near = difflib.get_close_matches(first.split("=")[0], options, 1)
    return f"There is no option {first} here." + (f" Is {near[0]} meant?" if near else "")
