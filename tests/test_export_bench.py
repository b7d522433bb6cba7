"""The benchmark of exports measures what it says, and would see a wrong export."""

import numpy as np
import pandas as pd
import pytest
from benchmarks.files import exports, postgres

from exported_models import case

pytest.importorskip("onnxruntime")
RIGHT = exports.session


@pytest.mark.parametrize("name", ["quick", "three classes", "two classes", "plain"])
def test_all_exports_say_what_the_model_says(name, monkeypatch):
    monkeypatch.setattr(postgres, "programs", lambda: None)
    one = case(name)
    found = exports.compare(one.model, one.rows)
    assert {"onnx", "onnx contributions", "python", "python contributions", "sqlite"} <= set(found)
    assert max(found.values()) <= 1e-9


def test_a_wrong_export_is_seen(monkeypatch):
    one, other = case("two classes"), case("quick")
    monkeypatch.setattr(exports, "_tables", lambda model, frame: ())
    module = {**exports.module_of(one.model), "score": lambda row: 0.0, "predict": lambda row: 2}
    monkeypatch.setattr(exports, "module_of", lambda model: module)
    monkeypatch.setattr(exports, "session", Wrong)
    found = exports.compare(one.model, one.rows)
    assert found["python"] > 0.01
    assert found["python prediction"] == np.inf
    assert found["onnx"] > 0.01
    assert found["python contributions"] <= 1e-9
    table = pd.DataFrame({"prediction": other.predictions + 0.1})
    seen = exports._of_table(table, other.scores, other.predictions, other.model)
    assert 0.1 / (1 + np.abs(other.scores).max()) <= seen <= 0.1


class Wrong:
    """A session whose scores are one too high."""

    def __init__(self, model):
        self.right = RIGHT(model)

    def get_outputs(self):
        return self.right.get_outputs()

    def run(self, names, inputs):
        found = self.right.run(names, inputs)
        place = [one.name for one in self.get_outputs()].index("scores")
        found[place] = found[place] + 1.0
        return found


def test_latencies_and_sizes_are_positive():
    one = case("quick")
    found = exports.latency(one.model, one.rows[20:21], repeats=2)
    assert set(found) == {
        "predict",
        "onnx",
        "onnx with contributions",
        "python",
        "python contributions",
        "loading the python module",
    }
    assert min(found.values()) > 0
    assert min(exports.sizes(one.model).values()) > 1_000


def test_values_reach_postgresql_as_literals_of_their_own():
    assert postgres._literal(None) == postgres._literal(float("nan")) == "NULL"
    assert postgres._literal("it's") == "'it''s'"
    assert postgres._literal(True) == "'True'"
    assert postgres._literal(0.1) == "'0.1'"


def test_a_server_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setattr(postgres, "programs", lambda: None)
    with pytest.raises(RuntimeError, match="apt-get install postgresql"), postgres.server():
        pass
