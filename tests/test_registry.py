"""Prepared datasets, made up and real, the latter against the published summaries."""

from __future__ import annotations

import sys
from dataclasses import FrozenInstanceError
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import made_up
from lifenet import datasets
from lifenet.datasets import registry
from made_up import REAL, both

# rows, predictors, design columns, target: (mean, sd) as printed to five digits in the raw unit.
REGRESSION = {
    "abalone": (4177, 8, 9, ("9.9337", "3.2242")),
    "airfoil": (1503, 5, 5, ("124.84", "6.8987")),
    "aquatic_toxicity": (546, 8, 8, ("4.6584", "1.6652")),
    "bike_sharing": (17379, 12, 12, ("189.46", "181.39")),
    "california_housing": (20640, 8, 8, ("2.0686e+05", "1.154e+05")),
    "casp": (45730, 9, 9, ("7.7485", "6.1183")),
    "electrical_grid": (10000, 11, 11, ("0.015731", "0.036919")),
    "lending_club": (10000, 44, 107, ("12.428", "5.0011")),
}
RAW_UNIT = {"california_housing": 1e5}

DIGITS = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
TEST_DIGITS = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]

# predictors, design columns, target: label -> count in the order of the codes, the event last.
CLASSIFICATION = {
    "bank_marketing": (15, 41, {"no": 39922, "yes": 5289}),
    "breast_cancer": (9, 9, {2: 444, 4: 239}),
    "magic": (10, 10, {"h": 6688, "g": 12332}),
    "mushroom": (21, 95, {"e": 4208, "p": 3916}),
    "ringnorm": (20, 20, {0: 3664, 1: 3736}),
    "ringnorm_keel": (20, 20, {0: 3664, 1: 3736}),
    "higgs_atlas_10k": (30, 30, {"b": 4999, "s": 4999}),
    "higgs_uci_35k": (28, 28, {0: 16641, 1: 18657}),
    "mnist": (784, 784, dict(enumerate(DIGITS))),
    "mnist_test": (784, 784, dict(enumerate(TEST_DIGITS))),
    "give_me_some_credit": (10, 10, {0: 139974, 1: 10026}),
    "taiwan_credit": (23, 23, {0: 23364, 1: 6636}),
    "heloc": (23, 23, {"Good": 4735, "Bad": 5136}),
    "german_credit": (20, 48, {1: 700, 2: 300}),
    "hmeq": (12, 18, {0: 4771, 1: 1189}),
}

# How many numeric columns have missing values. The description counts two categorical ones more in
# hmeq (REASON, JOB) and in lending_club (emp_title, verification_income_joint).
INCOMPLETE = {"give_me_some_credit": 2, "hmeq": 11 - 2, "lending_club": 10 - 2}


@pytest.fixture(scope="module", params=both([*REGRESSION, *CLASSIFICATION]))
def prepared(request, home_of):
    """Each dataset in turn, and its table before preparation where it is made up.

    Of module scope, so that only one is in memory at a time.
    """
    origin, name = request.param
    table = made_up.table(registry.RECIPES[name].file) if origin == "made-up" else None
    if name in {"heloc", "breast_cancer"} and table is not None:
        table = table.drop(index=made_up.EMPTY).reset_index(drop=True)
    return datasets.load(name, data_home=home_of(origin)), table


@pytest.fixture
def data(prepared):
    return prepared[0]


def rebuild(dataset, source):
    """The category of each row, read off its dummies."""
    indices = dict(dataset.groups)[source]
    levels = dataset.frame[source].cat.categories.tolist()
    assert [dataset.feature_names[j] for j in indices] == [f"{source}={lev}" for lev in levels[1:]]
    dummies = dataset.X[:, list(indices)]
    assert set(np.unique(dummies)) <= {0.0, 1.0}
    assert dummies.sum(axis=1).max(initial=0.0) <= 1.0
    return np.array(levels, dtype=object)[(dummies @ np.arange(1, len(levels))).astype(int)]


