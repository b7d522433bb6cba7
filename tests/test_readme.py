"""The README is true: its example runs, and its figures stand in the committed results."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def test_the_example_runs_and_the_equation_is_the_prediction(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    last = capsys.readouterr().out.splitlines()[-1]
    equation, prediction = (float(number) for number in re.findall(r"-?\d+\.?\d*", last))
    assert equation == prediction


def test_every_figure_of_the_results_table_is_a_measured_one():
    bars = ""
    for name in ("trunk", "life"):
        text = (ROOT / "benchmarks" / "results" / f"{name}-bars.txt").read_text()
        assert text.startswith(f"# scripts/bench {name}\n# Python 3.")
        bars += text
    measured = set(re.findall(r": ([\d.e+-]+)(?: \(limit|\n)", bars))
    table = README.split("## Results")[1].split("## Where")[0]
    cells = [line.split("|", 2)[2] for line in table.splitlines() if line.startswith("| ")][1:]
    figures = [figure for cell in cells for figure in re.findall(r"\d[\d.e+-]*", cell)]
    assert figures
    assert set(figures) <= measured


def test_linked_files_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_docstring_examples_run():
    import doctest
    import importlib

    for name in (
        "lifenet",
        "lifenet.estimators._lla",
        "lifenet.estimators._adam",
        "lifenet.estimators._life",
        "lifenet.estimators._stacking",
        "lifenet.plots.hierarchy",
        "lifenet.network._relu",
        "lifenet.datasets",
    ):
        result = doctest.testmod(importlib.import_module(name))
        assert result.attempted
        assert result.failed == 0
