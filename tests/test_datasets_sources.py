"""How OpenML's tables translate: against the local files, and against rows written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lifenet import datasets
from lifenet.datasets import registry
from lifenet.datasets.fingerprints import fingerprint
from lifenet.datasets.openml import DownloadError, OpenMLSource, translate
from lifenet.datasets.sources import SOURCES
from made_up import both
from test_datasets_download import openml  # noqa: F401


def table_of(name, home):
    return pd.read_parquet(home / f"{registry.RECIPES[name].file}.parquet")


def serve_abalone(table):
    names = {name: name.replace(" ", "_") for name in table}
    served = table.rename(columns={**names, "Rings": "Class_number_of_rings"})
    return served.assign(Class_number_of_rings=table["Rings"].astype(str))


def serve_tumours(table):
    served = table.drop(columns="id").assign(
        Class=table["Class"].map({2: "benign", 4: "malignant"})
    )
    return served.set_axis([*(f"Feature_{j}" for j in range(9)), "Class"], axis=1)


def serve_mushrooms(table):
    served = table.rename(columns={"bruises": "bruises%3F"})
    served["stalk-root"] = served["stalk-root"].where(served["stalk-root"] != "?", None)
    return served[[*served.columns[1:], "class"]]


def serve_bikes(table):
    """As in scikit-learn's examples: words for codes, and degrees, km/h for shares."""
    words = ["", "spring", "summer", "fall", "winter"]
    weather = ["", "clear", "misty", "rain", "heavy_rain"]
    return pd.DataFrame(
        {
            "season": [words[code] for code in table["season"]],
            "year": table["yr"],
            "month": table["mnth"],
            "hour": table["hr"],
            "holiday": [str(bool(code)) for code in table["holiday"]],
            "weekday": table["weekday"],
            "workingday": [str(bool(code)) for code in table["workingday"]],
            "weather": [weather[code] for code in table["weathersit"]],
            "temp": (table["temp"] * 41).round(4),
            "feel_temp": (table["atemp"] * 50).round(4),
            "humidity": table["hum"],
            "windspeed": (table["windspeed"] * 67).round(4),
            "count": table["cnt"],
        }
    )


def serve_houses(table):
    order = ["median_house_value", "median_income", "housing_median_age", "total_rooms"]
    order += ["total_bedrooms", "population", "households", "latitude", "longitude"]
    return table[order]


SERVED = {
    "abalone": serve_abalone,
    "breast_cancer": serve_tumours,
    "mushroom": serve_mushrooms,
    "bike_sharing": serve_bikes,
    "california_housing": serve_houses,
}


@pytest.mark.parametrize("which", both(SERVED))
def test_both_sources_give_the_same_arrays(
    which,
    home_of,
    openml,  # noqa: F811
    tmp_path,
    monkeypatch,
):
    """From the file, and by way of ARFF, HTTP and scikit-learn with the fingerprint checked."""
    origin, name = which
    table = table_of(name, home_of(origin))
    ours = datasets.load(name, data_home=home_of(origin))
    if origin == "made-up":
        monkeypatch.setattr(registry, "expected", {name: fingerprint(ours)}.__getitem__)
    openml.serve(SOURCES[name].data_id, SERVED[name](table))
    empty = tmp_path / "empty"
    empty.mkdir()
    monkeypatch.setenv("LIFENET_DATA", str(empty))
    theirs = datasets.load(name, cache_dir=tmp_path / "cache", download=True)
    assert openml.requests
    np.testing.assert_array_equal(theirs.X, ours.X)
    np.testing.assert_array_equal(theirs.y, ours.y)
    assert theirs.feature_names == ours.feature_names
    assert theirs.groups == ours.groups
    assert theirs.classes == ours.classes
    pd.testing.assert_frame_equal(theirs.frame, ours.frame, check_dtype=False)


@pytest.mark.parametrize(
    "which",
    both(sorted(set(SOURCES) - {"mnist"})),  # large; see mnist_test
)
def test_the_columns_are_those_of_the_file(which, home_of):
    origin, name = which
    source, recipe = SOURCES[name], registry.RECIPES[name]
    table = table_of(name, home_of(origin))
    kept = [column for column in table if column not in {*recipe.drop, recipe.target}]
    ours = [column for column in source.columns if column not in {*recipe.drop, recipe.target}]
    assert ours == kept
    assert recipe.target in source.columns
    labels = {column for column in source.columns if table[column].dtype.kind not in "iuf"}
    coded = {
        column for column, codes in source.codes.items() if {*map(type, codes.values())} == {str}
    }
    assert labels == {*source.text} | coded
    for column, codes in source.codes.items():
        assert set(table[column]) <= set(codes.values())
        assert len(set(codes.values())) == len(codes)


