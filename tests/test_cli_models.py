"""`lifenet predict`, `explain`, `simplify`, `compare`, `info`, `export` and `demo`."""

import json
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest

import lifenet
from cli_cases import changed, done, loans, run, write
from lifenet.cli.csv_text import CsvFormat
from lifenet.cli.files import read_source, table_bytes


@pytest.fixture
def table(cli_home):
    return cli_home / "loans.csv"


@pytest.fixture
def amount(cli_home):
    return cli_home / "amount.life"


@pytest.fixture
def default(cli_home):
    return cli_home / "default.life"


def csv(text):
    return pa.csv.read_csv(pa.py_buffer(text.encode()))


class TestPredict:
    def test_predictions_are_those_of_the_model(self, amount, table):
        found = csv(done("predict", amount, table, "--keep", "id").out)
        assert found.column_names == ["id", "prediction"]
        model = lifenet.load(amount)
        rows = read_source(str(table), CsvFormat(text=("zip",))).table
        expected = model.predict(rows.select(list(model.table_.names)))
        assert found["prediction"].to_pylist() == expected.tolist()

    def test_classes_have_probabilities(self, default, table):
        found = csv(done("predict", default, table).out).to_pydict()
        assert list(found) == ["prediction", "probability of no", "probability of yes"]
        yes = np.array(found["probability of yes"])
        assert np.allclose(yes + found["probability of no"], 1)
        assert [one == "yes" for one in found["prediction"]] == (yes > 0.5).tolist()

    def test_types_follow_the_model_and_not_the_file(self, amount, tmp_path):
        lines = loans(1)  # its only zip code reads as a number
        found = csv(done("predict", amount, write(tmp_path / "t.csv", lines)).out)
        whole = csv(done("predict", amount, write(tmp_path / "w.csv", loans())).out)
        first, same = (one["prediction"][0].as_py() for one in (found, whole))
        assert first == pytest.approx(same, rel=1e-9)

    def test_contributions_sum_to_the_score(self, amount, default, table, cli_home):
        for model in (cli_home / "plain.life", amount, default):
            found = csv(done("predict", model, table, "--contributions").out).to_pydict()
            parts = [found[name] for name in found if name.startswith("contribution of ")]
            assert np.allclose(np.sum(parts, axis=0) + found["score at the median"], found["score"])
            assert np.ptp(parts[-1]) > 0  # also of a category
        logit = np.log(found["probability of yes"]) - np.log(found["probability of no"])
        assert np.allclose(logit, found["score"])

    def test_every_class_has_contributions(self, cli_home, table):
        found = csv(
            done("predict", cli_home / "purpose.life", table, "--contributions").out
        ).to_pydict()
        for label in ("car", "house", "trip"):
            names = [one for one in found if one.startswith("contribution of ") and label in one]
            total = (
                np.sum([found[one] for one in names], axis=0)
                + found[f"score at the median ({label})"]
            )
            assert len(names) >= 3
            assert np.allclose(total, found[f"score ({label})"])

    def test_what_training_did_not_have_is_counted(self, amount, tmp_path):
        lines = changed(changed(loans(), 3, "purpose", "boat"), 5, "age", "90")
        lines = changed(changed(lines, 8, "age", ""), 9, "purpose", "ship")
        ended = done("predict", amount, write(tmp_path / "t.csv", lines))
        age, boat = "Note: Column 'age', 1 of 120 rows: ", "Note: Column 'purpose', 2 of 120 rows: "
        assert ended.err.splitlines() == [
            f"{age}no value, where training had one in every row, on line 8.",
            f"{age}a value outside the range of training (20 to 69), on line 5.",
            f"{boat}a level that training did not have, the first on line 3.",
        ]
        assert done("predict", amount, tmp_path / "t.csv", "--quiet").err == ""

    def test_a_plain_model_counts_values_out_of_range_too(self, cli_home):
        ended = done("predict", cli_home / "plain.life", "-", stdin=b"age\n30\n500\n")
        assert "Column 'age', 1 of 2 rows: a value outside the range of training" in ended.err

    def test_any_order_and_format_of_columns_gives_the_same(self, amount, table, tmp_path):
        whole = read_source(str(table), CsvFormat(text=("zip",))).table
        turned = whole.select(whole.column_names[::-1])
        (tmp_path / "t.parquet").write_bytes(table_bytes(turned, "parquet"))
        out = tmp_path / "p.parquet"
        ended = done("predict", amount, tmp_path / "t.parquet", "-o", out)
        assert "(120 rows)." in ended.out
        found = read_source(str(out), CsvFormat()).table
        first = csv(done("predict", amount, table).out)
        assert found["prediction"].to_pylist() == first["prediction"].to_pylist()

    def test_a_summary_for_machines(self, amount, table, tmp_path):
        report = done("predict", amount, table, "-o", tmp_path / "p.csv", "--json").json
        assert (report["rows"], report["outside"]) == (120, [])


