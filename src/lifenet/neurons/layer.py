"""The hidden layer that sources of neurons are joined into, as the output layer sees it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from lifenet.network import ReluNetwork
from lifenet.neurons.features import Activations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.data.rows import Block, Rows
    from lifenet.neurons.features import Features

__all__ = ["Layer", "lengths", "neurons_for_linear"]


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
    trainable : (n_features, n_inputs), weights that fine-tuning may move; None for all
    """

    features: Features
    scale: Floats
    member: Integers
    beta: Floats
    intercept: Floats
    output: Integers
    leaf: Bools | None = None
    trainable: Bools | None = None

    # ------------------------------------------------------------------ making layers

    @classmethod
    def of(
        cls,
        features: Features,
        scale: Floats,
        *,
        leaf: Bools | None = None,
        trainable: Bools | None = None,
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
            trainable=trainable,
        )

    @classmethod
    def of_members(
        cls,
        members: Sequence[tuple[ReluNetwork, int]],
        n_inputs: int,
        inputs: Integers | None = None,
    ) -> Layer:
        """All neurons of base learners, scaled by the length of their weights.

        Parameters
        ----------
        members : networks of one score, and the output (the class) that it is of
        inputs : indices of the inputs that the networks read, and stay on; None for all
        """
        networks = [network for network, _ in members]
        n_read = n_inputs if inputs is None else len(inputs)
        read = np.vstack([np.zeros((0, n_read)), *(one.weights for one in networks)])
        weights, trainable = read, None
        if inputs is not None:
            weights = np.zeros((len(read), n_inputs))
            weights[:, inputs] = read
            trainable = np.tile(np.isin(np.arange(n_inputs), inputs), (len(read), 1))
        bias = np.concatenate([np.zeros(0), *(one.bias for one in networks)])
        return cls(
            features=Activations(np.column_stack([weights, bias])),
            scale=lengths(weights),
            member=np.repeat(np.arange(len(networks)), [one.n_neurons for one in networks]),
            beta=np.concatenate([np.zeros(0), *(one.beta[:, 0] for one in networks)]),
            intercept=np.array([one.intercept[0] for one in networks]),
            output=np.asarray([output for _, output in members], dtype=np.intp),
            leaf=np.zeros(len(weights), dtype=bool),
            trainable=trainable,
        )

    @classmethod
    def join(cls, layers: Sequence[Layer]) -> Layer:
        """The neurons of all layers, in their order."""
        if len(layers) == 1:
            return layers[0]
        offsets = np.cumsum([0, *(one.n_members for one in layers[:-1])])
        return cls(
            features=Activations(np.vstack([one.theta for one in layers])),
            scale=np.concatenate([one.scale for one in layers]),
            member=np.concatenate([o + one.member for o, one in zip(offsets, layers, strict=True)]),
            beta=np.concatenate([one.beta for one in layers]),
            intercept=np.concatenate([one.intercept for one in layers]),
            output=np.concatenate([one.output for one in layers]),
            leaf=np.concatenate([one.leaf_mask for one in layers]),
            trainable=_joined(layers),
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
    def theta(self) -> Floats:
        """Weights and biases of the neurons, (n_neurons, n_inputs + 1)."""
        assert isinstance(self.features, Activations)
        return self.features.dense

    def network(self, coefficients: Floats) -> ReluNetwork:
        """The neurons under an output layer (n_neurons + 1, n_outputs), the intercepts last."""
        theta = self.theta
        return ReluNetwork(theta[:, :-1], theta[:, -1], coefficients[:-1], coefficients[-1])

    def pick(self, index: Integers) -> Layer:
        """Some of the neurons, in their order; all base learners stay."""
        return replace(
            self,
            features=self.features.select(index),
            scale=self.scale[index],
            member=self.member[index],
            beta=self.beta[index],
            leaf=None if self.leaf is None else self.leaf[index],
            trainable=None if self.trainable is None else self.trainable[index],
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


def neurons_for_linear(network: ReluNetwork, rows: Rows) -> ReluNetwork:
    """The same function on the rows, with a neuron for each output in place of a linear part.

    Such a neuron is active on all rows, and beyond them by their range again.
    """
    if not np.any(network.linear):
        return network
    slopes = network.linear.T
    inside = rows.collect(lambda block: block.inputs[:-1].copy())
    low, high = inside.min(axis=1), inside.max(axis=1)
    ends = np.minimum(slopes * low, slopes * high).sum(axis=1)
    bias = np.abs(slopes) @ (high - low) - ends
    return ReluNetwork(
        np.vstack([network.weights, slopes]),
        np.append(network.bias, bias),
        np.vstack([network.beta, np.eye(len(slopes))]),
        network.intercept - bias,
    )


def lengths(weights: Floats) -> Floats:
    """Length of each neuron's weights; one for a neuron without any."""
    norms = np.linalg.norm(weights, axis=1)
    return np.where(norms > 0, norms, 1.0)


def _joined(layers: Sequence[Layer]) -> Bools | None:
    if all(one.trainable is None for one in layers):
        return None
    masks = [
        np.ones((one.n_features, one.theta.shape[1] - 1), dtype=bool)
        if one.trainable is None
        else one.trainable
        for one in layers
    ]
    return np.vstack(masks)
