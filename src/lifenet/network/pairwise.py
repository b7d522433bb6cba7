"""A network whose neurons read two features at most: a sum of functions of one and of two.

What is known of such a network is exact at any values, those far from all rows included: functions
of one column are broken lines with all their bends, functions of two are read off the neurons.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy import sparse

from lifenet.kernels.broken_lines import BrokenLine
from lifenet.kernels.marginals import hinge_means
from lifenet.kernels.row_blocks import row_blocks
from lifenet.network.hinge_lines import anchor_of, hinge_line, linear_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.network.coded import CodedNetwork
    from lifenet.network.feature_neurons import FeatureNeurons

__all__ = ["Distribution", "FeatureFunction", "PairwiseNetwork"]


class Distribution(NamedTuple):
    """The distribution of a feature.

    Attributes
    ----------
    points : (m, number of columns of the feature)
    mass : (m,), with sum 1
    """

    points: Floats
    mass: Floats


class _Means(NamedTuple):
    """Mean outputs of neurons at values of a feature, and what else they read."""

    neurons: Integers
    offsets: Floats  # (a, m)
    mass: Floats


@dataclass(frozen=True, eq=False)
class FeatureFunction:
    """An exact function of one feature.

    Attributes
    ----------
    line : the function of a feature of one column; None for several columns
    """

    neurons: FeatureNeurons
    feature: int
    line: BrokenLine | None
    means: tuple[_Means, ...] = ()
    with_linear: bool = False

    def at(self, values: Floats) -> Floats:
        """At some values (n, number of columns of the feature), (n,)."""
        if self.line is not None:
            return self.line.at(values[:, 0])
        patterns, inverse = np.unique(values, axis=0, return_inverse=True)
        total = np.zeros(len(patterns))
        if self.with_linear:
            total += self.neurons.linear(self.feature, patterns)
        for which, offsets, mass in self.means:
            heights = self.neurons.heights(self.feature, patterns, which)
            for number, coefficient in enumerate(self.neurons.beta[which].tolist()):
                hinge = hinge_means(offsets[number], 1.0, heights[:, number], mass)
                total += coefficient * hinge
        return np.asarray(total[inverse.ravel()])


@dataclass(frozen=True, eq=False)
class PairwiseNetwork:
    """One output of a network as a sum of functions of one feature and of two.

    Made by `of`. Before anything is centred it is::

        f(x) = constant + sum_j g_j(x_j) + sum_ij g_ij(x_i, x_j)

    with ``g_j`` the linear part of feature `j` and the neurons that read `j` alone, and ``g_ij``
    the neurons that read `i` and `j`.

    Attributes
    ----------
    neurons : by features
    pairs : the pairs of features, ascending, that have neurons
    members : neurons of each pair
    """

    neurons: FeatureNeurons
    pairs: tuple[tuple[int, int], ...]
    members: tuple[Integers, ...]

    @classmethod
    def of(cls, neurons: FeatureNeurons) -> PairwiseNetwork | None:
        """The network in this form; None where a neuron reads more than two features."""
        count = neurons.reads.sum(axis=1)
        if (count > 2).any():
            return None
        double = np.flatnonzero(count == 2)
        first, second = np.nonzero(neurons.reads[double])[1].reshape(-1, 2).T
        pairs = sorted(set(zip(first.tolist(), second.tolist(), strict=True)))
        members = tuple(double[(first == i) & (second == j)] for i, j in pairs)
        return cls(neurons, tuple(pairs), members)

    @property
    def constant(self) -> float:
        """What is the same for all rows."""
        return self.neurons.constant

    # ------------------------------------------------------------------ functions of one feature

    def own(self, feature: int, known: Distribution) -> FeatureFunction:
        """The function ``g_j`` of a feature; `known` says where it is to be most accurate."""
        which = self.neurons.reading([feature])
        means = _Means(which, self.neurons.base[which, None], np.ones(1))
        return self._function(feature, known, means, with_linear=True)

    def mean(self, pair: int, side: int, known: Sequence[Distribution]) -> FeatureFunction:
        """The mean of ``g_ij`` over the distribution of one feature, as a function of the other.

        Parameters
        ----------
        side : 0 for a function of the pair's first feature, 1 for one of its second
        known : distributions of all features
        """
        feature, other = self.pairs[pair][side], self.pairs[pair][1 - side]
        which = self.members[pair]
        offsets = self.neurons.heights(other, known[other].points, which).T
        offsets += self.neurons.base[which, None]
        return self._function(feature, known[feature], _Means(which, offsets, known[other].mass))

    def _function(
        self, feature: int, known: Distribution, means: _Means, *, with_linear: bool = False
    ) -> FeatureFunction:
        columns, line = self.neurons.groups[feature], None
        if len(columns) == 1:
            (column,) = columns
            anchor = anchor_of(self.neurons, column, known.points[:, 0])
            lines = [hinge_line(self.neurons, column, *means, anchor)]
            if with_linear:
                lines.append(linear_line(self.neurons, column, anchor))
            line = BrokenLine.total(lines, anchor)
        return FeatureFunction(self.neurons, feature, line, (means,), with_linear)

    def total(self, functions: Sequence[FeatureFunction]) -> FeatureFunction:
        """The sum of functions of one feature."""
        lines = [one.line for one in functions if one.line is not None]
        line = BrokenLine.total(lines, lines[0].anchor) if lines else None
        return FeatureFunction(
            self.neurons,
            functions[0].feature,
            line,
            tuple(means for one in functions for means in one.means),
            any(one.with_linear for one in functions),
        )

    # ------------------------------------------------------------------ functions of two features

    def table(self, pair: int, first: Floats, second: Floats) -> Floats:
        """The function ``g_ij`` at all pairs of some values, (len(first), len(second))."""
        which, (one, other) = self.members[pair], self.pairs[pair]
        rows = self.neurons.heights(one, first, which) + self.neurons.base[which]
        columns = self.neurons.heights(other, second, which)
        beta = self.neurons.beta[which]
        table = np.zeros((len(first), len(second)))
        for number, coefficient in enumerate(beta.tolist()):
            table += coefficient * np.maximum(np.add.outer(rows[:, number], columns[:, number]), 0)
        return table

    @cached_property
    def _joint(self) -> tuple[CodedNetwork, sparse.csr_array]:
        """The neurons of all pairs, and their coefficients by pair, (n, n_pairs)."""
        which = np.concatenate([np.zeros(0, dtype=np.intp), *self.members])
        owner = np.repeat(np.arange(len(self.pairs)), [len(one) for one in self.members])
        index = np.arange(len(which))
        shape = (len(which), len(self.pairs))
        shares = sparse.csr_array((self.neurons.beta[which], (index, owner)), shape=shape)
        return self.neurons.coded.select(which), shares

    def values(self, rows: Floats) -> Floats:
        """The functions ``g_ij`` at rows, (n, n_pairs), some rows at a time."""
        found = np.zeros((len(rows), len(self.pairs)))
        if not self.pairs:
            return found
        coded, shares = self._joint
        width = max(coded.tables.width, len(self.pairs))
        for block in row_blocks(len(rows), width, found.dtype):
            cells = coded.coding.grid.locate(rows[block])
            for neurons, heights in coded.tables.heights(cells):
                found[block] += np.maximum(heights, 0, out=heights) @ shares[neurons]
        return found
