"""The trained network as a frozen value, and the interface through which it is read.

`ReluNetwork` is what training produces and what everything else reads; `CodedNetwork` is one on
piecewise-linear codes of the columns (`ColumnCoding`), read in the raw columns through the same
interface, exactly. `PiecewiseLinear` and `Restriction` are the protocols that explanations, plots
and exports use, so that they work on any model that offers them.
"""

from __future__ import annotations

from lifenet.network.coded import CodedNetwork
from lifenet.network.coded_bounds import ColumnBound
from lifenet.network.coded_restriction import CodedRestriction
from lifenet.network.coding import ColumnCoding, PackedCodes
from lifenet.network.feature_neurons import FeatureNeurons
from lifenet.network.folds import FoldNetworks
from lifenet.network.grid import Cells, Grid
from lifenet.network.limits import steps_to_switch
from lifenet.network.pairwise import Distribution, FeatureFunction, PairwiseNetwork
from lifenet.network.protocol import Bounded, Coded, Limited, PiecewiseLinear, Restriction
from lifenet.network.relu import ReluNetwork
from lifenet.network.restriction import ReluRestriction
from lifenet.network.tables import ColumnTables

__all__ = [
    "Bounded",
    "Cells",
    "Coded",
    "CodedNetwork",
    "CodedRestriction",
    "ColumnBound",
    "ColumnCoding",
    "ColumnTables",
    "Distribution",
    "FeatureFunction",
    "FeatureNeurons",
    "FoldNetworks",
    "Grid",
    "Limited",
    "PackedCodes",
    "PairwiseNetwork",
    "PiecewiseLinear",
    "ReluNetwork",
    "ReluRestriction",
    "Restriction",
    "steps_to_switch",
]
