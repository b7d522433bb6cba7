"""`lifenet fit`: which task, which columns, which rows are held out, and what is written."""

import json

import numpy as np
import pyarrow as pa
import pytest

import lifenet
from cli_cases import FAST, changed, done, loans, run, write
from lifenet.cli.csv_text import CsvFormat
from lifenet.cli.errors import CommandError
from lifenet.cli.files import Source, read_source, table_bytes
from lifenet.cli.problem import read_problem, split_rows


def source_of(**columns):
    table = pa.table(columns)
    return Source("t.parquet", table, np.arange(table.num_rows))


def problem_of(target="y", **columns):
    options = {key: columns.pop(key) for key in ("group", "time", "task") if key in columns}
    return read_problem(source_of(**columns), target, **options)


class TestTask:
    @pytest.mark.parametrize(
        ("y", "kind", "why"),
        [
            (["a", "b"] * 4, "classification", "'y' holds text"),
            ([True, False] * 4, "classification", "'y' holds truth values"),
            ([0, 1] * 4, "classification", "'y' holds 2 different whole numbers"),
            ([1.0, 2.0, 3.0, 1.0] * 2, "classification", "'y' holds 3 different whole numbers"),
            (list(range(11)), "regression", "'y' holds numbers"),
            ([0.5, 1.0] * 4, "regression", "'y' holds numbers"),
        ],
    )
    def test_it_follows_from_the_target(self, y, kind, why):
        task = problem_of(x=range(len(y)), y=y).task
        assert (task.kind, task.why) == (kind, why)

    def test_classes_keep_their_kind(self):
        assert problem_of(x=range(4), y=[True, False] * 2).y.dtype == bool
        assert problem_of(x=range(4), y=[0.0, 1.0] * 2).y.tolist() == [0, 1, 0, 1]
        assert problem_of(x=range(4), y=["a", "b"] * 2).y.tolist() == ["a", "b"] * 2

    def test_it_can_be_chosen(self):
        assert problem_of(x=range(4), y=[0, 1] * 2, task="regression").y.dtype == float
        with pytest.raises(CommandError, match=r"row 2, column 'y': 'b' is no number"):
            problem_of(x=range(4), y=["1", "b"] * 2, task="regression")


class TestSplits:
    def test_random_rows_have_every_class_on_both_sides(self):
        problem = problem_of(x=range(50), y=["a"] * 45 + ["b"] * 5)
        train, test, how = split_rows(problem, 0.2, 0)
        assert (len(test), how) == (10, "at random")
        assert set(problem.y[test]) == set(problem.y[train]) == {"a", "b"}
        assert sorted([*train, *test]) == list(range(50))
        again, other = split_rows(problem, 0.2, 0)[1], split_rows(problem, 0.2, 1)[1]
        assert again.tolist() == test.tolist() != other.tolist()

    def test_groups_stay_together_and_are_no_feature(self):
        group = np.random.default_rng(0).choice(list("abcdef"), 60)
        problem = problem_of(x=range(60), g=group, y=np.arange(60.0) / 2, group="g")
        train, test, _ = split_rows(problem, 0.3, 0)
        assert not set(group[train]) & set(group[test])
        assert len(test) >= 18
        assert problem.features == ["x"]

    def test_the_latest_rows_are_held_out_and_one_time_stays_on_one_side(self):
        day = np.repeat(np.arange("2024-01", "2024-03", dtype="datetime64[D]"), 2)
        order = np.random.default_rng(0).permutation(len(day))
        n = len(day)
        problem = problem_of(d=pa.array(day[order]), y=np.arange(n) / 2, time="d")
        train, test, how = split_rows(problem, 0.2, 0)
        assert how == "the latest"
        assert day[order][train].max() < day[order][test].min()
        assert len(test) == pytest.approx(0.2 * n, abs=2)
        assert problem.features == ["d"]

    def test_too_few_rows_are_told(self):
        with pytest.raises(CommandError, match=r"leaves 0 to measure on and 5 to fit to"):
            split_rows(problem_of(x=range(5), y=np.arange(5) / 2), 0.01, 0)

    @pytest.mark.parametrize(
        ("columns", "options", "said"),
        [
            ({"g": ["a"] * 8}, {"group": "g"}, "column 'g' has one group"),
            ({"g": ["a", "b"] * 4}, {"time": "g"}, "holds text, such as 'a' on row 1"),
            ({"g": [1, None] * 4}, {"time": "g"}, "row 2, column 'g': the time is missing"),
        ],
    )
    def test_columns_that_cannot_split_are_refused(self, columns, options, said):
        with pytest.raises(CommandError, match=said):
            problem_of(y=np.arange(8) / 2, x=range(8), **columns, **options)