class TestPrepared:
    def test_the_shapes_are_those_of_the_description(self, prepared):
        data, table = prepared
        if data.task == "regression":
            n_samples, n_predictors, n_columns, _ = REGRESSION[data.name]
        else:
            n_predictors, n_columns, counts = CLASSIFICATION[data.name]
            n_samples = sum(counts.values())
        n_samples = n_samples if table is None else len(table)
        assert data.frame.shape == (n_samples, n_predictors)
        assert data.X.shape == (n_samples, n_columns)
        assert data.y.shape == (n_samples,)
        assert data.X.dtype == (np.float32 if data.name.startswith("mnist") else np.float64)
        assert data.frame.index.equals(pd.RangeIndex(n_samples))

    def test_the_target_is_that_of_the_description(self, prepared):
        data, table = prepared
        unit = RAW_UNIT.get(data.name, 1.0)
        if data.task == "regression":
            assert data.classes is None
            assert data.y.dtype == np.float64
        else:
            assert data.y.dtype == np.int64
            assert data.classes == tuple(CLASSIFICATION[data.name][-1])
        if table is not None and data.task == "regression":
            np.testing.assert_allclose(data.y * unit, table[data.target], rtol=1e-15)
        elif table is not None:
            assert [data.classes[code] for code in data.y] == table[data.target].tolist()
        elif data.task == "regression":
            raw = data.y * unit
            summary = (f"{raw.mean():.5g}", f"{raw.std(ddof=1):.5g}")
            assert summary == REGRESSION[data.name][-1]
        else:
            counts = CLASSIFICATION[data.name][-1]
            assert np.bincount(data.y).tolist() == list(counts.values())

    def test_only_named_sets_hold_missing_numbers(self, data):
        incomplete = np.isnan(data.X).any(axis=0)
        assert incomplete.sum() == INCOMPLETE.get(data.name, 0)

    def test_the_groups_partition_the_columns_in_order(self, data):
        assert [source for source, _ in data.groups] == data.frame.columns.tolist()
        columns = [j for _, indices in data.groups for j in indices]
        assert columns == list(range(data.X.shape[1]))
        assert len(set(data.feature_names)) == len(data.feature_names) == data.X.shape[1]
        assert data.target not in data.frame

    def test_the_design_says_what_the_frame_says(self, data):
        for source, indices in data.groups:
            column = data.frame[source]
            if column.dtype == "category":
                assert rebuild(data, source).tolist() == column.tolist()
            else:
                assert [data.feature_names[j] for j in indices] == [source]
                np.testing.assert_array_equal(data.X[:, indices[0]], column)

    def test_there_is_a_citation_of_one_line(self, data):
        assert data.citation
        assert "\n" not in data.citation


@pytest.fixture(params=["made-up", made_up.REAL])
def load(request, home_of):
    """Loads made-up or real data."""
    return partial(datasets.load, data_home=home_of(request.param))


def test_what_leaks_or_identifies_is_no_predictor(load):
    grid = load("electrical_grid")
    assert not {"p1", "stabf"} & set(grid.feature_names)
    assert "duration" not in load("bank_marketing").frame
    lending = load("lending_club").frame
    named = {"grade", "sub_grade", "installment", "emp_title", "loan_status", "balance"}
    named |= {"paid_total", "paid_principal", "paid_interest", "paid_late_fees"}
    assert not named & set(lending)


@pytest.mark.parametrize(
    ("origin", "counts"),
    [("made-up", (len(made_up.EMPTY),) * 2), pytest.param("real", (29731, 3924), marks=REAL.marks)],
)
def test_missing_values_are_kept_as_they_are(origin, counts, home_of):
    credit = datasets.load("give_me_some_credit", data_home=home_of(origin))
    n_missing = dict(zip(credit.feature_names, np.isnan(credit.X).sum(axis=0), strict=True))
    assert (n_missing["MonthlyIncome"], n_missing["NumberOfDependents"]) == counts
    loans = datasets.load("hmeq", data_home=home_of(origin))
    assert loans.frame["REASON"].cat.categories.tolist() == ["DebtCon", "HomeImp", "missing"]


@pytest.mark.real_data
@made_up.NEEDS_DATA
def test_california_is_in_units_of_100k(home_of):
    y = datasets.load("california_housing", data_home=home_of("real")).y
    assert y.max() == pytest.approx(5.00001)
    assert y.mean() == pytest.approx(2.0686, abs=1e-4)


