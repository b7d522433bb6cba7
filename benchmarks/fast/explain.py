"""Waterfalls and contributions of ten thousand rows of the default."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.fast.figures import sources
from benchmarks.fast.made import FUNCTIONS
from benchmarks.fast.measuring import measured, seconds_of
from benchmarks.fast.models import LIFE, REGRESSION, build
from benchmarks.fast.records import Job

if TYPE_CHECKING:
    from benchmarks.fast.figures import FastBars
    from benchmarks.fast.records import Known, Record

PART = "explain"
N_TRAIN, N_EXPLAINED, N_COLUMNS = 5_000, 10_000, 20
LIMIT = 30.0


def plan(known: Known, *, smoke: bool) -> list[Job]:
    """One fit and what is read from it."""
    sizes = {"rows": 150, "explained": 20} if smoke else {"rows": N_TRAIN, "explained": N_EXPLAINED}
    more = {"quick": True} if smoke else {}
    return [Job.of(PART, 4 * 3600.0, model=LIFE, **sizes, columns=N_COLUMNS, **more)]


def waterfalls(network: Any, X: Any, reference: Any) -> tuple[Any, str]:
    """Parts of the scores by column, (n, p), from a reference row, and what computed them.

    The one place that knows how a batch of waterfalls is asked for: `lifenet.explain.explain_rows`
    where there is one, and otherwise the integral that the waterfall of `explain_row` shows.
    """
    import lifenet.explain

    batch = getattr(lifenet.explain, "explain_rows", None)
    if batch is None:
        return network.segment(reference, X)[:, :, 0], "network.segment"
    found = batch(network, X, reference=reference)
    parts = found.parts if hasattr(found, "parts") else np.stack([one.parts for one in found])
    return parts, "explain_rows"


def measure(about: dict[str, Any]) -> Record:
    """CPU seconds of both readings, and how exactly the waterfalls sum to the scores."""
    function, columns = FUNCTIONS["mixed"], about["columns"]
    train = function.rows(about["rows"], columns, 0)
    X = function.rows(about["explained"], columns, 0, test=True).X
    model = build(LIFE, REGRESSION, 0, quick=about.get("quick", False))
    found = measured(lambda: model.fit(train.X, train.y))
    network, reference = model.network_, train.X.mean(axis=0)
    read: list[Any] = []
    falls = seconds_of(lambda: read.extend(waterfalls(network, X, reference)))
    contributions = seconds_of(lambda: network.contributions(X))
    parts, by = read
    total = network.score(X)[:, 0] - network.score(reference[None])[0, 0]
    return {
        **found,
        "waterfalls": falls,
        "contributions": contributions,
        "by": by,
        "gap": float(np.abs(parts.sum(axis=1) - total).max() / np.abs(total).max()),
        "neurons": int(network.n_neurons),
    }


def add_bars(bars: FastBars, known: Known, *, smoke: bool) -> None:
    """Seconds of both together."""
    (job,) = plan(known, smoke=smoke)
    bars.note(f"{PART}: {sources(known, [job])}")
    seconds = known.figure(job, "waterfalls") + known.figure(job, "contributions")
    what = f"{LIFE}: waterfalls and contributions of {N_EXPLAINED:,} rows x {N_COLUMNS}"
    bars.most(f"{what}, CPU seconds", seconds, LIMIT, known.missing([job]), ".1f")
    found = known.get(job)
    if found is not None:
        bars.note(
            f"waterfalls by {found['by']} {found['waterfalls']:.2f} s, contributions "
            f"{found['contributions']:.2f} s; largest relative gap of a waterfall's sum "
            f"{found['gap']:.1e}"
        )
