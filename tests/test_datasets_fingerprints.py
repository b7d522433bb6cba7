"""Fingerprints against a hash spelled out by hand, and the stored ones against the real files."""

from __future__ import annotations

import hashlib
import json
import struct
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from lifenet import datasets
from lifenet.datasets.fingerprints import differences, expected, fingerprint
from made_up import real_ones


@pytest.fixture
def small():
    """A dataset of two predictors and three rows, no two alike."""
    return datasets.Dataset(
        name="small",
        task="classification",
        X=np.array([[1.5, -2.0], [0.0, np.nan], [3.0, 0.25]]),
        y=np.array([0, 1, 1]),
        feature_names=("length", "Sex=M"),
        groups=(("length", (0,)), ("Sex", (1,))),
        target="class",
        classes=("no", "yes"),
        frame=pd.DataFrame({"length": [1.5, 0.0, 3.0]}),
        citation="none",
    )


def test_the_hash_is_the_one_spelled_out_by_hand(small):
    labels = ["classification", "class", ["length", "Sex=M"], ["no", "yes"]]
    names = hashlib.sha256(json.dumps(labels).encode()).hexdigest()
    rows = [(1.5, -2.0, 0.0), (0.0, float("nan"), 1.0), (3.0, 0.25, 1.0)]
    packed = [hashlib.sha256(struct.pack("<3d", *row)).digest() for row in rows]
    head = f"3 2 {names} ".encode()
    found = fingerprint(small)
    assert found.shape == (3, 2)
    assert found.names == names
    assert found.in_order == hashlib.sha256(head + b"".join(packed)).hexdigest()
    assert found.any_order == hashlib.sha256(head + b"".join(sorted(packed))).hexdigest()
    assert len(set(found.columns)) == len(found.columns) == 3


def test_what_a_model_cannot_see_does_not_count(small):
    wanted = fingerprint(small)
    other_nan = np.array([0xFFF8_0000_0000_0001], dtype=np.uint64).view(np.float64)[0]
    X = small.X.copy()
    X[1] = -0.0, other_nan
    alike = [X, small.X.astype(">f8"), np.asfortranarray(small.X), small.X.astype(np.float32)]
    for same in alike:
        assert fingerprint(replace(small, X=same)) == wanted
    assert fingerprint(replace(small, y=small.y.astype(np.float64), citation="who")) == wanted


def test_a_sort_that_makes_nans_of_its_own_changes_nothing(small, monkeypatch):
    wanted, plain = fingerprint(small), np.sort

    def sort(values):
        ordered = plain(values)
        return np.where(np.isnan(ordered), -np.abs(ordered), ordered)

    monkeypatch.setattr(np, "sort", sort)
    assert np.signbit(np.sort(np.array([np.nan]))).all()
    assert fingerprint(small) == wanted


def test_every_value_row_and_name_counts(small):
    wanted = fingerprint(small)
    X = small.X.copy()
    X[2, 1] = np.nextafter(0.25, 1.0)
    others = {
        "other values in the columns Sex=M": replace(small, X=X),
        "other values in the columns class": replace(small, y=np.array([0, 1, 0])),
        "not 3 and 2": replace(small, X=small.X[:2], y=small.y[:2]),
        "other names": replace(small, feature_names=("length", "Sex=F")),
        "or another order": replace(small, classes=("yes", "no")),
        "same rows in another order": replace(small, X=small.X[::-1], y=small.y[::-1]),
        # Every column has its values, but they belong to other rows.
        "in the same number of rows": replace(small, X=small.X[::-1]),
    }
    found = [fingerprint(other) for other in others.values()]
    assert len({wanted.in_order, *(each.in_order for each in found)}) == len(others) + 1
    for (words, other), each in zip(others.items(), found, strict=True):
        assert words in differences(other, each, wanted)
        assert (each.any_order == wanted.any_order) == ("same rows" in words)
    assert differences(small, wanted, wanted) == ""


def test_many_changed_columns_are_counted_not_listed():
    X = np.arange(24.0).reshape(3, 8)
    names = tuple(f"x{j}" for j in range(8))
    groups = tuple((name, (j,)) for j, name in enumerate(names))
    frame = pd.DataFrame(X, columns=list(names))
    rest = (names, groups, "y", None, frame, "none")
    known = datasets.Dataset("wide", "regression", X, np.zeros(3), *rest)
    other = replace(known, X=X + 1.0)
    text = differences(other, fingerprint(other), fingerprint(known))
    assert text.endswith("in the columns x0, x1, x2, x3, x4 and 3 more")


@pytest.mark.parametrize("which", real_ones(datasets.available()))
def test_the_stored_fingerprint_is_that_of_the_real_file(which, home_of):
    origin, name = which
    found = fingerprint(datasets.load(name, data_home=home_of(origin)))
    assert asdict(found) == asdict(expected(name))


def test_a_folder_is_checked_on_request(tmp_path):
    pd.DataFrame({"fSize": [1.0, 2.0], "class": ["g", "h"]}).to_parquet(tmp_path / "magic.parquet")
    assert datasets.load("magic", data_home=tmp_path).X.shape == (2, 1)
    message = r"'magic': the file .*magic\.parquet .*2 rows and 1 columns, not 19020 and 10.*verify"
    with pytest.raises(ValueError, match=message):
        datasets.load("magic", data_home=tmp_path, verify=True)
