"""A graph of ONNX operators, built one node at a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Graph", "onnx_package"]

#: The first set of standard operators that compares text; runtimes have it since 2023.
OPSET, IR = 19, 9


def onnx_package() -> Any:
    """The package that writes ONNX."""
    return require("onnx", extra="export", purpose="Writing ONNX")


@dataclass
class Graph:
    """Nodes and constants so far; every method that adds one returns the name of its result."""

    onnx: Any
    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)
    outputs: list[Any] = field(default_factory=list)

    def _name(self) -> str:
        return f"life:{len(self.nodes) + len(self.constants)}"

    def constant(self, values: npt.ArrayLike) -> str:
        """Numbers, or text, that the file holds."""
        array, name = np.asarray(values), self._name()
        if array.dtype.kind in "UO":
            texts = [str(one).encode() for one in array.ravel().tolist()]
            kind = self.onnx.TensorProto.STRING
            made = self.onnx.helper.make_tensor(name, kind, array.shape, texts)
        else:
            made = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(made)
        return name

    def number(self, value: float) -> str:
        """A single number in double precision."""
        return self.constant(np.float64(value))

    def add(self, operator: str, *inputs: str, **attributes: Any) -> str:
        """A node with one result."""
        name = self._name()
        make = self.onnx.helper.make_node
        self.nodes.append(make(operator, [*inputs], [name], **attributes))
        return name

    def double(self, name: str) -> str:
        """The same numbers, or truth values, in double precision."""
        return self.add("Cast", name, to=self.onnx.TensorProto.DOUBLE)

    def sparse(self, shape: tuple[int, int], index: Any, values: Any) -> str:
        """A matrix of which the file holds the entries that are not zero.

        Parameters
        ----------
        index : (n,), row times number of columns plus column
        values : (n,)
        """
        single = values.astype(np.float32)
        if np.array_equal(single, values):
            held = self.double(self.constant(single))
        else:
            held = self.constant(values)
        small = index.astype(np.int32 if shape[0] * shape[1] < 2**31 else np.int64)
        flat = self.constant(np.array([shape[0] * shape[1]], dtype=np.int64))
        zero = self.onnx.helper.make_tensor("", self.onnx.TensorProto.DOUBLE, [1], [0.0])
        zeros = self.add("ConstantOfShape", flat, value=zero)
        filled = self.add("ScatterElements", zeros, self.constant(small), held, axis=0)
        return self.add("Reshape", filled, self.constant(np.array(shape, dtype=np.int64)))

    def columns(self, table: str, columns: npt.ArrayLike) -> str:
        """Some columns of a matrix, in the order given."""
        return self.add("Gather", table, self.constant(np.asarray(columns, np.int64)), axis=1)

    def declare_input(self, name: str, width: int, *, text: bool = False) -> str:
        """An input of rows."""
        kind = self.onnx.TensorProto.STRING if text else self.onnx.TensorProto.DOUBLE
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, kind, ["rows", width]))
        return name

    def declare_output(self, name: str, result: str, kind: int, *shape: int) -> None:
        """An output, one entry a row."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [result], [name]))
        made = self.onnx.helper.make_tensor_value_info(name, kind, ["rows", *shape])
        self.outputs.append(made)

    def model(self, notes: dict[str, str]) -> Any:
        """The finished model, checked."""
        helper = self.onnx.helper
        graph = helper.make_graph(self.nodes, "lifenet", self.inputs, self.outputs, self.constants)
        opset = helper.make_opsetid("", OPSET)
        model = helper.make_model(
            graph, opset_imports=[opset], ir_version=IR, producer_name="lifenet"
        )
        helper.set_model_props(model, notes)
        self.onnx.checker.check_model(model)
        return model
