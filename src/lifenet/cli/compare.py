"""``lifenet compare``: two models on the rows of one table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.arguments import add_reading, csv_format, new_command
from lifenet.cli.errors import CommandError
from lifenet.cli.models import columns_of, is_classifier, load_model, read_for
from lifenet.cli.scores import loss_name, losses_of, measures_of, told
from lifenet.cli.targets import target_for
from lifenet.tables import Labels, read_table
from lifenet.tables.columns import as_labels

if TYPE_CHECKING:
    import argparse

    from lifenet._typing import Floats, Integers
    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console

__all__ = ["add", "run"]

_WHAT = (
    "Compare two models on the rows of one table, best on rows that neither has seen. It says how "
    "their losses differ and how sure that is, how far they agree, and where they differ most."
)
_EXAMPLE = "lifenet compare loans.life small.life new.csv --target default"
#: Rows and groups of rows that are shown, parts that a column of numbers is cut into, and the
#: fewest rows of a part; chosen by hand.
_ROWS, _GROUPS, _PARTS, _FEWEST = 5, 3, 4, 20


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "compare", run, _WHAT, _EXAMPLE)
    parser.add_argument("first", help="file of a model")
    parser.add_argument("second", help="file of another model")
    parser.add_argument("data", help="CSV, Parquet or Arrow file")
    parser.add_argument("--target", required=True, metavar="COL", help="column with the target")
    parser.add_argument(
        "--drop-missing-target", action="store_true", help="leave out rows without a target"
    )
    add_reading(parser)
    return parser


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    names = [args.first, args.second]
    models = [load_model(name) for name in names]
    _check_alike(models, names)
    sides = [_Side(model, args) for model in models]
    measures = [one.measures for one in sides]
    gain = sides[1].losses - sides[0].losses
    mean, error = _mean_and_error(gain)
    agreement = _agreement(sides)
    apart = _apart(sides)
    order = np.argsort(-apart, kind="stable")[:_ROWS]
    rows = [_row(sides, int(row), float(apart[row])) for row in order]
    groups = _groups(sides[0], gain)
    for name, one in zip(names, measures, strict=True):
        console.say(f"{name}: {told(one)}.")
    loss = loss_name(models[0])
    console.say(
        f"Mean {loss} of {names[1]} less that of {names[0]}: {mean:+.4g} ± {error:.2g} "
        f"({_verdict(mean, error, names)})."
    )
    console.say(
        f"Agreement: {', '.join(f'{name} {value:.4g}' for name, value in agreement.items())}."
    )
    console.say("Rows where predictions differ most:")
    for one in rows:
        console.say(
            f"  {one['place']}: {one['first']} and {one['second']}, {args.target} {one['target']}"
        )
    if groups:
        console.say(f"Groups of rows whose mean {loss} differs most, against its standard error:")
    for group in groups:
        console.say(
            f"  {group['rows_are']} ({group['rows']:,} rows): {group['difference']:+.4g} ± "
            f"{group['standard_error']:.2g}"
        )
    console.result(
        {
            "first": {"file": names[0], **measures[0]},
            "second": {"file": names[1], **measures[1]},
            "loss": loss,
            "difference": mean,
            "standard_error": error,
            "agreement": agreement,
            "rows": rows,
            "groups": groups,
        }
    )


def _check_alike(models: list[Any], names: list[str]) -> None:
    first, second = (is_classifier(model) for model in models)
    if first != second:
        kinds = ["classes" if one else "numbers" for one in (first, second)]
        raise CommandError(
            f"{names[0]} predicts {kinds[0]} and {names[1]} predicts {kinds[1]}, so that their "
            "losses cannot be compared."
        )
    if first and set(map(str, models[0].classes_)) != set(map(str, models[1].classes_)):
        raise CommandError(
            f"{names[0]} and {names[1]} predict different classes: "
            f"{', '.join(map(str, models[0].classes_))}; {', '.join(map(str, models[1].classes_))}."
        )


class _Side:
    """One of the models on the rows."""

    def __init__(self, model: Any, args: argparse.Namespace) -> None:
        how, why = csv_format(args), "--target names"
        source = read_for(model, args.data, how, further=[args.target], why=why)
        self.model = model
        self.source, self.y = target_for(
            model, source, args.target, drop_missing=args.drop_missing_target
        )
        self.rows = self.source.table.select(columns_of(model))
        try:
            self.losses = losses_of(model, self.rows, self.y)
            self.measures = measures_of(model, self.rows, self.y)
            self.prediction = model.predict(self.rows)
            self.chances = _chances(model, self.rows)
        except (ValueError, TypeError) as error:
            raise source.explained(error) from error


def _chances(model: Any, rows: Any) -> Floats | None:
    """Probabilities, the classes in the order of their names."""
    if not is_classifier(model):
        return None
    order = np.argsort([str(label) for label in model.classes_], kind="stable")
    return np.asarray(model.predict_proba(rows)[:, order])


def _mean_and_error(gain: Floats) -> tuple[float, float]:
    """Mean difference of two models' losses, paired, and its standard error."""
    error = float(gain.std(ddof=1) / np.sqrt(len(gain))) if len(gain) > 1 else float("nan")
    return float(gain.mean()), error


