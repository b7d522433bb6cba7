"""``lifenet export``: a model as a file that other programs run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import lifenet.export as exports
from lifenet.cli.arguments import add_output, new_command
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
_KINDS = tuple(name.removeprefix("to_") for name in exports.__all__ if name.startswith("to_"))


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "export", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    parser.add_argument("--to", required=True, choices=_KINDS, help="what is written")
    add_output(parser, "file to write; '-' is standard output", required=True)
    parser.add_argument("--table", metavar="NAME", help="of SQL: the table with the rows")
    parser.add_argument(
        "--dialect", metavar="NAME", help="of SQL: sqlite (the default), duckdb or postgresql"
    )
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    options = {"table": args.table, "dialect": args.dialect}
    given = {key: value for key, value in options.items() if value is not None}
    if given and args.to != "sql":
        raise UsageError(f"--{next(iter(given))} is for --to sql; --to is {args.to}.")
    if args.output == STANDARD and args.json:
        raise UsageError("--json and the export would both be on standard output. Pass -o FILE.")
    output = Output.checked(args.output, force=args.force)
    model = load_model(args.model)
    try:
        result = getattr(exports, f"to_{args.to}")(model, **given)
    except (ValueError, TypeError) as error:
        raise CommandError(f"{args.model} cannot be exported to {args.to}: {error}") from error
    data = _bytes_of(result)
    output.write(data)
    if args.output != STANDARD:
        console.say(f"Written: {args.output} ({len(data):,} bytes).")
    console.result({"file": args.output, "to": args.to, "bytes": len(data)})


def _bytes_of(result: Any) -> bytes:
    """What is written of an export: text, bytes, or an object that gives one of these."""
    if isinstance(result, bytes):
        return result
    if hasattr(result, "SerializeToString"):
        return bytes(result.SerializeToString())
    return str(result).encode()