class TestExplain:
    def test_rows_have_equations_and_steps(self, amount, table):
        out = done("explain", amount, table, "rows", "--row", "3").out
        assert out.startswith("Row 3 (line 4): score ")
        assert "From the mean score " in out
        assert "·income" in out
        (first, *_) = done("explain", amount, table, "rows", "--row", "3", "--json").json["rows"]
        assert (first["row"], first["feature"]) == (3, "age")

    def test_steps_sum_to_the_score(self, amount, table):
        rows = done("explain", amount, table, "rows", "--row", "7", "--json").json["rows"]
        parts = sum(one["part"] for one in rows)
        assert parts + rows[0]["mean_score"] == pytest.approx(rows[0]["score"])

    def test_equations_of_all_rows(self, cli_home):
        data = b"age\n30\n40\n"
        model = cli_home / "plain.life"
        rows = done("explain", model, "-", "equations", "--json", stdin=data).json["equations"]
        for row, age in zip(rows, (30, 40), strict=True):
            assert row["intercept"] + row["slope of age"] * age == pytest.approx(row["score"])

    def test_importance_effects_and_interactions(self, amount, table):
        report = done(
            "explain", amount, table, "importance", "effects", "interactions", "--json"
        ).json
        assert report["importance"][0]["feature"] == "income"
        assert {one["feature"] for one in report["effects"]} >= {"age", "purpose", "income"}
        pairs = report["interactions"]
        assert pairs[0]["strength"] >= pairs[-1]["strength"]
        out = done("explain", amount, table, "importance", "effects").out
        assert "importance:\nfeature " in out
        assert "effects:\nfeature " in out

    def test_files_in_a_folder(self, default, table, tmp_path):
        folder = tmp_path / "new" / "report"
        what = ("rows", "effects", "importance", "interactions")
        kinds = ("--format", "png", "csv", "json", "--row", "2")
        ended = done("explain", default, table, *what, "--output", folder, *kinds)
        names = sorted(path.name for path in folder.iterdir())
        pictures = ["effects.png", "importance.png", "interactions.png", "rows-2.png"]
        tables = [f"{name}.{kind}" for name in what for kind in ("csv", "json")]
        assert names == sorted([*pictures, *tables])
        assert ended.out.count("Written: ") == len(names)
        assert (folder / "effects.png").read_bytes().startswith(b"\x89PNG")
        assert json.loads((folder / "rows.json").read_text())[0]["row"] == 2
        assert pa.csv.read_csv(folder / "importance.csv").column_names[0] == "feature"
        again = run("explain", default, table, "importance", "--output", folder)
        assert (again.code, "exists already" in again.error) == (2, True)

    def test_a_class_of_several_is_chosen(self, cli_home, table, default):
        out = cli_home / "purpose.life"
        assert "house" in done("explain", out, table, "rows", "--class", "house", "--row", "1").out
        ended = run("explain", out, table, "rows")
        assert (ended.code, ended.error) == (2, "--class is missing; it may be car, house, trip.")
        ended = run("explain", default, table, "rows", "--class", "no")
        assert "the model's score is that of yes, the score of two classes" in ended.error


