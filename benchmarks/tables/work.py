"""One fit of a model to one split of a table as it comes: its error and its CPU seconds."""

from __future__ import annotations

from typing import Any

from benchmarks.fast.measuring import measured
from benchmarks.runs import Runs
from benchmarks.tables.data import split
from benchmarks.tables.models import error_of, fit_predict

#: Compared with the peers' own handling of categories and gaps.
SETS = (
    *("german_credit", "abalone", "hmeq", "mushroom", "heloc", "lending_club_10k", "500 levels"),
    *("bike_sharing_hour", "taiwan_credit", "bank_marketing", "20,000 levels"),
)
#: Judged by AUC: every model is right on all rows or nearly all.
BY_AUC = ("mushroom",)
FITS = Runs("tables-fits.csv", ("error", "cpu"), ("split",))


def fit(model: str, data: str, seed: int) -> list[dict[str, Any]]:
    """Error and seconds of a model on a split."""
    part, found = split(data, seed), []
    used = measured(lambda: found.append(fit_predict(model, part, seed)))
    error = error_of(part, found[0], auc=data in BY_AUC)
    row = {"part": model, "data": data, "seed": seed, "split": part.key}
    return [row | {"error": error, "cpu": used["cpu"]}]
