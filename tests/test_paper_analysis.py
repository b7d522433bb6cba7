"""Figures, tables, claims and bars of `scripts/bench paper`, from made-up records."""

from __future__ import annotations

import csv
import io
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("fcntl", reason="records are locked by it")

from benchmarks.bars import Bars
from benchmarks.paper import analysis, claims, render, summary, tables
from benchmarks.paper.experiments import (
    ATTAINABLE,
    RESNETS,
    SCHEMES,
    TABLES,
    TUNED,
    UNTUNED,
    cells,
)
from benchmarks.paper.summary import Figure, Metric, Printed, runs_of, summarise

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

RMSE, AREA = Metric("error", "RMSE", "RMSE"), Metric("second", "AUC", "AUC", larger=True)
REAL = [data.name for data in TABLES["real_reg"].present if data.in_paper]


def fit(table: str, data: str, model: str, seed: int = 0, **figures: Any) -> dict[str, Any]:
    plain = {"error": 1.0, "second": 0.5, "seconds": 1.0, "neurons": None, "split": f"{data}{seed}"}
    about = {"kind": "fit", "table": table, "data": data, "model": model, "seed": seed}
    return {**about, **plain, "versions": "Python 3", "date": "2026-01-02T03:04:05Z", **figures}


def tuning(table: str, data: str, model: str, **figures: Any) -> dict[str, Any]:
    about = {"kind": "tuning", "table": table, "data": data, "model": model}
    return {
        **about,
        "seconds": 31.0,
        "trials": 9,
        "budget": 30.0,
        "versions": "Python 3",
        **figures,
    }


@pytest.fixture
def paper(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, ...], str]:
    """The paper's cells, empty until a test fills them."""
    cells: dict[tuple[str, ...], str] = {}
    monkeypatch.setattr(summary, "paper_figure", lambda *place: cells.get(place, "-"))
    return cells


class TestSummaries:
    def test_mean_and_deviation_over_seeds(self) -> None:
        records = [
            fit("real_reg", "airfoil", "LLA", 0, error=1.0, second=0.5, seconds=3.0, neurons=10),
            fit("real_reg", "airfoil", "LLA", 1, error=2.0, second=0.7, seconds=4.0, neurons=20),
            fit("real_reg", "airfoil", "LLA", 2, error=6.0, second=0.9, seconds=8.0, neurons=90),
            {**fit("real_reg", "airfoil", "LLA", 3), "failed": "no"},
        ]
        one = summarise(records)["real_reg", "airfoil", "LLA"]
        assert (one.n, one.n_failed, one.neurons) == (3, 1, 20)
        # Mean 3; squares of the differences 4 + 1 + 9 = 14, over 2.
        assert (one.error.mean, one.error.sd) == pytest.approx((3.0, 7**0.5))
        assert (one.second.mean, one.second.sd) == pytest.approx((0.7, 0.2))
        assert one.seconds.mean == pytest.approx(5.0)

    def test_one_seed_has_no_deviation_and_trees_no_neurons(self) -> None:
        one = summarise([fit("real_reg", "airfoil", "XGBoost")])["real_reg", "airfoil", "XGBoost"]
        assert np.isnan(one.error.sd)
        assert np.isnan(one.neurons)

    def test_what_failed_and_was_run_again_counts_once(self) -> None:
        records = [
            {**fit("real_reg", "airfoil", "LLA"), "failed": "no"},
            fit("real_reg", "airfoil", "LLA"),
        ]
        one = summarise(records)["real_reg", "airfoil", "LLA"]
        assert (one.n, one.n_failed) == (1, 0)

    @pytest.mark.parametrize(
        ("value", "text"),
        [(1.0464, "1.046"), (41.983, "41.98"), (0.96249, "0.962"), (0.0493, "0.0493"),
         (0.0071, "0.00710"), (0.0, "0.000"), (1234.5, "1234"), (float("nan"), "-")],
    )  # fmt: skip
    def test_numbers(self, value: float, text: str) -> None:
        assert summary.number(value) == text

    def test_seconds(self) -> None:
        assert [summary.seconds_text(x) for x in (2881.2, 54.04, 0.123)] == ["2881", "54.0", "0.12"]


