"""The paper's claims, each tested on what was measured: true, false, undecided, or not tested yet.

A claim about models is true or false where chance would not explain it (`paired`); between the two
it is undecided.
"""

from __future__ import annotations

import csv
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import spearmanr

from benchmarks.paper.experiments import REGRESSION, RESNETS, SCHEMES, TABLES
from benchmarks.paper.paired import LEVEL, compare, holm, of_counts, over_sets
from benchmarks.paper.summary import (
    figure,
    metrics_of,
    printed,
    runs_of,
    seconds_text,
    summarise,
    values,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

    from benchmarks.paper.experiments import Data
    from benchmarks.paper.records import Record
    from benchmarks.paper.summary import Figure, Place, Runs

#: A rank correlation below this counts as falling.
FALLS = -0.5
#: R² of a line from which on two losses are strongly related, and below which they are not:
#: chosen by hand, since the paper names no number.
LINE, NO_LINE = 0.75, 0.5
#: Improvement of R² over the base that the paper states.
STATED = {"LLA": 0.046, "Adam": 0.018}
#: The paper's reading of its Bike network.
BIKE = {"neurons": 116, "above": 13, "regions": 47}
_DECOMPOSITIONS = ("loss_dec.csv", "loss_dec_cla.csv")
_COMPARISONS = ("stack_life_reg.csv", "stack_life_cal.csv")
#: The spaces that the paper's figures are in, and the number of its curves.
_SPACES, _N_CURVES = ("squared", "probability"), 4
_NONE = "no figures yet"


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, whether it holds here, and the figures.

    Attributes
    ----------
    holds : None where it was not tested, or is not decided
    tested : whether all that it takes was measured
    """

    key: str
    statement: str
    holds: bool | None
    figures: str
    tested: bool = False

    @property
    def verdict(self) -> str:
        if self.holds is None:
            return "undecided" if self.tested else "not tested"
        return "true" if self.holds else "false"


def examine(records: Iterable[Record], folder: Path) -> list[Claim]:
    """Test all claims.

    Parameters
    ----------
    records : of `benchmarks.paper.records`
    folder : of the data of figures
    """
    records = list(records)
    runs = runs_of(records)
    lost = {place for place, one in summarise(records).items() if not one.n}
    return [
        falling(folder, "diversity", "a1", "The members' diversity falls as subsets grow."),
        falling(folder, "accuracy", "a2", "The members' own loss falls as subsets grow."),
        linear(folder),
        below(folder),
        smallest(folder),
        schemes(runs),
        *(improvement(runs, solver) for solver in STATED),
        *(outperforms(runs, solver, lost) for solver in STATED),
        *(steadier(runs, solver, lost) for solver in STATED),
        *(faster(folder, solver) for solver in STATED),
        resnet(runs),
        bike(folder),
    ]


def falling(folder: Path, term: str, key: str, statement: str) -> Claim:
    """Rank correlation of a term of the decomposition with the average share of a subset."""
    found = {
        name: float(spearmanr(_column(rows, "subset_share"), _column(rows, term)).statistic)
        for name, rows in _curves(folder, _DECOMPOSITIONS, "space").items()
    }
    in_paper = [rho for name, rho in found.items() if name.endswith(_SPACES)]
    text = "; ".join(f"{name} {rho:.2f}" for name, rho in found.items())
    return Claim(
        key,
        statement,
        all(rho < FALLS for rho in in_paper) if len(in_paper) == _N_CURVES else None,
        f"rank correlation with the average subset size, test rows: {text}" if found else _NONE,
    )


def linear(folder: Path) -> Claim:
    """R² of the line through LIFE's and stacking's training loss."""
    fits = {name: float(np.corrcoef(*pair)[0, 1] ** 2) for name, pair in _pairs(folder).items()}
    train = [fit for name, fit in fits.items() if name.endswith("train")]
    text = "; ".join(f"{name} {fit:.3f}" for name, fit in fits.items())
    complete = len(train) == _N_CURVES
    return Claim(
        "b1",
        "LIFE's training loss is nearly linear in that of stacking the same members.",
        _decided(min(train) >= LINE, min(train) < NO_LINE) if complete else None,
        f"R² of the line: {text}" if fits else _NONE,
        complete,
    )


def below(folder: Path) -> Claim:
    """Settings in which LIFE's loss is no larger than stacking's."""
    pairs = {name: pair for name, pair in _pairs(folder).items() if REGRESSION in name}
    counts = {
        name: (int(np.sum(life <= stack)), len(life)) for name, (stack, life) in pairs.items()
    }
    train = [n == of for name, (n, of) in counts.items() if name.endswith("train")]
    text = "; ".join(f"{name} {n} of {of}" for name, (n, of) in counts.items())
    return Claim(
        "b2",
        "In regression, LIFE's training loss is never above that of stacking the same members.",
        all(train) if len(train) == _N_CURVES // 2 else None,
        f"settings at or below: {text}" if counts else _NONE,
    )


def smallest(folder: Path) -> Claim:
    """The smallest loss over all settings, of classes."""
    pairs = {name: pair for name, pair in _pairs(folder).items() if REGRESSION not in name}
    least = {name: (life.min(), stack.min()) for name, (stack, life) in pairs.items()}
    train = [life < stack for name, (life, stack) in least.items() if name.endswith("train")]
    text = "; ".join(
        f"{name} {life:.4f} against {stack:.4f}" for name, (life, stack) in least.items()
    )
    return Claim(
        "b3",
        "In classification, LIFE's smallest training loss is below that of stacking.",
        all(train) if len(train) == _N_CURVES // 2 else None,
        f"smallest log-loss over the settings: {text}" if least else _NONE,
    )


def schemes(runs: Runs) -> Claim:
    """Errors of NN projection against the two other schemes, seed by seed."""
    table = TABLES["data_sample"]
    best, *others = SCHEMES
    parts, found = [], []
    for data in table.data:
        own = [
            compare(runs, (table.name, data.name, best), (table.name, data.name, other))
            for other in others
        ]
        if not all(one.n for one in own):
            continue
        found += own
        told = [
            f"{one.ratio:.3f} of {other}'s (t {one.t:.1f})"
            for one, other in zip(own, others, strict=True)
        ]
        parts.append(f"{data.title} {', '.join(told)}")
    complete = len(found) == len(table.data) * len(others)
    n_better, n_worse = sum(one.better for one in found), sum(one.worse for one in found)
    return Claim(
        "c",
        "Sampling by NN projection beats random projection and the bootstrap on all four sets.",
        _decided(n_better == len(found), n_worse > 0) if complete else None,
        f"smaller error in {sum(one.ratio < 1 for one in found)} of {len(found)} comparisons, "
        f"beyond chance in {n_better} (larger in {n_worse}): {'; '.join(parts)}"
        if parts
        else _NONE,
        complete,
    )


def improvement(runs: Runs, solver: str) -> Claim:
    """Mean over the paper's real sets of the relative gain in R²."""
    sets = _paper_sets("real_reg")
    gains = {}
    for data in sets:
        life, base = (_figure(runs, place, "second") for place in _places(data, solver))
        if life.n and base.n:
            gains[data.title] = life.mean / base.mean - 1
    stated = STATED[solver]
    mean = float(np.mean(list(gains.values()))) if gains else np.nan
    error = (
        float(np.std(list(gains.values()), ddof=1) / len(gains) ** 0.5)
        if len(gains) > 1
        else np.nan
    )
    up = sum(gain > 0 for gain in gains.values())
    text = ", ".join(f"{name} {gain:+.1%}" for name, gain in gains.items())
    complete = len(gains) == len(sets)
    return Claim(
        f"d {solver}",
        f"LIFE({solver}) improves R² over {solver} by {stated:.1%} on average over the real sets.",
        _decided(mean >= stated, mean + 2 * error < stated) if complete else None,
        f"{mean:+.1%} on average (standard error over sets {error:.1%}), up on {up} of "
        f"{len(gains)} sets: {text}"
        if gains
        else _NONE,
        complete,
    )


def outperforms(runs: Runs, solver: str, lost: Collection[Place] = ()) -> Claim:
    """Errors of LIFE over those of its base, set by set.

    False where the base is better on a set beyond chance, all sets considered; true where that is
    nowhere so, LIFE's mean error is smaller on every set, and over the sets beyond chance.
    """
    found, n_planned = {}, 0
    for table in TABLES.values():
        for data in table.present if f"LIFE({solver})" in table.models else ():
            places = _places(data, solver, table.name)
            n_planned += not any(place in lost for place in places)
            one = compare(runs, *places)
            if one.n > 1:
                found[f"{data.title}{f' of {table.name}' if data.simulated else ''}"] = one
    all_of = list(found.values())
    beyond = holm(all_of)
    worse = [n for (n, one), sure in zip(found.items(), beyond, strict=True) if sure and one.worse]
    n_better = sum(sure and one.better for one, sure in zip(all_of, beyond, strict=True))
    n_less = sum(one.ratio < 1 for one in all_of)
    chance = over_sets([one.ratio for one in all_of])
    complete = len(found) == n_planned > 0
    named = f" ({', '.join(worse)})" if worse else ""
    text = (
        f"smaller error on {n_less} of {len(found)} sets, beyond chance on {n_better}; larger "
        f"beyond chance on {len(worse)}{named}; geometric mean "
        f"of the ratio {np.exp(np.mean(np.log([one.ratio for one in all_of]))):.3f}, "
        f"Wilcoxon's p over sets {chance:.2g}"
        if found
        else _NONE
    )
    return Claim(
        f"h {solver}",
        f"LIFE({solver}) always outperforms {solver}, the base that it is made of.",
        _decided(n_less == len(found) and chance < LEVEL, bool(worse)) if complete else None,
        text,
        complete,
    )


def steadier(runs: Runs, solver: str, lost: Collection[Place] = ()) -> Claim:
    """Sets on which the error varies less over seeds than the base's; most is over half.

    Places in `lost`, of which every fit failed, are not waited for.
    """
    pairs, n_planned = [], 0
    for table in TABLES.values():
        for data in table.present if f"LIFE({solver})" in table.models else ():
            places = _places(data, solver, table.name)
            n_planned += not any(place in lost for place in places)
            life, base = (_figure(runs, place, "error") for place in places)
            if life.n > 1 and base.n > 1:
                pairs.append((life.sd, base.sd))
    n_less = sum(life < base for life, base in pairs)
    chance, complete = of_counts(n_less, len(pairs)), len(pairs) == n_planned
    ratio = np.median([life / base for life, base in pairs if base > 0]) if pairs else np.nan
    return Claim(
        f"e {solver}",
        f"LIFE({solver}) varies less over seeds than {solver} (on most sets).",
        _decided(
            n_less > len(pairs) / 2 and chance < LEVEL, n_less < len(pairs) / 2 and chance < LEVEL
        )
        if complete
        else None,
        f"smaller deviation of the error on {n_less} of {len(pairs)} sets (sign test's p "
        f"{chance:.2g}); median ratio of deviations {ratio:.2f}"
        if pairs
        else _NONE,
        complete,
    )


def faster(folder: Path, solver: str) -> Claim:
    """CPU seconds at equal width: almost all sets is all but one, and CASP has to be among them.

    Tuned models have very unlike widths here, of which their seconds would speak.
    """
    sets = [data.name for data in _paper_sets("real_reg")]
    rows = [row for row in _table(folder / "equal_width.csv") if row["solver"] == solver]
    seconds = {
        row["data"]: (float(row["life_seconds"]), float(row["base_seconds"])) for row in rows
    }
    n_faster = sum(life < base for life, base in seconds.values())
    text = f"faster on {n_faster} of {len(seconds)} sets"
    if "casp" in seconds:
        ours, bases = seconds["casp"]
        text += f"; CASP {seconds_text(ours)} s against {seconds_text(bases)} s"
        text += f" ({_paper_seconds('casp', solver)})"
    holds = None
    if set(sets) <= set(seconds):
        holds = n_faster >= len(sets) - 1 and seconds["casp"][0] < seconds["casp"][1]
    width = rows[0]["neurons"] if rows else ""
    return Claim(
        f"f {solver}",
        f"LIFE({solver}) trains faster than {solver} on almost all real sets, CASP above all.",
        holds,
        f"{text}; {width} neurons in all, CPU seconds" if seconds else _NONE,
        holds is not None,
    )


def bike(folder: Path) -> Claim:
    """The study of section 4: few neurons matter, and few regions hold rows.

    The same is what lies within a factor of two: the paper's is one fit with settings of its own.
    """
    rows = _table(folder / "bike_reading.csv")
    holds, text = None, _NONE
    if rows:
        neurons, above, regions = (float(rows[0][name]) for name in ("neurons", "above", "regions"))
        holds = all(
            0.5 <= found / stated <= 2
            for found, stated in ((above, BIKE["above"]), (regions, BIKE["regions"]))
        )
        text = (
            f"{neurons:.0f} neurons, {above:.0f} above 2 % of the largest importance, "
            f"{regions:.0f} regions of at least three rows"
        )
    return Claim(
        "h",
        f"On Bike rentals, of {BIKE['neurons']} neurons {BIKE['above']} are above 2 % of the "
        f"largest importance, and {BIKE['regions']} regions hold at least three rows.",
        holds,
        text,
        bool(rows),
    )


def resnet(runs: Runs) -> Claim:
    """Replications in which LIFE has the larger AUC, the smaller log-loss, and both."""
    plain, life = (
        runs.get(("MNIST_ResNet18", "MNIST", model), {}) for model in (RESNETS[0], RESNETS[1])
    )
    seeds = sorted(set(plain) & set(life))
    n_area = sum(life[seed]["second"] > plain[seed]["second"] for seed in seeds)
    n_loss = sum(life[seed]["error"] < plain[seed]["error"] for seed in seeds)
    n_planned = TABLES["MNIST_ResNet18"].n_seeds
    return Claim(
        "g",
        "ResNet18_LIFE beats ResNet18 in every replication, in AUC and in log-loss.",
        n_area == n_loss == len(seeds) if len(seeds) == n_planned else None,
        f"larger AUC in {n_area}, smaller log-loss in {n_loss} of {len(seeds)} replications"
        if seeds
        else _NONE,
    )


def _decided(holds: bool, fails: bool) -> bool | None:
    """True, false, or None for neither."""
    return True if holds else False if fails else None


def _figure(runs: Runs, place: Place, field: str) -> Figure:
    return figure(values(runs, place, field).values())


def _paper_sets(table: str) -> list[Data]:
    return [data for data in TABLES[table].present if data.in_paper]


def _places(data: Data, solver: str, table: str = "real_reg") -> tuple[Place, Place]:
    return (table, data.name, f"LIFE({solver})"), (table, data.name, solver)


def _paper_seconds(name: str, solver: str) -> str:
    data = TABLES["real_reg"].find(name)
    metric = metrics_of(data)[-1]
    texts = [printed("real_reg", data, metric, one).text for one in (f"LIFE({solver})", solver)]
    return f"the paper: {' against '.join(texts)}"


def _curves(folder: Path, files: Iterable[str], by: str) -> dict[str, list[dict[str, str]]]:
    """Rows of the files that exist, by data and one more column; those of three points and more."""
    found = defaultdict(list)
    for file in files:
        path = folder / file
        if not path.exists():
            continue
        task = "classes" if file.endswith(("_cla.csv", "_cal.csv")) else REGRESSION
        with path.open(newline="") as rows:
            for row in csv.DictReader(rows):
                found[f"{row['data']} ({task}), {row[by]}"].append(row)
    return {name: rows for name, rows in found.items() if len(rows) > 2}


def _table(path: Path) -> list[dict[str, str]]:
    """Rows of a file, none where there is no such file."""
    if not path.exists():
        return []
    with path.open(newline="") as rows:
        return list(csv.DictReader(rows))


def _column(rows: list[dict[str, str]], name: str) -> np.ndarray:
    return np.array([float(row[name]) for row in rows])


def _pairs(folder: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Stacking's and LIFE's loss of all settings, by data and part."""
    return {
        name: (_column(rows, "stacking"), _column(rows, "life"))
        for name, rows in _curves(folder, _COMPARISONS, "part").items()
    }
