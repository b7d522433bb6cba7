"""Neurons that begin as rules: the leaves of boosted trees, on codes of the columns.

A leaf is a box, an interval of some columns. On codes that rise from 0 to 1 over one bin of a
column (ramps), the box is a neuron: with I_j the ramp at its lower end less the ramp at its upper
end,

    relu(1 + sum_j (I_j - 1)),     j over the columns of the box,

is one inside, zero outside, and linear over the bins in between.
"""

from lifenet.rules.boosting import Boosting
from lifenet.rules.columns import CodedColumns
from lifenet.rules.neurons import Layer, rule_layer, rule_network
from lifenet.rules.trees import Boxes, grow_boxes, grow_trees

__all__ = [
    "Boosting",
    "Boxes",
    "CodedColumns",
    "Layer",
    "grow_boxes",
    "grow_trees",
    "rule_layer",
    "rule_network",
]
