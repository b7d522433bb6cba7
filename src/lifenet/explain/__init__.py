"""Reading a network: exact explanations, each a function that returns a frozen result."""

from __future__ import annotations

from lifenet.explain.effects import Curve, Effects, accumulated_effects, partial_dependence
from lifenet.explain.pairs import PairEffect, pair_effect

__all__ = [
    "Curve",
    "Effects",
    "PairEffect",
    "accumulated_effects",
    "pair_effect",
    "partial_dependence",
]
