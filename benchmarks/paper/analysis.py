"""What the figures say: against the paper, against XGBoost, and as bars."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.bars import RESULTS
from benchmarks.paper import claims, goals
from benchmarks.paper.experiments import CLASSIFICATION, TABLES, TUNED, cells, needs_tuning
from benchmarks.paper.protocol import PAPER
from benchmarks.paper.records import FIT, TUNING
from benchmarks.paper.summary import metrics_of, printed, summarise

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.bars import Bars
    from benchmarks.paper.experiments import Data, Table
    from benchmarks.paper.protocol import Protocol
    from benchmarks.paper.records import Record
    from benchmarks.paper.summary import Figure, Metric, Place, Printed, Summary

REASONS = Path(__file__).with_name("reasons.csv")
NO_REASON = "no reason found yet"
#: A cell worse than the paper's by more than so many of its deviations needs a reason.
LIMIT = 2.0
#: Where every model has this AUC, errors are so small that their ratios mean nothing.
SOLVED = 0.9995
PEER = "XGBoost"
#: Tables with the same models, by what they have in common.
GROUPS = {
    "simulated regression": ("sim_reg1", "sim_reg2"),
    "simulated classes": ("sim_cal1", "sim_cal2"),
    "real regression": ("real_reg",),
    "real classes": ("real_cla",),
}


@dataclass(frozen=True)
class Shortfall:
    """A cell that is worse than the paper's by more than two of its deviations.

    Attributes
    ----------
    by : difference in units of the paper's deviation
    reason : from the file of reasons, empty where none is known
    """

    table: str
    data: Data
    model: str
    metric: Metric
    ours: Figure
    paper: Printed
    by: float
    reason: str


@dataclass(frozen=True)
class Contest:
    """A set of which all seven models were run: their mean errors, and whether all solve it."""

    group: str
    table: str
    data: Data
    errors: dict[str, float]
    solved: bool

    @property
    def name(self) -> str:
        return f"{self.data.title} of {self.table}" if self.data.simulated else self.data.title


@dataclass(frozen=True)
class Standing:
    """How a model stands among the seven.

    Attributes
    ----------
    places : number of sets on which it is first, second, ..., by the mean error
    ratios : geometric mean of its error over XGBoost's, by group; NaN where nothing was run
    paper_ratios : the same from the paper's numbers, on the sets that both have
    """

    model: str
    places: tuple[int, ...]
    ratios: dict[str, float]
    paper_ratios: dict[str, float]


def worse_by(ours: Figure, paper: Printed, metric: Metric) -> float:
    """By how many of the paper's deviations our mean is worse; NaN where it prints none."""
    return metric.loss(ours.mean, paper.mean) / paper.unit


def shortfalls(summaries: Mapping[Place, Summary], path: Path = REASONS) -> list[Shortfall]:
    """All cells that need a reason, by table and row."""
    reasons = read_reasons(path)
    found = []
    for (table, data, model), metric in compared():
        ours = summaries.get((table, data.name, model))
        if ours is None:
            continue
        figure, paper = getattr(ours, metric.field), printed(table, data, metric, model)
        by = worse_by(figure, paper, metric)
        if by > LIMIT:
            reason = _reason(reasons, (table, data.name, model, metric.name))
            found.append(Shortfall(table, data, model, metric, figure, paper, by, reason))
    return found


def compared() -> list[tuple[tuple[str, Data, str], Metric]]:
    """All figures of which the paper prints a mean and a deviation."""
    return [
        ((table.name, data, model), metric)
        for table in TABLES.values()
        for data in table.present
        for metric in metrics_of(data)
        for model in table.models_of(data)
        if not np.isnan(printed(table.name, data, metric, model).sd)
    ]


