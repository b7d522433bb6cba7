import importlib
import pkgutil
import tomllib
import types
from pathlib import Path

import pytest

import lifenet

MODULES = sorted(
    info.name
    for info in pkgutil.walk_packages(lifenet.__path__, "lifenet.")
    if not any(part.startswith("_") for part in info.name.split("."))
)


def test_the_top_level_is_what_it_says():
    public = {
        name
        for name, value in vars(lifenet).items()
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and value.__module__.startswith("lifenet")
    }
    assert public | {"__version__"} == set(lifenet.__all__)
    assert len(lifenet.__all__) == len(set(lifenet.__all__))  # ruff sorts them


@pytest.mark.parametrize("name", MODULES)
def test_every_module_lists_its_names_and_says_what_it_is_for(name):
    module = importlib.import_module(name)
    assert module.__doc__
    listed = getattr(module, "__all__", [])
    for entry in listed:
        value = getattr(module, entry)
        if isinstance(value, type | types.FunctionType):
            assert value.__doc__, f"{name}.{entry} has no docstring"


def test_version_is_the_projects():
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    assert lifenet.__version__ == project["project"]["version"]


def test_a_missing_extra_is_named_with_its_remedy():
    from lifenet._extras import require

    with pytest.raises(ImportError, match=r"Reading runes needs runes_reader.*lifenet\[data\]"):
        require("runes_reader", extra="data", purpose="Reading runes")
