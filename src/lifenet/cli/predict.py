"""``lifenet predict``: predictions for the rows of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.arguments import add_output, add_reading, csv_format, new_command
from lifenet.cli.csv_text import arrow
from lifenet.cli.errors import UsageError
from lifenet.cli.files import format_of, table_bytes
from lifenet.cli.models import columns_of, is_classifier, load_model, outside, read_for
from lifenet.cli.outputs import STANDARD, Output
from lifenet.cli.subjects import Subject
from lifenet.explain import explain_rows

if TYPE_CHECKING:
    import argparse

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console
    from lifenet.cli.files import Source

__all__ = ["add", "run"]

_WHAT = (
    "Predict the rows of a table. Columns are matched by name; those that the model does not read "
    "are passed over. Of classes, each has a column with its probability."
)
_EXAMPLE = """lifenet predict loans.life new.csv --keep id -o predictions.csv
cat new.csv | lifenet predict loans.life - > predictions.csv"""
#: Rows that are explained at once, so that progress can be shown.
_BLOCK = 512


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "predict", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    parser.add_argument("data", help="CSV, Parquet or Arrow file; '-' is standard input")
    add_output(parser, "CSV, Parquet or Arrow file, by its ending; standard output without it")
    parser.add_argument(
        "--keep",
        nargs="+",
        action="extend",
        default=[],
        metavar="COL",
        help="columns to copy in front of the predictions",
    )
    parser.add_argument(
        "--contributions",
        action="store_true",
        help="add the score, that of the median row of training, and what each feature adds on "
        "the straight line from there; they sum to the score",
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    name = STANDARD if args.output is None else args.output
    if name == STANDARD and args.json:
        raise UsageError("--json and the predictions would both be on standard output. Pass -o.")
    output = Output.checked(name, force=args.force)
    model = load_model(args.model)
    why = "--keep names"
    source = read_for(model, args.data, csv_format(args), further=args.keep, why=why)
    strange = outside(model, source)
    for sentence in strange:
        console.note(sentence)
    columns = predictions(model, source)
    if args.contributions:
        columns |= _contributions(model, source, console)
    output.write(table_bytes(_with_kept(source, args.keep, columns), format_of(name)))
    if name != STANDARD:
        console.say(f"Written: {name} ({source.n_rows:,} rows).")
    console.result({"rows": source.n_rows, "file": name, "outside": strange})


def predictions(model: Any, source: Source) -> dict[str, Any]:
    """Columns with the prediction, and of classes their probabilities."""
    rows = source.table.select(columns_of(model))
    try:
        if not is_classifier(model):
            return {"prediction": model.predict(rows)}
        chances = model.predict_proba(rows)
    except (ValueError, TypeError) as error:
        raise source.explained(error) from error
    found: dict[str, Any] = {"prediction": model.predict(rows)}
    for number, label in enumerate(model.classes_):
        found[f"probability of {label}"] = chances[:, number]
    return found


def _contributions(model: Any, source: Source, console: Console) -> dict[str, Any]:
    """What each feature adds to the score of each row, for every score that the model has."""
    subject = Subject.of(model, source)
    found: dict[str, Any] = {}
    scores, median = subject.scores(), subject.median
    starts = range(0, source.n_rows, _BLOCK)
    with console.progress("Explain rows") as progress:
        progress.begin("", len(starts) * len(scores))
        for output, suffix in scores:
            blocks = []
            for start in starts:
                rows = subject.take(np.arange(start, min(start + _BLOCK, source.n_rows)))
                known = explain_rows(subject.model, rows, reference=median, output=output)
                blocks += [(one.score, one.reference_score, *one.parts) for one in known]
                progress.advance()
            table = np.array(blocks)
            names = [
                "score",
                "score at the median",
                *(f"contribution of {one}" for one in known[0].features),
            ]
            found |= {f"{one}{suffix}": table[:, at] for at, one in enumerate(names)}
        progress.end()
    return found


def _with_kept(source: Source, kept: list[str], columns: dict[str, Any]) -> Any:
    """A table of columns that are kept, and of new ones."""
    twice = sorted(set(kept) & set(columns))
    if twice:
        raise UsageError(
            f"--keep names {', '.join(map(repr, twice))}, which the predictions are called. Rename "
            "the column in the table, or leave it out."
        )
    pa = arrow()
    own = {name: source.table.column(name) for name in dict.fromkeys(kept)}
    new = {name: pa.array(_as_list(values)) for name, values in columns.items()}
    return pa.table({**own, **new})


def _as_list(values: Any) -> Any:
    """Labels of numpy as pyarrow takes them."""
    return values.tolist() if values.dtype.kind in "UO" else values
