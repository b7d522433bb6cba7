"""Ratios, wins, goals and the page of `scripts/bench peers`, from made-up records."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("fcntl", reason="records are locked by it")

from benchmarks.bars import Bars
from benchmarks.paper import summary
from benchmarks.peers import goals, page, picture, tables
from benchmarks.peers.analysis import Column, Results, not_run
from benchmarks.peers.experiments import DATA, DEFAULT, NAMED, SPLITS, TABLES, TUNED
from benchmarks.peers.models import BEST, LIFE, SMALL
from benchmarks.peers.shared import SHARED, adopted, spared, untuned

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

OURS, RIVAL = Column(TUNED, BEST), Column(TUNED, "XGBoost")


def fits(table: str, data: str, model: str, error: float = 1.0, **more: Any) -> list[Any]:
    """All seeds of a cell, the error of each a little off so that the mean is the one given."""
    seeds = TABLES[table].seeds_of(DATA[data])
    middle = np.mean(list(seeds))
    plain = {"second": 0.5, "seconds": 9.0, "cpu": 3.0, "null": 0.7, "neurons": 50}
    return [
        {
            "kind": "fit", "table": table, "data": data, "model": model, "seed": seed,
            **plain, "error": error * (1 + 0.01 * (seed - middle)), "split": f"{data}{seed}",
            "versions": "Python 3", "date": "2026-01-02T03:04:05Z", **more,
        }
        for seed in seeds
    ]  # fmt: skip


def everything(**errors: float) -> list[Any]:
    """All cells of all tables, the errors by model, 1 where none is given."""
    return [
        record
        for table in TABLES.values()
        for data in table.present
        for model in table.models
        for record in fits(table.name, data.name, model, errors.get(model.replace(" ", "_"), 1.0))
    ]


def replaced(records: list[Any], table: str, data: str, model: str, **more: Any) -> list[Any]:
    place = (table, data, model)
    return [
        {**one, **more} if (one["table"], one["data"], one["model"]) == place else one
        for one in records
    ]


def goal(what: str) -> goals.Goal:
    (found,) = [one for one in goals.GOALS if what in one.what]
    return found


def value(what: str, records: Iterable[Any]) -> tuple[float, int]:
    one = goal(what)
    figure = one.over(Results.of(records), one.sets)
    return figure.value, figure.n_sets


class TestRatios:
    def test_errors_are_means_over_seeds(self) -> None:
        results = Results.of(
            [*fits(TUNED, "airfoil", BEST, 0.2), *fits(TUNED, "airfoil", "XGBoost", 0.25)]
        )
        assert results.ratio(OURS, RIVAL, DATA["airfoil"]) == pytest.approx(0.8)

    def test_a_small_log_loss_counts_as_a_share_of_the_null_models(self) -> None:
        records = [
            *fits(TUNED, "ringnorm", BEST, 0.014, null=0.7),
            *fits(TUNED, "ringnorm", "XGBoost", 0.0001, null=0.7),
        ]
        # The floor is 0.007: twice that, over the floor.
        assert Results.of(records).ratio(OURS, RIVAL, DATA["ringnorm"]) == pytest.approx(2)

    def test_an_rmse_has_no_floor(self) -> None:
        records = [
            *fits(TUNED, "airfoil", BEST, 0.002, null=1.0),
            *fits(TUNED, "airfoil", "XGBoost", 0.001, null=1.0),
        ]
        assert Results.of(records).ratio(OURS, RIVAL, DATA["airfoil"]) == pytest.approx(2)

    def test_mushroom_is_judged_by_its_area(self) -> None:
        records = [
            *fits(TUNED, "mushroom", BEST, 0.9, second=1.0),
            *fits(TUNED, "mushroom", "XGBoost", 0.1, second=0.9),
        ]
        assert Results.of(records).ratio(OURS, RIVAL, DATA["mushroom"]) == pytest.approx(0.9)

    def test_a_cell_with_a_seed_missing_has_no_ratio(self) -> None:
        records = [*fits(TUNED, "airfoil", BEST), *fits(TUNED, "airfoil", "XGBoost")]
        assert np.isnan(Results.of(records[:-1]).ratio(OURS, RIVAL, DATA["airfoil"]))
        failed = [*records[:-1], {**records[-1], "failed": "no"}]
        assert np.isnan(Results.of(failed).ratio(OURS, RIVAL, DATA["airfoil"]))

    def test_a_slow_model_is_compared_on_the_seeds_it_has(self) -> None:
        ours = fits(TUNED, "airfoil", BEST, 0.2)
        slow = [{**one, "error": 0.4, "cpu": 30.0} for one in fits(TUNED, "airfoil", "EBM")]
        results = Results.of([*ours, slow[1]])
        place = (OURS, Column(TUNED, "EBM"), DATA["airfoil"])
        assert results.ratio(*place) == pytest.approx(ours[1]["error"] / 0.4)
        assert results.time_ratio(*place) == pytest.approx(0.1)
        assert np.isnan(Results.of(ours).ratio(*place))
        assert np.isnan(Results.of([*ours[1:], *slow]).ratio(*place))  # a seed of ours is missing

    def test_seconds_are_those_of_computing(self) -> None:
        records = [
            *fits(TUNED, "airfoil", BEST, cpu=6.0, seconds=100.0),
            *fits(TUNED, "airfoil", "XGBoost", cpu=3.0, seconds=1.0),
        ]
        assert Results.of(records).time_ratio(OURS, RIVAL, DATA["airfoil"]) == pytest.approx(2)


class TestContests:
    def test_the_best_peer_is_named_and_a_tie_is_won(self) -> None:
        records = everything(LIFE_best=0.8, CatBoost=0.5)
        one = Results.of(records).contest(OURS, DATA["casp"])
        assert one is not None
        assert (one.best, one.won, one.ratio) == ("CatBoost", False, pytest.approx(1.6))
        tied = Results.of(everything()).contest(OURS, DATA["casp"])
        assert tied is not None
        assert tied.won

    def test_a_slow_peer_is_held_against_ours_on_its_seeds(self) -> None:
        records = [
            one for one in everything(LIFE_best=0.8) if one["model"] != "EBM" or one["seed"] == 0
        ]
        records = replaced(records, TUNED, "airfoil", "EBM", error=0.79)
        one = Results.of(records).contest(OURS, DATA["airfoil"])
        assert one is not None
        first = 0.8 * (1 - 0.01 * 2)  # ours of the first of five seeds
        assert (one.best, one.won, one.ratio) == ("EBM", True, pytest.approx(first / 0.79))

    def test_our_other_models_are_no_peers(self) -> None:
        one = Results.of(everything(LIFE=0.9, LIFE_small=0.1)).contest(
            Column(DEFAULT, LIFE), DATA["casp"]
        )
        assert one is not None
        assert one.won

    def test_a_set_without_all_models_is_none(self) -> None:
        records = [
            one for one in everything() if (one["data"], one["model"]) != ("casp", "RandomForest")
        ]
        assert Results.of(records).contest(OURS, DATA["casp"]) is None
        found = Results.of(records).contests(OURS, [DATA["casp"], DATA["airfoil"]])
        assert [one.data.name for one in found] == ["airfoil"]


class TestGoals:
    @pytest.fixture(autouse=True)
    def paper(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(
            summary, "paper_figure", lambda table, title, metric, model: "1.000 (0.100)"
        )

    def test_wins_are_of_the_named_sets_only(self) -> None:
        records = everything(LIFE_best=0.9)
        assert value("sets with the lowest error", records) == (13, 13)
        records = replaced(records, TUNED, "casp", "EBM", error=0.5)
        assert value("sets with the lowest error", records) == (12, 13)
        records = replaced(records, TUNED, "hmeq", "EBM", error=0.1)
        assert value("sets with the lowest error", records) == (12, 13)
        without = [one for one in records if one["data"] != "magic"]
        assert value("sets with the lowest error", without) == (11, 12)

    def test_means_are_geometric_and_leave_out_mushroom(self) -> None:
        records = [one for one in everything() if one["data"] in ("airfoil", "casp", "mushroom")]
        records = replaced(records, TUNED, "airfoil", BEST, error=4.0)
        records = replaced(records, TUNED, "casp", BEST, error=0.5)
        records = replaced(records, TUNED, "mushroom", BEST, second=0.01)
        mean, n_sets = value("named sets: geometric mean", records)
        assert (mean, n_sets) == (pytest.approx(2**0.5), 2)
        mean, n_sets = value("all sets: geometric mean", records)
        assert (mean, n_sets) == (pytest.approx(2**0.5), 2)

    def test_each_rival_set_has_a_goal(self) -> None:
        records = replaced(everything(LIFE_best=0.9), TUNED, "magic", BEST, error=1.1)
        ratios = {
            name: value(f"tuned XGBoost's, {name}", records)[0]
            for name in ("bike_sharing", "california_housing", "casp", "magic")
        }
        assert [*ratios.values()] == pytest.approx([0.9, 0.9, 0.9, 1.1])

    def test_the_papers_means_are_reached_on_so_many_sets(self) -> None:
        records = replaced(everything(), TUNED, "casp", BEST, error=1.001)
        assert value("the paper's mean", records) == (6, 7)
        assert goal("the paper's mean").met(6)

    def test_defaults_against_defaults(self) -> None:
        records = everything(LIFE=0.9, XGBoost=1.0, LightGBM=0.6, EBM=1.8)
        assert value("defaults: geometric mean of its error over XGBoost's", records) == (
            pytest.approx(0.9),
            19,
        )
        assert value("its error over LightGBM's", records)[0] == pytest.approx(1.5)
        assert value("its error over EBM's", records)[0] == pytest.approx(0.5)

    def test_seconds_against_those_of_ebm_and_catboost(self) -> None:
        records = [
            {**one, "cpu": {"LIFE": 2.0, "EBM": 8.0, "CatBoost": 0.25}.get(one["model"], 1.0)}
            for one in everything()
        ]
        assert value("its seconds over EBM's", records) == (pytest.approx(0.25), 20)
        assert value("its seconds over CatBoost's", records) == (pytest.approx(8), 20)

    def test_no_set_is_much_worse_than_with_a_line_or_a_plain_network(self) -> None:
        records = everything(LIFE=0.5)
        records = replaced(records, DEFAULT, "hmeq", "linear", error=0.4)
        records = replaced(records, DEFAULT, "mushroom", "MLP", second=0.55)
        assert value("error to linear's", records) == (pytest.approx(1.25), 20)
        assert value("error to MLP's", records) == (pytest.approx(1.1), 20)
        assert not goal("error to MLP's").met(1.1)
        assert goal("error to MLP's").met(1.02)

    def test_a_split_that_blows_up_is_found(self) -> None:
        records = everything()
        (last,) = [
            one for one in records
            if (one["table"], one["data"], one["seed"]) == (SPLITS, "abalone", 49)
        ]  # fmt: skip
        blown = [{**one, "error": 30.0} if one is last else one for one in records]
        assert value("50 splits of abalone", records)[0] < 2
        # The median of the others: 1 + 0.01 (seed - 24.5), seeds 24 and 25.
        assert value("50 splits of abalone", blown)[0] == pytest.approx(30)
        assert value("50 splits of aquatic_toxicity", blown)[0] < 2

    def test_small_networks_are_small_and_near_the_best(self) -> None:
        records = everything(LIFE_best=0.5, LIFE_small=0.525)
        records = replaced(records, DEFAULT, "casp", SMALL, neurons=65)
        assert value("most neurons", records) == (65, 20)
        assert value("its error over LIFE best's", records) == (pytest.approx(1.05), 19)
        none = replaced(records, DEFAULT, "casp", SMALL, neurons=None)
        assert np.isnan(value("most neurons", none)[0])

    def test_every_bar_of_nothing_is_short(self, capsys: pytest.CaptureFixture[str]) -> None:
        bars = Bars("peers")
        goals.add_bars(bars, [])
        lines = [line for line in bars.lines if line.startswith("bar LIFE")]
        assert len(lines) == len(goals.GOALS)
        assert all("nan" in line and line.endswith("short") for line in lines)
        assert any("not run: tuned, EBM: all 20 sets" in line for line in bars.lines)

    def test_bars_say_over_how_many_sets_and_what_the_halves_are(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        records = [one for one in everything(LIFE=0.9) if one["data"] in ("airfoil", "casp")]
        records = replaced(records, DEFAULT, "casp", LIFE, error=0.8)
        bars = Bars("peers")
        goals.add_bars(bars, records)
        wanted = "LIFE, defaults: geometric mean of its error over XGBoost's"
        assert f"bar {wanted}, 2 of 19 sets: 0.849 (limit <= 1.000) ok" in bars.lines
        assert (
            f"note halves, {wanted}: deciding 0.900 (1 sets); confirming 0.800 (1 sets)"
            in bars.lines
        )


class TestAnyPeer:
    def test_the_best_may_be_one_with_default_settings(self) -> None:
        records = replaced(everything(), DEFAULT, "casp", "CatBoost", error=0.5)
        sets = [DATA["casp"], DATA["magic"]]
        figure = goals.against_any_peer(Results.of(records), sets)
        assert figure.value == pytest.approx(2**0.5)
        assert figure.n_sets == 2

    def test_sets_that_lack_a_peer_do_not_count(self) -> None:
        records = [one for one in everything() if (one["data"], one["model"]) != ("casp", "linear")]
        figure = goals.against_any_peer(Results.of(records), [DATA["casp"], DATA["magic"]])
        assert (figure.value, figure.n_sets) == (pytest.approx(1.0), 1)


class TestNotRun:
    def test_cells_are_listed_with_their_seeds(self) -> None:
        records = [
            one for one in everything()
            if (one["table"], one["data"], one["model"], one["seed"])
            not in {(TUNED, "casp", "EBM", 1), (TUNED, "airfoil", "EBM", 4)}
        ]  # fmt: skip
        records.append({**fits(TUNED, "casp", "EBM")[1], "failed": "no"})
        assert not_run(Results.of(records)) == [
            "tuned, EBM: airfoil (1 of 5 seeds), casp (1 of 3 seeds, 1 failed)"
        ]
        assert not_run(Results.of(everything())) == []


class TestPage:
    def test_it_says_where_life_wins_and_loses(self, tmp_path: Path) -> None:
        records = everything(LIFE_best=0.9)
        records = replaced(records, TUNED, "casp", "EBM", error=0.5)
        records = replaced(records, TUNED, "magic", BEST, error=0.8)
        page.write(records, tmp_path, tmp_path / "docs" / "peers.md")
        text = (tmp_path / "docs" / "peers.md").read_text()
        assert (
            "**LIFE best** against tuned peers: on 19 of 20 sets none has a lower mean error"
            in text
        )
        assert "- It wins on MAGIC Gamma Telescope (0.800 of XGBoost), " in text
        assert "- It loses on CASP (1.800 of EBM)." in text
        assert "deciding half 10 of 10" in text
        assert "confirming half 9 of 10" in text
        assert "Every fit that was planned is done." in text
        assert "not run |" not in text

    def test_cells_not_run_say_so_and_the_best_is_bold(self) -> None:
        records = [*fits(TUNED, "airfoil", BEST, 0.25), *fits(TUNED, "airfoil", "EBM", 0.2)]
        text = tables.errors(TABLES[TUNED], Results.of(records))
        (line,) = [one for one in text.splitlines() if one.startswith("| Airfoil")]
        assert "0.250 (0.004)" in line
        assert "**0.200** (0.003)" in line
        assert line.count("not run") == 5
        (line,) = [
            one
            for one in tables.ratios(TABLES[TUNED], Results.of(records)).splitlines()
            if one.startswith("| Airfoil")
        ]
        assert "1.250" in line

    def test_seconds_are_those_of_computing(self) -> None:
        records = fits(TUNED, "airfoil", BEST, cpu=12.34, seconds=99.0)
        assert "**12.3**" in tables.seconds(TABLES[TUNED], Results.of(records))

    def test_the_csv_file_has_every_cell(self) -> None:
        rows = list(csv.DictReader(io.StringIO(tables.to_csv(Results.of(everything(LIFE=0.5))))))
        assert len(rows) == 20 * (8 + 7) + 2
        (one,) = [
            row for row in rows
            if (row["table"], row["data"], row["model"]) == (DEFAULT, "casp", "EBM")
        ]  # fmt: skip
        assert (one["run"], one["planned"], one["half"]) == ("3", "3", "confirming")
        assert (one["error_mean"], one["life_over_it"], one["cpu_mean"]) == ("1", "0.5", "3")

    def test_what_was_tried_is_linked(self) -> None:
        assert "[ablations.md](ablations.md)" in page.document([], Results.of([]))


class TestPicture:
    def drawn(self, records: Iterable[Any]) -> list[dict[str, dict[str, float]]]:
        """Of each panel, what stands where: ratios by marker and by the line's name."""
        panels = []
        axes = picture.draw(Results.of(records)).axes
        labels = [text.get_text() for text in axes[0].get_yticklabels()]
        names = dict(zip(axes[0].get_yticks(), labels, strict=True))
        for ax in axes:
            marks: dict[str, dict[str, float]] = {}
            for line in ax.lines:
                places = zip(line.get_ydata(), line.get_xdata(), strict=True)
                if line.get_marker() != "None":
                    marks.setdefault(line.get_marker(), {}).update({names[y]: x for y, x in places})
            panels.append(marks)
        return panels

    def test_every_ratio_is_on_its_line(self) -> None:
        records = replaced(everything(LIFE_best=0.9, LIFE=0.8), DEFAULT, "casp", "EBM", error=0.75)
        default, tuned = self.drawn(records)
        assert len(default["^"]) == 20  # 19 sets and the mean; mushroom has no error to speak of
        assert default["^"]["CASP"] == pytest.approx(0.8 / 0.75)
        assert default["o"]["CASP"] == pytest.approx(0.8)
        assert default["^"]["geometric mean"] == pytest.approx(0.8 * 0.75 ** (-1 / 19))
        assert tuned["D"]["CASP"] == pytest.approx(0.9)

    def test_what_is_far_off_is_an_arrow_at_the_edge(self) -> None:
        records = replaced(everything(), TUNED, "casp", "XGBoost", error=0.5)
        records = replaced(records, TUNED, "magic", "XGBoost", error=2.0)
        _, tuned = self.drawn(records)
        assert tuned["$\u2192$"] == {"CASP": 1.1}
        assert tuned["$\u2190$"] == {"MAGIC Gamma Telescope": 0.6}
        assert "CASP" not in tuned["o"]

    def test_marks_are_hollow_where_seeds_are_missing(self) -> None:
        missing = {(TUNED, "casp", "EBM", 1), (TUNED, "casp", "EBM", 2)}
        names = ("table", "data", "model", "seed")
        records = [one for one in everything() if tuple(map(one.get, names)) not in missing]
        _, ax = picture.draw(Results.of(records)).axes
        hollow = [line for line in ax.lines if line.get_markerfacecolor() == "white"]
        (one,) = [line for line in hollow if len(line.get_xdata())]
        assert one.get_marker() == "^"
        np.testing.assert_allclose(one.get_xdata(), 1.0)

    def test_sets_with_the_largest_lead_come_first(self) -> None:
        records = replaced(everything(), TUNED, "casp", BEST, error=0.7)
        ax, _ = picture.draw(Results.of(records)).axes
        assert ax.get_yticklabels()[0].get_text() == "CASP"
        assert ax.yaxis_inverted()

    def test_nothing_run_is_no_error(self, tmp_path: Path) -> None:
        picture.write(Results.of([]), tmp_path / "images" / "peers.png")
        assert (tmp_path / "images" / "peers.png").stat().st_size


