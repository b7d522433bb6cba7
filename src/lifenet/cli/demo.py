"""``lifenet demo``: a model of made-up houses, whose truth is known."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.cli.arguments import new_command
from lifenet.cli.csv_text import arrow
from lifenet.cli.fit import with_progress
from lifenet.cli.scores import measures_of, told
from lifenet.estimators import LIFERegressor
from lifenet.explain import explain_row

if TYPE_CHECKING:
    import argparse

    from lifenet.cli.arguments import Parser
    from lifenet.cli.console import Console

__all__ = ["add", "houses", "run"]

_WHAT = (
    "Fit a model to made-up houses, whose truth is known, and read a prediction. Nothing is "
    "downloaded and no file is written."
)
_EXAMPLE = "lifenet demo"
_TRUTH = "price = 50 + 2·area - age + 30·rating·(distance < 10) + noise"
#: Rows, and those of them that are held out.
_N, _HELD_OUT = 1_500, 500


def add(commands: Any) -> Parser:
    """Add the command."""
    parser = new_command(commands, "demo", run, _WHAT, _EXAMPLE)
    parser.add_argument(
        "--preset", choices=("fast", "glass", "paper"), default="paper", help="default: paper"
    )
    return parser


def houses(n_rows: int = _N, seed: int = 0) -> tuple[dict[str, Any], Any]:
    """Columns of made-up houses, and their prices in thousands."""
    rng = np.random.default_rng(seed)
    columns = {
        "area": rng.uniform(40, 200, n_rows),
        "age": rng.uniform(0, 80, n_rows),
        "distance": rng.uniform(0, 30, n_rows),
        "rating": rng.uniform(0, 1, n_rows),
    }
    near = columns["distance"] < 10
    price = 50 + 2 * columns["area"] - columns["age"] + 30 * columns["rating"] * near
    return columns, price + rng.normal(scale=5, size=n_rows)


def run(args: argparse.Namespace, console: Console) -> None:
    """Carry out the command."""
    columns, price = houses()
    table = arrow().table(columns)
    train, test = table.slice(0, _N - _HELD_OUT), table.slice(_N - _HELD_OUT)
    console.say(f"Data: {_N:,} made-up houses. The truth: {_TRUTH}.")
    model = LIFERegressor(preset=args.preset, random_state=0)
    what = f"Fit to {train.num_rows:,} rows"
    with console.progress(what) as progress, with_progress(model, progress):
        model.fit(train, price[: len(train)])
    measures = measures_of(model, test, price[len(train) :])
    console.say(f"Held out: {_HELD_OUT:,} rows, {told(measures)}.")
    house = {"area": 120.0, "age": 20.0, "distance": 5.0, "rating": 0.5}
    row = explain_row(model, list(house.values()))
    console.say(f"A house: {', '.join(f'{name} {value:g}' for name, value in house.items())}.")
    console.say(f"Its price is predicted to be {row.score:.1f}. The equation around it:")
    console.say(f"  price = {row.equation()}")
    for sentence in row.worth:
        console.say(f"  {sentence}")
    console.result(
        {
            "truth": _TRUTH,
            "held_out": {"rows": _HELD_OUT, **measures},
            "house": house,
            "prediction": row.score,
            "equation": row.equation(),
        }
    )
