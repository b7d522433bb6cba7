"""``lifenet simplify``: a model of few neurons from one of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lifenet.cli.arguments import (
    add_output,
    add_reading,
    csv_format,
    new_command,
    positive,
    positive_integer,
)
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.models import columns_of, load_model, read_for, save_model
from lifenet.cli.outputs import STANDARD, Output
from lifenet.cli.targets import target_for
from lifenet.compress.distil import Distil

if TYPE_CHECKING:
    import argparse

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console

__all__ = ["add", "run"]

_WHAT = (
    "Make a model of few neurons from one of many. It is distilled from the large one on the rows "
    "of a table, and what that costs is said."
)
_EXAMPLE = "lifenet simplify loans.life loans.csv --target default --neurons 64 -o small.life"


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "simplify", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    parser.add_argument("data", help="CSV, Parquet or Arrow file; '-' is standard input")
    parser.add_argument("--target", required=True, metavar="COL", help="column with the target")
    parser.add_argument(
        "--neurons", type=positive_integer, default=64, metavar="N", help="default: 64"
    )
    add_output(parser, "file for the small model", required=True)
    parser.add_argument("--time-limit", type=positive, metavar="SECONDS")
    parser.add_argument(
        "--drop-missing-target", action="store_true", help="leave out rows without a target"
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    if args.output == STANDARD:
        raise UsageError("A model goes to a file, not to standard output. Pass -o FILE.")
    output = Output.checked(args.output, force=args.force)
    model = load_model(args.model)
    if not hasattr(model, "simplify"):
        raise CommandError(
            f"{args.model} holds a {type(model).__name__}, which cannot be simplified; models of "
            "lifenet fit can."
        )
    before = model.network_.n_neurons
    if args.neurons >= before:
        raise CommandError(f"{args.model} has {before:,} neurons. Pass fewer to --neurons.")
    why = "--target names"
    source = read_for(model, args.data, csv_format(args), further=[args.target], why=why)
    source, y = target_for(model, source, args.target, drop_missing=args.drop_missing_target)
    rows = source.table.select(columns_of(model))
    with console.progress(f"Distil {before:,} neurons into {args.neurons}") as progress:
        try:
            frontier = model.simplify(
                rows, y, settings=Distil(args.neurons), time_limit=args.time_limit
            )
        except (ValueError, TypeError) as wrong:
            raise source.explained(wrong) from wrong
        progress.end()
    found = min(frontier.sizes)
    if found > args.neurons and not frontier.complete:
        raise CommandError(
            "The time did not suffice for any smaller model. Pass more to --time-limit."
        )
    save_model(model.with_network(frontier.network_of(found)), output)
    increase, error = frontier.increase(found), frontier.standard_error(found)
    console.say(
        f"{frontier.measure} on {frontier.rows} rows: {frontier.error(before):.4g} with {before:,} "
        f"neurons, {frontier.error(found):.4g} with {found:,} ({increase:+.1%} ± {error:.1%})."
    )
    console.say(f"Written: {output.name}.")
    console.result(
        {
            "file": output.name,
            "neurons": found,
            "measure": frontier.measure,
            "rows": frontier.rows,
            "error_before": frontier.error(before),
            "error": frontier.error(found),
            "increase": increase,
            "standard_error": error,
        }
    )
