"""From arguments to an exit code: what every command shares."""

from __future__ import annotations

import os
import sys
import traceback
from typing import TYPE_CHECKING

from lifenet.cli.arguments import Parser, add_general
from lifenet.cli.compare import add as add_compare
from lifenet.cli.console import Console
from lifenet.cli.demo import add as add_demo
from lifenet.cli.errors import FAULT, INTERRUPTED, CommandError
from lifenet.cli.explain import add as add_explain
from lifenet.cli.export import add as add_export
from lifenet.cli.fit import add as add_fit
from lifenet.cli.info import add as add_info
from lifenet.cli.outputs import STANDARD
from lifenet.cli.predict import add as add_predict
from lifenet.cli.simplify import add as add_simplify

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["main", "parser"]

_COMMANDS = (
    add_fit,
    add_predict,
    add_explain,
    add_export,
    add_simplify,
    add_info,
    add_compare,
    add_demo,
)
_WHAT = "Readable neural networks for tables."
_EPILOG = """example:
  lifenet fit loans.csv --target default -o loans.life
  lifenet predict loans.life new.csv -o predictions.csv
  lifenet explain loans.life new.csv rows --row 1

exit codes: 0 done, 1 the data or the model is at fault, 2 the arguments are, 130 interrupted.
LIFENET_DEBUG=1 in the environment shows where an error comes from."""


def parser() -> Parser:
    """All commands and their options."""
    from argparse import RawDescriptionHelpFormatter

    found = Parser(
        "lifenet",
        description=_WHAT,
        epilog=_EPILOG,
        formatter_class=RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    commands = found.add_subparsers(metavar="COMMAND", required=True, dest="command")
    for add in _COMMANDS:
        add_general(add(commands))
    return found


def main(argv: Sequence[str] | None = None) -> int:
    """Carry out a command, and return its exit code.

    Parameters
    ----------
    argv : arguments after the name of the program; None takes those of the process
    """
    argv = sys.argv[1:] if argv is None else list(argv)
    console = Console(json="--json" in argv)
    try:
        code = _run(argv)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # Who read the output has read enough. Python would complain again at its end.
        _close_standard_output()
        return 0
    except KeyboardInterrupt:
        console.error("Interrupted. Files that were there before are unchanged.", INTERRUPTED)
        return INTERRUPTED
    except Exception as error:
        if os.environ.get("LIFENET_DEBUG"):
            traceback.print_exc()
        code = error.exit_code if isinstance(error, CommandError) else FAULT
        console.error(_message(error), code)
        return code


def _run(argv: Sequence[str]) -> int:
    try:
        args, unknown = parser().parse_known_args(argv)
        if unknown:
            args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    except SystemExit as end:  # --help
        return int(end.code or 0)
    taken = getattr(args, "output", None) == STANDARD or getattr(args, "to_output", False)
    console = Console(args.quiet, args.json, taken)
    with console.warnings_as_notes():
        args.run(args, console)
    return 0


def _message(error: Exception) -> str:
    """What is said of an error."""
    if isinstance(error, CommandError | ImportError):
        return str(error)
    if isinstance(error, MemoryError):
        return "The memory does not suffice. Use fewer rows or columns, or a larger machine."
    if isinstance(error, OSError):
        file = f"{error.filename}: " if error.filename else ""
        return f"{file}{error.strerror or error}."
    if isinstance(error, ValueError | TypeError):
        return str(error)
    return (
        f"lifenet failed, which is its own fault: {type(error).__name__}: {error}. Set "
        "LIFENET_DEBUG=1 to see where, and report it."
    )


def _close_standard_output() -> None:
    """Point standard output to nowhere, so that nothing more is written to a closed pipe."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        pass
