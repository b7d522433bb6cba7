"""A model as ONNX: standard operators in double precision."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.export.fields import read_cells
from lifenet.export.formula import formula_of
from lifenet.export.onnx_cells import MATRIX, columns_of_inputs, missing_text
from lifenet.export.onnx_graph import Graph, onnx_package
from lifenet.export.onnx_network import NetworkNodes

if TYPE_CHECKING:
    import numpy.typing as npt

    from lifenet.export.formula import Formula

__all__ = ["onnx_inputs", "to_onnx"]

_TAKEN = ("prediction", "scores", "probabilities", "contributions", "local_intercept")


def to_onnx(model: Any, *, contributions: bool = True) -> Any:
    """Write a fitted model as an ONNX graph, for onnxruntime and the like.

    Inputs are the columns of the table under their names, each (n, 1): text for categories of text,
    else double, with NaN where a value is missing; dates are days since 1970, durations days.
    Models of plain numbers have one input, "X" (n, n_columns). `onnx_inputs` makes them of a table.
    All operators are standard ones of opset 19.

    Outputs are "prediction" (n,), "scores" (n, n_outputs), for classes "probabilities" (n,
    n_classes), and "contributions" (n, n_features, n_outputs), whose features the metadata name,
    with "local_intercept" (n, n_outputs).

    Parameters
    ----------
    model : fitted model, or finished search
        Any estimator with `network_` and `schema_`.
    contributions : bool
        Whether the graph has the outputs "contributions" and "local_intercept". Runtimes compute
        all outputs, also those that are not asked for.

    Returns
    -------
    onnx.ModelProto
    """
    formula = formula_of(model, "ONNX")
    _check_names(formula)
    graph = Graph(onnx_package())
    network = NetworkNodes(graph, formula, columns_of_inputs(graph, formula))
    scores = network.scores()
    _declare_predictions(graph, formula, scores)
    if contributions:
        parts, rest = network.contributions(scores)
        shape, double = (len(formula.features), formula.n_outputs), graph.onnx.TensorProto.DOUBLE
        graph.declare_output("contributions", parts, double, *shape)
        graph.declare_output("local_intercept", rest, double, formula.n_outputs)
    notes = {
        "features": [name for name, _ in formula.features],
        "missing": {
            one.name: missing_text(one) for one in formula.fields if one.level_kind == "text"
        },
        "classes": None if formula.classes is None else list(formula.classes),
    }
    return graph.model({name: json.dumps(note) for name, note in notes.items()})


def onnx_inputs(model: Any, X: Any) -> dict[str, npt.NDArray[Any]]:
    """The inputs of a model's graph for the rows of a table: what onnxruntime is given.

    Parameters
    ----------
    model : fitted model, or finished search
    X : data frame, or array of shape (n, n_columns), as for `predict`
    """
    formula = formula_of(model, "ONNX")
    cells = read_cells(getattr(model, "best_estimator_", model).table_, X, missing_text)
    if formula.is_plain:
        return {MATRIX: np.hstack(cells)}
    return {one.name: values for one, values in zip(formula.fields, cells, strict=True)}


def _check_names(formula: Formula) -> None:
    if formula.is_plain:
        return
    for one in formula.fields:
        if not one.name or one.name in _TAKEN or one.name.startswith("life:"):
            raise ValueError(
                f"An input cannot be called {one.name!r}, as the column is; outputs are called "
                f"{', '.join(_TAKEN)}. Rename the column before fit."
            )


def _declare_predictions(graph: Graph, formula: Formula, scores: str) -> None:
    kinds = graph.onnx.TensorProto
    if formula.classes is None:
        flat = graph.add("Squeeze", scores, graph.constant(np.array([1])))
        graph.declare_output("prediction", flat, kinds.DOUBLE)
        graph.declare_output("scores", scores, kinds.DOUBLE, formula.n_outputs)
        return
    if formula.n_outputs == 1:
        second = graph.add("Greater", scores, graph.number(0.0))
        number = graph.add("Cast", second, to=kinds.INT64)
        code = graph.add("Squeeze", number, graph.constant(np.array([1])))
        shares = [graph.add("Sigmoid", graph.add("Neg", scores)), graph.add("Sigmoid", scores)]
        probabilities = graph.add("Concat", *shares, axis=1)
    else:
        code = graph.add("ArgMax", scores, axis=1, keepdims=0)
        probabilities = graph.add("Softmax", scores, axis=1)
    labels = _labels(formula)
    kind = {"O": kinds.STRING, "b": kinds.BOOL, "i": kinds.INT64}.get(labels.dtype.kind)
    chosen = graph.add("Gather", graph.constant(labels), code)
    graph.declare_output("prediction", chosen, kinds.DOUBLE if kind is None else kind)
    graph.declare_output("scores", scores, kinds.DOUBLE, formula.n_outputs)
    graph.declare_output("probabilities", probabilities, kinds.DOUBLE, len(labels))


def _labels(formula: Formula) -> npt.NDArray[Any]:
    labels = list(formula.classes or ())
    if any(isinstance(one, str) for one in labels):
        return np.array([str(one) for one in labels], dtype=object)
    found = np.array(labels)
    return found.astype(np.int64) if found.dtype.kind in "iu" else found