def test_the_airfoil_response_is_standardised_on_request(load):
    raw = load("airfoil")
    scaled = load("airfoil", standardise_response=True)
    assert scaled.y.mean() == pytest.approx(0.0, abs=1e-12)
    assert np.mean(scaled.y**2) == pytest.approx(1.0)
    assert np.corrcoef(raw.y, scaled.y)[0, 1] == pytest.approx(1.0)


def test_every_known_name_has_an_expectation():
    assert sorted(datasets.available()) == sorted([*REGRESSION, *CLASSIFICATION])


def test_the_public_names():
    expected = ["Dataset", "Simulation", "available", "load", "simulate"]
    assert datasets.__all__ == expected
    assert all(hasattr(datasets, name) for name in expected)


@pytest.fixture
def home(tmp_path):
    """A data folder with small invented files."""
    files = {
        "abalone": {
            "Sex": ["M", None, "F", "I", "M"],
            "Length": [0.1, 0.2, np.nan, 0.4, 0.5],
            "Farm": ["north"] * 5,
            "Legs": [1, 2, 3, 4, 5],
            "Rings": [1, 2, 3, 4, 5],
        },
        "magic": {"fSize": [1.0, 2.0, 3.0], "class": ["g", "h", "g"]},
        "heloc": {
            "RiskPerformance": ["Bad", "Good", "Good", "Bad"],
            "AverageMInFile": [10, -9, -9, -8],
            "NumInqLast6M": [-9, -9, 3, 4],
        },
        "breast_cancer_wisconsin": {
            "id": [11, 12, 13],
            "Bare_nuclei": [1.0, np.nan, 10.0],
            "Class": [2, 4, 4],
        },
    }
    for name, columns in files.items():
        pd.DataFrame(columns).to_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


class TestPreparation:
    def test_dummies_leave_out_the_first_level_and_put_missing_last(self, home):
        dataset = datasets.load("abalone", data_home=home)
        assert dataset.feature_names == ("Sex=I", "Sex=M", "Sex=missing", "Length", "Legs")
        assert dataset.groups == (
            ("Sex", (0, 1, 2)),
            ("Length", (3,)),
            ("Farm", ()),
            ("Legs", (4,)),
        )
        expected = [
            [0, 1, 0, 0.1, 1],
            [0, 0, 1, 0.2, 2],
            [0, 0, 0, np.nan, 3],
            [1, 0, 0, 0.4, 4],
            [0, 1, 0, 0.5, 5],
        ]
        np.testing.assert_array_equal(dataset.X, expected)
        np.testing.assert_array_equal(dataset.y, [1.0, 2.0, 3.0, 4.0, 5.0])

    def test_the_frame_keeps_predictors_as_they_were_before_coding(self, home):
        frame = datasets.load("abalone", data_home=str(home)).frame
        assert frame["Sex"].tolist() == ["M", "missing", "F", "I", "M"]
        assert frame["Sex"].cat.categories.tolist() == ["F", "I", "M", "missing"]
        assert frame["Legs"].dtype.kind == "i"
        assert np.isnan(frame["Length"][2])

    def test_a_response_is_standardised_with_denominator_n(self, home):
        y = datasets.load("abalone", data_home=home, standardise_response=True).y
        np.testing.assert_allclose(y, np.array([-2, -1, 0, 1, 2]) / np.sqrt(2))

    def test_classes_cannot_be_standardised(self, home):
        with pytest.raises(ValueError, match=r"standardise_response=True .*'magic' has classes"):
            datasets.load("magic", data_home=home, standardise_response=True)

    def test_the_event_gets_code_1_even_if_it_sorts_first(self, home):
        dataset = datasets.load("magic", data_home=home)
        assert dataset.classes == ("h", "g")
        assert dataset.y.tolist() == [1, 0, 1]

    def test_applicants_without_any_record_are_left_out(self, home):
        dataset = datasets.load("heloc", data_home=home)
        assert dataset.X.tolist() == [[10, -9], [-9, 3], [-8, 4]]
        assert dataset.y.tolist() == [1, 0, 1]

    def test_incomplete_rows_of_breast_cancer_are_left_out(self, home):
        dataset = datasets.load("breast_cancer", data_home=home)
        assert dataset.X.tolist() == [[1.0], [10.0]]
        assert dataset.y.tolist() == [0, 1]
        assert dataset.frame.index.tolist() == [0, 1]

    def test_a_dataset_is_frozen(self, home):
        dataset = datasets.load("magic", data_home=home)
        with pytest.raises(FrozenInstanceError):
            dataset.target = "fSize"


