"""Effects and pairs of a network whose neurons read two features at most: exact everywhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lifenet.network import Distribution, PairwiseNetwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats
    from lifenet.explain._margins import Axis, Margin
    from lifenet.network import FeatureFunction, FeatureNeurons

__all__ = ["ExactParts"]

#: Rows whose parts are computed at a time.
_BLOCK_ROWS = 16_384


@dataclass(frozen=True, eq=False)
class ExactParts:
    """The parts of a pairwise network, made pure.

    With ``u_i`` and ``u_j`` the means of ``g_ij`` over the other feature and `c` its mean over
    both, the pair keeps ``g_ij - u_i - u_j + c``. Feature `j` has ``g_j`` and its ``u_j`` of all
    pairs, less their mean.

    Attributes
    ----------
    network : the sum of functions of one feature and of two
    margins : of the features
    means : of each pair, ``u_i`` and ``u_j``
    centres : of each pair, `c`
    effects : one a feature, before its mean is subtracted
    levels : that mean
    """

    network: PairwiseNetwork
    margins: tuple[Margin, ...]
    means: tuple[tuple[FeatureFunction, FeatureFunction], ...]
    centres: Floats
    effects: tuple[FeatureFunction, ...]
    levels: Floats

    @classmethod
    def of(cls, neurons: FeatureNeurons, margins: Sequence[Margin]) -> ExactParts | None:
        """The parts, or None where a neuron reads more than two features."""
        network = PairwiseNetwork.of(neurons)
        if network is None:
            return None
        known = [Distribution(margin.points, margin.mass) for margin in margins]
        pairs = range(len(network.pairs))
        means = tuple(
            (network.mean(pair, 0, known), network.mean(pair, 1, known)) for pair in pairs
        )
        centres = [
            margins[first].mean(one.at(margins[first].points))
            for (first, _), (one, _) in zip(network.pairs, means, strict=True)
        ]
        effects = []
        for feature in range(len(margins)):
            own = network.own(feature, known[feature])
            of_pairs = [one for pair in means for one in pair if one.feature == feature]
            effects.append(network.total([own, *of_pairs]))
        levels = [
            margin.mean(effect.at(margin.points))
            for margin, effect in zip(margins, effects, strict=True)
        ]
        return cls(
            network, tuple(margins), means, np.array(centres), tuple(effects), np.array(levels)
        )

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The pairs of features with neurons."""
        return self.network.pairs

    @property
    def intercept(self) -> float:
        """Mean of the score, the features being independent."""
        return float(self.network.constant + self.levels.sum() - self.centres.sum())

    def main(self, rows: Floats) -> Floats:
        """Effects of features at rows, (n, n_features)."""
        found = np.empty((len(rows), len(self.margins)))
        for feature, margin in enumerate(self.margins):
            found[:, feature] = self._effect(feature, rows[:, list(margin.columns)])
        return found

    def joint(self, rows: Floats) -> Floats:
        """Effects of pairs at rows, (n, n_pairs)."""
        found = self.network.values(rows)
        for start in range(0, len(rows), _BLOCK_ROWS):
            block = slice(start, start + _BLOCK_ROWS)
            self._subtract_means(rows[block], found[block])
        found += self.centres
        return found

    def _subtract_means(self, rows: Floats, found: Floats) -> None:
        """Subtract from the functions of pairs their means, column by column in ascending order.

        Neighbouring values lie on neighbouring pieces of a line, which the cache then holds.
        """
        for feature, margin in enumerate(self.margins):
            points = rows[:, list(margin.columns)]
            order = np.argsort(points[:, 0])
            points = points[order]
            for pair, features in enumerate(self.pairs):
                if feature in features:
                    mean = self.means[pair][features.index(feature)]
                    found[order, pair] -= mean.at(points)

    def curve(self, feature: int, at: Axis | Margin) -> Floats:
        """The effect of a feature at values of it, (g,)."""
        return self._effect(feature, at.points)

    def surface(self, pair: int, first: Axis | Margin, second: Axis | Margin) -> Floats:
        """The effect of a pair at all pairs of values, (g, h)."""
        one, other = self.means[pair]
        table = self.network.table(pair, first.points, second.points)
        table -= one.at(first.points)[:, None] + other.at(second.points)
        table += self.centres[pair]
        return table

    def _effect(self, feature: int, points: Floats) -> Floats:
        return np.asarray(self.effects[feature].at(points) - self.levels[feature])
