"""Networks whose neurons read two columns at most, on values and on codes."""

from __future__ import annotations

import numpy as np

from lifenet.network import CodedNetwork, ColumnCoding, ReluNetwork

__all__ = ["coded_pairwise", "plain_pairwise"]


def chosen_columns(generator, n_features, n_neurons):
    """No, one or two columns for each neuron."""
    sizes = generator.integers(0, 3, n_neurons)
    return [generator.choice(n_features, size, replace=False) for size in sizes]


def plain_pairwise(n_features=4, n_neurons=40, n_outputs=1, seed=0):
    generator = np.random.default_rng(seed)
    weights = np.zeros((n_neurons, n_features))
    for neuron, columns in enumerate(chosen_columns(generator, n_features, n_neurons)):
        weights[neuron, columns] = generator.normal(size=len(columns))
    return ReluNetwork(
        weights,
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        generator.normal(size=n_outputs),
        generator.normal(size=(n_features, n_outputs)),
    )


def coded_pairwise(n_neurons=40, n_outputs=1, seed=0):
    """Four columns: codes that rise and fall, none, ramps, and a single knot."""
    generator = np.random.default_rng(seed)
    coding = ColumnCoding(
        [[-2.0, -1.0, 0.0, 0.5, 2.0], None, [-1.0, 0.0, 0.3, 1.0], [0.2]],
        [
            generator.normal(size=(5, 3)),
            None,
            np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]),
            generator.normal(size=(1, 2)),
        ],
    )
    weights = np.zeros((n_neurons, coding.n_codes))
    for neuron, columns in enumerate(chosen_columns(generator, 4, n_neurons)):
        for column in columns:
            codes = coding.codes_of(column)
            weights[neuron, codes] = generator.normal(size=codes.stop - codes.start)
    inner = ReluNetwork(
        weights,
        generator.normal(size=n_neurons),
        generator.normal(size=(n_neurons, n_outputs)),
        generator.normal(size=n_outputs),
        generator.normal(size=(coding.n_codes, n_outputs)),
    )
    return CodedNetwork(coding, inner)
