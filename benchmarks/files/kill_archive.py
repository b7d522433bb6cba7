"""Writers of archives that are killed at random moments.

`python -m benchmarks.files.kill_archive 300` prints how often the file was the first model, how
often the second, and how often anything else, which must be never.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import lifenet

#: Within the time of so many saves a writer is killed, as they were measured beforehand.
SAVES = 8


def kill(n_kills: int, seed: int = 0) -> dict[str, int]:
    """What the file held after each of the writers was killed; to be called in a fresh process.

    Returns
    -------
    dict
        Kills, how often the file was the first model, the second, or anything else, and files that
        were left beside it.
    """
    generator = np.random.default_rng(seed)
    found = {"killed": 0, "first": 0, "second": 0, "halves": 0, "left_beside": 0}
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        paths = [place / name for name in ("first.life", "second.life", "m.life")]
        wholes = [_saved(path, seed) for seed, path in enumerate(paths[:2])]
        models = [lifenet.load(path) for path in paths[:2]]
        begun = time.perf_counter()
        for model in models:
            model.save(paths[2], overwrite=True)
        longest = SAVES * (time.perf_counter() - begun) / len(models)
        paths[2].write_bytes(wholes[0])
        for _ in range(n_kills):
            writer = os.fork()
            if not writer:
                _write_for_ever(models, paths[2])
            time.sleep(generator.uniform(0, longest))
            os.kill(writer, signal.SIGKILL)
            found["killed"] += os.WIFSIGNALED(os.waitpid(writer, 0)[1])
            content = paths[2].read_bytes()
            which = wholes.index(content) if content in wholes else 2
            found[("first", "second", "halves")[which]] += 1
        found["left_beside"] = len(list(place.glob(".*.tmp")))
    return found


def _write_for_ever(models: list[Any], path: Path) -> None:
    """Save one model after the other under the same name."""
    try:
        while True:
            for model in models:
                model.save(path, overwrite=True)
    finally:
        os._exit(1)


def _saved(path: Path, seed: int) -> bytes:
    """The bytes of a model of 200 kB, one for each seed."""
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(300, 200))
    model = lifenet.AdamRegressor(100, max_epochs=1, random_state=0).fit(X, X[:, 0])
    model.save(path)
    return path.read_bytes()


if __name__ == "__main__":
    print(json.dumps(kill(int(sys.argv[1]) if len(sys.argv) > 1 else 300)))
