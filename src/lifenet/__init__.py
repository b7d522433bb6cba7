"""lifenet: wide single-hidden-layer ReLU networks, readable to the last coefficient.

>>> from lifenet import LLARegressor
>>> from lifenet.datasets import simulate
>>> data = simulate.mim(1000, random_state=0)
>>> model = LLARegressor(n_neurons=5, random_state=0).fit(data.X, data.y)
>>> model.network_.n_neurons
5
"""

from importlib.metadata import version

from lifenet.estimators import LLAClassifier, LLARegressor
from lifenet.network import PiecewiseLinear, ReluNetwork
from lifenet.schema import FeatureSchema

__all__ = [
    "FeatureSchema",
    "LLAClassifier",
    "LLARegressor",
    "PiecewiseLinear",
    "ReluNetwork",
    "__version__",
]

__version__ = version("lifenet")
