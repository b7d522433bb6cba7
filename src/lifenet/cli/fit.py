"""``lifenet fit``: a table to a model in a file."""

from __future__ import annotations

import contextlib
import io
import re
import sys
import time
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import GroupKFold

from lifenet.cli.arguments import (
    add_output,
    add_reading,
    csv_format,
    new_command,
    non_negative,
    positive,
    share,
)
from lifenet.cli.csv_text import arrow
from lifenet.cli.errors import CommandError, UsageError
from lifenet.cli.files import Source, read_source
from lifenet.cli.models import save_model
from lifenet.cli.outputs import STANDARD, Output
from lifenet.cli.problem import Problem, read_problem, split_rows
from lifenet.cli.scores import measures_of, told
from lifenet.estimators import LIFEClassifier, LIFERegressor
from lifenet.tables import CategoryCode, NumberCode

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console, Progress

__all__ = ["add", "run", "with_progress"]

_WHAT = (
    "Fit a model to a table. Some rows are held out first to say how good the model is; it is then "
    "fitted to all rows and written to a file."
)
_EXAMPLE = """lifenet fit loans.csv --target default -o loans.life
lifenet fit sales.parquet --target price --drop id --preset glass \\
    --split-by time=date --time-limit 600 --jobs 2 -o sales.life"""
#: The warning of text that reads as numbers, in some columns.
_NUMBERS_AS_TEXT = r"Column '({})' holds text"
_PRESETS = ("fast", "best", "small", "glass", "paper")
#: Groups are kept together in so many folds, or as many as there are groups.
_FOLDS = 5
_FEWEST_GROUPS = 2


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "fit", run, _WHAT, _EXAMPLE)
    parser.add_argument("data", help="CSV, Parquet or Arrow file; '-' is standard input")
    parser.add_argument("--target", required=True, metavar="COL", help="column to predict")
    add_output(parser, "file for the model; its name usually ends in .life")
    model = parser.add_argument_group("the model")
    model.add_argument(
        "--task",
        choices=("auto", "regression", "classification"),
        default="auto",
        help="auto: text, truth values and at most 10 different whole numbers are classes",
    )
    model.add_argument("--preset", choices=_PRESETS, default="fast", help="default: fast")
    model.add_argument(
        "--smoothness", type=_smoothness, metavar="AMOUNT", help="auto, 0 for none, or a number"
    )
    model.add_argument(
        "--interactions",
        metavar="WHICH",
        help="none, pairwise, all, or groups of columns: 'age,income;city,job'",
    )
    model.add_argument("--weight", metavar="COL", help="column with weights of the rows")
    _add_fitting(parser)
    add_reading(parser, training=True)
    return parser


def _add_fitting(parser: Parser) -> None:
    group = parser.add_argument_group("measuring and fitting")
    group.add_argument(
        "--test-share", type=share, default=0.2, metavar="SHARE", help="rows held out; 0 for none"
    )
    group.add_argument(
        "--split-by",
        type=_split,
        metavar="KIND=COL",
        help="group=COL keeps the rows of a group together, also within the fit, and is no "
        "feature; time=COL holds out the latest rows, and stays a feature",
    )
    group.add_argument(
        "--no-refit", action="store_true", help="keep the model that was measured, of fewer rows"
    )
    group.add_argument(
        "--drop-missing-target", action="store_true", help="leave out rows without a target"
    )
    group.add_argument(
        "--time-limit", type=positive, metavar="SECONDS", help="for all fitting together"
    )
    group.add_argument("--jobs", type=int, metavar="N", help="folds fitted at once; -1: all cores")
    group.add_argument("--seed", type=_seed, default=0, metavar="N", help="default: 0")
    group.add_argument(
        "--dry-run", action="store_true", help="read and check everything, and fit nothing"
    )


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    if args.output is None and not args.dry_run:
        raise UsageError("-o/--output is missing: the file for the model. See lifenet fit --help.")
    if args.output == STANDARD:
        raise UsageError("A model goes to a file, not to standard output. Pass -o FILE.")
    if args.jobs == 0:
        raise UsageError("--jobs must not be 0. Pass 1, more, or -1 for all cores.")
    if args.no_refit and not args.test_share:
        raise UsageError("--no-refit needs rows that are held out; --test-share is 0.")
    output = None if args.output is None else Output.checked(args.output, force=args.force)
    problem = _read(args, console)
    model = _model(args, problem)
    report = _describe(problem, console)
    if not args.dry_run:
        assert output is not None
        report |= _fit_and_save(args, console, problem, model, output)
    console.result(report)


