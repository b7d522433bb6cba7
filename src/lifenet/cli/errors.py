"""What goes wrong at the command line: a sentence for people, and an exit code."""

from __future__ import annotations

import re

__all__ = ["FAULT", "INTERRUPTED", "USAGE", "CommandError", "UsageError", "with_options"]

#: Exit codes: the data or the model is at fault; the arguments are; the user stopped it.
FAULT, USAGE, INTERRUPTED = 1, 2, 130


class CommandError(Exception):
    """The data or the model is at fault; the message names the place and the remedy."""

    exit_code = FAULT


class UsageError(CommandError):
    """The arguments are at fault."""

    exit_code = USAGE


#: Parameters that messages of the library name, and the options that set them.
_OPTIONS = (
    (r"\binteraction_cst='no_interactions'", "--interactions none"),
    (r"\binteraction_cst='pairwise'", "--interactions pairwise"),
    (r"\bpreset='(\w+)'", r"--preset \1"),
    (r"\btime_limit=(\S+)", r"--time-limit \1"),
    (r"\bIf amounts are meant, make numbers of it first\.", "Pass it to --text if it is text."),
)


def with_options(text: str) -> str:
    """A message of the library with options where it names parameters."""
    for parameter, option in _OPTIONS:
        text = re.sub(parameter, option, text)
    return text
