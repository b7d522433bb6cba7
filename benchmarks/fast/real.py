"""Splits of the sets of `scripts/bench peers`: one fit, and its error on the test part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.fast.measuring import measured
from benchmarks.fast.models import REGRESSION, build

if TYPE_CHECKING:
    from benchmarks.fast.records import Record


def fit_split(about: dict[str, Any], **settings: Any) -> Record:
    """Seconds, peak memory and errors of a model of a split.

    Parameters
    ----------
    about : with model and data; seed (0), repeat, max_rows (all) and quick (no) where given
    settings : of the model, beyond those of all
    """
    from benchmarks.paper.samples import draw_sample
    from benchmarks.paper.work import evaluate, null_error
    from benchmarks.peers.experiments import DATA

    data, seed = DATA[about["data"]], about.get("seed", 0)
    sample = draw_sample(data, seed, about.get("max_rows"))
    model = build(about["model"], data.task, seed, quick=about.get("quick", False), **settings)
    found = measured(lambda: model.fit(sample.X, sample.y))
    if data.task == REGRESSION:
        output = model.predict(sample.X_test)
    else:
        output = model.predict_proba(sample.X_test)[:, 1]
    error, second = evaluate(sample, output, data.task)
    null = null_error(sample, data.task)
    return {**found, "error": error, "second": second, "null": null, "split": sample.split}
