"""Bars: one line a figure, each with its limit, kept in benchmarks/results/NAME-bars.txt."""

from __future__ import annotations

import datetime
import importlib.metadata
import platform
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from benchmarks.runs import Runs

RESULTS = Path(__file__).parent / "results"


@dataclass
class Bars:
    """Figures of one benchmark, printed as they come and written at the end."""

    name: str
    packages: tuple[str, ...] = ("lifenet", "numpy", "scipy", "scikit-learn")
    lines: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    n_short: int = 0

    def at_most(self, what: str, figure: float, limit: float, form: str = ".3g") -> None:
        """A figure that must not exceed its limit (NaN does)."""
        self._add(what, format(figure, form), f"<= {format(limit, form)}", figure <= limit)

    def at_least(self, what: str, figure: float, limit: float, form: str = ".3g") -> None:
        """A figure that must reach its limit (NaN does not)."""
        self._add(what, format(figure, form), f">= {format(limit, form)}", figure >= limit)

    def passes(self, what: str, exit_code: int) -> None:
        """A command that must exit with 0."""
        self._add(what, f"exit code {exit_code}", "0", exit_code == 0)

    def runs_tests(self, what: str, command: list[str]) -> None:
        """A command that runs tests, which must all pass."""
        done = subprocess.run(command, capture_output=True, text=True)
        found = re.findall(r"\d+ (?:passed|failed|skipped|xfailed|error)", done.stdout)
        self.passes(f"{what} ({', '.join(found)})", done.returncode)

    def note(self, text: str) -> None:
        """A line of explanation beside the bars."""
        self._print(f"note {text}")

    def _add(self, what: str, figure: str, limit: str, met: bool) -> None:
        self.n_short += not met
        self._print(f"bar {what}: {figure} (limit {limit}) {'ok' if met else 'short'}")

    def _print(self, line: str) -> None:
        print(line, flush=True)
        self.lines.append(line)

    def header(self) -> list[str]:
        """The command, the versions and the date."""
        versions = [f"{name} {importlib.metadata.version(name)}" for name in self.packages]
        date = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d")
        return [
            f"# scripts/bench {self.name}, at commit {commit()}",
            f"# Python {platform.python_version()}, {', '.join(versions)}; {date}",
        ]

    def finish(self, *, write: bool) -> None:
        """Write the results file, unless only a part was run, and exit 1 where a bar is short."""
        if write:
            RESULTS.mkdir(exist_ok=True)
            text = "\n".join([*self.header(), *self.lines]) + "\n"
            for file, content in {**self.files, f"{self.name}-bars.txt": text}.items():
                (RESULTS / file).write_text(content)
        print(f"{self.n_short} bars short")
        sys.exit(bool(self.n_short))


def commit() -> str:
    """The commit that was measured, and whether sources differ from it."""

    def git(*arguments: str) -> str:
        root = str(RESULTS.parents[1])
        done = subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True)
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--", "src") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed


def run_parts(bars: Bars, parts: dict[str, Callable[[Bars], None]], *runs: Runs) -> None:
    """Run all parts, or those named on the command line, and write the bars if it was all."""
    chosen = [name for name in sys.argv[1:] if name != "--kept"]
    unknown = [name for name in chosen if name not in parts]
    if unknown:
        sys.exit(f"unknown parts {unknown}; there are {list(parts)}")
    for name, part in parts.items():
        if not chosen or name in chosen:
            part(bars)
    for one in runs:
        one.note_missing(bars)
    bars.finish(write=not chosen)
