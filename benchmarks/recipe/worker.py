"""Predictions of the configurations under the version of the package that is on the path.

usage: PYTHONPATH=SRC python worker.py [NAME ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from configurations import configurations


def main(names: list[str]) -> None:
    found = {}
    for name, run in configurations().items():
        if not names or name in names:
            found[name] = np.asarray(run(), dtype=np.float64).tolist()
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