class TestPaper:
    def test_a_cell_is_read_with_its_deviation(self, paper: dict[Any, str]) -> None:
        paper["real_reg", "Bike Sharing", "RMSE", "RF"] = "66.38 (1.257)"
        paper["real_reg", "Bike Sharing", "T", "RF"] = "12"
        data = TABLES["real_reg"].find("bike_sharing")
        error, _, seconds = summary.metrics_of(data)
        found = summary.printed("real_reg", data, error, "RandomForest")
        assert (found.mean, found.sd, found.unit) == (66.38, 1.257, 1.257)
        found = summary.printed("real_reg", data, seconds, "RandomForest")
        assert found.mean == 12
        assert np.isnan(found.sd)

    def test_a_stand_in_has_no_number_of_the_paper(self, paper: dict[Any, str]) -> None:
        data = TABLES["real_cla"].find("heloc")
        paper["real_cla", data.title, "AUC", "LLA"] = "0.9 (0.1)"
        assert summary.printed("real_cla", data, AREA, "LLA").text == "-"

    @pytest.mark.parametrize(
        ("table", "data", "model", "text"),
        [
            ("sim_reg1", "GAM", "LIFE(LLA)", "1.046 (0.012)"),
            ("real_reg", "bike_sharing", "LLA", "47.66 (0.946)"),
            ("real_cla", "magic", "LIFE(Adam)", "0.288 (0.007)"),
        ],
    )
    def test_the_figures_are_in_the_repository(
        self, table: str, data: str, model: str, text: str
    ) -> None:
        found = TABLES[table].find(data)
        error = summary.metrics_of(found)[0]
        assert summary.printed(table, found, error, model).text == text

    def test_the_paper_prints_both_figures_of_every_cell(self) -> None:
        missing = {
            (table.name, model)
            for table in TABLES.values()
            for data in table.present
            if data.in_paper
            for model in table.models_of(data)
            if model not in UNTUNED  # not among the paper's
            for metric in summary.metrics_of(data)[:2]
            if np.isnan(summary.printed(table.name, data, metric, model).mean)
        }
        assert missing == {("sim_cal1", ATTAINABLE), ("sim_cal2", ATTAINABLE)}  # a bound of ours

    def test_a_deviation_printed_as_zero_is_half_a_digit(self) -> None:
        assert Printed("0.007 (0.000)", 0.007, 0.0).unit == 0.0005

    def test_worse_is_larger_error_and_smaller_area(self) -> None:
        ours, theirs = Figure(0.90, 0.1, 5), Printed("0.800 (0.050)", 0.8, 0.05)
        assert analysis.worse_by(ours, theirs, RMSE) == pytest.approx(2)
        assert analysis.worse_by(ours, theirs, AREA) == pytest.approx(-2)
        assert np.isnan(analysis.worse_by(ours, Printed("0.8", 0.8), RMSE))

    def test_shortfalls_have_the_closest_reason(
        self, paper: dict[Any, str], tmp_path: Path
    ) -> None:
        for model in ("LLA", "Adam", "FFNN"):
            paper["real_reg", "Airfoil", "RMSE", model] = "0.500 (0.100)"
        paper["real_reg", "Abalone", "RMSE", "LLA"] = "0.500 (0.100)"
        records = [
            fit("real_reg", "airfoil", "LLA", error=0.71),
            fit("real_reg", "airfoil", "Adam", error=0.75),
            fit("real_reg", "airfoil", "FFNN", error=0.69),
            fit("real_reg", "abalone", "LLA", error=0.80),
        ]
        path = tmp_path / "reasons.csv"
        path.write_text(
            "table,data,model,metric,reason\n"
            "real_reg,airfoil,*,*,for all\nreal_reg,airfoil,LLA,RMSE,for one\n"
        )
        found = analysis.shortfalls(summarise(records), path)
        assert [(one.data.name, one.model, one.reason) for one in found] == [
            ("airfoil", "LLA", "for one"),
            ("airfoil", "Adam", "for all"),
            ("abalone", "LLA", ""),
        ]
        assert found[0].by == pytest.approx(2.1)

    def test_the_file_of_reasons_has_its_columns(self) -> None:
        header = analysis.REASONS.read_text().splitlines()[0]
        assert header == "table,data,model,metric,reason"
        known = {"*", *(model for table in TABLES.values() for model in table.models)}
        assert {line["model"] for line in analysis.read_reasons()} <= known


