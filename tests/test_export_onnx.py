"""ONNX graphs say what the model says, in onnxruntime."""

import datetime as dt
import json

import numpy as np
import pandas as pd
import pytest

from exported_models import INJECTED, LEVELS, NAMES, as_frame, case, close, default
from lifenet import LLAClassifier, LLARegressor
from lifenet.export import onnx_inputs, to_onnx

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def run(model, X, graph=None):
    """All outputs, by name."""
    graph = to_onnx(model) if graph is None else graph
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(
        graph.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )
    names = [one.name for one in session.get_outputs()]
    return dict(zip(names, session.run(None, onnx_inputs(model, X)), strict=True))


def check(one):
    found = run(one.model, one.rows)
    close(found["scores"], one.scores)
    if hasattr(one.model, "classes_"):
        assert found["prediction"].tolist() == one.predictions.tolist()
        close(found["probabilities"], one.probabilities)
    else:
        close(found["prediction"], one.predictions)
        assert "probabilities" not in found
    expected, rest = one.contributions
    close(found["contributions"], expected)
    close(found["local_intercept"], rest)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_predictions_and_contributions_are_those_of_the_model(name):
    check(case(name))


@pytest.mark.parametrize("classes", [False, True])
def test_a_default_model_is_the_same_and_its_file_is_small(classes):
    one = default(classes)
    check(one)
    network = one.model.network_.network
    dense = network.n_neurons * network.n_features * 8
    assert len(to_onnx(one.model).SerializeToString()) < dense / 4


def test_only_standard_operators_are_used():
    for name in ("quick", "three classes", "plain"):
        graph = to_onnx(case(name).model)
        assert [(one.domain, one.version) for one in graph.opset_import] == [("", 19)]
        assert {node.domain for node in graph.graph.node} == {""}
        onnx.checker.check_model(graph, full_check=True)


def test_inputs_are_the_columns_of_the_table():
    one = case("quick")
    kinds = onnx.TensorProto
    inputs = {
        given.name: given.type.tensor_type.elem_type for given in to_onnx(one.model).graph.input
    }
    assert list(inputs) == list(as_frame(one).columns)
    text = {name for name, kind in inputs.items() if kind == kinds.STRING}
    assert text == {INJECTED, "city"}
    assert {kind for name, kind in inputs.items() if name not in text} == {kinds.DOUBLE}
    (given,) = to_onnx(case("plain").model).graph.input
    assert given.name == "X"


def test_the_metadata_name_features_and_classes_and_what_is_missing():
    one = case("three classes")
    graph = to_onnx(one.model)
    notes = {prop.key: json.loads(prop.value) for prop in graph.metadata_props}
    assert notes["features"] == [name for name, _ in one.model.schema_.groups]
    assert notes["classes"] == one.model.classes_.tolist()
    assert "" in LEVELS
    assert notes["missing"] == {INJECTED: "<missing>", "city": ""}


def test_contributions_may_be_left_out():
    one = case("quick")
    graph = to_onnx(one.model, contributions=False)
    assert [output.name for output in graph.graph.output] == ["prediction", "scores"]
    assert len(graph.graph.node) < len(to_onnx(one.model).graph.node)
    close(run(one.model, one.rows, graph)["scores"], one.scores)


def test_a_single_row_is_a_table():
    one = case("quick")
    close(run(one.model, one.rows[20:21])["prediction"], one.predictions[20:21])


@pytest.mark.parametrize("labels", [[False, True], [3, 10], [0.0, 2.0], ["no", "yes"]])
def test_predictions_are_labels_of_their_type(labels):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = np.array(labels)[(X[:, 0] > 0).astype(int)]
    model = LLAClassifier(2, max_iter=3, random_state=0).fit(X, y)
    found = run(model, X)["prediction"]
    assert found.tolist() == model.predict(X).tolist()
    assert found.dtype.kind == ("O" if isinstance(labels[0], str) else y.dtype.kind)
    assert len(set(found.tolist())) == 2


def test_months_and_weekdays_are_those_of_the_calendar():
    """Every month of 900 years around leap years and centuries."""
    days = np.arange(-300_000, 40_000, 173)
    frame = pd.DataFrame({"d": np.array(days, dtype="datetime64[D]").astype("datetime64[s]")})
    month = frame["d"].to_numpy().astype("datetime64[M]").astype(int) % 12
    model = LLARegressor(4, max_iter=5, random_state=0).fit(frame, month + 0.1 * (days % 7))
    assert [part for part, _ in model.table_.codes[0].parts] == ["month", "weekday"]
    ends = np.arange("1582-12", "2100-01", dtype="datetime64[M]").astype("datetime64[s]")
    edges = np.concatenate([ends, ends - np.timedelta64(1, "s")])
    asked = pd.DataFrame({"d": edges})
    close(run(model, asked)["prediction"], model.predict(asked))


def test_a_category_of_dates_is_its_days():
    days = [dt.date(2024, 2, 28), dt.date(1960, 1, 1), dt.date(2024, 3, 1)]
    frame = pd.DataFrame({"d": pd.Categorical(days * 20), "x": np.arange(60.0)})
    model = LLARegressor(1, max_iter=3, random_state=0).fit(frame, [0.0, 1.0, 5.0] * 20)
    assert onnx_inputs(model, frame[:1])["d"].tolist() == [[19_781.0]]
    close(run(model, frame)["prediction"], model.predict(frame))


def test_a_constant_model_has_no_neurons():
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = LLARegressor(2, random_state=0).fit(X, np.full(40, 3.0))
    assert model.network_.n_neurons == 0
    found = run(model, X)
    close(found["prediction"], np.full(40, 3.0))
    close(found["contributions"], np.zeros((40, 2, 1)))


@pytest.mark.parametrize("name", ["prediction", "", "life:0"])
def test_a_column_that_no_input_can_be_called_is_named(name):
    frame = pd.DataFrame({name: list("ab") * 20, "x": np.arange(40.0)})
    model = LLARegressor(1, max_iter=2, random_state=0).fit(frame, np.arange(40.0))
    with pytest.raises(ValueError, match="Rename the column before fit"):
        to_onnx(model)


def test_inputs_refuse_what_predict_refuses():
    one = case("quick")
    with pytest.raises(ValueError, match="Missing"):
        onnx_inputs(one.model, one.rows.drop(columns="city"))
    with pytest.raises(ValueError, match="Column 'city'"):
        onnx_inputs(one.model, one.rows.assign(city=3.0))
