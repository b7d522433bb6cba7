"""Neurons by the features that they read: a height is a sum of functions of one feature each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from lifenet.kernels.marginals import hinge_means
from lifenet.network.coded import CodedNetwork
from lifenet.network.coding import ColumnCoding
from lifenet.network.relu import ReluNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Bools, Floats, Integers
    from lifenet.network.tables import ColumnTable

__all__ = ["FeatureNeurons"]


@dataclass(frozen=True, eq=False)
class FeatureNeurons:
    """One output of a network, by what each feature gives to each neuron.

    With ``h_kj`` what feature `j` gives to neuron `k`, a function of its own columns alone::

        f(x) = constant + sum_j l_j(x_j) + sum_k beta_k max(0, base_k + sum_j h_kj(x_j))

    Neurons whose coefficient is zero for this output are left out of `reads`.

    Attributes
    ----------
    coded : the network
    groups : columns of each feature
    output : which of its scores
    """

    coded: CodedNetwork
    groups: tuple[tuple[int, ...], ...]
    output: int = 0

    @classmethod
    def of(
        cls, network: object, groups: Sequence[tuple[int, ...]], output: int = 0
    ) -> FeatureNeurons | None:
        """The neurons of a network; None of one whose neurons are not known."""
        if isinstance(network, ReluNetwork):  # columns without a coding are their own codes
            bare = [None] * network.n_features
            network = CodedNetwork(ColumnCoding(bare, bare), network)
        if not isinstance(network, CodedNetwork):
            return None
        return cls(network, tuple(groups), output)

    @cached_property
    def beta(self) -> Floats:
        """Coefficients of the neurons, (n_neurons,)."""
        return self.coded.network.beta[:, self.output].astype(np.float64)

    @cached_property
    def _varying(self) -> tuple[Bools, ...]:
        """For each column, which of the neurons that store weights on it vary with it."""
        rates = self.coded.tables.column_rates
        return tuple(np.asarray(one.any(axis=0)) for one in rates)

    def table(self, column: int) -> ColumnTable:
        """What a column gives to the neurons that vary with it, at its points."""
        known, varying = self.coded.tables.column_tables[column], self._varying[column]
        return type(known)(known.neurons[varying], known.at_knots[:, varying])

    def rates(self, column: int) -> Floats:
        """Slopes of that table in every bin of the column, (r + 1, a)."""
        return self.coded.tables.column_rates[column][:, self._varying[column]]

    @cached_property
    def reads(self) -> Bools:
        """Which features each neuron varies with, (n_neurons, n_features)."""
        found = np.zeros((self.coded.n_neurons, len(self.groups)), dtype=np.bool_)
        for feature, columns in enumerate(self.groups):
            for column in columns:
                found[self.table(column).neurons, feature] = True
        found[self.beta == 0] = False
        return found

    @cached_property
    def base(self) -> Floats:
        """Bias of each neuron, with what columns give that do not vary, (n_neurons,)."""
        base = self.coded.network.bias.astype(np.float64)
        for known, varying in zip(self.coded.tables.column_tables, self._varying, strict=True):
            base[known.neurons[~varying]] += known.at_knots[0, ~varying]
        return base

    @cached_property
    def constant(self) -> float:
        """Intercept, with the neurons that read nothing."""
        still = ~self.reads.any(axis=1)
        part = self.beta[still] @ np.maximum(self.base[still], 0)
        return float(self.coded.network.intercept[self.output] + part)

    def reading(self, features: Sequence[int]) -> Integers:
        """Neurons that read these features and no other."""
        wanted = np.zeros(len(self.groups), dtype=np.bool_)
        wanted[list(features)] = True
        return np.flatnonzero((self.reads == wanted).all(axis=1))

    def heights(self, feature: int, values: Floats, neurons: Integers) -> Floats:
        """What a feature gives to some neurons at some of its values, (m, len(neurons)).

        Parameters
        ----------
        values : (m, number of columns of the feature)
        """
        total = np.zeros((len(values), len(neurons)))
        for place, column in enumerate(self.groups[feature]):
            readers, at_points = self.table(column)
            found = np.searchsorted(readers, neurons)
            held = found < len(readers)
            held[held] = readers[found[held]] == neurons[held]
            total[:, held] += self._at(column, at_points[:, found[held]], values[:, place])
        return total

    def joint_means(
        self, rows: Floats, pair: tuple[int, int], first: Floats, second: Floats
    ) -> Floats:
        """Mean over rows of the neurons that read both of two features, set to pairs of values.

        One sort of the rows a neuron serves all pairs of values.

        Parameters
        ----------
        first, second : (g, number of columns) and (h, number of columns), values of the features

        Returns
        -------
        ndarray of shape (g, h)
        """
        which = np.flatnonzero(self.reads[:, pair].all(axis=1))
        part = self.coded.select(which)
        offsets = part.tables.all_heights(part.coding.grid.locate(rows))
        for feature in pair:
            offsets -= self.heights(feature, rows[:, list(self.groups[feature])], which)
        down, across = (
            self.heights(feature, values, which)
            for feature, values in zip(pair, (first, second), strict=True)
        )
        table = np.zeros((len(first), len(second)))
        for number, coefficient in enumerate(self.beta[which].tolist()):
            at = np.add.outer(down[:, number], across[:, number])
            means = hinge_means(offsets[:, number], 1.0, at.ravel())
            table += coefficient * means.reshape(at.shape)
        return table

    def linear(self, feature: int, values: Floats) -> Floats:
        """The linear part of a feature at some of its values, (m,)."""
        total = np.zeros(len(values))
        for place, column in enumerate(self.groups[feature]):
            points = self.coded.coding.grid.points_of(column)
            at_points = self.coded.linear_at_points[points, self.output]
            total += self._at(column, at_points[:, None], values[:, place])[:, 0]
        return total

    def _at(self, column: int, at_points: Floats, x: Floats) -> Floats:
        """Values of a column's table, (m, width)."""
        grid = self.coded.coding.grid
        cells = grid.locate_column(column, np.asarray(x, dtype=np.float64))
        point = cells.point[:, 0] - grid.first[column]
        here = at_points[point]
        return np.asarray(here + cells.share * (at_points[point + 1] - here))
