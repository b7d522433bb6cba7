"""Whether exported models say what the model says, how large they are, and how fast.

compare(model, X)   largest difference to the model by export, over one plus what the model says
sizes(model)        bytes by export
latency(model, x)   milliseconds for one row by ONNX, Python module and predict
"""

from __future__ import annotations

import importlib.util
import time
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from benchmarks.files import databases, postgres
from lifenet.export import onnx_inputs, to_json, to_onnx, to_python, to_sql
from lifenet.network import CodedNetwork

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats

#: Heights below this share of a neuron's weights are zero but for rounding.
_ROUNDING = 1e-11


def equation(network: Any, X: Floats) -> Floats:
    """Contributions by column, where neurons on their kink are inactive whatever rounding says.

    The network's own, (n, n_columns, n_outputs), computed from all codes at once.
    """
    coded = isinstance(network, CodedNetwork)
    inner = network.network if coded else network
    weights = inner.dense().weights.astype(float)
    codes = network.coding.encode(X) if coded else X
    slopes = network.coding.slopes(X) if coded else np.ones_like(X)
    column = network.coding.column_of_code if coded else np.arange(X.shape[1])
    scale = np.abs(inner.bias) + np.abs(weights) @ np.abs(codes).max(axis=0)
    active = codes @ weights.T + inner.bias > _ROUNDING * scale
    found = np.zeros((*X.shape, inner.n_outputs))
    for output in range(inner.n_outputs):
        by_code = (active * inner.beta[:, output]) @ weights + inner.linear[:, output]
        by_code *= slopes
        for code, place in enumerate(column):
            found[:, place, output] += by_code[:, code]
    return found * X[:, :, None]


def by_feature(model: Any, X: Any) -> Floats:
    """Contributions by feature of the schema, (n, n_features, n_outputs)."""
    found = equation(model.network_, model.table_.transform(X))
    groups = [found[:, list(own)].sum(axis=1) for _, own in model.schema_.groups]
    return np.stack(groups, axis=1)


def compare(model: Any, X: Any) -> dict[str, float]:
    """Largest ``|difference| / (1 + |f|)`` of scores and contributions, by export.

    Databases that are not installed are left out. Infinite where a predicted class differs.
    """
    scores = model.network_.score(model.table_.transform(X))
    parts, said = by_feature(model, X), model.predict(X)
    classes = hasattr(model, "classes_")
    found = {}
    outputs = run_onnx(session(model), onnx_inputs(model, X))
    found["onnx"] = _apart(outputs["scores"], scores)
    found["onnx prediction"] = _said(outputs["prediction"], said, classes)
    found["onnx contributions"] = _apart(outputs["contributions"], parts)
    module, rows = module_of(model), rows_of(model, X)
    found["python"] = _apart([np.atleast_1d(module["score"](row)) for row in rows], scores)
    found["python prediction"] = _said([module["predict"](row) for row in rows], said, classes)
    contributions = [
        [np.atleast_1d(one) for one in module["contributions"](row).values()] for row in rows
    ]
    found["python contributions"] = _apart(contributions, parts)
    for name, result in _tables(model, _frame(model, X)):
        found[name] = _of_table(result, scores, said, model)
    return found


def _tables(model: Any, frame: pd.DataFrame) -> Any:
    """What each database says."""
    yield "sqlite", databases.run(databases.in_sqlite(frame), to_sql(model))
    if importlib.util.find_spec("duckdb"):
        base = databases.in_duckdb(frame)
        yield "duckdb", databases.run(base, to_sql(model, dialect="duckdb"))
    if postgres.programs():
        with postgres.server() as running:
            running.fill(frame)
            yield "postgresql", running.run(to_sql(model, dialect="postgresql"))


def _of_table(result: pd.DataFrame, scores: Floats, said: Any, model: Any) -> float:
    if not hasattr(model, "classes_"):
        return _apart(result[["prediction"]], scores)
    named = ["score"] if scores.shape[1] == 1 else [f"score {one}" for one in model.classes_]
    texts = [str(int(one) if isinstance(one, bool) else one) for one in said.tolist()]
    if [str(one) for one in result["prediction"]] != texts:
        return np.inf
    return _apart(result[named], scores)


def _apart(found: Any, expected: Floats) -> float:
    found = np.asarray(found, dtype=float).reshape(expected.shape)
    return float(np.max(np.abs(found - expected) / (1 + np.abs(expected))))


def _said(found: Any, expected: Any, classes: bool) -> float:
    if classes:
        return 0.0 if list(found) == expected.tolist() else np.inf
    return _apart(found, expected)


def _frame(model: Any, X: Any) -> pd.DataFrame:
    return X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=list(model.table_.names))


def rows_of(model: Any, X: Any) -> list[dict[str, Any]]:
    """Rows as dictionaries of Python's own values."""
    records = _frame(model, X).to_dict("records")
    return [{name: _plain(value) for name, value in row.items()} for row in records]


def _plain(value: Any) -> Any:
    if value is None or value is pd.NaT or value is pd.NA:
        return None
    if isinstance(value, pd.Timestamp):
        return value.to_pydatetime()
    if isinstance(value, pd.Timedelta):
        return value.to_pytimedelta()
    return value.item() if isinstance(value, np.generic) else value


def module_of(model: Any) -> dict[str, Any]:
    """The names of the exported Python module."""
    return loaded(to_python(model))


def loaded(text: str) -> dict[str, Any]:
    """The names of a module by its text."""
    names: dict[str, Any] = {}
    exec(compile(text, "exported.py", "exec"), names)
    return names


def session(model: Any, *, contributions: bool = True) -> Any:
    """A session of onnxruntime with one thread."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    data = to_onnx(model, contributions=contributions).SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def run_onnx(running: Any, inputs: dict[str, Any]) -> dict[str, Any]:
    """All outputs, by name."""
    names = [one.name for one in running.get_outputs()]
    return dict(zip(names, running.run(None, inputs), strict=True))


def sizes(model: Any) -> dict[str, int]:
    """Bytes of each export."""
    return {
        "onnx": len(to_onnx(model).SerializeToString()),
        "python": len(to_python(model).encode()),
        "sql": len(str(to_sql(model)).encode()),
        "json": len(to_json(model).encode()),
    }


def latency(model: Any, x: Any, repeats: int = 50) -> dict[str, float]:
    """Median milliseconds for one row, and to load the Python module.

    Parameters
    ----------
    x : a table with one row
    """
    inputs, (row,) = onnx_inputs(model, x), rows_of(model, x)
    alone, whole = session(model, contributions=False), session(model)
    text = to_python(model)
    start = time.perf_counter()
    module = loaded(text)
    loading = 1e3 * (time.perf_counter() - start)
    work: dict[str, Callable[[], Any]] = {
        "predict": lambda: model.predict(x),
        "onnx": lambda: alone.run(None, inputs),
        "onnx with contributions": lambda: whole.run(None, inputs),
        "python": lambda: module["predict"](row),
        "python contributions": lambda: module["contributions"](row),
    }
    found = {name: _milliseconds(one, repeats) for name, one in work.items()}
    return {**found, "loading the python module": loading}


def _milliseconds(work: Callable[[], Any], repeats: int) -> float:
    work()
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        taken.append(time.perf_counter() - start)
    return 1e3 * float(np.median(taken))
