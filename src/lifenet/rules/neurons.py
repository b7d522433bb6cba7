"""Boxes as neurons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.network import ReluNetwork

if TYPE_CHECKING:
    from lifenet._typing import Bools, Floats, Integers
    from lifenet.rules.columns import CodedColumns
    from lifenet.rules.trees import Boxes

__all__ = ["Layer", "rule_layer", "rule_network", "smooth_layer"]


@dataclass(frozen=True, eq=False)
class Layer:
    """Neurons without a read-out, and which of their weights may move.

    Attributes
    ----------
    theta : (n_neurons, n_codes + 1), weights and bias
    free : (n_neurons, n_codes)
    """

    theta: Floats
    free: Bools

    @property
    def n_neurons(self) -> int:
        """Number of neurons."""
        return len(self.theta)

    def joined(self, other: Layer) -> Layer:
        """The neurons of both."""
        return Layer(np.vstack([self.theta, other.theta]), np.vstack([self.free, other.free]))


def rule_layer(boxes: Boxes, columns: CodedColumns) -> Layer:
    """A neuron for every different box; it may bend in the columns of its box, and in no other."""
    return _layer(*_distinct(boxes, columns)[:2], columns)


def rule_network(
    boxes: Boxes, height: Floats, intercept: Floats, columns: CodedColumns
) -> ReluNetwork:
    """Trees as they are: what every box adds to the scores, summed over all.

    Parameters
    ----------
    height : (n_boxes, n_outputs)
    intercept : (n_outputs,)
    """
    first, last, place = _distinct(boxes, columns)
    theta = _layer(first, last, columns).theta
    beta = np.zeros((len(theta), len(intercept)))
    np.add.at(beta, place, height)
    return ReluNetwork(theta[:, :-1], theta[:, -1], beta, intercept)


def _distinct(boxes: Boxes, columns: CodedColumns) -> tuple[Integers, Integers, Integers]:
    """The ramps at which the different boxes begin and end, and which of them each box is."""
    both, place = np.unique(np.hstack(_bins(boxes, columns)), axis=0, return_inverse=True)
    return both[:, : columns.n_columns], both[:, columns.n_columns :], place.ravel()


def _layer(first: Integers, last: Integers, columns: CodedColumns) -> Layer:
    theta = np.zeros((len(first), columns.n_codes + 1))
    free = np.zeros((len(first), columns.n_codes), dtype=bool)
    theta[:, -1] = 1.0
    for column, ramps in enumerate(columns.ramps):
        rises, falls = first[:, column] >= 0, last[:, column] >= 0
        _add(theta, np.flatnonzero(rises), ramps[first[rises, column]], columns, 1.0)
        _add(theta, np.flatnonzero(falls), ramps[last[falls, column]], columns, -1.0)
        # I_j - 1 is the ramp up, less one, less the ramp down; without a lower end it begins at 1.
        theta[rises, -1] -= 1.0
        asked = rises | falls
        free[np.ix_(asked, ramps)] = True
    return Layer(theta, free)


def smooth_layer(networks: list[ReluNetwork], columns: CodedColumns) -> Layer:
    """The neurons of networks of the smooth codes, on all codes; they stay on the smooth ones."""
    inner = np.vstack([np.zeros((0, len(columns.smooth))), *(one.weights for one in networks)])
    theta = np.zeros((len(inner), columns.n_codes + 1))
    theta[:, columns.smooth] = inner
    theta[:, -1] = np.concatenate([np.zeros(0), *(one.bias for one in networks)])
    free = np.zeros((len(inner), columns.n_codes), dtype=bool)
    free[:, columns.smooth] = True
    return Layer(theta, free)


def _bins(boxes: Boxes, columns: CodedColumns) -> tuple[Integers, Integers]:
    """The ramps at which a box begins and ends, (n_boxes, n_columns); -1 where it does not.

    Both ends in one bin leave nothing between; the upper one moves on, or the lower one back.
    """
    first = np.full(boxes.lower.shape, -1, dtype=np.intp)
    last = first.copy()
    for column, knots in enumerate(columns.knots):
        if len(knots) < 2:
            continue
        low, high = np.isfinite(boxes.lower[:, column]), np.isfinite(boxes.upper[:, column])
        first[low, column] = columns.bins(column, boxes.lower[low, column])
        last[high, column] = columns.bins(column, boxes.upper[high, column])
        narrow = low & high & (last[:, column] <= first[:, column])
        last[narrow, column] = first[narrow, column] + 1
        beyond = narrow & (last[:, column] > len(knots) - 2)
        last[beyond, column] = len(knots) - 2
        first[beyond, column] = len(knots) - 3
    # A column of a single bin has no room for both ends.
    first[first < 0] = -1
    return first, last


def _add(
    theta: Floats, rows: Integers, codes: Integers, columns: CodedColumns, sign: float
) -> None:
    """Add ramps, which are codes brought to heights 0 and 1."""
    rise = columns.one[codes] - columns.zero[codes]
    np.add.at(theta, (rows, codes), sign / rise)
    np.add.at(
        theta, (rows, np.full(len(rows), theta.shape[1] - 1)), -sign * columns.zero[codes] / rise
    )
