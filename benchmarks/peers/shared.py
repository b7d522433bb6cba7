"""Runs that need not be made again: the paper's benchmark has them, or another table.

They have the same code, splits, seeds and protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.paper.experiments import needs_tuning
from benchmarks.paper.models import MODELS as OF_PAPER
from benchmarks.paper.protocol import PEERS
from benchmarks.paper.records import FIT, TUNING
from benchmarks.paper.samples import TEST_SHARE
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
        if "failed" not in one and _asked_for(one) and _same_protocol(one)
    ]
    tuned = {_about(one) for one in ours if one["kind"] == TUNING}
    return [one for one in ours if _about(one) in tuned]


def spared(known: Iterable[Record], budget: float | None) -> list[Record]:
    """Tunings whose end is known without a trial, as records of tunings.

    The first trial of each is the model as given, on the inner split's part of the rows. Where
    fits with default settings tell that it uses up the budget, there will be no other.
    """
    fits: dict[tuple[str, str], list[Record]] = {}
    for one in known:
        if one["kind"] == FIT and one["table"] == DEFAULT and "failed" not in one:
            fits.setdefault(_about(one), []).append(one)
    return [
        {
            "kind": TUNING,
            "table": TUNED,
            "data": data,
            "model": model,
            "params": {},
            "score": None,
            "trials": 0,
            "trial": None,
            "budget": budget,
            "seconds": 0.0,
            "cpu": 0.0,
            "endings": {},
            "versions": some[0]["versions"],
            "date": some[0]["date"],
            "spared": "a fit with default settings alone takes longer than the budget",
        }
        for (data, model), some in fits.items()
        if budget is not None and needs_tuning(TABLES[TUNED], model)
        if model in TABLES[TUNED].models
        if min(one["cpu"] for one in some) * (1 - TEST_SHARE) > budget
    ]


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


def _same_protocol(record: Record) -> bool:
    """Whether a tuning had what tunings have here."""
    if record["kind"] != TUNING:
        return True
    had = (record.get("budget", PEERS.budget), record.get("clock", "wall"))
    return had == (PEERS.budget, PEERS.clock)


def _asked_for(record: Record) -> bool:
    seeds = TABLES[TUNED].seeds_of(DATA[record["data"]])
    return record["kind"] == TUNING or record["seed"] in seeds


def _about(record: Record) -> tuple[str, str]:
    return record["data"], record["model"]