class TestProblem:
    def test_rows_without_a_target_are_counted_or_left_out(self, tmp_path):
        path = write(tmp_path / "t.csv", ["x,y", "1,1.5", "2,", "3,NA", *["4,2.5"] * 4])
        source = read_source(str(path), CsvFormat())
        with pytest.raises(
            CommandError, match=r"2 of 7 rows have no target 'y', the first on line 3"
        ):
            read_problem(source, "y")
        problem = read_problem(source, "y", drop_missing=True)
        assert problem.y.tolist() == [1.5, *[2.5] * 4]
        assert problem.source.place(1) == "line 5"

    @pytest.mark.parametrize(
        ("cell", "said"),
        [("-1", "a weight is negative"), ("", "a weight is missing"), ("a", "has no numbers")],
    )
    def test_weights_must_be_numbers_from_zero(self, tmp_path, cell, said):
        path = write(tmp_path / "t.csv", ["x,y,w", "1,1.5,1", f"2,1.5,{cell}", *["4,2.5,2"] * 4])
        with pytest.raises(CommandError, match=said):
            read_problem(read_source(str(path), CsvFormat()), "y", weight="w")

    @pytest.mark.parametrize(
        ("y", "said"),
        [
            (["a"] * 8, "is a in every row"),
            (pa.nulls(8, pa.float64()), "missing in every row"),
            (pa.array([0, 1] * 4, pa.date32()), "holds times"),
            ([1.5, float("inf")] * 4, "infinity: column 'y' .number 0., row 2"),
        ],
    )
    def test_targets_that_say_nothing_are_refused(self, y, said):
        with pytest.raises(CommandError, match=said):
            problem_of(x=range(8), y=y)

    def test_a_table_of_the_target_alone_is_refused(self):
        with pytest.raises(CommandError, match="no column left to predict 'y' from"):
            problem_of(y=[1.5, 2.5] * 4)


