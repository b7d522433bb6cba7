"""Reading a network with one hidden ReLU layer from an ONNX graph.

Every tensor of the graph is followed as a function of the input,

    constant + x linear + relu(x weights + bias) beta

to which each operator that is known leads again. What is not of this form is refused by the name of
its node. Nothing of the graph is run, and no other file is opened.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy import sparse

from lifenet._extras import require
from lifenet.kernels.weights import dense_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lifenet._typing import Floats

__all__ = ["read_onnx"]

#: Bytes of the weights of one operator, in double precision: no graph may ask for more memory.
_LARGEST = 1 << 30
#: Columns of the input, likewise.
_MOST_COLUMNS = 10_000
#: ONNX's numbers of the types float and double.
_FLOATING = (1, 11)


@dataclass(frozen=True, eq=False)
class _Form:
    """A function of the input rows (n, p) with d outputs and k hidden neurons."""

    constant: Floats  # (d,)
    linear: Floats  # (p, d)
    weights: Floats  # (p, k)
    bias: Floats  # (k,)
    beta: Any  # (k, d), sparse as long as it is the identity

    @classmethod
    def identity(cls, p: int) -> _Form:
        """The input."""
        return cls(np.zeros(p), np.eye(p), np.zeros((p, 0)), np.zeros(0), np.zeros((0, p)))

    def times(self, matrix: Floats) -> _Form:
        """Outputs (n, d) times a matrix (d, e)."""
        if matrix.ndim != 2 or len(matrix) != len(self.constant):
            raise ValueError(
                f"multiplies {len(self.constant)} columns by an array of shape {matrix.shape}"
            )
        return replace(
            self,
            constant=self.constant @ matrix,
            linear=self.linear @ matrix,
            beta=self.beta @ matrix,
        )

    def scaled(self, factor: Floats) -> _Form:
        """Each output times a number."""
        by = np.broadcast_to(_row(factor), self.constant.shape)
        beta = np.asarray(self.beta @ sparse.csr_array(sparse.diags(by)))
        return replace(self, constant=self.constant * by, linear=self.linear * by, beta=beta)

    def plus(self, other: _Form | Floats) -> _Form:
        """The sum with numbers, or with another function of the same neurons or of others."""
        if not isinstance(other, _Form):
            return replace(self, constant=self.constant + _row(other))
        return _Form(
            self.constant + other.constant,
            self.linear + other.linear,
            np.hstack([self.weights, other.weights]),
            np.append(self.bias, other.bias),
            np.vstack([dense_of(self.beta), dense_of(other.beta)]),
        )

    def cut(self) -> _Form:
        """Each output cut at zero."""
        if len(self.bias):
            raise ValueError("is a second hidden layer; expected exactly one")
        d = len(self.constant)
        still = np.zeros(d), np.zeros_like(self.linear)
        return _Form(*still, self.linear, self.constant, sparse.csr_array(sparse.eye(d)))


_Value: TypeAlias = "_Form | Floats"


def _row(array: Floats) -> Floats:
    """Numbers of the outputs: (d,), (1, d) or one."""
    if array.ndim > 2 or (array.ndim == 2 and len(array) != 1):
        raise ValueError(f"has an array of shape {array.shape} for rows; expected one a column")
    return array.reshape(-1)


def read_onnx(model: Any, output: str | None = None) -> tuple[Floats, ...]:
    """Weights (m, p), bias, beta (m, q), intercept and linear part (p, q) of a graph.

    Parameters
    ----------
    model : path, bytes or onnx.ModelProto
    output : name of the tensor that is read; None for the graph's only output of numbers
    """
    graph = _load(model).graph
    values = _starting_values(graph)
    wanted = _output_of(graph, output)
    for node in _leading_to(graph, wanted):
        try:
            inputs = [values[name] for name in node.input if name]
            with np.errstate(all="ignore"):  # the network refuses what is not finite
                values[node.output[0]] = _apply(node, inputs)
        except (KeyError, TypeError, ValueError, MemoryError) as error:
            raise ValueError(f"{_named(node)} {_told(error)}. {_EXPECTED}") from error
    form = values.get(wanted)
    if not isinstance(form, _Form):
        raise ValueError(f"The output {wanted!r} is no function of the input. {_EXPECTED}")
    return form.weights.T, form.bias, dense_of(form.beta), form.constant, form.linear


_EXPECTED = (
    "What is read are graphs of Gemm or MatMul and Add, Relu, Gemm or MatMul and Add; name the "
    "tensor of raw scores in output= where others follow."
)


def _load(model: Any) -> Any:
    """A checked model; files beside it are not opened."""
    onnx: Any = require("onnx", extra="export", purpose="Reading ONNX")
    if not isinstance(model, onnx.ModelProto):
        if not isinstance(model, str | bytes | Path):
            raise TypeError(
                f"model is a {type(model).__name__}; expected the path of an ONNX file, its bytes "
                "or an onnx.ModelProto"
            )
        data = model if isinstance(model, bytes) else Path(model).read_bytes()
        try:
            model = onnx.load_model_from_string(data)
        except Exception as error:  # protobuf has errors of its own
            raise ValueError(f"model is no ONNX file: {error}") from error
    for tensor in model.graph.initializer:
        if tensor.data_location == onnx.TensorProto.EXTERNAL:
            raise ValueError(
                f"The weights {tensor.name!r} are in another file, which is not opened. Save the "
                "model as one file: onnx.save(model, path, save_as_external_data=False)."
            )
    try:
        onnx.checker.check_model(model)
    except Exception as error:
        raise ValueError(f"model is no valid ONNX graph: {error}") from error
    return model


def _starting_values(graph: Any) -> dict[str, _Value]:
    """The constants of a graph, and its input."""
    values: dict[str, _Value] = {one.name: _array(one) for one in graph.initializer}
    given = [one for one in graph.input if one.name not in values]
    if len(given) != 1:
        names = ", ".join(repr(one.name) for one in given)
        raise ValueError(f"The graph has {len(given)} inputs ({names}); expected one matrix.")
    dims = given[0].type.tensor_type.shape.dim
    width = dims[1].dim_value if len(dims) == 2 else 0
    if width < 1 or width > _MOST_COLUMNS:
        raise ValueError(
            f"The input {given[0].name!r} must be a matrix with a known number of columns, "
            f"10,000 at most; its shape is {[one.dim_param or one.dim_value for one in dims]}."
        )
    return values | {given[0].name: _Form.identity(width)}


def _array(tensor: Any) -> Any:
    onnx: Any = require("onnx", extra="export", purpose="Reading ONNX")
    if 8 * int(np.prod([float(one) for one in tensor.dims])) > _LARGEST:
        raise ValueError(f"The weights {tensor.name!r} have shape {list(tensor.dims)}: too large.")
    try:
        array = onnx.numpy_helper.to_array(tensor)
    except Exception as error:
        raise ValueError(f"The weights {tensor.name!r} cannot be read: {error}") from error
    if array.dtype.kind == "c":
        raise ValueError(f"The weights {tensor.name!r} are complex; expected real numbers.")
    return array.astype(np.float64) if array.dtype.kind in "fiu" else array


def _output_of(graph: Any, output: str | None) -> str:
    """The name of the tensor that is read."""
    names = [one.name for one in graph.output]
    if output is None:
        if len(names) != 1:
            raise ValueError(f"The graph has outputs {names}; name one in output=.")
        return str(names[0])
    known = {name for node in graph.node for name in node.output}
    if output not in known:
        raise ValueError(f"output={output!r} is no tensor of the graph; its outputs are {names}.")
    return output


def _leading_to(graph: Any, wanted: str) -> list[Any]:
    """Nodes that a tensor is made of, in their order."""
    needed, found = {wanted}, []
    for node in reversed(graph.node):
        if needed & set(node.output):
            needed |= set(node.input)
            found.append(node)
    return found[::-1]


def _told(error: Exception) -> str:
    """What is wrong, in words that follow the name of a node."""
    if isinstance(error, KeyError):
        return f"reads {error.args[0]!r}, which is no tensor of numbers"
    return "is too large" if isinstance(error, MemoryError) else str(error)


def _named(node: Any) -> str:
    kind = node.op_type if not node.domain else f"{node.domain}.{node.op_type}"
    return f"Node {node.name or node.output[0]!r}, a {kind},"


def _apply(node: Any, inputs: Sequence[Any]) -> Any:
    """What a node gives."""
    operator = _OPERATORS.get(node.op_type) if node.domain in ("", "ai.onnx") else None
    if operator is None:
        raise ValueError("is not of a network with one hidden ReLU layer")
    onnx: Any = require("onnx", extra="export", purpose="Reading ONNX")
    settings = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
    return operator(settings, *inputs)


def _gemm(settings: dict[str, Any], a: Any, b: Any, c: Any = None) -> Any:
    if settings.get("transA") or not isinstance(a, _Form) or isinstance(b, _Form):
        raise ValueError("is no product of rows and weights")
    matrix = settings.get("alpha", 1.0) * (b.T if settings.get("transB") else b)
    product = a.times(matrix)
    return product if c is None else _add({}, product, _mul({}, c, settings.get("beta", 1.0)))


def _matmul(_: dict[str, Any], a: Any, b: Any) -> Any:
    if not isinstance(a, _Form) or isinstance(b, _Form):
        raise ValueError("is no product of rows and weights")
    return a.times(b)


def _add(_: dict[str, Any], a: Any, b: Any) -> Any:
    found: Any
    if isinstance(a, _Form) or isinstance(b, _Form):
        found = a.plus(b) if isinstance(a, _Form) else b.plus(a)
    else:
        return np.asarray(a + b)
    if found.constant.shape != found.linear.shape[1:]:
        raise ValueError(f"adds {len(found.constant)} numbers to {found.linear.shape[1]} columns")
    return found


def _sub(_: dict[str, Any], a: Any, b: Any) -> Any:
    return _add({}, a, _mul({}, b, -1.0))


def _mul(_: dict[str, Any], a: Any, b: Any) -> Any:
    if isinstance(a, _Form) and isinstance(b, _Form):
        raise ValueError("multiplies two functions of the input")
    if isinstance(a, _Form):
        return a.scaled(np.asarray(b))
    return b.scaled(np.asarray(a)) if isinstance(b, _Form) else np.asarray(a * b)


def _div(_: dict[str, Any], a: Any, b: Any) -> Any:
    if isinstance(b, _Form):
        raise ValueError("divides by a function of the input")
    if not np.all(b):
        raise ValueError("divides by zero")
    return _mul({}, a, 1.0 / b)


def _relu(_: dict[str, Any], a: Any) -> Any:
    return a.cut() if isinstance(a, _Form) else np.maximum(a, 0.0)


def _same(_: dict[str, Any], a: Any) -> Any:
    return a


def _dropout(_: dict[str, Any], a: Any, ratio: Any = None, training: Any = False) -> Any:
    if np.any(training):
        raise ValueError("is in training mode")
    return a


def _cast(settings: dict[str, Any], a: Any) -> Any:
    if settings.get("to") not in _FLOATING:
        raise ValueError("rounds to another type than float or double")
    return a


def _flatten(settings: dict[str, Any], a: Any) -> Any:
    if settings.get("axis", 1) != 1 or not isinstance(a, _Form):
        raise ValueError("mixes rows")
    return a


def _constant(settings: dict[str, Any]) -> Any:
    if "value" in settings:
        return _array(settings["value"])
    known = [settings[name] for name in ("value_float", "value_floats") if name in settings]
    if not known:
        raise ValueError("holds no numbers")
    return np.asarray(known[0], dtype=np.float64)


_OPERATORS: dict[str, Callable[..., Any]] = {
    "Add": _add,
    "Cast": _cast,
    "Constant": _constant,
    "Div": _div,
    "Dropout": _dropout,
    "Flatten": _flatten,
    "Gemm": _gemm,
    "Identity": _same,
    "MatMul": _matmul,
    "Mul": _mul,
    "Relu": _relu,
    "Sub": _sub,
}
