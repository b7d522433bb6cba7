"""Tables as people have them: columns of any kind, read and turned into numbers."""

from __future__ import annotations

from lifenet.tables.categories import CrossFitted, Targets
from lifenet.tables.codes import CategoryCode, Feature, NumberCode, TimeCode
from lifenet.tables.coding import TableCoding, in_order, learn_coding
from lifenet.tables.columns import Labels, Numbers, Times, text_of_level
from lifenet.tables.reader import Table, frame_of, names_of, read_table
from lifenet.tables.texts import MISSING, OTHER, TRUTHS, value_text

__all__ = [
    "MISSING",
    "OTHER",
    "TRUTHS",
    "CategoryCode",
    "CrossFitted",
    "Feature",
    "Labels",
    "NumberCode",
    "Numbers",
    "Table",
    "TableCoding",
    "Targets",
    "TimeCode",
    "Times",
    "frame_of",
    "in_order",
    "learn_coding",
    "names_of",
    "read_table",
    "text_of_level",
    "value_text",
]
