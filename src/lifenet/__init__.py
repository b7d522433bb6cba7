"""lifenet: wide single-hidden-layer ReLU networks, readable to the last coefficient.

>>> from lifenet import LLARegressor
>>> from lifenet.datasets import simulate
>>> data = simulate.mim(1000, random_state=0)
>>> model = LLARegressor(n_neurons=5, random_state=0).fit(data.X, data.y)
>>> model.network_.n_neurons
5
"""

from importlib.metadata import version

from lifenet.compress.distil import Distil
from lifenet.compress.frontier import Frontier
from lifenet.data.codes import QuantileCoding
from lifenet.data.folds import CrossFit, Holdout
from lifenet.estimators import (
    AdamClassifier,
    AdamRegressor,
    LIFEClassifier,
    LIFERegressor,
    LLAClassifier,
    LLARegressor,
    SubsetStackingClassifier,
    SubsetStackingRegressor,
    load,
)
from lifenet.finetune.lbfgs import LBFGS
from lifenet.finetune.minibatch import MiniBatch
from lifenet.network import CodedNetwork, ColumnCoding, PiecewiseLinear, ReluNetwork
from lifenet.neurons.hierarchy import Hierarchy
from lifenet.neurons.leaves import Leaves
from lifenet.neurons.sampling import Bootstrap, NeuronProjection, RandomProjection
from lifenet.output.averaging import Averaging
from lifenet.output.elastic_net import ElasticNetOutput
from lifenet.output.mixing import Mixing
from lifenet.output.ridge import RidgeOutput
from lifenet.output.selection import BaseLearnerSelection
from lifenet.recipe.pairs import BestPairs
from lifenet.recipe.presets import preset
from lifenet.recipe.recipe import Recipe
from lifenet.schema import FeatureSchema
from lifenet.solvers.adam import Adam
from lifenet.solvers.lla import LLA
from lifenet.stacking.boosted_trees import BoostedTrees
from lifenet.stacking.linear_model import LinearModel

__all__ = [
    "LBFGS",
    "LLA",
    "Adam",
    "AdamClassifier",
    "AdamRegressor",
    "Averaging",
    "BaseLearnerSelection",
    "BestPairs",
    "BoostedTrees",
    "Bootstrap",
    "CodedNetwork",
    "ColumnCoding",
    "CrossFit",
    "Distil",
    "ElasticNetOutput",
    "FeatureSchema",
    "Frontier",
    "Hierarchy",
    "Holdout",
    "LIFEClassifier",
    "LIFERegressor",
    "LLAClassifier",
    "LLARegressor",
    "Leaves",
    "LinearModel",
    "MiniBatch",
    "Mixing",
    "NeuronProjection",
    "PiecewiseLinear",
    "QuantileCoding",
    "RandomProjection",
    "Recipe",
    "ReluNetwork",
    "RidgeOutput",
    "SubsetStackingClassifier",
    "SubsetStackingRegressor",
    "__version__",
    "load",
    "preset",
]

__version__ = version("lifenet")
