"""Measures of a version's sources as one value."""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.recipe import structure

if TYPE_CHECKING:
    from pathlib import Path

#: Packages and modules that read, plot or simulate; all others train.
READING = {"explain", "plots", "theory", "tuning", "datasets", "network", "coding", "schema"}


@dataclass(frozen=True)
class Measures:
    function: int
    file: int
    cycle: int
    private: int
    losses: int
    names: int
    phrases: int
    modules: int
    lines: int
    training_lines: int
    entries: int
    numbers: int


def measure(source: Path) -> Measures:
    """Measures of the package below a folder `src`."""
    package = source / "lifenet"
    texts = {path: path.read_text() for path in sorted(package.rglob("*.py"))}
    training = {
        path: text
        for path, text in texts.items()
        if path.relative_to(package).parts[0].removesuffix(".py") not in READING
    }
    return Measures(
        function=max(lines for text in texts.values() for _, lines in structure.functions(text)),
        file=max(text.count("\n") for text in texts.values()),
        cycle=len(structure.cycle(structure.import_graph(package))),
        private=sum(len(structure.private_imports(p, t, package)) for p, t in texts.items()),
        losses=sum(len(structure.loss_checks(t)) for p, t in texts.items() if p.stem != "losses"),
        names=sum(len(structure.banned_identifiers(text)) for text in texts.values()),
        phrases=sum(len(structure.banned_phrases(text)) for text in texts.values()),
        modules=len(texts),
        lines=sum(text.count("\n") for text in texts.values()),
        training_lines=sum(text.count("\n") for text in training.values()),
        entries=_entries(texts[package / "__init__.py"]),
        numbers=sum(structure.module_numbers(text) for text in texts.values()),
    )


def _entries(text: str) -> int:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return len(ast.literal_eval(node.value))
    return 0
