"""One table of the paper as Markdown and as CSV, our figures above the paper's."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper.analysis import LIMIT, worse_by
from benchmarks.paper.experiments import ATTAINABLE, ORACLE, PAPER_MODELS, UNTUNED
from benchmarks.paper.records import TUNING
from benchmarks.paper.summary import metrics_of, number, printed, seconds_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.paper.experiments import Data, Table
    from benchmarks.paper.records import Record
    from benchmarks.paper.summary import Figure, Metric, Place, Printed, Summary

BOUNDS = (ORACLE, ATTAINABLE)
#: Fields that are seconds.
TIMES = ("seconds", "cpu")
WORSE = "▼"
LEGEND = (
    "In each cell our mean (standard deviation) over the seeds, and below it, small, the paper's. "
    f"Bold: the best of ours. {WORSE}: worse than the paper by over {LIMIT:g} of its deviations."
)
#: What is said below a table that is not tuned as the others are.
_UNTUNED = {
    "data_sample": "Nothing is tuned: all schemes have the same settings.",
    "MNIST_ResNet18": (
        "Digit 1 against the rest; each seed draws 8,000 images to train on, rotated by 20 "
        "degrees, and 2,000 each to validate and to test, not rotated. Settings are those with the "
        "least log-loss on the validation part."
    ),
}
#: Where the number of rows is not that of the file.
_SIZES = {"MNIST": "12,000 images"}
_COLUMNS = (
    "table", "data", "title", "metric", "model", "status", "mean", "sd", "n", "failed", "planned",
    "neurons", "paper_mean", "paper_sd", "worse_by_sd",
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """One metric on one data set."""

    table: Table
    data: Data
    metric: Metric
    summaries: Mapping[Place, Summary]

    def summary(self, model: str) -> Summary | None:
        """What was run of a model."""
        return self.summaries.get((self.table.name, self.data.name, model))

    def paper(self, model: str) -> Printed:
        """What the paper has."""
        return printed(self.table.name, self.data, self.metric, model)

    def best(self) -> str:
        """The best mean as it is printed, of the models that do not know the truth."""
        some = (self.summary(m) for m in self.table.models_of(self.data) if m not in BOUNDS)
        means = [getattr(one, self.metric.field).mean for one in some if one is not None and one.n]
        if not means:
            return ""
        best = max(means) if self.metric.larger else min(means)
        return _mean_text(best, self.metric)

    def cell(self, model: str) -> str:
        """Ours, and below it the paper's."""
        if model not in self.table.models_of(self.data):
            return ""
        if model in BOUNDS and self.metric.field in TIMES:
            return ""
        return self.ours(model) + self._theirs(model)

    def ours(self, model: str) -> str:
        """Mean and deviation, the best of the row in bold; or why there is none."""
        one = self.summary(model)
        status = _status(self.data, one)
        if status or one is None:
            return status
        figure, n_seeds = getattr(one, self.metric.field), len(self.table.seeds_of(self.data))
        text = figure_text(figure, self.metric)
        if model not in BOUNDS and text.partition(" ")[0] == self.best():
            text = figure_text(figure, self.metric, "**")
        if one.n_failed:
            text += f"<br>failed ({one.n_failed})"
        elif one.n < n_seeds:
            text += f"<br><sub>{one.n} of {n_seeds} seeds</sub>"
        return text

    def _theirs(self, model: str) -> str:
        if not self.data.in_paper:
            return ""
        one, paper = self.summary(model), self.paper(model)
        worse = one is not None and self._worse_by(one, paper) > LIMIT
        return f"<br><sub>{paper.text}{f' {WORSE}' if worse else ''}</sub>"

    def _worse_by(self, one: Summary, paper: Printed) -> float:
        return worse_by(getattr(one, self.metric.field), paper, self.metric)

    def line(self, model: str) -> dict[str, object]:
        """The same for a CSV file."""
        one, paper = self.summary(model), self.paper(model)
        line: dict[str, object] = {
            "table": self.table.name, "data": self.data.name, "title": self.data.title,
            "metric": self.metric.name, "model": model, "status": _status(self.data, one) or "run",
            "n": one.n if one else 0, "failed": one.n_failed if one else 0,
            "planned": 0 if self.data.absent else len(self.table.seeds_of(self.data)),
            "paper_mean": _plain(paper.mean), "paper_sd": _plain(paper.sd),
        }  # fmt: skip
        if one is not None and one.n:
            figure = getattr(one, self.metric.field)
            by = round(self._worse_by(one, paper), 2)
            figures = {"mean": figure.mean, "sd": figure.sd, "neurons": one.neurons}
            line |= {name: _plain(value) for name, value in {**figures, "worse_by_sd": by}.items()}
        return line