class TestOthers:
    def test_a_small_model_is_written_and_compared(self, amount, table, tmp_path):
        out = tmp_path / "small.life"
        ended = done("simplify", amount, table, "--target", "amount", "--neurons", "6", "-o", out)
        assert "RMSE on " in ended.out
        assert lifenet.load(out).network_.n_neurons <= 6
        ended = done("compare", amount, out, table, "--target", "amount")
        assert "Mean squared error of " in ended.out
        assert "Rows where predictions differ most:\n  line " in ended.out
        report = done("compare", amount, out, table, "--target", "amount", "--json").json
        losses = report["second"]["RMSE"] ** 2 - report["first"]["RMSE"] ** 2
        assert report["difference"] == pytest.approx(losses)
        assert len(report["rows"]) == 5
        assert all(one["rows"] >= 20 for one in report["groups"])

    def test_a_model_is_as_good_as_itself(self, default, table):
        report = done("compare", default, default, table, "--target", "default", "--json").json
        assert (report["difference"], report["standard_error"]) == (0, 0)
        assert report["agreement"]["same class"] == 1
        out = done("compare", default, default, table, "--target", "default").out
        assert "(no difference)" in out

    def test_info_tells_columns_and_recipe(self, amount, default):
        out = done("info", amount).out
        assert "Predicts: numbers." in out
        assert "  age: number from 20 to 69" in out
        assert "  income: number from " in out
        assert ", may be missing" in out
        assert "  zip: category: " in out
        assert "Recipe: Recipe(" in out
        assert "Fitted to 120 rows with seed " in out
        report = done("info", default, "--json").json
        assert report["classes"] == ["no", "yes"]
        assert [one["name"] for one in report["columns"]][:2] == ["age", "income"]
        assert report["folds"][0]["train_rows"] > 50

    def test_exports_are_those_of_the_library(self, amount, table, tmp_path):
        out = tmp_path / "m.py"
        done("export", amount, "--to", "python", "-o", out)
        space = {}
        exec(out.read_text(), space)
        row = read_source(str(table), CsvFormat(text=("zip",))).table.to_pylist()[0]
        row = {name: row[name] for name in lifenet.load(amount).table_.names}
        found = csv(done("predict", amount, table).out)["prediction"][0].as_py()
        assert space["predict"](row) == pytest.approx(found)
        assert json.loads(done("export", amount, "--to", "json", "-o", "-").out)
        sql = done("export", amount, "--to", "sql", "--table", "rows", "-o", "-").out
        assert sqlite3.complete_statement(sql)

    def test_cards_are_of_models_without_interactions(self, default, cli_home, tmp_path):
        ended = run("export", default, "--to", "scorecard", "-o", "-")
        assert ended.code == 1
        assert ended.error.endswith("Fit it with --interactions none.")
        model, rows = tmp_path / "m.life", pa.csv.read_csv(cli_home / "loans.csv")
        one = lifenet.LLAClassifier(n_neurons=2, random_state=0)
        one.fit(rows.select(["income"]), rows["default"].to_pylist()).save(model)
        label = str(one.classes_[0])
        card = ("export", model, "--to", "scorecard", "-o", "-", "--good", label)
        card = (*card, "--points-to-double")
        lines = done(*card, "20").out.splitlines()
        assert lines[0] == "feature,value,points,share"
        assert lines != done(*card, "40").out.splitlines()
        ended = run("export", model, "--to", "scorecard", "-o", "-")
        assert ended.code == 1
        assert f"good={label!r}" in ended.error

    def test_the_demonstration_shows_the_truth(self):
        report = done("demo", "--quiet", "--json").json
        assert report["held_out"]["R²"] > 0.98
        assert "·area" in report["equation"]
