"""`scripts/bench fast`: records, plans, figures and bars, from made-up measurements."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

pytest.importorskip("fcntl", reason="records are locked by it")
pytest.importorskip("optuna")

from benchmarks.fast import __main__ as command
from benchmarks.fast import curves, fit, models, records, runner, time_limit
from benchmarks.fast.figures import FastBars, exponent, listed, median_of, paired
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.records import Job, Known, repeated
from benchmarks.fast.runner import Settings, run_missing

if TYPE_CHECKING:
    from pathlib import Path

STAMP = {"commit": "abc1234", "source": "0", "date": "2026-01-02T03:04:05Z", "load": 0.5}
#: Figures that keep every limit, whatever the part.
GOOD = {
    "cpu": 2.0, "wall": 1.0, "peak_mb": 100.0, "pickle_mb": 1.0, "ratio": 1.0, "ours": 1.0,
    "theirs": 1.0, "one_row_ms": 0.1, "peer_one_row_ms": 0.1, "neurons": 64, "error": 1.0,
    "accuracy": 0.8, "waterfalls": 1.0, "contributions": 1.0, "by": "segment", "gap": 0.0,
    "prediction": "same",
}  # fmt: skip


def part_of(name: str) -> Any:
    return importlib.import_module(f"benchmarks.fast.{name}")


def good(job: Job) -> dict[str, Any]:
    """A record of a measurement with which all bars are held."""
    found = {**STAMP, "about": job.asked, **GOOD}
    if job.part == "fit":
        earlier = fit.before().get((job["model"], job["data"], job["seed"]), {})
        found |= {name: earlier.get(name, 1.0) for name in ("error", "second", "null", "split")}
    if job.part == "curves":
        level = 1.0 if job["model"] == models.LIFE else 1.2
        found |= {"error": level * job["size"] ** -0.5, "cpu": 1e-3 * job["size"]}
    if job.part == "jobs":
        found["wall"] = 4.0 / job["n_jobs"]
    if job.part == "time_limit":
        found["wall"] = 100.0 if job["limit"] is None else job["limit"]
    return found


def filled(name: str, make: Any = good, *, smoke: bool = False) -> Known:
    """Records of all that a part plans, and of what it then plans in addition."""
    known, part = Known(), part_of(name)
    while left := [job for job in part.plan(known, smoke=smoke) if not known.has(job)]:
        known.add(make(left[0]))
    return known


def bars_of(name: str, known: Known, *, smoke: bool = False) -> FastBars:
    bars = FastBars()
    part_of(name).add_bars(bars, known, smoke=smoke)
    return bars


def line_of(bars: FastBars, words: str) -> str:
    (found,) = [line for line in bars.lines if line.startswith("bar") and words in line]
    return found


class TestFigures:
    def test_the_exponent_of_a_power_is_the_power(self) -> None:
        sizes = [10, 30, 100, 300]
        assert exponent(sizes, [5 * n**1.3 for n in sizes]) == pytest.approx(1.3)
        assert np.isnan(exponent([10], [1.0]))

    def test_a_difference_counts_beyond_two_standard_errors(self) -> None:
        found = paired([3.0, 5.0, 4.0], [2.0, 2.0, 2.0])
        assert found == pytest.approx((2.0, 1 / np.sqrt(3)))
        assert found.exceeds(0.8)
        assert not found.exceeds(0.9)

    def test_a_single_pair_has_no_standard_error(self) -> None:
        assert paired([2.0], [1.0]) == (1.0, 0.0)

    def test_a_median_is_of_what_did_not_fail(self) -> None:
        jobs = [Job.of("any", seed=seed) for seed in range(4)]
        cpu = [{"cpu": 1.0}, {"cpu": 9.0}, {"failed": "no"}]
        known = Known.of({"about": j.asked, **c} for j, c in zip(jobs[:3], cpu, strict=True))
        assert median_of(known, jobs) == 5.0
        assert np.isnan(median_of(known, jobs[2:]))

    def test_the_largest_is_listed_first(self) -> None:
        assert listed({"a": 1.0, "b": 2.5}) == "b 2.5, a 1"

    def test_a_bar_that_lacks_a_measurement_is_short_and_names_it(self) -> None:
        bars = FastBars()
        bars.most("seconds", 1.0, 3.0, [])
        bars.most("seconds", 1.0, 3.0, ["one", "two"])
        bars.least("speed", np.nan, 3.0, list("abcdef"))
        assert bars.lines == [
            "bar seconds: 1 (limit <= 3) ok",
            "bar seconds: 1 so far, missing one; two (limit <= 3) short",
            "bar speed: no figure, missing a; b; c; d; and 2 more (limit >= 3) short",
        ]
        assert (bars.n_short, bars.n_lacking) == (2, 2)


class TestRecords:
    def test_the_order_of_names_does_not_matter(self) -> None:
        assert Job.of("any", a=1, b="x").key == Job.of("any", b="x", a=1).key

    def test_a_later_record_replaces_an_earlier_one(self) -> None:
        job = Job.of("any", seed=0)
        known = Known.of({"about": job.asked, "cpu": cpu} for cpu in (1.0, 2.0))
        assert known.figure(job, "cpu") == 2.0

    def test_a_failure_is_on_record_and_has_no_figure(self) -> None:
        job = Job.of("any", model="LIFE", seed=0)
        known = Known.of([{"about": job.asked, "failed": "no memory"}])
        assert known.has(job)
        assert known.get(job) is None
        assert known.missing([job]) == ["LIFE, seed 0 (failed: no memory)"]
        assert not known.without_failures().has(job)

    def test_a_half_written_line_is_left_out_and_cut_off(self, tmp_path: Path) -> None:
        path = tmp_path / "folder" / "part.jsonl"
        records.append(path, {"about": {}, "cpu": 1.0})
        path.write_bytes(path.read_bytes() + b'{"about": {}, "c')
        assert [one["cpu"] for one in records.read(path)] == [1.0]
        records.append(path, {"about": {}, "cpu": 2.0})
        assert [one["cpu"] for one in records.read(path)] == [1.0, 2.0]

    def test_only_short_fits_are_repeated_in_turn(self) -> None:
        firsts = [Job.of("any", model=model, repeat=0) for model in "abc"]
        known = Known.of(
            {"about": job.asked, "cpu": cpu} for job, cpu in zip(firsts, (1, 61, 59), strict=True)
        )
        jobs = [(job["model"], job["repeat"]) for job in repeated(known, firsts)]
        assert jobs == [
            *zip("abc", (0, 0, 0), strict=True),
            *(("a", 1), ("c", 1)),
            ("a", 2),
            ("c", 2),
        ]
        assert repeated(Known(), firsts) == firsts


class TestRunning:
    @pytest.fixture
    def made(self, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
        """Measurements in the order made, of a part that plans a second after a quick first."""
        done: list[Job] = []

        def run(job: Job) -> dict[str, Any]:
            done.append(job)
            return {"about": job.asked, **({"failed": "no"} if job["model"] == "b" else {"cpu": 1})}

        monkeypatch.setattr(runner, "run", run)
        return done

    class Twice:
        @staticmethod
        def plan(known: Known, *, smoke: bool) -> list[Job]:
            return repeated(known, [Job.of("any", model=m, repeat=0) for m in "ab"], n=2)

    def names(self, jobs: list[Job]) -> list[str]:
        return [f"{job['model']}{job['repeat']}" for job in jobs]

    def test_what_is_on_record_is_not_repeated(self, made: list[Job], tmp_path: Path) -> None:
        for _ in range(2):
            run_missing("any", self.Twice, Settings(tmp_path))
        assert self.names(made) == ["a0", "b0", "a1"]

    def test_failures_and_all_are_repeated_where_asked(
        self, made: list[Job], tmp_path: Path
    ) -> None:
        run_missing("any", self.Twice, Settings(tmp_path))
        run_missing("any", self.Twice, Settings(tmp_path, retry=True))
        assert self.names(made[3:]) == ["b0"]
        run_missing("any", self.Twice, Settings(tmp_path, again=True))
        assert self.names(made[4:]) == ["a0", "b0", "a1"]

    def test_a_choice_restricts_what_is_run(self, made: list[Job], tmp_path: Path) -> None:
        run_missing("any", self.Twice, Settings(tmp_path, only={"model": ["b"], "data": []}))
        assert self.names(made) == ["b0"]

    def test_a_process_that_takes_too_long_is_ended(self) -> None:
        found = runner.run(Job.of("fit", 0.01, model="LIFE"))
        assert found["failed"] == "no result after 0.01 s"
        assert found["about"] == {"model": "LIFE"}

    def test_a_process_that_fails_says_why(self) -> None:
        assert "no_part" in runner.run(Job.of("no_part"))["failed"]


class TestMadeUpRows:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_rows_are_nested_and_the_truth_explains_nine_tenths(self, name: str) -> None:
        few, many = (FUNCTIONS[name].rows(n, 22, 3) for n in (50, 5_000))
        np.testing.assert_array_equal(few.X, many.X[:50])
        np.testing.assert_array_equal(few.y, many.y[:50])
        assert 1 - np.var(many.y - many.truth) / np.var(many.y) == pytest.approx(0.9, abs=0.02)
        assert not np.array_equal(FUNCTIONS[name].rows(50, 22, 3, test=True).y, few.y)


class TestBars:
    @pytest.mark.parametrize("name", command.PARTS)
    def test_a_part_without_records_is_short(self, name: str) -> None:
        bars = bars_of(name, Known())
        n_bars = sum(line.startswith("bar") for line in bars.lines)
        assert n_bars == bars.n_short == bars.n_lacking > 0

    @pytest.mark.parametrize("smoke", [False, True])
    @pytest.mark.parametrize("name", command.PARTS)
    def test_a_part_with_good_records_is_held(self, name: str, smoke: bool) -> None:
        bars = bars_of(name, filled(name, smoke=smoke), smoke=smoke)
        assert (bars.n_short, bars.n_lacking) == (0, 0), bars.lines

    def test_seconds_are_medians_over_those_of_catboost(self) -> None:
        def made(job: Job) -> dict[str, Any]:
            times = (30.0, 9.0, 12.0) if job["model"] == models.LIFE else (3.0, 3.0, 3.0)
            return {**good(job), "cpu": times[job["repeat"]]}

        line = line_of(bars_of("fit", filled("fit", made)), "LIFE: CPU seconds")
        assert line.endswith("geometric mean of 20 sets (before 7.0): 4.00 (limit <= 3.00) short")

    def test_a_set_with_larger_errors_is_named(self) -> None:
        def made(job: Job) -> dict[str, Any]:
            record = good(job)
            return {**record, "error": record["error"] * (1.05 if job["data"] == "casp" else 1.0)}

        line = line_of(bars_of("fit", filled("fit", made)), "LIFE: sets worse")
        assert line.endswith("(casp): 1 (limit <= 0) short")

    def test_errors_of_another_split_are_not_compared(self) -> None:
        bars = bars_of("fit", filled("fit", lambda job: {**good(job), "split": "other"}))
        assert "no figure, missing" in line_of(bars, "LIFE: error over before")

    def test_a_small_log_loss_has_a_floor_and_mushroom_an_area(self) -> None:
        record = {"error": 1e-9, "second": 0.8, "null": 0.7}
        assert fit.loss_of("magic", record) == pytest.approx(0.007)
        assert fit.loss_of("airfoil", record) == 1e-9
        assert fit.loss_of("mushroom", record) == pytest.approx(1.25)

    def test_a_curve_that_rises_is_named_and_so_is_a_better_peer(self) -> None:
        def made(job: Job) -> dict[str, Any]:
            place = (job["model"], job["function"], job["size"])
            risen = place == (models.LIFE, "jumps", 30_000)
            return {**good(job), **({"error": 1.0 + 0.001 * job["seed"]} if risen else {})}

        bars = bars_of("curves", filled("curves", made))
        assert "(jumps 12,000 to 30,000): 1 " in line_of(bars, "of 18 at which the error rises")
        assert "(jumps 30,000): 1 " in line_of(bars, "of 21 functions and sizes")

    def test_the_better_peer_is_the_one_with_the_lower_mean(self) -> None:
        ours, peers = {0: 2.0, 1: 2.0}, [{0: 1.0, 1: 2.5}, {0: 9.0, 1: 0.1, 2: 0.0}]
        assert curves.against_better(ours, peers) == paired([2.0, 2.0], [1.0, 2.5])
        assert curves.against_better(ours, [{}, {0: 1.0}]) is None

    def test_limits_far_above_the_seconds_of_a_fit_are_not_tried(self) -> None:
        known = filled("time_limit", lambda job: {**good(job), "wall": 6.0})
        limits = {job["limit"] for job in time_limit.plan(known, smoke=False)}
        assert limits == {None, 3.0, 10.0}
        assert time_limit.excess(3.0, 6.0) == pytest.approx(1.4)
        line = line_of(bars_of("time_limit", known), "whose time_limit is not kept")
        assert line.startswith("bar fits of 48 ")
        assert line.endswith(": 24 (limit <= 0) short")


class TestCommand:
    def test_models_have_the_names_that_records_of_peers_have(self) -> None:
        from benchmarks.peers import models as peers

        assert {models.LIFE, models.BEST, models.SMALL} == set(peers.OURS)
        assert {models.CATBOOST, models.LIGHTGBM} <= set(peers.MODELS)

    def test_kept_records_give_bars_and_nothing_is_run(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(runner, "run", None)
        for record in filled("size").records.values():
            records.append(tmp_path / "size.jsonl", record)
        with pytest.raises(SystemExit) as ended:
            command.main(["--kept", "--part", "size", "--folder", str(tmp_path)])
        assert ended.value.code == 0
        assert (tmp_path / "fast-bars.txt").read_text().count("bar LIFE") == 4

    def test_an_unknown_set_is_refused(self) -> None:
        with pytest.raises(SystemExit, match="nowhere unknown; there are aquatic_toxicity"):
            command.main(["--kept", "--sets", "nowhere"])
