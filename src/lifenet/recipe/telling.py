"""From what was trained, in standardised units, to the records of it, in the user's units."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lifenet.neurons.hierarchy import successful
from lifenet.recipe.record import (
    FoldRecord,
    HierarchyRecord,
    Level,
    Member,
    Record,
    RecordRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lifenet.data.units import Units
    from lifenet.neurons.hierarchy import Stage
    from lifenet.neurons.members import Trained
    from lifenet.neurons.subset import Subset
    from lifenet.recipe.recipe import Fitted
    from lifenet.stacking.base import FoldFit

__all__ = ["folds_of", "hierarchy_of", "members_of", "record_of"]


def hierarchy_of(fitted: Fitted, units: Units) -> HierarchyRecord:
    """The levels of every fold."""
    several = len(fitted.fits) > 1
    first, *further = (
        _levels(one, units, _base(one, number if several else None))
        for number, one in enumerate(fitted.fits)
    )
    return HierarchyRecord(first, tuple(further))


def members_of(fitted: Fitted, hierarchy: HierarchyRecord) -> tuple[Member, ...]:
    """The networks of the last level of every fold, which are not copies of them."""
    return tuple(
        Member(network, subset, one.output, number)
        for number, (fit, levels) in enumerate(zip(fitted.fits, hierarchy.folds, strict=True))
        if levels
        for network, subset, one in zip(
            levels[-1].networks,
            levels[-1].subsets,
            successful(fit.stages[-1].trained),
            strict=True,
        )
    )


def record_of(fitted: Fitted) -> Record:
    """A row for every network of a run."""
    return Record(
        tuple(
            _row(fold, level, number, one)
            for fold, fit in enumerate(fitted.fits)
            for level, stage in enumerate(fit.stages, 1)
            for number, one in _numbered(stage.trained)
        )
    )


def folds_of(fitted: Fitted) -> tuple[FoldRecord, ...]:
    """The network of every fold."""
    return tuple(_fold(one) for one in fitted.fits)


def _fold(one: FoldFit) -> FoldRecord:
    fold, tuned = one.fold, one.tuned
    validation = fold.validation
    loss = np.nan
    if validation is not None and not fold.refits:
        losses = validation.loss.value(validation.rows.target, one.score)
        loss = float(validation.rows.weight @ losses) / validation.rows.total_weight
    return FoldRecord(
        train_rows=fold.train.rows.n_rows,
        validation_rows=0 if validation is None else validation.rows.n_rows,
        n_members=len(successful(one.stages[-1].trained)) if one.stages else 0,
        n_neurons=one.network.n_neurons,
        n_leaf_neurons=one.n_leaves,
        loss=float(loss),
        smoothness=0.0 if fold.smoothing is None else fold.smoothing.price,
        iterations=0 if tuned is None else tuned.n_iterations,
        objectives=() if tuned is None else tuned.objectives,
        validation_losses=() if tuned is None else tuned.validation_losses,
        status="not fine-tuned" if tuned is None else tuned.status.name.lower(),
        seconds=one.seconds,
    )


def _base(one: FoldFit, number: int | None) -> str:
    """The rows that base learners of a fold select from, in words."""
    if one.fold.validation is None or not one.stages:
        return "all rows"
    n_train = one.fold.train.rows.n_rows
    n_seen = max(trained.subset.n_rows for trained in one.stages[0].trained)
    which = "" if number is None else f" of fold {number}"
    if n_seen < n_train:
        return f"{n_seen:,} of the {n_train:,} training rows{which}"
    return f"the {n_train:,} training rows{which}"


def _levels(one: FoldFit, units: Units, base: str) -> tuple[Level, ...]:
    read = units if one.inputs is None else units.of_inputs(one.inputs)
    return tuple(_level(stage, read, base) for stage in one.stages)


def _level(stage: Stage, units: Units, base: str) -> Level:
    trained = successful(stage.trained)
    return Level(
        stage.n_neurons,
        tuple(units.unscale(one.network) for one in trained),
        tuple(_unscaled(one.subset, units, base) for one in trained),
        stage.splits,
        stage.coverage,
    )


def _unscaled(subset: Subset, units: Units, base: str) -> Subset:
    unscaled = subset.unscaled(units.scaling.center, units.scaling.scale)
    return replace(unscaled, base=base)


def _numbered(trained: Sequence[Trained]) -> Iterator[tuple[int, Trained]]:
    """Networks with their numbers among those trained, as subsets name them; -1 for the others."""
    number = -1
    for one in trained:
        if one.outcome is not None:
            number += 1
        yield (number if one.outcome is not None else -1), one


def _row(fold: int, level: int, number: int, one: Trained) -> RecordRow:
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
        fold=fold,
    )
