"""The trained network as a frozen value, and the interface through which it is read.

`ReluNetwork` is what training produces and what everything else reads. `PiecewiseLinear` and
`Restriction` are the protocols that explanations, plots and exports use, so that they work on
any model that offers them.
"""

from __future__ import annotations

from lifenet.network._limits import steps_to_switch
from lifenet.network._protocol import Coded, Limited, PiecewiseLinear, Restriction
from lifenet.network._relu import ReluNetwork
from lifenet.network._restriction import ReluRestriction

__all__ = [
    "Coded",
    "Limited",
    "PiecewiseLinear",
    "ReluNetwork",
    "ReluRestriction",
    "Restriction",
    "steps_to_switch",
]
