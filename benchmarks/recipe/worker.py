"""Predictions of the configurations under the version of the package that is on the path.

usage: PYTHONPATH=SRC python worker.py FILE.npz [NAME ...]
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from configurations import configurations


def main(target: str, names: list[str]) -> None:
    found = {}
    for name, run in configurations().items():
        if names and name not in names:
            continue
        begun = time.process_time()
        found[name] = np.asarray(run(), dtype=np.float64)
        print(f"{name}: {time.process_time() - begun:.1f} s", flush=True)
    np.savez(target, **found)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
