"""Reading a network: exact explanations, each a function that returns a frozen result.

All take a network (`network_` of a fitted model, `ReluNetwork.from_mlp`, `ReluNetwork.from_torch`)
and rows; `schema=model.schema_` brings names and groups of columns, `output=` chooses a class.
Each result has ``to_frame()``, and a display in `lifenet.plots`.

| question | function |
|---|---|
| Which neurons and features matter? | `neuron_importance`, `neuron_contributions`, \
`feature_importance` |
| Which linear equations hold where? | `local_regions`, `merge_regions`, `coefficient_signs` |
| What does a feature do? | `accumulated_effects`, `partial_dependence`, `integrated_effects` |
| How does its coefficient vary? | `varying_coefficients` |
| Which features interact, and how? | `interaction_strength`, `second_order_strength`, \
`pair_effect` |
| Why this prediction? | `explain_row`; of many rows `explain_rows` |
| Would another network say the same? | `stability` |
"""

from __future__ import annotations

from lifenet.explain.effects import Curve, Effects, accumulated_effects, partial_dependence
from lifenet.explain.integrated import integrated_effects
from lifenet.explain.interactions import Interactions, interaction_strength, second_order_strength
from lifenet.explain.merging import MergedRegions, merge_regions
from lifenet.explain.neurons import (
    FeatureImportance,
    NeuronContributions,
    NeuronImportance,
    feature_importance,
    neuron_contributions,
    neuron_importance,
)
from lifenet.explain.one_row import RowExplanation
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
    "FeatureImportance",
    "Interactions",
    "MergedRegions",
    "NeuronContributions",
    "NeuronImportance",
    "PairEffect",
    "Regions",
    "RowExplanation",
    "Stability",
    "VaryingCoefficients",
    "accumulated_effects",
    "coefficient_signs",
    "explain_row",
    "explain_rows",
    "feature_importance",
    "integrated_effects",
    "interaction_strength",
    "local_regions",
    "merge_regions",
    "neuron_contributions",
    "neuron_importance",
    "pair_effect",
    "partial_dependence",
    "second_order_strength",
    "stability",
    "varying_coefficients",
]