def _read(args: argparse.Namespace, console: Console) -> Problem:
    source = read_source(args.data, csv_format(args), told=True)
    source.require(args.text, "--text names")
    source.require(args.categories, "--categories names")
    for note in source.notes:
        console.note(note)
    kind, column = args.split_by or ("", None)
    problem = read_problem(
        _with_kinds(source, args),
        args.target,
        task=args.task,
        drop_missing=args.drop_missing_target,
        weight=args.weight,
        group=column if kind == "group" else None,
        time=column if kind == "time" else None,
        dropped=tuple(args.drop),
    )
    left_out = source.n_rows - problem.source.n_rows
    if left_out:
        console.note(f"{left_out:,} rows without a target {args.target!r} are left out.")
    return _usable(problem, console)


def _with_kinds(source: Source, args: argparse.Namespace) -> Source:
    """The table with text and categories where the options say so."""
    table, pa = source.table, arrow()
    for name in args.text:
        if source.text is None:  # of CSV, they were read as text
            at = table.column_names.index(name)
            table = table.set_column(at, name, table.column(name).cast(pa.string()))
    for name in args.categories:
        at = table.column_names.index(name)
        if not pa.types.is_dictionary(table.column(name).type):
            table = table.set_column(at, name, table.column(name).dictionary_encode())
    return replace(source, table=table)


def _usable(problem: Problem, console: Console) -> Problem:
    """The problem without columns that are empty in every row."""
    table = problem.source.table
    empty = [one for one in problem.features if table.column(one).null_count == len(table)]
    if not empty:
        return problem
    if len(empty) == len(problem.features):
        raise CommandError(f"{problem.source.name}: every column but the target is empty.")
    named = ", ".join(map(repr, empty))
    console.note(f"Columns without any value are left out: {named}.")
    return replace(problem, features=[one for one in problem.features if one not in empty])


def _model(args: argparse.Namespace, problem: Problem) -> Any:
    """The model before it is fitted."""
    options: dict[str, Any] = {
        "preset": args.preset,
        "smoothness": args.smoothness,
        "interaction_cst": _interactions(args.interactions, problem),
        "n_jobs": args.jobs,
        "random_state": args.seed,
    }
    if problem.groups is not None:
        n_groups = int(problem.groups.max()) + 1
        if args.test_share and n_groups <= _FEWEST_GROUPS:
            raise CommandError(
                f"{problem.source.name}: two groups are too few to hold one out and to keep the "
                "rest together in folds. Pass --test-share 0, or split otherwise."
            )
    return (LIFEClassifier if problem.classification else LIFERegressor)(**options)


def _interactions(given: str | None, problem: Problem) -> Any:
    """Which columns act together, as the estimator takes it."""
    if given in (None, "all"):
        return None
    if given in ("none", "pairwise"):
        return "no_interactions" if given == "none" else given
    groups = [[name.strip() for name in part.split(",")] for part in str(given).split(";")]
    known = set(problem.features)
    unknown = sorted({name for group in groups for name in group} - known)
    if unknown:
        raise UsageError(
            f"--interactions names {', '.join(map(repr, unknown))}, and there is no such feature. "
            "Write none, pairwise, all, or groups of columns such as 'age,income;city,job'."
        )
    return groups


# ------------------------------------------------------------------ fitting


def _fit_and_save(
    args: argparse.Namespace, console: Console, problem: Problem, model: Any, output: Output
) -> dict[str, Any]:
    report: dict[str, Any] = {}
    twice = bool(args.test_share) and not args.no_refit
    if args.time_limit is not None:
        model.set_params(time_limit=args.time_limit / (2 if twice else 1))
    fitted = problem
    begun = time.monotonic()
    if args.test_share:
        train, test, how = split_rows(problem, args.test_share, args.seed)
        fitted, held_out = problem.take(train), problem.take(test)
        _fit(model, fitted, console, args.text)
        measures = measures_of(model, held_out.X, held_out.y, held_out.weight)
        console.say(f"Held out: {len(test):,} rows, {how}. {_capital(told(measures))}.")
        report["held_out"] = {"rows": len(test), "chosen": how, **measures}
    if twice or not args.test_share:
        fitted = problem
        _fit(model, fitted, console, args.text)
    seconds, rows = time.monotonic() - begun, fitted.source.n_rows
    save_model(model, output)
    size, neurons = output.path.stat().st_size, model.network_.n_neurons
    console.say(
        f"Model: {neurons:,} neurons, preset {args.preset}, fitted to {rows:,} rows; "
        f"{seconds:.1f} s in all."
    )
    console.say(f"Written: {output.name} ({_size(size)}).")
    model_report = {"preset": args.preset, "neurons": neurons, "rows": rows, "seconds": seconds}
    return {**report, "model": model_report, "file": {"name": output.name, "bytes": size}}


