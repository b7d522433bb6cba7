"""Presets and peers side by side: error, size, straightness, and what curves and pairs explain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.bars import RESULTS
from benchmarks.paper.experiments import REGRESSION
from benchmarks.paper.samples import draw_sample
from benchmarks.paper.work import evaluate
from benchmarks.peers.experiments import DATA
from benchmarks.readable.models import BEST, DEFAULT, GLASS, PAPER, SMALL, build
from benchmarks.runs import Runs
from lifenet.explain import interaction_order, roughness

if TYPE_CHECKING:
    from collections.abc import Sequence

ROUGH, XGBOOST, EBM, MLP = "smoothness 0", "XGBoost", "EBM", "MLP"
#: Rows of the table, and the sets that its figures are means of.
MODELS = (DEFAULT, ROUGH, BEST, SMALL, GLASS, PAPER, XGBOOST, EBM, MLP)
SETS = ("german_credit", "heloc", "california_housing")
TABLE = Runs("readable-table.csv", ("error", "neurons", "straight", "main", "pairs"))
_TITLES = {
    DEFAULT: 'default ("fast")',
    ROUGH: "default, smoothness 0",
    BEST: '"best"',
    SMALL: '"small"',
    GLASS: '"glass"',
    PAPER: '"paper"',
    MLP: "MLP of scikit-learn, 100 neurons",
}


def compared(label: str, data: str, seed: int) -> list[dict[str, Any]]:
    """One model on one set."""
    task, sample = DATA[data].task, draw_sample(DATA[data], seed)
    model = _peer(label, task) if label in (XGBOOST, EBM, MLP) else build(label, task, seed)
    X, rows = (np.asarray(one, dtype=np.float64) for one in (sample.X, sample.X_test))
    model.fit(X, sample.y)
    output = model.predict(rows) if task == REGRESSION else model.predict_proba(rows)[:, 1]
    order = interaction_order(model, X)
    network = getattr(model, "network_", None)
    found = {
        "part": label,
        "data": data,
        "seed": seed,
        "error": evaluate(sample, output, task)[0],
        "neurons": np.nan if network is None else network.n_neurons,
        "straight": 1 - roughness(model, rows, reach=0.05, schema=_schema(model, X)).one[0],
        "main": order.main,
        "pairs": order.pairs,
    }
    return [found]


def _schema(model: Any, X: Any) -> Any:
    """Training values that rows are moved to; models of lifenet know them."""
    from lifenet.schema import FeatureSchema

    return None if hasattr(model, "schema_") else FeatureSchema.of(X)


def _peer(label: str, task: str) -> Any:
    regression = task == REGRESSION
    if label == XGBOOST:
        from xgboost import XGBClassifier, XGBRegressor

        return (XGBRegressor if regression else XGBClassifier)(n_jobs=1, random_state=0)
    if label == EBM:
        from interpret.glassbox import ExplainableBoostingClassifier, ExplainableBoostingRegressor

        kind = ExplainableBoostingRegressor if regression else ExplainableBoostingClassifier
        return kind(n_jobs=1, random_state=0)
    kind = MLPRegressor if regression else MLPClassifier
    return make_pipeline(StandardScaler(), kind(early_stopping=True, max_iter=500, random_state=0))


def write(models: Sequence[str] = MODELS) -> None:
    """The table, as a page."""
    rows = {(row["part"], row["data"]): row for one in models for row in TABLE.read(one)}
    lines = [
        "| model | error over the default's | neurons | straight within 5 % | curves explain | "
        "curves and pairs |",
        "|---|---|---|---|---|---|",
    ]
    for model in models:
        found = [rows[model, data] for data in SETS if (model, data) in rows]
        if len(found) < len(SETS):
            continue
        base = [rows[DEFAULT, data]["error"] for data in SETS]
        ratio = np.exp(np.mean(np.log([one["error"] for one in found]) - np.log(base)))
        neurons = np.mean([one["neurons"] for one in found])
        size = "" if np.isnan(neurons) else f"{neurons:,.0f}"
        shares = [np.mean([one[name] for one in found]) for name in ("straight", "main", "pairs")]
        cells = [_TITLES.get(model, model), f"{ratio:.3f}", size, *(f"{one:.2f}" for one in shares)]
        lines.append(f"| {' | '.join(cells)} |")
    (RESULTS / "readable-table.md").write_text("\n".join(lines) + "\n")
