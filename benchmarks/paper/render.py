"""All results for readers: a Markdown and a CSV file a table, and docs/results.md."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from benchmarks.paper import claims, tables
from benchmarks.paper.analysis import (
    GROUPS,
    LIMIT,
    NO_REASON,
    PEER,
    SOLVED,
    compared,
    contests,
    shortfalls,
    standings,
)
from benchmarks.paper.experiments import PAPER_MODELS, TABLES, TUNED, Cell, cells
from benchmarks.paper.protocol import PAPER
from benchmarks.paper.records import FIT
from benchmarks.paper.summary import summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from benchmarks.paper.analysis import Contest
    from benchmarks.paper.experiments import Table
    from benchmarks.paper.records import Record
    from benchmarks.paper.summary import Place, Summary

#: What each figure shows, by the paper's label.
FIGURES = {
    "stack_life_reg": "LIFE's loss against that of stacking the same members, regression",
    "stack_life_cal": "LIFE's loss against that of stacking the same members, classification",
    "loss_dec": "Loss, accuracy and diversity against the size of subsets, regression",
    "loss_dec_cla": "Loss, accuracy and diversity against the size of subsets, classification",
    "ResNet18_LIFE": "ResNet18 and models on its features, seed by seed",
    "neuron_imp": "Importance of neurons, bike rentals",
    "heatmap_imp": "Contribution of variables by neuron, bike rentals",
    "local_imp": "Coefficients of local regions, bike rentals",
    "int_dect": "Coefficients that vary with other variables, bike rentals",
    "int_dect_heatmap": "Strength of interactions, bike rentals",
    "gam_plot2": "Main effects, bike rentals",
    "base": "R² against neurons, by the share of members that selection keeps",
}
#: Sets that a sentence names.
MOST_LISTED = 6
DONE = f"""\
**Data.** Real sets are split 80/20 by seed (classes in proportion): 10 seeds up to 5,000 rows, 5
above; the paper has 10 throughout. A seed of a simulation is a new sample of 20,000 rows, five as
in the paper. All models see the same rows. The paper's mortgages ("Home Lending") are private and
the whole Higgs file could not be had: their rows say so, and public sets stand in, in rows of
their own.

**Tuning.** {PAPER.sentences} The settings found serve all seeds. Test rows of the other seeds
therefore had a part in choosing settings, of all models alike, but none in fitting. The paper
tunes "extensively" and does not say how long, or on which rows.

**Measuring.** Every fit has a process of its own and one thread. Seconds (T) are those of the
final fit, on another machine than the paper's.

