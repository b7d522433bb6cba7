"""How much of a fit is reading and encoding, at 100,000 rows x 30 columns, half of them text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from benchmarks.fast.measuring import seconds_of
from benchmarks.runs import Runs

SPEED = Runs("tables-speed.csv", ("encoding", "fit"))
_ROWS, _COLUMNS = 100_000, 30


def made_up(seed: int) -> tuple[pd.DataFrame, Any]:
    """Fifteen columns of numbers and fifteen of text, of 3 to 5,000 levels; a tenth is missing."""
    rng = np.random.default_rng(seed)
    half = _COLUMNS // 2
    columns: dict[str, Any] = {}
    y = rng.normal(size=_ROWS)
    for number, n_levels in enumerate(np.geomspace(3, 5_000, half).astype(int)):
        level = rng.integers(n_levels, size=_ROWS)
        y += rng.normal(size=n_levels)[level] / half
        text = np.array([f"level {one}" for one in range(n_levels)], dtype=object)[level]
        text[rng.random(_ROWS) < 0.1] = None
        columns[f"text {number}"] = text
    for number in range(half):
        values = rng.normal(size=_ROWS)
        y += np.sin(values) / half
        columns[f"number {number}"] = np.where(rng.random(_ROWS) < 0.1, np.nan, values)
    return pd.DataFrame(columns), y


def speed(data: str, seed: int) -> list[dict[str, Any]]:
    """CPU seconds of a default fit, and of the reading and encoding in it."""
    from lifenet import LIFERegressor
    from lifenet.tables import Targets, learn_coding, read_table

    X, y = made_up(seed)

    def encode() -> None:
        table = read_table(X)
        targets, weight = Targets(y[:, None], ("target",)), np.ones(len(y))
        coding = learn_coding(table, None, weight, targets, named=True)
        columns = coding.encode(table)
        fitted = coding.crossfitted(table, targets, weight)
        assert fitted is not None
        # Once for all rows, and once for each of four folds.
        for fold in range(5):
            fitted.table(columns, None if fold == 0 else np.flatnonzero(np.arange(len(y)) % 4))

    encoding = seconds_of(encode)
    model = LIFERegressor(random_state=seed, n_jobs=1)
    fit = seconds_of(lambda: model.fit(X, y))
    return [{"part": "speed", "data": data, "seed": seed, "encoding": encoding, "fit": fit}]
