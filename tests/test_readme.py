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


def tables_of(text):
    """Cells of each line of each table, the head first."""
    tables, rows = [], []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.split("|")[1:-1]])
        elif rows:
            tables.append([rows[0], *rows[2:]])
            rows = []
    return tables


def ratios_of(text, ours, peers):
    """Rows of a table of ratios, only the columns of some peers."""
    found = text.split(f"{ours}'s error over each other model's")[1].split("###")[0]
    lines = [line.split("|")[2:-1] for line in found.splitlines() if line.startswith("|")]
    columns = [cell.strip() for cell in lines[0]]
    places = [columns.index(name) for name in peers]
    return [[line[place].strip().replace("not run", "-") for place in places] for line in lines]


def test_every_figure_of_the_results_table_is_a_measured_one():
    ((head, *peers),) = tables_of(README.split("## Results")[1].split("## Where")[0])
    text = (ROOT / "benchmarks" / "results" / "peers.md").read_text()
    default = [name for name in head[1:] if not name.startswith("tuned ")]
    tuned = [name.removeprefix("tuned ") for name in head[1 + len(default) :]]
    ours, best = ratios_of(text, ": LIFE", default), ratios_of(text, ": LIFE best", tuned)
    assert len(peers) == 21
    for row in peers:
        assert row[1 : 1 + len(default)] in ours
        assert row[1 + len(default) :] in best


def test_every_figure_of_the_papers_method_is_a_measured_one():
    ((_, *rows),) = tables_of((ROOT / "docs" / "life.md").read_text())
    bars = ""
    for name in ("trunk", "life"):
        text = (ROOT / "benchmarks" / "results" / f"{name}-bars.txt").read_text()
        assert text.startswith(f"# scripts/bench {name}\n# Python 3.")
        bars += text
    assert len(rows) == 7
    measured = re.findall(r": ([\d.e+-]+)(?: \(limit|\n)", bars)
    assert {figure for row in rows for figure in row[1:]} <= set(measured)


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
        "lifenet.network.relu",
        "lifenet.explain.rows",
        "lifenet.datasets",
    ):
        result = doctest.testmod(importlib.import_module(name))
        assert result.attempted
        assert result.failed == 0
