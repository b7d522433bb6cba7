"""The examples of docs/export.md run, one after the other."""

import re
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[1] / "docs" / "export.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path, monkeypatch):
    pytest.importorskip("onnxruntime")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    assert len(blocks) == 7
    names = {}
    for block in blocks:
        exec(compile(block, "docs/export.md", "exec"), names)
    assert (tmp_path / "loan_model.py").exists()
    assert {"bad", "good"} == set(names["loan_model"].CLASSES)


def test_every_export_has_a_row():
    import lifenet.export

    for name in lifenet.export.__all__:
        if name.startswith("to_"):
            assert f"| `{name}(" in TEXT
