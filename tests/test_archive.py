"""Models go through a file and come back, bit for bit."""

import copy
import json
import pickle
import re
import warnings
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit

import lifenet
from archived import NAMES, PAPER, differences, fitted, frame, rows, target
from lifenet import explain
from lifenet.archive import ArchiveError, NotStorableError, describe
from lifenet.archive.arrays import Sink, Source
from lifenet.archive.parameters import Parameter
from test_new_loss import Huber

CODED = ("paper-coded", "quick", "quick-frame", "quick-three", "small", "glass")


def again(model, tmp_path, **options):
    """A model from the file that it was saved to."""
    model.save(tmp_path / "m.life", overwrite=True)
    return lifenet.load(tmp_path / "m.life", **options)


def without_addresses(value):
    return re.sub(r"0x[0-9A-F]+", "", repr(value))


# ---------------------------------------------------------------------- what comes back


@pytest.mark.parametrize("name", NAMES)
def test_every_attribute_comes_back_bit_for_bit(name, tmp_path):
    model = fitted(name)
    loaded = again(model, tmp_path)
    own, found = vars(model), vars(loaded)
    assert set(own) == set(found)
    assert type(model) is type(loaded)
    for key in own:
        assert differences(own[key], found[key], key) == []


@pytest.mark.parametrize("name", NAMES)
def test_predictions_come_back_bit_for_bit(name, tmp_path):
    model, X = fitted(name), rows(name)
    loaded = again(model, tmp_path)
    for method in ("predict", "predict_proba", "decision_function", "transform"):
        if hasattr(model, method):
            found = getattr(loaded, method)(X)
            assert differences(getattr(model, method)(X), found, method) == []
    assert differences(model.schema_.outside(X), loaded.schema_.outside(X)) == []
    assert without_addresses(model) == without_addresses(loaded)


@pytest.mark.parametrize("name", ["lla-three", "paper-three", "quick", "quick-frame", "small"])
def test_explanations_come_back_bit_for_bit(name, tmp_path):
    model = fitted(name)
    X = rows(name)[:20]
    found = []
    for each in (model, again(model, tmp_path)):
        output = {"output": 0} if name.endswith("three") else {}
        importance = explain.feature_importance(each, X, **output)
        row = explain.explain_row(each, X[:1], **output)
        found.append(repr((importance.to_frame().to_dict(), row.to_frame().to_dict())))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["quick", "quick-three"])
def test_a_loaded_model_is_simplified_like_the_saved_one(name, tmp_path):
    model, X = fitted(name), rows(name)
    loaded, y = again(model, tmp_path), model.predict(X)
    settings_ = lifenet.Distil(4, largest=8, finetune=lifenet.LBFGS(3))
    one, other = (each.simplify(X, y, settings=settings_) for each in (model, loaded))
    assert differences(one.networks, other.networks) == []
    small = loaded.with_network(one.networks[-1])
    back = again(small, tmp_path)
    assert differences(small.predict(X), back.predict(X)) == []
    assert differences(list(model.fold_networks_), list(loaded.fold_networks_)) == []


def test_a_loaded_model_goes_on_from_its_members(tmp_path):
    X, y = rows("paper"), target()
    model = lifenet.LIFERegressor(*PAPER, warm_start=True, random_state=0).fit(X, y)
    loaded = again(model, tmp_path)
    for each in (model, loaded):
        each.fit(X, y)
    assert differences(model.network_, loaded.network_) == []
    for each in (model, loaded):
        each.refit_readout(X[:200], y[:200])
    assert differences(model.network_, loaded.network_) == []
    assert differences(model.origin_, loaded.origin_) == []


def test_what_is_one_object_comes_back_as_one(tmp_path):
    loaded = again(fitted("quick-frame"), tmp_path)
    assert loaded.network_.coding is loaded.coding_
    assert loaded.schema_.table is loaded.table_
    assert loaded.members_[0].network is loaded.hierarchy_.levels[-1].networks[0]


def test_the_output_that_was_chosen_comes_back(tmp_path):
    X = rows("quick-frame")
    model = again(fitted("quick-frame"), tmp_path).set_output(transform="pandas")
    loaded = again(model, tmp_path)
    assert loaded.transform(X).equals(model.transform(X))


