"""Who may import whom, read from the source text: training and reading meet in `network` only."""

import ast
import sys
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "lifenet"

# For each module or package: what of ours it may import, beside what all may (EVERYWHERE).
MAY_IMPORT = {
    "kernels": set(),
    "losses": {"kernels"},
    "tables": {"kernels"},
    "schema": {"kernels", "tables"},
    "network": {"kernels", "schema"},
    "datasets": set(),
    "data": {"kernels", "losses", "tables", "schema", "network"},
    "solvers": {"kernels", "losses", "network", "data"},
    "neurons": {"kernels", "losses", "network", "data", "solvers"},
    "output": {"kernels", "losses", "network", "data", "neurons"},
    "finetune": {"kernels", "losses", "network", "data", "solvers", "neurons"},
    "stacking": {"losses", "network", "data", "neurons", "output", "finetune"},
    "compress": {
        *{"kernels", "losses", "network", "data", "neurons", "output", "finetune"},
        "stacking",
    },
    "recipe": {
        *{"kernels", "losses", "network", "data", "solvers", "neurons", "output", "finetune"},
        *{"stacking", "compress"},
    },
    "explain": {"network", "tables", "schema", "losses", "kernels"},
    "export": {"network", "tables", "schema"},
    "theory": {"losses", "kernels"},
    "plots": {
        *{"explain", "theory", "recipe", "neurons", "compress", "schema", "network"},
        *{"kernels", "tables"},
    },
    # Archives know settings, networks and records, and no estimator: which attributes an estimator
    # has is its own affair, so that its method `save` imports downwards.
    "archive": {
        *{"kernels", "losses", "tables", "schema", "network", "data", "solvers", "neurons"},
        *{"output", "finetune", "stacking", "compress", "recipe"},
    },
    "estimators": {
        *{"kernels", "losses", "tables", "schema", "network", "data", "solvers", "neurons"},
        *{"output", "finetune", "stacking", "compress", "recipe", "archive"},
    },
    "cli": {
        *{"estimators", "archive", "compress", "explain", "plots", "tables", "kernels"},
        *{"schema", "network", "export"},
    },
    "tuning": {"estimators", "neurons", "solvers", "output", "data"},
    "__init__": {
        *{"estimators", "network", "schema", "data", "neurons", "solvers", "output", "finetune"},
        *{"stacking", "compress", "recipe"},
    },
    "_settings": set(),
    "_typing": set(),
    "_extras": set(),
    "_threads": set(),
    "_clock": set(),
    "_shown": set(),
}
EVERYWHERE = {"_typing", "_extras", "_threads", "_settings", "_clock", "_shown"}
REQUIRED = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl", "narwhals"}
# Settings are scikit-learn parameters, so that they can be cloned, checked and tuned from outside;
# kernels, losses, networks and data never know of it.
SCIKIT_LEARN = {
    "_settings",
    "data",
    "solvers",
    "neurons",
    "output",
    "finetune",
    "stacking",
    "compress",
    "recipe",
    "archive",
    "estimators",
    "tuning",
    "cli",
    "explain",
    "datasets",
}
FILES = sorted(SOURCE.rglob("*.py"))


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[tuple[str, bool]]:
    """Every imported module, and whether only a type checker sees it."""
    tree = ast.parse(path.read_text())
    typing_only = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {(alias.name, id(node) in typing_only) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively: {ast.unparse(node)}"
            names = [node.module]
            if node.module == "lifenet":
                names = [f"lifenet.{alias.name}" for alias in node.names]
            found |= {(str(name), id(node) in typing_only) for name in names}
    return found


def test_the_table_names_every_module():
    assert {layer_of(path) for path in FILES} == set(MAY_IMPORT)


def imports_up(path: Path, layer: str) -> set[str]:
    """Which of our modules a file of `layer` imports though it must not."""
    allowed = MAY_IMPORT[layer] | EVERYWHERE | {layer}
    names = {name for name, _ in imports_of(path)}
    parts = [[*name.split("."), "__init__"] for name in names]
    ours = {second for first, second, *_ in parts if first == "lifenet"}
    return ours - allowed


def packages_not_required(path: Path, layer: str) -> set[str]:
    """Which packages of others a file of `layer` imports though it must not."""
    found = {name.split(".")[0] for name, typing_only in imports_of(path) if not typing_only}
    allowed = REQUIRED if layer in SCIKIT_LEARN else REQUIRED - {"sklearn"}
    return found - set(sys.stdlib_module_names) - {"lifenet"} - allowed


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_go_down(path):
    layer = layer_of(path)
    assert imports_up(path, layer) == set(), f"{layer} must not import these"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_required_packages_are_imported_directly(path):
    found = packages_not_required(path, layer_of(path))
    assert found == set(), "use lifenet._extras.require; only some layers may know scikit-learn"


INNER = {"weights", "bias", "beta", "hidden", "preactivations", "active", "select", "n_neurons"}


@pytest.mark.parametrize(
    "path", sorted((SOURCE / "explain").glob("*.py")), ids=lambda path: path.stem
)
def test_explanations_look_at_the_inner_layer_in_two_places_only(path):
    """All else goes through the reading interface, so that it serves coded networks too."""
    names = {
        node.attr
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name | ast.Attribute)
        and ast.unparse(node.value).split(".")[-1] in {"network", "inner"}
    }
    looked_at = names & INNER
    assert bool(looked_at) == (path.stem in {"neurons", "boundaries"}), looked_at


@pytest.mark.parametrize(
    ("text", "up", "others"),
    [
        ("import numpy as np\nfrom lifenet.kernels.gram import gram\nimport os", set(), set()),
        ("import lifenet.estimators", {"estimators"}, set()),
        ("from lifenet import estimators, schema", {"estimators"}, set()),
        ("from lifenet.plots.effects import EffectsDisplay", {"plots"}, set()),
        ("import lifenet", {"__init__"}, set()),
        ("def later():\n    from lifenet.tuning import search", {"tuning"}, set()),
        ("if TYPE_CHECKING:\n    from lifenet.recipe import recipe", {"recipe"}, set()),
        ("import torch.nn", set(), {"torch"}),
        ("from sklearn.base import clone", set(), {"sklearn"}),
        ("try:\n    import pandas\nexcept ImportError:\n    pass", set(), {"pandas"}),
        ("if TYPE_CHECKING:\n    import pandas as pd", set(), set()),
    ],
)
def test_the_rules_can_fail(text, up, others, tmp_path):
    """A guard that has never been seen to fail guards nothing: made-up modules of `network`."""
    rogue = tmp_path / "rogue.py"
    rogue.write_text(text)
    assert imports_up(rogue, "network") == up
    assert packages_not_required(rogue, "network") == others
    if "sklearn" in others:
        assert packages_not_required(rogue, "estimators") == set()


def test_relative_imports_are_refused(tmp_path):
    rogue = tmp_path / "rogue.py"
    rogue.write_text("from ..estimators import LIFERegressor")
    with pytest.raises(AssertionError, match="imports relatively"):
        imports_of(rogue)
