"""The project itself: fresh clone, wheel, estimator checks on both ends of the range."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from lifenet.datasets.registry import data_folder

if TYPE_CHECKING:
    from benchmarks.bars import Bars

ROOT = Path(__file__).parents[2]


def run(bars: Bars) -> None:
    with tempfile.TemporaryDirectory() as folder:
        fresh_clone(bars, Path(folder))
    wheel(bars)
    estimator_checks(bars)
    bad_input(bars)


def fresh_clone(bars: Bars, folder: Path) -> None:
    """Clone what is committed and run the commands there, with an empty home directory."""
    clone, home = folder / "lifenet", folder / "home"
    home.mkdir()
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(clone)], check=True)
    environment = {**os.environ, "HOME": str(home), "LIFENET_DATA": str(data_folder())}
    for command in ("scripts/demo", "scripts/test", "scripts/check", ".ci/run"):
        done = subprocess.run(
            [str(clone / command)], cwd=clone, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            print(done.stdout[-3000:], done.stderr[-3000:])
        bars.passes(f"{command} in a fresh clone with an empty home", done.returncode)


def wheel(bars: Bars) -> None:
    with tempfile.TemporaryDirectory() as folder:
        build = [sys.executable, "-m", "build", "--wheel", "--outdir", folder, str(ROOT)]
        subprocess.run(build, check=True, capture_output=True)
        (built,) = Path(folder).glob("*.whl")
        bars.at_most("wheel, MB", built.stat().st_size / 2**20, 1.0, ".3f")


def estimator_checks(bars: Bars) -> None:
    """All of scikit-learn's checks on the newest and the oldest supported version."""
    for oldest in (False, True):
        command = ["scripts/test", *(["--oldest"] if oldest else [])]
        output = _pytest([*command, "tests/test_estimator_checks.py", "-q"])
        version = _version(ROOT / (".venv-oldest" if oldest else ".venv"))
        passed, failed, skipped = (_count(output, word) for word in ("passed", "failed", "skipped"))
        what = f"estimator checks, scikit-learn {version}"
        bars.at_least(f"{what}: passed", passed, 200, "d")
        bars.at_most(f"{what}: failed or expected to fail", failed + _count(output, "x"), 0, "d")
        bars.note(f"{what}: {skipped} skipped by scikit-learn itself")


def bad_input(bars: Bars) -> None:
    tests = ["tests/test_estimators.py", "tests/test_schema.py"]
    output = _pytest(["scripts/test", *tests, "-q"])
    bars.at_least(
        "tests of estimators and their bad input: passed", _count(output, "passed"), 40, "d"
    )
    bars.at_most(
        "tests of estimators and their bad input: failed", _count(output, "failed"), 0, "d"
    )


def _pytest(command: list[str]) -> str:
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


def _count(output: str, word: str) -> int:
    found = re.search(rf"(\d+) {word}", output.splitlines()[-1] if output else "")
    return int(found[1]) if found else 0


def _version(venv: Path) -> str:
    code = "import sklearn; print(sklearn.__version__)"
    python = str(venv / "bin" / "python")
    return subprocess.run([python, "-c", code], capture_output=True, text=True).stdout.strip()
