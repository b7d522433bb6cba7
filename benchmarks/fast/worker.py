"""One measurement in this process: `python -m benchmarks.fast.worker PART ABOUT`, as JSON.

The last line printed is the result. The process ends when its input is closed.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import threading


def main(part: str, about: str) -> None:
    """Measure and print."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    found = importlib.import_module(f"benchmarks.fast.{part}").measure(json.loads(about))
    print(f"\n{json.dumps(found, allow_nan=False)}", flush=True)


def _end_with_parent() -> None:
    """End at once when the parent has ended, which closes our input: nobody would read more."""
    os.read(0, 1)
    os._exit(1)


if __name__ == "__main__":
    main(*sys.argv[1:])
