"""The hidden layer that sources of neurons are joined into, as the output layer sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from lifenet.kernels.weights import dense_of, lengths_of, stack_weights
from lifenet.network import ReluNetwork
from lifenet.neurons.features import Activations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers, Weights
    from lifenet.data.rows import Block, Rows
    from lifenet.neurons.features import Features

__all__ = ["Layer", "lengths", "neurons_for_linear"]

_SOME_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Layer:
    """Features that an output layer is fitted to, grouped by the base learner that made them.

    A base learner's own score is ``intercept_k + sum_j beta_j feature_j`` over its features; it
    is the score of one output only (of one class against the rest where there are several). Leaf
    neurons, and neurons that belong to no base learner, form one group without a score.

    Attributes
    ----------
    features : evaluated on all rows, whatever subset their base learner was trained on
    scale : (n_features,); a penalty falls on ``scale * coefficient``
    member : (n_features,), the base learner of each feature, not falling
    beta : (n_features,), each base learner's own output layer
    intercept : (n_members,), each base learner's own intercept
    output : (n_members,), the output that each base learner's score is of
    leaf : (n_features,), whether it is a leaf neuron, whose activation runs from 0 to 1
    """

    features: Features
    scale: Floats
    member: Integers
    beta: Floats
    intercept: Floats
    output: Integers
    leaf: Bools | None = None

    # ------------------------------------------------------------------ making layers

    @classmethod
    def of(
        cls,
        features: Features,
        scale: Floats,
        *,
        leaf: Bools | None = None,
    ) -> Layer:
        """Features of one group, for an output layer that asks nothing of base learners."""
        n = features.n_features
        return cls(
            features=features,
            scale=scale,
            member=np.zeros(n, dtype=np.intp),
            beta=np.zeros(n),
            intercept=np.zeros(1),
            output=np.zeros(1, dtype=np.intp),
            leaf=leaf,
        )

    @classmethod
    def of_members(
        cls,
        members: Sequence[tuple[ReluNetwork, int]],
        n_inputs: int,
        inputs: Integers | None = None,
        *,
        keep_zeros: bool = False,
    ) -> Layer:
        """All neurons of base learners, scaled by the length of their weights.

        Parameters
        ----------
        members : networks of one score, and the output (the class) that it is of
        inputs : indices of the inputs that the networks read, and stay on; None for all
        keep_zeros : whether weights of zero are not stored, so that fine-tuning leaves them zero
        """
        networks = [network for network, _ in members]
        n_read = n_inputs if inputs is None else len(inputs)
        weights = stack_weights([one.weights for one in networks], n_read)
        if inputs is not None:
            weights = _on_inputs(dense_of(weights), inputs, n_inputs)
        if keep_zeros:
            weights = sparse.csr_array(weights, copy=True)
            weights.eliminate_zeros()
        bias = np.concatenate([np.zeros(0), *(one.bias for one in networks)])
        return cls(
            features=Activations(weights, bias),
            scale=lengths(weights),
            member=np.repeat(np.arange(len(networks)), [one.n_neurons for one in networks]),
            beta=np.concatenate([np.zeros(0), *(one.beta[:, 0] for one in networks)]),
            intercept=np.array([one.intercept[0] for one in networks]),
            output=np.asarray([output for _, output in members], dtype=np.intp),
            leaf=np.zeros(len(bias), dtype=bool),
        )

    @classmethod
    def join(cls, layers: Sequence[Layer]) -> Layer:
        """The neurons of all layers, in their order."""
        if len(layers) == 1:
            return layers[0]
        offsets = np.cumsum([0, *(one.n_members for one in layers[:-1])])
        return cls(
            features=Activations(
                stack_weights([one.neurons.weights for one in layers], layers[0].n_inputs),
                np.concatenate([one.neurons.bias for one in layers]),
            ),
            scale=np.concatenate([one.scale for one in layers]),
            member=np.concatenate([o + one.member for o, one in zip(offsets, layers, strict=True)]),
            beta=np.concatenate([one.beta for one in layers]),
            intercept=np.concatenate([one.intercept for one in layers]),
            output=np.concatenate([one.output for one in layers]),
            leaf=np.concatenate([one.leaf_mask for one in layers]),
        )

    # ------------------------------------------------------------------ the neurons

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.features.n_features

    @property
    def n_members(self) -> int:
        """Number of base learners."""
        return len(self.intercept)

    @property
    def leaf_mask(self) -> Bools:
        """Which features are leaf neurons, (n_features,)."""
        return np.zeros(self.n_features, dtype=bool) if self.leaf is None else self.leaf

    @property
    def neurons(self) -> Activations:
        """The neurons whose activations the features are."""
        assert isinstance(self.features, Activations)
        return self.features

    @property
    def n_inputs(self) -> int:
        """Number of inputs that the neurons may read."""
        return int(self.neurons.weights.shape[1])

    def network(self, coefficients: Floats) -> ReluNetwork:
        """The neurons under an output layer (n_neurons + 1, n_outputs), the intercepts last."""
        neurons = self.neurons
        return ReluNetwork(neurons.weights, neurons.bias, coefficients[:-1], coefficients[-1])

    def pick(self, index: Integers) -> Layer:
        """Some of the neurons, in their order; all base learners stay."""
        return replace(
            self,
            features=self.features.select(index),
            scale=self.scale[index],
            member=self.member[index],
            beta=self.beta[index],
            leaf=None if self.leaf is None else self.leaf[index],
        )

    # ------------------------------------------------------------------ the base learners

    def own_output(self) -> sparse.csr_array:
        """Each base learner's own coefficients, (n_members, n_features)."""
        index = np.arange(self.n_features)
        return sparse.csr_array(
            (self.beta, (self.member, index)), shape=(self.n_members, self.n_features)
        )

    def member_scores(self, block: Block) -> Floats:
        """Scores of the base learners on a block, (n_members, n_rows)."""
        return np.asarray(self.own_output() @ self.features.of(block) + self.intercept[:, None])

    def features_of(self, members: Integers) -> Integers:
        """Indices of the features of some base learners, in order."""
        return np.flatnonzero(np.isin(self.member, members))

    def select(self, members: Integers) -> Layer:
        """Only some base learners, in their order."""
        members = np.sort(members)
        fewer = self.pick(self.features_of(members))
        return replace(
            fewer,
            member=np.searchsorted(members, fewer.member),
            intercept=self.intercept[members],
            output=self.output[members],
        )


