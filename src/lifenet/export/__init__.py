"""Fitted models as files that other programs run: they hold the network, not how it was trained."""

from __future__ import annotations

from lifenet.export.json_text import to_json
from lifenet.export.onnx_file import onnx_inputs, to_onnx
from lifenet.export.python import to_python
from lifenet.export.scorecard import Scorecard, to_scorecard
from lifenet.export.sql import SqlExport, to_sql

__all__ = [
    "Scorecard",
    "SqlExport",
    "onnx_inputs",
    "to_json",
    "to_onnx",
    "to_python",
    "to_scorecard",
    "to_sql",
]
