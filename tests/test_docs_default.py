"""docs/default.md prints the algorithm as it stands in the source."""

import inspect

import pytest
from benchmarks.recipe import page

from lifenet.recipe.recipe import fit_fold, fit_life


def test_the_page_prints_the_algorithm_as_it_stands_in_the_source():
    text = page.PAGE.read_text()
    assert text == page.rewritten(text), (
        "docs/default.md and src/lifenet/recipe/recipe.py differ; "
        "run: python -m benchmarks.recipe.page"
    )


def test_the_block_holds_both_functions_word_for_word():
    block = page.block()
    assert block.startswith("\n```python\ndef fit_life(")
    assert block.endswith("```\n")
    for function in (fit_life, fit_fold):
        assert inspect.getsource(function) in block


def test_a_page_with_other_code_is_mended():
    text = f"Before.\n\n{page.BEGIN}\nold\n{page.END}\n\nAfter.\n"
    found = page.rewritten(text)
    assert found == f"Before.\n\n{page.BEGIN}{page.block()}{page.END}\n\nAfter.\n"
    assert page.rewritten(found) == found


@pytest.mark.parametrize(
    "text",
    ["No marker.", f"{page.BEGIN} only", f"{page.END} {page.BEGIN}", f"{page.BEGIN}{page.END}" * 2],
)
def test_a_page_without_its_markers_is_refused(text):
    with pytest.raises(ValueError, match="one line"):
        page.rewritten(text)