class TestTables:
    def test_cells(self, paper: dict[Any, str]) -> None:
        paper["sim_reg1", "GAM", "RMSE", "LLA"] = "1.062 (0.040)"
        paper["sim_reg1", "GAM", "RMSE", "Adam"] = "1.149 (0.023)"
        records = [
            *(fit("sim_reg1", "GAM", "Oracle", seed, error=1.0) for seed in range(5)),
            *(fit("sim_reg1", "GAM", "LLA", seed, error=1.1 + 0.1 * seed) for seed in range(5)),
            *(fit("sim_reg1", "GAM", "Adam", seed, error=1.19) for seed in range(3)),
            {**fit("sim_reg1", "GAM", "FFNN"), "failed": "no"},
            fit("sim_reg1", "GAM", "XGBoost", 0, error=1.5),
            {**fit("sim_reg1", "GAM", "XGBoost", 1), "failed": "no"},
        ]
        text = tables.markdown(TABLES["sim_reg1"], summarise(records))
        header, _, row, *_ = text.splitlines()
        assert header == (
            "| data | | Oracle | LIFE(LLA) | LLA | LIFE(Adam) | Adam | FFNN | XGBoost | RF |"
        )
        title, label, oracle, life, lla, _, adam, ffnn, boost, _ = row.strip("| ").split(" | ")
        assert title == "GAM<br><sub>20,000 rows, 5 seeds</sub>"
        assert label == "RMSE"
        assert oracle == "1.000 (0.000)<br><sub>-</sub>"  # knows the truth: never the best
        assert life == "not run<br><sub>-</sub>"
        assert lla == "1.300 (0.158)<br><sub>1.062 (0.040) ▼</sub>"
        assert adam == "**1.190** (0.000)<br><sub>3 of 5 seeds</sub><br><sub>1.149 (0.023)</sub>"
        assert ffnn == "failed (1)<br><sub>-</sub>"
        assert boost == "1.500<br>failed (1)<br><sub>-</sub>"

    def test_seconds_of_a_bound_are_left_out(self, paper: dict[Any, str]) -> None:
        data = TABLES["sim_reg1"].find("GAM")
        records = [fit("sim_reg1", "GAM", "Oracle", seconds=0.0)]
        row = tables.Row(TABLES["sim_reg1"], data, summary.metrics_of(data)[2], summarise(records))
        assert row.cell("Oracle") == ""

    def test_rows_that_can_not_be_run_and_stand_ins(self, paper: dict[Any, str]) -> None:
        paper["real_cla", "Home Lending", "AUC", "LLA"] = "0.841 (0.003)"
        text = tables.markdown(TABLES["real_cla"], {})
        assert "| Home Lending<br><sub>private</sub> | log-loss | not available<br>" in text
        assert "not available<br><sub>0.841 (0.003)</sub>" in text
        assert "*HELOC*<br><sub>9,871 rows, 5 seeds; stands in for Home Lending</sub>" in text

    def test_ties_are_all_bold_and_more_area_is_better(self, paper: dict[Any, str]) -> None:
        records = [
            fit("real_cla", "mushroom", "LLA", error=2, second=0.99991),
            fit("real_cla", "mushroom", "Adam", error=3, second=0.99999),
            fit("real_cla", "mushroom", "FFNN", error=4, second=0.9),
        ]
        text = tables.markdown(TABLES["real_cla"], summarise(records))
        assert text.count("**1.000**") == 2
        assert "**0.900**" not in text

    def test_classification_shows_both_bounds(self, paper: dict[Any, str]) -> None:
        assert "| Oracle | Attainable |" in tables.markdown(TABLES["sim_cal1"], {})
        assert "P(y = 1 | x)" in tables.caption(TABLES["sim_cal1"], [])

    def test_csv(self, paper: dict[Any, str]) -> None:
        paper["real_reg", "Airfoil", "R2", "LLA"] = "0.900 (0.010)"
        records = [
            fit("real_reg", "airfoil", "LLA", 0, second=0.85, neurons=30),
            fit("real_reg", "airfoil", "LLA", 1, second=0.87, neurons=40),
        ]
        text = tables.to_csv(TABLES["real_reg"], summarise(records))
        rows = list(csv.DictReader(io.StringIO(text)))
        assert len(rows) == len(TABLES["real_reg"].data) * 3 * len((*UNTUNED, *TUNED))
        (row,) = (
            one
            for one in rows
            if (one["data"], one["metric"], one["model"]) == ("airfoil", "R2", "LLA")
        )
        assert (row["mean"], row["sd"], row["n"], row["planned"]) == (
            "0.86",
            "0.0141421",
            "2",
            "10",
        )
        assert (row["worse_by_sd"], row["neurons"], row["status"]) == ("4", "35", "run")

    def test_caption_names_budget_and_command(self, paper: dict[Any, str]) -> None:
        records = [tuning("real_reg", "airfoil", "LLA"), tuning("real_reg", "airfoil", "Adam")]
        text = tables.caption(TABLES["real_reg"], records)
        assert "30 s of tuning for each model and set (median 9 trials)." in text
        assert "Airfoil's RMSE is on a standardised response" in text
        assert "`scripts/bench paper --table real_reg`" in text
        assert "Nothing is tuned" in tables.caption(TABLES["data_sample"], [])


