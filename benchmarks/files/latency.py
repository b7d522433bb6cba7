"""Milliseconds for one row: `predict`, ONNX in onnxruntime, and the Python module."""

from __future__ import annotations

from typing import Any

from benchmarks.files.exports import latency
from benchmarks.runs import Runs
from benchmarks.tables.data import split

PRESETS = ("paper", "fast", "small", "glass")
LATENCY = Runs("files-latency.csv", ("predict", "onnx", "python"))


def latencies(preset: str, seed: int) -> list[dict[str, Any]]:
    """Of a row of HMEQ, which has text and gaps, by preset."""
    from lifenet import LIFEClassifier

    data = split("hmeq", seed)
    model = LIFEClassifier(preset=preset, random_state=seed).fit(data.X, data.y)
    found = latency(model, data.X_test.iloc[:1])
    known = {"part": "latency", "data": preset, "seed": seed}
    return [known | {name: found[name] for name in ("predict", "onnx", "python")}]
