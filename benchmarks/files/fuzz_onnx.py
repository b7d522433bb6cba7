"""Damaged ONNX files: a network, or an error that has a name."""

from __future__ import annotations

import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

from lifenet.network import ReluNetwork


def whole_files() -> list[bytes]:
    """Small networks with one hidden layer, as other tools write them."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    found = []
    rng = np.random.default_rng(0)
    for n, k, o in ((2, 3, 1), (4, 5, 2)):
        parts = {"W": rng.normal(size=(n, k)), "b": rng.normal(size=k)}
        parts |= {"V": rng.normal(size=(k, o)), "c": rng.normal(size=o)}
        nodes = [
            helper.make_node("Gemm", ["x", "W", "b"], ["h"]),
            helper.make_node("Relu", ["h"], ["r"]),
            helper.make_node("Gemm", ["r", "V", "c"], ["y"]),
        ]
        graph = helper.make_graph(
            nodes,
            "network",
            [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [None, n])],
            [helper.make_tensor_value_info("y", TensorProto.DOUBLE, [None, o])],
            [numpy_helper.from_array(value, name) for name, value in parts.items()],
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)])
        onnx.checker.check_model(model)
        found.append(model.SerializeToString())
    return found


def fuzz(n_inputs: int, seed: int = 0) -> dict[str, Any]:
    """How many damaged files were read, refused by name, or raised anything else, with examples."""
    rng, counts, others = np.random.default_rng(seed), Counter[str](), {}
    wholes, slowest = whole_files(), 0.0
    for number in range(n_inputs):
        content = _damaged(wholes[number % len(wholes)], rng)
        begun = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                ReluNetwork.from_onnx(content)
                counts["read"] += 1
            except ValueError as error:
                counts["refused" if str(error) else "unnamed"] += 1
            except Exception as error:
                counts["other"] += 1
                others.setdefault(type(error).__name__, f"input {number}: {error}")
        slowest = max(slowest, time.perf_counter() - begun)
    return {**counts, "others": others, "slowest": slowest}


def _damaged(whole: bytes, rng: np.random.Generator) -> bytes:
    content = bytearray(whole)
    for _ in range(int(rng.integers(1, 5))):
        place, kind = int(rng.integers(len(content))), int(rng.integers(4))
        if kind == 0:
            content[place] = int(rng.integers(256))
        elif kind == 1:
            del content[place : place + int(rng.integers(1, 20))]
        elif kind == 2:
            content[place:place] = rng.bytes(int(rng.integers(1, 20)))
        else:
            content = content[: max(place, 1)]
        if not content:
            break
    return bytes(content)