def all_models(table: str, data: str, errors: list[float], **figures: Any) -> list[dict[str, Any]]:
    return [
        fit(table, data, model, error=error, **figures)
        for model, error in zip(TUNED, errors, strict=True)
    ]


class TestStandings:
    def test_ranks_and_ratios(self, paper: dict[Any, str]) -> None:
        # XGBoost is the sixth: its error is 2 on the first set and 1 on the second.
        records = [
            *all_models("real_reg", "airfoil", [1, 3, 4, 5, 6, 2, 7]),
            *all_models("real_reg", "abalone", [4, 3, 2, 5, 6, 1, 7]),
            *all_models("real_cla", "mushroom", [1e-5, 2, 3, 4, 5, 6, 7], second=1.0),
            *all_models("real_reg", "casp", [1, 3, 4, 5, 6, 2, 7])[:-1],  # one is missing
        ]
        paper["real_reg", "Airfoil", "RMSE", "LIFE(LLA)"] = "0.200 (0.1)"
        paper["real_reg", "Airfoil", "RMSE", "XGBoost"] = "0.250 (0.1)"
        found = {one.model: one for one in analysis.standings(summarise(records))}
        life = found["LIFE(LLA)"]
        assert life.places == (2, 0, 0, 1, 0, 0, 0)
        assert life.ratios["real regression"] == pytest.approx((0.5 * 4) ** 0.5)
        assert life.paper_ratios["real regression"] == pytest.approx(0.8)
        assert np.isnan(life.ratios["real classes"])  # solved by all
        assert found["XGBoost"].ratios["real regression"] == 1


