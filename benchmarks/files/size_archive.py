"""Sizes of archives of the default beside those of pickles, and the seconds that they take.

`python -m benchmarks.files.size_archive` prints a line for each table.
"""

from __future__ import annotations

import json
import pickle
import tempfile
import time
from pathlib import Path

import numpy as np

import lifenet


def sizes(n_rows: int, n_columns: int) -> dict[str, float]:
    """Bytes of a pickle and of an archive, and seconds to save and to load, of a default model."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n_rows, n_columns))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2]) + 0.1 * generator.normal(size=n_rows)
    model = lifenet.LIFERegressor(random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        path, begun = Path(folder, "m.life"), time.perf_counter()
        model.save(path)
        saved = time.perf_counter()
        lifenet.load(path)
        return {
            "rows": n_rows,
            "columns": n_columns,
            "pickle": len(pickle.dumps(model)),
            "archive": path.stat().st_size,
            "seconds_to_save": round(saved - begun, 3),
            "seconds_to_load": round(time.perf_counter() - saved, 3),
        }


if __name__ == "__main__":
    for n_columns in (20, 300):
        print(json.dumps(sizes(2_000, n_columns)))
