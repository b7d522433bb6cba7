"""The inner layer: which neurons matter, and which columns speak through them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet._extras import require
from lifenet._shown import shown
from lifenet.explain._sample import Sample
from lifenet.network import Coded, ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pandas as pd

    from lifenet._typing import Floats, Integers
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = [
    "NeuronContributions",
    "NeuronImportance",
    "neuron_contributions",
    "neuron_importance",
]

#: Numbers in a block of rows times neurons: about 1 MB, which stays in the cache.
_BLOCK = 2**17
#: A standard deviation below this share of what was summed up for it is rounding.
_ROUNDING = 1e-12


@shown
@dataclass(frozen=True, eq=False)
class NeuronImportance:
    """How much of the score's variation each neuron carries (section 4.1 of the paper).

    Attributes
    ----------
    importance : ndarray of shape (n_neurons,)
        ``std(beta_k relu(b_k + x'w_k)) / std(f)``, in the order of the network. All zero where
        the score is the same in every row.
    active : ndarray of shape (n_neurons,)
        Share of the rows in which the neuron is active.
    linear : float
        The same measure for the network's linear part, ``std(linear'x) / std(f)``.
    """

    importance: Floats
    active: Floats
    linear: float

    @property
    def order(self) -> Integers:
        """Neurons from the most to the least important."""
        return np.argsort(-self.importance, kind="stable")

    def n_above(self, share: float = 0.02) -> int:
        """How many neurons exceed a share of the largest importance."""
        return int(np.sum(self.importance > share * self.importance.max(initial=0.0)))

    def to_frame(self) -> pd.DataFrame:
        """One row a neuron, the most important first.

        Columns: neuron, importance, share_of_largest, active.
        """
        pandas: Any = require("pandas", extra="data", purpose="A frame of neuron importance")
        largest = self.importance.max(initial=0.0) or 1.0
        order = self.order
        frame: pd.DataFrame = pandas.DataFrame(
            {
                "neuron": order,
                "importance": self.importance[order],
                "share_of_largest": self.importance[order] / largest,
                "active": self.active[order],
            }
        )
        return frame


@shown
@dataclass(frozen=True, eq=False)
class NeuronContributions:
    """How each column speaks through each neuron (section 4.1 of the paper).

    The printed measure, ``w_k beta_k std(relu) / std(f)``, changes when a neuron is rescaled; here
    ``w_k`` has unit norm on standardised columns. A neuron's contributions then have its
    importance as their Euclidean norm, and the sign of the slope. A neuron of codes sums functions
    of one column each: the deviation of such a function stands in place of ``|w_kj|`` times the
    column's, with the sign of its covariance with the column.

    Attributes
    ----------
    contribution : ndarray of shape (n_neurons, n_columns)
    linear : ndarray of shape (n_columns,)
        The same for the linear part, as for a neuron that is active everywhere.
    schema : names and groups of the columns
    """

    contribution: Floats
    linear: Floats
    schema: FeatureSchema

    @property
    def importance(self) -> Floats:
        """Importance of each neuron as far as its columns vary, (n_neurons,)."""
        return np.asarray(np.linalg.norm(self.contribution, axis=1))

    @property
    def order(self) -> Integers:
        """Neurons from the most to the least important."""
        return np.argsort(-self.importance, kind="stable")

    @property
    def has_linear(self) -> bool:
        """Whether the network has a linear part that matters."""
        return bool(self.linear.any())

    def to_frame(self) -> pd.DataFrame:
        """One row a neuron, the most important first, one column a column.

        The linear part, where there is one, is the last row.
        """
        pandas: Any = require("pandas", extra="data", purpose="A frame of neuron contributions")
        order = self.order
        values, labels = self.contribution[order], [f"neuron {k}" for k in order]
        if self.has_linear:
            values, labels = np.vstack([values, self.linear]), [*labels, "linear part"]
        frame: pd.DataFrame = pandas.DataFrame(values, index=labels, columns=self.schema.names)
        return frame


def neuron_importance(
    network: PiecewiseLinear,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> NeuronImportance:
    """Importance of each neuron, ``std(beta_k relu(b_k + x'w_k)) / std(f)``.

    Parameters
    ----------
    network : ReluNetwork or CodedNetwork
    X : array-like or data frame of shape (n_samples, n_columns)
        Rows over which the standard deviations are taken.
    schema : FeatureSchema, names of the columns, or None
    sample_weight : array-like of shape (n_samples,) or None
    output : int or None
        Which score; None where there is only one.
    """
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    spread = _spread_of(sample)
    return NeuronImportance(np.abs(spread.neurons), spread.active, spread.linear)


def neuron_contributions(
    network: PiecewiseLinear,
    X: Any,
    *,
    schema: FeatureSchema | Sequence[str] | None = None,
    sample_weight: npt.ArrayLike | None = None,
    output: int | None = None,
) -> NeuronContributions:
    """Contribution of each column to each neuron; parameters as in `neuron_importance`."""
    sample = Sample.of(network, X, schema=schema, sample_weight=sample_weight, output=output)
    layer, spread = _layer_of(sample.network), _spread_of(sample)
    inner = layer.network.dense()
    added = layer.by_column(np.vstack([inner.weights, inner.linear[:, sample.output]]), sample)
    directions = _unit_rows(added)
    return NeuronContributions(
        spread.neurons[:, None] * directions[:-1], spread.linear * directions[-1], sample.schema
    )


@dataclass(frozen=True, eq=False)
class _Layer:
    """Neurons, and what they read of the columns: these themselves, or codes of them."""

    network: ReluNetwork
    codes: Coded | None = None

    def inputs(self, rows: Floats) -> Floats:
        """What the neurons read, (n, n_inputs)."""
        return rows if self.codes is None else self.codes.encode(rows)

    def by_column(self, weights: Floats, sample: Sample) -> Floats:
        """Signed deviation of what each column adds to sums of the inputs.

        Parameters
        ----------
        weights : (n_sums, n_inputs)

        Returns
        -------
        ndarray of shape (n_sums, n_columns)
        """
        if self.codes is None:
            return np.asarray(weights * sample.spread)
        columns = self.codes.column_of_code
        places = [np.flatnonzero(columns == column) for column in range(sample.X.shape[1])]
        added = np.zeros((len(weights), len(places)))
        for column, (within, beside) in enumerate(self._covariances(sample, places)):
            own = weights[:, places[column]]
            variance = np.einsum("si,ij,sj->s", own, within, own, optimize=True)
            sign = np.where(own @ beside < 0, -1.0, 1.0)
            added[:, column] = sign * np.sqrt(np.maximum(variance, 0.0))
        added[:, sample.spread == 0] = 0.0
        return added

    def _covariances(
        self, sample: Sample, places: Sequence[Integers]
    ) -> Iterator[tuple[Floats, Floats]]:
        """Of each column's codes among each other, and with the column."""
        X, weight = sample.X, sample.weight
        blocks = range(0, len(X), max(1, _BLOCK // self.network.n_features))
        parts = [slice(start, start + blocks.step) for start in blocks]
        center = sum(weight[part] @ self.inputs(X[part]) for part in parts)
        within = [np.zeros((len(one), len(one))) for one in places]
        beside = [np.zeros(len(one)) for one in places]
        apart = X - weight @ X
        for part in parts:
            codes = self.inputs(X[part]) - center
            for column, one in enumerate(places):
                weighted = codes[:, one] * weight[part, None]
                within[column] += weighted.T @ codes[:, one]
                beside[column] += apart[part, column] @ weighted
        return zip(within, beside, strict=True)


def _layer_of(network: PiecewiseLinear) -> _Layer:
    """The neurons of a network, if it has some that can be looked at."""
    if isinstance(network, ReluNetwork):
        return _Layer(network)
    if isinstance(network, Coded):
        return _Layer(network.network, network)
    raise TypeError(
        f"Neurons are read from a ReluNetwork or a CodedNetwork; this is a "
        f"{type(network).__name__}. Explanations of regions, effects and single rows read any "
        "piecewise linear network."
    )


@dataclass(frozen=True, eq=False)
class _Spread:
    """Standard deviations of the parts of the score, as shares of that of the score."""

    neurons: Floats  # (n_neurons,), with the sign of beta
    linear: float
    active: Floats  # (n_neurons,)


def _spread_of(sample: Sample) -> _Spread:
    """Read the rows once, in blocks; the moments of the blocks are joined as Chan et al. do."""
    layer = _layer_of(sample.network)
    network = layer.network
    m = network.n_neurons
    total, mean, squares = 0.0, np.zeros(m + 2), np.zeros(m + 2)
    active = np.zeros(m)
    for values, weight in _blocks_of_parts(layer, sample):
        added = weight.sum()
        center = weight @ values / added
        active += weight @ (values[:, :m] > 0)
        apart = center - mean
        np.subtract(values, center, out=values)
        squares += weight @ np.square(values, out=values)
        squares += np.square(apart) * (added * total / (total + added))
        total += added
        mean += apart * (added / total)
    deviation = np.sqrt(squares)
    deviation[np.abs(mean) * _ROUNDING >= deviation] = 0.0
    beta = network.beta[:, sample.output].astype(np.float64)
    size = np.abs(beta) @ (deviation + np.abs(mean))[:m] + (deviation + np.abs(mean))[m]
    whole = deviation[m + 1] if deviation[m + 1] > _ROUNDING * size else np.inf
    return _Spread(
        beta * deviation[:m] / whole, float(deviation[m] / whole), np.minimum(active, 1.0)
    )


def _blocks_of_parts(layer: _Layer, sample: Sample) -> Iterator[tuple[Floats, Floats]]:
    """Outputs of the neurons, linear part and score of some rows, and the weight of each row."""
    network = layer.network
    m, output = network.n_neurons, sample.output
    length = max(1, _BLOCK // (m + 2))
    for start in range(0, len(sample.X), length):
        rows = layer.inputs(sample.X[start : start + length])
        hidden, straight = network.hidden(rows), rows @ network.linear[:, output]
        # The intercept shifts every row's score alike.
        score = straight + hidden @ network.beta[:, output]
        values = np.empty((len(rows), m + 2))
        values[:, :m], values[:, m], values[:, m + 1] = hidden, straight, score
        yield values, sample.weight[start : start + length]


def _unit_rows(vectors: Floats) -> Floats:
    """Rows of norm 1; rows of zeros stay."""
    largest = np.abs(vectors).max(axis=1, initial=0.0, keepdims=True)
    scaled = vectors / np.where(largest > 0, largest, 1.0)  # so that no square underflows
    norm = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(norm > 0, norm, 1.0))
