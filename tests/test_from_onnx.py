"""Networks read from ONNX graphs of others, and graphs that are refused."""

import numpy as np
import pytest

from exported_models import close
from lifenet import ReluNetwork

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(0)
W, B = RNG.normal(size=(3, 5)), RNG.normal(size=5)
V, C = RNG.normal(size=(5, 2)), RNG.normal(size=2)
X = RNG.normal(size=(20, 3))
TRUTH = np.maximum(X @ W + B, 0) @ V + C
ARRAYS = {"W": W, "B": B, "V": V, "C": C}
LAYERS = (
    ("MatMul", "x", "W", "a"),
    ("Add", "a", "B", "b"),
    ("Relu", "b", "h"),
    ("MatMul", "h", "V", "c"),
    ("Add", "c", "C", "y"),
)


def graph(*nodes, arrays=ARRAYS, width=3, output="y", dtype=np.float64, opset=19, **settings):
    """A model of nodes given as an operator, its inputs and its output."""
    made = [
        helper.make_node(op, inputs, [out], name=f"{op} {out}", **settings.get(out, {}))
        for op, *inputs, out in nodes
    ]
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    given = helper.make_tensor_value_info("x", kind, ["rows", width])
    last = helper.make_tensor_value_info(output, kind, ["rows", "d"])
    held = [numpy_helper.from_array(np.asarray(one, dtype), name) for name, one in arrays.items()]
    built = helper.make_graph(made, "g", [given], [last], held)
    return helper.make_model(built, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def check(model, truth=TRUTH, output=None):
    network = ReluNetwork.from_onnx(model, output)
    close(network.score(X), truth)
    return network


def test_products_and_sums_are_read():
    network = check(graph(*LAYERS))
    np.testing.assert_array_equal(network.weights, W.T)
    np.testing.assert_array_equal(network.beta, V)


def test_paths_and_bytes_are_read(tmp_path):
    model = graph(*LAYERS)
    onnx.save(model, tmp_path / "a.onnx")
    check(tmp_path / "a.onnx")
    check(str(tmp_path / "a.onnx"))
    check(model.SerializeToString())


def test_gemm_is_read_with_its_settings():
    arrays = {**ARRAYS, "W": W.T / 2, "B": B * 4}
    nodes = (("Gemm", "x", "W", "B", "b"), ("Relu", "b", "h"), ("Gemm", "h", "V", "C", "y"))
    check(graph(*nodes, arrays=arrays, b={"transB": 1, "alpha": 2.0, "beta": 0.25}))


def test_what_scales_inputs_and_targets_is_folded_in():
    arrays = {**ARRAYS, "mean": X.mean(axis=0), "scale": np.array([1.0, 2.0, 3.0]), "unit": 10.0}
    nodes = (
        ("Sub", "x", "mean", "m"),
        ("Div", "m", "scale", "s"),
        ("Flatten", "s", "f"),
        ("Cast", "f", "g"),
        ("Gemm", "g", "W", "B", "b"),
        ("Relu", "b", "h"),
        ("Dropout", "h", "d"),
        ("Gemm", "d", "V", "C", "o"),
        ("Identity", "o", "i"),
        ("Mul", "unit", "i", "u"),
        ("Sub", "unit", "u", "y"),
    )
    scaled = (X - arrays["mean"]) / arrays["scale"]
    truth = 10 - 10 * (np.maximum(scaled @ W + B, 0) @ V + C)
    check(graph(*nodes, arrays=arrays, g={"to": TensorProto.DOUBLE}), truth)


def test_a_connection_past_the_hidden_layer_is_the_linear_part():
    arrays = {**ARRAYS, "S": RNG.normal(size=(3, 2))}
    nodes = (*LAYERS[:4], ("MatMul", "x", "S", "s"), ("Add", "c", "s", "z"), ("Add", "z", "C", "y"))
    network = check(graph(*nodes, arrays=arrays), TRUTH + X @ arrays["S"])
    np.testing.assert_array_equal(network.linear, arrays["S"])


def test_scores_before_other_operators_are_read_by_their_name():
    model = graph(*LAYERS, ("Softmax", "y", "p"), output="p")
    with pytest.raises(ValueError, match=r"Node 'Softmax p', a Softmax, is not.*output="):
        ReluNetwork.from_onnx(model)
    check(model, output="y")


def test_constants_may_be_nodes():
    nodes = (("Constant", "C"), *LAYERS)
    arrays = {name: one for name, one in ARRAYS.items() if name != "C"}
    check(graph(*nodes, arrays=arrays, C={"value": numpy_helper.from_array(C)}))


def test_single_precision_is_read_as_it_is():
    network = ReluNetwork.from_onnx(graph(*LAYERS, dtype=np.float32))
    np.testing.assert_array_equal(network.weights, W.T.astype(np.float32).astype(float))


def test_a_perceptron_of_another_library_explains_the_same():
    runtime = pytest.importorskip("onnxruntime")
    model = graph(*LAYERS)
    session = runtime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    close(ReluNetwork.from_onnx(model).score(X), session.run(None, {"x": X})[0])


TWICE = (*LAYERS[:3], ("MatMul", "h", "E", "e"), ("Relu", "e", "r"), ("MatMul", "r", "V", "y"))
REFUSED = {
    "two layers": (graph(*TWICE, arrays={**ARRAYS, "E": np.eye(5)}), "second hidden layer"),
    "tanh": (graph(*LAYERS[:2], ("Tanh", "b", "y")), "'Tanh y', a Tanh, is not"),
    "shapes": (graph(*LAYERS, arrays={**ARRAYS, "V": V[:4]}), "multiplies 5 columns by an array"),
    "sums": (graph(*LAYERS, arrays={**ARRAYS, "B": B[:4]}), "'Add b', a Add,"),
    "square": (graph(("Mul", "x", "x", "y")), "multiplies two functions"),
    "ratio": (graph(("Div", "W", "x", "y")), "divides by a function"),
    "zero": (graph(("Div", "x", "z", "y"), arrays={"z": np.zeros(3)}), "divides by zero"),
    "whole": (graph(("Cast", "x", "y"), y={"to": TensorProto.INT64}), "rounds to another type"),
    "transposed": (
        graph(("Gemm", "x", "W", "y"), y={"transA": 1}),
        "no product of rows and weights",
    ),
    "constant": (graph(("Identity", "C", "y")), "no function of the input"),
    "width": (graph(*LAYERS, width="p"), "known number of columns"),
    "too wide": (graph(*LAYERS, width=10**9), "known number of columns"),
    "axis": (graph(("Flatten", "x", "y"), y={"axis": 0}), "mixes rows"),
    "infinite": (
        graph(*LAYERS, arrays={**ARRAYS, "W": W * np.inf}),
        "finite",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_other_graphs_are_refused_by_what_is_wrong(name):
    model, said = REFUSED[name]
    with pytest.raises(ValueError, match=said):
        ReluNetwork.from_onnx(model)


def test_weights_that_are_no_real_numbers_are_refused_by_name():
    model = graph(*LAYERS)
    tensor = model.graph.initializer[0]
    spoilt = numpy_helper.from_array(numpy_helper.to_array(tensor) + 1j, tensor.name)
    tensor.CopyFrom(spoilt)
    with pytest.raises(ValueError, match=f"weights '{tensor.name}' are complex; expected real"):
        ReluNetwork.from_onnx(model)


def test_two_inputs_are_refused():
    model = graph(*LAYERS)
    model.graph.input.append(helper.make_tensor_value_info("z", TensorProto.DOUBLE, ["rows", 1]))
    with pytest.raises(ValueError, match=r"2 inputs \('x', 'z'\); expected one"):
        ReluNetwork.from_onnx(model)


def test_several_outputs_are_asked_for():
    model = graph(*LAYERS)
    model.graph.output.append(helper.make_tensor_value_info("c", TensorProto.DOUBLE, ["rows", "d"]))
    with pytest.raises(ValueError, match="name one in output="):
        ReluNetwork.from_onnx(model)
    close(ReluNetwork.from_onnx(model, "c").score(X), TRUTH - C)
    with pytest.raises(ValueError, match="output='q' is no tensor of the graph"):
        ReluNetwork.from_onnx(model, "q")


def test_operators_of_other_domains_are_refused():
    model = graph(*LAYERS)
    model.graph.node[2].domain = "com.example"
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    with pytest.raises(ValueError, match=r"a com.example.Relu, is not"):
        ReluNetwork.from_onnx(model)


def test_files_beside_the_model_are_not_opened(tmp_path):
    secret = tmp_path / "secret"
    secret.write_bytes(W.tobytes())
    model = graph(*LAYERS)
    (weights,) = (one for one in model.graph.initializer if one.name == "W")
    onnx.external_data_helper.set_external_data(weights, str(secret))
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    with pytest.raises(ValueError, match="'W' are in another file, which is not opened"):
        ReluNetwork.from_onnx(model)


def test_shapes_that_are_larger_than_memory_are_refused():
    model = graph(*LAYERS)
    (weights,) = (one for one in model.graph.initializer if one.name == "V")
    weights.dims[0] = 2**50
    with pytest.raises(ValueError, match="V"):
        ReluNetwork.from_onnx(model)


@pytest.mark.parametrize("cut", [1, 20, 100, 300])
def test_broken_files_are_no_onnx(cut):
    data = graph(*LAYERS).SerializeToString()
    with pytest.raises(ValueError, match=r"no ONNX file|no valid ONNX graph|cannot be read"):
        ReluNetwork.from_onnx(data[:-cut])
    with pytest.raises(ValueError, match=r"no ONNX file|no valid ONNX graph"):
        ReluNetwork.from_onnx(b"\xff" * cut)


def test_changed_bytes_give_an_error_of_lifenet_or_a_network():
    data = bytearray(graph(*LAYERS).SerializeToString())
    places = np.random.default_rng(1).integers(0, len(data), 300)
    refused = 0
    for place in places.tolist():
        changed = bytearray(data)
        changed[place] ^= 0x5A
        try:
            ReluNetwork.from_onnx(bytes(changed))
        except ValueError:
            refused += 1
    assert refused > 10


def test_other_things_are_no_models():
    with pytest.raises(TypeError, match="model is a int; expected the path"):
        ReluNetwork.from_onnx(3)
