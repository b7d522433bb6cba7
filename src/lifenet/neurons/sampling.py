"""Step 1: which rows each member is trained on.

A sampler says how wide the networks of its levels are, and turns the neurons of one level into the
subsets of the next. It trains nothing itself.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from lifenet._settings import Settings
from lifenet._threads import one_blas_thread
from lifenet.neurons.subset import Fate, Split, Subset

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lifenet._typing import Floats, Integers
    from lifenet.data.rows import Block, Rows
    from lifenet.network import ReluNetwork

__all__ = [
    "Bootstrap",
    "Division",
    "NeuronProjection",
    "RandomProjection",
    "Sampler",
    "coverage_of",
]

_BLOCK_ROWS = 4096
_SHARE = Interval(Real, 0, 1, closed="both")
# Random projections whose share is out of bounds are drawn anew, at most this often.
_REDRAWS = 50
# Neurons of all members together, where the number of networks is left open.
_NEURONS_IN_ALL = 1500


@dataclass(frozen=True)
class Division:
    """What a level's split led to: the fate of every neuron, and the next level's subsets."""

    splits: tuple[Split, ...]
    subsets: tuple[Subset, ...]


class Sampler(Protocol):
    """How the rows of the members are chosen."""

    def check(self) -> None:
        """Refuse settings out of their range."""

    def widths(self, total_weight: float, n_features: int) -> tuple[int, ...]:
        """Neurons of each network in the levels that only serve sampling: K_1, ..., K_{J-1}."""

    def begin(self, rows: Rows, seed: np.random.SeedSequence) -> tuple[Subset, ...]:
        """Subsets of the first level."""

    def split(
        self,
        rows: Rows,
        networks: Sequence[ReluNetwork],
        subsets: Sequence[Subset],
        seed: np.random.SeedSequence,
    ) -> Division:
        """Subsets of the next level, from this level's networks and what they were trained on."""


@dataclass(repr=False)
class NeuronProjection(Settings):
    """The paper's hierarchy: every neuron of a level makes a subset for a network of the next.

    Subsets are taken from the entire training data, wherever their neuron was trained: the rows
    with ``b + w'x > cutoff``. A neuron whose share of the rows is not between `lower` and `upper`
    is dropped for good.

    Parameters
    ----------
    levels : tuple of int or "auto", default="auto"
        [K_1, ..., K_{J-1}]: neurons of each network in the levels before the last; K_J belongs to
        the solver. "auto" takes (20, 20), with fewer neurons below 400 rows.
    lower, upper : float, default=0.1, 0.9
        l and u: a subset's share of the rows' weight must lie strictly between.
    cutoff : float, default=-0.3
        cp. Directions have unit length on standardised columns, so it is a distance: above zero
        subsets are smaller than the neuron's active side, below zero larger.
    max_networks : int or "auto", default="auto"
        Most networks of a level. Where more subsets would do, this many are drawn from them at
        random, without replacement, all equally likely; they stay in order. "auto" makes 1,500
        neurons in all: 150 networks where members have 10 neurons.
    nested : bool, default=False
        Whether a subset must also fulfil its parent's conditions, as in an oblique tree, instead
        of being taken from all rows.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "levels": [tuple, list, StrOptions({"auto"})],
        "lower": [_SHARE],
        "upper": [_SHARE],
        "cutoff": [Interval(Real, None, None, closed="neither")],
        "max_networks": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "nested": ["boolean"],
    }

    levels: tuple[int, ...] | str = "auto"
    lower: float = 0.1
    upper: float = 0.9
    cutoff: float = -0.3
    max_networks: int | str = "auto"
    nested: bool = False

    def check(self) -> None:
        """Refuse settings that leave no subset."""
        super().check()
        _check_bounds(self.lower, self.upper)
        if not isinstance(self.levels, str):
            for width in self.levels:
                if isinstance(width, bool) or not isinstance(width, Integral) or width < 1:
                    raise ValueError(
                        f"The 'levels' of NeuronProjection must be positive whole numbers, "
                        f"[K_1, ..., K_(J-1)]; got {self.levels!r}."
                    )

    def widths(self, total_weight: float, n_features: int) -> tuple[int, ...]:
        """K_1, ..., K_{J-1}."""
        if not isinstance(self.levels, str):
            return tuple(int(width) for width in self.levels)
        width = int(np.clip(total_weight // 20, 3, 20))
        return (width, width)

    def n_networks(self, member_neurons: int = 10) -> int:
        """Most networks of a level, where members have that many neurons."""
        if not isinstance(self.max_networks, str):
            return int(self.max_networks)
        return max(1, _NEURONS_IN_ALL // member_neurons)

    def begin(self, rows: Rows, seed: np.random.SeedSequence) -> tuple[Subset, ...]:
        """The first network sees all rows."""
        return (Subset.everything(rows),)

    def split(
        self,
        rows: Rows,
        networks: Sequence[ReluNetwork],
        subsets: Sequence[Subset],
        seed: np.random.SeedSequence,
    ) -> Division:
        """A subset for every neuron whose share of all rows is in bounds."""
        candidates = [
            self._candidate(network, neuron, subsets[number], number)
            for number, network in enumerate(networks)
            for neuron in range(network.n_neurons)
        ]
        measured = _measure(rows, candidates)
        fates = [_fate(subset.share, self.lower, self.upper) for subset in measured]
        for index in _not_drawn(fates, self.n_networks(), seed):
            fates[index] = Fate.NOT_DRAWN
        splits = tuple(
            Split(*(subset.parent or (0, 0)), subset.share, fate)
            for subset, fate in zip(measured, fates, strict=True)
        )
        kept = tuple(
            subset for subset, fate in zip(measured, fates, strict=True) if fate is Fate.KEPT
        )
        return Division(splits, kept)

    def _candidate(self, network: ReluNetwork, neuron: int, of: Subset, number: int) -> Subset:
        weights, bias = network.weights[neuron : neuron + 1], network.bias[neuron : neuron + 1]
        length = float(np.linalg.norm(weights)) or 1.0
        weights, bias = weights / length, bias / length
        if self.nested:
            weights, bias = np.vstack([of.weights, weights]), np.append(of.bias, bias)
        return Subset(weights, bias, self.cutoff, parent=(number, neuron))


class _OneLevel(Settings):
    """Samplers whose subsets no network has a part in."""

    def widths(self, total_weight: float, n_features: int) -> tuple[int, ...]:
        """No level serves sampling only."""
        return ()

    def split(
        self,
        rows: Rows,
        networks: Sequence[ReluNetwork],
        subsets: Sequence[Subset],
        seed: np.random.SeedSequence,
    ) -> Division:
        """Never asked for: there is only one level."""
        return Division((), tuple(subsets))


@dataclass(repr=False)
class RandomProjection(_OneLevel):
    """Half-spaces with standard normal weights and bias, on standardised columns.

    Parameters
    ----------
    n_subsets : int, default=100
        Number of subsets, and so of members.
    lower, upper : float, default=0.1, 0.9
        A subset's share of the rows' weight must lie strictly between; others are drawn anew.
    cutoff : float, default=0.0
        A row is in where ``b + w'x > cutoff``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_subsets": [Interval(Integral, 1, None, closed="left")],
        "lower": [_SHARE],
        "upper": [_SHARE],
        "cutoff": [Interval(Real, None, None, closed="neither")],
    }

    n_subsets: int = 100
    lower: float = 0.1
    upper: float = 0.9
    cutoff: float = 0.0

    def check(self) -> None:
        """Refuse settings that leave no subset."""
        super().check()
        _check_bounds(self.lower, self.upper)

    def begin(self, rows: Rows, seed: np.random.SeedSequence) -> tuple[Subset, ...]:
        """Random half-spaces whose share is in bounds; all rows where none is."""
        generator = np.random.default_rng(seed)
        kept: list[Subset] = []
        for _ in range(_REDRAWS):
            drawn = _measure(rows, [self._draw(rows, generator) for _ in range(self.n_subsets)])
            kept += [
                subset
                for subset in drawn
                if _fate(subset.share, self.lower, self.upper) is Fate.KEPT
            ]
            if len(kept) >= self.n_subsets:
                return tuple(kept[: self.n_subsets])
        return tuple(kept) or (Subset.everything(rows),)

    def _draw(self, rows: Rows, generator: np.random.Generator) -> Subset:
        weights = generator.standard_normal((1, rows.n_features))
        return Subset(weights, generator.standard_normal(1), self.cutoff)


