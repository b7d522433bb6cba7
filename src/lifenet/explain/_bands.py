"""Bands about curves: how far those of the folds' networks, or of refits, lie apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._sample import Sample
from lifenet.explain._subject import fold_networks_of, subject_of
from lifenet.network import FoldNetworks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    import numpy.typing as npt

    from lifenet.explain.effects import Curve
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

    Read = Callable[[Sample], list[Curve]]

__all__ = ["Beside", "beside_of"]


@dataclass(frozen=True, eq=False)
class Beside:
    """The networks whose curves are read beside those of the network that is explained.

    Attributes
    ----------
    sample : rows, and the network that is explained
    folds : networks of folds, whose mean it is
    refits : the same rows with each refit, in place of the folds
    """

    sample: Sample
    folds: FoldNetworks
    refits: tuple[Sample, ...] = ()

    @property
    def words(self) -> str:
        """What the band reaches over; empty without one."""
        if self.folds:
            return f"{len(self.folds)} folds"
        n = len(self.refits)
        return f"{n} refit{'s' if n > 1 else ''}" if n else ""

    def curves(
        self, read: Read, *, own: Sequence[Curve] | None = None, linear: bool = True
    ) -> tuple[Curve, ...]:
        """The curves of the network that is explained, with their bands.

        Parameters
        ----------
        read : the curves of a network on some rows
        own : those of the network that is explained, where they are known already
        linear : whether the curves of a sum of networks are the sums of their curves
            Those of a mean of folds are then known when each fold's own network is read, and what
            folds have in common is read once: bands cost next to nothing.
        """
        if self.folds and linear:
            own, several = self._of_folds(read, own)
        else:
            own = read(self.sample) if own is None else own
            networks = [self._of(one) for one in self.folds] if self.folds else self.refits
            several = [read(one) for one in networks]
        if not several:
            return tuple(own)
        others = zip(*several, strict=True)
        return tuple(_banded(one, rest) for one, rest in zip(own, others, strict=True))

    def _of_folds(
        self, read: Read, own: Sequence[Curve] | None
    ) -> tuple[Sequence[Curve], list[list[Curve]]]:
        """The curves of a mean of folds, and those with each fold in its place."""
        several = [read(self._of(one)) for one in self.folds.own]
        means = [_sum(curves, 1 / len(curves)) for curves in zip(*several, strict=True)]
        common = self.folds.companions
        if own is None and common is None:
            own = means
        elif own is None and common is not None:
            rest = read(self._of(common))
            own = [_sum(pair) for pair in zip(means, rest, strict=True)]
        assert own is not None
        return own, [
            [
                replace(curve, effect=curve.effect + one.effect - mean.effect)
                for curve, one, mean in zip(own, curves, means, strict=True)
            ]
            for curves in several
        ]

    def _of(self, network: PiecewiseLinear) -> Sample:
        return replace(self.sample, network=network)


def _sum(curves: Sequence[Curve], factor: float = 1.0) -> Curve:
    """The sum of curves over the same values, times a factor."""
    effect = factor * np.sum([one.effect for one in curves], axis=0)
    return replace(curves[0], effect=effect, level=factor * sum(one.level for one in curves))


def _banded(curve: Curve, others: Sequence[Curve]) -> Curve:
    """The curve with the lowest and the highest effect, its own included, at each value."""
    effects = np.stack([curve.effect, *(one.effect for one in others)])
    return replace(curve, low=effects.min(axis=0), high=effects.max(axis=0))


def beside_of(
    network: Any,
    X: Any,
    sample: Sample,
    refits: Iterable[Any] | None,
    schema: FeatureSchema | Sequence[str] | None,
    sample_weight: npt.ArrayLike | None,
) -> Beside:
    """The refits; where these are None, the networks of a fitted model's folds.

    Parameters
    ----------
    network, X, schema, sample_weight : as they were given to `Sample.of`, which made the sample
    """
    if refits is None:
        return Beside(sample, fold_networks_of(network))
    named = schema is not None
    several = [_of_refit(one, X, sample, sample_weight, named=named) for one in _listed(refits)]
    return Beside(sample, FoldNetworks(), tuple(several))


def _listed(refits: Any) -> list[Any]:
    if hasattr(refits, "score") or hasattr(refits, "network_") or not hasattr(refits, "__iter__"):
        raise TypeError(
            f"refits must be a list of fitted models or networks, not a {type(refits).__name__}."
        )
    return list(refits)


def _of_refit(
    refit: PiecewiseLinear | Any,
    X: Any,
    sample: Sample,
    sample_weight: npt.ArrayLike | None,
    *,
    named: bool,
) -> Sample:
    """The same rows with the network of a refit, which must read what the first one reads."""
    known = subject_of(refit)
    names = None if named or known.schema is None else known.schema.names
    if names is not None and names != sample.names:
        raise ValueError(
            f"refits must read the columns {list(sample.names)}, in this order; one reads "
            f"{list(names)}. Fit all to the same columns."
        )
    one = Sample.of(
        refit, X, schema=sample.schema, sample_weight=sample_weight, output=sample.output
    )
    if not np.array_equal(one.X, sample.X):
        raise ValueError(
            "refits must read the same values; the steps of a pipeline give one others. Fit its "
            "steps once, and refit the last one."
        )
    ours, theirs = sample.classes, one.classes
    if ours is not None and theirs is not None and list(ours) != list(theirs):
        raise ValueError(f"refits must have the classes {list(ours)}; one has {list(theirs)}.")
    return one
