"""lifenet: wide single-hidden-layer ReLU networks, readable to the last coefficient.

>>> from lifenet import LLARegressor
>>> from lifenet.datasets import simulate
>>> data = simulate.mim(1000, random_state=0)
>>> model = LLARegressor(n_neurons=5, random_state=0).fit(data.X, data.y)
>>> model.network_.n_neurons
5
"""

from importlib.metadata import version

from lifenet.blend import Blend
from lifenet.coding import CodedNetwork, ColumnCoding
from lifenet.encoding import QuantileCoding
from lifenet.estimators import (
    AdamClassifier,
    AdamRegressor,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
    SubsetStackingClassifier,
    SubsetStackingRegressor,
)
from lifenet.frontier import Frontier
from lifenet.network import PiecewiseLinear, ReluNetwork
from lifenet.readouts.averaging import Averaging
from lifenet.readouts.elastic_net import ElasticNet
from lifenet.readouts.mixing import Mixing
from lifenet.readouts.ridge import Ridge
from lifenet.readouts.selection import BaseLearnerSelection
from lifenet.rules.boosting import Boosting
from lifenet.sampling import Bootstrap, NeuronProjection, RandomProjection
from lifenet.schema import FeatureSchema
from lifenet.simplify import Simplify
from lifenet.solvers.adam import Adam
from lifenet.solvers.descent import Descent
from lifenet.solvers.lla import LLA
from lifenet.solvers.polish import Polish

__all__ = [
    "LLA",
    "Adam",
    "AdamClassifier",
    "AdamRegressor",
    "Averaging",
    "BaseLearnerSelection",
    "Blend",
    "Boosting",
    "Bootstrap",
    "CodedNetwork",
    "ColumnCoding",
    "Descent",
    "ElasticNet",
    "FeatureSchema",
    "Frontier",
    "LIFEClassifier",
    "LIFERegressor",
    "LLAClassifier",
    "LLARegressor",
    "Mixing",
    "NeuronProjection",
    "PiecewiseLinear",
    "Polish",
    "QuantileCoding",
    "RandomProjection",
    "ReluNetwork",
    "Ridge",
    "Simplify",
    "SubsetStackingClassifier",
    "SubsetStackingRegressor",
    "__version__",
]

__version__ = version("lifenet")