def test_the_named_sets_have_the_papers_names() -> None:
    assert {DATA[name].title for name in NAMED} >= {"CASP", "Bike Sharing", "Ringnorm"}


class TestRunsOfThePapersBenchmark:
    """They are taken over where model, set and seed are the same and the tuning is there."""

    @staticmethod
    def record(kind="fit", table="real_reg", data="airfoil", model="XGBoost", seed=0, **more):
        return {"kind": kind, "table": table, "data": data, "model": model, "seed": seed, **more}

    def test_fits_and_their_tuning_are_taken_over(self):
        tuning = self.record("tuning", seed=None)
        known = [tuning, self.record(error=0.2), self.record(seed=4), self.record(seed=5)]
        found = adopted(known)
        assert [(one["kind"], one["seed"]) for one in found] == [
            ("tuning", None),
            ("fit", 0),
            ("fit", 4),  # five seeds are asked for
        ]
        assert {one["table"] for one in found} == {TUNED}
        assert found[1]["error"] == 0.2
        assert known[1]["table"] == "real_reg"

    @pytest.mark.parametrize(
        "other",
        [
            {"table": "sim_reg1"},
            {"model": "FFNN"},
            {"data": "mnist"},
            {"data": "abalone"},  # which has no tuning
            {"failed": "why"},
        ],
    )
    def test_others_are_not(self, other):
        known = [self.record("tuning", seed=None), self.record(**other)]
        assert [one["kind"] for one in adopted(known)] == ["tuning"]

    def test_only_models_that_are_the_same_are_shared(self):
        assert SHARED == ("XGBoost", "RandomForest")


