"""What goes wrong at the command line: a sentence for people, and an exit code."""

from __future__ import annotations

__all__ = ["FAULT", "INTERRUPTED", "USAGE", "CommandError", "UsageError"]

#: Exit codes: the data or the model is at fault; the arguments are; the user stopped it.
FAULT, USAGE, INTERRUPTED = 1, 2, 130


class CommandError(Exception):
    """The data or the model is at fault; the message names the place and the remedy."""

    exit_code = FAULT


class UsageError(CommandError):
    """The arguments are at fault."""

    exit_code = USAGE