def _fit(model: Any, problem: Problem, console: Console, text: Sequence[str]) -> None:
    """Fit, with groups kept together, and rows in messages as the file has them."""
    more: dict[str, Any] = {}
    if problem.groups is not None:
        n_groups = len(np.unique(problem.groups))
        model.set_params(validation=GroupKFold(max(min(_FOLDS, n_groups), _FEWEST_GROUPS)))
        more["groups"] = problem.groups
    what = f"Fit to {problem.source.n_rows:,} rows"
    try:
        with (
            console.progress(what) as progress,
            with_progress(model, progress),
            warnings.catch_warnings(),
        ):
            # Columns that the user says are text are not to be warned of.
            warnings.filterwarnings(
                "ignore", _NUMBERS_AS_TEXT.format("|".join(map(re.escape, text)))
            )
            model.fit(problem.X, problem.y, problem.weight, **more)
    except (ValueError, TypeError) as error:
        raise problem.source.explained(error) from error


@contextlib.contextmanager
def with_progress(model: Any, progress: Progress) -> Iterator[None]:
    """Have an estimator show its progress while it works."""
    if hasattr(model, "set_callbacks"):
        model.set_callbacks(progress)
        try:
            yield
        finally:
            model.set_callbacks()
        return
    # scikit-learn before 1.9 has no callbacks: the lines of the estimator are shown instead.
    lines = sys.stderr if progress.shown else io.StringIO()
    with contextlib.redirect_stdout(lines):
        model.set_params(verbose=1)
        try:
            yield
        finally:
            model.set_params(verbose=0)


# ------------------------------------------------------------------ what is said


def _describe(problem: Problem, console: Console) -> dict[str, Any]:
    """Say what was read and what is predicted."""
    from lifenet.tables import Targets, learn_coding, read_table

    n = problem.source.n_rows
    try:
        table = read_table(problem.X)
        coding = learn_coding(
            table, None, np.ones(n), Targets(np.zeros((n, 1)), ("target",)), named=True
        )
    except ValueError as error:
        raise problem.source.explained(error) from error
    kinds: dict[str, list[str]] = {}
    for code in coding.codes:
        kinds.setdefault(kind_of_code(code), []).append(code.name)
    counted = ", ".join(_counted(kind, len(names)) for kind, names in kinds.items())
    console.say(
        f"Data: {n:,} rows and {_counted('column', len(problem.features))} of "
        f"{problem.source.name}: {counted}."
    )
    console.say(_task(problem))
    return {
        "data": {"file": problem.source.name, "rows": n, "columns": kinds},
        "task": {"kind": problem.task.kind, "target": problem.target, "why": problem.task.why},
    }


def kind_of_code(code: Any) -> str:
    """What a column holds, in a word of people."""
    if isinstance(code, CategoryCode):
        return "category"
    if isinstance(code, NumberCode):
        return {"boolean": "truth value"}.get(code.kind, code.kind)
    return "date"


def _counted(word: str, count: int) -> str:
    if count != 1:
        word = f"{word[:-1]}ies" if word.endswith("y") else f"{word}s"
    return f"{count:,} {word}"


def _task(problem: Problem) -> str:
    other = "regression" if problem.classification else "classification"
    why = problem.task.why
    change = "" if why.startswith("as --task") else f"; --task {other} changes that"
    said = f"Task: {problem.task.kind} of {problem.target!r}, {_because(why)}{change}."
    if problem.classification:
        classes, counts = np.unique(problem.y, return_counts=True)
        pairs = [f"{one} ({n:,})" for one, n in zip(classes[:6], counts[:6], strict=True)]
        more = f" and {len(classes) - 6} more" if len(classes) > 6 else ""
        said += f" Classes: {', '.join(pairs)}{more}."
    return said


def _because(why: str) -> str:
    return why if why.startswith("as ") else f"since {why}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 1e6:.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e3:.0f} kB"


# ------------------------------------------------------------------ kinds of values


def _smoothness(text: str) -> float | str:
    return text if text == "auto" else non_negative(text)


def _split(text: str) -> tuple[str, str]:
    from argparse import ArgumentTypeError

    kind, mark, column = text.partition("=")
    if kind not in ("group", "time") or not mark or not column:
        raise ArgumentTypeError(f"must be group=COL or time=COL; it is {text!r}.")
    return kind, column


def _seed(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or int(text) >= 2**32:
        raise ArgumentTypeError(f"must be a whole number from 0 to 4294967295; it is {text!r}.")
    return int(text)