def test_german_credit_is_coded_as_at_uci():
    words = [
        *("<0", 6, "critical/other existing credit", "radio/tv", 1169, "no known savings"),
        *(">=7", 4, "male single", "none", 4, "real estate", 67, "none", "own", 2, "skilled"),
        *(1, "yes", "yes", "good"),
    ]
    codes = ["A11", 6, "A34", "A43", 1169, "A65", "A75", 4, "A93", "A101", 4, "A121", 67, "A143"]
    codes += ["A152", 2, "A173", 1, "A192", "A201", 1]
    source = SOURCES["german_credit"]
    frame = pd.DataFrame([words], columns=list(source.columns))
    assert translate(frame, source).iloc[0].tolist() == codes
    assert source.codes["purpose"]["domestic appliance"] == "A44"
    assert source.codes["purpose"]["other"] == "A410"


def test_bike_sharing_has_the_shares_of_uci():
    served = [["spring", 0, 1, 5, "False", 6, "True", "misty", 9.84, 12.88, 0.75, 6.0032, 1]]
    row = translate(pd.DataFrame(served), SOURCES["bike_sharing"]).iloc[0].tolist()
    assert row == [1, 0, 1, 5, 0, 6, 1, 2, 0.24, 0.2576, 0.75, 0.0896, 1]


def test_images_to_train_on_come_first():
    labels = pd.Series(np.arange(70_000) % 10).astype(str).astype("category")
    frame = pd.DataFrame({"pixel1": np.arange(70_000) // 60_000, "class": labels})
    for name, n_rows, pixel in (("mnist", 60_000, 0), ("mnist_test", 10_000, 1)):
        table = translate(frame, replace(SOURCES[name], columns=("pixel0", "label")))
        assert table["label"].tolist() == [*range(10)] * (n_rows // 10)
        assert (table["pixel0"] == pixel).all()
    assert SOURCES["mnist"].columns == SOURCES["mnist_test"].columns


def test_columns_are_found_by_name_without_case_and_signs():
    source = OpenMLSource(1, ("fLength", "cap-colour", "class"), text=("cap-colour", "class"))
    frame = pd.DataFrame({"class:": ["g"], "ID": [1], "cap_colour%3F": ["x"], "flength:": [2.5]})
    assert translate(frame, source).to_dict("list") == {
        "fLength": [2.5],
        "cap-colour": ["x"],
        "class": ["g"],
    }
    with pytest.raises(DownloadError, match=r"data set 1 .*named fLength, .*2 columns: class:, ID"):
        translate(frame[["class:", "ID"]].assign(**{"class:": "g"}), source)


def test_labels_and_numbers_that_make_no_sense_are_named():
    source = OpenMLSource(2, ("y",), codes={"y": {"1": "no", "2": "yes"}})
    with pytest.raises(DownloadError, match="unknown labels in the column y: 3"):
        translate(pd.DataFrame({"y": ["1", "3"]}), source)
    with pytest.raises(DownloadError, match="no numbers in the column y"):
        translate(pd.DataFrame({"y": ["many"]}), OpenMLSource(3, ("y",)))


def test_decimals_are_read_to_the_last_place():
    written = [0.1, 2.95906002455997, 1e-7, -0.00266337, 123456.789]
    read = [np.nextafter(number, 1e9) for number in written]
    table = translate(pd.DataFrame({"a": read}), OpenMLSource(5, ("a",)))
    assert table["a"].tolist() == written


def test_whole_numbers_become_integers_and_missing_ones_stay_missing():
    frame = pd.DataFrame({"a": ["1", "2"], "b": [1.0, np.nan], "c": [0.5, 1.0], "d": ["x", None]})
    table = translate(frame, OpenMLSource(4, tuple("abcd"), text=("d",), missing={"d": "?"}))
    assert [table[name].dtype.kind for name in "abc"] == ["i", "f", "f"]
    assert np.isnan(table["b"][1])
    assert table["d"].tolist() == ["x", "?"]
