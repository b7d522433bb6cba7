"""Sources of several commits side by side, and workers that run under any of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]

#: The last commit of the two training architectures.
BEFORE = "3684d5d"
#: The commit at which one recipe replaces them, and nothing is mended yet.
STRUCTURE = "63d73ee"
#: What was mended or merged after it, each with the commit before and the commit that did it.
STEPS = {
    "folds by the user's own values": ("bdb1b1f", "130d803"),
    "one criterion for companions": ("130d803", "7b5fd48"),
    'one criterion for companions, "best"': ("130d803", "7b5fd48"),
    "value codes to the ends of the columns": ("7b5fd48", "3266d56"),
}


def source_of(commit: str) -> Path:
    """The sources of a commit in a folder of their own; those of the work tree for "now"."""
    if commit == "now":
        return ROOT / "src"
    folder = Path(tempfile.gettempdir()) / f"lifenet-at-{commit}"
    if not (folder / "src").exists():
        folder.mkdir(exist_ok=True)
        archive = subprocess.run(
            ["git", "-C", str(ROOT), "archive", commit, "src"], check=True, capture_output=True
        ).stdout
        subprocess.run(["tar", "-x", "-C", str(folder)], input=archive, check=True)
    return folder / "src"


def ask(commit: str, program: str, *arguments: str) -> Any:
    """What a program of this package prints, as JSON, under the sources of a commit."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(source_of(commit)),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    command = [sys.executable, str(Path(__file__).parent / program), *arguments]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])
