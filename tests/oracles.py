"""Slow and plain versions of the kernels: the independent truth that tests compare with."""

from __future__ import annotations

import itertools

import numpy as np
import threadpoolctl
from scipy import sparse

from lifenet.data.folds import Fold
from lifenet.data.problem import Problem
from lifenet.data.rows import ArrayRows
from lifenet.losses import Loss, SquaredError
from lifenet.neurons.features import Columns
from lifenet.neurons.layer import Layer
from lifenet.solvers.hinges import Hinges


def masked_design(theta, X):
    """The Jacobian on frozen patterns, row by row, with the intercept's column last."""
    rows = []
    for x in X:
        homogeneous = np.append(x, 1.0)
        row = []
        for hinge in theta:
            active = float(sum(h * v for h, v in zip(hinge, homogeneous, strict=True)) > 0)
            row.extend(active * homogeneous)
        rows.append([*row, 1.0])
    return np.array(rows)


def hinge_score(hinges: Hinges, X):
    """Score of a network given by its hinges, neuron by neuron."""
    homogeneous = np.column_stack([X, np.ones(len(X))])
    score = np.full(len(X), hinges.intercept)
    for theta, sign in zip(hinges.theta, hinges.sign, strict=True):
        score += sign * np.maximum(homogeneous @ theta, 0.0)
    return score


def penalised_objective(hinges: Hinges, X, y, weight, loss: Loss, ridge):
    """Weighted mean loss plus ridge, straight from its definition."""
    value = loss.value(y, hinge_score(hinges, X)[:, None])
    return np.average(value, weights=weight) + 0.5 * ridge * np.sum(hinges.theta**2)


def plain_problem(X, y, weight=None, loss: Loss | None = None) -> Problem:
    """A problem in the columns' own units."""
    return Problem(
        ArrayRows.of(np.asarray(X, float), np.asarray(y, float), weight), loss or SquaredError()
    )


def random_hinges(generator, n_neurons, n_features, smallest=0.0) -> Hinges:
    """Hinges of random direction and sign, none shorter than `smallest`."""
    theta = generator.normal(size=(n_neurons, n_features + 1))
    size = np.linalg.norm(theta, axis=1, keepdims=True)
    theta *= np.maximum(size, smallest) / size
    sign = generator.choice([-1.0, 1.0], n_neurons)
    return Hinges(theta, sign, float(generator.normal()))


def planted_network(seed, n_samples=2000, n_features=5, n_neurons=3):
    """A noiseless target whose network is known: hinges that cut the data near its middle."""
    generator = np.random.default_rng([seed, 77])
    X = generator.normal(size=(n_samples, n_features))
    weights = generator.normal(size=(n_neurons, n_features))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    bias = generator.uniform(-0.7, 0.7, n_neurons)
    beta = generator.uniform(1.0, 3.0, n_neurons) * generator.choice([-1.0, 1.0], n_neurons)
    return X, np.maximum(X @ weights.T + bias, 0.0) @ beta + 0.5


def fold_of(problem, train=None, validation=None) -> Fold:
    """Coefficients are fitted to all rows of a problem; neurons to some, the others validate."""
    return Fold(problem if train is None else train, validation, problem)


def split_rows(problem, n_train) -> tuple[Problem, Problem]:
    """The first rows of a problem, for training, and the others, for validation."""
    index = np.arange(problem.rows.n_rows)
    parts = (index[:n_train], index[n_train:])
    return tuple(Problem(problem.rows.take(part), problem.loss) for part in parts)


def plain_layer(n_columns, *, member=None, beta=None, intercept=None, output=None, scale=None):
    """The rows' own columns as features, each a base learner whose score it is, unless told.

    Everything but the features is then plain arithmetic on the table.
    """
    member = np.arange(n_columns) if member is None else np.asarray(member)
    n_members = int(member.max()) + 1
    return Layer(
        features=Columns(np.arange(n_columns)),
        scale=np.ones(n_columns) if scale is None else np.asarray(scale, float),
        member=member,
        beta=np.ones(n_columns) if beta is None else np.asarray(beta, float),
        intercept=np.zeros(n_members) if intercept is None else np.asarray(intercept, float),
        output=np.zeros(n_members, dtype=int) if output is None else np.asarray(output),
    )


def theta_of(layer):
    """Weights and bias of a layer's neurons side by side, (n_neurons, n_inputs + 1)."""
    weights = layer.neurons.weights
    dense = weights.toarray() if sparse.issparse(weights) else weights
    return np.column_stack([dense, layer.neurons.bias])


def stored(weights):
    """Which weights are stored, and so may move; of an array all are."""
    if not sparse.issparse(weights):
        return np.ones(weights.shape, dtype=bool)
    found = np.zeros(weights.shape, dtype=bool)
    for row, (start, stop) in enumerate(itertools.pairwise(weights.indptr)):
        found[row, weights.indices[start:stop]] = True
    return found


def store(weights, where):
    """A CSR array that stores some weights, zeros among them; all others are zero."""
    rows, columns = np.nonzero(where)
    ends = np.concatenate([[0], np.cumsum(where.sum(axis=1))])
    return sparse.csr_array((weights[rows, columns], columns, ends), shape=where.shape)


def old_openblas():
    """Whether OpenBLAS sums in another order outside the main thread, as before 0.3.24."""
    versions = [
        tuple(int(part) for part in pool["version"].split(".")[:3])
        for pool in threadpoolctl.threadpool_info()
        if pool["internal_api"] == "openblas"
    ]
    return any(version < (0, 3, 24) for version in versions)