class TestFindingTheData:
    @pytest.fixture(autouse=True)
    def nowhere(self, tmp_path, monkeypatch):
        """No variable, a checkout in an empty folder, an empty working directory, no cache."""
        self.root = tmp_path
        checkout = tmp_path / "parent" / "checkout"
        source = checkout / "src" / "lifenet" / "datasets" / "registry.py"
        work = tmp_path / "elsewhere" / "work"
        work.mkdir(parents=True)
        monkeypatch.delenv("LIFENET_DATA", raising=False)
        monkeypatch.delenv("LIFENET_DOWNLOAD", raising=False)
        monkeypatch.setenv("LIFENET_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(registry, "__file__", str(source))
        monkeypatch.chdir(work)

    def folder(self, *parts):
        path = self.root.joinpath(*parts)
        path.mkdir(parents=True)
        return path

    def test_the_argument_comes_before_the_variable(self, monkeypatch):
        named, other = self.folder("named"), self.folder("other")
        monkeypatch.setenv("LIFENET_DATA", str(other))
        assert registry.data_folder() == other
        assert registry.data_folder(named) == named
        assert registry.data_folder(str(named)) == named

    def test_the_variable_comes_before_the_checkout(self, monkeypatch):
        beside, named = self.folder("parent", "shared", "data"), self.folder("named")
        assert registry.data_folder() == beside
        monkeypatch.setenv("LIFENET_DATA", str(named))
        assert registry.data_folder() == named
        monkeypatch.setenv("LIFENET_DATA", "")
        assert registry.data_folder() == beside

    def test_the_checkout_comes_before_the_working_directory(self):
        near = self.folder("elsewhere", "shared", "data")
        assert registry.data_folder() == near
        beside = self.folder("parent", "shared", "data")
        assert registry.data_folder() == beside

    def test_a_package_near_the_root_has_no_checkout_to_look_beside(self, monkeypatch):
        near = self.folder("elsewhere", "shared", "data")
        monkeypatch.setattr(registry, "__file__", "/site/lifenet/datasets/registry.py")
        assert registry.data_folder() == near

    def test_no_folder_names_what_was_tried_and_the_remedy(self):
        with pytest.raises(FileNotFoundError) as caught:
            datasets.load("abalone")
        message = str(caught.value)
        for part in ("parent", "elsewhere"):
            assert str(Path(part) / "shared" / "data") in message
        assert "LIFENET_DATA" in message
        assert "data_home" in message

    def test_a_wrong_folder_is_not_replaced_by_another(self, monkeypatch):
        self.folder("parent", "shared", "data")
        with pytest.raises(FileNotFoundError, match=r"tried: .*wrong-argument"):
            registry.data_folder(self.root / "wrong-argument")
        monkeypatch.setenv("LIFENET_DATA", str(self.root / "wrong-variable"))
        with pytest.raises(FileNotFoundError, match=r"tried: .*wrong-variable"):
            registry.data_folder()

    def test_a_missing_file_is_named_with_its_folder(self):
        with pytest.raises(FileNotFoundError, match=r"bike_sharing_hour\.parquet") as caught:
            datasets.load("bike_sharing", data_home=self.root)
        assert str(self.root) in str(caught.value)


def test_an_unknown_name_gets_a_suggestion_and_the_list():
    with pytest.raises(ValueError, match=r"name='abalon' .*mean 'abalone'\?") as caught:
        datasets.load("abalon")
    assert all(name in str(caught.value) for name in datasets.available())
    with pytest.raises(ValueError, match=r"name='zzz' is not a known dataset\. Known: "):
        datasets.load("zzz")


@pytest.mark.parametrize("module", ["pandas", "pyarrow"])
def test_without_its_dependencies_loading_names_the_extra(home, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"needs {module}.*pip install 'lifenet\[data\]'"):
        datasets.load("abalone", data_home=home)
