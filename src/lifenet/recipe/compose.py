"""Recipes from an estimator's parameters: a preset, and parts that replace its own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from lifenet.data.codes import QuantileCoding
from lifenet.data.folds import CrossFit
from lifenet.finetune.lbfgs import LBFGS
from lifenet.neurons.hierarchy import Hierarchy
from lifenet.output.averaging import Averaging
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.mixing import Mixing
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import BaseLearnerSelection
from lifenet.recipe.presets import preset as named

if TYPE_CHECKING:
    from lifenet.recipe.recipe import Recipe

__all__ = ["CODINGS", "FINETUNINGS", "READOUTS", "compose", "output_of"]

#: Output layers by name.
READOUTS: dict[str, Any] = {
    "ridge": RidgeOutput(),
    "linear": RidgeOutput(penalty=0.0),
    "elastic-net": ElasticNetOutput(),
    "lasso": ElasticNetOutput(l1_ratio=1.0),
    "selection": BaseLearnerSelection(),
    "mixing": Mixing(),
    "average": Averaging(),
}
#: Codes of the columns by name.
CODINGS = ("both", "full", "piecewise", "quantile")
#: Fine-tuning by name.
FINETUNINGS: dict[str, Any] = {"lbfgs": LBFGS()}


def compose(
    preset: Recipe | str,
    *,
    sampler: Any = None,
    solver: Any = None,
    readout: Any = None,
    coding: Any = None,
    finetune: Any = None,
    smoothness: float | str | None = None,
    interaction_cst: Any = None,
    warm_start: bool = False,
) -> Recipe:
    """The recipe of a preset, with the fields that are given in place of its own, checked.

    With "auto", a part or `warm_start` means "paper", and none of them "fast"; `interaction_cst`
    goes with both.
    """
    given = {
        "sampler": sampler,
        "solver": solver,
        "readout": readout,
        "coding": coding,
        "finetune": finetune,
    }
    given = {name: value for name, value in given.items() if value is not None}
    all_given = {"preset": preset, **given, "interaction_cst": interaction_cst}
    for name, value in all_given.items():
        if isinstance(value, type):
            raise ValueError(
                f"The {name!r} parameter must be an object, not the class {value.__name__}; "
                f"write {value.__name__}()."
            )
    recipe = _start(preset, bool(given) or warm_start)
    recipe = _replace_steps(recipe, {k: given[k] for k in ("sampler", "solver") if k in given})
    if readout is not None:
        recipe = replace(recipe, output=output_of(readout))
    if coding is not None:
        codes = QuantileCoding(coding) if isinstance(coding, str) else coding
        recipe = replace(recipe, codes=codes)
    if finetune is not None:
        tuning = FINETUNINGS[finetune] if isinstance(finetune, str) else finetune
        recipe = replace(recipe, finetune=tuning)
    if smoothness is not None:
        recipe = replace(recipe, smoothness=smoothness)
    if interaction_cst is not None:
        recipe = replace(recipe, interaction_cst=interaction_cst)
    recipe.check()
    if warm_start and isinstance(recipe.resampling, CrossFit):
        raise ValueError(
            f"warm_start=True keeps the base learners of the fit before, and preset={preset!r} "
            "averages networks over folds, each with base learners of its own; use "
            "preset='paper', or warm_start=False."
        )
    return recipe


def output_of(readout: Any) -> Any:
    """An output layer for a name, or the one that is given; None is "ridge"."""
    if readout is None:
        readout = "ridge"
    return clone(READOUTS[readout]) if isinstance(readout, str) else readout


def _start(preset: Recipe | str, paper: bool) -> Recipe:
    if not isinstance(preset, str):
        recipe: Recipe = clone(preset)
        return recipe
    if preset == "auto":
        preset = "paper" if paper else "fast"
    return named(preset)


def _replace_steps(recipe: Recipe, given: dict[str, Any]) -> Recipe:
    """The recipe with another sampler or solver of its base learners."""
    if not given:
        return recipe
    index = [i for i, one in enumerate(recipe.neurons) if isinstance(one, Hierarchy)]
    if not index:
        name = next(iter(given))
        raise ValueError(
            f"{name}={given[name]!r} is a setting of base learners, and the recipe has none: its "
            f"neurons are {tuple(recipe.neurons)!r}. Add Hierarchy() to them, or leave {name!r} "
            "out."
        )
    neurons = list(recipe.neurons)
    # A sampler of the user's own says itself how many base learners there are.
    own = {"n_networks": None} if "sampler" in given else {}
    neurons[index[0]] = replace(neurons[index[0]], **given, **own)
    return replace(recipe, neurons=tuple(neurons))
