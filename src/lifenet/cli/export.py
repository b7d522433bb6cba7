"""``lifenet export``: a model as a file that other programs run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lifenet.export as exports
from lifenet.cli.arguments import add_output, new_command, positive
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.models import load_model
from lifenet.cli.outputs import STANDARD, Output

if TYPE_CHECKING:
    import argparse

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console

__all__ = ["add", "run"]

_WHAT = (
    "Write a model as a file that other programs run. ONNX and SQL for databases, Python without "
    "dependencies, JSON for any language, and a scorecard for people."
)
_EXAMPLE = "lifenet export loans.life --to sql --table applications -o loans.sql"
_KINDS = ("onnx", "sql", "python", "json", "scorecard")
#: Options of single kinds, as the functions that export call them.
_OPTIONS = {
    "table": "sql",
    "dialect": "sql",
    "points_to_double": "scorecard",
    "base_points": "scorecard",
    "base_odds": "scorecard",
    "good": "scorecard",
}


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "export", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    parser.add_argument("--to", required=True, choices=_KINDS, help="what is written")
    add_output(parser, "file to write; '-' is standard output", required=True)
    sql = parser.add_argument_group("of --to sql")
    sql.add_argument("--table", metavar="NAME", help="the table with the rows; default: t")
    sql.add_argument("--dialect", metavar="NAME", help="sqlite (default), duckdb or postgresql")
    card = parser.add_argument_group("of --to scorecard")
    card.add_argument(
        "--good", metavar="LABEL", help="the class whose odds the points count; must be given"
    )
    card.add_argument(
        "--points-to-double", type=positive, metavar="N", help="points that double the odds"
    )
    card.add_argument("--base-points", type=positive, metavar="N", help="points of the base odds")
    card.add_argument("--base-odds", type=positive, metavar="ODDS", help="odds at the base points")
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    given = {key: getattr(args, key) for key in _OPTIONS if getattr(args, key) is not None}
    for name in given:
        if args.to != _OPTIONS[name]:
            option = name.replace("_", "-")
            raise UsageError(f"--{option} is for --to {_OPTIONS[name]}; --to is {args.to}.")
    if args.output == STANDARD and args.json:
        raise UsageError("--json and the export would both be on standard output. Pass -o FILE.")
    output = Output.checked(args.output, force=args.force)
    model = load_model(args.model)
    if "good" in given:
        given["good"] = _label(model, given["good"])
    try:
        result = getattr(exports, f"to_{args.to}")(model, **given)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{args.model} cannot be exported to {args.to}: {error}") from error
    data = _bytes_of(result)
    output.write(data)
    if args.output != STANDARD:
        console.say(f"Written: {args.output} ({len(data):,} bytes).")
    console.result({"file": args.output, "to": args.to, "bytes": len(data)})


def _label(model: Any, text: str) -> Any:
    """The class that a text names; the text itself where none is called so."""
    known = {str(one): one for one in getattr(model, "classes_", ())}
    return known.get(text, text)


def _bytes_of(result: Any) -> bytes:
    """What is written of an export: text, bytes, or an object that gives one of these."""
    if isinstance(result, bytes):
        return result
    if hasattr(result, "to_csv"):
        return str(result.to_csv()).encode()
    if hasattr(result, "SerializeToString"):
        return bytes(result.SerializeToString())
    return str(result).encode()