def write_csv(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_decompositions(folder: Path, diversity: tuple[float, ...]) -> None:
    for file, sets, spaces in (
        ("loss_dec.csv", ("MIM", "california_housing"), ("squared",)),
        ("loss_dec_cla.csv", ("MIM", "magic"), ("probability", "log-odds")),
    ):
        rows = [
            {"data": data, "space": space, "subset_share": share, "accuracy": 2 - share,
             "diversity": diversity[at], "loss": 1.0}
            for data, space in product(sets, spaces)
            for at, share in enumerate((0.1, 0.3, 0.5, 0.9))
        ]  # fmt: skip
        write_csv(folder / file, rows)


def write_comparisons(folder: Path, life: tuple[float, ...]) -> None:
    for file, sets in (
        ("stack_life_reg.csv", ("MIM", "california_housing")),
        ("stack_life_cal.csv", ("MIM", "magic")),
    ):
        rows = [
            {"data": data, "setting": at, "part": part, "stacking": 1.0 + at, "life": life[at]}
            for data, part in product(sets, ("train", "test"))
            for at in range(4)
        ]
        write_csv(folder / file, rows)


class TestClaims:
    def test_nothing_is_tested_without_data(self, tmp_path: Path) -> None:
        found = claims.examine([], tmp_path)
        assert {one.verdict for one in found} == {"not tested"}
        assert {one.key[0] for one in found} == set("abcdefgh")

    @pytest.mark.parametrize(
        ("diversity", "holds"), [((4, 3, 2, 1), True), ((1, 2, 3, 4), False), ((2, 1, 2, 1), False)]
    )
    def test_falling(self, tmp_path: Path, diversity: tuple[float, ...], holds: bool) -> None:
        write_decompositions(tmp_path, diversity)
        assert claims.falling(tmp_path, "diversity", "a1", "").holds is holds
        accuracy = claims.falling(tmp_path, "accuracy", "a2", "")
        assert accuracy.holds is True
        assert "magic (classes), log-odds -1.00" in accuracy.figures

    def test_half_of_the_curves_is_no_test(self, tmp_path: Path) -> None:
        write_decompositions(tmp_path, (4, 3, 2, 1))
        (tmp_path / "loss_dec_cla.csv").unlink()
        assert claims.falling(tmp_path, "diversity", "a1", "").holds is None

    def test_line_and_below(self, tmp_path: Path) -> None:
        write_comparisons(tmp_path, (0.5, 1.5, 2.5, 3.5))
        assert claims.linear(tmp_path).holds is True
        assert claims.below(tmp_path).holds is True
        assert claims.smallest(tmp_path).holds is True
        assert "MIM (regression), train 4 of 4" in claims.below(tmp_path).figures
        assert "magic (classes), test 0.5000 against 1.0000" in claims.smallest(tmp_path).figures

    def test_neither_line_nor_below(self, tmp_path: Path) -> None:
        write_comparisons(tmp_path, (1.5, 1.0, 4.5, 1.0))
        assert claims.linear(tmp_path).holds is False
        assert claims.below(tmp_path).holds is False
        assert claims.smallest(tmp_path).holds is False  # 1 is not below 1

    def test_schemes(self) -> None:
        sets = [data.name for data in TABLES["data_sample"].data]
        errors = dict(zip(SCHEMES, (0.9, 1.0, 1.2), strict=True))

        def claim(noise: float, n_sets: int = len(sets), first: float = 0.9) -> claims.Claim:
            records = [
                fit(
                    "data_sample",
                    data,
                    scheme,
                    seed,
                    error=(first if (data, scheme) == (sets[0], SCHEMES[0]) else error)
                    * (1 + noise * ((3 * seed + number) % 4 - 1.5)),
                    n_train=80,
                    n_test=20,
                )
                for data in sets[:n_sets]
                for number, (scheme, error) in enumerate(errors.items())
                for seed in range(5)
            ]
            return claims.schemes(runs_of(records))

        sure = claim(1e-3)
        assert sure.verdict == "true"
        assert "smaller error in 8 of 8 comparisons, beyond chance in 8" in sure.figures
        assert claim(0.2).verdict == "undecided"
        assert claim(1e-3, n_sets=3).verdict == "not tested"
        lost = claim(1e-3, first=1.1)  # once worse than random projection
        assert lost.verdict == "false"
        assert "smaller error in 7 of 8" in lost.figures

    def test_life_outperforms_its_base_on_every_set_or_does_not(self) -> None:
        places = [
            (table.name, data.name)
            for table in TABLES.values()
            if "LLA" in table.models
            for data in table.present
        ]

        def claim(ratios: dict[int, float], noise: float = 1e-3) -> claims.Claim:
            records = []
            for number, place in enumerate(places):
                ratio = ratios.get(number, 0.9)
                for seed in range(5):
                    own = ratio * (1 + noise * (seed % 3 - 1))
                    size = {"n_train": 80, "n_test": 20}
                    records += [
                        fit(*place, "LIFE(LLA)", seed, error=own, **size),
                        fit(*place, "LLA", seed, error=1.0, **size),
                    ]
            return claims.outperforms(runs_of(records), "LLA")

        assert claim({}).verdict == "true"
        assert claim({3: 1.2}).verdict == "false"
        unsure = claim({3: 1.02}, noise=0.05)  # larger on one set, by no more than chance
        assert unsure.verdict == "undecided"
        assert f"smaller error on {len(places) - 1} of {len(places)} sets" in unsure.figures

    @pytest.mark.parametrize(("gain", "holds"), [(0.05, True), (0.03, False)])
    def test_improvement(self, gain: float, holds: bool) -> None:
        records = [
            fit("real_reg", data, model, second=0.5 * factor)
            for data, (model, factor) in product(REAL, (("LIFE(LLA)", 1 + gain), ("LLA", 1)))
        ]
        found = claims.improvement(runs_of(records), "LLA")
        assert found.holds is holds
        assert (
            f"{gain:+.1%} on average (standard error over sets 0.0%), up on 7 of 7" in found.figures
        )
        assert claims.improvement(runs_of(records[2:]), "LLA").holds is None

    def test_steadier_does_not_wait_for_what_failed(self) -> None:
        places = [
            (table.name, data.name)
            for table in TABLES.values()
            if "LLA" in table.models
            for data in table.present
        ]
        records = [
            fit(*place, model, seed, error=1 + spread * seed)
            for place, (model, spread), seed in product(
                places, (("LIFE(LLA)", 0.1), ("LLA", 0.2)), range(2)
            )
        ]
        found = claims.steadier(runs_of(records), "LLA")
        assert found.holds is True
        assert f"on {len(places)} of {len(places)} sets" in found.figures
        half = [
            {**one, "error": 1.0} if n < len(records) / 2 else one for n, one in enumerate(records)
        ]
        assert claims.steadier(runs_of(half), "LLA").verdict == "undecided"  # a coin would do it
        assert "median ratio of deviations 0.50" in found.figures
        runs = runs_of(records[4:])
        assert claims.steadier(runs, "LLA").holds is None
        lost = {(*places[0], "LLA")}
        assert claims.steadier(runs, "LLA", lost).holds is True

    def test_faster(self, tmp_path: Path) -> None:
        """At equal width; tuned models had widths as unlike as 11 and 1,500."""

        def judge(slow: str = "", sets: Sequence[str] = REAL) -> claims.Claim:
            rows = [
                {
                    "data": data,
                    "solver": "Adam",
                    "neurons": 300,
                    "life_seconds": 10.0 if data == slow else 2.0,
                    "base_seconds": 9.0,
                }
                for data in sets
            ]
            pd.DataFrame(rows).to_csv(tmp_path / "equal_width.csv", index=False)
            return claims.faster(tmp_path, "Adam")

        assert claims.faster(tmp_path, "Adam").verdict == "not tested"
        assert judge().holds is True
        found = judge("abalone")
        assert found.holds is True  # almost all
        assert "faster on 6 of 7 sets; CASP 2.00 s against 9.00 s" in found.figures
        assert "300 neurons in all" in found.figures
        assert judge("casp").holds is False
        assert judge(sets=REAL[:3]).verdict == "not tested"
        assert claims.faster(tmp_path, "LLA").verdict == "not tested"

    @pytest.mark.parametrize(
        ("above", "regions", "verdict"), [(12, 60, "true"), (66, 47, "false"), (13, 330, "false")]
    )
    def test_the_reading_of_bike_rentals(
        self, above: int, regions: int, verdict: str, tmp_path: Path
    ) -> None:
        assert claims.bike(tmp_path).verdict == "not tested"
        row = {"neurons": 118, "above": above, "regions": regions, "coverage": 0.9}
        pd.DataFrame([row]).to_csv(tmp_path / "bike_reading.csv", index=False)
        found = claims.bike(tmp_path)
        assert found.verdict == verdict
        assert f"118 neurons, {above} above" in found.figures

    def test_resnet(self) -> None:
        table = TABLES["MNIST_ResNet18"]
        seeds = range(table.n_seeds or 0)
        errors = dict(zip(RESNETS, (0.3, 0.2, 0.2, 0.4), strict=True))
        records = [
            fit(table.name, "MNIST", model, seed, error=error, second=1 - error)
            for seed, (model, error) in product(seeds, errors.items())
        ]
        assert claims.resnet(runs_of(records)).holds is True
        records[1]["error"] = 0.5
        found = claims.resnet(runs_of(records))
        assert found.holds is False
        assert f"larger AUC in {len(seeds)}, smaller log-loss in {len(seeds) - 1}" in found.figures
        assert claims.resnet(runs_of(records[4:])).holds is None


def bar(bars: Bars, what: str) -> str:
    (line,) = (line for line in bars.lines if what in line)
    return line


class TestBars:
    def test_bars_of_a_few_records(
        self, paper: dict[Any, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        paper["real_reg", "Airfoil", "RMSE", "LLA"] = "0.500 (0.100)"
        records = [
            tuning("real_reg", "airfoil", "LLA"),
            tuning("real_reg", "airfoil", "Adam", budget=20.0),
            fit("real_reg", "airfoil", "LLA", 0),
            fit("real_reg", "airfoil", "LLA", 1),
            fit("real_reg", "airfoil", "Adam", 1, split="another"),
            {**fit("real_reg", "airfoil", "Adam", 0), "failed": "no"},
        ]
        bars = Bars("paper")
        analysis.add_bars(bars, records, tmp_path)
        planned = sum(
            len(TABLES["real_reg"].seeds_of(data)) * len((*UNTUNED, *TUNED))
            for data in TABLES["real_reg"].present
        )
        line = bar(bars, "real_reg: cells run of those planned")
        assert line.endswith(f"(1 failed): 3 (limit >= {planned}) short")
        assert "20 (limit >= 60) short" in bar(bars, "smallest budget")
        assert "30 (limit <= 60) ok" in bar(bars, "largest budget")
        assert bar(bars, "fewest trials").endswith("(limit >= 20) short")
        assert "1 (limit <= 0) short" in bar(bars, "different splits")
        assert "1 (limit >= 1) ok" in bar(bars, "compared")
        assert ": 1 (limit <= 0) short" in bar(bars, "2 sd without a reason")
        assert "0 (limit >= 16) short" in bar(bars, "claims of the paper tested")
        assert sum(line.startswith("note claim") for line in bars.lines) == 16
        assert sum("cells run" in line for line in bars.lines) == len(TABLES) == 8

    def test_no_comparison_is_short(self, paper: dict[Any, str], tmp_path: Path) -> None:
        bars = Bars("paper")
        analysis.add_bars(bars, [], tmp_path)
        assert bar(bars, "compared").endswith("0 (limit >= 1) short")
        assert bar(bars, "smallest budget").endswith("short")


class TestDocument:
    def test_all_files_are_written(self, paper: dict[Any, str], tmp_path: Path) -> None:
        paper["real_reg", "Airfoil", "RMSE", "LLA"] = "0.500 (0.100)"
        docs = tmp_path / "docs"
        (docs / "images" / "paper").mkdir(parents=True)
        (docs / "images" / "paper" / "base.png").write_bytes(b"")
        records = all_models("real_reg", "airfoil", [1, 3, 4, 5, 6, 2, 7], neurons=12)
        render.write(records, tmp_path / "results", docs / "results.md")
        names = {path.name for path in (tmp_path / "results").iterdir()}
        assert names == {f"paper-{name}.{kind}" for name in TABLES for kind in ("md", "csv")}
        text = (docs / "results.md").read_text()
        n_planned = sum(len(cells(table)) for table in TABLES.values())
        assert f"7 of {n_planned:,} fits done, 0 failed, 2026-01-02." in text
        assert "| LIFE(LLA) | 1 | 0 | 0 | 0 |" in text
        assert "(images/paper/base.png)" in text
        assert "Not drawn yet: stack_life_reg," in text
        assert "| real_reg | Airfoil | LLA | RMSE | 3.000 | 0.500 (0.100) | 25.0 |" in text
        assert analysis.NO_REASON in text
        for name in TABLES:
            assert f"### {name}: " in text

    def test_without_records(self, paper: dict[Any, str], tmp_path: Path) -> None:
        render.write([], tmp_path, tmp_path / "results.md")
        assert "No set has been run" in (tmp_path / "results.md").read_text()
