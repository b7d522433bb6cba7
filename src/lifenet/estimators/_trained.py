"""What a training run leaves on an estimator, in the user's units."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lifenet.recipe import Life, Stage, successful
from lifenet.record import Level, Member, Record, RecordRow

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet.estimators._base import Units
    from lifenet.members import Trained
    from lifenet.network import ReluNetwork

__all__ = ["level_of", "members_of", "record_of", "rescaled"]


def rescaled(members: Sequence[Member], units: Units) -> list[tuple[ReluNetwork, int]]:
    """Members on standardised columns, and their outputs."""
    return [(units.rescale(member.network), member.output) for member in members]


def members_of(life: Life, last: Level) -> tuple[Member, ...]:
    """The members of a run, which are the networks of its last level and not copies of them."""
    return tuple(
        Member(network, subset, one.output)
        for network, subset, one in zip(last.networks, last.subsets, life.members, strict=True)
    )


def level_of(stage: Stage, units: Units) -> Level:
    """One level of its hierarchy."""
    trained = successful(stage.trained)
    return Level(
        stage.n_neurons,
        tuple(units.unscale(one.network) for one in trained),
        tuple(units.unscale_subset(one.subset) for one in trained),
        stage.splits,
        stage.coverage,
    )


def record_of(life: Life) -> Record:
    """A row for every network of a run."""
    return Record(
        tuple(
            _row(level, number, one)
            for level, stage in enumerate(life.stages, 1)
            for number, one in _numbered(stage.trained)
        )
    )


def _numbered(trained: Sequence[Trained]) -> Iterator[tuple[int, Trained]]:
    """Networks with their numbers among those trained, as subsets name them; -1 for the others."""
    number = -1
    for one in trained:
        if one.outcome is not None:
            number += 1
        yield (number if one.outcome is not None else -1), one


def _row(level: int, number: int, one: Trained) -> RecordRow:
    parent, neuron = one.subset.parent or (-1, -1)
    outcome = one.outcome
    return RecordRow(
        level=level,
        member=number,
        output=one.output,
        parent=parent,
        neuron=neuron,
        share=one.subset.share,
        rows=one.subset.n_rows,
        neurons=0 if outcome is None else outcome.network.n_neurons,
        loss=np.nan if outcome is None else outcome.loss,
        iterations=0 if outcome is None else outcome.n_iterations,
        seconds=0.0 if outcome is None else outcome.seconds,
        status=one.status.name.lower(),
    )