def _verdict(mean: float, error: float, names: list[str]) -> str:
    if mean == 0:
        return "no difference"
    if not abs(mean) > 2 * error:
        return "this may be chance"
    return f"{names[1] if mean < 0 else names[0]} is better, by more than two standard errors"


def _agreement(sides: list[_Side]) -> dict[str, float]:
    first, second = sides
    if first.chances is not None and second.chances is not None:
        same = np.array([str(a) == str(b) for a, b in _pairs(first.prediction, second.prediction)])
        return {
            "same class": float(same.mean()),
            "mean difference of probabilities": float(
                np.abs(first.chances - second.chances).sum(axis=1).mean() / 2
            ),
        }
    apart = first.prediction - second.prediction
    spreads = [float(np.std(one.prediction)) for one in sides]
    found = {"root mean squared difference": float(np.sqrt(np.mean(np.square(apart))))}
    if min(spreads) > 0:
        found["correlation"] = float(np.corrcoef(first.prediction, second.prediction)[0, 1])
    return found


def _pairs(first: Any, second: Any) -> Any:
    return zip(first, second, strict=True)


def _apart(sides: list[_Side]) -> Floats:
    """How far the predictions of each row lie apart."""
    first, second = sides
    if first.chances is not None and second.chances is not None:
        return np.asarray(np.abs(first.chances - second.chances).sum(axis=1) / 2)
    return np.asarray(np.abs(first.prediction - second.prediction))


def _row(sides: list[_Side], row: int, apart: float) -> dict[str, Any]:
    source = sides[0].source
    found: dict[str, Any] = {"row": int(source.rows[row]) + 1, "place": source.place(row)}
    for name, side in zip(("first", "second"), sides, strict=True):
        if side.chances is None:
            found[name] = float(f"{side.prediction[row]:.6g}")
        else:
            found[name] = f"{side.prediction[row]} ({side.chances[row].max():.2f})"
    target = sides[0].y[row]
    found["target"] = target.item() if hasattr(target, "item") else target
    return {**found, "difference": apart}


# ------------------------------------------------------------------ groups of rows


def _groups(side: _Side, gain: Floats) -> list[dict[str, Any]]:
    """Groups of rows, by one column each, whose mean differences are the surest."""
    found: list[dict[str, Any]] = []
    table = read_table(side.rows)
    for number, name in enumerate(table.names):
        for words, rows in _cut(name, table[number]):
            if len(rows) < _FEWEST:
                continue
            mean, error = _mean_and_error(gain[rows])
            if error > 0:
                found.append(
                    {
                        "rows_are": words,
                        "rows": len(rows),
                        "difference": mean,
                        "standard_error": error,
                    }
                )
    found.sort(key=lambda one: -abs(one["difference"]) / one["standard_error"])
    return found[:_GROUPS]


def _cut(name: str, column: Any) -> list[tuple[str, Integers]]:
    """Parts of the rows by a column: levels, or quarters of numbers."""
    if isinstance(column, Labels):
        return [
            (f"{name} = {label}", np.flatnonzero(column.codes == code))
            for code, label in enumerate(column.labels)
        ]
    values = column.values[~column.missing]
    if not len(values):
        return []
    ends = np.unique(np.quantile(values, np.linspace(0, 1, _PARTS + 1)))
    names = as_labels(type(column)(ends, *_more(column))).labels
    parts: list[tuple[str, Integers]] = []
    for at in range(len(ends) - 1):
        upper = column.values < ends[at + 1] if at < len(ends) - 2 else column.values <= ends[-1]
        rows = np.flatnonzero((column.values >= ends[at]) & upper)
        parts.append((f"{name} from {_short(names[at])} to {_short(names[at + 1])}", rows))
    return parts


def _more(column: Any) -> tuple[Any, ...]:
    """What a column of times or numbers has beside its values."""
    return (column.duration,) if hasattr(column, "duration") else (column.boolean,)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
