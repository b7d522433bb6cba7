"""Every raw file, with nothing but the target named: fitted, scored and explained."""

from __future__ import annotations

import time
from collections import Counter
from typing import Any

import numpy as np
from sklearn.metrics import r2_score, roc_auc_score

from benchmarks.bars import RESULTS
from benchmarks.runs import Runs
from benchmarks.tables.data import RAW, REGRESSION, split

RAWS = Runs("tables-raw.csv", ("fit", "explain", "score", "gap"), ("metric", "kinds"))
_BACKGROUND = 500


def raw(data: str, seed: int) -> list[dict[str, Any]]:
    """Seconds, score, and by how much the parts of ten explanations miss their scores."""
    from lifenet import LIFEClassifier, LIFERegressor
    from lifenet.explain import accumulated_effects, explain_rows

    part = split(data, seed)
    regression = part.task == REGRESSION
    start = time.process_time()
    model = (LIFERegressor if regression else LIFEClassifier)(random_state=seed).fit(part.X, part.y)
    fit, start = time.process_time() - start, time.process_time()
    rows = explain_rows(model, part.X_test[:10], X=part.X[:_BACKGROUND])
    effects = accumulated_effects(model, part.X[:_BACKGROUND])
    explain = time.process_time() - start
    assert all(np.isfinite(curve.effect).all() for curve in effects.curves)
    gap = max(
        max(
            abs(row.reference_score + row.parts.sum() - row.score),
            abs(row.intercept + row.contributions.sum() - row.score),
        )
        / (1 + abs(row.score))
        for row in rows
    )
    if regression:
        metric, score = "R²", r2_score(part.y_test, model.predict(part.X_test))
    else:
        metric = "AUC"
        score = roc_auc_score(part.y_test, model.predict_proba(part.X_test)[:, 1])
    kinds = Counter(one.kind for one in model.schema_.features)
    known = {"part": "raw", "data": data, "seed": seed, "metric": metric}
    known["kinds"] = ", ".join(f"{n} {kind}" for kind, n in kinds.items())
    return [known | {"fit": fit, "explain": explain, "score": float(score), "gap": float(gap)}]


def write_table() -> None:
    """The table of all files, as a page."""
    rows = {row["data"]: row for row in RAWS.read("raw")}
    lines = [
        "# Every raw file, with nothing but the target named",
        "",
        "Default settings, an 80/20 split, CPU seconds. The explanations are ten equations and "
        "waterfalls with 500 background rows, and the accumulated effects of all features on them.",
        "",
        "| file | columns | fit, s | explain, s | score |",
        "|---|---|---|---|---|",
    ]
    for name in RAW:
        if name in rows:
            row = rows[name]
            score = f"{row['metric']} {row['score']:.4f}"
            lines.append(
                f"| {name} | {row['kinds']} | {row['fit']:.1f} | {row['explain']:.1f} | {score} |"
            )
    (RESULTS / "tables-raw.md").write_text("\n".join(lines) + "\n")