def neurons_for_linear(network: ReluNetwork, rows: Rows, *, apart: bool = False) -> ReluNetwork:
    """The same function on the rows, with a neuron for each output in place of a linear part.

    Such a neuron is active on all rows, and beyond them by their range again.

    Parameters
    ----------
    apart : whether there is a neuron for each input of the linear part instead
    """
    if not np.any(network.linear):
        return network
    slopes: Floats = network.linear.T
    beta: Floats = np.eye(network.n_outputs)
    if apart:
        used = np.flatnonzero(np.any(network.linear, axis=1))
        slopes, beta = np.eye(network.n_features)[used], network.linear[used]
    low, high = rows.reduce(_range, _wider, _SOME_ROWS)
    ends = np.minimum(slopes * low, slopes * high).sum(axis=1)
    bias = np.abs(slopes) @ (high - low) - ends
    return ReluNetwork(
        stack_weights([network.weights, slopes], network.n_features),
        np.append(network.bias, bias),
        np.vstack([network.beta, beta]),
        network.intercept - bias @ beta,
    )


def lengths(weights: Weights) -> Floats:
    """Length of each neuron's weights; one for a neuron without any."""
    norms = lengths_of(weights)
    return np.where(norms > 0, norms, 1.0)


def _on_inputs(weights: Floats, inputs: Integers, n_inputs: int) -> sparse.csr_array:
    """Weights on some of all inputs; all of these are stored, whatever they are."""
    n, width = weights.shape
    order = np.argsort(inputs)
    index = np.tile(np.asarray(inputs)[order], n)
    ends = np.arange(0, n * width + 1, width) if width else np.zeros(n + 1, dtype=np.intp)
    return sparse.csr_array((weights[:, order].ravel(), index, ends), shape=(n, n_inputs))


def _range(block: Block) -> tuple[Floats, Floats]:
    return block.inputs[:-1].min(axis=1), block.inputs[:-1].max(axis=1)


def _wider(one: tuple[Floats, Floats], other: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    return np.minimum(one[0], other[0]), np.maximum(one[1], other[1])
