"""Runs that need not be made again: the paper's benchmark has them, or another table.

They have the same code, splits, seeds and budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.paper.models import MODELS as OF_PAPER
from benchmarks.paper.records import FIT, TUNING
from benchmarks.peers.experiments import DATA, DEFAULT, TABLES, TUNED
from benchmarks.peers.models import MODELS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.paper.records import Record

_TABLES = ("real_reg", "real_cla")
#: Models that are the very same in both.
SHARED = tuple(
    name for name in TABLES[TUNED].models if name in OF_PAPER and OF_PAPER[name] is MODELS[name]
)


def adopted(known: Iterable[Record]) -> list[Record]:
    """Records of the paper's benchmark that serve here, as records of this one.

    A model is adopted on a set only where its tuning is, so that settings and fits belong together.
    """
    ours = [
        {**one, "table": TUNED}
        for one in known
        if one["table"] in _TABLES and one["model"] in SHARED and one["data"] in DATA
        if "failed" not in one and _asked_for(one)
    ]
    tuned = {_about(one) for one in ours if one["kind"] == TUNING}
    return [one for one in ours if _about(one) in tuned]


def untuned(known: Iterable[Record]) -> list[Record]:
    """Fits with default settings, as those of a tuning that found none better."""
    known = list(known)
    as_given = {
        _about(one)
        for one in known
        if one["kind"] == TUNING and "failed" not in one and one["trial"] is None
    }
    return [
        {**one, "table": TUNED}
        for one in known
        if one["kind"] == FIT and one["table"] == DEFAULT and "failed" not in one
        if _about(one) in as_given
    ]


def _asked_for(record: Record) -> bool:
    seeds = TABLES[TUNED].seeds_of(DATA[record["data"]])
    return record["kind"] == TUNING or record["seed"] in seeds


def _about(record: Record) -> tuple[str, str]:
    return record["data"], record["model"]