@dataclass(repr=False)
class Bootstrap(_OneLevel):
    """As many rows as there are, drawn with replacement, for each member.

    The draw knows rows, not weights: integer weights and repeated rows give different draws.

    Parameters
    ----------
    n_subsets : int, default=100
        Number of draws, and so of members.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_subsets": [Interval(Integral, 1, None, closed="left")],
    }

    n_subsets: int = 100

    def begin(self, rows: Rows, seed: np.random.SeedSequence) -> tuple[Subset, ...]:
        """One draw a member."""
        seeds = np.random.default_rng(seed).integers(2**31, size=(self.n_subsets, 4)).tolist()
        return tuple(Subset.everything(rows, draw=tuple(one)) for one in seeds)


def coverage_of(rows: Rows, subsets: Sequence[Subset]) -> float:
    """Share of the rows' weight that lies in at least one of the subsets, draws aside."""

    def covered(block: Block) -> tuple[float]:
        inside = np.zeros(len(block.target), dtype=bool)
        for subset in subsets:
            inside |= subset.holds(block) > 0
        return (float(block.weight @ inside),)

    return rows.sum(covered, _BLOCK_ROWS)[0] / rows.total_weight if subsets else 0.0


def _check_bounds(lower: float, upper: float) -> None:
    if not lower < upper:
        raise ValueError(f"'lower' must be below 'upper'; got lower={lower} and upper={upper}.")


def _fate(share: float, lower: float, upper: float) -> Fate:
    if share <= lower:
        return Fate.TOO_SMALL
    return Fate.KEPT if share < upper else Fate.TOO_LARGE


def _not_drawn(fates: list[Fate], most: int, seed: np.random.SeedSequence) -> Integers:
    """Places of the survivors beyond the cap, drawn at random."""
    survivors = np.array([index for index, fate in enumerate(fates) if fate is Fate.KEPT])
    if len(survivors) <= most:
        return np.zeros(0, dtype=np.intp)
    drawn = np.random.default_rng(seed).choice(survivors, most, replace=False)
    return np.setdiff1d(survivors, drawn)


def _measure(rows: Rows, candidates: Sequence[Subset]) -> list[Subset]:
    """The same subsets with their shares and row counts, measured on all rows in one pass."""
    if not candidates:
        return []

    def count(block: Block) -> tuple[Floats, Floats]:
        # One by one, as `Subset.select` does: a product of all at once rounds otherwise.
        inside = np.stack([subset.holds(block) for subset in candidates])
        return inside @ block.weight, inside.sum(axis=1)

    with one_blas_thread():
        weight, n_rows = rows.sum(count, _BLOCK_ROWS)
    return [
        replace(subset, share=float(share), n_rows=int(number))
        for subset, share, number in zip(
            candidates, weight / rows.total_weight, n_rows, strict=True
        )
    ]