def test_origins_say_what_a_fit_was_of():
    X, y = rows("lla"), target()
    model = lifenet.LLARegressor(3, max_iter=3, random_state=0)
    whole = model.fit(X, y).origin_
    assert (whole.rows, whole.columns) == (240, 3)
    assert dict(whole.versions)["lifenet"] == lifenet.__version__
    assert model.fit(X[::-1], y[::-1]).origin_ == whole, "the order of rows does not matter"
    assert model.fit(X, y + 1).origin_.data != whole.data
    assert model.fit(X[:100], y[:100]).origin_.data != whole.data
    weight = np.r_[np.zeros(140), np.ones(100)]
    weighted = model.fit(X, y, sample_weight=weight).origin_
    assert weighted.data == model.fit(X[140:], y[140:]).origin_.data


# ---------------------------------------------------------------------- the file


@pytest.mark.parametrize("name", ["lla-three", "paper", "quick-frame"])
def test_the_same_model_gives_the_same_bytes(name, tmp_path):
    model, files = fitted(name), [tmp_path / f"{number}.life" for number in range(3)]
    model.save(files[0])
    model.save(files[1])
    lifenet.load(files[0]).save(files[2])
    assert len({file.read_bytes() for file in files}) == 1


def test_the_header_is_there_to_be_read(tmp_path):
    fitted("quick-frame").save(tmp_path / "m.life")
    header = describe(tmp_path / "m.life")
    assert (header["kind"], header["format"]) == ("lifenet model", 1)
    assert header["lifenet"] == lifenet.__version__
    assert header["estimator"] == "LIFERegressor"
    assert header["fitted"]["origin_"]["rows"] == 240
    assert header["fitted"]["recipe_"]["settings"][0] == "Recipe"
    assert header["parameters"]["loss"] == "squared_error"
    with zipfile.ZipFile(tmp_path / "m.life") as archive:
        for name, known in header["arrays"].items():
            with archive.open(f"arrays/{name}.npy") as member:
                array = np.load(member, allow_pickle=False)
            assert (array.dtype.str, array.shape) == (known["dtype"], (known["length"],))


def test_files_are_not_replaced_unless_they_may_be(tmp_path):
    path = tmp_path / "m.life"
    path.write_bytes(b"mine")
    with pytest.raises(FileExistsError, match="overwrite=True"):
        fitted("lla").save(path)
    assert path.read_bytes() == b"mine"
    fitted("lla").save(str(path), overwrite=True)
    assert differences(lifenet.load(str(path)).network_, fitted("lla").network_) == []
    assert [one.name for one in tmp_path.iterdir()] == ["m.life"]


