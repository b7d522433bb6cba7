"""Print `fit_life` and `fit_fold` into docs/default.md as they stand in the source.

usage: python -m benchmarks.recipe.page
"""

from __future__ import annotations

import inspect
from pathlib import Path

from lifenet.recipe.recipe import fit_fold, fit_life

PAGE = Path(__file__).parents[2] / "docs" / "default.md"
BEGIN, END = "<!-- fit_life and fit_fold, from the source -->", "<!-- end -->"


def block() -> str:
    """What stands between the markers: both functions in one block of Python."""
    code = "\n\n".join(inspect.getsource(one) for one in (fit_life, fit_fold))
    return f"\n```python\n{code}```\n"


def rewritten(text: str) -> str:
    """A page with the block as it should be.

    Raises
    ------
    ValueError
        Where a marker is missing, or comes more than once.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"The page must have one line {BEGIN} and, below it, one line {END}.")
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{block()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(rewritten(PAGE.read_text()))
