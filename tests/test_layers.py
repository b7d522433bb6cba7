"""Who may import whom, read from the source text: training and reading meet in `network` only."""

import ast
from pathlib import Path

import pytest

from lifenet import losses

SOURCE = Path(__file__).parents[1] / "src" / "lifenet"

# For each module or package: what of ours it may import, beside what all may (EVERYWHERE).
MAY_IMPORT = {
    "kernels": set(),
    "losses": {"kernels"},
    "schema": set(),
    "network": {"kernels", "schema"},
    "datasets": set(),
    "data": {"kernels", "losses", "schema", "network"},
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
    "explain": {"network", "schema", "losses", "kernels"},
    "theory": {"losses", "kernels"},
    "plots": {"explain", "theory", "recipe", "neurons", "compress", "schema", "network"},
    "estimators": {
        *{"kernels", "losses", "schema", "network", "data", "solvers", "neurons", "output"},
        *{"finetune", "stacking", "compress", "recipe"},
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
}
EVERYWHERE = {"_typing", "_extras", "_threads", "_settings", "_clock"}
REQUIRED = {"numpy", "scipy", "sklearn", "joblib", "threadpoolctl"}
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
    "estimators",
    "tuning",
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


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_only_go_down(path):
    layer = layer_of(path)
    allowed = MAY_IMPORT[layer] | EVERYWHERE | {layer}
    ours = {name.split(".")[1] for name, _ in imports_of(path) if name.startswith("lifenet.")}
    assert ours <= allowed, f"{layer} must not import {sorted(ours - allowed)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_only_required_packages_are_imported_directly(path):
    import sys

    for name, typing_only in imports_of(path):
        top = name.split(".")[0]
        if typing_only or top in sys.stdlib_module_names or top == "lifenet":
            continue
        assert top in REQUIRED, f"{path.name} imports {top}: use lifenet._extras.require"
        if top == "sklearn":
            assert layer_of(path) in SCIKIT_LEARN, f"{path.name} must not know scikit-learn"


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


def test_the_rule_can_fail(tmp_path):
    """A guard that has never been seen to fail guards nothing."""
    rogue = tmp_path / "rogue.py"
    rogue.write_text("import lifenet.estimators\nfrom lifenet import schema\nimport torch\n")
    names = {name for name, _ in imports_of(rogue)}
    assert names == {"lifenet.estimators", "lifenet.schema", "torch"}


CONCRETE_LOSSES = {
    name
    for name, value in vars(losses).items()
    if isinstance(value, type) and issubclass(value, losses.Loss) and value is not losses.Loss
}


def asked_by_type(source: str) -> list[int]:
    """Lines that ask whether a loss is of a certain class, instead of asking the loss."""
    found = []
    for node in ast.walk(ast.parse(source)):
        asks = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id in {"isinstance", "issubclass"}
        )
        if asks or isinstance(node, ast.Compare | ast.MatchClass):
            names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
            names |= {one.attr for one in ast.walk(node) if isinstance(one, ast.Attribute)}
            if names & CONCRETE_LOSSES:
                found.append(node.lineno)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_loss_is_asked_and_never_told_by_its_type(path):
    """So that a new loss is one class, and no other file needs to know it."""
    if layer_of(path) != "losses":
        assert asked_by_type(path.read_text()) == []


def test_the_rule_on_losses_can_fail():
    rogue = """\
isinstance(loss, SquaredError)
isinstance(loss, (Loss, losses.Logistic))
isinstance(loss, SquaredError | Multinomial)
type(loss) is Logistic
match loss:
    case SquaredError():
        pass
"""
    assert asked_by_type(rogue) == [1, 2, 3, 4, 6]
    assert asked_by_type("isinstance(loss, Loss)\nloss = SquaredError()\n") == []
