"""``lifenet info``: what is known of a model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from lifenet.cli.arguments import new_command
from lifenet.cli.fit import kind_of_code
from lifenet.cli.models import is_classifier, load_model
from lifenet.tables import CategoryCode

if TYPE_CHECKING:
    import argparse

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console

__all__ = ["add", "run"]

_WHAT = "Say what is known of a model: its columns, its size, its recipe and how it was trained."
_EXAMPLE = "lifenet info loans.life"
#: Levels and folds that are written out.
_MOST_LEVELS = 6


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "info", run, _WHAT, _EXAMPLE)
    parser.add_argument("model", help="file of a model")
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    model = load_model(args.model)
    report = _report(model, args.model)
    console.result(report)
    console.say(f"{args.model}: {report['estimator']}, {report['bytes']:,} bytes.")
    console.say(f"Predicts: {_predicts(report)}.")
    console.say(f"Network: {report['neurons']:,} neurons, {report['inputs']:,} inputs.")
    for fold in report["folds"]:
        console.say(
            f"  fold {fold['fold']}: {fold['train_rows']:,} training rows, "
            f"{fold['validation_rows']:,} validation rows, {fold['neurons']:,} neurons, "
            f"{fold['status']}, {fold['seconds']:.1f} s"
        )
    console.say(f"Columns: {len(report['columns'])}")
    for column in report["columns"]:
        console.say(f"  {column['name']}: {_told(column)}")
    if report["recipe"]:
        console.say(f"Recipe: {report['recipe']}")
    origin = report["origin"]
    packages = ", ".join(f"{name} {number}" for name, number in origin["versions"].items())
    console.say(
        f"Fitted to {origin['rows']:,} rows with seed {origin['seed']}, by {packages}; the data "
        f"have the hash {origin['data'][:16]}."
    )


def _report(model: Any, name: str) -> dict[str, Any]:
    return {
        "file": name,
        "bytes": Path(name).stat().st_size,
        "estimator": type(model).__name__,
        "classes": list(model.classes_) if is_classifier(model) else None,
        "neurons": model.network_.n_neurons,
        "inputs": model.network_.n_features,
        "columns": [_column(model, number) for number in range(len(model.table_.codes))],
        "folds": [_fold(number, one) for number, one in enumerate(getattr(model, "folds_", ()), 1)],
        "recipe": " ".join(repr(model.recipe_).split()) if hasattr(model, "recipe_") else "",
        "origin": _origin(model),
        "parameters": {key: repr(value) for key, value in model.get_params(deep=False).items()},
    }


def _origin(model: Any) -> dict[str, Any]:
    origin = model.origin_
    versions = dict(origin.versions)
    return {"rows": origin.rows, "seed": origin.seed, "data": origin.data, "versions": versions}


def _column(model: Any, number: int) -> dict[str, Any]:
    code = model.table_.codes[number]
    found: dict[str, Any] = {"name": code.name, "kind": kind_of_code(code)}
    found["may_be_missing"] = code.knows_missing
    if isinstance(code, CategoryCode):
        return {**found, "levels": list(code.level_names())}
    first, schema = model.table_.columns_of[number][0], model.schema_
    return {**found, "lowest": schema.lower[first], "highest": schema.upper[first]}


def _fold(number: int, fold: Any) -> dict[str, Any]:
    return {
        "fold": number,
        "train_rows": fold.train_rows,
        "validation_rows": fold.validation_rows,
        "neurons": fold.n_neurons,
        "status": fold.status,
        "seconds": fold.seconds,
    }


def _predicts(report: dict[str, Any]) -> str:
    if report["classes"] is None:
        return "numbers"
    return f"the classes {', '.join(map(str, report['classes']))}"


def _told(column: dict[str, Any]) -> str:
    missing = ", may be missing" if column["may_be_missing"] else ""
    if "levels" not in column:
        if column["kind"] == "date":
            return f"{column['kind']}{missing}"
        return f"{column['kind']} from {column['lowest']:g} to {column['highest']:g}{missing}"
    levels = column["levels"]
    more = f" and {len(levels) - _MOST_LEVELS} more" if len(levels) > _MOST_LEVELS else ""
    return f"category: {', '.join(levels[:_MOST_LEVELS])}{more}{missing}"