def read_reasons(path: Path = REASONS) -> list[dict[str, str]]:
    """Lines of table, data, model, metric (`*` is any; RMSE, R2, logloss, AUC) and reason."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def _reason(reasons: list[dict[str, str]], place: tuple[str, ...]) -> str:
    """The reason that names the cell most closely."""
    names = ("table", "data", "model", "metric")

    def fits(line: dict[str, str]) -> bool:
        return all(line[name] in ("*", part) for name, part in zip(names, place, strict=True))

    matching = [line for line in reasons if fits(line)]
    closest = min(matching, key=lambda line: [line[name] for name in names].count("*"), default={})
    return closest.get("reason", "").strip()


def standings(summaries: Mapping[Place, Summary]) -> list[Standing]:
    """All seven models, on the sets of which all of them were run."""
    places: dict[str, Counter[int]] = defaultdict(Counter)
    ours: dict[str, dict[str, list[float]]] = {model: defaultdict(list) for model in TUNED}
    theirs: dict[str, dict[str, list[float]]] = {model: defaultdict(list) for model in TUNED}
    for one in contests(summaries):
        for rank, model in enumerate(sorted(one.errors, key=one.errors.__getitem__)):
            places[model][rank] += 1
        for model in () if one.solved else TUNED:
            ours[model][one.group].append(one.errors[model] / one.errors[PEER])
            theirs[model][one.group].append(_paper_ratio(one.table, one.data, model))
    return [
        Standing(
            model,
            tuple(places[model][rank] for rank in range(len(TUNED))),
            {group: geometric(ours[model][group]) for group in GROUPS},
            {group: geometric(theirs[model][group]) for group in GROUPS},
        )
        for model in TUNED
    ]


def contests(summaries: Mapping[Place, Summary]) -> list[Contest]:
    """All sets of which all seven models were run."""
    found = []
    for group, names in GROUPS.items():
        for table, data in ((name, data) for name in names for data in TABLES[name].present):
            some = {model: summaries.get((table, data.name, model)) for model in TUNED}
            known = {model: one for model, one in some.items() if one is not None and one.n}
            if len(known) == len(TUNED):
                errors = {model: one.error.mean for model, one in known.items()}
                seconds = [one.second.mean for one in known.values()]
                solved = data.task == CLASSIFICATION and min(seconds) >= SOLVED
                found.append(Contest(group, table, data, errors, solved))
    return found


def _paper_ratio(table: str, data: Data, model: str) -> float:
    error = metrics_of(data)[0]
    return printed(table, data, error, model).mean / printed(table, data, error, PEER).mean


def geometric(ratios: Iterable[float]) -> float:
    """Geometric mean of those that are known; NaN of none."""
    known = [ratio for ratio in ratios if not np.isnan(ratio)]
    return float(np.exp(np.mean(np.log(known)))) if known else np.nan


def add_bars(bars: Bars, records: Iterable[Record], folder: Path = RESULTS) -> None:
    """Bars of the tables, of the comparison with the paper, and of the claims.

    Parameters
    ----------
    bars : of `scripts/bench paper`
    records : of `benchmarks.paper.records`
    folder : of the results, where the data of figures are
    """
    records = list(records)
    summaries = summarise(records)
    cell_bars(bars, summaries, TABLES)
    _seed_bars(bars, summaries)
    protocol_bars(bars, records, TABLES, PAPER)
    _paper_bars(bars, summaries)
    reasons = read_reasons()
    goals.add_bars(bars, summaries, lambda *place: _reason(reasons, place))
    _claim_bars(bars, claims.examine(records, folder / "paper-figures"))


def cell_bars(bars: Bars, summaries: Mapping[Place, Summary], known: Mapping[str, Table]) -> None:
    """How much was run of each table."""
    for table in known.values():
        planned = cells(table)
        run = {(c.data, c.model): summaries.get((table.name, c.data, c.model)) for c in planned}
        n_run = sum(one.n for one in run.values() if one is not None)
        n_failed = sum(one.n_failed for one in run.values() if one is not None)
        what = f"{table.name}: cells run of those planned ({n_failed} failed)"
        bars.at_least(what, n_run, len(planned), "d")


def _seed_bars(bars: Bars, summaries: Mapping[Place, Summary]) -> None:
    """The smallest number of seeds of any model, by the rule that says how many there are."""
    counts: dict[tuple[str, int], list[int]] = defaultdict(list)
    for table in TABLES.values():
        for data in table.present:
            rule = (_rule(table, data), len(table.seeds_of(data)))
            for model in table.models_of(data):
                one = summaries.get((table.name, data.name, model))
                counts[rule].append(0 if one is None else one.n)
    for (what, limit), numbers in counts.items():
        bars.at_least(f"smallest number of seeds, {what}", min(numbers), limit, "d")


def _rule(table: Table, data: Data) -> str:
    if table.n_seeds is not None:
        return table.name
    if data.n_rows <= 5_000:
        return "real sets of up to 5,000 rows"
    return "real sets of up to 20,000 rows" if data.n_rows <= 20_000 else "larger real sets"


def protocol_bars(
    bars: Bars, records: list[Record], known: Mapping[str, Table], protocol: Protocol
) -> None:
    """Each model on each set was tuned, with the same budget of seconds, and saw the same rows."""
    planned = {
        (table.name, data.name, model)
        for table in known.values()
        for data in table.present
        for model in table.models_of(data)
        if needs_tuning(table, model)
    }
    done = [one for one in records if one["kind"] == TUNING and "failed" not in one]
    done = [one for one in done if (one["table"], one["data"], one["model"]) in planned]
    budgets = [float(one["budget"] or np.nan) for one in done] or [np.nan]
    bars.at_least("tunings done of those planned", len(done), len(planned), "d")
    wanted, least = float(protocol.budget or np.nan), protocol.min_trials
    trials = [int(one["trials"]) for one in done] or [0]
    bars.at_least("smallest budget of a tuning, seconds", float(np.min(budgets)), wanted)
    bars.at_most("largest budget of a tuning, seconds", float(np.max(budgets)), wanted)
    if least > 1:
        bars.at_least("fewest trials of a tuning", min(trials), least, "d")
    shares = [one["cpu"] / one["seconds"] for one in done if one.get("cpu") and one["seconds"]]
    if shares:
        bars.note(
            f"share of a core that a tuning had: {min(shares):.2f} at least, "
            f"median {np.median(shares):.2f}"
        )
    models = dict.fromkeys(model for table in known.values() for model in table.models)
    for model in models:
        some = [one for one in done if one["model"] == model]
        if some:
            seconds = [one["seconds"] for one in some]
            trials = [one["trials"] for one in some]
            bars.note(
                f"tuning of {model}: {len(some)} sets, {min(seconds):.0f} to {max(seconds):.0f} s, "
                f"{min(trials)} to {max(trials)} trials (median {np.median(trials):.0f})"
            )
    bars.at_most("sets and seeds whose models saw different splits", _mixed(records), 0, "d")


def _mixed(records: list[Record]) -> int:
    """Sets and seeds with more than one split."""
    splits: dict[tuple[str, str, int], set[str]] = defaultdict(set)
    for one in records:
        if one["kind"] == FIT and "failed" not in one:
            splits[one["table"], one["data"], one["seed"]].add(one.get("split", ""))
    return sum(len(some) > 1 for some in splits.values())


def _paper_bars(bars: Bars, summaries: Mapping[Place, Summary]) -> None:
    short, planned = shortfalls(summaries), compared()
    places = [(table, data.name, model) for (table, data, model), _ in planned]
    n_compared = sum(place in summaries and summaries[place].n > 0 for place in places)
    # Without the paper's file nothing can be compared, and that is short too.
    limit = max(1, len(planned))
    bars.at_least("figures compared with the paper's", n_compared, limit, "d")
    bars.note(f"{len(short)} figures are worse by more than {LIMIT:g} of its deviations")
    what = f"figures worse than the paper's by more than {LIMIT:g} sd without a reason"
    bars.at_most(what, sum(not one.reason for one in short), 0, "d")


def _claim_bars(bars: Bars, tested: list[claims.Claim]) -> None:
    n_tested = sum(one.holds is not None or one.tested for one in tested)
    n_true = sum(one.holds is True for one in tested)
    bars.at_least(f"claims of the paper tested ({n_true} true)", n_tested, len(tested), "d")
    for one in tested:
        bars.note(f"claim {one.key}, {one.verdict}: {one.statement} {one.figures}")