def markdown(table: Table, summaries: Mapping[Place, Summary]) -> str:
    """The table itself: data and metrics down, models across."""
    models = _columns(table)
    lines = [
        f"| data | | {' | '.join(PAPER_MODELS.get(model, model) for model in models)} |",
        f"|---|---|{'---|' * len(models)}",
    ]
    for data in table.data:
        title = _title(table, data)
        for metric in metrics_of(data):
            row = Row(table, data, metric, summaries)
            cells = " | ".join(row.cell(model) for model in models)
            lines.append(f"| {title} | {metric.label} | {cells} |")
            title = ""
    return "\n".join(lines) + "\n"


def caption(table: Table, records: list[Record]) -> str:
    """What is particular to the table: bounds, units, budget, command."""
    tunings = [
        one
        for one in records
        if one["kind"] == TUNING and one["table"] == table.name and "failed" not in one
    ]
    sentences = [_bounds(table)] if table.models[0] == ORACLE else []
    sentences += [*_notes(table), *([_UNTUNED[table.name]] if table.name in _UNTUNED else [])]
    if tunings:
        budgets = sorted({one["budget"] for one in tunings if one["budget"]})
        given = f"{' or '.join(f'{one:g}' for one in budgets)} s of" if budgets else "Some"
        middle = np.median([one["trials"] for one in tunings])
        sentences.append(f"{given} tuning for each model and set (median {middle:.0f} trials).")
    return f"{' '.join(sentences)} `scripts/bench paper --table {table.name}`.".strip() + "\n"


def versions(records: list[Record]) -> str:
    """What computed the records."""
    return "; ".join(sorted({one["versions"] for one in records if "versions" in one})) or "-"


def to_csv(table: Table, summaries: Mapping[Place, Summary]) -> str:
    """One line a figure."""
    text = io.StringIO()
    writer = csv.DictWriter(text, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for data in table.data:
        for metric in metrics_of(data):
            row = Row(table, data, metric, summaries)
            writer.writerows(row.line(model) for model in table.models_of(data))
    return text.getvalue()


def figure_text(figure: Figure, metric: Metric, mark: str = "") -> str:
    """`mean (sd)`, both with the mean's decimals; of seconds the mean alone."""
    mean = _mean_text(figure.mean, metric)
    if metric.field in TIMES or np.isnan(figure.sd):
        return f"{mark}{mean}{mark}"
    return f"{mark}{mean}{mark} ({figure.sd:.{len(mean.partition('.')[2])}f})"


def _mean_text(mean: float, metric: Metric) -> str:
    return seconds_text(mean) if metric.field in TIMES else number(mean)


def _columns(table: Table) -> list[str]:
    shown = {model for data in table.data for model in table.models_of(data)}
    return [model for model in table.models if model in shown and model not in UNTUNED]


def _title(table: Table, data: Data) -> str:
    """Name, rows and seeds, and what a stand-in stands for."""
    if data.absent:
        return f"{data.title}<br><sub>{data.absent}</sub>"
    rows = _SIZES.get(data.name, f"{data.n_rows:,} rows")
    about = f"{rows}, {len(table.seeds_of(data))} seeds"
    if data.stands_for:
        return f"*{data.title}*<br><sub>{about}; stands in for {data.stands_for}</sub>"
    return f"{data.title}<br><sub>{about}</sub>"


def _status(data: Data, one: Summary | None) -> str:
    """Why there is no figure; empty where there is one."""
    if data.absent:
        return "not available"
    if one is None:
        return "not run"
    return "" if one.n else f"failed ({one.n_failed})"


def _plain(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.6g}"


def _bounds(table: Table) -> str:
    if ATTAINABLE in _columns(table):
        return (
            "Oracle knows the noise in the log-odds and can not be reached by any model of x; "
            "Attainable is P(y = 1 | x), the bound that can."
        )
    return "Oracle is the function without noise."


def _notes(table: Table) -> list[str]:
    notes = []
    for data in table.data:
        if data.standardised:
            notes.append(f"{data.title}'s RMSE is on a standardised response, as in the paper.")
        if data.name == "california_housing":
            notes.append(f"{data.title}'s RMSE is in units of $100,000, as in the paper.")
    if any(data.stands_for for data in table.data):
        notes.append("Italics: sets that stand in for what is not available.")
    return notes
