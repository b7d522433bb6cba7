"""scikit-learn estimators: a shell that validates, calls a recipe and keeps its result."""

from lifenet.estimators._adam import AdamClassifier, AdamRegressor
from lifenet.estimators._life import LIFEClassifier, LIFERegressor
from lifenet.estimators._lla import LLAClassifier, LLARegressor
from lifenet.estimators._loading import load
from lifenet.estimators._stacking import SubsetStackingClassifier, SubsetStackingRegressor

__all__ = [
    "AdamClassifier",
    "AdamRegressor",
    "LIFEClassifier",
    "LIFERegressor",
    "LLAClassifier",
    "LLARegressor",
    "SubsetStackingClassifier",
    "SubsetStackingRegressor",
    "load",
]