def test_a_file_has_the_mode_of_any_new_file_and_keeps_its_own(tmp_path):
    plain, path = tmp_path / "plain", tmp_path / "m.life"
    plain.write_bytes(b"")
    fitted("lla").save(path)
    assert path.stat().st_mode == plain.stat().st_mode
    path.chmod(0o600)
    fitted("lla").save(path, overwrite=True)
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_link_goes_on_to_point_at_the_file(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "m.life"
    link.symlink_to(tmp_path / "there" / "m.life")
    fitted("lla").save(link)
    fitted("lla").save(link, overwrite=True)
    assert link.is_symlink()
    assert lifenet.load(tmp_path / "there" / "m.life").n_features_in_ == 3


def test_archives_are_smaller_than_pickles(tmp_path):
    for name in ("quick-frame", "paper", "lla"):
        fitted(name).save(tmp_path / f"{name}.life")
        size = (tmp_path / f"{name}.life").stat().st_size
        assert size < len(pickle.dumps(fitted(name)))


# ---------------------------------------------------------------------- what is refused


class OwnRegressor(lifenet.LLARegressor):
    pass


@pytest.mark.parametrize(
    ("model", "place"),
    [
        (lifenet.LIFERegressor(*PAPER, loss=Huber()), r"parameters\.loss.*Huber"),
        (lifenet.LIFERegressor(*PAPER, validation=RepeatedKFold(n_splits=3)), r"\.validation"),
        (OwnRegressor(3, max_iter=3), "OwnRegressor cannot be saved"),
        (
            lifenet.SubsetStackingRegressor(lifenet.LLARegressor(2, max_iter=2), PAPER[0]),
            "SubsetStackingRegressor cannot be saved",
        ),
    ],
)
def test_what_is_the_users_own_is_refused_by_its_name(model, place, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(rows("lla"), target())
    with pytest.raises(NotStorableError, match=place) as refused:
        model.save(tmp_path / "m.life")
    assert "m.life" in str(refused.value)
    assert "ickle" in str(refused.value)
    assert list(tmp_path.iterdir()) == []


def test_levels_that_no_text_stands_for_are_refused(tmp_path):
    import pandas as pd

    table = pd.DataFrame({"x": np.arange(60.0), "c": pd.Categorical([(1, 2), (3, 4)] * 30)})
    model = lifenet.LLARegressor(2, max_iter=2, random_state=0).fit(table, np.arange(60.0))
    with pytest.raises(NotStorableError, match=r"codes\.1\.levels.*tuple"):
        model.save(tmp_path / "m.life")


def test_models_that_lack_an_attribute_are_refused(tmp_path):
    model = copy.copy(fitted("lla"))
    del model.origin_
    with pytest.raises(NotStorableError, match="no origin_"):
        model.save(tmp_path / "m.life")


def test_only_fitted_models_are_saved(tmp_path):
    with pytest.raises(NotFittedError):
        lifenet.LLARegressor().save(tmp_path / "m.life")


def test_files_that_are_missing_are_an_error_of_the_system(tmp_path):
    with pytest.raises(FileNotFoundError):
        lifenet.load(tmp_path / "m.life")
    with pytest.raises(FileNotFoundError):
        fitted("lla").save(tmp_path / "nowhere" / "m.life")


# ---------------------------------------------------------------------- parameters


def through(value):
    """A parameter's value after it was written and read."""
    sink = Sink()
    node = Parameter().write(value, sink, "p")
    source = Source(sink.members(), 2**26)
    found = Parameter().read(node, source, "p")
    source.check_used()
    return found


simple = st.one_of(
    *(st.none(), st.booleans(), st.integers(), st.floats(), st.text()),
    *(st.integers(-5, 5).map(np.int64), st.floats(width=32).map(np.float32)),
)
nested = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.one_of(st.text(), st.integers()), inner, max_size=4),
    ),
    max_leaves=8,
)


@given(nested)
@settings(deadline=None, suppress_health_check=list(HealthCheck))
def test_plain_values_come_back(value):
    assert repr(through(value)) == repr(value)


@pytest.mark.parametrize(
    "value",
    [
        np.arange(5),
        np.arange(10_000.0).reshape(-1, 2),
        np.array([True, False]),
        np.array(["a", "bcd"]),
        np.array([["a"], ["bcd"]], dtype=object),
        np.array(2.5),
        np.zeros((0, 3)),
        KFold(4, shuffle=True, random_state=1),
        GroupKFold(3),
        ShuffleSplit(2, test_size=0.25, random_state=np.random.RandomState(1)),
        lifenet.preset("glass"),
        lifenet.Hierarchy("bootstrap", lifenet.Adam(3), n_neurons=(1, 2)),
        lifenet.losses.SquaredError(),
        lifenet.losses.Multinomial(4),
        [[0, 1], ["a", 2]],
        {np.int64(1): 2.0, "b": (None, -0.0)},
    ],
    ids=lambda one: type(one).__name__,
)
def test_objects_that_parameters_are_come_back(value):
    found = through(value)
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert differences(value, found) == []
    else:
        assert without_addresses(found) == without_addresses(value)


def test_values_that_hold_themselves_are_refused():
    value: list = []
    value.append(value)
    with pytest.raises(NotStorableError, match="too deep"):
        through(value)


def test_a_splitter_comes_back_with_the_model(tmp_path):
    model = lifenet.LIFERegressor(*PAPER, validation=KFold(3), random_state=0)
    model.fit(rows("lla"), target())
    loaded = again(model, tmp_path)
    assert repr(loaded.validation) == repr(KFold(3))
    assert differences(loaded.fit(rows("lla"), target()).network_, model.network_) == []


# ---------------------------------------------------------------------- categories


