"""Columns as a network reads them: piecewise-linear codes, and the network in raw columns.

`ColumnCoding` maps every raw column to one or more codes. `CodedNetwork` is a `ReluNetwork` of the
codes, read in the raw columns through the same interface, exactly.
"""

from __future__ import annotations

from lifenet.coding._columns import ColumnCoding
from lifenet.coding._network import CodedNetwork
from lifenet.coding._restriction import CodedRestriction

__all__ = ["CodedNetwork", "CodedRestriction", "ColumnCoding"]
