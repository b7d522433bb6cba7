"""Presets: recipes by name."""

from __future__ import annotations

from dataclasses import replace

from sklearn.base import clone

from lifenet.compress.distil import Distil
from lifenet.data.codes import QuantileCoding
from lifenet.data.folds import CrossFit
from lifenet.finetune.minibatch import MiniBatch
from lifenet.neurons.hierarchy import Hierarchy
from lifenet.neurons.leaves import Leaves
from lifenet.output.ridge import RidgeOutput
from lifenet.recipe.pairs import BestPairs
from lifenet.recipe.recipe import Recipe
from lifenet.stacking.boosted_trees import BoostedTrees
from lifenet.stacking.linear_model import LinearModel

__all__ = ["PRESETS", "preset"]

_PAPER = Recipe()
_FAST = Recipe(
    codes=QuantileCoding("full", max_bins="auto", min_values=2),
    neurons=(Leaves(), Hierarchy(n_neurons=10, max_iter=6, n_networks=20, max_rows="auto")),
    output=RidgeOutput(discounts=(0.1, 3.0, 30.0, 300.0)),
    finetune=MiniBatch(max_epochs="auto", min_epochs=3),
    resampling=CrossFit(),
    stack=(LinearModel(),),
    smoothness="auto",
)
_BEST = replace(
    _FAST,
    finetune=MiniBatch(600, max_epochs="auto", min_epochs=5),
    resampling=CrossFit("more", extra_fold=True),
    stack=(LinearModel(), BoostedTrees()),
)
_SMALL = replace(_FAST, compress=Distil(64))
_GLASS = replace(_FAST, interaction_cst=BestPairs())

#: Names of the presets, and what each is for.
PRESETS = {
    "paper": "the paper's method: base learners on subsets, one ridge output layer",
    "fast": "leaf neurons and base learners on codes, fine-tuned, averaged over folds",
    "best": 'more folds and steps than "fast", and whole boosted trees where they pay',
    "small": 'at most 64 neurons, distilled from "fast"',
    "glass": "effects of single columns and of the pairs that pay, and nothing else",
}
_RECIPES = {"paper": _PAPER, "fast": _FAST, "best": _BEST, "small": _SMALL, "glass": _GLASS}


def preset(name: str) -> Recipe:
    """The recipe of a preset, as a value of its own: changing it changes no other.

    Parameters
    ----------
    name : {"paper", "fast", "best", "small", "glass"}
    """
    if name not in _RECIPES:
        names = ", ".join(repr(known) for known in _RECIPES)
        raise ValueError(f"There is no preset {name!r}; the presets are {names}.")
    recipe: Recipe = clone(_RECIPES[name])
    return recipe
