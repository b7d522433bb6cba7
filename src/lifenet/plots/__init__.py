"""Pictures of models and explanations: one `Display` a result.

A display holds what is to be drawn; ``plot(ax=...)`` draws it and keeps the axes; ``to_frame()``
gives the numbers behind it. ``from_estimator`` does both at once, and reads a fitted model by the
names of its attributes only. Drawing needs ``pip install 'lifenet[plots]'``::

    from lifenet.plots import HierarchyDisplay

    HierarchyDisplay.from_estimator(model).figure_.savefig("hierarchy.png")
"""

from __future__ import annotations

from lifenet.plots.effects import EffectsDisplay, PairEffectDisplay
from lifenet.plots.hierarchy import Edge, HierarchyDisplay, edges_of
from lifenet.plots.partition import PartitionDisplay, region_polygon, regions_of

__all__ = [
    "Edge",
    "EffectsDisplay",
    "HierarchyDisplay",
    "PairEffectDisplay",
    "PartitionDisplay",
    "edges_of",
    "region_polygon",
    "regions_of",
]
