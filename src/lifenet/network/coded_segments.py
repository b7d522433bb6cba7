"""The integral of the gradient along straight segments of raw rows, by raw column.

Neurons that read little of the columns, as leaves do, are followed from one of their own bends to
the next; all others from each knot that is crossed to the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lifenet.network.bends import Bends, bends_of, count_bends
from lifenet.network.bent_segments import integrate_bent
from lifenet.network.cut_segments import PlainLayer, integrate_plain, integrate_tables
from lifenet.network.tables import ColumnTables

if TYPE_CHECKING:
    from lifenet._typing import Floats, Integers
    from lifenet.network.coded import CodedNetwork

__all__ = ["SegmentLayers", "integrate_coded"]


class SegmentLayers(NamedTuple):
    """A hidden layer in the three parts by which segments are integrated.

    Attributes
    ----------
    bends : of the neurons that read ramps and bend rarely
    plain_neurons, plain : those that read no ramps
    other_neurons, others : those that read ramps and bend often
    """

    bends: Bends
    plain_neurons: Integers
    plain: PlainLayer
    other_neurons: Integers
    others: ColumnTables

    @classmethod
    def of(cls, tables: ColumnTables) -> SegmentLayers:
        """The parts of a layer."""
        plain_neurons, weights = tables._plain
        rare = ~tables._on_plain
        columns, bends = count_bends(tables, rare)
        # To follow a neuron costs its columns at each of its bends, but only on rows where bounds
        # leave open whether it is active; to cut at all knots costs all columns at each of them,
        # on all rows. Measured: 14 neurons of a default take 0.06 s to follow and 1.1 s to cut.
        rare &= columns * bends <= 4 * tables.grid.n_points
        other = np.flatnonzero(~(rare | tables._on_plain))
        return cls(
            bends_of(tables, rare),
            plain_neurons,
            PlainLayer(weights, tables.bias[plain_neurons].astype(np.float64)),
            other,
            ColumnTables(tables.coding, tables.weights[other], tables.bias[other]),
        )


def integrate_coded(coded: CodedNetwork, start: Floats, end: Floats) -> Floats:
    """Change of the score along segments from `start` to `end` (n, p), by column.

    Returns
    -------
    ndarray of shape (n, p, n_outputs)
    """
    layers, coding = coded.segment_layers, coded.coding
    beta = coded.network.beta.astype(np.float64)
    parts = coded.linear_values(end) - coded.linear_values(start)
    if len(layers.bends.neurons):
        parts += integrate_bent(layers.bends, beta[layers.bends.neurons], coding, start, end)
    if len(layers.plain_neurons):
        parts += integrate_plain(coding, layers.plain, beta[layers.plain_neurons], start, end)
    if len(layers.other_neurons):
        parts += integrate_tables(layers.others, beta[layers.other_neurons], start, end)
    return parts
