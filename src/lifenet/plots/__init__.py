"""Pictures of models and explanations: one `Display` a result.

A display holds what is to be drawn; ``plot(ax=...)`` draws it and keeps the axes; ``to_frame()``
gives the numbers behind it. ``from_estimator`` and ``from_network`` compute and draw at once, and
read a fitted model by the names of its attributes only. Drawing needs
``pip install 'lifenet[plots]'``::

    from lifenet.plots import EffectsDisplay, HierarchyDisplay

    HierarchyDisplay.from_estimator(model).figure_.savefig("hierarchy.png")
    EffectsDisplay.from_estimator(model, X).figure_.savefig("effects.svg")
"""

from __future__ import annotations

from lifenet.plots.coefficients import CoefficientViolinDisplay, LocalCoefficientsDisplay
from lifenet.plots.decomposition import (
    DecompositionDisplay,
    SelectionDisplay,
    StackingLineDisplay,
)
from lifenet.plots.effects import EffectsDisplay
from lifenet.plots.fidelity import FidelityDisplay
from lifenet.plots.frontier import FrontierDisplay
from lifenet.plots.hierarchy import Edge, HierarchyDisplay, edges_of
from lifenet.plots.interactions import InteractionDisplay
from lifenet.plots.maps import PairEffectDisplay
from lifenet.plots.merging import MergedRegionsDisplay
from lifenet.plots.neurons import (
    FeatureImportanceDisplay,
    NeuronContributionDisplay,
    NeuronImportanceDisplay,
)
from lifenet.plots.partition import PartitionDisplay, region_polygon, regions_of
from lifenet.plots.parts import EffectsAndPairsDisplay
from lifenet.plots.stability import StabilityDisplay
from lifenet.plots.varying import VaryingCoefficientsDisplay
from lifenet.plots.waterfall import WaterfallDisplay

__all__ = [
    "CoefficientViolinDisplay",
    "DecompositionDisplay",
    "Edge",
    "EffectsAndPairsDisplay",
    "EffectsDisplay",
    "FeatureImportanceDisplay",
    "FidelityDisplay",
    "FrontierDisplay",
    "HierarchyDisplay",
    "InteractionDisplay",
    "LocalCoefficientsDisplay",
    "MergedRegionsDisplay",
    "NeuronContributionDisplay",
    "NeuronImportanceDisplay",
    "PairEffectDisplay",
    "PartitionDisplay",
    "SelectionDisplay",
    "StabilityDisplay",
    "StackingLineDisplay",
    "VaryingCoefficientsDisplay",
    "WaterfallDisplay",
    "edges_of",
    "region_polygon",
    "regions_of",
]
