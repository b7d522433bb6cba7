"""What was measured as tables: errors, ratios and seconds as Markdown, everything as CSV."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.analysis import geometric
from benchmarks.paper.summary import Metric
from benchmarks.paper.tables import Row
from benchmarks.peers.analysis import Column, metric_of
from benchmarks.peers.experiments import BY_AUC, DECIDING, DEFAULT, TABLES, TUNED
from benchmarks.peers.models import BEST, LIFE

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.paper.experiments import Data, Table
    from benchmarks.peers.analysis import Results

#: Tables that readers see, and the column that their ratios are of.
SHOWN = {DEFAULT: LIFE, TUNED: BEST}
SECONDS = Metric("cpu", "T", "seconds")
_NUMBERS = ("error", "second", "cpu", "seconds", "null")
_COLUMNS = (
    "table", "data", "title", "half", "task", "metric", "model", "planned", "run", "failed",
    *(f"{name}_{part}" for name in _NUMBERS for part in ("mean", "sd")), "neurons", "life_over_it",
)  # fmt: skip


def errors(table: Table, results: Results) -> str:
    """Mean and deviation of every cell."""

    def line(data: Data) -> list[str]:
        row = Row(table, data, metric_of(data), results.summaries)
        return [row.metric.label, *(row.ours(model) for model in table.models)]

    return _markdown(table, ("", *table.models), line)


def seconds(table: Table, results: Results) -> str:
    """Seconds of computing of a fit."""

    def line(data: Data) -> list[str]:
        row = Row(table, data, SECONDS, results.summaries)
        return [row.ours(model) for model in table.models]

    return _markdown(table, table.models, line)


def ratios(table: Table, results: Results) -> str:
    """LIFE's error over that of every other model, and the geometric means below."""
    ours = Column(table.name, SHOWN[table.name])
    others = [model for model in table.models if model != ours.model]

    def ratio(model: str, data: Data) -> float:
        return results.ratio(ours, Column(table.name, model), data)

    def line(data: Data) -> list[str]:
        return [ratio_text(ratio(model, data)) for model in others]

    means = [
        geometric(ratio(model, data) for data in table.present if data.name not in BY_AUC)
        for model in others
    ]
    last = f"| geometric mean | {' | '.join(ratio_text(one) for one in means)} |\n"
    return _markdown(table, others, line) + last


def ratio_text(value: float) -> str:
    """Three digits behind the point, or what is the case where there is no number."""
    return "not run" if np.isnan(value) else f"{value:.3f}"


def _markdown(
    table: Table, heads: tuple[str, ...] | list[str], line: Callable[[Data], list[str]]
) -> str:
    lines = [f"| data | {' | '.join(heads)} |", f"|---|{'---|' * len(heads)}"]
    lines += [f"| {_title(table, data)} | {' | '.join(line(data))} |" for data in table.present]
    return "\n".join(lines) + "\n"


def _title(table: Table, data: Data) -> str:
    about = f"{data.n_rows:,} rows, {len(table.seeds_of(data))} seeds, {half_of(data)}"
    return f"{data.title}<br><sub>{about}</sub>"


def half_of(data: Data) -> str:
    """The half that a set is in."""
    return "deciding" if data.name in DECIDING else "confirming"


def to_csv(results: Results) -> str:
    """A line for each cell of every table."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for table in TABLES.values():
        for data in table.present:
            writer.writerows(_line(table, data, model, results) for model in table.models)
    return text.getvalue()


def _line(table: Table, data: Data, model: str, results: Results) -> dict[str, object]:
    one = results.summaries.get((table.name, data.name, model))
    line: dict[str, object] = {
        "table": table.name, "data": data.name, "title": data.title, "half": half_of(data),
        "task": data.task, "metric": metric_of(data).name, "model": model,
        "planned": len(table.seeds_of(data)),
        "run": one.n if one else 0, "failed": one.n_failed if one else 0,
    }  # fmt: skip
    if one is not None and one.n:
        for name in _NUMBERS:
            figure = getattr(one, name)
            line |= {f"{name}_mean": _plain(figure.mean), f"{name}_sd": _plain(figure.sd)}
        line["neurons"] = _plain(one.neurons)
    if table.name in SHOWN:
        ours = Column(table.name, SHOWN[table.name])
        line["life_over_it"] = _plain(results.ratio(ours, Column(table.name, model), data))
    return line


def _plain(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"
