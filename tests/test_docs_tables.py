"""docs/tables.md is true: its example runs, and what it says of codes holds."""

import re
from pathlib import Path

import numpy as np
import pandas as pd

from lifenet import LIFERegressor, LLARegressor

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "tables.md").read_text()


def test_the_example_runs_and_says_what_it_should(capsys):
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    known = {}
    exec(compile(code, "docs/tables.md", "exec"), known)
    said = capsys.readouterr().out
    for column in ("area is missing", "district = centre", "district is missing", "let on: month"):
        assert repr(column) in said
    assert "[ True  True False]" not in said
    outside = known["model"].schema_.outside(known["new"])
    assert outside.tolist() == [[False, True, False], [True, False, True]]
    assert np.isfinite(known["model"].predict(known["new"])).all()


def test_linked_files_exist():
    for target in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (ROOT / "docs" / target).exists(), target


def test_every_kind_of_column_becomes_what_the_table_says():
    days = pd.date_range("2024-01-01 06:00", periods=40, freq="31h")
    frame = pd.DataFrame(
        {
            "number": np.arange(40.0),
            "truth": np.arange(40) % 3 == 0,
            "time": days.time,
            "length": days - days[0],
            "day": days,
            "text": days.date.astype(str),
            "level": list("uvwx") * 10,
        }
    )
    model = LLARegressor(2, max_iter=2).fit(frame, np.arange(40.0))
    parts = [f"day{part}" for part in ("", ": month", ": weekday", ": hour")]
    levels = [f"level = {one}" for one in "uvwx"]
    assert model.table_.columns == (
        *("number", "truth", "time", "length", *parts, "text", "text: month", "text: weekday"),
        *levels,
    )
    encoded = model.table_.transform(frame)
    assert encoded[0, :8].tolist() == [0, 1, 6, 0, 19723.25, 1, 1, 6]


def test_the_default_says_that_it_needs_a_hundred_distinct_rows():
    import warnings

    frame = pd.DataFrame({"n": np.arange(300.0) % 99, "t": "u"})
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        LIFERegressor(random_state=0).fit(frame[:99], np.arange(99.0))
    assert any("100 distinct rows" in str(one.message) for one in told)
