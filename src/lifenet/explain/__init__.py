"""Reading a network: exact explanations, each a function that returns a frozen result.

All take a fitted model (or a pipeline that ends in one, or a network alone: `network_` of a model,
`ReluNetwork.from_mlp`, `ReluNetwork.from_torch`) and rows. Columns of frames are matched by name;
`schema=` brings groups of columns, `output=` chooses a class.
Each result has ``to_frame()``, and a display in `lifenet.plots`.

| question | function |
|---|---|
| Which features and neurons matter? | `feature_importance`, `neuron_importance`, \
`neuron_contributions` |
| Which linear equations hold where? | `local_regions`, `merge_regions`, `coefficient_signs` |
| What does a feature do? | `accumulated_effects`, `partial_dependence`, `integrated_effects` |
| How does its coefficient vary? | `varying_coefficients` |
| Which features interact, and how? | `two_stage_strength`, `interaction_strength`, \
`pair_effect` |
| Why this prediction? | `explain_row`; of many rows `explain_rows` |
| How far does an equation hold? | `equation_fidelity`, `roughness` |
| Can curves and pairs say it? | `interaction_order`; which curves and pairs: `decompose` |
| Would another network say the same? | `stability` |
"""

from __future__ import annotations

from lifenet.explain.anova import FunctionalAnova, decompose
from lifenet.explain.effects import Curve, Effects, accumulated_effects, partial_dependence
from lifenet.explain.fidelity import EquationFidelity, Roughness, equation_fidelity, roughness
from lifenet.explain.importance import FeatureImportance, feature_importance
from lifenet.explain.integrated import integrated_effects
from lifenet.explain.interactions import Interactions, interaction_strength, two_stage_strength
from lifenet.explain.merging import MergedRegions, merge_regions
from lifenet.explain.neurons import (
    NeuronContributions,
    NeuronImportance,
    neuron_contributions,
    neuron_importance,
)
from lifenet.explain.one_row import RowExplanation
from lifenet.explain.order import InteractionOrder, interaction_order
from lifenet.explain.pairs import PairEffect, pair_effect
from lifenet.explain.regions import Regions, local_regions
from lifenet.explain.rows import explain_row, explain_rows
from lifenet.explain.signs import CoefficientSigns, coefficient_signs
from lifenet.explain.stability import Stability, stability
from lifenet.explain.varying import VaryingCoefficients, varying_coefficients

__all__ = [
    "CoefficientSigns",
    "Curve",
    "Effects",
    "EquationFidelity",
    "FeatureImportance",
    "FunctionalAnova",
    "InteractionOrder",
    "Interactions",
    "MergedRegions",
    "NeuronContributions",
    "NeuronImportance",
    "PairEffect",
    "Regions",
    "Roughness",
    "RowExplanation",
    "Stability",
    "VaryingCoefficients",
    "accumulated_effects",
    "coefficient_signs",
    "decompose",
    "equation_fidelity",
    "explain_row",
    "explain_rows",
    "feature_importance",
    "integrated_effects",
    "interaction_order",
    "interaction_strength",
    "local_regions",
    "merge_regions",
    "neuron_contributions",
    "neuron_importance",
    "pair_effect",
    "partial_dependence",
    "roughness",
    "stability",
    "two_stage_strength",
    "varying_coefficients",
]
