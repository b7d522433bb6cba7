"""Where waterfalls start: at the mean score, or at the score of a reference row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from lifenet.explain._subject import in_order
from lifenet.explain.levels import levels_of
from lifenet.kernels.hashing import hash_rows
from lifenet.kernels.numbers import describe_number
from lifenet.kernels.quantiles import weighted_quantiles

if TYPE_CHECKING:
    from lifenet._typing import Floats
    from lifenet.explain._sample import Sample
    from lifenet.network import PiecewiseLinear
    from lifenet.schema import FeatureSchema

__all__ = ["MEAN_SCORE", "Start", "row_of", "start_of"]

MEAN_SCORE = "mean score"
_OF_ROWS = ("mean", "median", "zero")
#: Background rows from which lines lead to a row, and most whose scores are averaged. Chosen by
#: hand: on Bike the parts from 20 and from 100 rows are about as near to Shapley values.
_STARTS, _SCORED = 32, 20_000
#: What the rows of lowest and highest score count beside the others, where they are needed.
_END = 0.1


@dataclass(frozen=True, eq=False)
class Start:
    """Where waterfalls start.

    Attributes
    ----------
    name : "mean score", "mean", "median", "zero" or "row"
    row : ndarray of shape (p,), the reference row, or the mean of the background
    score : float
    rows, weight : ndarrays of shape (m, p) and (m,), where straight lines to a row start, and how
        each counts; with a sum of one
    """

    name: str
    row: Floats
    score: float
    rows: Floats
    weight: Floats

    def parts(self, network: PiecewiseLinear, rows: Floats, output: int) -> Floats:
        """Change of the score from the start to each row, by column, (n, p)."""
        if len(rows) < len(self.rows):
            found = [self.weight @ network.segment(self.rows, row)[:, :, output] for row in rows]
            return np.array(found).reshape(rows.shape)
        parts: Floats = np.zeros(rows.shape)
        for row, share in zip(self.rows, self.weight, strict=True):
            parts += share * network.segment(row, rows)[:, :, output]
        return parts


def start_of(
    reference: Any,
    network: PiecewiseLinear,
    output: int,
    sample: Sample | None,
    schema: FeatureSchema,
) -> Start:
    """The start that is asked for; without a wish the mean score.

    Without rows, the row of medians and most frequent levels that a table's coding knows, or zero.
    """
    if reference is None:
        alone = "zero" if schema.table is None else "median"
        reference = alone if sample is None else MEAN_SCORE
    name = reference if isinstance(reference, str) else "row"
    if name == MEAN_SCORE:
        return _mean_score(network, output, _known(sample, name))
    row = _reference_row(reference, sample, schema)
    score = float(network.score(row[None])[0, output])
    return Start(name, row, score, row[None], np.ones(1))


def _mean_score(network: PiecewiseLinear, output: int, sample: Sample) -> Start:
    """The mean over background rows of the lines from each of them: expected gradients.

    (Erion, Janizek, Sturmfels, Lundberg and Lee 2021.) Some rows stand for all. They are drawn by a
    hash of their values, so that neither the order of the rows nor the network decides: two
    networks start from the same rows. Their weights are calibrated (Deville and Sarndal,
    "Calibration estimators in survey sampling", 1992), so that their mean score is that of all.
    """
    row = sample.center
    if len(sample.X) > _SCORED:
        chosen = np.sort(np.random.default_rng(0).permutation(len(sample.X))[:_SCORED])
        weight = sample.weight[chosen] / sample.weight[chosen].sum()
        sample = replace(sample, X=sample.X[chosen], weight=weight, rows=sample.rows[chosen])
    scores = sample.score
    mean = float(sample.mean(scores))
    some, weight = np.arange(len(scores)), sample.weight
    if len(scores) > _STARTS:
        order = np.argsort(hash_rows(sample.X, 0), kind="stable")
        reached = np.cumsum(weight[order])
        middles = (np.arange(_STARTS) + 0.5) / _STARTS * reached[-1]
        some = order[np.minimum(np.searchsorted(reached, middles), len(order) - 1)]
        weight = np.full(_STARTS, 1.0 / _STARTS)
        if not scores[some].min() < mean < scores[some].max():
            # No weights could be calibrated to the mean: the ends count a little.
            some = np.append(some, [scores.argmin(), scores.argmax()])
            weight = np.append(weight, [_END / _STARTS] * 2) / (1 + 2 * _END / _STARTS)
    own = scores[some]
    centred = own - weight @ own
    spread = float(weight @ np.square(centred))
    if spread > 0:
        weight = weight * (1.0 + (mean - float(weight @ own)) * centred / spread)
    return Start(MEAN_SCORE, row, float(weight @ own), sample.X[some], weight)


def _reference_row(reference: Any, sample: Sample | None, schema: FeatureSchema) -> Floats:
    if not isinstance(reference, str):
        return row_of("reference", reference, schema)
    if reference not in _OF_ROWS:
        raise ValueError(
            f'reference must be "mean score", "mean", "median", "zero" or a row of numbers; it is '
            f"{reference!r}."
        )
    if reference == "zero":
        return np.zeros(schema.n_features)
    if sample is None and reference == "median" and schema.table is not None:
        return _usual_row(schema)
    known = _known(sample, reference)
    if reference == "mean":
        return known.center
    half, row = np.array([0.5]), np.zeros(schema.n_features)
    for feature, one in enumerate(known.kinds):
        if one.kind == "category":
            levels = levels_of(known, feature) if schema.table is not None else None
            if levels is not None:
                row[list(one.columns)] = levels.patterns[levels.share.argmax()]
                continue
        some = known.where_observed(feature)
        for column in one.columns:
            own = some if column != one.missing else known
            row[column] = weighted_quantiles(own.X[:, column], own.weight, half)[0]
    return row


def _usual_row(schema: FeatureSchema) -> Floats:
    """The medians of numbers, and the most frequent level of each category, in training."""
    assert schema.table is not None
    row = np.zeros(schema.n_features)
    for one in schema.table.features:
        code = schema.table.category_of(one.columns)
        if code is None:
            row[one.columns[0]] = one.neutral
        else:
            row[list(one.columns)] = code.patterns(np.zeros(1, dtype=np.intp))[0]
    return row


def _known(sample: Sample | None, reference: str) -> Sample:
    if sample is None:
        raise ValueError(
            f'The {reference} needs background rows: pass X, or "zero" or a row of numbers as the '
            "reference."
        )
    return sample


def row_of(name: str, x: Any, schema: FeatureSchema) -> Floats:
    """A single row as checked numbers, (n_columns,)."""
    x = in_order(x, schema.names, name)
    try:
        row = np.array(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} must be a row of numbers: {error}.") from error
    row = row[0] if row.ndim == 2 and len(row) == 1 else row
    if row.shape != (schema.n_features,):
        raise ValueError(
            f"{name} has shape {row.shape}; expected a single row, ({schema.n_features},)."
        )
    for column in np.flatnonzero(~np.isfinite(row)):
        kind, remedy = describe_number(row[column])
        raise ValueError(f"{name} contains {kind}: column {schema.names[column]!r}. {remedy}")
    return row