class TestTuningsThatFindNothingBetter:
    """Their fits are those with default settings, and are not made twice."""

    @staticmethod
    def record(kind="fit", table=DEFAULT, model="EBM", **more):
        about = {"kind": kind, "table": table, "data": "airfoil", "model": model}
        return {**about, **({"seed": 0} if kind == "fit" else {"trial": None}), **more}

    def test_fits_with_default_settings_serve(self):
        known = [self.record("tuning", TUNED), self.record(error=0.2), self.record(seed=4)]
        found = untuned(known)
        assert [(one["table"], one["model"], one["seed"]) for one in found] == [
            (TUNED, "EBM", 0),
            (TUNED, "EBM", 4),
        ]
        assert found[0]["error"] == 0.2
        assert known[1]["table"] == DEFAULT

    @pytest.mark.parametrize(
        "tuning", [{"trial": {"max_bins": 64}}, {"failed": "why"}, {"model": "LightGBM"}]
    )
    def test_not_after_other_tunings(self, tuning):
        assert untuned([self.record("tuning", TUNED, **tuning), self.record()]) == []

    def test_fits_that_failed_do_not(self):
        assert untuned([self.record("tuning", TUNED), self.record(failed="why")]) == []


class TestTuningsThatWouldEndWithTheirFirstTrial:
    def test_slow_models_are_as_given(self):
        slow = fits(DEFAULT, "airfoil", "EBM", cpu=40.0)
        (one,) = spared([*slow, *fits(DEFAULT, "airfoil", "LightGBM", cpu=30.0)], 30.0)
        assert (one["kind"], one["table"], one["data"], one["model"]) == (
            "tuning", TUNED, "airfoil", "EBM",
        )  # fmt: skip
        assert (one["trials"], one["budget"]) == (0, 30.0)
        assert "longer than the budget" in one["spared"]
        served = untuned([one, *slow])
        assert [row["seed"] for row in served] == [row["seed"] for row in slow]

    def test_not_where_a_seed_is_quick_or_the_inner_rows_may_be(self):
        one, *rest = fits(DEFAULT, "airfoil", "EBM", cpu=40.0)
        assert spared([{**one, "cpu": 31.0}, *rest], 30.0) == []
        assert spared([one, *rest], None) == []

    def test_nor_for_what_is_never_tuned(self):
        never = [
            *fits(DEFAULT, "airfoil", LIFE, cpu=99.0),
            *fits(DEFAULT, "casp", "linear", cpu=99),
        ]
        assert spared(never, 30.0) == []