class TestCommand:
    def test_it_says_what_it_did_for_people_and_machines(self, cli_home, tmp_path):
        table, out = cli_home / "loans.csv", tmp_path / "m.life"
        common = ("fit", table, "--target", "amount", "--drop", "id", "default", *FAST)
        ended = done(*common, "--text", "zip", "-o", out)
        assert "120 rows and 5 columns of " in ended.out
        assert ": 2 numbers, 2 categories, 1 date." in ended.out
        assert "Task: regression of 'amount', since 'amount' holds numbers" in ended.out
        assert "Held out: 24 rows, at random. RMSE " in ended.out
        assert f"Written: {out} (" in ended.out
        assert ended.err == ""
        report = done(*common, "--text", "zip", "-o", out, "--force", "--json").json
        assert report["data"]["columns"]["number"] == ["age", "income"]
        assert report["held_out"]["rows"] == 24
        assert 0.5 < report["held_out"]["R²"] <= 1
        assert report["file"]["bytes"] == out.stat().st_size

    def test_the_model_is_that_of_the_estimator(self, cli_home, tmp_path):
        done("fit", cli_home / "numbers.csv", "--target", "amount", *FAST, "--test-share", "0",
             "--seed", "3", "-o", tmp_path / "m.life")  # fmt: skip
        table = pa.csv.read_csv(cli_home / "numbers.csv")
        model = lifenet.LIFERegressor(preset="paper", random_state=3)
        model.fit(table.select(["age"]), table["amount"].to_numpy())
        found = lifenet.load(tmp_path / "m.life")
        rows = table.select(["age"])
        assert np.array_equal(found.predict(rows), model.predict(rows))

    def test_the_measured_model_can_be_kept(self, cli_home, tmp_path):
        common = ("fit", cli_home / "numbers.csv", "--target", "amount", *FAST, "--json")
        report = done(*common, "--no-refit", "-o", tmp_path / "m.life").json
        assert (report["model"]["rows"], report["held_out"]["rows"]) == (96, 24)

    def test_groups_stay_together_within_the_fit(self, cli_home, tmp_path):
        common = ("fit", cli_home / "loans.csv", "--target", "amount", "--drop", "id", "default")
        report = done(
            *common, *FAST, "--split-by", "group=opened", "--json", "-o", tmp_path / "m"
        ).json
        assert report["held_out"]["chosen"] == "whole groups, at random"
        assert "date" not in report["data"]["columns"]
        model = lifenet.load(tmp_path / "m")
        assert type(model.validation).__name__ == "GroupKFold"

    def test_a_dry_run_reads_everything_and_fits_nothing(self, cli_home, tmp_path):
        ended = done("fit", cli_home / "loans.csv", "--target", "default", "--dry-run")
        assert "Classes: no (" in ended.out
        assert "Held out" not in ended.out
        assert list(tmp_path.iterdir()) == []

    def test_numbers_can_be_categories(self, cli_home):
        common = ("fit", cli_home / "loans.csv", "--target", "amount", "--dry-run", "--json")
        kinds = done(*common, "--categories", "age", "opened").json["data"]["columns"]
        assert kinds["category"] == ["age", "purpose", "opened", "default"]

    def test_empty_columns_are_left_out(self, tmp_path):
        lines = [f"{line},{'e' if not at else ''}" for at, line in enumerate(loans(20))]
        table = write(tmp_path / "t.csv", lines)
        ended = done("fit", table, "--target", "amount", "--dry-run")
        assert "Columns without any value are left out: 'e'." in ended.err

    def test_interactions_name_columns(self, cli_home, tmp_path):
        common = ("fit", cli_home / "loans.csv", "--target", "amount", "--drop", "id", "default")
        out = tmp_path / "m.life"
        done(
            *common,
            *FAST,
            "--test-share",
            "0",
            "--interactions",
            "age,income; purpose,zip",
            "-o",
            out,
        )
        model = lifenet.load(out)
        assert model.interaction_cst == [["age", "income"], ["purpose", "zip"]]
        ended = run(*common, "--interactions", "age,nope", "--dry-run")
        assert (ended.code, "--interactions names 'nope'" in ended.error) == (2, True)

    def test_standard_input_and_parquet_are_read(self, tmp_path, cli_home):
        data = (cli_home / "loans.csv").read_bytes()
        common = ("--target", "amount", "--dry-run", "--json")
        first = done("fit", "-", *common, stdin=data).json
        table = read_source(str(cli_home / "loans.csv"), CsvFormat()).table
        (tmp_path / "t.parquet").write_bytes(table_bytes(table, "parquet"))
        second = done("fit", tmp_path / "t.parquet", *common).json
        assert first["data"]["columns"] == second["data"]["columns"]

    def test_text_of_parquet_is_text(self, tmp_path):
        table = pa.table({"zip": [1, 2] * 10, "y": np.arange(20) / 2})
        (tmp_path / "t.parquet").write_bytes(table_bytes(table, "parquet"))
        common = ("fit", tmp_path / "t.parquet", "--target", "y", "--dry-run", "--json")
        assert done(*common, "--text", "zip").json["data"]["columns"] == {"category": ["zip"]}

    def test_a_cell_that_is_too_large_is_found_on_its_line(self, tmp_path):
        table = write(tmp_path / "t.csv", changed(loans(20), 7, "income", "inf"))
        ended = run("fit", table, "--target", "amount", "--dry-run")
        assert ended.code == 1
        assert "infinity: column 'income' (number 2), line 7." in ended.error

    def test_results_are_one_json_document(self, cli_home, tmp_path):
        ended = done("fit", cli_home / "numbers.csv", "--target", "amount", *FAST, "--json",
                     "-o", tmp_path / "m")  # fmt: skip
        assert json.loads(ended.out)["task"]["kind"] == "regression"
