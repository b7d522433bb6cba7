"""Lengths, imports and words of the source, measured; every rule is seen to fail once."""

from pathlib import Path

from benchmarks.recipe import structure

PAGES = [
    *sorted((structure.ROOT / "docs").glob("*.md")),
    structure.ROOT / "README.md",
    structure.ROOT / "CONTRIBUTING.md",
]
# Pages of results quote what was measured under the names of their day.
PAGES = [page for page in PAGES if page.name not in {"peers.md", "results.md", "life.md"}]
FILES = structure.files()


def name_of(path: Path) -> str:
    return str(path.relative_to(structure.ROOT))


def offenders(rule, paths=FILES):
    """What a rule finds, by file; files without a finding are left out."""
    found = {name_of(path): rule(path, path.read_text()) for path in paths}
    return {name: one for name, one in found.items() if one}


def test_no_function_is_longer_than_a_screen():
    def long(path, text):
        return [(name, lines) for name, lines in structure.functions(text) if lines > 50]

    assert offenders(long) == {}


def test_no_file_is_longer_than_500_lines():
    assert offenders(lambda path, text: text.count("\n") > 500) == {}


def test_no_modules_import_each_other_in_a_circle():
    assert structure.cycle(structure.import_graph()) == []


def test_no_private_name_crosses_a_package():
    assert offenders(structure.private_imports) == {}


def test_names_that_dissolved_are_gone():
    assert offenders(lambda path, text: structure.banned_identifiers(text)) == {}


def test_phrases_that_the_field_does_not_use_are_gone():
    found = offenders(lambda path, text: structure.banned_phrases(text), [*FILES, *PAGES])
    assert found == {}


def test_only_losses_know_the_type_of_a_loss():
    def asked(path, text):
        return path.name != "losses.py" and structure.loss_checks(text)

    assert offenders(asked) == {}


class TestTheRulesCanFail:
    def test_a_long_function_is_found(self):
        lines = "\n".join(f"    x = {n}" for n in range(60))
        text = f'def long():\n    """Text.\n\n    More.\n    """\n    # why\n\n{lines}\n'
        assert structure.functions(text) == [("long", 61)]

    def test_a_circle_is_found(self):
        graph = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
        assert sorted(structure.cycle(graph)) == ["a", "b", "c"]
        assert structure.cycle({"a": {"b"}, "b": set()}) == []

    def test_imports_of_type_checkers_do_not_count(self):
        text = (
            "from typing import TYPE_CHECKING\nimport lifenet.one\nfrom lifenet import two\n"
            "if TYPE_CHECKING:\n    from lifenet.three import x\n"
        )
        known = {"lifenet.one", "lifenet.two", "lifenet.three"}
        assert structure.imports(text, known) == {"lifenet.one", "lifenet.two"}

    def test_a_private_import_is_found(self):
        path = structure.SOURCE / "explain" / "one.py"
        assert structure.private_imports(path, "from lifenet.plots._style import x\n")
        assert structure.private_imports(path, "from lifenet.plots.style import _x\n")
        assert not structure.private_imports(path, "from lifenet.explain._sample import x\n")
        assert not structure.private_imports(path, "from lifenet._typing import Floats\n")

    def test_every_name_is_found(self):
        for name in structure.IDENTIFIERS:
            assert structure.banned_identifiers(f"x = {name}\n") == {name}
            assert structure.banned_identifiers(f"x = 'a {name} in a text'\n") == set()

    def test_every_phrase_is_found(self):
        for phrase in structure.PHRASES:
            first, *rest = phrase.split(" ")
            assert structure.banned_phrases("Then " + "\n    ".join([first.title(), *rest]) + ".")
        assert structure.banned_phrases("It is done in place, by a rule of thumb.") == []

    def test_a_question_for_the_type_of_a_loss_is_found(self):
        rogue = """\
isinstance(loss, SquaredError)
isinstance(loss, (Loss, losses.Logistic))
isinstance(loss, SquaredError | Multinomial)
type(loss) is Logistic
match loss:
    case SquaredError():
        pass
"""
        assert structure.loss_checks(rogue) == [1, 2, 3, 4, 6]
        assert structure.loss_checks("isinstance(loss, Loss)\nloss = SquaredError()\n") == []