def test_hundreds_of_thousands_of_levels_come_back(tmp_path):
    n, model = 300_000, copy.copy(fitted("lla-three"))
    codes = list(model.table_.codes)
    number = next(at for at, one in enumerate(codes) if one.name == "street")
    street = codes[number]
    more = tuple(f"level {number} \u00e9\ud800" for number in range(n - len(street.levels)))
    rest = np.zeros((len(more), street.expected.shape[1]))
    codes[number] = replace(
        street,
        levels=street.levels + more,
        own=np.append(street.own, np.full(len(more), -1)),
        expected=np.vstack([street.expected, rest]),
        share=np.zeros(0),
    )
    model.table_ = replace(model.table_, codes=tuple(codes))
    model.schema_ = replace(model.schema_, table=model.table_)
    loaded = again(model, tmp_path)
    assert loaded.table_.codes[number].levels == codes[number].levels
    table = frame()
    assert differences(model.predict_proba(table), loaded.predict_proba(table)) == []
    assert (tmp_path / "m.life").stat().st_size < 5 * n


@pytest.mark.parametrize(
    "labels",
    [
        ["a", "b"],
        [True, False],
        [3, -7],
        [2.0, 5.0],
        np.array(["a", "b"], dtype=object),
        np.array([1, 2], dtype=np.int8),
        np.array(["a", "b"], dtype="<U20"),
    ],
    ids=lambda one: type(one).__name__,
)
def test_labels_come_back(labels, tmp_path):
    y = np.asarray(labels)[(target() > 1).astype(int)]
    model = lifenet.LLAClassifier(2, max_iter=2, random_state=0).fit(rows("lla"), y)
    loaded = again(model, tmp_path)
    assert differences(model.classes_, loaded.classes_) == []
    assert differences(model.predict(rows("lla")), loaded.predict(rows("lla"))) == []


def test_names_and_levels_of_any_text_come_back(tmp_path):
    import pandas as pd

    odd = ['"', "\\", "\n", "", " ", "\x00", "名前", "a.b", "../x", "small-f8"]
    table = pd.DataFrame({one or "empty": frame()["number"] for one in odd})
    table["c"] = (odd * 24)[:240]
    model = lifenet.LLARegressor(2, max_iter=2, random_state=0).fit(table, target())
    loaded = again(model, tmp_path)
    assert loaded.schema_.names == model.schema_.names
    assert loaded.table_.codes[-1].levels == model.table_.codes[-1].levels


# ---------------------------------------------------------------------- the docs


def test_the_examples_of_the_docs_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "docs" / "files.md").read_text()
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(code, "docs/files.md", "exec"), {})


# ---------------------------------------------------------------------- other ways


@pytest.mark.parametrize("name", NAMES)
def test_pickles_of_loaded_models_predict_the_same(name, tmp_path):
    model, X = fitted(name), rows(name)
    copied = pickle.loads(pickle.dumps(again(model, tmp_path)))
    assert differences(model.predict(X), copied.predict(X)) == []


@pytest.mark.parametrize("name", ["lla", "adam-two", "paper", "quick", "quick-two", "glass"])
def test_skops_keeps_models(name):
    io = pytest.importorskip("skops.io")
    model, X = fitted(name), rows(name)
    content = io.dumps(model)
    untrusted = io.get_untrusted_types(data=content)
    ours = ("lifenet.", "scipy.sparse.", "pandas.")
    assert all(one.startswith(ours) for one in untrusted)
    loaded = io.loads(content, trusted=untrusted)
    assert differences(model.predict(X), loaded.predict(X)) == []
    assert loaded.network_ == model.network_


# ---------------------------------------------------------------------- past formats

FIXTURES = sorted((Path(__file__).parent / "archives").glob("format-*.life"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_past_formats_are_read(path):
    known = json.loads(path.with_suffix(".json").read_text())
    model, X = lifenet.load(path), np.array(known["X"], dtype=object)
    found = model.network_.score(model._check_input(X))
    np.testing.assert_allclose(found, known["score"], rtol=1e-9, atol=1e-12)
    assert model.origin_.rows == 60


def test_there_is_a_fixture_of_every_format():
    assert {path.stem.split("-")[1] for path in FIXTURES} == {"1"}
    assert issubclass(ArchiveError, ValueError)