**Readings of the paper.** It does not print the scale of its simulated predictors: ours are
N(0, 1) and Laplace(0, 2), which give back most of its oracle rows, but not R² of AIM and MIM in
sim_reg1. Its exponential GAM of regression has infinite variance as printed in the text; we use
the form of its appendix.
"""


def write(records: Iterable[Record], folder: Path, docs_path: Path) -> None:
    """Write all files.

    Parameters
    ----------
    records : of `benchmarks.paper.records`
    folder : for the tables; the data of figures are in its `paper-figures`
    docs_path : the file that tells it all; images are looked for in `images/paper` beside it
    """
    records = list(records)
    summaries = summarise(records)
    folder.mkdir(parents=True, exist_ok=True)
    docs_path.parent.mkdir(parents=True, exist_ok=True)
    for name, table in TABLES.items():
        own = [one for one in records if one["table"] == name]
        text = f"# {name}: {table.title}\n\n{_table(name, records, summaries)}\n{_legend(own)}\n"
        (folder / f"paper-{name}.md").write_text(text)
        (folder / f"paper-{name}.csv").write_text(tables.to_csv(table, summaries))
    docs_path.write_text(document(records, summaries, folder, docs_path.parent))


def document(
    records: list[Record], summaries: Mapping[Place, Summary], folder: Path, docs: Path
) -> str:
    """The text of docs/results.md."""
    parts = [
        "# Results",
        f"Every table and figure of the paper's experiments, run again with this package: "
        f"{progress(records, TABLES)} This page is written by `scripts/bench paper`.",
        "## What was done",
        DONE,
        "## Where LIFE wins and loses",
        _standings(summaries),
        "## The paper's claims",
        _claims(records, folder),
        "## Tables",
        _legend(records),
        *(
            f"### {name}: {table.title}\n\n{_table(name, records, summaries)}"
            for name, table in TABLES.items()
        ),
        "## Worse than the paper",
        _shortfalls(summaries),
        "## Figures",
        _figures(docs),
        "## To regenerate",
        _commands(),
    ]
    return "\n\n".join(part.strip("\n") for part in parts) + "\n"


def progress(records: list[Record], known: Mapping[str, Table]) -> str:
    """How much is run of some tables, and when it was."""
    planned = {cell for table in known.values() for cell in cells(table)}
    fits = [one for one in records if one["kind"] == FIT and _cell(one) in planned]
    n_failed = sum("failed" in one for one in fits)
    dates = sorted(one["date"][:10] for one in fits if "date" in one)
    when = "" if not dates else f", {' to '.join(dict.fromkeys([dates[0], dates[-1]]))}"
    return f"{len(fits) - n_failed:,} of {len(planned):,} fits done, {n_failed} failed{when}."


def _cell(record: Record) -> Cell:
    return Cell(record["table"], record["data"], record["model"], record["seed"])


def _table(name: str, records: list[Record], summaries: Mapping[Place, Summary]) -> str:
    table = TABLES[name]
    return f"{tables.markdown(table, summaries)}\n{tables.caption(table, records)}"


def _legend(records: list[Record]) -> str:
    return f"{tables.LEGEND} Versions: {tables.versions(records)}."


def _standings(summaries: Mapping[Place, Summary]) -> str:
    sets = contests(summaries)
    if not sets:
        return "No set has been run with all seven models yet."
    lines = [
        f"On the {len(sets)} sets with all seven models: on how many each has the smallest error, "
        f"the second smallest, and so on; and the geometric mean of its error over {PEER}'s "
        "(below 1 is better; small, the paper's, on the sets that it has too).",
        "",
        f"| model | 1st | 2nd | 3rd | lower | {' | '.join(GROUPS)} |",
        f"|---|---|---|---|---|{'---|' * len(GROUPS)}",
    ]
    for one in standings(summaries):
        places = [*one.places[:3], sum(one.places[3:])]
        ratios = [
            f"{_ratio(one.ratios[group])}<br><sub>{_ratio(one.paper_ratios[group])}</sub>"
            for group in GROUPS
        ]
        name = PAPER_MODELS.get(one.model, one.model)
        lines.append(f"| {name} | {' | '.join([*map(str, places), *ratios])} |")
    left_out = [one.data.title for one in sets if one.solved]
    if left_out:
        lines += ["", f"Left out of the ratios, since every model has an AUC of {SOLVED} or more: "
                  f"{', '.join(left_out)}."]  # fmt: skip
    return "\n".join([*lines, "", *_sentences(sets, summaries)])


def _ratio(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.3f}"


def _sentences(
    sets: list[Contest],
    summaries: Mapping[Place, Summary],
) -> list[str]:
    """Against the base, against XGBoost, and how wide the networks are."""
    lines = []
    for solver in ("LLA", "Adam"):
        life = f"LIFE({solver})"
        against = [
            (one.errors[life] / one.errors[PEER], one.name) for one in sets if not one.solved
        ]
        n_base = sum(one.errors[life] < one.errors[solver] for one in sets)
        won = sorted(one for one in against if one[0] < 1)
        lost = sorted((one for one in against if one[0] >= 1), reverse=True)
        lines.append(
            f"- **{life}** has a smaller error than {solver} on {n_base} of {len(sets)} sets, and "
            f"than {PEER} on {len(won)} of {len(against)}. Error over {PEER}'s where it wins: "
            f"{_listed(won)}; where it loses: {_listed(lost)}."
        )
    widths = {model: _widths(sets, model, summaries) for model in TUNED}
    text = ", ".join(f"{model} {width:.0f}" for model, width in widths.items() if width > 0)
    return [*lines, f"- Neurons, median over sets: {text}."] if text else lines


def _widths(
    sets: list[Contest],
    model: str,
    summaries: Mapping[Place, Summary],
) -> float:
    found = [summaries[one.table, one.data.name, model].neurons for one in sets]
    known = [width for width in found if not np.isnan(width)]
    return float(np.median(known)) if known else np.nan


def _listed(pairs: list[tuple[float, str]]) -> str:
    """The first few, and how many more there are."""
    more = f" and {len(pairs) - MOST_LISTED} more" if len(pairs) > MOST_LISTED else ""
    some = ", ".join(f"{name} ({ratio:.2f})" for ratio, name in pairs[:MOST_LISTED])
    return f"{some}{more}" if pairs else "nowhere"


def _claims(records: list[Record], folder: Path) -> str:
    lines = ["| | the paper's claim | here | figures |", "|---|---|---|---|"]
    lines += [
        f"| {one.key} | {one.statement} | **{one.verdict}** | {one.figures} |"
        for one in claims.examine(records, folder / "paper-figures")
    ]
    rules = (
        f"Falling is a rank correlation below {claims.FALLS:g}; linear is an R² of the line of at "
        f"least {claims.LINE:g}. A claim is tested once all its runs are there."
    )
    return "\n".join([*lines, "", rules])


def _shortfalls(summaries: Mapping[Place, Summary]) -> str:
    found, n_compared = shortfalls(summaries), 0
    for (table, data, model), _ in compared():
        one = summaries.get((table, data.name, model))
        n_compared += one is not None and one.n > 0
    lead = (
        f"{len(found)} of {n_compared} figures with a deviation in the paper are worse than its by "
        f"more than {LIMIT:g} of them (a deviation printed as 0.000 counts as 0.0005)."
    )
    if not found:
        return lead
    lines = [lead, "", "| table | data | model | | ours | the paper | worse by (its sd) | reason |",
             "|---|---|---|---|---|---|---|---|"]  # fmt: skip
    lines += [
        f"| {one.table} | {one.data.title} | {PAPER_MODELS.get(one.model, one.model)} "
        f"| {one.metric.label} | {tables.figure_text(one.ours, one.metric)} | {one.paper.text} "
        f"| {one.by:.1f} | {one.reason or NO_REASON} |"
        for one in found
    ]
    return "\n".join(lines)


def _figures(docs: Path) -> str:
    """Those that are drawn, and the names of the others."""
    folder = docs / "images" / "paper"
    drawn = [name for name in FIGURES if (folder / f"{name}.png").exists()]
    lines = [
        f"**{name}.** {FIGURES[name]}.\n\n![{FIGURES[name]}](images/paper/{name}.png)\n"
        for name in drawn
    ]
    missing = [name for name in FIGURES if name not in drawn]
    if missing:
        lines.append(f"Not drawn yet: {', '.join(missing)}.")
    return "\n".join(lines)


def _commands() -> str:
    return """\
```
scripts/bench paper                      # what is missing; tables, figures, bars, this page
scripts/bench paper --table real_reg     # one table
scripts/bench paper --figure loss_dec    # one figure
scripts/bench paper --kept               # run nothing, write what is kept
scripts/bench paper --smoke              # every part on tiny data, in a temporary folder
```

Runs are kept in `benchmarks/results/paper-records.jsonl` and not repeated; a run that was killed
goes on where it was. The tables are there too, as `paper-NAME.md` and `paper-NAME.csv`, with the
data of the figures in `paper-figures`. Reasons are kept in `benchmarks/paper/reasons.csv`."""
