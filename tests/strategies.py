"""Hypothesis strategies for networks and the tables they read.

Numbers are multiples of 1/8, so sums and products of a few of them are exact: a row that should
lie on a kink does, parallel neurons really are parallel, and zeros and ties turn up all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Callable

    from lifenet._typing import Floats

__all__ = ["eighths", "equivalents", "floats", "invariant", "networks", "networks_and_rows", "rows"]

#: Decorator for tests of invariants: enough examples, and no clock on a busy machine.
invariant = settings(max_examples=60, deadline=None)


def eighths(low: int = -4, high: int = 4) -> st.SearchStrategy[float]:
    """Multiples of 1/8 between `low` and `high`."""
    return st.integers(8 * low, 8 * high).map(lambda k: k / 8)


def floats(*shape: int) -> st.SearchStrategy[Floats]:
    """Arrays of `shape` filled with multiples of 1/8."""
    return hnp.arrays(np.float64, shape, elements=eighths())


@st.composite
def networks(
    draw: st.DrawFn,
    *,
    n_features: int | None = None,
    n_outputs: int | None = None,
    min_neurons: int = 0,
    max_neurons: int = 6,
) -> ReluNetwork:
    """Networks with up to 4 columns and 3 outputs unless told."""
    m = draw(st.integers(min_neurons, max_neurons))
    p = draw(st.integers(1, 4)) if n_features is None else n_features
    q = draw(st.integers(1, 3)) if n_outputs is None else n_outputs
    shapes = (m, p), (m,), (m, q), (q,), (p, q)
    return ReluNetwork(*(draw(floats(*shape)) for shape in shapes))


def rows(n_features: int, min_rows: int = 1, max_rows: int = 8) -> st.SearchStrategy[Floats]:
    """Tables with `n_features` columns."""
    return st.integers(min_rows, max_rows).flatmap(lambda n: floats(n, n_features))


@st.composite
def networks_and_rows(
    draw: st.DrawFn, *, min_rows: int = 1, min_neurons: int = 0
) -> tuple[ReluNetwork, Floats]:
    """A network, and a table that it can read."""
    network = draw(networks(min_neurons=min_neurons))
    return network, draw(rows(network.n_features, min_rows=min_rows))


@st.composite
def equivalents(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    """Networks of the same function: permuted, rescaled, split, flipped and padded."""
    for change in draw(st.lists(st.sampled_from(_CHANGES), min_size=1, max_size=5)):
        network = change(draw, network)
    return network


def _factors(draw: st.DrawFn, size: int) -> Floats:
    return draw(hnp.arrays(np.float64, size, elements=st.floats(0.1, 10)))


def _neurons(draw: st.DrawFn, network: ReluNetwork) -> Floats:
    return draw(hnp.arrays(np.bool_, network.n_neurons))


def _stacked(network: ReluNetwork, weights: Floats, bias: Floats, beta: Floats) -> ReluNetwork:
    """`network` with more neurons below its own."""
    return ReluNetwork(
        np.concatenate([network.weights, weights]),
        np.concatenate([network.bias, bias]),
        np.concatenate([network.beta, beta]),
        network.intercept,
        network.linear,
    )


def _permute(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    return network.select(draw(st.permutations(range(network.n_neurons))))


def _rescale(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    factors = _factors(draw, network.n_neurons)
    return ReluNetwork(
        network.weights * factors[:, None],
        network.bias * factors,
        network.beta / factors[:, None],
        network.intercept,
        network.linear,
    )


def _split(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    """Give a share of some neurons to a rescaled copy."""
    chosen = _neurons(draw, network)
    factors = _factors(draw, int(chosen.sum()))[:, None]
    beta = network.beta.copy()
    beta[chosen] *= 0.3
    rest = network.with_readout(beta, network.intercept)
    return _stacked(
        rest,
        network.weights[chosen] * factors,
        network.bias[chosen] * factors[:, 0],
        0.7 * network.beta[chosen] / factors,
    )


def _flip(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    """Turn some neurons round by relu(z) = relu(-z) + z."""
    chosen = _neurons(draw, network)
    sign = np.where(chosen, -1.0, 1.0)
    beta = network.beta[chosen]
    return ReluNetwork(
        network.weights * sign[:, None],
        network.bias * sign,
        network.beta,
        network.intercept + network.bias[chosen] @ beta,
        network.linear + network.weights[chosen].T @ beta,
    )


def _pad(draw: st.DrawFn, network: ReluNetwork) -> ReluNetwork:
    """Add neurons without a say, and a pair that cancels."""
    dead = draw(networks(n_features=network.n_features, n_outputs=network.n_outputs))
    pair = np.vstack([dead.weights, dead.weights, dead.weights / 3])
    bias = np.concatenate([dead.bias, dead.bias, dead.bias / 3])
    beta = np.vstack([0 * dead.beta, 0.1 * dead.beta, -0.3 * dead.beta])
    return _stacked(network, pair, bias, beta)


_CHANGES: tuple[Callable[[st.DrawFn, ReluNetwork], ReluNetwork], ...] = (
    _permute,
    _rescale,
    _split,
    _flip,
    _pad,
)
